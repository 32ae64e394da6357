/** Requests through a SOCKS 5 proxy reach their target, are protected on the way, and reach nothing else. */
import assert from 'node:assert/strict'
import dns from 'node:dns'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Server } from 'node:net'
import { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { errors, Socks5ProxyAgent, type Socks5ProxyAgentOptions } from '../../src/index.ts'
import { authority, localhost, other } from '../support/certificates.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES, type Wire } from '../support/wire.ts'

holdTlsSessions()

const GET = { path: '/', method: 'GET' } as const
const [H1, H1_TLS] = WIRES as [Wire, Wire]

function agentFor(t: TestContext, url: string, options: Socks5ProxyAgentOptions = {}): Socks5ProxyAgent {
  const agent = new Socks5ProxyAgent(url, options)
  t.after(() => agent.destroy())
  return agent
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    ;(server as http.Server).closeAllConnections?.()
  })
  return (server.address() as AddressInfo).port
}

test('CVE-2026-9697: requestTls.ca and rejectUnauthorized hold for targets of a SOCKS proxy', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1_TLS, echo)
  const target = { origin: origin.url, ...GET }
  // Nothing but this authority is trusted, and without it nothing is.
  await readEcho(await agentFor(t, proxy.url, { requestTls: { ca: authority } }).request(target))
  const distrusting = await failure(agentFor(t, proxy.url).request(target))
  assert.match(String(distrusting.code), /UNABLE_TO|SELF_SIGNED/)
  const strict = agentFor(t, proxy.url, { requestTls: { ca: other.cert, rejectUnauthorized: true } })
  assert.match(String((await failure(strict.request(target))).code), /UNABLE_TO|SELF_SIGNED/)
  const lax = agentFor(t, proxy.url, { requestTls: { rejectUnauthorized: false } })
  await readEcho(await lax.request(target))
  // Trust in the proxy is not trust in the target.
  const secure = await startSocksServer(t, { tls: localhost })
  const confused = agentFor(t, secure.url, { proxyTls: { ca: authority } })
  assert.match(String((await failure(confused.request(target))).code), /UNABLE_TO|SELF_SIGNED/)
})

test('CVE-2026-6734: two origins through one SOCKS agent reach their own hosts', async (t) => {
  const ports: Record<string, number> = {}
  for (const name of ['a.example.test', 'b.example.test', 'c.example.test']) {
    const server = https.createServer(localhost, (request, response) => {
      response.end(`${name} got ${request.headers.host}`)
    })
    ports[name] = await listen(t, server)
  }
  const proxy = await startSocksServer(t, { ports })
  const agent = agentFor(t, proxy.url, { requestTls: { ca: authority } })
  for (let round = 0; round < 2; round++) {
    const texts = Object.keys(ports).map(async (name) => {
      const { body } = await agent.request({ origin: `https://${name}`, ...GET })
      return body.text()
    })
    assert.deepEqual(
      await Promise.all(texts),
      Object.keys(ports).map((name) => `${name} got ${name}`),
    )
  }
  assert.deepEqual(
    [...proxy.requests].sort(),
    Object.keys(ports).map((name) => `name ${name}:443`),
  )
})

/** A connection to a SOCKS proxy and through it to an origin that closes after its answer, in memory. */
class MemoryTunnel extends Duplex {
  readonly #answers = [Buffer.of(5, 0), Buffer.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)]

  override _read(): void {}

