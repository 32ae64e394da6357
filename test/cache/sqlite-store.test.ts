import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { loadSqlite } from '../../src/base/node/lazy-modules.ts'
import { SqliteCacheStore, type SqliteCacheStoreOptions } from '../../src/cache/store/sqlite-store.ts'
import { cacheStores, errors } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import { bodyOf, key, storeErrors, storeSuite, value, write } from './store-suite.ts'
import { cached, changingPage, installDate } from './support.ts'

const skip = loadSqlite() === undefined ? 'this runtime has no node:sqlite' : false

storeSuite(
  'SqliteCacheStore',
  (t) => {
    const store = new SqliteCacheStore()
    t.after(() => store.close())
    return store
  },
  { skip },
)

test('without node:sqlite', { skip: skip ? false : 'this runtime has node:sqlite' }, () => {
  assert.throws(() => new cacheStores.SqliteCacheStore(), errors.NotSupportedError)
})

describe('options of SqliteCacheStore', () => {
  const rows: [options: unknown, message: string][] = [
    [5, 'SqliteCacheStore options must be an object'],
    [{ maxCount: -1 }, 'SqliteCacheStore options.maxCount must be a non-negative integer'],
    [{ maxEntrySize: 1.5 }, 'SqliteCacheStore options.maxEntrySize must be a non-negative integer'],
    [{ maxEntrySize: 2_000_000_001 }, 'SqliteCacheStore options.maxEntrySize must be less than 2gb'],
    [{ compressThreshold: 'x' }, 'SqliteCacheStore options.compressThreshold must be a non-negative integer'],
    [{ location: 5 }, 'SqliteCacheStore options.location must be a string'],
  ]
  for (const [options, message] of rows) {
    test(message, () => {
      assert.throws(() => new SqliteCacheStore(options as SqliteCacheStoreOptions), {
        name: 'TypeError',
        message,
      })
    })
  }
})

