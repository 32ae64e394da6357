/** What every store of the library does. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { finished } from 'node:stream/promises'
import { describe, test } from 'node:test'
import type { CacheGetResult, CacheKey, CacheStore, CacheValue } from '../../src/cache/store/cache-store.ts'
import { blocksOf } from '../../src/cache/store/found.ts'
import { cached, installDate } from './support.ts'

export function value(more: Partial<CacheValue> = {}): CacheValue {
  return {
    statusCode: 200,
    statusMessage: 'OK',
    headers: { 'content-type': 'text/plain' },
    cacheControlDirectives: { 'max-age': 10 },
    cachedAt: Date.now(),
    staleAt: Date.now() + 10_000,
    deleteAt: Date.now() + 20_000,
    ...more,
  }
}

export function key(more: Partial<CacheKey> = {}): CacheKey {
  return { origin: 'http://h.test', method: 'GET', path: '/', headers: {}, ...more }
}

export async function write(
  store: CacheStore,
  at: CacheKey,
  what: CacheValue,
  body: string | Buffer,
): Promise<void> {
  const stream = store.createWriteStream(at, what)!
  stream.end(body)
  await finished(stream)
}

export async function bodyOf(found: CacheGetResult | undefined): Promise<string> {
  const blocks = blocksOf(found?.body)
  if (blocks !== null) return Buffer.concat(blocks).toString()
  const parts: Buffer[] = []
  for await (const part of found!.body as AsyncIterable<Buffer>) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

/** What is reported while the test runs. */
export function storeErrors(t: { after(run: () => void): void }): { operation: string; error: Error }[] {
  const messages: { operation: string; error: Error }[] = []
  const listen = (message: unknown): void => void messages.push(message as (typeof messages)[number])
  subscribe('ventuno:cache:error', listen)
  t.after(() => unsubscribe('ventuno:cache:error', listen))
  return messages
}

/** Turns of the event loop, for what a store does after a response. */
async function drain(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}

type Maker = (t: { after(run: () => void): void }) => CacheStore

