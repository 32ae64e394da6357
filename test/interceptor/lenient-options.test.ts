import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Agent, interceptors, MockAgent, Pool, RetryAgent } from '../../src/index.ts'

test('options are taken in other forms that can mean only one thing', async () => {
  const forms: readonly object[] = [
    { retryAfter: 0 },
    { retryAfter: 1 },
    { throwOnError: 0 },
    { maxRetries: '3' },
    { minTimeout: '100' },
    { methods: new Set(['GET']) },
    { statusCodes: ['503'] },
    { maxRetries: -1 },
  ]
  for (const options of forms) {
    interceptors.retry(options as never)
    await new RetryAgent(new Agent(), options as never).close()
  }
  interceptors.decompress({ skipStatusCodes: ['204'], maxSize: '10', skipErrorResponses: 0 } as never)
  interceptors.compress({ level: '3', minSize: '10' } as never)
  interceptors.hedge({ delay: '10', maxAttempts: '2', methods: new Set(['GET']) } as never)
  interceptors.throttle({ concurrency: '2', rate: '0.5', adaptive: 1 } as never)
  interceptors.circuitBreaker({ threshold: '0.5', window: '1000' } as never)
  interceptors.responseError({ maxSize: '0' } as never)
  await new Agent({ connections: Number.POSITIVE_INFINITY }).close()
  await new Pool('http://a.test', { connections: Number.POSITIVE_INFINITY }).close()
})

for (const [options, attempts, outcome] of [
  [{ maxRetries: '2' }, 3, 'UND_ERR_REQ_RETRY'],
  [{ maxRetries: -1 }, 1, 'UND_ERR_REQ_RETRY'],
  [{ statusCodes: ['503'] }, 4, 'UND_ERR_REQ_RETRY'],
  [{ statusCodes: ['500'] }, 1, 503],
  [{ methods: new Set(['GET']) }, 4, 'UND_ERR_REQ_RETRY'],
  [{ methods: new Set(['PUT']) }, 1, 503],
  [{ throwOnError: 0 }, 4, 503],
  [{ throwOnError: 1 }, 4, 'UND_ERR_REQ_RETRY'],
  // It would wait for the time that the response names.
  [{ retryAfter: 0 }, 4, 'UND_ERR_REQ_RETRY'],
] as const) {
  const shown = Object.entries(options).map(([name, value]) => `${name} ${inspect(value)}`)
  test(`${shown}: ${attempts} attempts, then ${outcome}`, async (t) => {
    const agent = new MockAgent()
    t.after(() => agent.close())
    agent.disableNetConnect()
    let count = 0
    const answer = (): { statusCode: number; responseOptions: { headers: Record<string, string> } } => {
      count++
      return {
        statusCode: 503,
        responseOptions: { headers: 'retryAfter' in options ? { 'retry-after': '600' } : {} },
      }
    }
    agent.get('http://a.test').intercept({ path: '/' }).reply(answer).persist()
    const defaults = { maxRetries: 3, minTimeout: 1, jitter: 0 }
    const retrying = agent.compose(interceptors.retry({ ...defaults, ...options } as never))
    const ended = retrying.request({ origin: 'http://a.test', path: '/', method: 'GET' }).then(
      ({ statusCode }) => statusCode,
      ({ code }) => code,
    )
    assert.deepEqual([await ended, count], [outcome, attempts])
  })
}

test('other values are refused', () => {
  for (const options of [
    { retryAfter: 2 },
    { maxRetries: 'three' },
    { statusCodes: ['x'] },
    { methods: 'GET' },
  ]) {
    assert.throws(() => interceptors.retry(options as never), { code: 'UND_ERR_INVALID_ARG' })
  }
  for (const make of [
    () => interceptors.hedge({ delay: '-1' } as never),
    () => interceptors.throttle({ concurrency: '0' } as never),
    () => interceptors.throttle({ adaptive: '1' } as never),
    () => interceptors.circuitBreaker({ threshold: '2' } as never),
    () => interceptors.decompress({ maxSize: '1.5' } as never),
  ]) {
    assert.throws(make, { code: 'UND_ERR_INVALID_ARG' })
  }
  assert.throws(() => new Pool('http://a.test', { connections: Number.NaN }), {
    message: 'invalid connections',
  })
})
