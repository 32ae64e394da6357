/**
 * What holds for everything that stands between a caller and `dispatch`, for each such owner of a request: one row in
 * `OWNERS` adds one.
 */
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Dispatch, interceptors, ProxyAgent, RetryAgent } from '../../src/index.ts'
import { responseFacts, stateFacts } from '../../src/relay/response-facts.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { steadyClock } from '../interceptor/retry-support.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { turns } from '../support/fake-clock.ts'
import {
  CheckedHandler,
  DEEDS,
  type Deed,
  dispatcherOn,
  type Manner,
  METHODS,
  type Method,
  REASON,
  type ScriptedAttempt,
  ScriptedBelow,
} from './contract-support.ts'

interface Owner {
  readonly over: (below: Dispatch) => Dispatch
  /** Of a request that the owner cares for. */
  readonly opts?: Partial<DispatchOptions>
  /** Brings a response to its end of which the handler gets nothing yet; another attempt may follow. */
  readonly discard?: (attempt: ScriptedAttempt) => void
  /** The handler gets no body, and the attempt is read for a second after an abort. */
  readonly isDropping?: true
  /** The same, where a call waits before a dispatcher has it. `first` is a call that need not. */
  readonly holding?: (below: Dispatch, first: DispatchOptions) => Dispatch
}

const GET: DispatchOptions = { origin: 'http://a.test', path: '/', method: 'GET' }
const LOST = { code: 'UND_ERR_SOCKET', retrySafety: 'safe' }

function forwarding(below: Dispatch, options: Partial<ProxyAgent.Options> = {}): Dispatch {
  const clientFactory = () => dispatcherOn(below)
  const agent = new ProxyAgent({ uri: 'http://proxy.test', clientFactory, ...options })
  return (opts, handler) => agent.dispatch(opts as never, handler)
}

