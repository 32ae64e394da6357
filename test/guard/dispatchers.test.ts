/** A guard in the options of dispatchers: redirects, rebinding between connections, retries, mistakes of the caller. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  Client,
  EventSource,
  errors,
  fetch,
  type GuardOptions,
  H2CClient,
  interceptors,
  Pool,
  ProxyAgent,
  WebSocket,
} from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { type Listener, overEachWay, overEachWire, startOrigin, wireOptions } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const
/** 127.0.0.1 plays the public Internet. */
const GUARD: GuardOptions = { allow: ['127.0.0.1'] }

/** Answers in turn, again and again. */
function turning(...addresses: string[]): LookupFunction & { count: number } {
  const state = { count: 0 }
  const lookup: LookupFunction = (_hostname, options, callback) => {
    const address = addresses[state.count++ % addresses.length]!
    const family = address.includes(':') ? 6 : 4
    if (options.all) callback(null, [{ address, family }])
    else callback(null, address, family)
  }
  return Object.defineProperty(lookup, 'count', { get: () => state.count }) as never
}

const over = (options: object, connect: object): object => ({
  ...options,
  connect: { ...(options as { connect?: object }).connect, ...connect },
})

overEachWay('a guard', (way) => {
  test('lets through what is allowed; refuses each connection by itself', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const lookup = turning('127.0.0.1', '::1', '127.0.0.2')
    const dispatcher = origin.dispatcher({ connect: { guard: GUARD, lookup } as never, connections: 1 })
    await readEcho(await dispatcher.request(GET))
    // The next connection asks the resolver anew.
    const disconnected = once(dispatcher, 'disconnect')
    origin.sockets[0]!.destroy()
    await disconnected
    for (let i = 0; i < 2; i++) {
      const error = await failure(dispatcher.request(GET))
      assert.equal(error['rule'], 'loopback')
    }
    await readEcho(await dispatcher.request(GET))
    assert.deepEqual([lookup.count, origin.sockets.length], [4, 2])
  })

  test('requests on an open connection do not ask it', async (t) => {
    const origin = await startOrigin(t, way, echo)
    let asked = 0
    const check = (): boolean => asked++ >= 0
    const dispatcher = origin.dispatcher({
      connect: { guard: { ...GUARD, check }, lookup: turning('127.0.0.1') } as never,
      connections: 1,
    })
    for (let i = 0; i < 5; i++) await readEcho(await dispatcher.request(GET))
    assert.deepEqual([asked, origin.sockets.length], [1, 1])
  })
})

overEachWire('redirects to what is refused', (wire) => {
  test('of the interceptor and of fetch', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      const location = decodeURIComponent(request.url!.slice(2))
      if (location === '') response.end('here')
      else response.writeHead(302, { location }).end()
    })
    const evil = await startOrigin(t, wire, echo)
    const lookup: LookupFunction = (hostname, options, callback) => {
      // Two names on one address, which must not share a verdict.
      const address = hostname === 'localhost' ? '127.0.0.1' : '127.0.0.2'
      if (options.all) callback(null, [{ address, family: 4 }])
      else callback(null, address, 4)
    }
    const base = new Agent(over(wireOptions(wire), { guard: { allow: ['localhost'] }, lookup }))
    t.after(() => base.destroy())
    const agent = base.compose(interceptors.redirect({ maxRedirections: 3 }))
    const { body } = await agent.request({ ...GET, origin: origin.url, path: '/?' })
    assert.equal(await body.text(), 'here')
    const scheme = wire.secure ? 'https' : 'http'
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '0x7f.1',
      '2130706433',
      'evil.test',
      '[::ffff:7f00:1]',
      '127.0.0.1.',
    ]) {
      const path = `/?${encodeURIComponent(`${scheme}://${host}:${evil.port}/`)}`
      const error = await failure(agent.request({ ...GET, origin: origin.url, path }))
      assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS', host)
      const rejected = await failure(fetch(origin.url + path, { dispatcher: base }))
      assert.equal(rejected.name, 'TypeError')
      assert.equal(rejected.message, 'fetch failed')
      assert.ok(rejected.cause instanceof errors.BlockedAddressError, host)
    }
    assert.equal(evil.sockets.length, 0)
  })
})