export function storeSuite(
  name: string,
  make: Maker,
  options: { skip?: string | false; isUnbounded?: boolean } = {},
): void {
  const it = (
    title: string,
    run: (store: CacheStore, t: { after(run: () => void): void }) => Promise<void>,
  ): void => {
    test(title, options.skip ? { skip: options.skip } : {}, async (t) => run(make(t), t))
  }

  describe(`${name}, as a store`, () => {
    it('returns what was written', async (store) => {
      const given = value({ etag: '"1"', headers: { a: ['1', '2'], b: 'ü', ['__proto__']: 'x' } })
      await write(store, key(), given, 'hello')
      const found = (await store.get(key()))!
      const { body: _, ...rest } = found
      assert.equal(await bodyOf(found), 'hello')
      assert.deepEqual({ ...rest, vary: undefined }, { ...given, vary: undefined })
    })

    it('returns binary and empty bodies', async (store) => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
      await write(store, key(), value(), bytes)
      const found = await store.get(key())
      assert.equal(
        Buffer.from(await bodyOf(found)).toString('hex'),
        Buffer.from(bytes.toString()).toString('hex'),
      )
      await write(store, key({ path: '/empty' }), value({ statusCode: 204 }), '')
      assert.equal(await bodyOf(await store.get(key({ path: '/empty' }))), '')
    })

    it('finds nothing for another origin, method or path', async (store) => {
      await write(store, key(), value(), 'x')
      for (const other of [{ origin: 'http://i.test' }, { method: 'HEAD' }, { path: '/x' }, { path: '/?' }]) {
        assert.equal(await store.get(key(other)), undefined)
      }
    })

    it('keeps variants side by side, and replaces the same one', async (store) => {
      const variant = (a: string | null): CacheValue => value({ vary: { a } })
      await write(store, key({ headers: { a: '1' } }), variant('1'), 'one')
      await write(store, key({ headers: { a: '2' } }), variant('2'), 'two')
      await write(store, key(), variant(null), 'none')
      await write(store, key({ headers: { a: '2' } }), variant('2'), 'new two')
      assert.equal(await bodyOf(await store.get(key({ headers: { a: '1' } }))), 'one')
      assert.equal(await bodyOf(await store.get(key({ headers: { a: '2' } }))), 'new two')
      assert.equal(await bodyOf(await store.get(key())), 'none')
      assert.equal(await store.get(key({ headers: { a: '3' } })), undefined)
    })

    it('takes a value without headers, directives and message; vary is a plain object', async (store) => {
      const {
        headers: _,
        cacheControlDirectives: __,
        statusMessage: ___,
        ...bare
      } = value({ vary: { a: '1' } })
      const at = key({ headers: { a: '1' } })
      await write(store, at, bare as CacheValue, 'x')
      const found = (await store.get(at))!
      assert.deepEqual([found.headers, found.cacheControlDirectives, found.statusMessage], [{}, {}, ''])
      assert.equal(Object.getPrototypeOf(found.vary), Object.prototype)
    })

    if (!options.isUnbounded)
      it('can be read right after end()', async (store) => {
        const stream = store.createWriteStream(key(), value())!
        stream.write('a')
        stream.end('b')
        assert.equal(await bodyOf(store.get(key()) as CacheGetResult), 'ab')
      })

    it('once a resource varies, its older response answers nobody', async (store) => {
      const at = key({ headers: { a: '1' } })
      await write(store, key(), value(), 'old')
      await write(store, at, value({ vary: { a: '1' } }), 'new')
      assert.equal(await bodyOf(await store.get(at)), 'new')
      assert.equal(await store.get(key({ headers: { a: '2' } })), undefined)
    })

    it('finds a varying response for a key without headers', async (store) => {
      await write(store, key(), value({ vary: { a: null } }), 'x')
      const { headers: _, ...bare } = key()
      assert.equal(await bodyOf(await store.get(bare)), 'x')
    })

    // A store of several processes leaves that to its server.
    if (!options.isUnbounded)
      it('keeps at most 32 variants', async (store) => {
        for (let i = 0; i < 33; i++) {
          await write(
            store,
            key({ headers: { a: `${i}` } }),
            value({ vary: { a: `${i}` }, cachedAt: Date.now() + i }),
            'x',
          )
        }
        assert.equal(await store.get(key({ headers: { a: '0' } })), undefined)
        assert.ok(await store.get(key({ headers: { a: '32' } })))
        assert.ok(await store.get(key({ headers: { a: '1' } })))
      })

    it('deletes every method and variant of a URL', async (store) => {
      await write(store, key(), value({ vary: { a: null } }), 'x')
      await write(store, key({ method: 'HEAD' }), value(), '')
      await write(store, key({ path: '/other' }), value(), 'other')
      await store.delete(key())
      assert.equal(await store.get(key()), undefined)
      assert.equal(await store.get(key({ method: 'HEAD' })), undefined)
      assert.equal(await bodyOf(await store.get(key({ path: '/other' }))), 'other')
      await store.delete(key())
    })

    it('updates everything but the body', async (store) => {
      if (store.update === undefined) return
      await write(store, key(), value(), 'body')
      const news = value({ headers: { x: '2' }, staleAt: Date.now() + 15_000 })
      await store.update!(key(), news, (await store.get(key()))!)
      const found = await store.get(key())
      assert.deepEqual([found!.headers, found!.staleAt], [news.headers, news.staleAt])
      assert.equal(await bodyOf(found), 'body')
      await store.update!(key({ path: '/none' }), news, news)
      assert.equal(await store.get(key({ path: '/none' })), undefined)
    })

    it('does not update a response that has taken the place of another', async (store) => {
      if (store.update === undefined) return
      await write(store, key(), value({ headers: { id: '1' } }), 'one')
      const previous = (await store.get(key()))!
      await write(store, key(), value({ headers: { id: '2' } }), 'two')
      await store.update(key(), value({ headers: { id: '1', x: '1' } }), previous)
      const found = await store.get(key())
      assert.deepEqual([found!.headers['id'], await bodyOf(found)], ['2', 'two'])
    })

    it('stores nothing of a stream that is destroyed', async (store) => {
      const stream = store.createWriteStream(key(), value())!
      stream.on('error', () => {})
      stream.write('half')
      stream.destroy()
      await new Promise((resolve) => stream.on('close', resolve))
      assert.equal(await store.get(key()), undefined)
    })

    it('refuses wrong keys and values', async (store) => {
      const rows: [key: unknown, message: string][] = [
        [undefined, 'expected key to be object, got undefined'],
        [{ ...key(), origin: 5 }, 'expected key.origin to be string, got number'],
        [{ ...key(), method: null }, 'expected key.method to be string, got null'],
        [{ ...key(), path: undefined }, 'expected key.path to be string, got undefined'],
        [{ ...key(), headers: 'x' }, 'expected key.headers to be object, got string'],
      ]
      for (const [wrong, message] of rows) {
        for (const call of [
          async () => store.get(wrong as CacheKey),
          async () => store.delete(wrong as CacheKey),
          async () => store.createWriteStream(wrong as CacheKey, value()),
        ]) {
          await assert.rejects(call, { name: 'TypeError', message })
        }
      }
      const values: [value: unknown, message: string][] = [
        [null, 'expected value to be object, got null'],
        [{ ...value(), statusCode: '200' }, 'expected value.statusCode to be number, got string'],
        [{ ...value(), staleAt: undefined }, 'expected value.staleAt to be number, got undefined'],
        [{ ...value(), statusMessage: 5 }, 'expected value.statusMessage to be string, got number'],
        [{ ...value(), headers: 5 }, 'expected value.headers to be object, got number'],
        [{ ...value(), vary: 5 }, 'expected value.vary to be object, got number'],
        [{ ...value(), etag: 5 }, 'expected value.etag to be string, got number'],
      ]
      for (const [wrong, message] of values) {
        assert.throws(() => store.createWriteStream(key(), wrong as CacheValue), {
          name: 'TypeError',
          message,
        })
      }
    })

    for (const endless of [
      { cacheByDefault: Infinity },
      { cacheByDefault: 10_000, staleIfError: Infinity },
    ]) {
      it(`keeps a response with ${Object.keys(endless).at(-1)}: Infinity`, async (store) => {
        const origin = cached({ body: 'hello' }, { store, ...endless })
        await origin.get()
        await drain()
        assert.equal((await origin.get()).body, 'hello')
        assert.equal(origin.received.length, 1)
      })
    }

    it('serves the interceptor: stores, confirms, invalidates', async (store, t) => {
      const clock = installDate(t, Date.now())
      const origin = cached(
        ({ method, headers }) =>
          method === 'POST'
            ? { status: 204 }
            : headers['if-none-match']
              ? { status: 304, headers: { x: '2' } }
              : {
                  headers: { 'cache-control': 'max-age=10', etag: '"1"', 'content-length': '5' },
                  body: 'hello',
                },
        { store },
      )
      await origin.get()
      await drain()
      assert.equal((await origin.get()).body, 'hello')
      assert.equal((await origin.get('/', { range: 'bytes=1-2' })).body, 'el')
      assert.equal(origin.received.length, 1)
      clock.advance(11_000)
      const confirmed = await origin.get()
      await drain()
      assert.deepEqual([confirmed.body, confirmed.headers!['x']], ['hello', '2'])
      const hit = await origin.get()
      assert.deepEqual([hit.body, hit.headers!['x'], origin.received.length], ['hello', '2', 2])
      await origin.get('/', {}, { method: 'POST' })
      await drain()
      await origin.get()
      assert.equal(origin.received.length, 4)
    })
  })
}
