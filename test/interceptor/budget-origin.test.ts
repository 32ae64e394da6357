/** Budgets go by the origin that requests are sent to. Below a dispatcher of one origin, that is its own. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Interceptor, interceptors, RetryAgent } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { GET, RESET, steadyClock } from './retry-support.ts'

/** As a client or a pool is. */
class OneOrigin extends ScriptedDispatcher {
  override composedOrigin(): string {
    return 'http://own.test'
  }
}

const NAMED = ['http://a.test', 'http://b.test', 'http://own.test/', 'HTTP://OWN.test:80'] as const
const BUDGET = { ratio: 0, minPerSecond: 0.1, ttl: 10_000 }

describe('a budget below a dispatcher of one origin', () => {
  const retrying: [string, (base: OneOrigin) => Pick<OneOrigin, 'dispatch'>][] = [
    ['retry', (base) => base.compose(interceptors.retry({ jitter: 0, budget: BUDGET }))],
    ['RetryAgent', (base) => new RetryAgent(base, { jitter: 0, budget: BUDGET })],
  ]
  for (const [title, make] of retrying) {
    it(`${title}: all requests share it, whatever origin they name`, (t) => {
      const clock = steadyClock(t)
      const base = new OneOrigin()
      const dispatcher = make(base)
      for (const origin of NAMED) {
        dispatcher.dispatch({ ...GET, origin }, new RecordingHandler())
        base.last.start().error(RESET())
      }
      assert.equal(clock.active.size, 1)
    })
  }

  it('retry: options of a request keep the origin', (t) => {
    const clock = steadyClock(t)
    const base = new OneOrigin()
    const dispatcher = base.compose(interceptors.retry({ jitter: 0, budget: BUDGET }))
    for (const origin of NAMED) {
      const retryOptions = { maxRetries: 2 }
      dispatcher.dispatch({ ...GET, origin, retryOptions } as typeof GET, new RecordingHandler())
      base.last.start().error(RESET())
    }
    assert.equal(clock.active.size, 1)
  })

  it('retry: one interceptor on two dispatchers has a budget for each of their origins', (t) => {
    const clock = steadyClock(t)
    const interceptor: Interceptor = interceptors.retry({ jitter: 0, budget: BUDGET })
    const other = new ScriptedDispatcher()
    for (const base of [new OneOrigin(), other]) {
      base.compose(interceptor).dispatch({ ...GET, origin: 'http://a.test' }, new RecordingHandler())
      base.last.start().error(RESET())
    }
    assert.equal(clock.active.size, 2)
  })

  it('hedge: all requests share it', async (t) => {
    const clock = steadyClock(t)
    const base = new OneOrigin()
    const dispatcher = base.compose(interceptors.hedge({ delay: 100, budget: BUDGET }))
    for (const origin of NAMED) dispatcher.dispatch({ ...GET, origin }, new RecordingHandler())
    await clock.advance(100)
    assert.equal(base.exchanges.length, NAMED.length + 1)
  })
})
