// What a SOCKS 5 proxy can do wrong, and what the request gets to know about it. The proxy is a script of bytes.
import assert from 'node:assert/strict'
import net from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { errors, Socks5ProxyAgent, type Socks5ProxyAgentOptions } from '../../src/index.ts'
import { authority, localhost, other } from '../support/certificates.ts'
import { echo, failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import {
  type ScriptedConnection,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { startOrigin, WIRES } from '../support/wire.ts'

const GET = { origin: 'http://x.test:8080', path: '/secret?q', method: 'GET' } as const
const GREETING = '\x05\x01\x00'
const LOGIN = '\x05\x02\x02\x00'
const REQUEST = '\x05\x01\x00\x03\x06x.test\x1f\x90'
const REPLY = '\x05\x00\x00\x01\x7f\x00\x00\x01\x04\x38'

interface Pair {
  readonly server: ScriptedServer
  readonly agent: Socks5ProxyAgent
  readonly uri: string
}

async function startPair(t: TestContext, options: Socks5ProxyAgentOptions = {}, user = ''): Promise<Pair> {
  const server = await startScriptedServer(t)
  const uri = `socks5://127.0.0.1:${server.port}`
  const agent = new Socks5ProxyAgent(uri.replace('//', `//${user}`), options)
  t.after(() => agent.destroy())
  return { server, agent, uri }
}

interface Row {
  readonly title: string
  /** Sent after the greeting, and after each further message of the client. */
  readonly answers: readonly string[]
  readonly login?: boolean
  readonly code: string
  readonly message: string
  readonly phase: string
  readonly reply?: number
}

const REPLIES = [
  'General SOCKS server failure',
  'Connection not allowed by ruleset',
  'Network unreachable',
  'Host unreachable',
  'Connection refused',
  'TTL expired',
  'Command not supported',
  'Address type not supported',
  'Unknown error code: 9',
]

const ROWS: readonly Row[] = [
  {
    title: 'another version',
    answers: ['\x04\x00'],
    code: 'UND_ERR_SOCKS5_VERSION',
    message: 'Invalid SOCKS version: 4',
    phase: 'socks-greeting',
  },
  {
    title: 'an HTTP proxy',
    answers: ['HTTP/1.1 400 Bad Request\r\n\r\n'],
    code: 'UND_ERR_SOCKS5_VERSION',
    message: 'Invalid SOCKS version: 72, the answer is HTTP',
    phase: 'socks-greeting',
  },
  {
    title: 'no acceptable method',
    answers: ['\x05\xff'],
    code: 'UND_ERR_SOCKS5_AUTH_REJECTED',
    message: 'No acceptable authentication method',
    phase: 'socks-greeting',
  },
  {
    title: 'a method that was not offered',
    answers: ['\x05\x01'],
    code: 'UND_ERR_SOCKS5_AUTH_METHOD',
    message: 'Unsupported authentication method: 1',
    phase: 'socks-greeting',
  },
  {
    title: 'credentials that there are not',
    answers: ['\x05\x02'],
    code: 'UND_ERR_INVALID_ARG',
    message: 'Username and password required for authentication',
    phase: 'socks-greeting',
  },
  {
    title: 'another version in the answer to the credentials',
    login: true,
    answers: ['\x05\x02', '\x05\x00'],
    code: 'UND_ERR_SOCKS5_AUTH_VERSION',
    message: 'Invalid auth sub-negotiation version: 5',
    phase: 'socks-auth',
  },
  {
    title: 'wrong credentials',
    login: true,
    answers: ['\x05\x02', '\x01\x01'],
    code: 'UND_ERR_SOCKS5_AUTH_FAILED',
    message: 'Authentication failed',
    phase: 'socks-auth',
  },
  {
    title: 'wrong credentials, with the answers in one piece',
    login: true,
    answers: ['\x05\x02\x01\x01'],
    code: 'UND_ERR_SOCKS5_AUTH_FAILED',
    message: 'Authentication failed',
    phase: 'socks-auth',
  },
  {
    title: 'another version in the reply',
    answers: ['\x05\x00', '\x04\x00'],
    code: 'UND_ERR_SOCKS5_REPLY_VERSION',
    message: 'Invalid SOCKS version in reply: 4',
    phase: 'socks-request',
  },
  {
    title: 'another type of address',
    answers: ['\x05\x00', '\x05\x00\x00\x05'],
    code: 'UND_ERR_SOCKS5_ADDR_TYPE',
    message: 'Invalid address type in reply: 5',
    phase: 'socks-request',
  },
  ...REPLIES.map((meaning, index) => ({
    title: `reply ${index + 1}`,
    answers: ['\x05\x00', `\x05${String.fromCharCode(index + 1)}\x00\x01\x00\x00\x00\x00\x00\x00`],
    code: `UND_ERR_SOCKS5_REPLY_${index + 1}`,
    message: `SOCKS5 connection failed: ${meaning}`,
    phase: 'socks-request',
    reply: index + 1,
  })),
]

describe('the proxy answers with', () => {
  for (const { title, answers, login = false, code, message, phase, reply = null } of ROWS) {
    test(title, async (t) => {
      const { server, agent, uri } = await startPair(t, {}, login ? 'user:sesame@' : '')
      const error = failure(agent.request(GET))
      const peer = await server.accept()
      await peer.until(login ? LOGIN : GREETING)
      for (const [index, answer] of answers.entries()) {
        if (index > 0) await peer.until(login ? 'sesame' : REQUEST)
        peer.send(answer)
      }
      const { name, ...fields } = await error
      const expected = code === 'UND_ERR_INVALID_ARG' ? 'InvalidArgumentError' : 'Socks5ProxyError'
      assert.deepEqual([name, fields.code, (await error).message], [expected, code, message])
      assert.deepEqual(fields['proxy'], { uri, phase, statusCode: null, headers: null, body: null, reply })
      assert.ok((await error).stack!.includes(` while connecting, at ${phase} of the proxy ${uri})\n`))
      // Nothing of the request was sent.
      assert.deepEqual([fields['phase'], fields['retrySafety']], ['connecting', 'safe'])
      assert.ok(!JSON.stringify(fields).includes('sesame'))
      await peer.closed()
      assert.equal(server.count, 1)
    })
  }
})

describe('the proxy ends the connection', () => {
  const steps: readonly (readonly [string, string, (peer: ScriptedConnection) => Promise<unknown>])[] = [
    ['before its first answer', 'socks-greeting', (peer) => peer.until(LOGIN)],
    ['instead of checking the credentials', 'socks-auth', (peer) => login(peer)],
    [
      'instead of a reply',
      'socks-request',
      async (peer) => {
        await login(peer)
        peer.send('\x01\x00')
        await peer.until('x.test')
      },
    ],
  ]
  const login = async (peer: ScriptedConnection): Promise<unknown> => {
    await peer.until(LOGIN)
    peer.send('\x05\x02')
    return peer.until('sesame')
  }
  for (const [title, phase, script] of steps) {
    for (const how of ['FIN', 'RST'] as const) {
      test(`${title}, with ${how}`, async (t) => {
        const { server, agent } = await startPair(t, { connectTimeout: 0 }, 'user:sesame@')
        const failed = failure(agent.request(GET))
        const peer = await server.accept()
        await script(peer)
        // In the middle of an answer.
        if (how === 'FIN') peer.end(phase === 'socks-auth' ? '\x01' : '\x05')
        else peer.socket.resetAndDestroy()
        const error = await failed
        assert.ok(error instanceof errors.Socks5ProxyError)
        assert.deepEqual([error.code, error.message], ['UND_ERR_SOCKS5', 'other side closed'])
        assert.equal((error.proxy as { phase: string }).phase, phase)
        assert.equal(
          (error.cause as { code?: string } | undefined)?.code,
          how === 'FIN' ? undefined : 'ECONNRESET',
        )
        assert.equal(error.retrySafety, 'safe')
        assert.equal(server.count, 1)
      })
    }
  }
})

test('the bytes of the way to a tunnel', async (t) => {
  const { server, agent } = await startPair(t, {}, 'user:sesame@')
  const answer = agent.request(GET)
  const peer = await server.accept()
  assert.equal(await peer.until(LOGIN), LOGIN)
  peer.send('\x05', '\x02')
  assert.equal(await peer.until('sesame'), '\x01\x04user\x06sesame')
  peer.send('\x01\x00')
  assert.equal(await peer.until('\x1f\x90'), REQUEST)
  // Byte by byte, with turns of the event loop between them.
  for (const byte of REPLY) {
    peer.send(byte)
    await turns(2)
  }
  assert.match(await peer.head(), /^GET \/secret\?q HTTP\/1\.1\r\nhost: x\.test:8080\r\n/)
  peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  assert.equal(await (await answer).body.text(), 'ok')
})

test('bytes of a plain target that nobody asked for fail the request', async (t) => {
  const { server, agent } = await startPair(t)
  const failed = failure(agent.request(GET))
  const peer = await server.accept()
  await peer.until(GREETING)
  peer.send('\x05\x00')
  await peer.until(REQUEST)
  peer.send(REPLY, 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged')
  const error = await failed
  assert.deepEqual([error.name, error.message], ['SocketError', 'bad response'])
  assert.equal((error['proxy'] as { phase: string }).phase, 'socks-request')
  await peer.closed()
  assert.equal(server.count, 1)
})

test('an HTTP/2 server without TLS may speak first', async (t) => {
  const { server, agent } = await startPair(t, { useH2c: true })
  const answer = agent.request(GET)
  const peer = await server.accept()
  await peer.until(GREETING)
  peer.send('\x05\x00')
  await peer.until(REQUEST)
  // Its SETTINGS come with the reply.
  peer.send(REPLY, '\x00\x00\x00\x04\x00\x00\x00\x00\x00')
  await peer.until('PRI * HTTP/2.0')
  await peer.until('\x00\x00\x00\x01')
  // HEADERS with END_STREAM on stream 1: `:status: 204`.
  peer.send('\x00\x00\x01\x01\x05\x00\x00\x00\x01\x89')
  assert.equal((await answer).statusCode, 204)
})

test('a proxy that cannot be reached', async (t) => {
  const port = await refusingPort(t)
  const agent = new Socks5ProxyAgent(`socks5://user:sesame@127.0.0.1:${port}`)
  t.after(() => agent.destroy())
  const error = await failure(agent.request(GET))
  assert.equal(error.code, 'ECONNREFUSED')
  const { uri, phase } = error['proxy'] as { uri: string; phase: string }
  assert.deepEqual([uri, phase], [`socks5://127.0.0.1:${port}`, 'proxy-dial'])
  assert.deepEqual([error['phase'], error['retrySafety']], ['connecting', 'safe'])
})

describe('the time limit holds for each step', () => {
  const timeout = 'UND_ERR_CONNECT_TIMEOUT'

  test('the greeting: the address is that of the proxy', async (t) => {
    const clock = FakeClock.install(t)
    const { server, agent } = await startPair(t)
    const failed = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.until(GREETING)
    await clock.advance(4999)
    assert.equal(agent.stats.proxy.pending, 1)
    await clock.advance(1)
    const error = await failed
    assert.equal(error.code, timeout)
    assert.equal(
      error.message,
      `Connect Timeout Error (attempted address: 127.0.0.1:${server.port}, timeout: 5000ms)`,
    )
    assert.equal((error['proxy'] as { phase: string }).phase, 'socks-greeting')
    await peer.closed()
  })

  test('the request has its own, and the address is that of the target', async (t) => {
    const clock = FakeClock.install(t)
    const { server, agent } = await startPair(t, { connectTimeout: 100 })
    const failed = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.until(GREETING)
    await clock.advance(99)
    peer.send('\x05\x00')
    await peer.until(REQUEST)
    await clock.advance(99)
    assert.equal(agent.stats.proxy.pending, 1)
    await clock.advance(1)
    const error = await failed
    assert.equal(error.code, timeout)
    assert.match(error.message, /attempted address: x\.test:8080, timeout: 100ms/)
    assert.equal((error['proxy'] as { phase: string }).phase, 'socks-request')
    await peer.closed()
  })

  for (const [whose, requestTls, limit] of [
    ['its own', { timeout: 50 }, 50],
    ['the same again', {}, 100],
  ] as const)
    test(`TLS to the target has ${whose}`, async (t) => {
      const clock = FakeClock.install(t)
      const { server, agent } = await startPair(t, { connectTimeout: 100, requestTls })
      const failed = failure(agent.request({ ...GET, origin: 'https://x.test' }))
      const peer = await server.accept()
      await peer.until(GREETING)
      peer.send('\x05\x00')
      await peer.until('\x01\xbb')
      peer.send(REPLY)
      await peer.until('\x16\x03')
      await clock.advance(limit)
      const error = await failed
      assert.equal(error.code, timeout)
      assert.ok(error.message.includes(`attempted address: x.test:443, timeout: ${limit}ms`), error.message)
      assert.equal((error['proxy'] as { phase: string }).phase, 'target-tls')
      await peer.closed()
    })

  test('TLS to the proxy has that of proxyTls', async (t) => {
    const clock = FakeClock.install(t)
    const { server, agent } = await startPair(t, { proxyTls: { timeout: 50 } })
    const failed = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.until('\x16\x03')
    await clock.advance(50)
    const error = await failed
    assert.equal(error.code, timeout)
    assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${server.port}, timeout: 50ms`))
    assert.equal((error['proxy'] as { phase: string }).phase, 'proxy-tls')
    await peer.closed()
  })

  test('a connect function that never answers', async (t) => {
    const clock = FakeClock.install(t)
    const agent = new Socks5ProxyAgent('socks5://proxy.test', { connect: () => {} })
    t.after(() => agent.destroy())
    const failed = failure(agent.request(GET))
    await clock.advance(5000)
    const error = await failed
    assert.match(error.message, /attempted address: proxy\.test:1080, timeout: 5000ms/)
    assert.equal((error['proxy'] as { phase: string }).phase, 'proxy-dial')
  })

  test('0 is no limit', async (t) => {
    const clock = FakeClock.install(t)
    const { server, agent } = await startPair(t, { connectTimeout: 0 })
    const failed = failure(agent.request(GET))
    const peer = await server.accept()
    await peer.until(GREETING)
    await clock.advance(1e9)
    assert.equal(agent.stats.proxy.pending, 1)
    peer.end()
    await failed
  })
})

describe('TLS failures name their hop', () => {
  test('the certificate of the proxy has another name', async (t) => {
    const proxy = await startSocksServer(t, { tls: other })
    const agent = new Socks5ProxyAgent(proxy.url, { proxyTls: { ca: authority } })
    t.after(() => agent.destroy())
    const error = await failure(agent.request(GET))
    assert.deepEqual([error.name, error.code], ['SecureProxyConnectionError', 'UND_ERR_PRX_TLS'])
    assert.equal(error.message, 'Secure Proxy Connection failed')
    assert.equal((error.cause as { code: string }).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    assert.equal((error['proxy'] as { phase: string }).phase, 'proxy-tls')
  })

  test('the certificate of the proxy is not trusted', async (t) => {
    const proxy = await startSocksServer(t, { tls: localhost })
    const agent = new Socks5ProxyAgent(proxy.url, { proxyTls: {} })
    t.after(() => agent.destroy())
    const error = await failure(agent.request(GET))
    assert.equal(error.code, 'UND_ERR_PRX_TLS')
    assert.match((error.cause as { code: string }).code, /UNABLE_TO|SELF_SIGNED/)
  })

  test('the certificate of the target is not trusted', async (t) => {
    const proxy = await startSocksServer(t)
    const origin = await startOrigin(t, WIRES[1]!, echo)
    const agent = new Socks5ProxyAgent(proxy.url)
    t.after(() => agent.destroy())
    const error = await failure(agent.request({ ...GET, origin: origin.url }))
    assert.match(String(error.code), /UNABLE_TO|SELF_SIGNED/)
    assert.equal((error['proxy'] as { phase: string }).phase, 'target-tls')
    assert.equal(error['retrySafety'], 'safe')
    await eventually(() => proxy.open.size === 0)
  })
})

describe('an abort settles at once, and a tunnel that no request waits for is cancelled', () => {
  const steps: readonly (readonly [string, (peer: ScriptedConnection) => Promise<unknown>])[] = [
    ['greeting', (peer) => peer.until(GREETING)],
    [
      'request',
      async (peer) => {
        await peer.until(GREETING)
        peer.send('\x05\x00')
        await peer.until(REQUEST)
      },
    ],
  ]
  for (const [step, script] of steps) {
    test(`during the ${step}`, async (t) => {
      const { server, agent } = await startPair(t)
      const controller = new AbortController()
      const failed = failure(agent.request({ ...GET, signal: controller.signal }))
      const peer = await server.accept()
      await script(peer)
      controller.abort()
      assert.equal((await failed).name, 'AbortError')
      await peer.closed()
      await eventually(() => agent.stats.proxy.pending === 0)
      assert.equal(server.count, 1)
    })
  }

  test('during the dial', async (t) => {
    const calls: ((error: Error | null, socket?: net.Socket) => void)[] = []
    const { server } = await startPair(t)
    const agent = new Socks5ProxyAgent('socks5://proxy.test', {
      connect: (_target, callback) => calls.push(callback as (typeof calls)[number]),
    })
    t.after(() => agent.destroy())
    const controller = new AbortController()
    const failed = failure(agent.request({ ...GET, signal: controller.signal }))
    controller.abort()
    assert.equal((await failed).name, 'AbortError')
    // A socket that comes too late is closed.
    const socket = net.connect(server.port, '127.0.0.1')
    calls[0]!(null, socket)
    await eventually(() => socket.closed)
  })

  test('during TLS to the target', async (t) => {
    const { server, agent } = await startPair(t)
    const controller = new AbortController()
    const failed = failure(agent.request({ ...GET, origin: 'https://x.test', signal: controller.signal }))
    const peer = await server.accept()
    await peer.until(GREETING)
    peer.send('\x05\x00')
    await peer.until('\x01\xbb')
    peer.send(REPLY)
    await peer.until('\x16\x03')
    controller.abort()
    assert.equal((await failed).name, 'AbortError')
  })

  test('another request that waits keeps the tunnel', async (t) => {
    const { server, agent } = await startPair(t, { connections: 1 })
    const controller = new AbortController()
    const failed = failure(agent.request({ ...GET, signal: controller.signal }))
    const answer = agent.request(GET)
    const peer = await server.accept()
    await peer.until(GREETING)
    controller.abort()
    await failed
    peer.send('\x05\x00')
    await peer.until(REQUEST)
    peer.send(REPLY)
    await peer.head()
    peer.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    assert.equal(await (await answer).body.text(), 'ok')
    assert.equal(server.count, 1)
  })
})

describe('destroy in the middle of it', () => {
  const steps: readonly (readonly [string, (peer: ScriptedConnection) => Promise<unknown>])[] = [
    ['the greeting', (peer) => peer.until(GREETING)],
    [
      'the request',
      async (peer) => {
        await peer.until(GREETING)
        peer.send('\x05\x00')
        await peer.until('x.test')
      },
    ],
    [
      'TLS to the target',
      async (peer) => {
        await peer.until(GREETING)
        peer.send('\x05\x00')
        await peer.until('x.test')
        peer.send(REPLY)
        await peer.until('\x16\x03')
      },
    ],
  ]
  for (const [step, script] of steps) {
    test(`${step} passes the error on and leaves nothing open`, async (t) => {
      const { server, agent } = await startPair(t)
      const failed = failure(agent.request({ ...GET, origin: 'https://x.test' }))
      const peer = await server.accept()
      await script(peer)
      const reason = new Error('enough')
      const destroyed = agent.destroy(reason)
      assert.equal(await failed, reason)
      await destroyed
      await peer.closed()
      assert.equal(agent.stats.proxy.pending, 0)
      assert.equal((await failure(agent.request(GET))).code, 'UND_ERR_DESTROYED')
    })
  }

  test('without an error, requests get ClientDestroyedError', async (t) => {
    const { server, agent } = await startPair(t)
    const failed = failure(agent.request(GET))
    await server.accept()
    await agent.destroy()
    assert.equal((await failed).code, 'UND_ERR_DESTROYED')
  })
})

describe('a connect function', () => {
  const agentWith = (t: TestContext, connect: (...args: never[]) => unknown): Socks5ProxyAgent => {
    const agent = new Socks5ProxyAgent('socks5://proxy.test', { connect: connect as never })
    t.after(() => agent.destroy())
    return agent
  }

  test('that throws fails the request', async (t) => {
    const agent = agentWith(t, () => {
      throw new Error('no way')
    })
    const error = await failure(agent.request(GET))
    assert.equal(error.message, 'no way')
    assert.equal((error['proxy'] as { phase: string }).phase, 'proxy-dial')
  })

  test('that answers with an error, or with nothing', async (t) => {
    const refused = agentWith(t, (_target: never, callback: (error: Error | null) => void) => {
      callback(new Error('refused'))
    })
    assert.equal((await failure(refused.request(GET))).message, 'refused')
    const empty = agentWith(t, (_target: never, callback: (error: Error | null) => void) => callback(null))
    assert.equal((await failure(empty.request(GET))).message, 'the connector delivered no socket')
  })

  test('whose socket throws', async (t) => {
    const hostile = {
      once: () => {},
      on: () => {
        throw new Error('not a socket')
      },
      destroy: () => {},
    }
    const agent = agentWith(t, (_target: never, callback: (error: null, socket: unknown) => void) => {
      callback(null, hostile)
    })
    assert.equal((await failure(agent.request(GET))).message, 'not a socket')
  })
})

test('a host name that is too long is refused before anything is connected', async (t) => {
  const { server, agent } = await startPair(t)
  const error = await failure(agent.request({ ...GET, origin: `http://${'a.'.repeat(127)}test` }))
  assert.deepEqual(
    [error.name, error.message],
    ['InvalidArgumentError', 'Domain name too long (max 255 bytes)'],
  )
  assert.equal(server.count, 0)
})
