/** The class `Pool`. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { Client } from '../../src/dispatcher/client.ts'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import { type DispatchHandler, type DispatchOptions, errors } from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { authority } from '../support/certificates.ts'
import { contentOf, deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { holdTlsSessions } from '../support/held-sessions.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK } from '../support/scripted-client.ts'
import { overEachWire, startOrigin, WIRES, type Wire, wireOptions } from '../support/wire.ts'
import { memoryPool, refused } from './pool-support.ts'

holdTlsSessions()

const GET = { path: '/', method: 'GET' } as const

function poolFor(t: { after(fn: () => unknown): void }, url: string, wire: Wire, options = {}): Pool {
  const pool = new Pool(url, { ...wireOptions(wire), ...options })
  t.after(() => pool.destroy())
  return pool
}

overEachWire('Pool', (wire) => {
  test('GET and POST, one after another on one connection', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const pool = poolFor(t, origin.url, wire)
    const got = await readEcho(await pool.request({ path: '/a?b', method: 'GET' }))
    assert.equal(got.url, '/a?b')
    const posted = await readEcho(await pool.request({ path: '/', method: 'POST', body: 'hello' }))
    assert.equal(posted.body, 'hello')
    assert.equal(origin.sockets.length, 1)
    assert.deepEqual(pool.stats, { connected: 1, free: 1, pending: 0, queued: 0, running: 0, size: 0 })
  })

  test('stream, pipeline and a stream as body', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const pool = poolFor(t, origin.url, wire)
    const sink = new PassThrough()
    await pool.stream({ path: '/', method: 'POST', body: 'streamed' }, () => sink)
    assert.match(String(await contentOf(sink)), /"body":"streamed"/)
    const duplex = pool.pipeline({ path: '/', method: 'POST' }, ({ body }) => body)
    duplex.end('piped')
    assert.match(String(await contentOf(duplex)), /"body":"piped"/)
    const source = new PassThrough()
    source.end('from a stream')
    const posted = await pool.request({ path: '/', method: 'POST', body: source })
    assert.equal((await readEcho(posted)).body, 'from a stream')
  })

  test('at most `connections`; what waits is answered in turn; drain when there is room again', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
    const pool = poolFor(t, origin.url, wire, { connections: 2 })
    const handlers = Array.from({ length: 12 }, () => new RecordingHandler())
    const returned = handlers.map((handler) => pool.dispatch(GET, handler))
    assert.equal(returned.at(-1), false)
    await once(pool, 'drain')
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(new Set(handlers.map(({ body }) => body)), new Set(['ok']))
    assert.ok(origin.sockets.length <= 2)
  })

  test('events carry the pool and the client', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end())
    const pool = poolFor(t, origin.url, wire)
    const connected = once(pool, 'connect')
    const { body } = await pool.request(GET)
    await body.dump()
    const [url, targets] = await connected
    assert.equal(String(url), `${origin.url}/`)
    assert.equal(targets.length, 2)
    assert.equal(targets[0], pool)
    assert.ok(targets[1] instanceof Client)
    const disconnected = once(pool, 'disconnect')
    for (const socket of origin.sockets) socket.destroy()
    const [, lostBy, error] = await disconnected
    assert.equal(lostBy[0], pool)
    assert.ok(error instanceof Error)
    // The next one goes to a new connection.
    await (await pool.request(GET)).body.dump()
    assert.equal(origin.sockets.length, 2)
  })

  test('close waits for what was accepted', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
    const pool = poolFor(t, origin.url, wire, { connections: 1 })
    const all = Array.from({ length: 5 }, async () => (await pool.request(GET)).body.text())
    const closed = pool.close()
    assert.equal(pool.closed, true)
    assert.equal((await failure(pool.request(GET))).code, 'UND_ERR_CLOSED')
    await closed
    assert.deepEqual(await Promise.all(all), ['ok', 'ok', 'ok', 'ok', 'ok'])
    assert.equal(pool.destroyed, true)
    assert.equal(pool.stats.connected, 0)
  })

  test('destroy fails what runs and what waits', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, wire, () => arrived.resolve())
    const pool = poolFor(t, origin.url, wire, { connections: 1, maxConcurrentStreams: 1 })
    const all = Array.from({ length: 3 }, () => failure(pool.request(GET)))
    await arrived.promise
    const reason = new Error('enough')
    await pool.destroy(reason)
    assert.deepEqual(await Promise.all(all), [reason, reason, reason])
    assert.equal((await failure(pool.request(GET))).code, 'UND_ERR_DESTROYED')
  })

  test('a request that is given up while it waits is never sent', async (t) => {
    const arrived = deferred()
    const go = deferred()
    const seen: string[] = []
    const origin = await startOrigin(t, wire, async (request, response) => {
      seen.push(request.url!)
      arrived.resolve()
      await go.promise
      response.end()
    })
    const pool = poolFor(t, origin.url, wire, { connections: 1, maxConcurrentStreams: 1 })
    const first = pool.request({ path: '/first', method: 'GET' })
    await arrived.promise
    const controller = new AbortController()
    const reason = new Error('no more')
    const second = failure(pool.request({ path: '/second', method: 'GET', signal: controller.signal }))
    const third = pool.request({ path: '/third', method: 'GET' })
    assert.equal(pool.stats.queued, 2)
    controller.abort(reason)
    assert.equal(await second, reason)
    assert.equal(pool.stats.queued, 1)
    go.resolve()
    for (const { body } of await Promise.all([first, third])) await body.dump()
    assert.deepEqual(seen, ['/first', '/third'])
  })
})

describe('Pool: options', () => {
  test('a client of it has a pipelining of its own', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 2, pipelining: 2 })
    const clients: Client[] = []
    pool.on('connect', (_origin, targets) => clients.push(targets[1] as Client))
    for (let i = 0; i < 2; i++) pool.dispatch(GET, new RecordingHandler())
    await connector.open()
    clients[0]!.pipelining = 7
    assert.deepEqual(
      clients.map(({ pipelining }) => pipelining),
      [7, 2],
    )
  })

  const cases: [object, string][] = [
    [{ connections: -1 }, 'invalid connections'],
    [{ connections: Number.NaN }, 'invalid connections'],
    [{ connections: '2' }, 'invalid connections'],
    [{ factory: 'x' }, 'factory must be a function.'],
    [{ clientTtl: -1 }, 'invalid clientTtl'],
    [{ connect: 5 }, 'connect must be a function or an object'],
    [{ headersTimeout: -1 }, 'headersTimeout must be a positive integer or zero'],
    [{ maxCachedSessions: -1 }, 'maxCachedSessions must be a positive integer or zero'],
  ]
  for (const [options, message] of cases) {
    test(message, () => {
      // Options are validated before the URL.
      const make = (): Pool => new Pool('http://localhost/path', options)
      assert.throws(make, { name: 'InvalidArgumentError', message })
    })
  }

  test('the URL', () => {
    assert.throws(() => new Pool('http://localhost/path'), { message: 'invalid url' })
    assert.throws(() => new Pool('ftp://localhost'), { code: 'UND_ERR_INVALID_ARG' })
    assert.throws(() => new Pool('http://localhost', null as never), TypeError)
  })

  test('null and 0 connections are any number; a polluted prototype configures nothing', async (t) => {
    Object.assign(Object.prototype, { connections: 1 })
    t.after(() => Reflect.deleteProperty(Object.prototype, 'connections'))
    for (const options of [{ connections: null }, { connections: 0 }, {}]) {
      const { pool, connector } = memoryPool(t, options)
      for (let i = 0; i < 3; i++) assert.equal(pool.dispatch(GET, new RecordingHandler()), true)
      assert.equal(connector.attempts.length, 3)
    }
  })

  test('functions among the options reach the connector', async (t) => {
    const names: string[] = []
    const origin = await startOrigin(t, { name: 'h1+tls', secure: true, multiplexes: false }, echo)
    const pool = new Pool(origin.url, {
      connect: {
        ca: authority,
        checkServerIdentity: (name: string) => {
          names.push(name)
          return undefined
        },
      },
    })
    t.after(() => pool.destroy())
    await (await pool.request(GET)).body.dump()
    assert.deepEqual(names, ['localhost'])
  })

  test('webSocket', () => {
    assert.equal(
      new Pool('http://localhost', { webSocket: { maxFragments: 3 } }).webSocketOptions.maxFragments,
      3,
    )
  })

  test('clients share their TLS sessions', async (t) => {
    const origin = await startOrigin(t, { name: 'h1+tls', secure: true, multiplexes: false }, echo)
    const resumed: boolean[] = []
    origin.server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
    const pool = new Pool(origin.url, { connect: { ca: authority, maxVersion: 'TLSv1.2' }, pipelining: 0 })
    t.after(() => pool.destroy())
    for (let i = 0; i < 2; i++) await (await pool.request(GET)).body.dump()
    assert.deepEqual(resumed, [false, true])
  })
})

describe('Pool: choosing a client', () => {
  test('8 requests and 2 connections, before connecting and after', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 2 })
    const handlers = Array.from({ length: 8 }, () => new RecordingHandler())
    const returned = handlers.map((handler) => pool.dispatch(GET, handler))
    assert.deepEqual(returned, [true, false, false, false, false, false, false, false])
    assert.deepEqual(pool.stats, { connected: 0, free: 0, pending: 8, queued: 6, running: 0, size: 8 })
    await connector.open()
    assert.deepEqual(pool.stats, { connected: 2, free: 0, pending: 6, queued: 6, running: 2, size: 8 })
    for (let i = 0; i < 4; i++) {
      for (const socket of connector.sockets) socket.say(OK)
      await turns(4)
    }
    assert.ok(handlers.every(({ body }) => body === 'ok'))
    assert.deepEqual(pool.stats, { connected: 2, free: 2, pending: 0, queued: 0, running: 0, size: 0 })
  })

  test('the oldest one that is free', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 3 })
    for (let i = 0; i < 3; i++) pool.dispatch(GET, new RecordingHandler())
    await connector.open()
    for (const socket of connector.sockets.toReversed()) {
      socket.say(OK)
      await turns(4)
    }
    pool.dispatch({ path: '/next', method: 'GET' }, new RecordingHandler())
    await turns(4)
    assert.deepEqual(
      connector.sockets.map(({ written }) => written.includes('/next')),
      [true, false, false],
    )
  })

  test('what waits is served in order', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 1 })
    for (let i = 0; i < 4; i++) pool.dispatch({ path: `/${i}`, method: 'GET' }, new RecordingHandler())
    await connector.open()
    for (let i = 0; i < 4; i++) {
      connector.sockets[0]!.say(OK)
      await turns(4)
    }
    assert.deepEqual(
      [...connector.sockets[0]!.written.matchAll(/GET (\S+)/g)].map((match) => match[1]),
      ['/0', '/1', '/2', '/3'],
    )
  })

  test('clients without a connection are forgotten', async (t) => {
    const { pool, connector } = memoryPool(t)
    for (let i = 0; i < 3; i++) pool.dispatch(GET, new RecordingHandler())
    await connector.open()
    for (const socket of connector.sockets) socket.say(OK)
    await turns(4)
    assert.equal(pool.stats.connected, 3)
    for (const socket of connector.sockets) socket.finish()
    await turns(4)
    assert.deepEqual(pool.stats, { connected: 0, free: 0, pending: 0, queued: 0, running: 0, size: 0 })
    // A forgotten client gets no requests: the next request gets a new one.
    pool.dispatch(GET, new RecordingHandler())
    assert.equal(connector.attempts.length, 1)
  })

  test('an argument error comes at once, whatever waits', async (t) => {
    const { pool } = memoryPool(t, { connections: 1 })
    pool.dispatch(GET, new RecordingHandler())
    const handler = new RecordingHandler()
    assert.equal(pool.dispatch({ path: 'no-slash', method: 'GET' }, handler), false)
    assert.equal(handler.error?.message, 'path must be an absolute URL or start with a slash')
  })

  test('headers are read when the request is made, not when its turn comes', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 1 })
    const headers: Record<string, string> = { 'x-a': 'before' }
    pool.dispatch(GET, new RecordingHandler())
    pool.dispatch({ ...GET, headers }, new RecordingHandler())
    headers['x-a'] = 'after'
    await connector.open()
    connector.sockets[0]!.say(OK)
    await turns(4)
    assert.match(connector.sockets[0]!.written, /x-a: before/)
  })

  test('a stream that fails while its request waits fails the request', async (t) => {
    const { pool } = memoryPool(t, { connections: 1 })
    pool.dispatch(GET, new RecordingHandler())
    const body = new PassThrough()
    const reason = new Error('broken')
    const waiting = failure(pool.request({ path: '/', method: 'POST', body }))
    body.destroy(reason)
    assert.equal(await waiting, reason)
    assert.equal(pool.stats.queued, 0)
  })

  test('clientTtl: a connection that is too old is replaced, and finishes what it has', async (t) => {
    const clock = FakeClock.install(t)
    t.mock.method(performance, 'now', () => clock.now)
    const { pool, connector } = memoryPool(t, { clientTtl: 100, connections: 1, pipelining: 2 })
    const first = new RecordingHandler()
    pool.dispatch({ ...GET, blocking: false }, first)
    await connector.open()
    await clock.advance(101)
    const second = new RecordingHandler()
    pool.dispatch({ path: '/second', method: 'GET' }, second)
    assert.equal(connector.attempts.length, 1)
    assert.equal(pool.stats.running, 1)
    await connector.open()
    for (const socket of connector.sockets) socket.say(OK)
    await turns(4)
    assert.equal(first.body, 'ok')
    assert.equal(second.body, 'ok')
    assert.equal(connector.sockets[0]!.destroyed, true)
    assert.match(connector.sockets[1]!.written, /GET \/second/)
  })
})

describe('Pool: what goes wrong', () => {
  test('a connect that fails: its request fails with the error, and the client is gone', async (t) => {
    const pool = new Pool('http://localhost:1')
    t.after(() => pool.destroy())
    const event = once(pool, 'connectionError')
    const error = await failure(pool.request(GET))
    assert.equal(error.code, 'ECONNREFUSED')
    assert.equal(error['phase'], 'connecting')
    assert.equal(error['retrySafety'], 'safe')
    const [url, targets, seen] = await event
    assert.equal(String(url), 'http://localhost:1/')
    assert.deepEqual([targets[0] === pool, targets.length], [true, 2])
    assert.equal(seen.code, 'ECONNREFUSED')
    assert.equal(pool.stats.size, 0)
  })

  test('nothing connects: all that waits fails', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 2 })
    const handlers = Array.from({ length: 5 }, () => new RecordingHandler())
    for (const handler of handlers) pool.dispatch(GET, handler)
    await connector.refuse(refused(), 1)
    // The other connection may still succeed.
    assert.deepEqual(
      handlers.map(({ error }) => error !== undefined),
      [true, false, false, false, false],
    )
    assert.equal(connector.attempts.length, 1)
    await connector.refuse(refused(), 1)
    assert.ok(handlers.every(({ error }) => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'))
    assert.equal(connector.attempts.length, 0)
  })

  test('one connects and one does not: what waits goes to the one', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 2 })
    const handlers = Array.from({ length: 4 }, () => new RecordingHandler())
    for (const handler of handlers) pool.dispatch(GET, handler)
    await connector.refuse(refused(), 1)
    await connector.open()
    for (let i = 0; i < 3; i++) {
      for (const socket of connector.sockets) socket.say(OK)
      await connector.open()
    }
    assert.ok(handlers[0]!.error !== undefined)
    assert.ok(handlers.slice(1).every(({ body }) => body === 'ok'))
  })

  test('another connection cannot be had: the request waits for those that are up', async (t) => {
    const clock = FakeClock.install(t)
    const { pool, connector } = memoryPool(t)
    pool.dispatch(GET, new RecordingHandler())
    await connector.open()
    const second = new RecordingHandler()
    pool.dispatch({ path: '/second', method: 'GET' }, second)
    await connector.refuse(refused())
    assert.equal(second.error, undefined)
    assert.equal(pool.stats.queued, 1)
    // Another attempt follows after a while, not with every request.
    const third = new RecordingHandler()
    assert.equal(pool.dispatch(GET, third), false)
    assert.equal(connector.attempts.length, 0)
    connector.sockets[0]!.say(OK)
    await turns(4)
    assert.match(connector.sockets[0]!.written, /GET \/second/)
    await clock.advance(500)
    await turns(4)
    assert.equal(connector.attempts.length, 1)
    // A request that was taken back once fails the second time.
    await connector.refuse(refused())
    assert.equal(third.error, undefined)
    await clock.advance(500)
    await turns(4)
    await connector.refuse(refused())
    assert.equal((third.error as NodeJS.ErrnoException | undefined)?.code, 'ECONNREFUSED')
    connector.sockets[0]!.say(OK)
    await turns(4)
    assert.equal(second.body, 'ok')
  })

  test('a handler that throws when it is told of an error: the error event, or the process', async (t) => {
    const { pool } = memoryPool(t, { connections: 1 })
    const thrown = new Error('thrown')
    const seen: unknown[] = []
    pool.on('error', (error) => seen.push(error))
    for (let i = 0; i < 2; i++) {
      pool.dispatch(GET, {
        ...new RecordingHandler(),
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd() {},
        onResponseError() {
          throw thrown
        },
      })
    }
    await pool.destroy()
    assert.deepEqual(seen, [thrown, thrown])
  })

  test('destroyed while the request is being made', async (t) => {
    const { pool } = memoryPool(t)
    const handler = new RecordingHandler()
    const opts = {
      method: 'GET',
      get path() {
        void pool.destroy()
        return '/'
      },
    }
    assert.equal(pool.dispatch(opts, handler), false)
    assert.equal((handler.error as NodeJS.ErrnoException).code, 'UND_ERR_DESTROYED')
  })

  test('a listener that throws does not stop the pool', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 1 })
    pool.once('drain', () => {
      throw new Error('listener')
    })
    const handler = new RecordingHandler()
    const uncaught = await uncaughtDuring(async () => {
      pool.dispatch(GET, handler)
      await connector.open()
      connector.sockets[0]!.say(OK)
      await turns(4)
    })
    assert.deepEqual(uncaught.map(String), ['Error: listener'])
    assert.equal(handler.body, 'ok')
  })
})

describe('Pool: factory', () => {
  class Slow extends Dispatcher {
    readonly calls: { finish(): void }[] = []
    busyAfter = 1
    override dispatch(_options: object, handler: RecordingHandler): boolean {
      this.calls.push({
        finish: () => {
          handler.onResponseError!(null, new Error('finished'))
          this.emit('drain', null, [this])
        },
      })
      return this.calls.length < this.busyAfter
    }
    override close(callback?: unknown): Promise<void> {
      ;(callback as () => void)()
      return Promise.resolve()
    }
    override destroy(_error?: unknown, callback?: unknown): Promise<void> {
      ;(callback as () => void)()
      return Promise.resolve()
    }
  }

  function slowPool(
    t: { after(fn: () => unknown): void },
    connections: number,
  ): { pool: Pool; made: Slow[] } {
    const made: Slow[] = []
    const pool = new Pool('http://localhost:1', {
      connections,
      headersTimeout: 5,
      factory: (origin, options) => {
        assert.ok(origin instanceof URL)
        assert.equal(typeof options.connect, 'function')
        assert.equal(options.headersTimeout, 5)
        assert.equal('connections' in options, false)
        made.push(new Slow())
        return made.at(-1)!
      },
    })
    t.after(() => pool.destroy())
    return { pool, made }
  }

  test('any dispatcher will do', async (t) => {
    const { pool, made } = slowPool(t, 2)
    const handlers = Array.from({ length: 4 }, () => new RecordingHandler())
    for (const handler of handlers) pool.dispatch(GET, handler)
    assert.deepEqual(
      made.map(({ calls }) => calls.length),
      [1, 1],
    )
    assert.equal(pool.stats.queued, 2)
    made[1]!.calls[0]!.finish()
    assert.deepEqual(
      made.map(({ calls }) => calls.length),
      [1, 2],
    )
    // Their events are re-emitted with the pool first; a client that could not connect is no longer a member.
    const targets: unknown[][] = []
    for (const event of ['connect', 'disconnect', 'connectionError']) {
      pool.on(event, (_origin, all) => targets.push(all))
    }
    made[0]!.emit('connect', null, [made[0]])
    assert.equal(pool.stats.connected, 1)
    made[0]!.emit('disconnect', null, [made[0]], new Error('lost'))
    made[0]!.emit('disconnect', null, [made[0]], new Error('lost again'))
    assert.equal(pool.stats.connected, 0)
    made[0]!.emit('connectionError', null, [made[0]], refused())
    assert.deepEqual(
      targets.map((all) => all[0] === pool && all[1] === made[0]),
      [true, true, true, true],
    )
    assert.equal(made.length, 3)
  })

  test("a client made by it shares the connector, and joins HTTP/2 like the pool's own", async (t) => {
    const origin = await startOrigin(t, { name: 'h2+tls', secure: true, multiplexes: true }, echo)
    const pool = new Pool(origin.url, {
      connect: { ca: authority },
      factory: (url, options) => new Client(url, options),
    })
    t.after(() => pool.destroy())
    const answers = await Promise.all(Array.from({ length: 20 }, () => pool.request(GET)))
    for (const { body } of answers) await body.dump()
    assert.equal(origin.sockets.length, 1)
  })

  test('one that gives the same client to two pools: both go on when it has room', async (t) => {
    const origin = await startOrigin(t, { name: 'h1', secure: false, multiplexes: false }, echo)
    const client = new Client(origin.url)
    const pools = [0, 1].map(() => new Pool(origin.url, { connections: 1, factory: () => client }))
    t.after(() => Promise.all(pools.map((pool) => pool.destroy())))
    const answers = pools.flatMap((pool) => Array.from({ length: 3 }, () => pool.request(GET)))
    for (const answer of answers) await (await answer).body.dump()
    assert.equal(origin.sockets.length, 1)
  })

  /** Which client gets which request, in order. */
  async function ordered(
    t: TestContext,
    connections: number,
    closes: boolean,
    script: (play: {
      send(...names: string[]): void
      answer(...names: string[]): Promise<void>
    }) => Promise<void>,
  ): Promise<string> {
    const held = new Map<string, ReturnType<typeof deferred<() => void>>>()
    const at = (name: string): ReturnType<typeof deferred<() => void>> => {
      const known = held.get(name) ?? deferred<() => void>()
      held.set(name, known)
      return known
    }
    const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
      if (closes) response.setHeader('connection', 'close')
      at(request.url!).resolve(() => response.end())
    })
    const log: string[] = []
    let made = 0
    const pool = new Pool(origin.url, {
      connections,
      factory: (url, options) => {
        const number = made++
        return new (class extends Client {
          override dispatch(call: DispatchOptions, handler: DispatchHandler): boolean {
            log.push(`${call.path.slice(1)}>${number}`)
            return super.dispatch(call, handler)
          }
        })(url, options)
      },
    })
    t.after(() => pool.destroy())
    const answers = new Map<string, Promise<unknown>>()
    await script({
      send: (...names) => {
        for (const name of names) {
          const answer = pool.request({ path: `/${name}`, method: 'GET' }).then(({ body }) => body.text())
          answers.set(name, answer)
        }
      },
      answer: async (...names) => {
        const ends = await Promise.all(names.map((name) => at(`/${name}`).promise))
        const gone = closes ? Promise.all(names.map(() => once(pool, 'disconnect'))) : null
        for (const end of ends) end()
        await Promise.all(names.map((name) => answers.get(name)))
        await gone
        await turns(4)
      },
    })
    return log.join(' ')
  }

  for (const [title, closes, expected, script] of [
    [
      'drained in another order than they were made',
      false,
      'a>0 b>1 c>2 d>0 e>1 f>2',
      async ({ send, answer }) => {
        send('a', 'b', 'c')
        for (const name of 'cba') await answer(name)
        send('d', 'e', 'f')
        await answer('d', 'e', 'f')
      },
    ],
    [
      'drained with work that waits',
      false,
      'a>0 b>1 c>2 d>1 e>2 f>0 g>1 h>2',
      async ({ send, answer }) => {
        send(...'abcdefgh')
        for (const name of 'bca') await answer(name)
        for (const name of 'def') await answer(name)
        await answer('g', 'h')
      },
    ],
    [
      'closed by the server, one by one',
      true,
      'a>0 b>0 c>0 d>0',
      async ({ send, answer }) => {
        for (const name of 'abcd') {
          send(name)
          await answer(name)
        }
      },
    ],
    [
      'closed by the server, all of them',
      true,
      'a>0 b>1 c>2 d>0 e>1 f>2',
      async ({ send, answer }) => {
        send('a', 'b', 'c')
        await answer('a', 'b', 'c')
        send('d', 'e', 'f')
        await answer('d', 'e', 'f')
      },
    ],
  ] as [string, boolean, string, Parameters<typeof ordered>[3]][]) {
    test(`its clients get their turn in order: ${title}`, async (t) => {
      assert.equal(await ordered(t, 3, closes, script), expected)
    })
  }

  test('a handler that another client has refused does not make a busy one count as free', async (t) => {
    const clients: Client[] = []
    const pool = new Pool('http://localhost:1', {
      connections: 2,
      connect: () => {},
      factory: (origin, options) => {
        const client = new Client(origin, options)
        clients.push(client)
        return client
      },
    })
    t.after(() => pool.destroy())
    const handler = new RecordingHandler()
    const other = new Client('http://localhost:1', { connect: () => {} })
    t.after(() => other.destroy())
    assert.equal(other.dispatch({ path: 'no path', method: 'GET' }, handler), false)
    assert.equal(handler.errors.length, 1)
    pool.dispatch({ path: '/', method: 'GET' }, handler)
    pool.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
    assert.deepEqual(
      clients.map(({ stats }) => stats.pending),
      [1, 1],
    )
  })

  test('a call that its client refuses leaves that one free', async (t) => {
    const clients: Client[] = []
    const pool = new Pool('http://localhost:1', {
      connections: 2,
      connect: () => {},
      factory: (origin, options) => {
        const client = new Client(origin, options)
        clients.push(client)
        return client
      },
    })
    t.after(() => pool.destroy())
    const handler = new RecordingHandler()
    pool.dispatch({ path: 'no path', method: 'GET' }, handler)
    assert.equal(handler.errors.length, 1)
    pool.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
    assert.deepEqual(
      clients.map(({ stats }) => stats.pending),
      [1],
    )
  })

  test('one that makes something else than a dispatcher fails its request only', async () => {
    let made = 0
    const pool = new Pool('http://localhost:1', {
      connections: 1,
      connect: () => {},
      factory: (origin, options) => (made++ === 0 ? ({} as Client) : new Client(origin, options)),
    })
    const handler = new RecordingHandler()
    pool.dispatch({ path: '/', method: 'GET' }, handler)
    assert.ok(handler.error instanceof TypeError)
    pool.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
    assert.equal(pool.stats.pending, 1)
    await pool.destroy()
  })

  test('one whose dispatchers throw when they are to be closed or destroyed: the pool still is', async () => {
    const make = (): Pool =>
      new Pool('http://localhost:1', {
        factory: () =>
          Object.assign(new EventEmitter(), {
            dispatch: () => true,
            close: () => {
              throw new Error('from close')
            },
            destroy: () => {
              throw new Error('from destroy')
            },
          }) as unknown as Client,
      })
    for (const end of ['close', 'destroy'] as const) {
      const pool = make()
      pool.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
      await pool[end]()
      assert.equal(pool.destroyed, true)
    }
  })

  test('one whose dispatchers answer with a promise alone when they are closed or destroyed', async () => {
    for (const end of ['close', 'destroy'] as const) {
      for (const answer of [() => Promise.resolve(), () => Promise.reject(new Error('from it'))]) {
        const member = { dispatch: () => true, close: answer, destroy: answer }
        const factory = (): Client => Object.assign(new EventEmitter(), member) as unknown as Client
        const pool = new Pool('http://localhost:1', { factory })
        pool.dispatch({ path: '/', method: 'GET' }, new RecordingHandler())
        await pool[end]()
        assert.equal(pool.destroyed, true)
      }
    }
  })

  test('one that throws fails the request', async (t) => {
    const reason = new Error('no client')
    const pool = new Pool('http://localhost:1', {
      factory: () => {
        throw reason
      },
    })
    t.after(() => pool.destroy())
    assert.equal(await failure(pool.request(GET)), reason)
  })

  test('what waits for it can be given up, fails with its body, and on destroy', async (t) => {
    const { pool } = slowPool(t, 1)
    pool.dispatch(GET, new RecordingHandler())
    const reason = new Error('given up')
    const controller = new AbortController()
    const first = failure(pool.request({ ...GET, signal: controller.signal }))
    const body = new PassThrough()
    const second = failure(pool.request({ path: '/', method: 'POST', body }))
    const bystander = new PassThrough()
    const third = failure(pool.request({ path: '/', method: 'POST', body: bystander }))
    controller.abort(reason)
    assert.equal(await first, reason)
    body.destroy(reason)
    assert.equal(await second, reason)
    assert.equal(pool.stats.queued, 1)
    await pool.destroy()
    assert.equal((await third).code, 'UND_ERR_DESTROYED')
    assert.equal(bystander.destroyed, true)
  })

  test('handlers that throw', async (t) => {
    const { pool } = slowPool(t, 1)
    const seen: unknown[] = []
    pool.on('error', (error) => seen.push(error))
    pool.dispatch(GET, new RecordingHandler())
    const thrown = new Error('thrown')
    const told: unknown[] = []
    pool.dispatch(GET, {
      onRequestQueued() {
        throw thrown
      },
      onResponseError(_controller, error) {
        told.push(error)
        throw error
      },
    })
    assert.deepEqual(told, [thrown])
    assert.deepEqual(seen, [thrown])
    assert.throws(() => pool.dispatch(GET, { onRequestStart() {} }), {
      message: 'invalid onResponseError method',
    })
    let abort: (() => void) | undefined
    const handler = new RecordingHandler()
    pool.dispatch(GET, Object.assign(handler, { onRequestQueued: (give: () => void) => (abort = give) }))
    abort!()
    abort!()
    assert.ok(handler.error instanceof errors.RequestAbortedError)
  })

  test('a member whose dispatch throws fails the request', async (t) => {
    const reason = new Error('cannot')
    const pool = new Pool('http://localhost:1', { factory: () => new Throwing() })
    class Throwing extends Slow {
      override dispatch(): boolean {
        throw reason
      }
    }
    t.after(() => pool.destroy())
    assert.equal(await failure(pool.request(GET)), reason)
  })

  test('close waits for its dispatchers; one that drains while it is given work stays free', async (t) => {
    const { pool, made } = slowPool(t, 1)
    pool.dispatch(GET, new RecordingHandler())
    made[0]!.dispatch = () => {
      made[0]!.emit('drain', null, [])
      return false
    }
    made[0]!.calls[0]!.finish()
    pool.dispatch(GET, new RecordingHandler())
    pool.dispatch(GET, new RecordingHandler())
    assert.equal(pool.stats.queued, 0)
    await pool.close()
  })
})

describe('Pool: composed', () => {
  test('a view through interceptors', async (t) => {
    const origin = await startOrigin(t, { name: 'h1', secure: false, multiplexes: false }, echo)
    const pool = new Pool(origin.url)
    t.after(() => pool.destroy())
    const origins: unknown[] = []
    const view = pool.compose((dispatch) => (opts, handler) => {
      origins.push(opts.origin)
      return dispatch({ ...opts, headers: { 'x-added': '1' } }, handler)
    })
    const { headers } = await readEcho(await view.request(GET))
    assert.equal(headers['x-added'], '1')
    assert.deepEqual(origins, [origin.url])
    assert.equal(view.stats.connected, 1)
    await view.close()
    assert.equal(pool.closed, true)
  })
})
