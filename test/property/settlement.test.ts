/**
 * Whatever happens in whatever order, each request gets exactly one final call. The connections are in memory and the
 * clock is fake, so its commands determine a run; fast-check prints seed and path of a failing one.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Client, type DispatchOptions } from '../../src/index.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { type HandlerMethod, RecordingHandler } from '../support/recording-handler.ts'

const FINAL: readonly HandlerMethod[] = ['onResponseEnd', 'onResponseError', 'onRequestUpgrade']

const METHODS: readonly HandlerMethod[] = [
  'onRequestStart',
  'onBodySent',
  'onRequestSent',
  'onResponseStarted',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
  'onRequestUpgrade',
]

/** The action of a handler inside one of its methods. */
type Deed = 'throw' | 'pause' | 'abort' | 'dispatch' | 'close' | 'destroy'

type Command =
  | {
      readonly do: 'dispatch'
      readonly kind: 'GET' | 'POST' | 'stream' | 'upgrade' | 'HEAD'
      readonly blocking: boolean
      readonly deed: readonly [HandlerMethod, Deed] | null
    }
  | { readonly do: 'say'; readonly bytes: string }
  | { readonly do: 'fin' | 'reset' | 'break' | 'close' | 'destroy' | 'turn' | 'hold' | 'release' }
  | { readonly do: 'abort' | 'pause' | 'resume'; readonly which: number }
  | { readonly do: 'wait'; readonly milliseconds: number }

const RESPONSES = [
  'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nt: z\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\n\r\nuntil the end',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nrest',
] as const

const bytes = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...RESPONSES) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...RESPONSES), fc.nat(60)).map(([text, end]) => text.slice(0, end)),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...RESPONSES), fc.nat(60)).map(([text, start]) => text.slice(start)),
  },
  { weight: 1, arbitrary: fc.constantFrom('garbage\r\n', '\0', '\r\n', 'HTTP/1.1 100 Continue\r\n\r\n') },
)

const deed = fc.option(
  fc.tuple(
    fc.constantFrom(...METHODS),
    fc.constantFrom<Deed>('throw', 'throw', 'pause', 'abort', 'dispatch', 'close', 'destroy'),
  ),
  { freq: 2, nil: null },
)

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('dispatch' as const),
      kind: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'stream', 'upgrade', 'HEAD'),
      blocking: fc.boolean(),
      deed,
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('say' as const), bytes }) },
  { weight: 8, arbitrary: fc.constant({ do: 'turn' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('abort', 'pause', 'resume', 'resume'), which: fc.nat(9) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      milliseconds: fc.constantFrom(1, 50, 100, 200),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('fin', 'reset', 'break', 'hold', 'release') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('close', 'destroy') }) },
)

class Run {
  readonly clock = new FakeClock()
  readonly sockets: MemorySocket[] = []
  readonly handlers: RecordingHandler[] = []
  readonly #aborts: ((reason?: unknown) => void)[] = []
  readonly #once: string[] = []
  readonly #endings: Promise<unknown>[] = []
  readonly client: Client

  constructor(pipelining: number) {
    this.client = new Client('http://localhost:1', {
      pipelining,
      headersTimeout: 100,
      bodyTimeout: 100,
      keepAliveTimeout: 150,
      connect: (_, callback) => {
        const socket = new MemorySocket()
        this.sockets.push(socket)
        queueMicrotask(() => callback(null, socket))
      },
    })
    this.client.on('error', () => {})
  }

