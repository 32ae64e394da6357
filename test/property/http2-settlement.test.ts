/**
 * A request settles exactly once, and is not sent again unless its server has refused it, whatever the order of frames,
 * losses, aborts, time, close() and destroy(). The client and its server are connected in memory, and the clock is
 * fake.
 */
import assert from 'node:assert/strict'
import { Duplex, Readable } from 'node:stream'
import { test } from 'node:test'
import fc from 'fast-check'
import { Client } from '../../src/index.ts'
import {
  CANCEL,
  REFUSED_STREAM,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
} from '../../src/protocol/http2/constants.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { H2Peer } from '../support/h2-server.ts'
import { type HandlerMethod, RecordingHandler } from '../support/recording-handler.ts'

/** One end of a connection in memory. */
class End extends Duplex {
  readonly alpnProtocol = 'h2'
  other: End | null = null

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.other?.readableEnded === false && !this.other.destroyed) this.other.push(chunk)
    done()
  }

  override _final(done: () => void): void {
    if (this.other?.destroyed === false) this.other.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.other?.destroyed === false) this.other.push(null)
    done(error)
  }
}

type Action =
  | {
      kind: 'dispatch'
      method: 'GET' | 'POST'
      body: 'none' | 'bytes' | 'stream'
      throwIn: HandlerMethod | null
    }
  | { kind: 'abort' | 'pause' | 'resume' | 'body'; at: number }
  | { kind: 'head' | 'interim' | 'data' | 'end' | 'trailers' | 'window' | 'respond'; at: number }
  | { kind: 'reset'; at: number; code: number }
  | { kind: 'goaway'; at: number; code: number }
  | { kind: 'limit'; streams: number }
  | { kind: 'shrink' | 'fin' | 'cut' | 'garbage' | 'close' | 'turn' }
  | { kind: 'time'; milliseconds: number }
  | { kind: 'destroy' }

const at = fc.nat(5)
const code = fc.constantFrom(0, 1, 2, 7, 8, 11)
const dispatch = fc.record({
  kind: fc.constant('dispatch' as const),
  method: fc.constantFrom('GET' as const, 'POST' as const),
  body: fc.constantFrom('none' as const, 'bytes' as const, 'stream' as const),
  throwIn: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<HandlerMethod>(
        'onRequestStart',
        'onBodySent',
        'onRequestSent',
        'onResponseStarted',
        'onResponseStart',
        'onResponseData',
      ),
    },
  ),
})
const kind = <T extends string>(...kinds: T[]) => fc.constantFrom(...kinds)

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: dispatch },
  { weight: 4, arbitrary: fc.record({ kind: kind('abort', 'pause', 'resume', 'body'), at }) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: kind('head', 'interim', 'data', 'end', 'trailers', 'window'), at }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('respond' as const), at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('reset' as const), at, code }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('goaway' as const), at, code }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('limit' as const), streams: fc.nat(3) }) },
  { weight: 14, arbitrary: fc.constant({ kind: 'turn' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('shrink', 'fin', 'cut', 'garbage') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      milliseconds: fc.constantFrom(1_000, 10_000, 60_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('close', 'destroy') }) },
)

const END_OF_HANDLER = new Set<HandlerMethod>(['onResponseEnd', 'onResponseError'])

/** A server and its actions so far. */
class Server {
  readonly peer: H2Peer
  readonly #ended = new Set<number>()
  readonly #begun = new Set<number>()
  readonly #refused = new Set<number>()
  #lastTaken = Number.POSITIVE_INFINITY
  /** It has ended the connection with an error: idempotent requests may be sent again, once. */
  hasErred = false

  constructor(socket: Duplex) {
    this.peer = new H2Peer(socket, [])
  }

  get isOpen(): boolean {
    return !this.peer.socket.destroyed && !this.peer.socket.writableEnded
  }

  /** Whether the client can be certain that the request was not processed. */
  hasRefused(id: number): boolean {
    return id > this.#lastTaken || this.#refused.has(id)
  }

  /** A stream that has not ended, if there is one. */
  #stream(index: number): number | null {
    const { requests } = this.peer
    const live = requests.filter(({ id }) => !this.#ended.has(id))
    const candidates = live.length === 0 ? requests : live
    return candidates.length === 0 ? null : candidates[index % candidates.length]!.id
  }

  act(action: Action): void {
    const { peer } = this
    if (!this.isOpen) return
    switch (action.kind) {
      case 'limit':
        peer.settings([[SETTINGS_MAX_CONCURRENT_STREAMS, action.streams]])
        return
      case 'shrink':
        peer.settings([[SETTINGS_INITIAL_WINDOW_SIZE, 10]])
        return
      case 'fin':
        peer.end()
        return
      case 'cut':
        peer.socket.destroy()
        return
      case 'garbage':
        peer.socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')
        return
      case 'goaway': {
        const last = this.#stream(action.at) ?? 0
        this.#lastTaken = Math.min(last, this.#lastTaken)
        if (action.code !== 0) this.hasErred = true
        peer.goaway(last, action.code)
        return
      }
    }
    if (!('at' in action)) return
    const id = this.#stream(action.at)
    if (id !== null) this.#actOn(id, action)
  }

