/** What an unsafe request does to responses that are on their way, and to the URLs that its response names. */
import assert from 'node:assert/strict'
import { Readable, type Writable } from 'node:stream'
import { describe, test } from 'node:test'
import type { CacheGetResult, CacheKey, CacheStore, CacheValue } from '../../src/cache/store/cache-store.ts'
import { MemoryCacheStore } from '../../src/cache/store/memory-store.ts'
import { deferred } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Answer, type CachedOrigin, cached, installDate, ORIGIN, settle } from './support.ts'

const GET = { origin: ORIGIN, path: '/', method: 'GET' }
const POST = { method: 'POST' }

/** A store that is written while a body arrives. */
class Streaming extends MemoryCacheStore {
  override createWriteStream(key: CacheKey, value: CacheValue): Writable | undefined {
    return super.createWriteStream(key, value)
  }
}

/** A store that cannot change the head of a response alone, and gives bodies in this form. */
function rewritten(form: (body: readonly Buffer[]) => CacheGetResult['body']): CacheStore {
  const inner = new MemoryCacheStore()
  return {
    get(key) {
      const entry = inner.get(key)
      return entry && { ...entry, body: form(entry.body as readonly Buffer[]) }
    },
    createWriteStream: (key, value) => inner.createWriteStream(key, value),
    delete: (key) => inner.delete(key),
  }
}

/** Each POST makes the next version. The first one is confirmed as `confirmation` says. */
function versions(confirmation: Answer, store: CacheStore): CachedOrigin {
  let version = 1
  return cached(
    ({ method, headers }) => {
      if (method === 'POST') {
        version++
        return { status: 200 }
      }
      const fresh = { 'cache-control': 'max-age=10', etag: `"${version}"` }
      return headers['if-none-match'] === '"1"' && version === 1
        ? { ...confirmation, status: 304, headers: fresh }
        : { headers: fresh, body: `version ${version}` }
    },
    { store },
  )
}

