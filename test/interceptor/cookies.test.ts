import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import {
  type Agent,
  BalancedPool,
  CookieJar,
  type CookieJarLike,
  type CookiesOptions,
  cacheStores,
  type DispatchOptions,
  fetch,
  H2CClient,
  type HeaderObject,
  type HeadersInput,
  type Interceptor,
  interceptors,
  WebSocket,
} from '../../src/index.ts'
import { type Exchange, ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { failure } from '../support/exchange.ts'
import { turn } from '../support/fake-clock.ts'
import { startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'
import { opened, startRawServer } from '../websocket/raw-server.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

interface Site {
  readonly origin: TestOrigin
  /** The same server under its address: another host, as far as cookies go. */
  readonly otherUrl: string
  /** `path cookie`, for each request. */
  readonly seen: string[]
}

/** `?set=…` sets these cookies, `?to=…` redirects there. */
async function startSite(t: TestContext, wire: Wire): Promise<Site> {
  const seen: string[] = []
  const origin = await startOrigin(t, wire, (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://site.test')
    seen.push(`${pathname} ${request.headers.cookie ?? '-'}`)
    const set = searchParams.getAll('set')
    if (set.length > 0) response.setHeader('set-cookie', set)
    const to = searchParams.get('to')
    if (to !== null) response.writeHead(302, { location: to })
    response.end('done')
  })
  return { origin, otherUrl: origin.url.replace('localhost', '127.0.0.1'), seen }
}

function setting(...cookies: string[]): string {
  return cookies.map((cookie) => `set=${encodeURIComponent(cookie)}`).join('&')
}

function to(url: string): string {
  return `to=${encodeURIComponent(url)}`
}

async function get(
  agent: Agent,
  origin: string,
  path: string,
  options: Partial<DispatchOptions> = {},
): Promise<number> {
  const { statusCode, body } = await agent.request({ origin, path, method: 'GET', ...options })
  await body.dump()
  return statusCode
}

overTwoWires('interceptors.cookies', (wire) => {
  test('stores the cookies of every response, and sends those of the URL', async (t) => {
    const { origin, otherUrl, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const agent = composedAgent(t, wire, interceptors.cookies({ jar }))
    await get(agent, origin.url, `/a/x?${setting('one=1; Path=/', 'two=2', 'bad=\u00ff; Domain=other.test')}`)
    await get(agent, origin.url, '/a/y')
    await get(agent, origin.url, '/b')
    await get(agent, otherUrl, '/a/y')
    assert.deepEqual(seen, ['/a/x -', '/a/y two=2; one=1', '/b one=1', '/a/y -'])
    assert.equal(jar.size, 2)
    await get(agent, origin.url, `/?${setting('one=; Max-Age=0; Path=/')}`)
    await get(agent, origin.url, '/b')
    assert.equal(seen.at(-1), '/b -')
  })

  test('works with a client and a pool, and without a jar of the caller', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const client = origin.client().compose(interceptors.cookies())
    for (const path of [`/?${setting('a=1')}`, '/next']) {
      const { body } = await client.request({ path, method: 'GET' })
      await body.dump()
    }
    // A client goes to its own origin, whatever the options name.
    const { body } = await client.request({ origin: 'http://evil.test', path: '/own', method: 'GET' })
    await body.dump()
    assert.deepEqual(seen, ['/ -', '/next a=1', '/own a=1'])
  })

  test('cookies: false neither sends nor stores; a request may have its own jar', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const other = new CookieJar()
    const agent = composedAgent(t, wire, interceptors.cookies({ jar }))
    jar.setCookie('a=1', origin.url)
    other.setCookie('b=1', origin.url)
    await get(agent, origin.url, `/1?${setting('c=1')}`, { cookies: false })
    await get(agent, origin.url, `/2?${setting('d=1; Path=/')}`, { cookies: other })
    for (const cookies of [true, null, undefined]) await get(agent, origin.url, '/3', { cookies })
    assert.deepEqual(seen, ['/1 -', '/2 b=1', '/3 a=1', '/3 a=1', '/3 a=1'])
    assert.equal(jar.size, 1)
    assert.equal(other.getCookieHeader(origin.url), 'b=1; d=1')
  })

  test("the caller's cookies come first and win, in any shape of headers", async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const agent = composedAgent(t, wire, interceptors.cookies({ jar }))
    jar.setCookie('a=jar', origin.url)
    jar.setCookie('b=jar', origin.url)
    jar.setCookie('nameless', origin.url)
    function* once(): Generator<[string, string]> {
      yield ['Cookie', 'a=mine; c=mine']
    }
    const shapes: HeadersInput[] = [
      { cookie: 'a=mine; c=mine' },
      ['COOKIE', 'a=mine; c=mine'],
      ['x', '1', 'cookie', 'a=mine', 'Cookie', 'c=mine'],
      { cookie: ['a=mine', 'c=mine'] },
      new Map([['cookie', 'a=mine; c=mine']]),
      new Headers({ cookie: 'a=mine; c=mine' }),
      once(),
    ]
    for (const headers of shapes) await get(agent, origin.url, '/', { headers })
    for (const line of seen) assert.equal(line, '/ a=mine; c=mine; b=jar; nameless')
    await get(agent, origin.url, '/', { headers: { cookie: 'a=x; b=y; anything' } })
    assert.equal(seen.at(-1), '/ a=x; b=y; anything')
    await get(agent, origin.url, '/', { headers: { cookie: '', Cookie: undefined } })
    assert.equal(seen.at(-1), '/ a=jar; b=jar; nameless')
  })

  test('inside of redirect every hop has its own cookies', async (t) => {
    const { origin, otherUrl, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const agent = composedAgent(
      t,
      wire,
      interceptors.cookies({ jar }),
      interceptors.redirect({ maxRedirections: 5 }),
    )
    jar.setCookie('theirs=1; Path=/', otherUrl)
    const back = `${origin.url}/end`
    const there = `${otherUrl}/there?${setting('more=1; Path=/')}&${to(back)}`
    const start = `/login?${setting('session=abc; Path=/', 'here=1')}&${to(`/next?${to(there)}`)}`
    // The caller's own header is for the first origin alone.
    await get(agent, origin.url, start, { headers: { cookie: 'mine=1', authorization: 'secret' } })
    assert.deepEqual(seen, [
      '/login mine=1',
      '/next mine=1; session=abc; here=1',
      '/there theirs=1',
      '/end session=abc; here=1',
    ])
    assert.equal(jar.getCookieHeader(`${otherUrl}/`), 'theirs=1; more=1')
  })

  test('outside of redirect it sees the first URL only, and leaks nothing', async (t) => {
    const { origin, otherUrl, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    jar.setCookie('session=abc; Path=/', origin.url)
    const redirect = interceptors.redirect({ maxRedirections: 5 })
    const agent = composedAgent(t, wire, redirect, interceptors.cookies({ jar }))
    await get(agent, origin.url, `/1?${to(`${otherUrl}/2?${setting('theirs=1')}`)}`)
    assert.deepEqual(seen, ['/1 session=abc', '/2 -'])
    assert.equal(jar.getCookieHeader(`${origin.url}/`), 'session=abc')
    assert.equal(jar.getCookieHeader(`${otherUrl}/`), 'theirs=1')
  })

  test('nothing is stored after redirects that another library has followed unseen', async () => {
    const jar = new CookieJar()
    const dispatcher = new ScriptedDispatcher()
    const response = dispatcher
      .compose(interceptors.cookies({ jar }))
      .request({ origin: 'http://a.test', path: '/', method: 'GET' })
    dispatcher.last.start({ history: [new URL('http://a.test/'), new URL('http://b.test/')] })
    dispatcher.last.head(200, { 'set-cookie': 'theirs=1' }).end()
    await response
    assert.equal(jar.size, 0)
  })

  test('every hop of a fetch has its own cookies, and none with credentials: omit', async (t) => {
    const { origin, otherUrl, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const dispatcher = composedAgent(t, wire, interceptors.cookies({ jar }))
    jar.setCookie('theirs=1; Path=/', otherUrl)
    const there = `${otherUrl}/there?${to(`${origin.url}/end`)}`
    const url = `${origin.url}/login?${setting('session=abc; Path=/')}&${to(`/next?${to(there)}`)}`
    const response = await fetch(url, { dispatcher, headers: { cookie: 'mine=1' } })
    assert.equal(await response.text(), 'done')
    assert.deepEqual(seen.splice(0), [
      '/login mine=1',
      '/next mine=1; session=abc',
      '/there theirs=1',
      '/end session=abc',
    ])
    await (await fetch(url, { dispatcher, credentials: 'omit' })).text()
    assert.deepEqual(seen.splice(0), ['/login -', '/next -', '/there -', '/end -'])
    for (const credentials of ['include', 'same-origin'] as const) {
      const { headers, body } = await fetch(`${origin.url}/?${setting('new=1')}`, { dispatcher, credentials })
      assert.deepEqual(headers.getSetCookie(), ['new=1'])
      await body?.cancel()
    }
    assert.deepEqual(seen, ['/ session=abc', '/ session=abc; new=1'])
  })

  test('many requests at a time lose no cookie', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    const agent = composedAgent(t, wire, interceptors.cookies({ jar }))
    const numbers = Array.from({ length: 40 }, (_, i) => i)
    await Promise.all(numbers.map((i) => get(agent, origin.url, `/?${setting(`n${i}=${i}`)}`)))
    await get(agent, origin.url, '/all')
    const sent = seen.at(-1)!.slice('/all '.length).split('; ').sort()
    assert.deepEqual(sent, numbers.map((i) => `n${i}=${i}`).sort())
  })

  test('two users with one agent, each with a jar', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const agent = composedAgent(t, wire)
    const users = ['ann', 'bob'].map((name) => ({
      name,
      agent: agent.compose(interceptors.cookies({ jar: new CookieJar() })),
    }))
    await Promise.all(users.map((user) => get(user.agent, origin.url, `/in?${setting(`user=${user.name}`)}`)))
    await Promise.all(users.map((user) => get(user.agent, origin.url, `/${user.name}`)))
    assert.deepEqual(seen.slice(2).sort(), ['/ann user=ann', '/bob user=bob'])
  })

  test('a jar that throws stores nothing, as one that rejects later', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const isPublicSuffix = (): boolean => {
      throw new Error('no list')
    }
    const agent = composedAgent(t, wire, interceptors.cookies({ jar: new CookieJar({ isPublicSuffix }) }))
    assert.equal(await get(agent, origin.url, `/?${setting('a=1; Domain=localhost')}`), 200)
    assert.equal(await get(agent, origin.url, '/'), 200)
    assert.equal(seen.at(-1), '/ -')
  })

  test('the name counts, not the address that dns puts in its place', async (t) => {
    const { origin, seen } = await startSite(t, wire)
    const jar = new CookieJar()
    jar.setCookie('a=1', origin.url)
    const dns = interceptors.dns({ dualStack: false })
    for (const order of [
      [dns, interceptors.cookies({ jar })],
      [interceptors.cookies({ jar }), dns],
    ]) {
      await get(composedAgent(t, wire, ...order), origin.url, '/')
    }
    assert.deepEqual(seen, ['/ a=1', '/ a=1'])
  })
})