  #actOn(id: number, action: Action): void {
    const { peer } = this
    const isBegun = this.#begun.has(id)
    if (['end', 'trailers', 'respond', 'reset'].includes(action.kind)) this.#ended.add(id)
    if (['interim', 'head', 'respond'].includes(action.kind)) this.#begun.add(id)
    switch (action.kind) {
      case 'respond':
        peer.respond(id)
        return
      case 'head':
        peer.head(id, 200)
        return
      case 'interim':
        peer.head(id, action.at % 2 === 0 ? 100 : 103)
        return
      case 'data':
        peer.data(id, 'some data')
        return
      case 'end':
        peer.data(id, 'last', true)
        return
      case 'trailers':
        peer.headers(id, ['x-t', '1'], true)
        return
      case 'window':
        peer.windowUpdate(id, 1_000).windowUpdate(0, 1_000)
        return
      case 'reset':
        if (!isBegun && action.code === REFUSED_STREAM) this.#refused.add(id)
        peer.reset(id, action.code)
    }
  }

  /** From now on it answers every request. */
  behave(): void {
    if (!this.isOpen) return
    const { peer } = this
    peer.settings([
      [SETTINGS_MAX_CONCURRENT_STREAMS, 10],
      [SETTINGS_INITIAL_WINDOW_SIZE, 65_535],
    ])
    for (const { id } of peer.requests) {
      if (this.#ended.has(id)) continue
      this.#ended.add(id)
      // Whether or not a head was sent, the request ends.
      if (this.#begun.has(id)) peer.reset(id, CANCEL)
      else peer.respond(id)
    }
  }
}

class World {
  readonly servers: Server[] = []
  readonly handlers: RecordingHandler[] = []
  readonly #bodies: (Readable | null)[] = []
  readonly client: Client
  readonly #clock: FakeClock

  constructor(clock: FakeClock) {
    this.#clock = clock
    this.client = new Client('https://peer.test', {
      maxConcurrentStreams: 3,
      headersTimeout: 20_000,
      bodyTimeout: 20_000,
      connect: (_options, callback) => {
        const ours = new End()
        const theirs = new End()
        ours.other = theirs
        theirs.other = ours
        theirs.on('error', () => {})
        this.servers.push(new Server(theirs))
        queueMicrotask(() => callback(null, ours))
        return undefined
      },
    })
    this.client.on('error', () => {})
  }

  async run(action: Action): Promise<void> {
    switch (action.kind) {
      case 'dispatch':
        this.#dispatch(action)
        return
      case 'turn':
        await turns(2)
        return
      case 'time':
        await this.#clock.advance(action.milliseconds)
        return
      case 'close':
        this.client.close().catch(() => {})
        return
      case 'destroy':
        this.client.destroy(new Error('destroyed')).catch(() => {})
        return
      case 'abort':
      case 'pause':
      case 'resume':
        this.handlers[action.at]?.controller?.[action.kind]()
        return
      case 'body':
        this.#feed(this.#bodies[action.at], action.at % 2 === 0 ? null : 'more')
        return
      default:
        this.servers.at(-1)?.act(action)
    }
  }

  #feed(body: Readable | null | undefined, piece: string | null): void {
    if (body && !body.destroyed && body.readable) body.push(piece)
  }

  #dispatch({ method, body: bodyKind, throwIn }: Extract<Action, { kind: 'dispatch' }>): void {
    const handler = new RecordingHandler((called) => {
      if (called === throwIn) throw new Error(`in ${called}`)
    })
    const stream = bodyKind === 'stream' ? new Readable({ read() {} }) : null
    stream?.on('error', () => {})
    stream?.push('first')
    const body = stream ?? (bodyKind === 'bytes' ? Buffer.alloc(1_000) : null)
    const path = `/${this.handlers.length}`
    this.handlers.push(handler)
    this.#bodies.push(stream)
    this.client.dispatch({ path, method, body, expectContinue: body !== null && method === 'GET' }, handler)
  }

  /** All sides cooperate until everything is done. */
  async calmDown(): Promise<void> {
    const closed = this.client.close().then(
      () => true,
      () => true,
    )
    const patience = 40
    for (let round = 0; round < patience; round++) {
      for (const body of this.#bodies) this.#feed(body, null)
      for (const { controller } of this.handlers) controller?.resume()
      for (const server of this.servers) server.behave()
      await turns(4)
      if (await Promise.race([closed, turns(1).then(() => false)])) return
    }
    assert.fail(`close() has not come to its end: ${JSON.stringify(this.client.stats)}`)
  }

  async end(): Promise<void> {
    await this.client.destroy().catch(() => {})
    for (const { peer } of this.servers) peer.socket.destroy()
    await turns(4)
  }

  check(): void {
    for (const { calls } of this.handlers) {
      const ends = calls.filter((call) => END_OF_HANDLER.has(call))
      assert.equal(ends.length, 1, `calls: ${calls.join(', ')}`)
      assert.ok(END_OF_HANDLER.has(calls.at(-1)!), `something after the end: ${calls.join(', ')}`)
    }
    assert.equal(this.client.stats.size, 0)
    const looked = new Set<string>()
    const suspected = new Set<string>()
    for (const server of this.servers) {
      for (const { id, headers } of server.peer.requests) {
        const path = headers[':path']!
        if (server.hasRefused(id)) continue
        if (server.hasErred && headers[':method'] === 'GET' && !suspected.has(path)) {
          suspected.add(path)
          continue
        }
        assert.ok(!looked.has(path), `${headers[':method']} ${path} was sent again`)
        looked.add(path)
      }
    }
  }
}

/** Runs the property with a fake clock. */
function inAnyOrder(run: (world: World) => Promise<void>, numRuns: number): Promise<void> {
  return fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 80 }), async (actions) => {
      const clock = new FakeClock()
      const restore = clock.enable()
      try {
        const world = new World(clock)
        for (const step of actions) await world.run(step)
        await run(world)
        await world.end()
        world.check()
      } finally {
        restore()
      }
    }),
    { numRuns },
  )
}

test('each request settles exactly once, and is sent again only when it was refused', async () => {
  await inAnyOrder(async () => {
    await turns(4)
  }, 600)
})

test('when all behave again, all that was asked for comes to its end', async () => {
  await inAnyOrder((world) => world.calmDown(), 600)
})
