/** Which answers of the origin are about the stored response: ETags, Vary, and what HEAD tells. */
import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { CacheStore } from '../../src/cache/store/cache-store.ts'
import { interceptors } from '../../src/index.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { value } from './store-suite.ts'
import { type Answer, cached, httpDate, installDate, ORIGIN, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const MODIFIED = httpDate(NOW - 60_000)

describe('a 304', () => {
  const rows: [stored: string, received: string, confirms: boolean][] = [
    ['"1"', '"1"', true],
    ['"1"', 'W/"1"', true],
    ['W/"1"', '"1"', true],
    ['W/"1"', 'W/"1"', true],
    ['W/"1"', 'W/"2"', false],
    ['W/"1"', '"2"', false],
    ['"1"', 'W/"2"', false],
  ]
  for (const [stored, received, confirms] of rows) {
    test(`with ${received} ${confirms ? 'confirms' : 'does not confirm'} ${stored}`, async (t) => {
      const clock = installDate(t, NOW)
      let version = 0
      const origin = cached(({ headers }) =>
        headers['if-none-match'] === undefined
          ? { headers: { 'cache-control': 'max-age=10', etag: stored }, body: `version ${++version}` }
          : { status: 304, headers: { etag: received } },
      )
      await origin.get()
      clock.advance(11_000)
      assert.equal((await origin.get()).body, confirms ? 'version 1' : 'version 2')
      assert.equal(origin.received.length, confirms ? 2 : 3)
    })
  }

  test('may name the fields that the stored response varies by', async (t) => {
    const clock = installDate(t, NOW)
    const vary = 'Accept, X-Tenant'
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined
        ? { headers: { 'cache-control': 'max-age=10', etag: '"1"', vary }, body: 'x' }
        : { status: 304, headers: { vary: 'accept' } },
    )
    const request = { accept: 'a' }
    await origin.get('/', request)
    clock.advance(11_000)
    assert.equal((await origin.get('/', request)).body, 'x')
    assert.equal(origin.received.length, 2)
    clock.advance(5000)
    await origin.get('/', request)
    assert.equal(origin.received.length, 2, 'and is refreshed')
    await origin.get('/', { ...request, 'x-tenant': 'b' })
    assert.equal(origin.received.length, 3, 'for the same requests as before')
  })
})

describe('a 304 that confirms', () => {
  const stored: Answer = { headers: { 'cache-control': 'max-age=10', etag: '"1"' }, body: 'x' }

  test('counts although the connection fails before its end', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined ? stored : { status: 304, error: new Error('cut') },
    )
    await origin.get()
    clock.advance(11_000)
    const { body, error } = await origin.get()
    assert.deepEqual([body, error], ['x', undefined])
    await origin.get()
    assert.equal(origin.received.length, 2, 'and refreshes what is stored')
  })

  test('with a repeated date leaves nothing stored', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined
        ? stored
        : { status: 304, headers: { date: [httpDate(NOW), httpDate(NOW)] } },
    )
    await origin.get()
    clock.advance(11_000)
    assert.equal((await origin.get()).body, 'x')
    await origin.get()
    assert.deepEqual(
      origin.received.map(({ headers }) => headers['if-none-match']),
      [undefined, '"1"', undefined],
    )
  })

  test('for a user with credentials leaves it to the others', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined ? stored : { status: 304 },
    )
    await origin.get()
    clock.advance(11_000)
    assert.equal((await origin.get('/', { authorization: 'a' })).body, 'x')
    assert.equal((await origin.get()).body, 'x')
    assert.equal(origin.received.length, 2)
  })
})

describe('a confirmed body that is a stream', () => {
  for (const [maxEntrySize, written] of [
    [5, 1],
    [4, 0],
  ] as const) {
    test(`of 5 bytes, with a limit of ${maxEntrySize}, is written again ${written} times`, async (t) => {
      const clock = installDate(t, NOW)
      let writes = 0
      const store: CacheStore = {
        maxEntrySize,
        get: () => ({
          ...value({ etag: '"1"', staleAt: clock.now - 1 }),
          body: Readable.from(['hel', 'lo']),
        }),
        createWriteStream: () => {
          writes++
          return new PassThrough().resume()
        },
        delete() {},
      }
      const origin = cached({ status: 304, headers: { 'cache-control': 'max-age=10' } }, { store })
      assert.equal((await origin.get()).body, 'hello')
      assert.equal(writes, written)
    })
  }
})

describe('the conditions of a caller', () => {
  const rows: [title: string, validator: HeaderObject, request: HeaderObject, sent: HeaderObject][] = [
    [
      'if-none-match, where only last-modified is stored',
      { 'last-modified': MODIFIED },
      { 'if-none-match': '"7"' },
      { 'if-modified-since': MODIFIED },
    ],
    [
      'if-modified-since, where only an ETag is stored',
      { etag: '"1"' },
      { 'if-modified-since': httpDate(NOW - 5000) },
      { 'if-none-match': '"1"' },
    ],
  ]
  for (const [title, validator, request, sent] of rows) {
    // A 304 to the caller's own condition would confirm a response that the caller has, and not the stored one.
    test(`are not those of the cache: ${title}`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached({ headers: { 'cache-control': 'max-age=10', ...validator }, body: 'x' })
      await origin.get()
      clock.advance(11_000)
      await origin.get('/', request)
      assert.deepEqual(origin.received[1]!.headers, sent)
    })
  }

  test('reach the origin if nothing can be confirmed, and its 304 the caller', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined
        ? { headers: { 'cache-control': 'max-age=10' }, body: 'x' }
        : { status: 304, headers: { etag: '"7"' } },
    )
    await origin.get()
    clock.advance(11_000)
    const { status, body, headers } = await origin.get('/', { 'if-none-match': '"7"' })
    assert.deepEqual([status, body, headers!['etag']], [304, '', '"7"'])
    await origin.get()
    assert.equal(origin.received.length, 3, 'the stored response is not taken for the one of the 304')
  })
})