const OWNERS: Readonly<Record<string, Owner>> = {
  auth: {
    over: (below) => interceptors.auth({ bearer: () => 'token', origins: 'http://a.test' })(below),
    discard: (attempt) => attempt.head(401),
    holding: (below) => {
      const bearer = () => new Promise<string>(() => {})
      return interceptors.auth({ bearer, origins: 'http://a.test' })(below)
    },
  },
  'auth with Digest': {
    over: (below) =>
      interceptors.auth({ digest: { username: 'u', password: 'p' }, origins: () => true })(below),
    discard: (attempt) =>
      attempt.head(401, { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth"' }),
  },
  hedge: { over: interceptors.hedge({ delay: 100 }), discard: (attempt) => attempt.head(503) },
  'circuit breaker': { over: (below) => interceptors.circuitBreaker()(below) },
  compress: {
    // Another one for each request: an origin that has refused the coding gets none.
    over: (below) => interceptors.compress()(below),
    opts: { method: 'POST', body: 'x'.repeat(2000) },
    discard: (attempt) => attempt.head(415),
  },
  decompress: { over: interceptors.decompress() },
  deduplicate: { over: interceptors.deduplicate() },
  cache: { over: interceptors.cache() },
  'cache with collapse': { over: interceptors.cache({ collapse: true }) },
  dns: {
    over: interceptors.dns({
      lookup: (_origin, _options, done) => done(null, [{ address: '127.0.0.1', family: 4, ttl: 1 }]),
    }),
    holding: (below) => interceptors.dns({ lookup: () => {} })(below),
  },
  dump: { over: interceptors.dump(), isDropping: true },
  redirect: {
    over: interceptors.redirect({ maxRedirections: 3 }),
    discard: (attempt) => attempt.head(302, { location: '/next' }),
  },
  'response error': { over: interceptors.responseError(), discard: (attempt) => attempt.head(503) },
  throttle: {
    over: (below) => interceptors.throttle({ concurrency: 10 })(below),
    holding: (below, first) => {
      const dispatch = interceptors.throttle({ concurrency: 1 })(below)
      dispatch(first, new CheckedHandler())
      return dispatch
    },
  },
  retry: {
    over: interceptors.retry(),
    discard: (attempt) => attempt.head(503),
    holding: () =>
      interceptors.retry()((_opts, handler) => {
        handler.onResponseError?.(null, Object.assign(new Error('lost'), LOST))
        return true
      }),
  },
  'retry agent': {
    over: (below) => {
      const agent = new RetryAgent(dispatcherOn(below))
      return (opts, handler) => agent.dispatch(opts, handler)
    },
    discard: (attempt) => attempt.head(503),
  },
  'forwarding proxy': {
    over: (below) => forwarding(below, { token: () => null }),
    discard: (attempt) => attempt.head(407),
    holding: (below) => forwarding(below, { token: () => new Promise(() => {}) }),
  },
  'forwarding proxy that is answered': {
    over: (below) => forwarding(below, { onProxyResponse: () => ({}) }),
    discard: (attempt) => attempt.head(407),
  },
  'retry with a policy': {
    over: interceptors.retry({
      throwOnError: false,
      retry: (error, { state }, callback) => callback(error.code && state.counter < 3 ? null : error),
    }),
    discard: (attempt) => attempt.head(503),
  },
}

function call(owner: Owner, manner: Manner, deeds: Partial<Record<Method, Deed>> = {}) {
  const below = new ScriptedBelow(manner)
  const handler = new CheckedHandler(deeds)
  owner.over(below.dispatch)({ ...GET, ...owner.opts }, handler)
  return { below, handler, attempt: below.last }
}

/** Every open attempt fails, and every timer fires, until nothing is left. */
async function finish(below: ScriptedBelow, handler: CheckedHandler, clock: FakeClock): Promise<void> {
  for (let round = 0; round < 30 && !handler.settled; round++) {
    if (handler.controller?.paused) handler.controller.resume()
    for (const attempt of [...below.attempts]) if (attempt.state !== 'over') attempt.error(new Error('lost'))
    await clock.advance(60_000)
  }
}

type Event = (below: ScriptedBelow, handler: CheckedHandler, clock: FakeClock, which: number) => unknown

const EVENTS: Readonly<Record<string, Event>> = {
  start: below((attempt) => attempt.start()),
  answer: below((attempt) => attempt.start().head(200)),
  sent: below((attempt) => attempt.sent()),
  hint: below((attempt) => attempt.head(103)),
  refusal: below((attempt) => attempt.head(503)),
  redirect: below((attempt) => attempt.head(302, { location: '/next' })),
  challenge: below((attempt) => attempt.head(407)),
  unauthorized: below((attempt) =>
    attempt.head(401, { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth", stale=true' }),
  ),
  unsupported: below((attempt) => attempt.head(415)),
  data: below((attempt) => attempt.data('x')),
  end: below((attempt) => attempt.end()),
  error: below((attempt) => attempt.error(new Error('failed below'))),
  loss: below((attempt) => attempt.error(Object.assign(new Error('lost'), LOST))),
  upgrade: below((attempt) => attempt.upgrade(new PassThrough())),
  abort: caller((handler) => handler.abort(REASON)),
  abortWithout: caller((handler) => handler.abort()),
  abortQueued: caller((handler) => handler.abortQueued?.(REASON)),
  pause: caller((handler) => handler.controller?.pause()),
  resume: caller((handler) => handler.controller?.resume()),
  time: (_below, _handler, clock) => clock.advance(1000),
  turn: () => turns(2),
}

/** Of one of the requests that reached the dispatcher. Whoever calls handlers catches what they throw. */
function below(act: (attempt: ScriptedAttempt) => unknown): Event {
  return ({ attempts }, _handler, _clock, which) => {
    const attempt = attempts[which % attempts.length]
    try {
      if (attempt !== undefined) act(attempt)
    } catch {}
  }
}

/** What the handler throws in its last call comes out of `abort()`. */
function caller(act: (handler: CheckedHandler) => unknown): Event {
  return (_below, handler) => {
    try {
      act(handler)
    } catch {}
  }
}

const scripts = fc.record({
  manner: fc.constantFrom<Manner>('own', 'foreign'),
  deeds: fc.dictionary(fc.constantFrom(...METHODS), fc.constantFrom(...Object.keys(DEEDS)), { maxKeys: 2 }),
  events: fc.array(fc.tuple(fc.constantFrom(...Object.keys(EVENTS)), fc.nat(3)), { maxLength: 12 }),
})

for (const [name, owner] of Object.entries(OWNERS)) {
  describe(`the contract of what stands between: ${name}`, () => {
    it('exactly one final call, whatever comes in whatever order', async (t) => {
      const clock = steadyClock(t)
      await fc.assert(
        fc.asyncProperty(scripts, async ({ manner, deeds: chosen, events }) => {
          const deeds = Object.fromEntries(Object.entries(chosen).map(([at, deed]) => [at, DEEDS[deed]!]))
          const { below, handler } = call(owner, manner, deeds)
          for (const [event, which] of events) await EVENTS[event]!(below, handler, clock, which)
          await finish(below, handler, clock)
          assert.deepEqual(handler.violations, [], `after ${handler.calls}`)
          assert.equal(handler.settled, true, `never settled: ${handler.calls}`)
        }),
        { numRuns: 300 },
      )
    })

    it('an abort before onRequestStart reaches the attempt once, and the handler with its reason', (t) => {
      steadyClock(t)
      const { attempt, handler } = call(owner, 'own')
      handler.abortQueued!(REASON)
      handler.abortQueued!(new Error('again'))
      assert.deepEqual(attempt.aborts, [REASON])
      assert.deepEqual([handler.calls, handler.errors], [['onRequestQueued', 'onResponseError'], [REASON]])
    })

    it('an abort within onRequestQueued, onRequestStart, onResponseStart and onResponseData', async (t) => {
      const clock = steadyClock(t)
      for (const method of [
        'onRequestQueued',
        'onRequestStart',
        'onResponseStart',
        'onResponseData',
      ] as const) {
        const deed: Deed = (handler) => handler.abort(REASON)
        const { attempt, handler } = call(owner, 'own', { [method]: deed })
        attempt.start().head(200).data('x')
        if (owner.isDropping) await clock.advance(1000)
        attempt.end()
        if (owner.isDropping && method === 'onResponseData') continue
        assert.deepEqual([attempt.aborts, handler.errors], [[REASON], [REASON]], method)
        assert.deepEqual(handler.violations, [])
      }
    })

    it('an abort after the start settles the handler even if the dispatcher never reports it', async (t) => {
      const clock = steadyClock(t)
      const { attempt, handler } = call(owner, 'foreign')
      attempt.start().head(200)
      handler.abort(REASON)
      assert.deepEqual(handler.errors, [REASON])
      if (owner.isDropping) await clock.advance(1000)
      assert.deepEqual(attempt.aborts, [REASON])
      attempt.data('late').end()
      attempt.error(new Error('late'))
      assert.deepEqual([handler.errors, handler.violations], [[REASON], []])
    })

    it('an abort while a response is not wanted, or was read to its end', (t) => {
      steadyClock(t)
      if (owner.discard === undefined) return
      for (const isOver of [false, true]) {
        const { attempt, handler } = call(owner, 'own')
        attempt.start()
        owner.discard(attempt)
        if (isOver) attempt.end()
        if (handler.settled) continue
        handler.abort(REASON)
        assert.deepEqual(handler.errors, [REASON])
        assert.ok(attempt.aborts.length <= 1)
      }
    })

    it('an abort while a paused handler has not got all', (t) => {
      steadyClock(t)
      const { attempt, handler } = call(owner, 'foreign')
      attempt.start().head(200)
      handler.controller!.pause()
      attempt.data('x').end()
      handler.abort(REASON)
      handler.controller!.resume()
      assert.deepEqual([handler.errors, handler.body, handler.violations], [[REASON], '', []])
    })

    it('the body of a call that is never sent is destroyed once', async (t) => {
      steadyClock(t)
      if (owner.holding === undefined) return
      for (const reason of [REASON, undefined]) {
        const below = new ScriptedBelow('own')
        const dispatch = owner.holding(below.dispatch, GET)
        const before = below.attempts.length
        const destroyed: unknown[] = []
        const body = new Readable({
          read() {},
          destroy(error, done) {
            destroyed.push(error)
            done(error)
          },
        })
        const handler = new CheckedHandler()
        dispatch({ ...GET, ...owner.opts, method: 'POST', body }, handler)
        handler.abortQueued!(reason)
        assert.equal(handler.errors.length, 1)
        if (reason !== undefined) assert.equal(handler.errors[0], reason)
        await turns(3)
        assert.equal(destroyed.length, 1)
        assert.equal(below.attempts.length, before)
      }
    })

    it('a paused handler gets neither data nor end, of a dispatcher that takes no notice either', (t) => {
      steadyClock(t)
      for (const manner of ['own', 'foreign'] as const) {
        const { attempt, handler } = call(owner, manner)
        attempt.start().head(200)
        handler.controller!.pause()
        assert.equal(attempt.paused, true)
        attempt.data('a').data('b').end()
        assert.deepEqual(handler.calls.slice(-1), ['onResponseStart'])
        handler.controller!.resume()
        assert.equal(handler.calls.at(-1), 'onResponseEnd')
        assert.equal(handler.body, owner.isDropping ? '' : 'ab')
        assert.deepEqual(handler.violations, [])
      }
    })

    it('resume() within a callback brings no other callback', (t) => {
      steadyClock(t)
      const deed: Deed = ({ controller }) => {
        controller!.pause()
        controller!.resume()
      }
      const { attempt, handler } = call(owner, 'own', { onResponseStart: deed, onResponseData: deed })
      const left = ['a', 'b', 'c']
      attempt.onResume = () => {
        const text = left.shift()
        if (text === undefined) attempt.end()
        else attempt.data(text)
      }
      attempt.start().head(200)
      // Nobody pauses for a body that nobody gets.
      while (owner.isDropping && left.length > 0) attempt.onResume()
      if (owner.isDropping) attempt.end()
      assert.deepEqual([handler.calls.at(-1), handler.violations], ['onResponseEnd', []])
      assert.equal(handler.body, owner.isDropping ? '' : 'abc')
      assert.equal(attempt.paused, false)
    })

    it('resume() within a callback brings nothing that was held back either', (t) => {
      steadyClock(t)
      const deed: Deed = ({ controller }) => {
        controller!.pause()
        controller!.resume()
      }
      const { attempt, handler } = call(owner, 'foreign', { onResponseData: deed })
      attempt.start().head(200)
      handler.controller!.pause()
      // Too large to be joined to one piece.
      for (const letter of 'abc') attempt.data(letter.repeat(20_000))
      attempt.end()
      handler.controller!.resume()
      assert.deepEqual([handler.calls.at(-1), handler.violations], ['onResponseEnd', []])
      assert.equal(handler.body.length, owner.isDropping ? 0 : 60_000)
    })

    it('what onResponseEnd throws is reported once, to the same handler', (t) => {
      steadyClock(t)
      for (const isPaused of [false, true]) {
        const thrown = new Error('thrown at the end')
        const { attempt, handler } = call(owner, 'own', {
          onResponseEnd: () => {
            throw thrown
          },
        })
        const other = call(owner, 'own')
        attempt.start().head(200)
        if (isPaused) handler.controller!.pause()
        attempt.data('x').end()
        if (isPaused) handler.controller!.resume()
        assert.deepEqual([handler.errors, handler.violations], [[thrown], []])
        assert.equal(other.handler.settled, false)
      }
    })

    it('what onResponseError throws reaches no other call', async (t) => {
      steadyClock(t)
      const thrown = new Error('thrown in the last call')
      const deeds = {
        onResponseError: () => {
          throw thrown
        },
      }
      const { attempt, handler } = call(owner, 'own', deeds)
      attempt.start().head(200).data('x').error(REASON)
      const isLater = !handler.settled
      await turns(3)
      assert.deepEqual([handler.errors, handler.violations], [[REASON], []])
      // Out of a call of the dispatcher, that reports it; there is nobody to report it later.
      assert.deepEqual(attempt.thrownAtTheEnd, isLater ? [] : [thrown])
    })

    it('what is known about a response survives a stack', (t) => {
      steadyClock(t)
      let isStored: boolean | null = null
      const deeds: Partial<Record<Method, Deed>> = {
        onResponseStart: ({ controller }) => {
          isStored = responseFacts(controller!).isStored
        },
      }
      const below = new ScriptedBelow('own')
      const dispatch = owner.over(owner.over(below.dispatch))
      dispatch({ ...GET, ...owner.opts }, new CheckedHandler(deeds))
      const attempt = below.last.start()
      stateFacts(attempt, { ...responseFacts(attempt), isStored: true })
      attempt.head(200)
      assert.equal(isStored, true)
    })
  })
}
