/** A throttle over a scripted dispatcher, with a clock that the test advances. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Dispatcher, interceptors, type ThrottleOptions } from '../../src/index.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { type Exchange, ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

export const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

/** A handler that can be given up while its request waits. */
export class AbortableHandler extends RecordingHandler {
  /** How often its request was announced. */
  queued = 0
  abort: (reason?: unknown) => void = () => assert.fail('nothing to give up')

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.queued++
    this.abort = abort
  }
}

export interface Setting {
  readonly clock: FakeClock
  readonly base: ScriptedDispatcher
  readonly dispatcher: Dispatcher
  /** The paths that were sent, in order. */
  readonly sent: string[]
  send(path?: string, opts?: Partial<DispatchOptions>): AbortableHandler
  exchange(path: string): Exchange
  /** Answers the request with this path. */
  answer(path: string, statusCode?: number, headers?: Record<string, string>): void
}

/** The global clocks of a test: `performance.now()` goes with the timers. */
export function steadyClock(t: TestContext): FakeClock {
  const clock = FakeClock.install(t)
  clock.now = 50_000
  // Not with a mock, which remembers each call.
  const { now } = performance
  performance.now = () => clock.now
  t.after(() => {
    performance.now = now
  })
  return clock
}

export function setting(t: TestContext, options?: ThrottleOptions): Setting {
  const clock = steadyClock(t)
  const sent: string[] = []
  const base = new ScriptedDispatcher(({ opts }) => void sent.push(opts?.path))
  const dispatcher = base.compose(interceptors.throttle(options))
  const exchange = (path: string): Exchange => {
    const found = base.exchanges.find(({ opts }) => opts.path === path)
    assert.ok(found, `${path} was not sent`)
    return found
  }
  return {
    clock,
    base,
    dispatcher,
    sent,
    exchange,
    send: (path = '/', opts = {}) => {
      const handler = new AbortableHandler()
      assert.equal(dispatcher.dispatch({ ...GET, path, ...opts }, handler), true)
      return handler
    },
    answer: (path, statusCode = 200, headers = {}) => {
      exchange(path).start().head(statusCode, headers).end()
    },
  }
}
