/**
 * Whatever arrives, is given up, fails or closes, in whatever order: an agent never has more connections than it may, every
 * request settles once, no origin is left behind, and all places come back.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Agent, type AgentOptions } from '../../src/dispatcher/agent.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK } from '../support/scripted-client.ts'
import { type Answer, refused } from './pool-support.ts'

type Step =
  | { readonly do: 'send'; readonly origin: number; readonly count: number }
  | { readonly do: 'abort' | 'open' | 'refuse' | 'answer' | 'reset' | 'finish'; readonly which: number }
  | { readonly do: 'turn' }
  | { readonly do: 'retire' }

const which = fc.nat({ max: 30 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      origin: fc.nat({ max: 6 }),
      count: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('open' as const, 'answer' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('abort' as const, 'refuse' as const, 'reset' as const, 'finish' as const),
      which,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('retire' as const) }) },
)
const options: fc.Arbitrary<AgentOptions & { readonly maxConnections: number }> = fc.record({
  maxConnections: fc.integer({ min: 1, max: 4 }),
  maxIdleConnections: fc.constantFrom(null, 0, 1, 2),
  maxConnectionsWait: fc.constantFrom(null, null, null, 0),
  connections: fc.constantFrom(null, 1, 2),
  pipelining: fc.constantFrom(1, 1, 3),
})

/** One that can be given up while it waits. */
class GivenUp extends RecordingHandler {
  #abort: (reason: Error) => void = () => {}

  onRequestQueued(abort: (reason?: Error) => void): void {
    this.#abort = abort
  }

  giveUp(): void {
    const reason = new Error('given up')
    if (this.controller === null) this.#abort(reason)
    else this.controller.abort(reason)
  }
}

/** A world in memory: what is being opened, and what is open. */
class World {
  readonly agent: Agent
  readonly attempts: Answer[] = []
  readonly sockets = new Map<MemorySocket, number>()
  readonly handlers: GivenUp[] = []
  readonly #max: number

  constructor(settings: AgentOptions & { readonly maxConnections: number }) {
    this.#max = settings.maxConnections
    this.agent = new Agent({
      ...settings,
      connect: (_target, answer) => {
        this.attempts.push(answer as Answer)
        this.check()
      },
    })
  }

  check(): void {
    for (const socket of this.sockets.keys()) if (socket.destroyed) this.sockets.delete(socket)
    const open = this.attempts.length + this.sockets.size
    assert.ok(open <= this.#max, `${open} connections of ${this.#max}`)
  }

  send(origin: string): GivenUp {
    const handler = new GivenUp()
    this.handlers.push(handler)
    this.agent.dispatch({ origin: `http://${origin}.test`, path: '/', method: 'GET' }, handler)
    return handler
  }

  #live(index: number): MemorySocket | undefined {
    this.check()
    const all = [...this.sockets.keys()]
    return all[index % Math.max(1, all.length)]
  }

  #attempt(index: number): Answer | undefined {
    return this.attempts.splice(index % Math.max(1, this.attempts.length), 1)[0]
  }

  /** Answers what the socket was asked. */
  answer(socket: MemorySocket | undefined): void {
    if (socket === undefined) return
    const asked = socket.written.split('GET ').length - 1
    const answered = this.sockets.get(socket)!
    this.sockets.set(socket, asked)
    for (let i = answered; i < asked; i++) socket.say(OK)
  }

  open(answer: Answer | undefined): void {
    if (answer === undefined) return
    const socket = new MemorySocket()
    this.sockets.set(socket, 0)
    answer(null, socket)
  }

  async take(one: Step): Promise<void> {
    if (one.do === 'send') for (let i = 0; i < one.count; i++) this.send(`o${one.origin}`)
    else if (one.do === 'turn') await turns(2)
    else if (one.do === 'retire') this.agent.retire()
    else if (one.do === 'open') this.open(this.#attempt(one.which))
    else if (one.do === 'refuse') this.#attempt(one.which)?.(refused())
    else if (one.do === 'answer') this.answer(this.#live(one.which))
    else if (one.do === 'reset') this.#live(one.which)?.reset()
    else if (one.do === 'finish') this.#live(one.which)?.finish()
    else this.handlers[one.which]?.giveUp()
    this.check()
  }

  get unsettled(): number {
    return this.handlers.filter(
      ({ errors, calls }) => errors.length === 0 && calls.at(-1) !== 'onResponseEnd',
    ).length
  }

  /** Serves everything until nothing waits. */
  async settle(): Promise<void> {
    // In each round every connection serves what it has, so a request waits for few rounds of each other one.
    for (let left = 20 * (this.handlers.length + 10); left > 0 && this.unsettled > 0; left--) {
      for (const attempt of this.attempts.splice(0)) this.open(attempt)
      for (const socket of [...this.sockets.keys()]) this.answer(socket)
      await turns(2)
      this.check()
    }
    assert.equal(this.unsettled, 0, 'some requests were left behind')
  }
}

test('the limit holds, all settles, and all places come back', async () => {
  await fc.assert(
    fc.asyncProperty(options, fc.array(step, { maxLength: 60 }), async (settings, steps) => {
      const world = new World(settings)
      for (const one of steps) await world.take(one)
      await world.settle()
      await turns(4)
      // What is idle makes room: as many new origins as there are places get one each.
      for (let i = 0; i < settings.maxConnections; i++) {
        world.send(`new${i}`)
        await turns(4)
      }
      assert.equal(world.attempts.length, settings.maxConnections)
      await world.settle()
      for (const { calls } of world.handlers) {
        const finals = calls.filter((call) => call === 'onResponseEnd' || call === 'onResponseError')
        assert.equal(finals.length, 1)
      }
      await world.agent.close()
      world.check()
      assert.equal(world.sockets.size, 0)
    }),
    { numRuns: 300 },
  )
})
