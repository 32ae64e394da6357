/** What holds for the callers of each method that sends a request: one row in `METHODS` adds one. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { type Duplex, PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Dispatcher, fetch } from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { steadyClock } from '../interceptor/retry-support.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { turns } from '../support/fake-clock.ts'
import { dispatcherOn, type Manner, REASON, type ScriptedAttempt, ScriptedBelow } from './contract-support.ts'

interface CallOptions {
  readonly signal: AbortSignal
  readonly body: Readable | null
}

/** What one caller sees. */
class Caller {
  readonly aborting = new AbortController()
  /** One for each answer: null, or the error. */
  readonly outcomes: unknown[] = []
  /** One for each end of the body that it was answered with: null, or the error. */
  readonly ends: unknown[] = []
  body: Readable | Duplex | null = null
  readonly sockets: Duplex[] = []
  text = ''
  /** Runs in each function of the caller: callbacks, factories, handlers. */
  deed: (caller: Caller) => void = () => {}

  get failures(): unknown[] {
    return [...new Set([...this.outcomes, ...this.ends].filter((outcome) => outcome !== null))]
  }

  answer(error: unknown): void {
    this.outcomes.push(error)
    this.deed(this)
  }

  /** Each body is read through a Readable. It stays paused until the caller consumes it. */
  take<TBody extends Readable>(body: TBody): TBody {
    let failure: unknown = null
    this.body = body
    body.on('error', (error) => {
      failure = error
    })
    body.on('close', () => this.ends.push(failure))
    body.on('data', (chunk) => {
      this.text += chunk
    })
    body.pause()
    return body
  }
}

interface Method {
  call(dispatcher: Dispatcher, opts: CallOptions, caller: Caller): void
  /** What the caller is answered with. */
  readonly answer: 'body' | 'socket'
  /** Without: it makes its own, or sends none. */
  readonly takesBody?: true
  /** There are no functions of the caller that could throw. */
  readonly isPromise?: true
}

const URL_OF = { origin: 'http://a.test', path: '/' } as const

const METHODS: Readonly<Record<string, Method>> = {
  request: {
    answer: 'body',
    takesBody: true,
    call: (dispatcher, opts, caller) =>
      dispatcher.request({ ...URL_OF, method: 'POST', onInfo() {}, ...opts }, (error, { body }) => {
        if (error === null) caller.take(body)
        caller.answer(error)
      }),
  },
  stream: {
    answer: 'body',
    takesBody: true,
    call: (dispatcher, opts, caller) => {
      const factory = () => {
        caller.deed(caller)
        return caller.take(new PassThrough())
      }
      dispatcher.stream({ ...URL_OF, method: 'POST', ...opts }, factory, (error) => caller.answer(error))
    },
  },
  pipeline: {
    answer: 'body',
    call: (dispatcher, { signal }, caller) => {
      const duplex = dispatcher.pipeline({ ...URL_OF, method: 'PUT', signal }, ({ body }) => {
        caller.deed(caller)
        return body
      })
      caller.take(duplex).end('sent')
      duplex.on('close', () => caller.outcomes.push(caller.ends.at(-1)))
    },
  },
  upgrade: {
    answer: 'socket',
    takesBody: true,
    call: (dispatcher, opts, caller) =>
      dispatcher.upgrade({ ...URL_OF, ...opts }, (error, { socket }) => {
        if (error === null) caller.sockets.push(socket)
        caller.answer(error)
      }),
  },
  connect: {
    answer: 'socket',
    call: (dispatcher, { signal }, caller) =>
      dispatcher.connect({ ...URL_OF, signal }, (error, { socket }) => {
        if (error === null) caller.sockets.push(socket)
        caller.answer(error)
      }),
  },
  fetch: {
    answer: 'body',
    takesBody: true,
    isPromise: true,
    call: (dispatcher, { signal, body }, caller) => {
      const sent =
        body === null ? {} : { method: 'POST', body: Readable.toWeb(body), duplex: 'half' as const }
      fetch('http://a.test/', { dispatcher, signal, ...sent }).then(
        (response) => {
          caller.take(Readable.fromWeb(response.body! as never))
          caller.answer(null)
        },
        (error) => caller.answer(error),
      )
    },
  },
}

const THROWN = new Error('thrown by the caller')

function call(
  method: Method,
  dispatcher: Dispatcher,
  body: Readable | null = null,
  caller = new Caller(),
): Caller {
  method.call(dispatcher, { signal: caller.aborting.signal, body }, caller)
  return caller
}