  get #socket(): MemorySocket | undefined {
    return this.sockets.at(-1)
  }

  async perform(step: Command): Promise<void> {
    switch (step.do) {
      case 'dispatch':
        this.#dispatch(step.kind, step.blocking, step.deed)
        return
      case 'say':
        this.#socket?.say(step.bytes)
        return
      case 'fin':
        this.#socket?.finish()
        return
      case 'reset':
        this.#socket?.reset()
        return
      case 'break':
        this.#socket?.destroy(new Error('broken'))
        return
      case 'hold':
        if (this.#socket) this.#socket.held = true
        return
      case 'release':
        this.#socket?.release()
        return
      case 'close':
        this.#endings.push(this.client.close().catch(() => {}))
        return
      case 'destroy':
        this.#endings.push(this.client.destroy(new Error('destroyed by the test')))
        return
      case 'turn':
        await turns(1)
        return
      case 'wait':
        await this.clock.advance(step.milliseconds)
        return
      case 'abort': {
        const controller = this.handlers[step.which]?.controller
        if (controller) controller.abort(new Error('given up'))
        else this.#aborts[step.which]?.(new Error('given up'))
        return
      }
      case 'pause':
        this.handlers[step.which]?.controller?.pause()
        return
      case 'resume':
        this.handlers[step.which]?.controller?.resume()
    }
  }

  #dispatch(kind: string, blocking: boolean, plan: readonly [HandlerMethod, Deed] | null): void {
    const id = this.handlers.length
    const method = kind === 'stream' ? 'PUT' : kind === 'upgrade' ? 'GET' : kind
    const path = `/request-${id}-`
    if (method === 'POST' || method === 'PUT') this.#once.push(`${method} ${path}`)
    const options: DispatchOptions = {
      path,
      method,
      blocking,
      ...(kind === 'POST' ? { body: 'body' } : null),
      ...(kind === 'stream' ? { body: Readable.from(['one', 'two']) } : null),
      ...(kind === 'upgrade' ? { upgrade: 'x' } : null),
    }
    const handler = new RecordingHandler((current, self) => {
      // A handed-over socket is the responsibility of its new owner.
      self.socket?.on('error', () => {})
      if (plan?.[0] === current) this.#act(plan[1], self)
    })
    this.handlers.push(handler)
    Object.assign(handler, {
      onRequestQueued: (abort: () => void) => {
        this.#aborts[id] = abort
      },
    })
    try {
      this.client.dispatch(options, handler)
    } catch (error) {
      // A closed client calls the handler inside `dispatch()`: an exception there reaches the caller.
      assert.deepEqual(plan, ['onResponseError', 'throw'], String(error))
    }
  }

  #act(what: Deed, handler: RecordingHandler): void {
    if (what === 'throw') throw new Error('thrown by the handler')
    if (what === 'pause') handler.controller?.pause()
    if (what === 'abort') handler.controller?.abort(new Error('given up inside'))
    if (what === 'dispatch') this.#dispatch('GET', true, null)
    if (what === 'close') this.#endings.push(this.client.close().catch(() => {}))
    if (what === 'destroy') this.#endings.push(this.client.destroy())
  }

  /** No more answers: with reading consumers and passing time, everything must end. */
  async finish(): Promise<void> {
    let closed = false
    const closing = Promise.all([this.client.close().catch(() => {}), ...this.#endings]).then(() => {
      closed = true
    })
    for (let round = 0; round < 200 && !closed; round++) {
      for (const handler of this.handlers) handler.controller?.resume()
      for (const socket of this.sockets) socket.release()
      await this.clock.advance(100)
      await turns(3)
    }
    assert.ok(closed, 'close() must settle')
    await closing
    await turns(3)
  }

  check(): void {
    for (const [id, { calls, errors }] of this.handlers.entries()) {
      const finals = calls.filter((call) => FINAL.includes(call))
      const about = `request ${id}: ${calls.join(' ')} ${errors.map((error) => error.message).join('; ')}`
      const allowed = [
        'onResponseEnd',
        'onResponseError',
        'onRequestUpgrade',
        'onResponseEnd,onResponseError',
      ]
      assert.ok(allowed.includes(finals.join()), about)
      const after = calls.slice(calls.findIndex((call) => FINAL.includes(call)) + 1)
      assert.ok(after.length === 0 || after.join() === 'onResponseError', about)
    }
    const written = this.sockets.map((socket) => socket.written).join('')
    for (const line of this.#once) {
      assert.ok(written.split(line).length <= 2, `${line} was written more than once`)
    }
    assert.deepEqual(this.client.stats, { connected: false, pending: 0, running: 0, size: 0 })
    assert.deepEqual(
      [...this.clock.active].map((timer) => timer.delay),
      [],
      'timers left over',
    )
    const owned = new Set(this.handlers.map((handler) => handler.socket))
    for (const socket of this.sockets) {
      if (owned.has(socket)) continue
      assert.ok(socket.destroyed, 'a socket was left open')
      for (const event of ['data', 'drain', 'end', 'readable']) assert.equal(socket.listenerCount(event), 0)
    }
  }
}

async function settles(pipelining: number, commands: readonly Command[]): Promise<void> {
  const uncaught: unknown[] = []
  const note = (error: unknown): void => void uncaught.push(error)
  const events = ['uncaughtException', 'unhandledRejection'] as const
  const others = events.map((event) => process.listeners(event as 'uncaughtException'))
  for (const event of events) process.removeAllListeners(event).on(event, note)
  const run = new Run(pipelining)
  const restore = run.clock.enable()
  try {
    for (const step of commands) await run.perform(step)
    await run.finish()
    run.check()
    assert.deepEqual(uncaught, [])
  } finally {
    restore()
    for (const socket of run.sockets) socket.on('error', () => {}).destroy()
    await turns(1)
    for (const [index, event] of events.entries()) {
      process.removeAllListeners(event)
      for (const listener of others[index]!) process.on(event, listener)
    }
  }
}

describe('each request settles exactly once', () => {
  for (const pipelining of [1, 3]) {
    test(`with pipelining ${pipelining}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 30 }), (commands) =>
          settles(pipelining, commands),
        ),
        { numRuns: Number(process.env['VENTUNO_RUNS'] ?? 500) },
      )
    })
  }
})
