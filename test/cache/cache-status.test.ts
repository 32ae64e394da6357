/** `cacheStatus`: Cache-Status on every response. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CacheOptions } from '../../src/cache/options.ts'
import { cacheName } from '../../src/cache/rules/cache-status.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { type Answer, cached, installDate, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const FRESH: Answer = { headers: { 'cache-control': 'max-age=60', etag: '"1"' }, body: 'x' }

function named(
  answer: Answer | Parameters<typeof cached>[0],
  options: CacheOptions = {},
): ReturnType<typeof cached> {
  return cached(answer as Parameters<typeof cached>[0], { cacheStatus: 'ventuno', ...options })
}

async function status(
  origin: ReturnType<typeof cached>,
  ...args: Parameters<typeof origin.get>
): Promise<unknown> {
  const handler = await origin.get(...args)
  const raw = rawList(handler.controller!.rawHeaders)!.map(String)
  assert.equal(raw[raw.indexOf('cache-status') + 1], handler.headers!['cache-status'])
  return handler.headers!['cache-status']
}

test('a miss, and a hit', async (t) => {
  const clock = installDate(t, NOW)
  const origin = named(FRESH)
  assert.equal(await status(origin), 'ventuno; fwd=miss; ttl=60; stored')
  clock.advance(10_500)
  assert.equal(await status(origin), 'ventuno; hit; ttl=49')
})

test('a response that is not stored says why', async (t) => {
  installDate(t, NOW)
  const rows: [Answer, string, Record<string, string>?][] = [
    [{ headers: { 'cache-control': 'no-store' } }, 'no-store'],
    [{ headers: { 'cache-control': 'private' } }, 'private'],
    [{ headers: { 'cache-control': 'max-age=1', 'set-cookie': 'a=b' } }, 'set-cookie'],
    [{ headers: { 'cache-control': 'max-age=1', vary: '*' } }, 'vary'],
    [{ headers: { 'cache-control': 'max-age=1' } }, 'authorization', { authorization: 'x' }],
    [{}, 'no-lifetime'],
    [{ status: 302 }, 'no-lifetime'],
    [{ headers: { 'cache-control': 'public' } }, 'no-lifetime'],
    [{ status: 206 }, 'status'],
    [{ headers: { 'cache-control': 'max-age=1', date: ['x', 'x'] } }, 'date'],
    [{ headers: { 'cache-control': 'max-age=1, a b' } }, 'malformed'],
    [{ headers: { 'cache-control': 'max-age=0' } }, 'expired'],
    [{ headers: { 'cache-control': 'max-age=1', 'content-length': '9999999999' } }, 'size'],
  ]
  for (const [answer, detail, request] of rows) {
    assert.equal(await status(named(answer), '/', request), `ventuno; fwd=miss; detail=${detail}`)
  }
})

test('a revalidation', async (t) => {
  const clock = installDate(t, NOW)
  const origin = named(({ headers }: { headers: Record<string, unknown> }) =>
    headers['if-none-match'] ? { status: 304 } : FRESH,
  )
  await origin.get()
  assert.equal(
    await status(origin, '/', { 'cache-control': 'no-cache' }),
    'ventuno; fwd=request; fwd-status=304; ttl=60; stored',
  )
  clock.advance(60_000)
  assert.equal(await status(origin), 'ventuno; fwd=stale; fwd-status=304; ttl=60; stored')
})

test('a stale response instead of a failure', async (t) => {
  const clock = installDate(t, NOW)
  let fails = false
  const origin = named(() => (fails ? { status: 503 } : FRESH), { staleIfError: 60_000 })
  await origin.get()
  clock.advance(61_000)
  fails = true
  assert.equal(await status(origin), 'ventuno; fwd=stale; fwd-status=503')
})

test('requests that the cache leaves alone, and unsafe ones', async (t) => {
  installDate(t, NOW)
  const origin = named(FRESH)
  assert.equal(await status(origin, '/', { 'cache-control': 'no-store' }), 'ventuno; fwd=bypass')
  assert.equal(await status(origin, '/', {}, { method: 'HEAD' }), 'ventuno; fwd=bypass')
  assert.equal(await status(origin, '/', {}, { method: 'POST' }), 'ventuno; fwd=method')
  assert.equal(await status(origin, '/', { 'cache-control': 'only-if-cached' }), 'ventuno; fwd=miss')
})

test('collapsed requests', async (t) => {
  installDate(t, NOW)
  for (const more of [{}, { 'content-length': '1' }]) {
    const origin = named({ ...FRESH, headers: { ...FRESH.headers, ...more } }, { collapse: true })
    const [first, second] = await Promise.all([status(origin), status(origin)])
    assert.deepEqual([first, second], ['ventuno; fwd=miss; ttl=60; stored', 'ventuno; fwd=miss; collapsed'])
    await settle()
  }
})

test('caches nearer to the origin stay first', async (t) => {
  installDate(t, NOW)
  const origin = named({
    ...FRESH,
    headers: { ...FRESH.headers, 'cache-status': ['a; hit', 'b; fwd=stale'] },
  })
  assert.equal(await status(origin), 'a; hit, b; fwd=stale, ventuno; fwd=miss; ttl=60; stored')
  assert.equal(await status(origin), 'a; hit, b; fwd=stale, ventuno; hit; ttl=60')
})

test('without the option there is no field', async () => {
  assert.equal((await cached(FRESH).get()).headers!['cache-status'], undefined)
})

test('a name that is not a token is quoted', () => {
  assert.equal(cacheName('my cache "1"'), '"my cache \\"1\\""')
  assert.equal(cacheName('a.b/c'), 'a.b/c')
  assert.equal(cacheName('ü'), null)
})
