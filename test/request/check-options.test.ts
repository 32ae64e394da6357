import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  checkMethod,
  checkPath,
  checkUpgrade,
  isIdempotent,
  refuseRetired,
  withQuery,
} from '../../src/request/check-options.ts'
import { type RequestOverrides, readOverrides } from '../../src/request/request-overrides.ts'

function read(options: object): RequestOverrides {
  return readOverrides({ path: '/', method: 'GET', ...options })
}

describe('request options', () => {
  test('path: anything printable of Latin-1, absolute unless for CONNECT', () => {
    for (const path of ['/', '/a?b#c', '//x', 'http://a/', 'https://a', '/\u00ff"<>\\^`{|}']) {
      assert.equal(checkPath(path, 'GET'), path)
    }
    assert.equal(checkPath('a.test:443', 'CONNECT'), 'a.test:443')
    assert.equal(checkPath('*', 'CONNECT'), '*')
    for (const path of ['*', 'a', 'HTTP://a/', 'ws://a/']) {
      assert.throws(() => checkPath(path, 'OPTIONS'), { message: /^path must be an absolute URL/ })
    }
    for (let code = 0; code <= 0x20; code++) {
      const path = `/${String.fromCharCode(code)}`
      assert.throws(() => checkPath(path, 'GET'), { message: 'invalid request path' })
    }
    assert.throws(() => checkPath('/\u0100', 'GET'), { message: 'invalid request path' })
    assert.throws(() => checkPath('', 'CONNECT'), { message: 'invalid request path' })
  })

  test('method: a token, as given', () => {
    for (const method of ['GET', 'get', 'x', 'M-SEARCH', "!#$%&'*+-.^_`|~09"]) {
      assert.equal(checkMethod(method), method)
    }
    for (const method of ['', ' ', 'a b', 'a(', 'a/', 'é', 'a\n']) {
      assert.throws(() => checkMethod(method), { message: 'invalid request method' })
    }
  })

  test('upgrade: any falsy value is none', () => {
    for (const none of [undefined, null, '', false, 0]) assert.equal(checkUpgrade(none), null)
    assert.equal(checkUpgrade('websocket'), 'websocket')
  })

  test('times: any number of milliseconds, fractions and 0 too', () => {
    for (const time of [0, 0.5, 1, 300e3]) assert.equal(read({ bodyTimeout: time }).bodyTimeout, time)
    assert.equal(read({ bodyTimeout: null, reset: true }).bodyTimeout, null)
    assert.equal(read({}).headersTimeout, null)
    assert.throws(() => read({ bodyTimeout: -1 }), { message: 'invalid bodyTimeout' })
  })

  test('flags', () => {
    assert.equal(read({ reset: true }).reset, true)
    assert.equal(read({ reset: false }).reset, false)
    assert.equal(read({ bodyTimeout: 1 }).reset, null)
    assert.throws(() => read({ reset: 1 }), { message: 'invalid reset' })
  })

  test('options of earlier generations', () => {
    const base = { path: '/', method: 'GET' }
    refuseRetired(base)
    refuseRetired({ ...base, maxRedirections: 0 })
    refuseRetired({ ...base, maxRedirections: null, throwOnError: null } as never)
    assert.throws(() => refuseRetired({ ...base, maxRedirections: 2 }))
    assert.throws(() => refuseRetired({ ...base, throwOnError: false } as never))
  })

  test('type of service', () => {
    for (const value of [0, 255]) assert.equal(read({ typeOfService: value }).typeOfService, value)
    assert.equal(read({ typeOfService: null, reset: true }).typeOfService, undefined)
  })

  test('query', () => {
    assert.equal(withQuery('/', null), '/')
    assert.equal(withQuery('/?a', undefined), '/?a')
    assert.equal(withQuery('/', { a: 1 }), '/?a=1')
    assert.equal(withQuery('/', {}), '/')
  })

  test('idempotent: what the caller says, else GET, HEAD and QUERY in exact case', () => {
    for (const method of ['GET', 'HEAD', 'QUERY']) assert.equal(isIdempotent(method, undefined), true)
    for (const method of ['get', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assert.equal(isIdempotent(method, null), false)
      assert.equal(isIdempotent(method, true), true)
    }
    assert.equal(isIdempotent('GET', false), false)
    assert.equal(isIdempotent('GET', 0), false)
  })
})