function scripted(manner: Manner) {
  const below = new ScriptedBelow(manner)
  return { below, dispatcher: dispatcherOn(below.dispatch) }
}

/** Counts how often it is destroyed. */
function watchedBody(): { body: Readable; destroyed: unknown[] } {
  const destroyed: unknown[] = []
  const body = new Readable({
    read() {},
    destroy(error, done) {
      destroyed.push(error)
      done(error)
    },
  })
  body.on('error', () => {})
  return { body, destroyed }
}

type Event = (attempt: ScriptedAttempt, caller: Caller, clock: FakeClock, sockets: Duplex[]) => unknown

const EVENTS: Readonly<Record<string, Event>> = {
  start: (attempt) => attempt.start(),
  answer: (attempt) => attempt.start().head(200),
  hint: (attempt) => attempt.head(103),
  head: (attempt) => attempt.head(200),
  refusal: (attempt) => attempt.head(407),
  data: (attempt) => attempt.data('x'),
  much: (attempt) => attempt.data('x'.repeat(100_000)),
  end: (attempt) => attempt.end(),
  error: (attempt) => attempt.error(new Error('failed below')),
  upgrade: (attempt, _caller, _clock, sockets) => {
    const socket = new PassThrough()
    sockets.push(socket)
    attempt.upgrade(socket)
  },
  abort: (_attempt, { aborting }) => aborting.abort(REASON),
  consume: (_attempt, { body }) => body?.resume(),
  destroy: (_attempt, { body }) => body?.destroy(),
  time: (_attempt, _caller, clock) => clock.advance(1000),
  turn: () => turns(2),
}

const DEEDS: Readonly<Record<string, (caller: Caller) => void>> = {
  nothing: () => {},
  throw: () => {
    throw THROWN
  },
  abort: ({ aborting }) => aborting.abort(REASON),
  destroy: ({ body }) => void body?.destroy(),
  consume: ({ body }) => void body?.resume(),
}

/** Without them few scripts would get as far as an end. */
const BEGINNINGS: readonly string[][] = [
  [],
  ['answer'],
  ['answer', 'data', 'end'],
  ['answer', 'data', 'end', 'consume', 'turn'],
  ['start', 'upgrade', 'turn'],
]

const scripts = fc.record({
  beginning: fc.constantFrom(...BEGINNINGS),
  manner: fc.constantFrom<Manner>('own', 'foreign'),
  deed: fc.constantFrom(...Object.keys(DEEDS)),
  events: fc.array(fc.constantFrom(...Object.keys(EVENTS)), { maxLength: 12 }),
})

