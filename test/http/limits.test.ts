import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { errors, type Http, MockAgent } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { overEachWire } from '../support/wire.ts'
import { jsonOf, setStage } from './stage.ts'

overEachWire('timeout.total', (wire) => {
  test('ends a call wherever it is, and says where that was', async (t) => {
    const clock = FakeClock.install(t)
    const { api, url, server } = await setStage(t, wire, (request, response) => {
      if (request.url!.includes('body')) response.write('1')
    })
    const limited = api.extend({ timeout: { total: 40_000 } })
    const arrived = async (): Promise<void> => {
      await once(server, 'request')
    }
    const failed = failure(limited.get('head?token=hunter2').json())
    await arrived()
    await clock.advance(40_000)
    const { name, message } = await failed
    assert.equal(name, 'TimeoutError')
    const what = 'took longer than timeout.total, 40000 ms: 1 attempt, without a response'
    assert.equal(message, `GET ${url}/v1/head?token=… ${what}`)
    const response = await limited.get('body')
    const body = failure(response.text())
    await clock.advance(40_000)
    assert.match((await body).message, /1 attempt, while receiving the body$/)
    const unsent = failure(limited.get('x', { hooks: { beforeRequest: () => new Promise(() => {}) } }).json())
    await turns(1)
    await clock.advance(40_000)
    assert.match((await unsent).message, /0 attempts, not sent$/)
  })
})

describe('timeout.total', () => {
  test('counts the waits between attempts', async (t) => {
    const clock = FakeClock.install(t)
    const { api, seen } = await setStage(t, undefined, jsonOf(null, 503))
    const limited = api.extend({ retry: { minTimeout: 30_000, jitter: 0 }, timeout: { total: 40_000 } })
    const failed = failure(limited.get('x').json())
    await eventually(() => [...clock.active].some(({ delay }) => delay === 30_000))
    await clock.advance(30_000)
    await eventually(() => seen.length === 2)
    await clock.advance(10_000)
    assert.match((await failed).message, /timeout.total, 40000 ms: 2 attempts/)
  })

  test('leaves no timer behind', async (t) => {
    const clock = FakeClock.install(t)
    const { api } = await setStage(t, undefined, jsonOf(1), { timeout: { total: 60_000 } })
    await api.get('x').json()
    assert.deepEqual(
      [...clock.active].filter(({ delay }) => delay === 60_000),
      [],
    )
  })
})

overEachWire('timeout.attempt', (wire) => {
  test('ends an attempt, and another one follows', async (t) => {
    const clock = FakeClock.install(t)
    const { api, seen } = await setStage(t, wire, (request, response) => {
      if (seen.length > 1) jsonOf(request.url)(request, response)
    })
    const value = api
      .get('x', { timeout: { attempt: 40_000 }, retry: { maxRetries: 1, minTimeout: 0 } })
      .json()
    await eventually(() => seen.length === 1)
    await clock.advance(40_000)
    await clock.advance(1)
    assert.equal(await value, '/v1/x')
  })

  test('needs no retries', async (t) => {
    const clock = FakeClock.install(t)
    const { api, seen } = await setStage(t, wire, () => {})
    const failed = failure(
      api
        .extend({ timeout: { attempt: 40_000 } })
        .get('x')
        .json(),
    )
    await eventually(() => seen.length === 1)
    await clock.advance(40_000)
    assert.ok((await failed) instanceof errors.HeadersTimeoutError)
    assert.equal(seen.length, 1)
  })
})

describe('beforeRetry', () => {
  test('is told of each retry, and waited for', async (t) => {
    const { api, seen } = await setStage(t, undefined, jsonOf(null, 503))
    const retries: unknown[] = []
    const beforeRetry = async ({
      attempt,
      statusCode,
    }: {
      attempt: number
      statusCode: number | undefined
    }) => {
      await turns(1)
      retries.push([attempt, statusCode, seen.length])
    }
    const retrying = api.extend({ retry: { maxRetries: 2, minTimeout: 0 }, hooks: { beforeRetry } })
    await failure(retrying.get('x').json())
    assert.deepEqual(retries, [
      [1, 503, 1],
      [2, 503, 2],
    ])
    const own: number[] = []
    await failure(
      retrying.get('x', { hooks: { beforeRetry: ({ attempt }) => void own.push(attempt) } }).json(),
    )
    assert.deepEqual([own, retries.length], [[1, 2], 4])
  })

  test('that throws fails the call', async (t) => {
    const { api, seen } = await setStage(t, undefined, jsonOf(null, 503))
    const reason = new Error('no')
    const beforeRetry = () => Promise.reject(reason)
    assert.equal(await failure(api.get('x', { retry: 2, hooks: { beforeRetry } }).json()), reason)
    assert.equal(seen.length, 1)
  })

  test('that never settles does not outlive the signal', async (t) => {
    const { api } = await setStage(t, undefined, jsonOf(null, 503))
    const controller = new AbortController()
    const beforeRetry = () => {
      setImmediate(() => controller.abort())
      return new Promise<void>(() => {})
    }
    const failed = failure(
      api.get('x', { retry: 2, hooks: { beforeRetry }, signal: controller.signal }).json(),
    )
    assert.equal((await failed).name, 'AbortError')
  })
})

