import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { describe, test } from 'node:test'
import { RedisCacheStore, type RedisCacheStoreOptions } from '../../src/cache/store/redis-store.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { bodyOf, key, storeErrors, storeSuite, value, write } from './store-suite.ts'
import { cached, changingPage, installDate, ORIGIN, settle } from './support.ts'

/** The server: values with their time, which both shapes of clients and the plain one reach. */
class FakeServer {
  readonly values = new Map<string, { value: Buffer; until: number }>()
  readonly commands: string[] = []
  fails: Error | 'hangs' | null = null
  /** Commands that wait to be let through, if they are to wait. */
  held: (() => void)[] | null = null

  async run(name: string, args: unknown[]): Promise<unknown> {
    this.commands.push(name)
    const { held } = this
    if (held !== null) await new Promise<void>((resolve) => held.push(resolve))
    if (this.fails === 'hangs') return new Promise(() => {})
    if (this.fails !== null) throw this.fails
    await null
    switch (name) {
      case 'GET': {
        const found = this.values.get(String(args[0]))
        return found === undefined || found.until <= Date.now() ? null : Buffer.from(found.value)
      }
      case 'SET':
        assert.equal(args[2], 'PX')
        assert.ok(Number.isInteger(Number(args[3])) && Number(args[3]) > 0)
        this.values.set(String(args[0]), {
          value: Buffer.from(args[1] as Buffer),
          until: Date.now() + Number(args[3]),
        })
        return 'OK'
      default:
        for (const one of args) this.values.delete(String(one))
        return args.length
    }
  }
}

const shapes = {
  redis: (server: FakeServer) => ({
    async sendCommand(args: (string | Buffer)[], options?: { returnBuffers?: boolean }) {
      const reply = await server.run(String(args[0]), args.slice(1))
      return Buffer.isBuffer(reply) && !options?.returnBuffers ? reply.toString() : reply
    },
  }),
  ioredis: (server: FakeServer) => ({
    getBuffer: (name: string) => server.run('GET', [name]) as Promise<Buffer | null>,
    set: (...args: unknown[]) => server.run('SET', args),
    del: (...keys: string[]) => server.run('DEL', keys),
    sendCommand: () => assert.fail('another kind of command'),
  }),
  'three methods': (server: FakeServer) => ({
    get: (name: string) => server.run('GET', [name]) as Promise<Buffer | null>,
    set: (name: string, bytes: Buffer, life: number) => server.run('SET', [name, bytes, 'PX', life]),
    delete: (keys: readonly string[]) => server.run('DEL', [...keys]),
  }),
}

for (const [name, client] of Object.entries(shapes)) {
  storeSuite(
    `RedisCacheStore with ${name}`,
    () => new RedisCacheStore({ client: client(new FakeServer()) }),
    {
      isUnbounded: true,
    },
  )
}

describe('options of RedisCacheStore', () => {
  const client = shapes.ioredis(new FakeServer())
  const rows: [options: unknown, message: string][] = [
    [undefined, 'RedisCacheStore options must be an object'],
    [{}, 'RedisCacheStore options.client must be a client of redis or ioredis, or have get, set and delete'],
    [
      { client: {} },
      'RedisCacheStore options.client must be a client of redis or ioredis, or have get, set and delete',
    ],
    [{ client, prefix: 5 }, 'RedisCacheStore options.prefix must be a string'],
    [{ client, maxEntrySize: -1 }, 'RedisCacheStore options.maxEntrySize must be a non-negative integer'],
    [{ client, timeout: 'x' }, 'RedisCacheStore options.timeout must be a non-negative integer'],
  ]
  for (const [options, message] of rows) {
    test(message, () => {
      assert.throws(() => new RedisCacheStore(options as RedisCacheStoreOptions), {
        name: 'TypeError',
        message,
      })
    })
  }
})