/** The options that a scripted dispatcher gets. */
function sent(
  given: Partial<DispatchOptions>,
  jar: CookieJarLike,
  own?: string | null,
): { opts: DispatchOptions; dispatched: DispatchOptions } {
  const opts: DispatchOptions = { origin: 'http://a.test', path: '/', method: 'GET', ...given }
  let dispatched: DispatchOptions | null = null
  const dispatch = interceptors.cookies({ jar })((options) => {
    dispatched = options
    return true
  }, own)
  dispatch(opts, {})
  return { opts, dispatched: dispatched! }
}

describe('interceptors.cookies', () => {
  test('options are checked when it is made', () => {
    for (const [options, message] of [
      [5, 'options must be an object'],
      [{ jar: 5 }, 'jar must be a CookieJar'],
      [{ jar: {} }, 'jar must be a CookieJar'],
      [{ jar: new Map() }, 'jar must be a CookieJar'],
    ] as [CookiesOptions, string][]) {
      assert.throws(() => interceptors.cookies(options), { code: 'UND_ERR_INVALID_ARG', message })
    }
    for (const options of [undefined, null, {}, { jar: null }]) interceptors.cookies(options)
  })

  test('a wrong option of a request fails that request', async () => {
    const dispatcher = new ScriptedDispatcher().compose(interceptors.cookies())
    for (const cookies of ['no', 0, {}] as never[]) {
      const error = await failure(
        dispatcher.request({ origin: 'http://a.test', path: '/', method: 'GET', cookies }),
      )
      assert.equal(error.message, 'cookies must be a boolean or a CookieJar')
    }
  })

  test('a request without cookies is passed on as it is', () => {
    const jar = new CookieJar()
    for (const fill of [() => {}, () => jar.setCookie('a=1', 'http://b.test/')]) {
      fill()
      const { opts, dispatched } = sent({ headers: { x: '1' } }, jar)
      assert.equal(dispatched, opts)
    }
  })

  test('headers keep their shape, for other interceptors to read', () => {
    const jar = new CookieJar()
    jar.setCookie('a=1', 'http://a.test/')
    const given = { 'x-tenant': 'b', Cookie: 'c=1' }
    const { dispatched } = sent({ headers: given }, jar)
    assert.deepEqual(dispatched.headers, { 'x-tenant': 'b', cookie: 'c=1; a=1' })
    assert.deepEqual(given, { 'x-tenant': 'b', Cookie: 'c=1' })
    assert.deepEqual(sent({ headers: ['x', '1'] }, jar).dispatched.headers, ['x', '1', 'cookie', 'a=1'])
    assert.deepEqual(sent({ headers: null }, jar).dispatched.headers, { cookie: 'a=1' })
  })

  test('no cookies where the target is not a path of the origin', () => {
    const jar = new CookieJar()
    jar.setCookie('a=1', 'http://a.test/')
    jar.setCookie('b=1', 'http://b.test/')
    const rows: [given: Partial<DispatchOptions>, own?: string | null][] = [
      [{ method: 'CONNECT' }],
      [{ method: 'CONNECT', path: 'a.test:80' }],
      [{ method: 'OPTIONS', path: '*' }],
      [{ path: 'http://b.test/' }],
      [{ path: 'http://a.test/' }],
      [{ origin: 'nothing' }],
      [{ origin: 'ftp://a.test' }],
      [{ origin: undefined }, null],
      [{ path: undefined as never }],
      [{ origin: 'http://a.test' }, 'http://c.test'],
    ]
    for (const [given, own] of rows) {
      const { opts, dispatched } = sent(given, jar, own)
      assert.equal(dispatched, opts, JSON.stringify(given))
    }
    for (const given of [
      {},
      { origin: new URL('http://A.test') },
      { origin: 'http://a.test:8080/' },
      { path: '//b.test/' },
      { path: '/x', query: { a: 1 } },
      { upgrade: 'websocket' },
    ]) {
      assert.deepEqual(sent(given, jar).dispatched.headers, { cookie: 'a=1' }, JSON.stringify(given))
    }
  })

  test('what is not a call is for the dispatcher to refuse', () => {
    const dispatcher = new ScriptedDispatcher()
    const dispatch = interceptors.cookies()((opts, handler) => dispatcher.dispatch(opts, handler))
    dispatch(null as never, {})
    dispatch({} as never, null as never)
    assert.equal(dispatcher.exchanges.length, 2)
  })

  test('informational responses set nothing; errors and redirects do', async () => {
    const jar = new CookieJar()
    const dispatcher = new ScriptedDispatcher()
    const composed = dispatcher.compose(interceptors.cookies({ jar }))
    for (const [status, name] of [
      [103, 'early'],
      [302, 'moved'],
      [401, 'denied'],
      [503, 'busy'],
    ] as const) {
      const response = composed.request({ origin: 'http://a.test', path: '/', method: 'GET' })
      const { last } = dispatcher
      last.start().head(status, { 'set-cookie': `${name}=1` })
      if (status < 200) last.head(200, {})
      last.end()
      await (await response).body.dump()
    }
    assert.equal(jar.getCookieHeader('http://a.test/'), 'moved=1; denied=1; busy=1')
  })

  test('nothing that a server sends fails a request', async () => {
    const jar = new CookieJar()
    const dispatcher = new ScriptedDispatcher()
    const composed = dispatcher.compose(interceptors.cookies({ jar }))
    const response = composed.request({ origin: 'http://[::1]:8080', path: '/', method: 'GET' })
    const values = ['', '\0', '=', 'a'.repeat(70_000), `x=1${';'.repeat(70_000)}`, 'ok=1; Domain=[::1]']
    dispatcher.last.start().head(200, { 'set-cookie': values }).end()
    assert.equal((await response).statusCode, 200)
    assert.equal(jar.getCookieHeader('http://[::1]/'), 'x=1; ok=1')
  })

  test('a flood of cookies stays within the limits', () => {
    const jar = new CookieJar()
    const dispatch = interceptors.cookies({ jar })((_opts, handler) => {
      const values = Array.from({ length: 5000 }, (_, i) => `n${i}=1`)
      handler.onResponseStart?.({} as never, 200, { 'set-cookie': values }, '')
      return true
    })
    dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, {})
    assert.equal(jar.size, 50)
  })

  test('a BalancedPool has no host of its own, unless the request names one', async (t) => {
    const jar = new CookieJar()
    jar.setCookie('a=1', 'http://service.test/')
    const pool = new BalancedPool(['http://127.0.0.1:1'])
    t.after(() => pool.destroy())
    let headers: unknown
    const spy: Interceptor = () => (opts, handler) => {
      headers = opts.headers
      handler.onResponseError?.(null, new Error('seen'))
      return true
    }
    const composed = pool.compose(spy, interceptors.cookies({ jar }))
    await failure(composed.request({ path: '/', method: 'GET' }))
    assert.equal(headers, undefined)
    await failure(composed.request({ origin: 'http://service.test', path: '/', method: 'GET' }))
    assert.deepEqual(headers, { cookie: 'a=1' })
  })

  test('a jar whose methods are asynchronous and reject does not end the process', async () => {
    const strays: unknown[] = []
    const note = (reason: unknown): void => void strays.push(reason)
    process.on('unhandledRejection', note)
    const reject = (): Promise<never> => Promise.reject(new Error('not in the domain of this host'))
    const dispatcher = new ScriptedDispatcher()
    const target = { origin: 'http://a.test', path: '/', method: 'GET' } as const
    for (const getCookieHeader of [() => '', reject as unknown as () => string]) {
      const jar: CookieJarLike = { getCookieHeader, setCookie: reject }
      const response = dispatcher.compose(interceptors.cookies({ jar })).request(target)
      dispatcher.last.start().head(200, { 'set-cookie': 'a=1; Domain=b.test' }).end()
      await response
    }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', note)
    assert.deepEqual(strays, [])
  })

  test('a jar may be any object with the two methods', async () => {
    const calls: unknown[] = []
    const jar: CookieJarLike = {
      getCookieHeader: ({ href }) => `url=${href}`,
      setCookie: (cookie, { href }) => calls.push([cookie, href]),
    }
    const dispatcher = new ScriptedDispatcher()
    const response = dispatcher
      .compose(interceptors.cookies({ jar }))
      .request({ origin: 'http://a.test', path: '/x', method: 'GET' })
    dispatcher.last
      .start()
      .head(200, { 'set-cookie': ['a=1', 'b=2'] })
      .end()
    await response
    assert.deepEqual(dispatcher.last.opts.headers, { cookie: 'url=http://a.test/x' })
    assert.deepEqual(calls, [
      ['a=1', 'http://a.test/x'],
      ['b=2', 'http://a.test/x'],
    ])
  })
})