function temporary(t: { after(run: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'ventuno-cache-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'cache.db')
}

describe('SqliteCacheStore', { skip }, () => {
  test('size is the number of responses; a file is kept', async (t) => {
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    await write(store, key(), value(), 'x')
    await write(store, key({ path: '/2' }), value(), 'y')
    assert.equal(store.size, 2)
    store.close()
    const again = new SqliteCacheStore({ location })
    t.after(() => again.close())
    assert.equal(await bodyOf(again.get(key({ path: '/2' }))), 'y')
  })

  test('set() takes a string, a Buffer or blocks', async () => {
    const store = new SqliteCacheStore()
    for (const body of ['abc', Buffer.from('abc'), [Buffer.from('ab'), Buffer.from('c')]]) {
      store.set(key(), { ...value(), body })
      assert.equal(await bodyOf(store.get(key())), 'abc')
    }
    store.set(key(), value())
    assert.equal(await bodyOf(store.get(key())), '')
    assert.equal(store.size, 1)
    store.close()
  })

  test('over maxCount: what is past its time goes, else the oldest tenth', (t) => {
    const clock = installDate(t)
    const store = new SqliteCacheStore({ maxCount: 20 })
    for (let i = 0; i < 5; i++)
      store.set(key({ path: `/${i}` }), { ...value({ deleteAt: clock.now + 1 }), body: [] })
    for (let i = 5; i < 20; i++) store.set(key({ path: `/${i}` }), { ...value(), body: [] })
    clock.advance(1)
    store.set(key({ path: '/20' }), { ...value(), body: [] })
    assert.equal(store.size, 16)
    for (let i = 21; i < 26; i++) store.set(key({ path: `/${i}` }), { ...value(), body: [] })
    assert.equal(store.size, 19)
    assert.equal(store.get(key({ path: '/6' })), undefined)
    assert.ok(store.get(key({ path: '/7' })))
    store.close()
  })

  test('text is compressed, and comes back', async () => {
    const store = new SqliteCacheStore({ compressThreshold: 10_000 })
    const text = 'hello '.repeat(1000)
    for (const [type, size] of [
      ['text/html; charset=utf-8', 6000],
      ['application/ld+json', 6000],
      ['image/png', 12_000],
    ] as const) {
      const body = text.repeat(size / 6000)
      store.set(key(), { ...value({ headers: { 'content-type': type } }), body })
      assert.equal(await bodyOf(store.get(key())), body)
    }
    store.set(key(), {
      ...value({ headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' } }),
      body: text,
    })
    assert.equal(await bodyOf(store.get(key())), text)
    store.close()
  })

  test('a body over maxEntrySize is not stored', () => {
    const store = new SqliteCacheStore({ maxEntrySize: 3 })
    store.set(key(), { ...value(), body: 'abcd' })
    assert.equal(store.size, 0)
    store.close()
  })

  test('a database that another connection has locked: nothing is written, reported, and nothing fails', (t) => {
    const errors = storeErrors(t)
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    store.set(key(), { ...value(), body: 'old' })
    store.set(key({ path: '/other' }), { ...value(), body: 'other' })
    const other = new (loadSqlite()!.DatabaseSync)(location)
    other.exec('BEGIN IMMEDIATE')
    store.set(key({ path: '/new' }), { ...value(), body: 'new' })
    store.update(key(), value({ headers: { x: '1' } }), store.get(key())!)
    assert.ok(store.get(key()), 'reading goes on')
    store.delete(key())
    assert.equal(store.get(key()), undefined, 'a miss until it is removed')
    assert.ok(store.get(key({ path: '/other' })))
    assert.equal(store.get(key({ path: '/new' })), undefined)
    store.set(key(), { ...value(), body: 'new' })
    other.exec('ROLLBACK')
    other.close()
    assert.equal(store.get(key()), undefined)
    assert.equal(store.size, 1, 'it is removed with the next use')
    store.set(key(), { ...value(), body: 'new' })
    assert.equal((store.get(key())!.body as Buffer).toString(), 'new')
    assert.deepEqual(errors.map(({ operation }) => operation).slice(0, 3), ['write', 'update', 'delete'])
    store.close()
  })

  test('what was not removed is removed later, without a use of its URL', async (t) => {
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    t.after(() => store.close())
    store.set(key(), { ...value(), body: 'old' })
    const other = new (loadSqlite()!.DatabaseSync)(location)
    other.exec('BEGIN IMMEDIATE')
    store.delete(key())
    other.exec('ROLLBACK')
    other.close()
    await eventually(() => store.size === 0)
  })

  test('after its own POST, nobody gets the old page while a neighbour has the database', async (t) => {
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    t.after(() => store.close())
    const origin = changingPage(store)
    await origin.get()
    const other = new (loadSqlite()!.DatabaseSync)(location)
    other.exec('BEGIN IMMEDIATE')
    await origin.get('/', {}, { method: 'POST' })
    assert.equal((await origin.get()).body, 'new')
    other.exec('ROLLBACK')
    other.close()
    assert.equal((await origin.get()).body, 'new')
  })

  test('the error of a transaction that SQLite has undone by itself is the one that says why', (t) => {
    const store = new SqliteCacheStore()
    t.after(() => store.close())
    store.set(key(), { ...value(), body: 'old' })
    const { prototype } = loadSqlite()!.DatabaseSync as unknown as {
      prototype: { exec(sql: string): void }
    }
    const { exec } = prototype
    t.mock.method(prototype, 'exec', function (this: typeof prototype, sql: string): void {
      exec.call(this, sql === 'COMMIT' ? 'ROLLBACK' : sql)
      if (sql === 'COMMIT') throw new Error('database or disk is full')
    })
    const varied = { ...value({ vary: { a: '1' } }), body: 'new' }
    assert.throws(() => store.set(key({ headers: { a: '1' } }), varied), {
      message: 'database or disk is full',
    })
    t.mock.restoreAll()
    assert.equal((store.get(key())!.body as Buffer).toString(), 'old')
  })

  test('rows past their time go, whatever maxCount is', (t) => {
    const clock = installDate(t)
    const store = new SqliteCacheStore()
    for (let i = 0; i < 210; i++)
      store.set(key({ path: `/${i}` }), { ...value({ deleteAt: clock.now + 1000 }), body: 'x' })
    clock.advance(1000)
    for (let i = 0; i < 2; i++) store.set(key({ path: `/new${i}` }), { ...value(), body: 'x' })
    assert.equal(store.size, 2)
    store.close()
  })

  test('the body of a result is one Buffer; etag and vary are always there', () => {
    const store = new SqliteCacheStore()
    store.set(key(), { ...value(), body: [Buffer.from('a'), Buffer.from('b')] })
    const found = store.get(key())!
    assert.ok(Buffer.isBuffer(found.body))
    assert.deepEqual([Object.hasOwn(found, 'etag'), Object.hasOwn(found, 'vary')], [true, true])
    store.close()
  })

  test('a new file is for its owner alone', { skip: process.platform === 'win32' && 'no modes' }, (t) => {
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    store.set(key(), { ...value(), body: 'x' })
    for (const name of [location, `${location}-wal`, `${location}-shm`]) {
      assert.equal(statSync(name).mode & 0o777, 0o600, name)
    }
    store.close()
  })

  test('an error of opening names the path, and a locked database opens at once', (t) => {
    const location = temporary(t)
    assert.throws(() => new SqliteCacheStore({ location: `${location}/no/folder` }), /no\/folder/)
    writeFileSync(`${location}.txt`, 'this is not a database, and long enough to see that at once'.repeat(20))
    assert.throws(() => new SqliteCacheStore({ location: `${location}.txt` }), /cache\.db\.txt/)
    new SqliteCacheStore({ location }).close()
    const other = new (loadSqlite()!.DatabaseSync)(location)
    other.exec('BEGIN IMMEDIATE')
    new SqliteCacheStore({ location }).close()
    other.exec('ROLLBACK')
    other.close()
  })

  test('partitions that differ in lone surrogates share nothing', async (t) => {
    const store = new SqliteCacheStore()
    t.after(() => store.close())
    const origin = cached(
      { headers: { 'cache-control': 'max-age=60' } },
      { store, partition: (opts) => (opts as { tenant?: string }).tenant ?? '' },
    )
    const tenants = ['\ud800', '\ud801', '\ufffd', 'a\0b', 'a\0c', 'a']
    for (const tenant of tenants) await origin.get('/', {}, { tenant } as object)
    assert.equal(origin.received.length, tenants.length)
    for (const tenant of tenants) await origin.get('/', {}, { tenant } as object)
    assert.equal(origin.received.length, tenants.length)
  })

  test('rows that cannot be read are misses', (t) => {
    const location = temporary(t)
    const store = new SqliteCacheStore({ location })
    store.set(key(), { ...value(), body: 'x' })
    const other = new (loadSqlite()!.DatabaseSync)(location)
    for (const [column, text] of [
      ['encoding', 'zstd'],
      ['encoding', 'rot13'],
      ['head', '{'],
      ['head', '5'],
      ['head', '{}'],
      ['head', '{"statusCode":0}'],
    ]) {
      store.set(key(), { ...value(), body: 'x' })
      other.exec(`UPDATE ventunoCacheV1 SET ${column} = '${text}'`)
      assert.equal(store.get(key()), undefined, `${column} ${text}`)
      assert.equal(store.size, 0, 'and are removed')
    }
    other.close()
    store.close()
  })

  test('security 7: a process that is killed while it writes leaves nothing half', async (t) => {
    const location = temporary(t)
    const script = `
      import { SqliteCacheStore } from ${JSON.stringify(sourceUrl('src/cache/store/sqlite-store.ts'))}
      const store = new SqliteCacheStore({ location: ${JSON.stringify(location)} })
      const head = { statusCode: 200, statusMessage: '', headers: {}, cacheControlDirectives: {}, cachedAt: 0, staleAt: 0, deleteAt: 2 ** 50 }
      for (let i = 0; ; i++) {
        const body = Buffer.alloc(100_000, i % 256)
        for (let n = 0; n < 5; n++) store.set({ origin: 'http://h', method: 'GET', path: '/' + n }, { ...head, etag: '"' + (i % 256) + '"', body })
        if (i === 3) console.log('writing')
      }`
    const store = new SqliteCacheStore({ location })
    t.after(() => store.close())
    const writers = [0, 1].map(() =>
      spawn(process.execPath, [...sourceLoader, '--input-type=module', '-e', script]),
    )
    t.after(() => writers.map((writer) => writer.kill('SIGKILL')))
    await Promise.all(writers.map((writer) => once(writer.stdout, 'data')))
    const check = (): number => {
      let found = 0
      for (let n = 0; n < 5; n++) {
        const entry = store.get({ origin: 'http://h', method: 'GET', path: `/${n}` })
        if (entry === undefined) continue
        found++
        const body = entry.body as Buffer
        assert.equal(body.length, 100_000)
        assert.ok(body.every((byte) => `"${byte}"` === entry.etag))
      }
      return found
    }
    for (let i = 0; i < 20; i++) check()
    for (const writer of writers) writer.kill('SIGKILL')
    await Promise.all(writers.map((writer) => once(writer, 'exit')))
    assert.equal(check(), 5)
  })
})