describe('an invalidation', () => {
  test('ends a write in progress to a store that is written while the body arrives', async (t) => {
    installDate(t)
    let version = 0
    const origin = cached(
      ({ method }) =>
        method === 'POST'
          ? { status: 200 }
          : { headers: { 'cache-control': 'max-age=60' }, body: [`version `, `${++version}`] },
      { store: new Streaming() },
    )
    const early = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    origin.dispatch(GET, early)
    await settle()
    await origin.get('/', {}, POST)
    early.controller!.resume()
    assert.equal((await early.settled).body, 'version 1', 'its caller gets all of it')
    await settle()
    assert.equal((await origin.get()).body, 'version 2')
    await settle()
    assert.equal((await origin.get()).body, 'version 2', 'which is stored')
    assert.equal(origin.received.length, 3)
  })

  test('a 304 that arrives after it confirms nothing', async (t) => {
    const clock = installDate(t)
    let confirm: (answer: Answer) => void = () => {}
    let version = 1
    const origin = cached(({ method, headers }) => {
      if (method === 'POST') return { status: 200 }
      if (headers['if-none-match'] !== undefined)
        return new Promise<Answer>((resolve) => {
          confirm = resolve
        })
      return {
        headers: { 'cache-control': 'max-age=10', etag: `"${version}"` },
        body: `version ${version}`,
      }
    })
    await origin.get()
    clock.advance(11_000)
    const waiting = origin.get()
    await settle()
    await origin.get('/', {}, POST)
    version = 2
    confirm({ status: 304, headers: { etag: '"1"' } })
    const { body, story } = await waiting
    assert.equal(body, 'version 2')
    assert.deepEqual(story, ['onRequestStart', 'onResponseStart 200', 'onResponseData', 'onResponseEnd'])
    assert.deepEqual(
      origin.received.map(({ method, headers }) => [method, headers['if-none-match']]),
      [
        ['GET', undefined],
        ['GET', '"1"'],
        ['POST', undefined],
        ['GET', undefined],
      ],
    )
  })

  for (const [title, store] of [
    ['in memory', rewritten((body) => body)],
    ['that is a stream', rewritten((body) => Readable.from(body))],
  ] as const) {
    test(`before the end of a 304: the response is not stored again (a body ${title})`, async (t) => {
      const clock = installDate(t)
      const end = deferred()
      const origin = versions({ end: end.promise }, store)
      await origin.get()
      clock.advance(11_000)
      const waiting = origin.get()
      await settle()
      await origin.get('/', {}, POST)
      end.resolve()
      assert.equal((await waiting).body, 'version 1', 'asked for before the change')
      await settle()
      assert.equal((await origin.get()).body, 'version 2')
    })
  }

  test('while a confirmed response is read: it is not stored again', async (t) => {
    const clock = installDate(t)
    const origin = versions(
      {},
      rewritten((body) => Readable.from(body)),
    )
    await origin.get()
    clock.advance(11_000)
    const reader = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    origin.dispatch(GET, reader)
    await settle()
    await origin.get('/', {}, POST)
    reader.controller!.resume()
    assert.equal((await reader.settled).body, 'version 1')
    await settle()
    assert.equal((await origin.get()).body, 'version 2')
  })

  test('a confirmed response that is read without one is stored again', async (t) => {
    const clock = installDate(t)
    const origin = versions(
      {},
      rewritten((body) => Readable.from(body)),
    )
    await origin.get()
    clock.advance(11_000)
    assert.equal((await origin.get()).body, 'version 1')
    await settle()
    assert.equal((await origin.get()).body, 'version 1')
    assert.equal(origin.received.length, 2)
  })

  test('does not keep later requests apart', async (t) => {
    installDate(t)
    const answers: ((answer: Answer) => void)[] = []
    const origin = cached(
      ({ method }) =>
        method === 'POST' ? { status: 200 } : new Promise<Answer>((resolve) => answers.push(resolve)),
      { collapse: true },
    )
    const early = origin.get()
    await settle()
    await origin.get('/', {}, POST)
    answers[0]!({ headers: { 'cache-control': 'max-age=60' }, body: 'older' })
    assert.equal((await early).body, 'older')
    const later = [origin.get(), origin.get()]
    await settle()
    assert.equal(origin.received.length, 3, 'one request for both')
    answers[1]!({ headers: { 'cache-control': 'max-age=60' }, body: 'newer' })
    for (const { body } of await Promise.all(later)) assert.equal(body, 'newer')
  })

  for (const name of ['location', 'content-location']) {
    test(`${name} with a query removes that URL, and not the one without`, async (t) => {
      installDate(t)
      const origin = cached(({ method }) =>
        method === 'POST'
          ? { status: 201, headers: { [name]: '/item?id=1' } }
          : { headers: { 'cache-control': 'max-age=60' }, body: 'x' },
      )
      for (const path of ['/item?id=1', '/item']) await origin.get(path)
      await origin.get('/', {}, POST)
      await origin.get('/item')
      assert.equal(origin.received.length, 3)
      await origin.get('/item?id=1')
      assert.equal(origin.received.length, 4)
    })

    test(`${name} removes what the partition has`, async (t) => {
      installDate(t)
      const origin = cached(
        ({ method }) =>
          method === 'POST'
            ? { status: 201, headers: { [name]: `${ORIGIN}/item` } }
            : { headers: { 'cache-control': 'max-age=60' }, body: 'x' },
        { partition: ({ headers }) => (headers as Record<string, string>)['tenant']! },
      )
      for (const tenant of ['a', 'b']) await origin.get('/item', { tenant })
      await origin.get('/', { tenant: 'a' }, POST)
      await origin.get('/item', { tenant: 'b' })
      assert.equal(origin.received.length, 3)
      await origin.get('/item', { tenant: 'a' })
      assert.equal(origin.received.length, 4)
    })
  }
})