test('a WebSocket through a guard opens', async (t) => {
  const [wire] = [{ name: 'h1', secure: false, multiplexes: false }] as const
  const origin = await startOrigin(t, wire, echo)
  origin.server.on('upgrade', (_request, socket) => void socket.destroy())
  const agent = new Agent({ connect: { guard: GUARD, lookup: turning('127.0.0.1') } })
  t.after(() => agent.destroy())
  const socket = new WebSocket(`ws://localhost:${origin.port}`, { dispatcher: agent } as never)
  await new Promise((resolve) => socket.addEventListener('error', resolve))
  assert.equal(origin.sockets.length, 1)
})

test('it is not retried, and no failure of the server', async (t) => {
  const lookup = turning('127.0.0.2')
  const base = new Agent({ connect: { guard: GUARD, lookup } })
  t.after(() => base.destroy())
  const agent = base.compose(
    interceptors.circuitBreaker({ minRequests: 1, threshold: 0.1 }),
    interceptors.retry({ minTimeout: 1, maxTimeout: 1 }),
  )
  for (let i = 1; i <= 3; i++) {
    const error = await failure(agent.request({ ...GET, origin: 'http://x.test:8080' }))
    assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS')
    assert.equal(lookup.count, i)
  }
})

test('a body that is a stream is destroyed, like that of any request that fails', async (t) => {
  const agent = new Agent({ connect: { guard: 'public-only' } })
  t.after(() => agent.destroy())
  const body = new Readable({ read() {} })
  const error = await failure(
    agent.request({ origin: 'http://127.0.0.1:8080', path: '/', method: 'POST', body }),
  )
  assert.deepEqual(
    [error['code'], error['retrySafety'], body.destroyed],
    ['UND_ERR_BLOCKED_ADDRESS', 'safe', true],
  )
})

test('the events and the stack of a refusal', async (t) => {
  const client = new Client('http://127.0.0.1:8080', { connect: { guard: 'public-only' } })
  t.after(() => client.destroy())
  const events: unknown[] = []
  client.on('connectionError', (_url, _targets, error) =>
    events.push((error as errors.BlockedAddressError).rule),
  )
  const error = await failure(client.request(GET))
  assert.deepEqual(events, ['loopback'])
  assert.match(
    String(error.stack),
    /^BlockedAddressError: Blocked by the guard: loopback \(GET http:\/\/127\.0\.0\.1:8080\/ while connecting\)/,
  )
  assert.deepEqual(
    [error['address'], error['hostname'], error['port'], error['entry']],
    ['127.0.0.1', '127.0.0.1', 8080, '127.0.0.0/8'],
  )
})

test('interceptors.dns cannot go around it', async (t) => {
  const base = new Agent({ connect: { guard: GUARD } })
  t.after(() => base.destroy())
  const agent = base.compose(
    interceptors.dns({
      lookup: (_origin, _options, callback) => callback(null, [{ address: '127.0.0.2', family: 4 }]),
    }),
  )
  const error = await failure(agent.request({ ...GET, origin: 'http://x.test:8080' }))
  assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS')
})

test('an option that would be ignored is refused', () => {
  const connect = (): void => {}
  const message = 'unsupported guard, use connect.guard instead'
  for (const make of [
    () => new Client('http://x.test', { guard: 'public-only' } as never),
    () => new H2CClient('http://x.test', { guard: 'public-only' } as never),
    () => new Pool('http://x.test', { guard: 'public-only' } as never),
    () => new Agent({ guard: 'public-only' } as never),
    () => new ProxyAgent({ uri: 'http://proxy.test', guard: 'public-only' } as never),
  ]) {
    assert.throws(make, { code: 'UND_ERR_INVALID_ARG', message })
  }
  assert.throws(() => new Agent({ connect, tls: { guard: 'public-only' } }), {
    message: 'a guard cannot be used with a connect function',
  })
  assert.throws(() => new Agent({ connect: { guard: 'all' as never } }), { code: 'UND_ERR_INVALID_ARG' })
  assert.throws(() => new Agent({ tls: { guard: { deny: ['?'] } } }), { code: 'UND_ERR_INVALID_ARG' })
})

test('the older name of connect takes a guard, too', async (t) => {
  const agent = new Agent({ tls: { guard: 'public-only' } })
  t.after(() => agent.destroy())
  const error = await failure(agent.request({ ...GET, origin: 'http://127.0.0.1:8080' }))
  assert.equal(error['code'], 'UND_ERR_BLOCKED_ADDRESS')
})

