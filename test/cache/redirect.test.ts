/** Redirects and the cache: outside of it each hop is stored, inside of it the last response under the first URL. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { cache } from '../../src/cache/interceptor.ts'
import type { CacheOptions } from '../../src/cache/options.ts'
import type { Dispatch, Interceptor } from '../../src/dispatcher/compose.ts'
import { interceptors } from '../../src/index.ts'
import { redirect } from '../../src/interceptor/redirect/interceptor.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'
import { composedAgent, overTwoWires } from '../interceptor/two-wires.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startOrigin } from '../support/wire.ts'
import { type Answer, type Clock, httpDate, installDate, ORIGIN, type Received, scripted } from './support.ts'

const follow: Interceptor = redirect({ maxRedirections: 5 })

const to = (location: string, control = 'max-age=60', more: HeaderObject = {}): Answer => ({
  status: 302,
  headers: { location, 'cache-control': control, ...more },
})
const page = (control = 'max-age=60', more: HeaderObject = {}): Answer => ({
  headers: { 'cache-control': control, ...more },
  body: 'page',
})

interface Site {
  readonly clock: Clock
  readonly received: Received[]
  get(headers?: HeaderObject, path?: string, method?: string): Promise<RecordingHandler>
}

/** `answers` by path, or by URL for another origin. */
function site(
  t: TestContext,
  answers: Record<string, Answer>,
  options: CacheOptions = {},
  between: readonly Interceptor[] = [follow],
): Site {
  const clock = installDate(t)
  const origin = scripted(({ opts, path }) => {
    const other = String(opts.origin) === ORIGIN ? path : `${opts.origin}${path}`
    return answers[other] ?? { status: 404 }
  })
  let { dispatch }: { dispatch: Dispatch } = origin
  for (const interceptor of between) dispatch = interceptor(dispatch, undefined)
  const outer = cache(options)(dispatch, undefined)
  return {
    clock,
    received: origin.received,
    get: (headers = {}, path = '/a', method = 'GET') => {
      const handler = new RecordingHandler()
      outer({ origin: ORIGIN, path, method, headers: headers as Record<string, string> }, handler)
      return handler.settled
    },
  }
}

/** How many requests two equal ones cause. */
async function sent(from: Site, headers: HeaderObject = {}): Promise<number> {
  for (let i = 0; i < 2; i++) await from.get(headers)
  return from.received.length
}