describe('a WebSocket through interceptors.cookies', () => {
  test('sends cookies with its handshake, and stores those of the answer', async (t) => {
    const server = await startRawServer(t, { headers: { 'set-cookie': 'fresh=1; Path=/' } })
    const jar = new CookieJar()
    const url = `http://127.0.0.1:${server.port}/`
    jar.setCookie('session=abc; HttpOnly', url)
    const dispatcher = server.client.compose(interceptors.cookies({ jar }))
    const [socket] = await server.pair({ dispatcher })
    assert.equal(server.requests[0]?.headers.cookie, 'session=abc')
    assert.equal(jar.getCookieHeader(`ws://127.0.0.1:${server.port}/`), 'session=abc; fresh=1')
    socket.close()
  })

  test('over HTTP/2 as well', async (t) => {
    const server = http2.createServer({ settings: { enableConnectProtocol: true } })
    const sessions: http2.ServerHttp2Session[] = []
    const seen: (string | undefined)[] = []
    server.on('session', (session) => sessions.push(session))
    server.on('stream', (stream, headers) => {
      seen.push(headers.cookie)
      stream.on('error', () => {})
      stream.respond({ ':status': 200, 'set-cookie': 'fresh=1; Path=/' })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const origin = `http://localhost:${port}`
    const client = new H2CClient(origin)
    t.after(async () => {
      await client.destroy()
      for (const session of sessions) session.destroy()
      server.close()
    })
    const jar = new CookieJar()
    jar.setCookie('session=abc', origin)
    const dispatcher = client.compose(interceptors.cookies({ jar }))
    await opened(new WebSocket(`ws://localhost:${port}/chat`, { dispatcher }))
    assert.deepEqual(seen, ['session=abc'])
    assert.equal(jar.getCookieHeader(origin), 'session=abc; fresh=1')
  })
})

/** Two users of one cache, and the responses that they get. */
class SharedCache {
  readonly exchanges: Exchange[] = []
  readonly users: readonly Agent[]

  constructor(head: (cookie: string) => HeaderObject, build: (cookies: Interceptor) => Interceptor[]) {
    const dispatcher = new ScriptedDispatcher((exchange) => {
      this.exchanges.push(exchange)
      const cookie = cookieOf(exchange.opts)
      queueMicrotask(() => exchange.start().head(200, head(cookie)).data(cookie).end())
    })
    this.users = ['ann', 'bob'].map((name) => {
      const jar = new CookieJar()
      jar.setCookie(`user=${name}`, 'http://a.test/')
      return dispatcher.compose(...build(interceptors.cookies({ jar }))) as unknown as Agent
    })
  }

  async pages(): Promise<string[]> {
    const texts: string[] = []
    for (const user of [...this.users, ...this.users]) {
      const { body } = await user.request({ origin: 'http://a.test', path: '/', method: 'GET' })
      texts.push(await body.text())
      await turn()
    }
    return texts
  }
}

describe('interceptors.cookies outside of a cache', () => {
  const own = ['user=ann', 'user=bob', 'user=ann', 'user=bob']

  test('the cache sees the cookies: vary keeps users apart', async () => {
    const store = new cacheStores.MemoryCacheStore()
    const head = () => ({ 'cache-control': 'max-age=60', vary: 'cookie', date: new Date().toUTCString() })
    const shared = new SharedCache(head, (cookies) => [interceptors.cache({ store }), cookies])
    assert.deepEqual(await shared.pages(), own)
    assert.equal(shared.exchanges.length, 2, 'each has a stored response')
  })

  test('without vary, a partition by the cookies keeps users apart', async () => {
    const store = new cacheStores.MemoryCacheStore()
    const head = () => ({ 'cache-control': 'max-age=60', date: new Date().toUTCString() })
    const shared = new SharedCache(head, (cookies) => [
      interceptors.cache({ store, partition: cookieOf }),
      cookies,
    ])
    assert.deepEqual(await shared.pages(), own)
    assert.equal(shared.exchanges.length, 2)
  })

  test('a response that sets a cookie is not stored by a shared cache', async () => {
    const store = new cacheStores.MemoryCacheStore()
    const head = () => ({
      'cache-control': 'max-age=60',
      date: new Date().toUTCString(),
      'set-cookie': 'seen=1',
    })
    const shared = new SharedCache(head, (cookies) => [interceptors.cache({ store }), cookies])
    const pages = await shared.pages()
    assert.deepEqual(pages, ['user=ann', 'user=bob', 'user=ann; seen=1', 'user=bob; seen=1'])
  })

  test('a private cache does not set the cookies of a stored response again', async () => {
    const jar = new CookieJar()
    const dispatcher = new ScriptedDispatcher((exchange) => {
      const isNew = !JSON.stringify(exchange.opts.headers ?? []).includes('if-none-match')
      const headers = {
        'cache-control': 'max-age=60',
        date: new Date().toUTCString(),
        etag: '"1"',
        'set-cookie': 'session=old',
      }
      const again = { 'cache-control': 'max-age=60', date: headers.date, etag: '"1"' }
      queueMicrotask(() => {
        if (isNew) exchange.start().head(200, headers).data('page').end()
        else exchange.start().head(304, again).end()
      })
    })
    const composed = dispatcher.compose(
      interceptors.cache({ type: 'private' }),
      interceptors.cookies({ jar }),
    )
    const load = async (headers: HeadersInput = {}): Promise<string> => {
      const { body } = await composed.request({ origin: 'http://a.test', path: '/', method: 'GET', headers })
      const text = await body.text()
      await turn()
      return text
    }
    await load()
    assert.equal(jar.getCookieHeader('http://a.test/'), 'session=old')
    jar.setCookie('session=new', 'http://a.test/')
    assert.equal(await load(), 'page')
    assert.equal(dispatcher.exchanges.length, 1, 'from the store')
    assert.equal(jar.getCookieHeader('http://a.test/'), 'session=new')
    assert.equal(await load({ 'cache-control': 'no-cache' }), 'page')
    assert.equal(dispatcher.exchanges.length, 2, 'confirmed by the origin')
    assert.equal(jar.getCookieHeader('http://a.test/'), 'session=new')
  })
})

describe('a cache or deduplicate outside of interceptors.cookies', () => {
  /** Pages of two users who share a dispatcher, with a jar for each request. */
  async function pagesOf(...order: Interceptor[]): Promise<string[]> {
    const dispatcher = new ScriptedDispatcher((exchange) => {
      const headers = { 'cache-control': 'max-age=60', date: new Date().toUTCString() }
      setImmediate(() => exchange.start().head(200, headers).data(cookieOf(exchange.opts)).end())
    }).compose(...order)
    const jars = ['ann', 'bob'].map((name) => {
      const jar = new CookieJar()
      jar.setCookie(`user=${name}`, 'http://a.test/')
      return jar
    })
    return Promise.all(
      jars.map(async (cookies) => {
        const { body } = await dispatcher.request({
          origin: 'http://a.test',
          path: '/',
          method: 'GET',
          cookies,
        })
        return body.text()
      }),
    )
  }

  test('a request with its own jar never gets the response of another user', async () => {
    const own = ['user=ann', 'user=bob']
    assert.deepEqual(await pagesOf(interceptors.cookies(), interceptors.cache()), own)
    assert.deepEqual(await pagesOf(interceptors.cookies(), interceptors.deduplicate()), own)
    assert.deepEqual(await pagesOf(interceptors.deduplicate(), interceptors.cookies()), own)
  })

  test('inside, requests with a jar share and store as others do', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => {
      const headers = { 'cache-control': 'max-age=60', vary: 'cookie', date: new Date().toUTCString() }
      setImmediate(() => exchange.start().head(200, headers).data('page').end())
    })
    const composed = dispatcher.compose(
      interceptors.deduplicate(),
      interceptors.cache(),
      interceptors.cookies(),
    )
    const cookies = new CookieJar()
    cookies.setCookie('a=1', 'http://a.test/')
    for (let i = 0; i < 2; i++) {
      const { body } = await composed.request({ origin: 'http://a.test', path: '/', method: 'GET', cookies })
      assert.equal(await body.text(), 'page')
      await turn()
    }
    assert.equal(dispatcher.exchanges.length, 1)
  })
})

function cookieOf({ headers }: DispatchOptions): string {
  return String((headers as Record<string, unknown> | undefined)?.['cookie'] ?? '')
}