overEachWire('retry', (wire) => {
  test('repeats what can be repeated, and the last response is the error', async (t) => {
    const { api, seen } = await setStage(
      t,
      wire,
      (request, response) => {
        request.resume().on('end', () => {
          response.writeHead(503, { 'content-type': 'application/json' })
          response.end('{"try":"later"}')
        })
      },
      { retry: { maxRetries: 2, minTimeout: 1 } },
    )
    const error = await failure(api.get('x').json())
    assert.ok(error instanceof errors.ResponseError)
    assert.deepEqual([error.statusCode, error.body], [503, { try: 'later' }])
    assert.equal(seen.length, 3)
    await failure(api.post('x', { json: 1 }).json())
    assert.equal(seen.length, 4)
    await failure(api.post('x', { json: 1, idempotent: true }).json())
    assert.equal(seen.length, 7)
    await failure(api.get('x', { retry: false }).json())
    assert.equal(seen.length, 8)
  })
})

describe('retry of a call', () => {
  test('needs none of the client', async (t) => {
    const { api, seen } = await setStage(t, undefined, jsonOf(null, 503))
    await failure(api.get('x').json())
    await failure(api.get('x', { retry: { maxRetries: 1, minTimeout: 0 } }).json())
    assert.equal(seen.length, 3)
  })
})

describe('a mock', () => {
  test('answers a call', async (t) => {
    const agent = new MockAgent()
    t.after(() => agent.close())
    agent.disableNetConnect()
    agent.get('http://service').intercept({ path: '/v1/users/1' }).reply(200, { name: 'Ada' })
    const { api } = await setStage(t, undefined, undefined, {
      baseUrl: 'http://service/v1/',
      dispatcher: agent,
    })
    assert.deepEqual(await api.get('users/1').json(), { name: 'Ada' })
  })
})

describe('guard, throttle and circuitBreaker', () => {
  test('are the interceptors', async (t) => {
    const { api, seen } = await setStage(t, undefined, jsonOf(null, 500))
    const guarded = await failure(
      api.extend({ guard: 'public-only' }).get(new URL('http://127.0.0.1:1/')).json(),
    )
    assert.ok(guarded instanceof errors.BlockedAddressError)
    const broken = api.extend({ circuitBreaker: { minRequests: 1, threshold: 0.1 } })
    await failure(broken.get('x').json())
    assert.ok((await failure(broken.get('x').json())) instanceof errors.CircuitOpenError)
    const full = api.extend({ throttle: { concurrency: 1, maxQueue: 0 } })
    const both = await Promise.all([failure(full.get('x').json()), failure(full.get('x').json())])
    assert.ok(both.some((error) => error instanceof errors.ThrottledError))
    assert.equal(seen.length, 2)
  })
})

describe('a call that is dropped', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void

  test('before it is sent is made all the same', async (t) => {
    let send = (): void => {}
    const held = new Promise<void>((resolve) => {
      send = resolve
    })
    const { api, seen } = await setStage(t, undefined, jsonOf(null), {
      hooks: { beforeRequest: [() => held] },
    })
    void (() => api.post('event', { json: 1 }))()
    for (let i = 0; i < 20; i++) {
      await turns(20)
      collect()
    }
    send()
    await eventually(() => seen.length === 1)
    assert.deepEqual(seen, ['POST /v1/event'])
  })

  for (const [what, drop] of [
    ['before its response', (api: Http) => void api.get('x')],
    ['with its response', (api: Http) => void api.get('x').response()],
  ] as const) {
    test(`${what} gives up its connection`, async (t) => {
      let isClosed = false
      const { api, seen } = await setStage(t, undefined, (_request, response) => {
        response.on('close', () => {
          isClosed = true
        })
        response.end(Buffer.alloc(50_000_000))
      })
      drop(api)
      await eventually(() => seen.length === 1)
      for (let i = 0; i < 200 && !isClosed; i++) {
        collect()
        await turns(20)
      }
      assert.ok(isClosed)
    })
  }
})
