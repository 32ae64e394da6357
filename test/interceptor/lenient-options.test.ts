import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, interceptors, Pool, RetryAgent } from '../../src/index.ts'

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
  interceptors.hedge({ delay: '10', maxAttempts: '2', methods: new Set(['GET']) } as never)
  interceptors.throttle({ concurrency: '2', rate: '0.5', adaptive: 1 } as never)
  interceptors.circuitBreaker({ threshold: '0.5', window: '1000' } as never)
  interceptors.responseError({ maxSize: '0' } as never)
  await new Agent({ connections: Number.POSITIVE_INFINITY }).close()
  await new Pool('http://a.test', { connections: Number.POSITIVE_INFINITY }).close()
})

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
