import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import type { CacheOptions } from '../../src/cache/options.ts'
import { CookieJar } from '../../src/cookies/jar/cookie-jar.ts'
import { BalancedPool, Client } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { cached, ORIGIN, scripted } from './support.ts'

const FRESH = { headers: { 'cache-control': 'max-age=60' }, body: 'x' }

describe('wrong options of interceptors.cache', () => {
  const get = () => undefined
  const rows: [options: unknown, message: string][] = [
    [5, 'expected type of opts to be an Object, got number'],
    [null, 'expected type of opts to be an Object, got null'],
    [{ store: 'x' }, 'expected type of opts.store to be a CacheStore, got string'],
    [{ store: null }, 'expected type of opts.store to be a CacheStore, got null'],
    [{ store: {} }, 'opts.store needs to have a `get()` function'],
    [{ store: { get } }, 'opts.store needs to have a `createWriteStream()` function'],
    [{ store: { get, createWriteStream: get } }, 'opts.store needs to have a `delete()` function'],
    [{ methods: 'GET' }, 'expected type of opts.methods needs to be an array, got string'],
    [{ methods: [] }, 'opts.methods needs to have at least one method'],
    [
      { methods: ['GET', 'POST'] },
      'element of opts.methods-array needs to be one of following values: GET, HEAD, OPTIONS, TRACE, got POST',
    ],
    [{ cacheByDefault: '1' }, 'expected opts.cacheByDefault to be number or undefined, got string'],
    [{ cacheByDefault: -1 }, 'expected opts.cacheByDefault to be a non-negative number, got -1'],
    [{ cacheByDefault: null }, 'expected opts.cacheByDefault to be number or undefined, got object'],
    [{ cacheByDefault: Number.NaN }, 'expected opts.cacheByDefault to be a non-negative number, got NaN'],
    [{ type: null }, 'expected opts.type to be shared, private, or undefined, got object'],
    [{ type: 5 }, 'expected opts.type to be shared, private, or undefined, got number'],
    [{ type: 'public' }, 'expected opts.type to be shared, private, or undefined, got string'],
    [{ origins: 'x' }, 'expected opts.origins to be an array or undefined, got string'],
    [{ origins: null }, 'expected opts.origins to be an array or undefined, got object'],
    [{ origins: [null] }, 'expected opts.origins[0] to be a string or RegExp, got object'],
    [{ origins: ['x', 5] }, 'expected opts.origins[1] to be a string or RegExp, got number'],
    [{ collapse: 1 }, 'expected opts.collapse to be boolean or undefined, got number'],
    [{ targets: 'x' }, 'expected opts.targets to be an array or undefined, got string'],
    [{ targets: [5] }, 'expected opts.targets[0] to be a string, got number'],
    [{ cacheStatus: 5 }, 'expected opts.cacheStatus to be string or undefined, got number'],
    [{ cacheStatus: 'ü' }, 'expected opts.cacheStatus to have only printable ASCII characters'],
    [{ staleIfError: '1' }, 'expected opts.staleIfError to be number or undefined, got string'],
    [{ partition: 'x' }, 'expected opts.partition to be function or undefined, got string'],
  ]
  for (const [options, message] of rows) {
    test(message, () => {
      assert.throws(() => cache(options as CacheOptions), { name: 'TypeError', message })
    })
  }

  test('options of a polluted prototype do not count', (t) => {
    Object.assign(Object.prototype, { store: 5, methods: 5 })
    t.after(() => {
      delete (Object.prototype as { store?: unknown }).store
      delete (Object.prototype as { methods?: unknown }).methods
    })
    cache({})
  })
})

describe('requests that the cache leaves alone', () => {
  async function sentTwice(options: CacheOptions, more: object): Promise<number> {
    const origin = cached(FRESH, options)
    await origin.get('/', {}, more)
    await origin.get('/', {}, more)
    return origin.received.length
  }

  test('a request without an origin', async () => assert.equal(await sentTwice({}, { origin: undefined }), 2))
  test('an origin that is not listed', async () =>
    assert.equal(await sentTwice({ origins: ['http://other.test'] }, {}), 2))
  test('a listed origin, in any letter case', async () =>
    assert.equal(await sentTwice({ origins: ['HTTP://Origin.TEST'] }, {}), 1))
  test('an origin that an expression matches, also one with the flag g', async () =>
    assert.equal(await sentTwice({ origins: [/^http:\/\/origin/g] }, {}), 1))
  test('a safe method that is not listed', async () =>
    assert.equal(await sentTwice({}, { method: 'HEAD' }), 2))
  test('OPTIONS, if listed, is cached', async () =>
    assert.equal(await sentTwice({ methods: ['OPTIONS'] }, { method: 'OPTIONS' }), 1))
  test('a request with no-store', async () =>
    assert.equal(await sentTwice({}, { headers: { 'cache-control': 'no-store' } }), 2))
  test('a request with a cookie jar of its own: an interceptor inside adds what only its user may see', async () => {
    assert.equal(await sentTwice({}, { cookies: new CookieJar() }), 2)
    assert.equal(await sentTwice({}, { cookies: false }), 1)
  })
  test('an upgrade', async () => assert.equal(await sentTwice({}, { upgrade: 'websocket' }), 2))

  test('a dispatcher with several origins', async () => {
    const origin = scripted(() => FRESH)
    const dispatch = cache()(origin.dispatch, null)
    for (let i = 0; i < 2; i++) {
      const handler = new RecordingHandler()
      dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
      await handler.settled
    }
    assert.equal(origin.received.length, 2)
  })

  test('a BalancedPool', () => {
    const pool = new BalancedPool('http://localhost:1')
    assert.ok(pool.compose(cache()) instanceof BalancedPool)
  })
})

describe('refusals of the dispatcher', () => {
  const client = () => new Client('http://localhost:1').compose(cache())
  const cases: [title: string, opts: object, message: string][] = [
    ['a Buffer in a header list', { headers: [Buffer.from('a'), 'b'] }, 'invalid header key'],
    ['a header list of odd length', { headers: ['a'] }, 'headers array must be even'],
    ['a header that is an object', { headers: { a: {} } }, 'invalid a header'],
    ['a path with a space', { path: '/a b' }, 'invalid request path'],
    ['a query beside a query', { path: '/?a', query: { b: 1 } }, 'Query params cannot be passed'],
  ]
  for (const [title, opts, message] of cases) {
    test(title, async () => {
      await assert.rejects(client().request({ path: '/', method: 'GET', ...opts }), (error: Error) =>
        error.message.startsWith(message),
      )
    })
  }

  test('a handler without a method', () => {
    const errors: string[] = []
    const handler = {
      onRequestStart() {},
      onResponseError: (_: unknown, error: Error) => errors.push(error.message),
    }
    client().dispatch({ path: '/', method: 'GET' }, handler)
    assert.deepEqual(errors, ['invalid onResponseStart method'])
  })

  test('no handler, no options', () => {
    assert.throws(
      () => client().dispatch({ path: '/', method: 'GET' }, null as never),
      /handler must be an object/,
    )
  })
})