describe('RedisCacheStore', () => {
  function make(options: Partial<RedisCacheStoreOptions> = {}): {
    server: FakeServer
    store: RedisCacheStore
  } {
    const server = new FakeServer()
    return { server, store: new RedisCacheStore({ client: shapes['three methods'](server), ...options }) }
  }

  test('all keys have the prefix, and none shows a URL', async () => {
    const { server, store } = make({ prefix: 'app:' })
    await write(store, key({ path: '/?token=secret' }), value(), Buffer.alloc(600_000))
    assert.ok(server.values.size > 2)
    for (const name of server.values.keys()) assert.match(name, /^app:[\w:-]+$/)
  })

  test('every value has a time, which is that of the response', async (t) => {
    const clock = installDate(t)
    const { server, store } = make()
    await write(store, key(), value({ deleteAt: clock.now + 5000 }), Buffer.alloc(600_000))
    const times = [...server.values.values()].map(({ until }) => until - clock.now).sort((a, b) => a - b)
    assert.deepEqual(times, [5000, 5000, 7 * 86_400_000])
    clock.advance(5000)
    assert.equal(await store.get(key()), undefined)
  })

  test('a long body is written in parts while it arrives', async () => {
    const { server, store } = make()
    const body = Buffer.alloc(1_000_000, 'abcdef')
    const stream = store.createWriteStream(key(), value())!
    stream.write(body.subarray(0, 300_000))
    await settle()
    assert.equal(server.values.size, 1, 'before the end')
    assert.equal(await store.get(key()), undefined)
    stream.end(body.subarray(300_000))
    await new Promise((resolve) => stream.on('finish', resolve))
    assert.equal(await bodyOf(await store.get(key())), body.toString())
  })

  test('a stream that is destroyed takes its parts back', async () => {
    const { server, store } = make()
    const stream = store.createWriteStream(key(), value())!
    stream.write(Buffer.alloc(300_000))
    await settle()
    assert.equal(server.values.size, 1)
    stream.destroy()
    await settle()
    assert.equal(server.values.size, 0)
  })

  test('a body over the limit is not stored', async () => {
    const { server, store } = make({ maxEntrySize: 300_000 })
    await write(store, key(), value(), Buffer.alloc(300_001))
    await settle()
    assert.equal(await store.get(key()), undefined)
    assert.equal(server.values.size, 0)
  })

  test('replacement is atomic: readers get all of the old or all of the new', async () => {
    const { server, store } = make()
    const texts = ['a', 'b'].map((letter) => letter.repeat(600_000))
    await write(store, key(), value(), texts[0]!)
    const stream = store.createWriteStream(key(), value())!
    stream.end(texts[1]!)
    const finished = new Promise((resolve) => stream.on('finish', resolve))
    const seen = new Set<string>()
    for (let i = 0; i < 50; i++) seen.add((await bodyOf(await store.get(key()))).slice(0, 1))
    await finished
    seen.add((await bodyOf(await store.get(key()))).slice(0, 1))
    assert.deepEqual([...seen].sort(), ['a', 'b'])
    assert.ok(server.values.size > 0)
  })

  test('a part that was evicted, and values that cannot be read, are misses', async () => {
    const { server, store } = make()
    await write(store, key(), value(), Buffer.alloc(600_000))
    const names = [...server.values.keys()]
    server.values.delete(names.find((name) => name.endsWith(':0'))!)
    assert.equal(await store.get(key()), undefined)
    for (const bytes of ['', 'x', '{}', '\0\0\0\x05{"a":']) {
      await write(store, key(), value(), 'x')
      for (const entry of server.values.values()) entry.value = Buffer.from(bytes)
      assert.equal(await store.get(key()), undefined)
    }
  })

  test('what another process writes under an index that is removed is not found', async () => {
    const { server, store } = make()
    const other = new RedisCacheStore({ client: shapes.redis(server) })
    await write(store, key(), value(), 'old')
    server.held = []
    const written = write(other, key(), value(), 'late')
    await settle()
    server.held.shift()!()
    await settle()
    const [set] = server.held
    server.held = null
    await store.delete(key())
    set!()
    await written
    assert.equal(await store.get(key()), undefined)
  })

  // The server may run the last command first: a client may have several connections.
  for (const order of ['first', 'last'] as const) {
    for (const done of [0, 1, 2, 3]) {
      test(`invalidated after ${done} commands of its write, a response stays away; ${order} command first`, async () => {
        const { server, store } = make()
        let version = 1
        const origin = cached(
          ({ method }) => {
            if (method === 'POST') {
              version++
              return { status: 204 }
            }
            server.held ??= []
            return { headers: { 'cache-control': 'max-age=60' }, body: `v${version}` }
          },
          { store },
        )
        const next = async (which: 'first' | 'last'): Promise<void> => {
          const run = which === 'first' ? server.held!.shift() : server.held!.pop()
          run?.()
          await settle()
        }
        assert.equal((await origin.get()).body, 'v1')
        await settle()
        for (let i = 0; i < done; i++) await next('first')
        await origin.get('/', {}, { method: 'POST' })
        await settle()
        while (server.held!.length > 0) await next(order)
        server.held = null
        assert.equal((await origin.get()).body, 'v2')
      })
    }
  }

  test('delete ends the streams of its URL, which take their parts back, and no others', async () => {
    const { server, store } = make()
    const [ended, other] = ['/', '/other'].map((path) => store.createWriteStream(key({ path }), value())!)
    for (const stream of [ended!, other!]) stream.write(Buffer.alloc(300_000))
    await settle()
    assert.equal(server.values.size, 2)
    await store.delete(key())
    ended!.end('late')
    other!.end()
    await new Promise((resolve) => other!.on('finish', resolve))
    assert.equal(await store.get(key()), undefined)
    assert.ok(await store.get(key({ path: '/other' })))
    assert.equal(server.values.size, 3)
    await write(store, key(), value(), 'new')
    assert.equal(await bodyOf(await store.get(key())), 'new')
  })

  test('a server that fails is a miss, and is left alone for a second', async (t) => {
    const clock = installDate(t)
    const { server, store } = make()
    const reported: unknown[] = []
    const listener = (message: unknown): void => void reported.push(message)
    channel('ventuno:cache:error').subscribe(listener)
    t.after(() => void channel('ventuno:cache:error').unsubscribe(listener))
    const origin = cached({ headers: { 'cache-control': 'max-age=60' }, body: 'x' }, { store })
    server.fails = new Error('ECONNREFUSED')
    assert.equal((await origin.get()).body, 'x')
    assert.equal((await origin.get()).body, 'x')
    await settle()
    assert.equal(server.commands.length, 1)
    assert.equal(reported.length, 1)
    server.fails = null
    clock.advance(1000)
    await origin.get()
    await settle()
    await origin.get()
    assert.equal(origin.received.length, 3)
  })

  test('a server that does not answer is a miss after the timeout', async (t) => {
    const { server, store } = make({ timeout: 100 })
    const origin = cached({ headers: { 'cache-control': 'max-age=60' }, body: 'x' }, { store })
    const clock = FakeClock.install(t)
    // The store is left alone for a second, however slow this process is.
    installDate(t)
    server.fails = 'hangs'
    const answer = origin.get()
    await settle()
    assert.equal(origin.received.length, 0)
    await clock.advance(100)
    assert.equal((await answer).body, 'x')
    assert.equal(clock.active.size, 0)
  })

  test('a server that fails in the middle of a write does not fail the response', async () => {
    const { server, store } = make()
    const origin = cached(
      () => {
        server.fails = new Error('gone')
        return {
          headers: { 'cache-control': 'max-age=60' },
          body: ['x'.repeat(300_000), 'y'.repeat(300_000)],
        }
      },
      { store },
    )
    assert.equal((await origin.get()).body.length, 600_000)
    await settle()
  })

  test('an invalidation during an outage: the old page does not come back with the connection', async (t) => {
    const errors = storeErrors(t)
    const { server, store } = make()
    const origin = changingPage(store)
    await origin.get()
    await settle()
    server.fails = new Error('connection lost')
    await origin.get('/', {}, { method: 'POST' })
    await settle()
    server.fails = null
    assert.equal((await origin.get()).body, 'new')
    assert.equal(await store.get(key({ origin: ORIGIN })), undefined)
    assert.ok(errors.some(({ operation }) => operation === 'delete'))
    // Other processes see it removed as soon as the server can be reached.
    const index = (): boolean => server.commands.filter((name) => name === 'DEL').length > 1
    await eventually(index)
  })

  test('what a client returns is bytes or text, however long it claims to be', async (t) => {
    const errors = storeErrors(t)
    const client = {
      get: async () => ({ length: 1e9 }) as never,
      set: async () => undefined,
      delete: async () => undefined,
    }
    const origin = cached({ body: 'x' }, { store: new RedisCacheStore({ client }) })
    assert.equal((await origin.get()).body, 'x')
    assert.deepEqual(
      errors.map(({ operation }) => operation),
      ['get'],
    )
  })

  test('an entry that cannot be read is removed and reported, and names no other key', async (t) => {
    const errors = storeErrors(t)
    const { server, store } = make()
    await write(store, key(), value(), 'x')
    const [name, entry] = [...server.values].at(-1)!
    const foreign = JSON.stringify({ head: JSON.stringify(value()), parts: { names: ['secret'], size: 1 } })
    server.values.set('secret', { value: Buffer.from('s'), until: Date.now() + 1e6 })
    const length = Buffer.alloc(4)
    length.writeUInt32BE(foreign.length)
    server.values.set(name, { ...entry, value: Buffer.concat([length, Buffer.from(foreign)]) })
    assert.equal(await store.get(key()), undefined)
    assert.deepEqual(
      errors.map(({ operation }) => operation),
      ['get'],
    )
  })
})