  override _write(_bytes: Buffer, _encoding: string, done: () => void): void {
    const answer = this.#answers.shift()
    this.push(answer ?? 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
    if (answer === undefined) this.push(null)
    done()
  }
}

test('10,000 origins through one SOCKS agent leave nothing behind', async (t) => {
  let open = 0
  const agent = agentFor(t, 'socks5://proxy.test', {
    connect: (_target, callback) => {
      open++
      callback(
        null,
        new MemoryTunnel().on('close', () => open--),
      )
    },
  })
  for (let from = 0; from < 10_000; from += 100) {
    const answers = Array.from({ length: 100 }, async (_, index) => {
      const { body } = await agent.request({ origin: `http://o${from + index}.test`, ...GET })
      assert.equal(await body.text(), 'ok')
    })
    await Promise.all(answers)
  }
  await eventually(() => Object.keys(agent.stats).length === 1 && open === 0)
  const { connected, pending } = agent.stats.proxy
  assert.deepEqual([connected, pending], [0, 0])
})

test('CVE-2022-32210: each certificate is checked against its own hop', async (t) => {
  const origin = await startOrigin(t, H1_TLS, echo)
  // The certificate of the proxy is good for other.test only, that of the target for localhost.
  const proxy = await startSocksServer(t, { tls: other })
  const trust = { ca: authority }
  const both = agentFor(t, proxy.url, {
    proxyTls: { ...trust, servername: 'other.test' },
    requestTls: trust,
  })
  await readEcho(await both.request({ origin: origin.url, ...GET }))
  const wrongProxy = agentFor(t, proxy.url, { proxyTls: trust, requestTls: trust })
  assert.equal((await failure(wrongProxy.request({ origin: origin.url, ...GET }))).code, 'UND_ERR_PRX_TLS')
  const wrongTarget = agentFor(t, proxy.url, {
    proxyTls: { ...trust, servername: 'other.test' },
    requestTls: { ...trust, servername: 'other.test' },
  })
  const error = await failure(wrongTarget.request({ origin: origin.url, ...GET }))
  assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
})

test('TLS sessions of the proxy and of targets are not mixed', async (t) => {
  const reused: boolean[] = []
  const server = https.createServer(localhost, (request, response) => {
    reused.push((request.socket as TLSSocket).isSessionReused())
    response.setHeader('connection', 'close')
    response.end('ok')
  })
  const port = await listen(t, server)
  const proxy = await startSocksServer(t, { tls: localhost })
  // Both hops have the same certificate and the same server name.
  const agent = agentFor(t, `socks5://localhost:${proxy.port}`, {
    proxyTls: { ca: authority },
    requestTls: { ca: authority },
  })
  for (let i = 0; i < 3; i++) {
    const { body } = await agent.request({ origin: `https://localhost:${port}`, ...GET })
    await body.text()
    await eventually(() => proxy.open.size === 0)
  }
  // A session of the other hop would not be resumed, or end the handshake.
  assert.equal(reused[0], false)
  assert.equal(reused.length, 3)
})

test('CR, LF, NUL and spaces in a host are refused before a byte is written', async (t) => {
  const proxy = await startScriptedServer(t)
  const agent = agentFor(t, `socks5://127.0.0.1:${proxy.port}`)
  for (const text of ['\r', '\n', '\0', ' ', '\r\nx: y']) {
    const origins = [`http://a${text}b.test`, `http://a${encodeURIComponent(text)}b.test`]
    for (const origin of origins) {
      // The URL parser drops CR, LF and tabs, and refuses the others.
      const parsed = URL.canParse(origin) ? new URL(origin).hostname : null
      if (parsed === 'ab.test') continue
      const error = await failure(agent.request({ origin, ...GET }))
      assert.ok(error.code === 'ERR_INVALID_URL' || error.code === 'UND_ERR_INVALID_ARG', String(error))
    }
  }
  assert.equal(proxy.count, 0)
  for (const url of ['socks5://a b', 'socks5://a\0b', 'socks5://a%0d%0ab']) {
    assert.throws(() => new Socks5ProxyAgent(url), { code: 'ERR_INVALID_URL' })
  }
})

test('credentials may contain any byte, because their length is sent', async (t) => {
  const credentials = { username: 'a\r\n\0 b', password: 'c\x00\x05\x01' }
  const proxy = await startSocksServer(t, { credentials })
  const origin = await startOrigin(t, H1, echo)
  const agent = agentFor(t, proxy.url, credentials)
  await readEcho(await agent.request({ origin: origin.url, ...GET }))
  assert.deepEqual(proxy.logins, ['a\r\n\0 b:c\x00\x05\x01'])
})

test('nothing goes direct after a proxy failed', async (t) => {
  let reached = 0
  const server = http.createServer((_request, response) => response.end('direct'))
  server.on('connection', () => reached++)
  const origin = `http://localhost:${await listen(t, server)}`
  const refusing = `socks5://127.0.0.1:${await refusingPort(t)}`
  const wanting = await startSocksServer(t, { credentials: { username: 'u', password: 'p' } })
  const silent = net.createServer((socket) => socket.destroy())
  const urls = [refusing, wanting.url, `socks5://127.0.0.1:${await listen(t, silent)}`]
  for (const url of urls) {
    const agent = agentFor(t, url)
    for (let i = 0; i < 3; i++) await failure(agent.request({ origin, ...GET }))
  }
  assert.equal(reached, 0)
})

test('names of targets are never resolved here', async (t) => {
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const secure = await startOrigin(t, H1_TLS, echo)
  const names: unknown[] = []
  const { lookup } = dns
  t.mock.method(dns, 'lookup', (name: string, ...rest: [never, never]) => {
    names.push(name)
    lookup(name, ...rest)
  })
  for (const scheme of ['socks5', 'socks5h', 'socks']) {
    const agent = agentFor(t, `${scheme}://127.0.0.1:${proxy.port}`, { requestTls: { ca: authority } })
    await readEcho(await agent.request({ origin: `http://hidden.test:${origin.port}`, ...GET }))
    await readEcho(await agent.request({ origin: `https://a.example.test:${secure.port}`, ...GET }))
  }
  // The name of the proxy itself is.
  const named = agentFor(t, `socks5://localhost:${proxy.port}`)
  await readEcho(await named.request({ origin: `http://hidden.test:${origin.port}`, ...GET }))
  assert.deepEqual([...new Set(names)], ['localhost'])
})

test('a polluted Object.prototype configures nothing', async (t) => {
  const reached: unknown[] = []
  const polluted = {
    username: 'mallory',
    password: 'mallory',
    proxyTls: {},
    requestTls: { rejectUnauthorized: false },
    factory: () => reached.push('factory'),
    connectTimeout: 1,
    localAddress: '127.0.0.9',
    servername: 'mallory.test',
    headers: { 'x-mallory': '1' },
  }
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  const secure = await startOrigin(t, H1_TLS, echo)
  const names = Object.keys(polluted) as (keyof typeof polluted)[]
  for (const name of names) {
    Object.defineProperty(Object.prototype, name, {
      value: polluted[name],
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  t.after(() => {
    for (const name of names) delete (Object.prototype as Record<string, unknown>)[name]
  })
  const agent = agentFor(t, proxy.url)
  const { headers } = await readEcho(await agent.request({ origin: origin.url, ...GET }))
  const error = await failure(agent.request({ origin: secure.url, ...GET }))
  for (const name of names) delete (Object.prototype as Record<string, unknown>)[name]
  assert.equal(headers['x-mallory'], undefined)
  assert.match(String(error.code), /UNABLE_TO|SELF_SIGNED/)
  assert.deepEqual([reached, proxy.logins], [[], []])
  assert.equal(proxy.accepted[0]!.remoteAddress ?? '127.0.0.1', '127.0.0.1')
})

test('the environment has no effect on a SOCKS agent', async (t) => {
  const names = ['http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'no_proxy'] as const
  const before = names.map((name) => process.env[name])
  t.after(() => {
    names.forEach((name, index) => {
      const value = before[index]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    })
  })
  for (const name of names) process.env[name] = name === 'no_proxy' ? '*' : 'http://127.0.0.1:1'
  const proxy = await startSocksServer(t)
  const origin = await startOrigin(t, H1, echo)
  await readEcho(await agentFor(t, proxy.url).request({ origin: origin.url, ...GET }))
  assert.equal(proxy.requests.length, 1)
})

test('no error of a SOCKS agent shows a password', async (t) => {
  const proxy = await startSocksServer(t, { credentials: { username: 'u', password: 'p' } })
  const port = await refusingPort(t)
  for (const host of [`127.0.0.1:${proxy.port}`, `127.0.0.1:${port}`]) {
    const agent = agentFor(t, `socks5://user:sesame@${host}`)
    const error = await failure(agent.request({ origin: 'http://x.test', ...GET }))
    assert.ok(error instanceof errors.Socks5ProxyError || error.code === 'ECONNREFUSED')
    const { inspect } = await import('node:util')
    assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes('sesame'))
  }
})
