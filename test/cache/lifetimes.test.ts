/** How long responses are fresh: limits, and targeted fields in place of Cache-Control and Expires. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { assertFreshFor, cached, httpDate, installDate } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const CDN: CacheOptions = { targets: ['CDN-Cache-Control'] }

interface Life {
  readonly title: string
  readonly headers: HeaderObject
  readonly options?: CacheOptions
  readonly status?: number
  /** Milliseconds. */
  readonly fresh: number
}

describe('lifetimes', () => {
  const rows: Life[] = [
    {
      title: 'expires in the year 9999 means the longest lifetime',
      headers: { expires: 'Fri, 31 Dec 9999 23:59:59 GMT' },
      fresh: (2 ** 31 - 1) * 1000,
    },
    {
      title: 'max-age beyond the longest lifetime means the longest',
      headers: { 'cache-control': 'max-age=99999999999' },
      fresh: (2 ** 31 - 1) * 1000,
    },
    {
      title: 'a targeted field without a lifetime replaces expires: last-modified decides',
      headers: {
        expires: httpDate(NOW + 60_000),
        'cdn-cache-control': 'public',
        'last-modified': httpDate(NOW - 100_000),
      },
      options: CDN,
      fresh: 10_000,
    },
    {
      title: 'a targeted field without Cache-Control',
      headers: { 'cdn-cache-control': 'max-age=10' },
      options: CDN,
      fresh: 10_000,
    },
    {
      title: 'a tenth of the time since last-modified, of a status that public allows',
      status: 302,
      headers: { 'cache-control': 'public', 'last-modified': httpDate(NOW - 100_000) },
      fresh: 10_000,
    },
    {
      title: 'the first line of age counts',
      headers: { 'cache-control': 'max-age=10', age: ['4', '9'] },
      fresh: 6000,
    },
  ]
  for (const { title, headers, options, status = 200, fresh } of rows) {
    test(`${title}: ${fresh} ms`, async (t) => {
      const clock = installDate(t, NOW)
      const origin = cached({ status, headers, body: 'x' }, options)
      await assertFreshFor(fresh, origin, clock)
    })
  }

  test('expires does not make a status storable beside a targeted field', async (t) => {
    installDate(t, NOW)
    const headers = {
      expires: httpDate(NOW + 60_000),
      etag: '"1"',
      'cdn-cache-control': 'must-revalidate',
    }
    const sent = async (options: CacheOptions): Promise<HeaderObject[]> => {
      const origin = cached({ status: 302, headers }, options)
      await origin.get()
      await origin.get()
      return origin.received.map((request) => request.headers)
    }
    assert.deepEqual(await sent(CDN), [{}, {}], 'a stored one would be confirmed')
    assert.deepEqual(await sent({}), [{}])
  })

  test('a response with no-cache has none, whatever else it says', async (t) => {
    installDate(t, NOW)
    for (const control of ['no-cache', 'no-cache, immutable']) {
      const headers = { 'cache-control': control, 'last-modified': httpDate(NOW - 100_000) }
      const origin = cached({ headers, body: 'x' }, { cacheStatus: 'app', cacheByDefault: 60_000 })
      assert.equal((await origin.get()).headers!['cache-status'], 'app; fwd=miss; ttl=0; stored', control)
    }
  })

  test('one that is used up leaves a response to be confirmed: last-modified', async (t) => {
    installDate(t, NOW)
    const modified = httpDate(NOW - 100_000)
    const origin = cached(({ headers }) =>
      headers['if-modified-since'] === undefined
        ? { headers: { 'cache-control': 'max-age=0', 'last-modified': modified }, body: 'x' }
        : { status: 304 },
    )
    await origin.get()
    assert.equal((await origin.get()).body, 'x')
    assert.deepEqual(
      origin.received.map(({ headers }) => headers['if-modified-since']),
      [undefined, modified],
    )
  })

  test('a response that arrives long after its lifetime is kept to be confirmed', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached(({ headers }) =>
      headers['if-none-match'] === undefined
        ? { headers: { 'cache-control': 'max-age=10', etag: '"1"', age: '999999' }, body: 'x' }
        : { status: 304 },
    )
    await origin.get()
    clock.advance(1000)
    assert.equal((await origin.get()).body, 'x')
    assert.equal(origin.received[1]!.headers['if-none-match'], '"1"')
  })

  test('an age beyond the longest lifetime is shown as that', async (t) => {
    installDate(t, NOW)
    const headers = { 'cache-control': 'max-age=10', etag: '"1"', age: '99999999999' }
    const origin = cached({ headers, body: 'x' })
    await origin.get()
    const hit = await origin.get('/', { 'cache-control': 'max-stale' })
    assert.equal(hit.headers!['age'], '2147483647')
  })
})
