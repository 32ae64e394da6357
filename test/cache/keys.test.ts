/** Which requests share a stored response: key, Vary, partition; and which ones remove it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import type { DispatchOptions } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { value } from './store-suite.ts'
import { type Answer, cached, installDate, ORIGIN, settle, sharingTests } from './support.ts'

const FRESH: Answer = { headers: { 'cache-control': 'max-age=60' }, body: 'x' }

describe('the key', () => {
  const rows: [a: Partial<DispatchOptions>, b: Partial<DispatchOptions>, sent: number][] = [
    [{ origin: 'http://h.test' }, { origin: 'http://h.test/' }, 1],
    [{ origin: 'http://h.test' }, { origin: new URL('HTTP://H.test:80') }, 1],
    [{ origin: 'http://h.test' }, { origin: 'https://h.test' }, 2],
    [{ origin: 'http://h.test' }, { origin: 'http://h.test:8080' }, 2],
    [{ path: '/?a=1' }, { path: '/', query: { a: 1 } }, 1],
    [{ path: '/?a=1' }, { path: '/?a=2' }, 2],
    [{ path: '/a' }, { path: '/A' }, 2],
    [{ headers: { a: '1' } }, { headers: { a: '2' } }, 1],
  ]
  sharingTests(rows)

  test('has the headers in every form that they can have', async () => {
    const answer = { headers: { 'cache-control': 'max-age=60', vary: 'x' }, body: 'x' }
    const origin = cached(answer)
    const forms = [
      { X: '1' },
      ['x', '1'],
      new Map([['X', '1']]),
      new Headers({ x: '1' }),
      Object.entries({ x: '1' })[Symbol.iterator](),
      { x: 1, y: undefined, z: null },
    ]
    for (const headers of forms) await origin.get('/', {}, { headers: headers as never })
    assert.equal(origin.received.length, 1)
    const list = cached(answer)
    await list.get('/', {}, { headers: { x: ['1', '2'] } })
    await list.get('/', {}, { headers: ['x', '1', 'X', '2'] })
    assert.equal(list.received.length, 1)
  })

  test('an iterator of headers still reaches the origin', async () => {
    const origin = cached(FRESH)
    const headers = new Map([['A', '1']]).entries() as never
    await origin.get('/', {}, { headers })
    // As a list, which keeps the case of the name.
    assert.deepEqual(origin.received[0]!.headers, ['A', '1'])
  })
})

describe('vary', () => {
  test('variants are stored side by side, compared exactly', async () => {
    const origin = cached(({ headers }) => ({
      headers: { 'cache-control': 'max-age=60', vary: 'Accept, X-Y' },
      body: `${headers['accept']}`,
    }))
    const requests: Record<string, string>[] = [
      { accept: 'a' },
      { accept: 'b' },
      {},
      { accept: '' },
      { accept: 'a', 'x-y': '1' },
    ]
    for (const headers of requests) await origin.get('/', headers)
    assert.equal(origin.received.length, 5)
    for (const headers of requests)
      assert.equal((await origin.get('/', headers)).body, `${headers['accept']}`)
    assert.equal(origin.received.length, 5)
  })

  test('at most 32 variants of a URL, the oldest goes', async () => {
    const origin = cached({ headers: { 'cache-control': 'max-age=60', vary: 'user-agent' }, body: 'x' })
    for (let i = 0; i < 33; i++) await origin.get('/', { 'user-agent': `${i}` })
    await origin.get('/', { 'user-agent': '1' })
    assert.equal(origin.received.length, 33)
    await origin.get('/', { 'user-agent': '0' })
    assert.equal(origin.received.length, 34)
  })

  test('a response that varies by too many fields is not stored', async () => {
    for (const [length, sent] of [
      [64, 1],
      [65, 2],
    ] as const) {
      const vary = Array.from({ length }, (_, i) => `x${i}`).join()
      const origin = cached({ headers: { 'cache-control': 'max-age=60', vary }, body: 'x' })
      await origin.get()
      await origin.get()
      assert.equal(origin.received.length, sent, `${length} fields`)
    }
  })

  test('a stored list is the value of a field with several lines', async (t) => {
    installDate(t)
    const store = new MemoryCacheStore()
    const vary = { x: ['1', '2'] } as never
    store.set({ origin: ORIGIN, method: 'GET', path: '/' }, { ...value({ vary }), body: [Buffer.from('x')] })
    const origin = cached(FRESH, { store })
    await origin.get('/', { x: ['1', '2'] })
    assert.equal(origin.received.length, 0)
    await origin.get('/', { x: '1' })
    assert.equal(origin.received.length, 1)
  })
})

describe('partition', () => {
  test('requests of two partitions share nothing', async () => {
    const origin = cached(FRESH, {
      partition: (opts) => String((opts.headers as Record<string, string>)['tenant']),
    })
    await origin.get('/', { tenant: 'a' })
    await origin.get('/', { tenant: 'b' })
    assert.equal(origin.received.length, 2)
    await origin.get('/', { tenant: 'a' })
    assert.equal(origin.received.length, 2)
  })

  test('no path can reach into another partition', async () => {
    const origin = cached(FRESH, { partition: (opts) => String((opts as { tenant?: string }).tenant ?? '') })
    await origin.get('/secret', {}, { tenant: 'a' } as object)
    for (const path of [`/secret ${ORIGIN} a`, `a /secret`]) {
      await origin.get(path)
      assert.equal(origin.received.at(-1)!.path, path, 'left to the dispatcher, which refuses it')
    }
  })

  test('one that throws, or returns no string, fails the request', async () => {
    for (const [partition, message] of [
      [
        () => {
          throw new Error('unknown tenant')
        },
        'unknown tenant',
      ],
      [() => 5, 'partition must return a string'],
      // Its rejection would end the process.
      [() => Promise.reject(new Error('late')), 'partition must return a string'],
    ] as const) {
      const origin = cached(FRESH, { partition: partition as never })
      const handler = await origin.get()
      assert.equal(handler.error?.message, message)
      assert.equal(origin.received.length, 0)
    }
  })

  test('an unsafe request removes what its partition has', async () => {
    const origin = cached(FRESH, { partition: (opts) => String((opts as { tenant?: string }).tenant) })
    const a = { tenant: 'a' } as object
    const b = { tenant: 'b' } as object
    await origin.get('/', {}, a)
    await origin.get('/', {}, b)
    await origin.get('/', {}, { ...a, method: 'POST' })
    await origin.get('/', {}, b)
    assert.equal(origin.received.length, 3)
    await origin.get('/', {}, a)
    assert.equal(origin.received.length, 4)
  })
})

describe('invalidation', () => {
  async function after(method: string, answer: Answer, path = '/', asked = '/'): Promise<boolean> {
    const origin = cached(({ method: sent }) => (sent === 'GET' ? FRESH : answer))
    await origin.get(path)
    await origin.get(asked, {}, { method })
    const before = origin.received.length
    await origin.get(path)
    return origin.received.length > before
  }

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'FOO']) {
    test(`${method} removes its URL`, async () => assert.equal(await after(method, { status: 200 }), true))
  }
  for (const method of ['QUERY', 'OPTIONS', 'TRACE', 'HEAD', 'PROPFIND']) {
    test(`${method} does not`, async () => assert.equal(await after(method, { status: 200 }), false))
  }
  for (const status of [200, 201, 204, 301, 303, 399]) {
    test(`after ${status}`, async () => assert.equal(await after('POST', { status }), true))
  }
  for (const status of [400, 404, 500]) {
    test(`not after ${status}`, async () => assert.equal(await after('POST', { status }), false))
  }
  for (const name of ['location', 'content-location']) {
    for (const value of ['/other', 'other', `${ORIGIN}/other`, `${ORIGIN.toUpperCase()}/other`]) {
      test(`${name}: ${value}`, async () =>
        assert.equal(await after('POST', { status: 201, headers: { [name]: value } }, '/other'), true))
    }
    for (const value of ['http://evil.test/other', 'http://[', '']) {
      test(`${name}: ${value} removes nothing else`, async () =>
        assert.equal(await after('POST', { status: 201, headers: { [name]: value } }, '/other'), false))
    }
  }

  test('of all methods and variants', async () => {
    const origin = cached(
      ({ method }) =>
        method === 'POST'
          ? { status: 200 }
          : { headers: { 'cache-control': 'max-age=60', vary: 'a' }, body: '' },
      {
        methods: ['GET', 'HEAD'],
      },
    )
    await origin.get('/', { a: '1' })
    await origin.get('/', { a: '2' })
    await origin.get('/', { a: '3' }, { method: 'HEAD' })
    await origin.get('/', {}, { method: 'POST' })
    await origin.get('/', { a: '1' })
    await origin.get('/', { a: '2' })
    await origin.get('/', { a: '3' }, { method: 'HEAD' })
    assert.equal(origin.received.length, 7)
  })

  test('what was asked for before is not stored after it', async (t) => {
    installDate(t)
    let answer: (given: Answer) => void = () => {}
    const origin = cached(({ method }) => {
      if (method === 'POST') return { status: 200 }
      return new Promise<Answer>((resolve) => {
        answer = resolve
      })
    })
    const early = origin.get()
    await settle()
    await origin.get('/', {}, { method: 'POST' })
    answer(FRESH)
    assert.equal((await early).body, 'x')
    const later = origin.get()
    await settle()
    assert.equal(origin.received.length, 3)
    answer(FRESH)
    await later
    await origin.get()
    assert.equal(origin.received.length, 3)
  })

  test('also if its head had arrived', async () => {
    let finish = (): void => {}
    const origin = cached(async ({ method }) =>
      method === 'POST' ? { status: 200 } : { ...FRESH, body: ['a', 'b'] },
    )
    const handler = new RecordingHandler({
      onResponseStart: (controller) => {
        controller.pause()
        finish = () => controller.resume()
      },
    })
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    await settle()
    await origin.get('/', {}, { method: 'POST' })
    finish()
    assert.equal((await handler.settled).body, 'ab')
    await origin.get()
    assert.equal(origin.received.length, 3)
  })
})