describe('redirect inside the cache', () => {
  test('a response without a redirect is stored as ever', async (t) => {
    assert.equal(await sent(site(t, { '/a': page() })), 1)
  })

  test('the last response is stored under the first URL, and only there', async (t) => {
    const from = site(t, { '/a': to('/b'), '/b': page('max-age=60', { etag: '"1"' }) })
    assert.equal((await from.get()).body, 'page')
    const hit = await from.get()
    assert.deepEqual([hit.body, hit.headers!['age'], hit.headers!['etag']], ['page', '0', '"1"'])
    assert.equal(from.received.length, 2)
    await from.get({}, '/b')
    assert.equal(from.received.length, 3)
  })

  const rows: [title: string, redirect: Answer, last: Answer, stored: boolean, headers?: HeaderObject][] = [
    ['a redirect without a lifetime', { status: 302, headers: { location: '/b' } }, page(), false],
    ['a redirect that is not fresh', to('/b', 'max-age=0'), page(), false],
    ['a redirect with no-store', to('/b', 'no-store'), page(), false],
    ['a redirect with no-cache', to('/b', 'max-age=60, no-cache'), page(), false],
    ['a redirect with a qualified no-cache', to('/b', 'max-age=60, no-cache="x"'), page(), false],
    ['a redirect with must-revalidate', to('/b', 'max-age=60, must-revalidate'), page(), false],
    ['a redirect with private', to('/b', 'max-age=60, private'), page(), false],
    ['a redirect with a qualified private', to('/b', 'max-age=60, private="x"'), page(), false],
    ['a redirect with set-cookie', to('/b', 'max-age=60', { 'set-cookie': 'a=b' }), page(), false],
    ['a redirect with vary: *', to('/b', 'max-age=60', { vary: '*' }), page(), false],
    ['a last response that is not stored', to('/b'), page('no-store'), false],
    ['a last response with no-cache', to('/b'), page('no-cache', { etag: '"1"' }), false],
    ['a last response with a qualified no-cache', to('/b'), page('max-age=60, no-cache="x"'), false],
    ['a last response with must-revalidate', to('/b'), page('max-age=60, must-revalidate'), true],
    [
      'authorization',
      to('/b', 'public, max-age=60'),
      page('public, max-age=60'),
      false,
      { authorization: 'x' },
    ],
    ['cookie', to('/b'), page(), false, { cookie: 'a=b' }],
    ['proxy-authorization', to('/b'), page(), false, { 'proxy-authorization': 'x' }],
    ['another header', to('/b'), page(), true, { accept: 'text/html' }],
  ]
  for (const [title, first, last, stored, headers] of rows) {
    test(`${title}: ${stored ? 'stored' : 'not stored'}`, async (t) => {
      assert.equal(await sent(site(t, { '/a': first, '/b': last }), headers), stored ? 2 : 4)
    })
  }

  test('the same holds in a private cache', async (t) => {
    const answers = { '/a': to('/b', 'max-age=60, private'), '/b': page() }
    assert.equal(await sent(site(t, answers, { type: 'private' })), 4)
  })

  test('the shortest lifetime counts, and the age of each', async (t) => {
    const from = site(t, {
      '/a': to('/b', 'max-age=30'),
      '/b': to('/c', 'max-age=20', { age: '10' }),
      '/c': page('max-age=60'),
    })
    await from.get()
    from.clock.advance(9_999)
    await from.get()
    assert.equal(from.received.length, 3)
    from.clock.advance(1)
    await from.get()
    assert.equal(from.received.length, 6)
  })

  for (const [which, first, second, left] of [
    ['the first', 16, 60, 9_000],
    ['the second', 60, 16, 12_000],
  ] as const) {
    test(`a redirect ages while it is waited for: ${which}`, async (t) => {
      const after = (seconds: number, answer: Answer): Answer => {
        from.clock.advance(seconds * 1000)
        return answer
      }
      const from: Site = site(t, {
        get '/a'() {
          return after(3, to('/b', `max-age=${first}`))
        },
        get '/b'() {
          return after(4, to('/c', `max-age=${second}`))
        },
        '/c': page(),
      })
      await from.get()
      from.clock.advance(left - 1)
      await from.get()
      assert.equal(from.received.length, 3)
      from.clock.advance(1)
      await from.get()
      assert.equal(from.received.length, 6)
    })
  }

  test('it is never used when stale, and never confirmed: its validators are those of another URL', async (t) => {
    const stale = 'max-age=10, stale-while-revalidate=100, stale-if-error=100'
    const last = page(stale, { etag: '"1"', 'last-modified': httpDate(Date.UTC(2025, 0, 1)) })
    const answers: Record<string, Answer> = { '/a': to('/b', stale), '/b': last }
    const from = site(t, answers, { staleIfError: 100_000 })
    await from.get()
    await from.get({ 'cache-control': 'no-cache' })
    assert.deepEqual(
      from.received.map(({ headers }) => Object.keys(headers).includes('if-none-match')),
      [false, false, false, false],
    )
    from.clock.advance(10_000)
    answers['/a'] = { status: 503 }
    const { status } = await from.get({ 'cache-control': 'max-stale' })
    assert.equal(status, 503)
    assert.deepEqual(from.received[4]!.headers, { 'cache-control': 'max-stale' })
  })

  test('vary of every part counts', async (t) => {
    const from = site(t, {
      '/a': to('/b', 'max-age=60', { vary: 'x-one' }),
      '/b': page('max-age=60', { vary: 'x-two' }),
    })
    const one = { 'x-one': '1', 'x-two': '1' }
    await from.get(one)
    await from.get(one)
    assert.equal(from.received.length, 2)
    await from.get({ ...one, 'x-one': '2' })
    assert.equal(from.received.length, 4)
    await from.get({ ...one, 'x-two': '2' })
    assert.equal(from.received.length, 6)
    await from.get(one)
    assert.equal(from.received.length, 6)
  })

  test('a 304 after a redirect does not confirm what is stored', async (t) => {
    const answers: Record<string, Answer> = { '/a': page('max-age=10', { etag: '"1"' }) }
    const from = site(t, answers)
    await from.get()
    from.clock.advance(10_000)
    answers['/a'] = to('/b')
    answers['/b'] = { status: 304, headers: { etag: '"1"' } }
    await from.get()
    // The conditional request, and a plain one in its place.
    const conditions = from.received.map(({ opts }) => JSON.stringify(opts.headers).includes('if-none-match'))
    assert.deepEqual(conditions, [false, true, true, false, false])
  })

  test('a HEAD that was redirected does not describe what is stored', async (t) => {
    const answers: Record<string, Answer> = {
      '/a': page('max-age=10', { etag: '"1"', 'content-length': '4' }),
    }
    const from = site(t, answers, { methods: ['GET', 'HEAD'] })
    await from.get()
    from.clock.advance(5_000)
    answers['/a'] = to('/b')
    answers['/b'] = { headers: { etag: '"1"', 'content-length': '4', 'cache-control': 'max-age=1000' } }
    await from.get({ 'cache-control': 'no-cache' }, '/a', 'HEAD')
    from.clock.advance(5_000)
    const before = from.received.length
    await from.get()
    assert.ok(from.received.length > before)
  })

  for (const [title, last] of [
    ['succeeds', page()],
    ['is refused', { status: 500 }],
    ['fails', { error: new Error('lost') }],
  ] as const) {
    test(`a change that is redirected invalidates every URL on its way, if the last request ${title}`, async (t) => {
      const answers: Record<string, Answer> = { '/a': page(), '/b': page(), '/c': page(), '/other': page() }
      const from = site(t, answers)
      const paths = Object.keys(answers)
      for (const path of paths) await from.get({}, path)
      assert.equal(from.received.length, 4)
      Object.assign(answers, { '/a': to('/b'), '/b': to('/c'), '/c': last })
      await from.get({}, '/a', 'POST')
      const before = from.received.length
      for (const path of paths) answers[path] = page('no-store')
      for (const path of paths) await from.get({}, path)
      assert.deepEqual(
        from.received.slice(before).map(({ path }) => path),
        ['/a', '/b', '/c'],
      )
    })
  }

  test('a change that is redirected elsewhere does not invalidate what has the same path here', async (t) => {
    const answers: Record<string, Answer> = { '/a': page(), '/b': page(), 'http://away.test/b': page() }
    const from = site(t, answers)
    for (const path of ['/a', '/b']) await from.get({}, path)
    answers['/a'] = to('http://away.test/b')
    await from.get({}, '/a', 'POST')
    const before = from.received.length
    await from.get({}, '/b')
    assert.equal(from.received.length, before)
  })

  test('a partition keeps it', async (t) => {
    const answers = { '/a': to('/b'), '/b': page() }
    assert.equal(await sent(site(t, answers, { partition: () => 'tenant' })), 2)
  })

  test('two interceptors that follow redirects are as one', async (t) => {
    const answers = { '/a': to('/b'), '/b': page() }
    assert.equal(await sent(site(t, answers, {}, [follow, follow])), 2)
    const unshared = { '/a': to('/b', 'private'), '/b': page() }
    assert.equal(await sent(site(t, unshared, {}, [follow, follow])), 4)
  })

  test('redirects that another library has followed are not stored', async (t) => {
    const foreign: Interceptor = (dispatch) => (opts, handler) =>
      dispatch(opts, {
        ...calls(handler as RecordingHandler),
        onRequestStart: (controller) =>
          (handler as RecordingHandler).onRequestStart(controller, { history: [new URL(ORIGIN)] }),
      })
    assert.equal(await sent(site(t, { '/a': page() }, {}, [foreign])), 2)
    assert.equal(await sent(site(t, { '/a': page() }, {}, [foreign, follow])), 2)
  })

  for (const [title, first, last] of [
    ['a redirect with no-store', to('/b', 'no-store'), page()],
    ['a redirect that is stale', to('/b', 'max-age=0', { etag: '"1"' }), page()],
    ['a last response with no-cache', to('/b'), page('max-age=60, no-cache', { etag: '"1"' })],
  ] as const) {
    test(`cacheStatus says why: ${title}`, async (t) => {
      const { headers } = await site(t, { '/a': first, '/b': last }, { cacheStatus: 'app' }).get()
      assert.equal(headers!['cache-status'], 'app; fwd=miss; detail=redirect')
    })
  }
})