for (const [name, method] of Object.entries(METHODS)) {
  const hasBody = method.answer === 'body'

  describe(`the contract of a caller: ${name}`, () => {
    it('the call and its body end exactly once, whatever comes in whatever order', async (t) => {
      const clock = steadyClock(t)
      const property = fc.asyncProperty(scripts, async ({ beginning, manner, deed, events }) => {
        const { below, dispatcher } = scripted(manner)
        const caller = new Caller()
        // A promise has no function of the caller that could throw.
        if (!method.isPromise || deed !== 'throw') caller.deed = DEEDS[deed]!
        call(method, dispatcher, null, caller)
        const attempt = below.last
        const other = call(method, dispatcher)
        const sockets: Duplex[] = []
        for (const event of [...beginning, ...events]) {
          try {
            await EVENTS[event]!(attempt, caller, clock, sockets)
          } catch {
            // A foreign dispatcher gets what handlers throw.
          }
        }
        attempt.error(new Error('lost'))
        await clock.advance(1000)
        caller.body?.resume()
        await turns(4)
        assert.equal(caller.outcomes.length, 1, 'outcomes')
        assert.equal(caller.ends.length, caller.body === null ? 0 : 1, 'ends of the body')
        for (const socket of sockets) {
          // A socket whose caller throws is of no use to it.
          const isHandedOver = caller.sockets.includes(socket) && deed !== 'throw'
          assert.notEqual(socket.destroyed, isHandedOver, 'a socket that nobody has')
        }
        assert.equal(getEventListeners(caller.aborting.signal, 'abort').length, 0, 'listeners of the signal')
        assert.deepEqual([other.outcomes, other.ends], [[], []], 'another call ends')
        other.aborting.abort()
        await turns(2)
      })
      const uncaught = await uncaughtDuring(() => fc.assert(property, { numRuns: 300 }))
      assert.deepEqual(
        uncaught.filter((error) => error !== THROWN),
        [],
      )
    })

    it('an abort at each point reaches the attempt once, and the caller with its reason', async (t) => {
      steadyClock(t)
      const points: ((attempt: ScriptedAttempt) => unknown)[] = [() => {}, (attempt) => attempt.start()]
      if (hasBody) {
        points.push((attempt) => attempt.start().head(103))
        points.push((attempt) => attempt.start().head(200))
        points.push((attempt) => attempt.start().head(200).data('x'))
      }
      for (const reach of points) {
        for (const manner of ['own', 'foreign'] as const) {
          const { below, dispatcher } = scripted(manner)
          const caller = call(method, dispatcher)
          reach(below.last)
          await turns(2)
          caller.aborting.abort(REASON)
          if (manner === 'foreign' && below.last.state === 'waiting') below.last.start()
          below.last.error(new Error('late'))
          caller.body?.resume()
          await turns(3)
          const label = `${manner}, ${reach}`
          assert.deepEqual(below.last.aborts, [REASON], label)
          assert.deepEqual([caller.failures, caller.outcomes.length], [[REASON], 1], label)
        }
      }
    })

    it('an abort after the end reaches nothing', async (t) => {
      steadyClock(t)
      const { below, dispatcher } = scripted('foreign')
      const caller = call(method, dispatcher)
      if (hasBody) below.last.start().head(200)
      else below.last.start().upgrade(new PassThrough())
      if (hasBody) below.last.data('x').end()
      await turns(2)
      caller.body?.resume()
      await turns(3)
      caller.aborting.abort(REASON)
      await turns(2)
      assert.deepEqual([below.last.aborts, caller.failures], [[], []])
      assert.equal(caller.sockets[0]?.destroyed ?? false, false)
    })

    it('the body of a call that is never sent is destroyed once', async (t) => {
      steadyClock(t)
      if (!method.takesBody) return
      const aborted = new Caller()
      aborted.aborting.abort(REASON)
      const throwing = () => {
        throw REASON
      }
      const refusing = () => Promise.reject(REASON) as never
      const waiting = new Caller()
      const calls: (readonly [Caller, Dispatcher])[] = [
        [aborted, scripted('own').dispatcher],
        [waiting, scripted('foreign').dispatcher],
        [new Caller(), dispatcherOn(throwing)],
        [new Caller(), dispatcherOn(refusing)],
      ]
      for (const [caller, dispatcher] of calls) {
        const { body, destroyed } = watchedBody()
        call(method, dispatcher, body, caller)
        if (caller === waiting) caller.aborting.abort(REASON)
        await turns(4)
        const label = `call ${calls.findIndex(([each]) => each === caller)}`
        const [error] = caller.outcomes as Error[]
        assert.equal(error === REASON || error?.cause === REASON, true, label)
        assert.deepEqual([caller.outcomes.length, destroyed.length], [1, 1], label)
      }
    })

    it('a caller that reads nothing pauses the attempt, and gets neither data nor end', async (t) => {
      steadyClock(t)
      if (!hasBody) return
      for (const manner of ['own', 'foreign'] as const) {
        const { below, dispatcher } = scripted(manner)
        const caller = call(method, dispatcher)
        below.last.start().head(200)
        await turns(2)
        for (let i = 0; i < 4; i++) below.last.data('x'.repeat(100_000))
        await turns(2)
        assert.equal(below.last.paused, true)
        below.last.end()
        await turns(2)
        assert.deepEqual([caller.text, caller.ends], ['', []])
        caller.body!.resume()
        await turns(20)
        assert.deepEqual([caller.text.length, caller.ends], [400_000, [null]])
      }
    })

    it('what a function of the caller throws reaches no other call', async (t) => {
      steadyClock(t)
      if (method.isPromise) return
      const { below, dispatcher } = scripted('own')
      const throwing = new Caller()
      throwing.deed = DEEDS.throw!
      const uncaught = await uncaughtDuring(async () => {
        call(method, dispatcher, null, throwing)
        const other = call(method, dispatcher)
        for (const attempt of below.attempts) {
          attempt.start()
          if (hasBody) attempt.head(200).data('x').end()
          else attempt.upgrade(new PassThrough())
        }
        await turns(2)
        other.body?.resume()
        await turns(4)
        assert.deepEqual([other.outcomes, other.text], [[null], hasBody ? 'x' : ''])
      })
      assert.deepEqual(
        uncaught.filter((error) => error !== THROWN),
        [],
      )
    })
  })
}