describe('a response to HEAD', () => {
  const HEAD = { method: 'HEAD' }
  const FRESH = { 'cache-control': 'max-age=10' }

  /** How many requests a GET causes after a HEAD in the middle of the lifetime, at 5 s and at 11 s. */
  async function after(
    t: Parameters<typeof installDate>[0],
    stored: Answer,
    head: Answer,
  ): Promise<{ inTime: number; later: number }> {
    const clock = installDate(t, NOW)
    const origin = cached(
      ({ method }) =>
        method === 'HEAD' ? head : { ...stored, headers: { ...FRESH, ...stored.headers }, body: 'hello' },
      { methods: ['GET', 'HEAD'] },
    )
    await origin.get()
    clock.advance(5000)
    await origin.get('/', { 'cache-control': 'no-cache' }, HEAD)
    const before = origin.received.length
    await origin.get()
    const inTime = origin.received.length - before
    clock.advance(6000)
    await origin.get()
    return { inTime, later: origin.received.length - before - inTime }
  }

  const rows: [title: string, stored: Answer, head: Answer, later: 'fresh' | 'stale'][] = [
    ['without validators neither refreshes nor drops it', {}, { headers: FRESH }, 'stale'],
    [
      'without the validator that is stored neither refreshes nor drops it',
      { headers: { 'last-modified': MODIFIED } },
      { headers: FRESH },
      'stale',
    ],
    [
      'without a length refreshes the one with the same ETag',
      { headers: { etag: '"1"', 'content-length': '5' } },
      { headers: { ...FRESH, etag: '"1"' } },
      'fresh',
    ],
    [
      'with a weak form of the ETag refreshes it',
      { headers: { etag: '"1"' } },
      { headers: { ...FRESH, etag: 'W/"1"' } },
      'fresh',
    ],
    [
      'with the same last-modified refreshes it',
      { headers: { 'last-modified': MODIFIED } },
      { headers: { ...FRESH, 'last-modified': MODIFIED } },
      'fresh',
    ],
    [
      'that is an error does not refresh it',
      { headers: { etag: '"1"' } },
      { status: 500, headers: { ...FRESH, etag: '"1"' } },
      'stale',
    ],
    [
      'does not refresh an error',
      { status: 404, headers: { etag: '"1"' } },
      { headers: { ...FRESH, etag: '"1"' } },
      'stale',
    ],
  ]
  for (const [title, stored, head, later] of rows) {
    test(title, async (t) => {
      assert.deepEqual(await after(t, stored, head), { inTime: 0, later: later === 'fresh' ? 0 : 1 })
    })
  }
})

describe('a stored body that is a stream', () => {
  function stale(): { store: CacheStore; body: PassThrough } {
    const body = new PassThrough()
    const entry = { ...value({ etag: '"1"', staleAt: Date.now() - 1 }), body }
    return { store: { get: () => entry, createWriteStream: () => undefined, delete() {} }, body }
  }

  for (const [title, answer] of [
    ['another response takes its place', { body: 'new' }],
    ['the request fails', { error: new Error('lost') }],
    ['the caller has it already', { status: 304, headers: { etag: '"1"' } }],
  ] as [string, Answer][]) {
    test(`is given up if ${title}`, async (t) => {
      installDate(t, NOW)
      const { store, body } = stale()
      await cached(() => answer, { store }).get('/', { 'if-none-match': '"1"' })
      assert.equal(body.destroyed, true)
    })
  }

  test('is given up if the caller aborts before the end of the 304, who gets no response', async (t) => {
    installDate(t, NOW)
    const { store, body } = stale()
    const end = new Promise(() => {})
    const origin = cached(() => ({ status: 304, headers: { etag: '"1"' }, end }), { store })
    const handler = new RecordingHandler()
    origin.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
    await settle()
    handler.controller!.abort(new Error('enough'))
    await handler.settled
    assert.deepEqual(handler.story, ['onRequestStart', 'onResponseError'])
    assert.equal(body.destroyed, true)
  })
})

describe('a 304 whose end does not come', () => {
  for (const [etag, body, requests] of [
    ['"1"', 'stored', 2],
    ['"2"', 'new', 3],
  ] as const) {
    test(`is given up after a second: ${etag}`, async (t) => {
      const clock = FakeClock.install(t)
      const base = new ScriptedDispatcher()
      const dispatcher = base.compose(interceptors.cache())
      const get = (): RecordingHandler => {
        const handler = new RecordingHandler()
        dispatcher.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
        return handler
      }
      const first = get()
      base.last.start().head(200, { 'cache-control': 'no-cache', etag: '"1"' }).data('stored').end()
      await first.settled
      const handler = get()
      const conditional = base.last.failOnAbort().start().head(304, { etag })
      await clock.advance(999)
      assert.equal(conditional.aborts.length, 0)
      await clock.advance(1)
      assert.equal(conditional.aborts.length, 1)
      assert.equal(base.exchanges.length, requests)
      if (requests === 3) base.last.start().head(200, {}).data('new').end()
      await handler.settled
      assert.deepEqual([handler.body, handler.errors], [body, []])
      assert.equal(clock.active.size, 0)
    })
  }
})