function calls(handler: RecordingHandler): RecordingHandler {
  return {
    onResponseStart: handler.onResponseStart.bind(handler),
    onResponseData: handler.onResponseData.bind(handler),
    onResponseEnd: handler.onResponseEnd.bind(handler),
    onResponseError: handler.onResponseError.bind(handler),
  } as unknown as RecordingHandler
}

describe('redirect outside the cache', () => {
  test('each hop is an entry of its own', async (t) => {
    installDate(t)
    const origin = scripted(({ path }) => (path === '/a' ? to('/b') : page()))
    const dispatch = follow(cache()(origin.dispatch, undefined), undefined)
    const get = (path: string): Promise<RecordingHandler> => {
      const handler = new RecordingHandler()
      dispatch({ origin: ORIGIN, path, method: 'GET' }, handler)
      return handler.settled
    }
    for (const path of ['/a', '/a', '/b']) assert.equal((await get(path)).body, 'page')
    assert.deepEqual(
      origin.received.map(({ path }) => path),
      ['/a', '/b'],
    )
  })
})

overTwoWires('redirect inside the cache', (wire) => {
  test('security 2: a hop to another origin and back does not poison the first URL', async (t) => {
    let version = 0
    const home = await startOrigin(t, wire, (request, response) => {
      version++
      const control = { 'cache-control': 'public, max-age=60' }
      if (request.url === '/back') response.writeHead(200, control).end(`planted ${version}`)
      else response.writeHead(302, { ...control, location: `${away.url}/` }).end()
    })
    const away = await startOrigin(t, wire, (_request, response) => {
      const control = { 'cache-control': 'public, max-age=60' }
      response.writeHead(302, { ...control, location: `${home.url}/back` }).end()
    })
    const agent = composedAgent(
      t,
      wire,
      interceptors.redirect({ maxRedirections: 5 }),
      interceptors.cache({ collapse: true }),
    )
    const get = async (): Promise<string> =>
      (await agent.request({ origin: home.url, path: '/', method: 'GET' })).body.text()
    assert.equal(await get(), 'planted 2')
    assert.equal(await get(), 'planted 4')
  })

  test('a redirect within the origin is stored', async (t) => {
    let count = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      count++
      const control = { 'cache-control': 'max-age=60' }
      if (request.url === '/') response.writeHead(301, { ...control, location: '/b' }).end()
      else response.writeHead(200, control).end('page')
    })
    const follows = interceptors.redirect({ maxRedirections: 5 })
    for (const dispatcher of [
      composedAgent(t, wire, follows, interceptors.cache()),
      origin.client().compose(follows, interceptors.cache()),
    ]) {
      count = 0
      for (let i = 0; i < 2; i++) {
        const { body } = await dispatcher.request({ origin: origin.url, path: '/', method: 'GET' })
        assert.equal(await body.text(), 'page')
      }
      assert.equal(count, 2)
    }
  })
})
