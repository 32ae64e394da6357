import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Origin } from '../../../src/base/address/origin.ts'
import { originWithin, parseOrigin } from '../../../src/base/address/origin.ts'

const WRONG_PORT = 'Invalid URL: port must be a valid integer or a string representation of an integer.'
const WRONG_PROTOCOL = 'Invalid URL protocol: the URL must start with `http:` or `https:`.'
const NO_OBJECT = 'Invalid URL: The URL argument must be a non-null object.'

function accepted(input: unknown): Origin {
  const result = parseOrigin(input)
  if ('problem' in result) assert.fail(result.problem)
  return result
}

function originOf(input: unknown): string {
  return accepted(input).origin
}

function problemOf(input: unknown): string {
  const result = parseOrigin(input)
  if ('problem' in result) return result.problem
  return assert.fail(`accepted as ${result.origin}`)
}

test('a string gives every spelling of its host', () => {
  const { url, ...rest } = accepted('http://A.test:8080')
  assert.equal(url.href, 'http://a.test:8080/')
  assert.deepEqual(rest, {
    origin: 'http://a.test:8080',
    protocol: 'http:',
    hostname: 'a.test',
    host: 'a.test:8080',
    port: '8080',
  })
})

test('IPv6 keeps its brackets everywhere but in hostname, default ports are left out', () => {
  const origin = accepted('https://[::1]:443')
  assert.equal(origin.hostname, '::1')
  assert.equal(origin.host, '[::1]')
  assert.equal(origin.host, '[::1]')
  assert.equal(origin.port, '')
  assert.equal(origin.origin, 'https://[::1]')
  assert.equal(accepted('http://[::1]:81').host, '[::1]:81')
})

test('a URL object is kept as it is', () => {
  const url = new URL('https://a.test')
  assert.equal(accepted(url).url, url)
})

test('a string that is no URL throws the TypeError of the engine', () => {
  assert.throws(() => parseOrigin('not a url'), { name: 'TypeError', code: 'ERR_INVALID_URL' })
  assert.throws(() => parseOrigin(''), { code: 'ERR_INVALID_URL' })
})

test('other types are refused', () => {
  for (const input of [undefined, null, 1, true, () => {}, Symbol('x')])
    assert.equal(problemOf(input), NO_OBJECT)
})

test('only http and https', () => {
  for (const input of ['ftp://a.test', 'ws://a.test', new URL('file:///x'), {}, { protocol: 'ftp:' }, []]) {
    assert.equal(problemOf(input), WRONG_PROTOCOL)
  }
  assert.equal(problemOf({ origin: 'ws://a.test' }), WRONG_PROTOCOL)
})

test('path, query or hash are refused', () => {
  for (const input of ['http://a.test/x', 'http://a.test/?q', 'http://a.test/#h', 'http://a.test//b.test']) {
    assert.equal(problemOf(input), 'invalid url')
    assert.equal(problemOf(new URL(input)), 'invalid url')
  }
  const base = { protocol: 'http:', hostname: 'a.test' }
  assert.equal(problemOf({ ...base, path: '/x' }), 'invalid url')
  assert.equal(problemOf({ ...base, path: 'x' }), 'invalid url')
  assert.equal(problemOf({ ...base, path: '//b.test' }), 'invalid url')
  assert.equal(problemOf({ ...base, pathname: '/', search: '?q' }), 'invalid url')
  assert.equal(problemOf({ ...base, hash: '#h' }), 'invalid url')
})

test('user and password are ignored', () => {
  assert.equal(originOf('http://user:pass@a.test'), 'http://a.test')
})

test('an object names its origin by fields', () => {
  assert.equal(originOf({ protocol: 'http:', hostname: 'a.test' }), 'http://a.test')
  assert.equal(originOf({ protocol: 'https:', hostname: 'a.test', port: 8443 }), 'https://a.test:8443')
  assert.equal(originOf({ protocol: 'https:', hostname: 'a.test', port: '443' }), 'https://a.test')
  assert.equal(
    originOf({ protocol: 'http:', hostname: 'a.test', port: '', path: null, origin: null }),
    'http://a.test',
  )
  assert.equal(originOf({ protocol: 'http:', hostname: '::1', port: 81 }), 'http://[::1]:81')
  assert.equal(originOf({ protocol: 'http:', hostname: '[::1]' }), 'http://[::1]')
  assert.equal(originOf({ origin: 'http://a.test/', path: '/' }), 'http://a.test')
  assert.equal(originOf({ origin: 'http://a.test', pathname: '/' }), 'http://a.test')
})

test('an object of a URL-like class is read through its getters', () => {
  class Location {
    get origin(): string {
      return 'https://a.test'
    }
  }
  assert.equal(originOf(new Location()), 'https://a.test')
})

test('a bad port of an object is refused before anything else', () => {
  for (const port of ['x', '80x', -1, 65_536, '65536', 1.5, Number.NaN, {}, true, ' 80', '999999']) {
    assert.equal(problemOf({ port, path: 1, protocol: 'ftp:' }), WRONG_PORT)
  }
})

test('fields of an object must be strings, in this order', () => {
  const wrong = { path: 1, pathname: 1, hostname: 1, origin: 1 }
  const { path: _path, ...noPath } = wrong
  const { pathname: _pathname, ...noPathname } = noPath
  const { hostname: _hostname, ...onlyOrigin } = noPathname
  for (const [input, name] of [
    [wrong, 'path'],
    [noPath, 'pathname'],
    [noPathname, 'hostname'],
    [onlyOrigin, 'origin'],
  ] as const) {
    assert.equal(problemOf(input), `Invalid URL ${name}: the ${name} must be a string or null/undefined.`)
  }
})

test('a hostname cannot smuggle another host in', () => {
  for (const hostname of ['a@b.test', 'a/b', 'a\\b', 'a?b', 'a#b']) {
    assert.equal(problemOf({ protocol: 'http:', hostname }), 'invalid url')
  }
})

test('a polluted Object.prototype does not choose the origin', () => {
  const prototype = Object.prototype as { origin?: string }
  prototype.origin = 'http://evil.test'
  try {
    assert.equal(originOf({ protocol: 'http:', hostname: 'a.test' }), 'http://a.test')
  } finally {
    delete prototype.origin
  }
})

test('the origin within a URL is its host and port, without credentials, path and default port', () => {
  for (const [url, origin] of [
    ['http://A.test:80/x?y#z', 'http://a.test'],
    ['https://user:secret@a.test:8443//b.test/', 'https://a.test:8443'],
    ['https://[::1]/', 'https://[::1]'],
    ['http://b\u00fccher.test/', 'http://xn--bcher-kva.test'],
  ] as const) {
    assert.equal(originWithin(new URL(url)), origin)
  }
  for (const url of ['ftp://a.test/', 'file:///x', 'httpx://a.test', 'data:,x']) {
    assert.deepEqual(originWithin(new URL(url)), { problem: WRONG_PROTOCOL })
  }
})
