/** A dispatcher that the test drives, behind the retry interceptor, with time that the test moves. */
import type { TestContext } from 'node:test'
import {
  type Dispatcher,
  type DispatchOptions,
  errors,
  interceptors,
  type RetryOptions,
  type RetrySafety,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

export const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const
export const POST = { ...GET, method: 'POST', body: 'x' } as const

export interface RetrySetting {
  readonly clock: FakeClock
  readonly base: ScriptedDispatcher
  readonly dispatcher: Dispatcher
  send(options?: Partial<DispatchOptions>): RecordingHandler
  /** The delays of the timers that are active. */
  delays(): number[]
}

const clocks = new WeakMap<TestContext, FakeClock>()

/** The fake clock of a test, without timers; `performance.now()` moves with it. A second one would undo the first. */
export function steadyClock(t: TestContext): FakeClock {
  let clock = clocks.get(t)
  if (clock === undefined) {
    const made = FakeClock.install(t)
    t.mock.method(performance, 'now', () => 1000 + made.now)
    clocks.set(t, made)
    clock = made
  }
  clock.active.clear()
  return clock
}

/** Without jitter, unless the options ask for some. The steady clock moves with the fake one. */
export function retrying(t: TestContext, options: RetryOptions = {}): RetrySetting {
  const clock = steadyClock(t)
  const base = new ScriptedDispatcher()
  const dispatcher = base.compose(interceptors.retry({ jitter: 0, ...options }))
  return {
    clock,
    base,
    dispatcher,
    send: (given = {}) => {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ ...GET, ...given }, handler)
      return handler
    },
    delays: () => [...clock.active].map(({ delay }) => delay),
  }
}

/** An error as a dispatcher of the library makes it. */
export function failed(code: string, retrySafety?: RetrySafety): Error {
  const error = Object.assign(new Error('failed'), { code })
  return retrySafety === undefined ? error : Object.assign(error, { retrySafety })
}

export const RESET = (): Error => failed('ECONNRESET', 'idempotent-only')
export const REFUSED = (): Error => failed('ECONNREFUSED', 'safe')

export { errors }
