/** What holds for every caller of a response that several callers share. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Dispatch, interceptors } from '../../src/index.ts'
import { steadyClock } from '../interceptor/retry-support.ts'
import { turns } from '../support/fake-clock.ts'
import {
  CheckedHandler,
  type Deed,
  type Manner,
  type Method,
  type ScriptedAttempt,
  ScriptedBelow,
} from './contract-support.ts'

const OWNERS: Readonly<Record<string, () => (below: Dispatch) => Dispatch>> = {
  deduplicate: () => interceptors.deduplicate({ maxBufferSize: 3 }),
  'cache with collapse': () => interceptors.cache({ collapse: true }),
}

const GET = { origin: 'http://a.test', path: '/', method: 'GET' }
const CALLERS = 3
const STORED = { 'cache-control': 'max-age=60' }

type Below = (attempt: ScriptedAttempt) => unknown
type Caller = (handler: CheckedHandler) => unknown

const BELOW: Readonly<Record<string, Below>> = {
  start: (attempt) => attempt.start(),
  hint: (attempt) => attempt.head(103),
  answer: (attempt) => attempt.start().head(200),
  storable: (attempt) => attempt.start().head(200, { ...STORED }),
  sized: (attempt) => attempt.start().head(200, { ...STORED, 'content-length': '2' }),
  varying: (attempt) => attempt.start().head(200, { ...STORED, vary: 'x', 'content-length': '2' }),
  data: (attempt) => attempt.data('ab'),
  end: (attempt) => attempt.end(),
  error: (attempt) => attempt.error(new Error('failed below')),
  upgrade: (attempt) => attempt.upgrade(new PassThrough()),
}

const CALLER: Readonly<Record<string, Caller>> = {
  abort: (handler) => handler.abort(new Error('given up')),
  pause: (handler) => handler.controller?.pause(),
  resume: (handler) => handler.controller?.resume(),
}

const DEEDS: Readonly<Record<string, Deed>> = {
  throw: () => {
    throw new Error('thrown by the handler')
  },
  abort: (handler) => handler.abort(new Error('given up')),
  pause: ({ controller }) => controller?.pause(),
}

const METHODS: readonly Method[] = [
  'onRequestStart',
  'onResponseStart',
  'onResponseData',
  'onResponseEnd',
  'onResponseError',
]

const scripts = fc.record({
  manner: fc.constantFrom<Manner>('own', 'foreign'),
  /** The last caller joins before this event. */
  joinsAt: fc.nat(4),
  deeds: fc.dictionary(fc.constantFrom(...METHODS), fc.constantFrom(...Object.keys(DEEDS)), { maxKeys: 1 }),
  misbehaving: fc.nat(CALLERS - 1),
  events: fc.array(
    fc.tuple(fc.constantFrom(...Object.keys(BELOW), ...Object.keys(CALLER), 'turn'), fc.nat(CALLERS - 1)),
    { maxLength: 12 },
  ),
})

for (const [name, make] of Object.entries(OWNERS)) {
  describe(`the callers of a shared response: ${name}`, () => {
    it('each gets exactly one final call, and nothing while it is paused', async (t) => {
      const clock = steadyClock(t)
      await fc.assert(
        fc.asyncProperty(scripts, async ({ manner, joinsAt, deeds: chosen, misbehaving, events }) => {
          const below = new ScriptedBelow(manner)
          const dispatch = make()(below.dispatch)
          const deeds = Object.fromEntries(Object.entries(chosen).map(([at, deed]) => [at, DEEDS[deed]!]))
          const handlers = Array.from(
            { length: CALLERS },
            (_, i) => new CheckedHandler(i === misbehaving ? deeds : {}),
          )
          for (const handler of handlers.slice(1)) dispatch(GET, handler)
          for (const [i, [event, which]] of events.entries()) {
            if (i === joinsAt) dispatch(GET, handlers[0]!)
            await happen(event, below, handlers[which]!, which)
          }
          if (events.length <= joinsAt) dispatch(GET, handlers[0]!)
          for (let round = 0; round < 30 && handlers.some(({ settled }) => !settled); round++) {
            for (const handler of handlers) await happen('resume', below, handler, 0)
            for (const i of below.attempts.keys()) await happen('error', below, handlers[0]!, i)
            await clock.advance(1000)
          }
          for (const { violations, settled, calls } of handlers) {
            assert.deepEqual(violations, [], `after ${calls}`)
            assert.equal(settled, true, `never settled: ${calls}`)
          }
        }),
        { numRuns: 300 },
      )
    })
  })
}

/** Whoever calls handlers catches what they throw; what a handler throws in its last call comes out of `abort()`. */
async function happen(
  event: string,
  { attempts }: ScriptedBelow,
  handler: CheckedHandler,
  which: number,
): Promise<void> {
  if (event === 'turn') await turns(2)
  try {
    CALLER[event]?.(handler)
    const attempt = attempts[which % attempts.length]
    if (attempt !== undefined && attempt.state !== 'over') BELOW[event]?.(attempt)
  } catch {}
}
