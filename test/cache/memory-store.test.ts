import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, test } from 'node:test'
import { MemoryCacheStore, type MemoryCacheStoreOptions } from '../../src/cache/store/memory-store.ts'
import { cacheStores } from '../../src/index.ts'
import { storeSuite, value } from './store-suite.ts'
import { installDate } from './support.ts'

const key = (path = '/') => ({ origin: 'http://h', method: 'GET', path, headers: {} })

storeSuite('MemoryCacheStore', () => new MemoryCacheStore())

describe('MemoryCacheStore', () => {
  test('is an EventEmitter, exported as cacheStores.MemoryCacheStore', () => {
    assert.ok(new cacheStores.MemoryCacheStore() instanceof EventEmitter)
  })

  for (const name of ['maxCount', 'maxSize', 'maxEntrySize']) {
    for (const wrong of [-1, 1.5, '1', Number.NaN, null]) {
      test(`${name}: ${wrong}`, () => {
        assert.throws(() => new MemoryCacheStore({ [name]: wrong } as MemoryCacheStoreOptions), {
          name: 'TypeError',
          message: `MemoryCacheStore options.${name} must be a non-negative integer`,
        })
      })
    }
  }

  test('options that are no object', () => {
    for (const wrong of [null, 5, 'x']) {
      assert.throws(() => new MemoryCacheStore(wrong as MemoryCacheStoreOptions), {
        message: 'MemoryCacheStore options must be an object',
      })
    }
  })

  test('size counts bodies and headers; delete, replacement and clear take it back', () => {
    const store = new MemoryCacheStore()
    store.set(key(), { ...value(), body: [Buffer.alloc(1000)] })
    const one = store.size
    assert.ok(one > 1000 && one < 2000, `${one}`)
    store.set(key(), { ...value(), body: [Buffer.alloc(1000)] })
    assert.equal(store.size, one)
    store.set(key(), { ...value({ headers: { x: 'y'.repeat(500) } }), body: [Buffer.alloc(1000)] })
    assert.ok(store.size >= one + 400)
    store.update(key(), value(), store.get(key())!)
    assert.equal(store.size, one)
    store.set(key('/b'), { ...value(), body: [] })
    store.delete(key())
    assert.ok(store.size > 0)
    store.clear()
    assert.equal(store.size, 0)
    assert.equal(store.get(key('/b')), undefined)
  })

  test('over maxCount: half is left, the least recently used go, the new one stays', () => {
    const store = new MemoryCacheStore({ maxCount: 4 })
    const events: unknown[] = []
    store.on('maxSizeExceeded', (event) => events.push(event))
    for (let i = 0; i < 4; i++) store.set(key(`/${i}`), { ...value(), body: [] })
    assert.equal(store.isFull(), true)
    assert.deepEqual(events, [])
    store.get(key('/0'))
    const { size } = store
    store.set(key('/4'), { ...value(), body: [] })
    assert.deepEqual(events, [{ size: (size / 4) * 5, maxSize: 104_857_600, count: 5, maxCount: 4 }])
    assert.deepEqual(
      [0, 1, 2, 3, 4].filter((i) => store.get(key(`/${i}`)) !== undefined),
      [0, 4],
    )
    assert.equal(store.isFull(), false)
  })

  test('by default: 1024 responses, 100 MiB, 5 MiB for one', () => {
    const store = new MemoryCacheStore()
    const events: { maxSize: number; maxCount: number; count: number }[] = []
    store.on('maxSizeExceeded', (event) => events.push(event))
    for (let i = 0; i < 1024; i++) store.set(key(`/${i}`), { ...value(), body: [] })
    assert.deepEqual([events, store.isFull(), store.maxEntrySize], [[], true, 5_242_880])
    store.set(key('/one more'), { ...value(), body: [] })
    const { maxSize, maxCount, count } = events[0]!
    assert.deepEqual([events.length, maxSize, maxCount, count], [1, 104_857_600, 1024, 1025])
  })

  test('over maxSize', () => {
    const store = new MemoryCacheStore({ maxSize: 10_000 })
    let exceeded = 0
    store.on('maxSizeExceeded', () => exceeded++)
    for (let i = 0; i < 5; i++) store.set(key(`/${i}`), { ...value(), body: [Buffer.alloc(2000)] })
    assert.equal(exceeded, 1)
    assert.ok(store.size <= 5000)
    assert.ok(store.get(key('/4')))
  })

  describe('variants of one URL', () => {
    const variant = (a: number) => ({ ...key(), headers: { a: `${a}` } })
    const put = (store: MemoryCacheStore, a: number, size = 0): void =>
      store.set(variant(a), { ...value({ vary: { a: `${a}` } }), body: [Buffer.alloc(size)] })
    const kept = (store: MemoryCacheStore): number[] =>
      [0, 1, 2, 3, 4, 5].filter((a) => store.get(variant(a)) !== undefined)

    test('over maxCount: half is left, the oldest go, the new one stays', () => {
      const store = new MemoryCacheStore({ maxCount: 4 })
      for (let a = 0; a < 5; a++) put(store, a)
      assert.deepEqual(kept(store), [3, 4])
      const one = new MemoryCacheStore({ maxCount: 1 })
      for (let a = 0; a < 5; a++) put(one, a)
      assert.deepEqual(kept(one), [4])
    })

    test('over maxSize: also if the new one alone is more than half', () => {
      const store = new MemoryCacheStore({ maxSize: 10_000 })
      let exceeded = 0
      store.on('maxSizeExceeded', () => exceeded++)
      for (let a = 0; a < 5; a++) put(store, a, 8000)
      assert.deepEqual(kept(store), [4])
      assert.ok(store.size <= 10_000)
      assert.equal(exceeded, 4)
    })

    test('other URLs go first: they were used less recently', () => {
      const store = new MemoryCacheStore({ maxCount: 4 })
      put(store, 0)
      store.set(key('/b'), { ...value(), body: [] })
      store.set(key('/c'), { ...value(), body: [] })
      put(store, 1)
      put(store, 2)
      assert.deepEqual(kept(store), [1, 2])
      assert.equal(store.get(key('/c')), undefined)
    })
  })

  test('what is larger than the limits is not stored', () => {
    const store = new MemoryCacheStore({ maxEntrySize: 10 })
    store.set(key(), { ...value(), body: [Buffer.alloc(11)] })
    assert.equal(store.get(key()), undefined)
    const none = new MemoryCacheStore({ maxCount: 0 })
    none.set(key(), { ...value(), body: [] })
    assert.equal(none.size, 0)
    const small = new MemoryCacheStore({ maxSize: 10 })
    small.set(key(), { ...value(), body: [] })
    assert.equal(small.size, 0)
  })

  test('a write stream over maxEntrySize stores nothing, without an error', async () => {
    const store = new MemoryCacheStore({ maxEntrySize: 10 })
    const stream = store.createWriteStream(key(), value())!
    stream.write('x'.repeat(8))
    stream.end('x'.repeat(8))
    await once(stream, 'finish')
    assert.equal(store.get(key()), undefined)
  })

  test('a million small pieces are few blocks', async () => {
    const store = new MemoryCacheStore()
    const stream = store.createWriteStream(key(), value())!
    for (let i = 0; i < 100_000; i++) stream.write('x')
    stream.end()
    await once(stream, 'finish')
    const { body } = store.get(key())!
    assert.ok((body as Buffer[]).length < 5)
    assert.equal(Buffer.concat(body as Buffer[]).length, 100_000)
  })

  test('what is past its time is forgotten', (t) => {
    const clock = installDate(t)
    const store = new MemoryCacheStore()
    store.set(key(), { ...value({ deleteAt: clock.now + 10 }), body: [] })
    clock.advance(10)
    assert.equal(store.get(key()), undefined)
    assert.equal(store.size, 0)
  })

  test('100,000 URLs: memory is bounded', () => {
    const store = new MemoryCacheStore({ maxSize: 1_000_000 })
    for (let i = 0; i < 100_000; i++) store.set(key(`/?q=${i}`), { ...value(), body: [] })
    assert.ok(store.size <= 1_000_000)
  })
})

test('a response that alone exceeds maxSize is announced, and not kept', () => {
  const store = new MemoryCacheStore({ maxSize: 1000 })
  const messages: unknown[] = []
  store.on('maxSizeExceeded', (message) => messages.push(message))
  store.set(key(), { ...value(), body: [Buffer.alloc(2000)] })
  assert.equal(store.size, 0)
  assert.equal(messages.length, 1)
  const { size, ...rest } = messages[0] as { size: number }
  assert.ok(size > 2000)
  assert.deepEqual(rest, { maxSize: 1000, count: 1, maxCount: 1024 })
})
