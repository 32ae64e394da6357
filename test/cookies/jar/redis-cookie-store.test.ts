/** A jar that processes share, with a store of the test and with Redis. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CookieJar, RedisCookieStore } from '../../../src/index.ts'
import { noRedis, startRedis, TestRedisClient } from '../../support/redis-server.ts'

const URL = 'https://a.test/'

/** Does what the script does. */
class FakeStore {
  readonly fields = new Map<string, string>()
  onCall: () => unknown = () => {}

  async eval(_script: string, key: string, [count, ...rest]: readonly string[]): Promise<unknown> {
    assert.equal(key, 'ventuno:cookies')
    await this.onCall()
    for (const name of rest.slice(0, Number(count))) this.fields.delete(name)
    for (let i = Number(count); i < rest.length; i += 2) this.fields.set(rest[i]!, rest[i + 1]!)
    return [...this.fields].flat()
  }
}

function member(client: FakeStore | TestRedisClient) {
  const jar = new CookieJar()
  return { jar, store: new RedisCookieStore(jar, { client, timeout: 30_000 }) }
}

type Make = () => FakeStore | TestRedisClient

function exchanges(open: (t: import('node:test').TestContext) => Promise<Make>): void {
  it('what one sets, changes and removes, the others get', async (t) => {
    const make = await open(t)
    const [a, b] = [member(make()), member(make())] as const
    a.jar.setCookie('x=1; Path=/', URL)
    b.jar.setCookie('y=1; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=100', URL)
    for (const { store } of [a, b, a]) await store.sync()
    for (const { jar } of [a, b]) assert.equal(jar.getCookieHeader(URL).split('; ').sort().join(), 'x=1,y=1')
    assert.deepEqual(
      { ...a.jar.getCookies(URL).find(({ name }) => name === 'y'), lastAccessTime: 0 },
      {
        ...b.jar.getCookies(URL).find(({ name }) => name === 'y'),
        lastAccessTime: 0,
      },
    )
    b.jar.setCookie('x=2; Path=/', URL)
    a.jar.remove({ name: 'y' })
    for (const { store } of [a, b, a]) await store.sync()
    for (const { jar } of [a, b]) assert.equal(jar.getCookieHeader(URL), 'x=2')
    b.jar.clear()
    for (const { store } of [b, a]) await store.sync()
    assert.equal(a.jar.size, 0)
  })
}

describe('RedisCookieStore', () => {
  exchanges(async () => {
    const store = new FakeStore()
    return () => store
  })

  it('what the jar gets during an exchange stays, and goes with the next one', async () => {
    const client = new FakeStore()
    const [a, b] = [member(client), member(client)]
    a.jar.setCookie('x=1; Path=/', URL)
    await a.store.sync()
    await b.store.sync()
    b.jar.setCookie('x=3; Path=/', URL)
    await b.store.sync()
    client.onCall = () => void a.jar.setCookie('x=2; Path=/', URL)
    await Promise.all([a.store.sync(), a.store.sync()])
    client.onCall = () => {}
    assert.equal(a.jar.getCookieHeader(URL), 'x=2')
    await a.store.sync()
    await b.store.sync()
    assert.equal(b.jar.getCookieHeader(URL), 'x=2')
  })

  it('a store that fails changes nothing, and the next exchange makes up for it', async () => {
    const client = new FakeStore()
    const [a, b] = [member(client), member(client)]
    a.jar.setCookie('x=1; Path=/', URL)
    client.onCall = () => Promise.reject(new Error('down'))
    await assert.rejects(a.store.sync(), { message: 'down' })
    assert.equal(a.jar.getCookieHeader(URL), 'x=1')
    client.onCall = () => {}
    await a.store.sync()
    await b.store.sync()
    assert.equal(b.jar.getCookieHeader(URL), 'x=1')
  })

  it('entries of others that are no cookies, or break a rule, are left out', async () => {
    const client = new FakeStore()
    const { jar, store } = member(client)
    jar.setCookie('x=1; Path=/', URL)
    await store.sync()
    const cookie = JSON.parse([...client.fields.values()][0]!)
    for (const [i, value] of ['no', 'null', '5', '{}'].entries()) client.fields.set(`${i}`, value)
    client.fields.set('bad', JSON.stringify({ ...cookie, name: 'a\nb' }))
    const good = JSON.stringify(['a.test', true, 'good', '/'])
    client.fields.set(good, JSON.stringify({ ...cookie, name: 'good' }))
    await store.sync()
    assert.equal(jar.getCookieHeader(URL).split('; ').sort().join(), 'good=1,x=1')
    await store.sync()
    assert.deepEqual([...client.fields.keys()].slice(1), ['0', '1', '2', '3', 'bad', good])
  })

  it('a cookie that came from another is given back only when it changes', async () => {
    const client = new FakeStore()
    const [a, b] = [member(client), member(client)]
    a.jar.setCookie('x=1; Path=/', URL)
    b.jar.setCookie('x=0; Path=/', URL)
    await b.store.sync()
    await a.store.sync()
    await b.store.sync()
    assert.equal(b.jar.getCookieHeader(URL), 'x=1')
    const fields = [...client.fields]
    await b.store.sync()
    assert.deepEqual([...client.fields], fields)
    a.jar.setCookie('x=2; Path=/', URL)
    for (const { store } of [a, b, a]) await store.sync()
    for (const { jar } of [a, b]) assert.equal(jar.getCookieHeader(URL), 'x=2')
  })

  it('wrong arguments', () => {
    assert.throws(() => new RedisCookieStore({} as never, { client: new FakeStore() }), {
      message: 'jar must be a CookieJar',
    })
    assert.throws(() => new RedisCookieStore(new CookieJar(), {} as never), {
      message: 'store.client must be a client of redis or ioredis, or have eval',
    })
  })
})

describe('RedisCookieStore: Redis', { skip: noRedis }, () => {
  exchanges(async (t) => {
    const server = await startRedis()
    t.after(() => server.stop())
    return () => {
      const client = new TestRedisClient(server.port)
      t.after(() => client.close())
      return client
    }
  })
})
