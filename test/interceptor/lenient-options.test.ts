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
  interceptors.decompress({ skipStatusCodes: ['204'] } as never)
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
  assert.throws(() => new Pool('http://a.test', { connections: Number.NaN }), {
    message: 'invalid connections',
  })
})