test('a socket path is refused at every kind of dispatcher', async (t) => {
  const made = [
    new Client('http://x.test', { socketPath: '/run/x.sock', connect: { guard: 'public-only' } }),
    new Agent({ connect: { guard: 'public-only', socketPath: '/run/x.sock' } }),
    new H2CClient('http://x.test', { connect: { guard: 'public-only', socketPath: '/run/x.sock' } }),
  ]
  for (const dispatcher of made) {
    t.after(() => dispatcher.destroy())
    const error = await failure(dispatcher.request({ ...GET, origin: 'http://x.test' }))
    assert.equal(error['rule'], 'socket-path')
  }
})

/**
 * A resolver that answers with the public address first and with a private one from then on, and a server on each, at the
 * same port: what gets through to the second is counted.
 */
async function rebinding(
  t: TestContext,
  listener: Listener,
): Promise<{ url: string; agent: Agent; lookup: { count: number }; open: () => number; evil: () => number }> {
  const h1 = { name: 'h1', secure: false, multiplexes: false } as const
  const origin = await startOrigin(t, h1, listener)
  let evil = 0
  const inside = net.createServer((socket) => {
    evil++
    socket.on('error', () => {}).destroy()
  })
  inside.listen(origin.port, '127.0.0.2')
  await once(inside, 'listening')
  t.after(() => inside.close())
  const lookup = turning('127.0.0.1', ...Array.from({ length: 99 }, () => '127.0.0.2'))
  const agent = new Agent({ connect: { guard: GUARD, lookup } })
  t.after(() => agent.destroy())
  return {
    url: `http://public.test:${origin.port}`,
    agent,
    lookup,
    open: () => origin.sockets.length,
    evil: () => evil,
  }
}

const lose: Listener = (request) => void request.socket.destroy()

test('rebinding before a retry', async (t) => {
  const { url, agent, lookup, open, evil } = await rebinding(t, lose)
  const error = await failure(
    agent.compose(interceptors.retry({ minTimeout: 1, jitter: 0 })).request({ ...GET, origin: url }),
  )
  assert.deepEqual([error['code'], error['rule']], ['UND_ERR_BLOCKED_ADDRESS', 'loopback'])
  assert.deepEqual([lookup.count, open(), evil()], [2, 1, 0])
})

test('rebinding before the second request of a hedge', async (t) => {
  const { url, agent, lookup, open, evil } = await rebinding(t, (_request, response) => {
    void eventually(() => lookup.count > 1).then(() => response.end('public'))
  })
  const { body } = await agent.compose(interceptors.hedge({ delay: 1 })).request({ ...GET, origin: url })
  assert.equal(await body.text(), 'public')
  assert.deepEqual([lookup.count > 1, open(), evil()], [true, 1, 0])
})

test('rebinding before an EventSource connects again', async (t) => {
  const { url, agent, lookup, open, evil } = await rebinding(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' })
    response.end('data: public\n\n')
  })
  const source = new EventSource(url, { node: { dispatcher: agent, reconnectionTime: 1 } })
  t.after(() => source.close())
  const data: string[] = []
  source.onmessage = (event) => void data.push(event.data)
  await eventually(() => lookup.count > 2 || source.readyState === source.CLOSED)
  assert.deepEqual([data, open(), evil()], [['public'], 1, 0])
})

test('rebinding before another fetch, and before a WebSocket', async (t) => {
  const { url, agent, open, evil } = await rebinding(t, (_request, response) => {
    response.writeHead(200, { connection: 'close' }).end('public')
  })
  assert.equal(await (await fetch(url, { dispatcher: agent })).text(), 'public')
  await eventually(() => agent.stats[url]?.connected !== 1)
  assert.ok((await failure(fetch(url, { dispatcher: agent }))).cause instanceof errors.BlockedAddressError)
  const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher: agent } as never)
  await new Promise((resolve) => socket.addEventListener('error', resolve))
  assert.deepEqual([open(), evil()], [1, 0])
})

test('of a mixed answer, only the public addresses are raced', async (t) => {
  const { url, open, evil } = await rebinding(t, echo)
  const lookup: LookupFunction = (_hostname, _options, callback) =>
    callback(
      null,
      ['127.0.0.2', '::1', '127.0.0.1', '127.0.0.3'].map((address) => ({
        address,
        family: address === '::1' ? 6 : 4,
      })),
    )
  for (const autoSelectFamily of [true, false]) {
    const agent = new Agent({
      connect: { guard: GUARD, lookup, autoSelectFamily, autoSelectFamilyAttemptTimeout: 10 },
    })
    t.after(() => agent.destroy())
    await readEcho(await agent.request({ ...GET, origin: url }))
  }
  assert.deepEqual([open(), evil()], [2, 0])
})
