// What the constructor of Socks5ProxyAgent takes, and with which words it refuses the rest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Dispatcher, errors, Socks5ProxyAgent } from '../../src/index.ts'
import { readSocks5Address } from '../../src/proxy/socks5-address.ts'

const URL_TEXT = 'socks5://127.0.0.1:1'

function refuses(args: readonly unknown[], message: string): void {
  assert.throws(
    () => new (Socks5ProxyAgent as new (...args: readonly unknown[]) => unknown)(...args),
    (error: Error) => {
      assert.ok(error instanceof errors.InvalidArgumentError, String(error))
      assert.equal(error.message, message)
      return true
    },
  )
}

test('the URL is mandatory', () => {
  for (const args of [[], [null], [''], [undefined]]) refuses(args, 'Proxy URL is mandatory')
})

test('the URL has one of three schemes', () => {
  for (const url of ['http://x', 'socks4://x', 'x:1080', new URL('https://x'), 5, {}]) {
    refuses([url], 'Proxy URL must use socks5:// or socks:// protocol')
  }
  for (const scheme of ['socks5', 'socks5h', 'socks']) {
    assert.ok(new Socks5ProxyAgent(`${scheme}://x`) instanceof Dispatcher)
    assert.ok(new Socks5ProxyAgent(new URL(`${scheme}://x`)))
  }
})

test('a string that is not a URL is the error of the runtime', () => {
  for (const url of ['127.0.0.1:1080', 'socks5://[::1', 'socks5://']) {
    assert.throws(() => new Socks5ProxyAgent(url), { name: 'TypeError', code: 'ERR_INVALID_URL' })
  }
})

test('user info that cannot be decoded is refused without its value', () => {
  for (const url of ['socks5://u%zz@x', 'socks5://u:p%zz@x']) {
    refuses([url], 'the user info of the proxy URL is not percent-encoded')
  }
})

test('the host is read as that of other URLs, and the default port is 1080', () => {
  const rows = [
    ['socks5://Proxy.Test', 'proxy.test', 1080, 'socks5://proxy.test'],
    ['socks5h://[::0001]:80', '::1', 80, 'socks5h://[::1]:80'],
    ['socks://b%C3%BCcher.test:1', 'xn--bcher-kva.test', 1, 'socks://xn--bcher-kva.test:1'],
    ['socks5://u:secret@127.1:1/path?q#h', '127.0.0.1', 1, 'socks5://127.0.0.1:1'],
  ] as const
  for (const [url, host, number, shown] of rows) {
    const { hostname, port, uri } = readSocks5Address(url)
    assert.deepEqual([hostname, port, uri], [host, number, shown])
  }
})

test('credentials that do not fit are refused before anything is connected', () => {
  const long = 'x'.repeat(256)
  const message = 'Username or password too long'
  refuses([URL_TEXT, { username: long, password: 'p' }], message)
  refuses([URL_TEXT, { username: 'u', password: long }], message)
  refuses([`socks5://u:${long}@x`], message)
  // Bytes count, not characters.
  refuses([URL_TEXT, { username: 'ü'.repeat(128) }], message)
  assert.ok(new Socks5ProxyAgent(URL_TEXT, { username: 'x'.repeat(255), password: 'x'.repeat(255) }))
})

test('credentials are text', () => {
  refuses([URL_TEXT, { username: 5 }], 'username must be a string')
  refuses([URL_TEXT, { username: 'u', password: Buffer.from('p') }], 'password must be a string')
  assert.ok(new Socks5ProxyAgent(URL_TEXT, { username: null, password: undefined }))
})

test('time limits are numbers from 0', () => {
  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5']) {
    refuses([URL_TEXT, { connectTimeout: value }], 'invalid connectTimeout')
    refuses([URL_TEXT, { proxyTls: { timeout: value } }], 'invalid proxyTls.timeout')
    refuses([URL_TEXT, { requestTls: { timeout: value } }], 'invalid requestTls.timeout')
  }
  for (const value of [0, 1.5, null, undefined]) {
    const tls = { timeout: value }
    assert.ok(new Socks5ProxyAgent(URL_TEXT, { connectTimeout: value, proxyTls: tls, requestTls: tls }))
  }
})

test('the other options are checked when the agent is made', () => {
  refuses([URL_TEXT, { proxyTls: true }], 'proxyTls must be an object')
  refuses([URL_TEXT, { requestTls: 'x' }], 'requestTls must be an object')
  refuses([URL_TEXT, { connect: 5 }], 'connect must be a function or an object')
  refuses([URL_TEXT, { factory: 5 }], 'factory must be a function.')
  refuses([URL_TEXT, { maxOrigins: 0 }], 'maxOrigins must be a number greater than 0')
  refuses([URL_TEXT, { connections: -1 }], 'invalid connections')
  refuses([URL_TEXT, { headersTimeout: -1 }], 'headersTimeout must be a positive integer or zero')
  const message = 'maxCachedSessions must be a positive integer or zero'
  refuses([URL_TEXT, { maxCachedSessions: -1 }], message)
  refuses([URL_TEXT, { proxyTls: { maxCachedSessions: -1 } }], message)
})

test('headers are taken and never used; options may be left out', () => {
  assert.ok(new Socks5ProxyAgent(URL_TEXT, { headers: { 'x-y': 'z' } }))
  assert.ok(new Socks5ProxyAgent(URL_TEXT))
  assert.ok(new Socks5ProxyAgent(URL_TEXT, null as never))
})

test('making an agent warns of nothing', async () => {
  const warnings: Error[] = []
  const note = (warning: Error): number => warnings.push(warning)
  process.on('warning', note)
  new Socks5ProxyAgent(URL_TEXT)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', note)
  assert.deepEqual(warnings, [])
})
