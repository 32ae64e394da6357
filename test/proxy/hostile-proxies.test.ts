/** Proxies that misbehave in ways that a request must survive: it fails soon, and nothing is opened again and again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Dispatcher, ProxyAgent, type ProxyErrorInfo, Socks5ProxyAgent } from '../../src/index.ts'
import { SETTINGS_MAX_CONCURRENT_STREAMS } from '../../src/protocol/http2/constants.ts'
import { authority } from '../support/certificates.ts'
import { failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { startH2Server } from '../support/h2-server.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

type TestContext = import('node:test').TestContext

const GET = { origin: 'http://target.test', path: '/', method: 'GET' } as const
const SECURE = { ...GET, origin: 'https://target.test' } as const

const phaseOf = (error: Error & Record<string, unknown>): string => (error['proxy'] as ProxyErrorInfo).phase

async function startPair(
  t: TestContext,
  options: object = {},
): Promise<{ server: Awaited<ReturnType<typeof startScriptedServer>>; agent: ProxyAgent }> {
  const server = await startScriptedServer(t)
  const agent = new ProxyAgent({ uri: server.url, proxyTunnel: true, ...options })
  t.after(() => agent.destroy())
  return { server, agent }
}

async function startFrames(
  t: TestContext,
  options: object = {},
  settings: readonly (readonly [number, number])[] = [],
): Promise<{ server: Awaited<ReturnType<typeof startH2Server>>; agent: ProxyAgent }> {
  const server = await startH2Server(t, { alpn: ['h2'], settings })
  const agent = new ProxyAgent({
    uri: server.url,
    proxyTunnel: true,
    proxyTls: { ca: authority },
    ...options,
  })
  t.after(() => agent.destroy())
  return { server, agent }
}

describe('a tunnel that ends as it opens', () => {
  for (const request of [GET, SECURE, { ...GET, method: 'POST', body: 'x' } as const]) {
    test(`HTTP/1.1, ${request.method} ${request.origin}`, async (t) => {
      const { server, agent } = await startPair(t)
      const serve = async (): Promise<never> => {
        for (;;) {
          const peer = await server.accept()
          await peer.head()
          peer.end('HTTP/1.1 200 OK\r\n\r\n')
        }
      }
      serve().catch(() => {})
      assert.ok((await failure(agent.request(request))) instanceof Error)
      await turns(5)
      assert.ok(server.count <= 2, String(server.count))
    })

    test(`HTTP/2, ${request.method} ${request.origin}`, async (t) => {
      const { server, agent } = await startFrames(t)
      const error = failure(agent.request(request))
      const peer = await server.accept()
      let asked = 0
      const serve = async (): Promise<never> => {
        for (;;) {
          const { id } = await peer.request()
          asked++
          peer.head(id, 200, [], true)
        }
      }
      serve().catch(() => {})
      assert.ok((await error) instanceof Error)
      await turns(5)
      assert.equal(server.count, 1)
      assert.ok(asked <= 2, String(asked))
    })
  }
})

describe('an answer to CONNECT', () => {
  test('with 101 opens no tunnel', async (t) => {
    const { server, agent } = await startPair(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    assert.equal(phaseOf(await error), 'proxy-connect')
    await peer.closed()
    assert.equal(peer.received, '')
    assert.equal(server.count, 1)
  })

  test('with bytes after the 200, for a target with TLS, is an error of TLS', async (t) => {
    const { server, agent } = await startPair(t)
    const error = failure(agent.request(SECURE))
    const peer = await server.accept()
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil')
    assert.equal(phaseOf(await error), 'target-tls')
    await peer.closed()
    assert.equal(server.count, 1)
  })

  test('with the length or the chunks of a body still opens a tunnel of bytes', async (t) => {
    for (const field of ['content-length: 43', 'transfer-encoding: chunked']) {
      const { server, agent } = await startPair(t)
      const answer = agent.request(GET)
      const peer = await server.accept()
      await peer.head()
      peer.send(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`)
      assert.match(await peer.head(), /^GET \/ /)
      peer.send('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nright')
      assert.equal(await (await answer).body.text(), 'right')
    }
  })

  test('with endless interim responses over HTTP/2 is given up', async (t) => {
    const { server, agent } = await startFrames(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    const { id } = await peer.request()
    for (let i = 0; i < 50; i++) peer.head(id, 103)
    assert.equal(phaseOf(await error), 'proxy-connect')
    await peer.resetOf(id)
    assert.equal(server.count, 1)
  })
})

describe('silence', () => {
  test('of an HTTP/2 proxy about one tunnel ends with connectTimeout, and the session goes on', async (t) => {
    const { server, agent } = await startFrames(t, { connectTimeout: 1000 })
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    const { id } = await peer.request()
    await clock.advance(1000)
    const failed = await error
    assert.deepEqual([failed.code, phaseOf(failed)], ['UND_ERR_CONNECT_TIMEOUT', 'proxy-connect'])
    await peer.resetOf(id)
    const answer = agent.request(GET)
    const next = await peer.request()
    peer.head(next.id, 200)
    await peer.frame(0, next.id)
    peer.data(next.id, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    assert.equal(await (await answer).body.text(), 'ok')
    assert.equal(server.count, 1)
  })

  test('of an HTTP/2 proxy that takes no stream at all ends with connectTimeout', async (t) => {
    const { server, agent } = await startFrames(t, { connectTimeout: 1000 }, [
      [SETTINGS_MAX_CONCURRENT_STREAMS, 0],
    ])
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    await server.accept()
    await turns(20)
    await clock.advance(1000)
    assert.equal((await error).code, 'UND_ERR_CONNECT_TIMEOUT')
    assert.ok(server.count <= 2, String(server.count))
  })

  test('of a proxy that is asked to forward ends with headersTimeout', async (t) => {
    const { server, agent } = await startPair(t, { proxyTunnel: false, headersTimeout: 1000 })
    const clock = FakeClock.install(t)
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.head()
    await clock.advance(1000)
    const failed = await error
    assert.deepEqual([failed.code, phaseOf(failed)], ['UND_ERR_HEADERS_TIMEOUT', 'forward'])
    await peer.closed()
  })

  for (const [phase, answers, half] of [
    ['socks-greeting', [], '\x05'],
    ['socks-auth', ['\x05\x02'], '\x01'],
    ['socks-request', ['\x05\x02', '\x01\x00'], '\x05\x00\x00\x01\x7f\x00\x00\x01\x04'],
    ['socks-request', ['\x05\x02', '\x01\x00'], '\x05\x00\x00\x03\xffname'],
  ] as const) {
    test(`after half an answer: ${phase}, ${JSON.stringify(half)}`, async (t) => {
      const clock = FakeClock.install(t)
      const server = await startScriptedServer(t)
      const agent = new Socks5ProxyAgent(`socks5://user:pass@127.0.0.1:${server.port}`, {
        connectTimeout: 1000,
      })
      t.after(() => agent.destroy())
      const error = failure(agent.request(GET))
      const peer = await server.accept()
      await peer.until('\x05\x02\x02\x00')
      for (const answer of answers) {
        peer.send(answer)
        await peer.until(answer === '\x05\x02' ? 'pass' : 'target.test\0P')
      }
      // Each byte in turn: bytes that come do not make the time longer.
      for (const byte of half) {
        peer.send(byte)
        await turns(3)
        await clock.advance(50)
      }
      await clock.advance(1000 - 50 * half.length)
      const failed = await error
      assert.deepEqual([failed.code, phaseOf(failed)], ['UND_ERR_CONNECT_TIMEOUT', phase])
      await peer.closed()
      assert.equal(agent.stats.proxy.pending, 0)
    })
  }
})

test('no credentials are in the URLs and errors that events and factories get', async (t) => {
  const server = await startScriptedServer(t)
  const uri = server.url.replace('//', '//user:secret@')
  const seen: unknown[] = []
  const made: string[] = []
  for (const proxyTunnel of [true, false]) {
    const agent: Dispatcher = new ProxyAgent({ uri, proxyTunnel })
    t.after(() => agent.destroy())
    for (const event of ['connect', 'disconnect', 'connectionError']) {
      agent.on(event, (url: URL, _targets: unknown, error?: Error) => {
        seen.push(url.href, error?.message, error?.stack, JSON.stringify(error ?? null))
      })
    }
    const error = failure(agent.request(GET))
    const peer = await server.accept()
    assert.match(await peer.head(), /proxy-authorization: Basic /)
    peer.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    const failed = await error
    seen.push(failed.message, failed.stack, JSON.stringify(failed), JSON.stringify(failed['proxy']))
    await eventually(() => seen.length > 4)
  }
  const agent = new ProxyAgent({
    uri,
    clientFactory: (url) => {
      made.push(String(url))
      throw new Error('none')
    },
  })
  t.after(() => agent.destroy())
  await failure(agent.request(SECURE))
  assert.equal(made.length, 1)
  const text = [...seen, ...made].join('\n')
  const encoded = Buffer.from('user:secret').toString('base64')
  assert.ok(!text.includes('secret') && !text.includes(encoded), text)
})
