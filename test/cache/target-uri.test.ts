/** What a request is for: the dispatcher's own origin, and the `host` and the server name that it is sent with. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Agent, Client, interceptors, Pool } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, overEachWire, startOrigin, WIRES, type Wire } from '../support/wire.ts'
import { type Answer, cached, ORIGIN, scripted, sharingTests } from './support.ts'

const GET = { path: '/', method: 'GET' } as const
const FRESH: Answer = { headers: { 'cache-control': 'max-age=60' }, body: 'x' }

overEachWire('the target URI', (wire: Wire) => {
  test('a client caches and shares what names another origin, or none that can be read', async (t) => {
    let count = 0
    const waiting: (() => void)[] = []
    const listener: Listener = (request, response) => {
      count++
      response.setHeader('cache-control', 'max-age=60')
      if (request.url === '/shared') waiting.push(() => response.end('shared'))
      else response.end(`${count}`)
    }
    const origin = await startOrigin(t, wire, listener)
    const names = [undefined, 'http://other.test', 'https://127.0.0.1', 'no URL', new URL('http://u.test/x')]
    const caching = origin.client().compose(interceptors.cache())
    for (const name of names) {
      const { body } = await caching.request({ ...GET, origin: name as string })
      assert.equal(await body.text(), '1', String(name))
    }
    const sharing = origin.client().compose(interceptors.deduplicate())
    const texts = names.map(async (name) => {
      const { body } = await sharing.request({ path: '/shared', method: 'GET', origin: name as string })
      return body.text()
    })
    await eventually(() => waiting.length > 0)
    for (const answer of waiting) answer()
    assert.deepEqual(
      await Promise.all(texts),
      names.map(() => 'shared'),
    )
    assert.equal(count, 2)
  })

  test('two virtual hosts behind one origin share nothing', async (t) => {
    const listener: Listener = (request, response) => {
      response.setHeader('cache-control', 'max-age=60')
      response.end(String(request.headers.host ?? request.headers[':authority']))
    }
    const origin = await startOrigin(t, wire, listener)
    const client = origin.client().compose(interceptors.cache(), interceptors.deduplicate())
    for (let i = 0; i < 2; i++) {
      for (const host of ['a.test', 'b.test']) {
        // One server name for both, as the certificate has it.
        const { body } = await client.request({ ...GET, headers: { host }, servername: 'localhost' })
        assert.equal(await body.text(), host)
      }
    }
  })
})

describe('origins', () => {
  test('is matched against the origin of the dispatcher', async () => {
    for (const [listed, sent] of [
      ['http://own.test', 1],
      [/^http:\/\/own\./, 1],
      ['http://named.test', 2],
    ] as const) {
      const origin = scripted(() => FRESH)
      const dispatch = interceptors.cache({ origins: [listed] })(origin.dispatch, 'http://own.test')
      for (let i = 0; i < 2; i++) {
        const handler = new RecordingHandler()
        dispatch({ ...GET, origin: 'http://named.test' }, handler)
        await handler.settled
      }
      assert.equal(origin.received.length, sent, String(listed))
    }
  })
})

describe('the origin of the dispatcher counts for', () => {
  const names = ['http://a.test', 'http://b.test', 'no URL']

  test('the circuit breaker', async () => {
    const origin = scripted(() => ({ status: 500 }))
    const circuitBreaker = interceptors.circuitBreaker({ minRequests: 3 })
    const dispatch = circuitBreaker(origin.dispatch, 'http://own.test')
    for (const name of [...names, 'http://c.test']) {
      const handler = new RecordingHandler()
      dispatch({ ...GET, origin: name }, handler)
      await handler.settled
    }
    assert.equal(origin.received.length, 3)
  })

  test('the throttle', async () => {
    let answer = (): void => {}
    const end = new Promise<void>((resolve) => {
      answer = resolve
    })
    const origin = scripted(() => ({ end }))
    const dispatch = interceptors.throttle({ concurrency: 1 })(origin.dispatch, 'http://own.test')
    const handlers = names.map((name) => {
      const handler = new RecordingHandler()
      dispatch({ ...GET, origin: name }, handler)
      return handler
    })
    assert.equal(origin.received.length, 1)
    answer()
    for (const handler of handlers) await handler.settled
  })

  test('dns', async () => {
    const looked: string[] = []
    const origin = scripted(() => ({}))
    const dns = interceptors.dns({
      lookup: ({ hostname }, _options, done) => {
        looked.push(hostname)
        done(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }])
      },
    })
    const dispatch = dns(origin.dispatch, 'http://own.test')
    for (const name of names) {
      const handler = new RecordingHandler()
      dispatch({ ...GET, origin: name }, handler)
      await handler.settled
    }
    assert.deepEqual(looked, ['own.test'])
    assert.deepEqual(
      origin.received.map(({ headers }) => headers['host']),
      names.map(() => 'own.test'),
    )
  })
})

describe('host and servername in the key', () => {
  const rows: [a: object, b: object, sent: number][] = [
    [{ headers: { host: 'a.test' } }, { headers: { host: 'b.test' } }, 2],
    [{ headers: { host: 'a.test' } }, {}, 2],
    [{ headers: { host: 'a.test' } }, { headers: { Host: 'A.TEST' } }, 1],
    [{ headers: { host: 'origin.test' } }, {}, 1],
    [{ headers: { host: 'ORIGIN.test:80' } }, {}, 1],
    [{ headers: { host: 'origin.test:8080' } }, {}, 2],
    [{ headers: { host: '' } }, {}, 2],
    [{ headers: ['host', 'a.test'] }, { headers: new Map([['host', 'a.test']]) }, 1],
    [{ servername: 'a.test' }, { servername: 'b.test' }, 2],
    [{ servername: 'a.test' }, {}, 2],
    [{ servername: 'origin.test' }, {}, 1],
    [{ servername: '' }, {}, 1],
    [{ servername: null }, {}, 1],
    [{ headers: { host: 'a.test' }, servername: 'a.test' }, { headers: { host: 'a.test' } }, 1],
    [{ headers: { host: 'a.test' }, servername: 'origin.test' }, { headers: { host: 'a.test' } }, 2],
    // No name can pass for another one.
    [{ headers: { host: 'a&servername=b' } }, { headers: { host: 'a' }, servername: 'b' }, 2],
    [{ headers: { host: 'a b' } }, { headers: { host: 'a' } }, 2],
  ]
  sharingTests(rows)

  test('an unsafe request invalidates the URLs of its own host', async () => {
    const origin = cached(({ method }) =>
      method === 'POST' ? { status: 201, headers: { location: 'http://a.test/new' } } : FRESH,
    )
    const a = { host: 'a.test' }
    for (const path of ['/', '/new']) {
      await origin.get(path, a)
      await origin.get(path)
    }
    await origin.get('/', a, { method: 'POST' })
    const before = origin.received.length
    for (const path of ['/', '/new']) await origin.get(path)
    assert.equal(origin.received.length, before, 'those of the origin stay')
    for (const path of ['/', '/new']) await origin.get(path, a)
    assert.equal(origin.received.length, before + 2)
  })

  test('no partition can pass for a host', async () => {
    const origin = cached(FRESH, { partition: (opts) => (opts as { tenant?: string }).tenant ?? '' })
    await origin.get('/', { host: 'a.test' })
    for (const tenant of ['#host=a.test', 'host=a.test', ' ', `${ORIGIN}#host=a.test `]) {
      await origin.get('/', {}, { tenant } as object)
    }
    assert.equal(origin.received.length, 5)
  })
})

describe('vary: cookie', () => {
  test('cookies are compared as they are sent', async () => {
    const origin = cached({ headers: { 'cache-control': 'max-age=60', vary: 'cookie' }, body: 'x' })
    await origin.get('/', { cookie: ['u=1', 'x=2'] })
    await origin.get('/', { cookie: 'u=1, x=2' })
    assert.equal(origin.received.length, 2, 'a comma is part of a value')
    await origin.get('/', { cookie: 'u=1; x=2' })
    assert.equal(origin.received.length, 2)
  })
})

describe('after the end of the dispatcher', () => {
  for (const end of ['close', 'destroy'] as const) {
    test(`${end}(): every call fails, whatever is stored or under way`, async (t) => {
      const held: (() => void)[] = []
      const listener: Listener = (request, response) => {
        response.setHeader('cache-control', 'max-age=60')
        if (request.url === '/slow') held.push(() => response.end('slow'))
        else response.end('x')
      }
      const origin = await startOrigin(t, WIRES[0]!, listener)
      for (const make of [() => new Client(origin.url), () => new Pool(origin.url), () => new Agent()]) {
        const dispatcher = make()
        const target = { origin: origin.url, method: 'GET' } as const
        const cache = dispatcher.compose(interceptors.cache({ collapse: true }))
        const shared = dispatcher.compose(interceptors.deduplicate())
        await (await cache.request({ ...target, path: '/' })).body.text()
        const slow = shared.request({ ...target, path: '/slow' }).then(
          ({ body }) => body.text(),
          (error: Error) => error,
        )
        await eventually(() => held.length > 0)
        const ended = end === 'close' ? dispatcher.close() : dispatcher.destroy()
        const code = { code: end === 'close' ? 'UND_ERR_CLOSED' : 'UND_ERR_DESTROYED' }
        await assert.rejects(dispatcher.request({ ...target, path: '/' }), code)
        await assert.rejects(cache.request({ ...target, path: '/' }), code)
        await assert.rejects(shared.request({ ...target, path: '/slow' }), code)
        held.shift()!()
        assert.ok(await slow)
        await ended
      }
    })
  }
})
