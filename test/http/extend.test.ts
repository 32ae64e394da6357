import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEFAULTS, readCallSettings, readSettings, type Settings } from '../../src/http/settings.ts'
import { Client, CookieJar, errors, type HttpCallOptions, type HttpOptions, http } from '../../src/index.ts'
import { type Echo, failure } from '../support/exchange.ts'
import { jsonOf, setStage } from './stage.ts'

function extended(...options: HttpOptions[]): Settings {
  return options.reduce<Settings>((parent, own) => readSettings(own, parent), DEFAULTS)
}

/** What a client has after it was extended twice. */
const MERGED: readonly {
  readonly name: string
  readonly parent: HttpOptions
  readonly child: HttpOptions
  readonly member: (settings: Settings) => unknown
  readonly is: unknown
}[] = [
  {
    name: 'headers by name, in any case',
    parent: { headers: { 'X-A': '1', 'x-b': '1' } },
    child: { headers: new Headers({ 'x-a': '2' }) },
    member: ({ headers }) => ({ ...headers }),
    is: { 'x-a': '2', 'x-b': '1' },
  },
  {
    name: 'headers without those that are undefined',
    parent: { headers: { 'x-a': '1', 'x-b': 2 } },
    child: { headers: { 'X-A': undefined } },
    member: ({ headers }) => ({ ...headers }),
    is: { 'x-b': '2' },
  },
  {
    name: 'query by name',
    parent: { query: { a: 1, b: [1, 2] } },
    child: { query: { b: 3, c: undefined } },
    member: ({ query }) => [...query!.values()].flat(),
    is: ['a=1', 'b=3'],
  },
  {
    name: 'timeout by member',
    parent: { timeout: { attempt: 1, total: 2 } },
    child: { timeout: { total: 3 } },
    member: ({ attempt, total }) => [attempt, total],
    is: [1, 3],
  },
  {
    name: 'timeout: 0 for no limit',
    parent: { timeout: { total: 2 } },
    child: { timeout: { total: 0 } },
    member: ({ total }) => total,
    is: 0,
  },
  {
    name: 'retry by member',
    parent: { retry: { maxRetries: 1, minTimeout: 2 } },
    child: { retry: 5 },
    member: ({ retry }) => retry,
    is: { maxRetries: 5, minTimeout: 2 },
  },
  {
    name: 'retry: true with the options of the parent',
    parent: { retry: { minTimeout: 2 } },
    child: { retry: true },
    member: ({ retry }) => retry,
    is: { minTimeout: 2 },
  },
  {
    name: 'retry: false',
    parent: { retry: 2 },
    child: { retry: false },
    member: ({ retry }) => retry,
    is: null,
  },
  {
    name: 'baseUrl in place of the former one',
    parent: { baseUrl: 'http://a/' },
    child: { baseUrl: 'http://b/' },
    member: ({ base }) => base!.href,
    is: 'http://b/',
  },
  {
    name: 'baseUrl below the former one',
    parent: { baseUrl: 'http://a/v1' },
    child: { baseUrl: 'users' },
    member: ({ base }) => base!.href,
    is: 'http://a/v1/users/',
  },
  {
    name: 'throwOnError',
    parent: { throwOnError: false },
    child: {},
    member: ({ throwOnError }) => throwOnError,
    is: false,
  },
  {
    name: 'redirect by member',
    parent: { redirect: { allow: () => false } },
    child: { redirect: 3 },
    member: ({ redirect }) => [redirect.maxRedirections, typeof redirect.allow],
    is: [3, 'function'],
  },
  {
    name: 'undefined as not given',
    parent: { baseUrl: 'http://a/', retry: 2, headers: { a: '1' } },
    child: { baseUrl: undefined, retry: undefined, headers: undefined },
    member: ({ base, retry, headers }) => [base!.href, retry, { ...headers }],
    is: ['http://a/', { maxRetries: 2 }, { a: '1' }],
  },
]

describe('extend() merges', () => {
  for (const { name, parent, child, member, is } of MERGED) {
    test(name, () => {
      const former = extended(parent)
      const before = JSON.stringify(member(former))
      assert.deepEqual(member(readSettings(child, former)), is)
      assert.equal(JSON.stringify(member(former)), before)
    })
  }

  test('hooks one after the other, those of a call last', async (t) => {
    const order: string[] = []
    const hook = (name: string) => () => {
      order.push(name)
    }
    const { api } = await setStage(t, undefined, jsonOf(1), { hooks: { beforeRequest: hook('parent') } })
    const child = api.extend({ hooks: { beforeRequest: [hook('child'), hook('second')] } })
    await child.get('x', { hooks: { beforeRequest: hook('call') } }).json()
    assert.deepEqual(order, ['parent', 'child', 'second', 'call'])
    await api.get('x').json()
    assert.deepEqual(order.slice(4), ['parent'])
  })

  test('and a call does in the same way', () => {
    const parent = extended({ headers: { 'x-a': '1' }, timeout: { attempt: 1 }, retry: 2 })
    const own: HttpCallOptions = {
      headers: { 'x-a': undefined, 'x-b': '2' },
      timeout: { total: 5 },
      retry: false,
    }
    const { headers, attempt, total, retry } = readCallSettings(own as HttpOptions, parent)
    assert.deepEqual([{ ...headers }, attempt, total, retry], [{ 'x-b': '2' }, 1, 5, null])
  })
})

describe('a client', () => {
  test('shares what its interceptors have learnt with its children', async (t) => {
    let served = 0
    const { api } = await setStage(
      t,
      undefined,
      (request, response) => {
        const setCookie = request.url!.endsWith('login') ? { 'set-cookie': 'sid=1' } : {}
        response.writeHead(200, { ...setCookie, 'cache-control': 'max-age=60' })
        response.end(JSON.stringify([++served, request.headers.cookie ?? null]))
      },
      { cookies: new CookieJar(), cache: true },
    )
    await api.get('login').json()
    const child = api.extend({ headers: { 'x-a': '1' } })
    assert.deepEqual(await child.get('x').json(), [2, 'sid=1'])
    assert.deepEqual(await api.get('x').json(), [2, 'sid=1'])
    assert.deepEqual(await api.extend({ cache: false }).get('x', { cookies: false }).json(), [3, null])
  })

  test('has methods that can be taken out of it', async (t) => {
    const { api } = await setStage(t)
    const { get, post, request } = api
    assert.equal((await get('x').json<Echo>()).method, 'GET')
    assert.equal((await post('x').json<Echo>()).method, 'POST')
    assert.equal((await request('PROPFIND', 'x').json<Echo>()).method, 'PROPFIND')
  })

  test('has the credentials of auth for the origin of its base', async (t) => {
    const { api, url } = await setStage(t, undefined, undefined, {
      auth: { basic: { username: 'ada', password: 'x' } },
    })
    const other = await setStage(t)
    const sent = async (client: typeof api, path: string | URL) =>
      (await client.get(path).json<Echo>()).headers['authorization']
    assert.equal(await sent(api, 'x'), 'Basic YWRhOng=')
    assert.equal(await sent(api, new URL(`${other.url}/v1/x`)), undefined)
    assert.equal(await sent(api.extend({ auth: false }), 'x'), undefined)
    assert.equal(await sent(api.extend({ baseUrl: `${other.url}/` }), 'x'), 'Basic YWRhOng=')
    assert.equal(
      await sent(
        http.extend({ auth: { basic: { username: 'ada', password: 'x' }, origins: url } }),
        `${url}/x`,
      ),
      'Basic YWRhOng=',
    )
  })

  test('with auth says that it needs a base, or origins', async (t) => {
    const { api, url } = await setStage(t)
    const auth = { basic: { username: 'ada', password: 'x' } }
    assert.throws(() => http.extend({ auth }).get(`${url}/x`), {
      code: 'UND_ERR_INVALID_ARG',
      message: 'auth needs a baseUrl, or its option origins: who gets the credentials?',
    })
    await api.extend({ auth }).get('x')
  })

  test('asks for a token once for all calls that a 401 ends', async (t) => {
    let tokens = 0
    const { api, seen } = await setStage(
      t,
      undefined,
      (request, response) => {
        response.writeHead(request.headers.authorization === 'Bearer 2' ? 200 : 401)
        response.end('{}')
      },
      { auth: { bearer: async () => `${++tokens}` } },
    )
    await Promise.all([1, 2, 3].map((id) => api.get(`users/${id}`).json()))
    assert.deepEqual([tokens, seen.length], [2, 6])
  })

  test('refuses a dispatcher that sends elsewhere', async (t) => {
    const { url } = await setStage(t)
    const client = new Client(url)
    t.after(() => client.destroy())
    assert.throws(
      () => http.extend({ baseUrl: 'http://elsewhere/', dispatcher: client }),
      /the dispatcher sends to http:\/\/localhost:\d+, not to the baseUrl http:\/\/elsewhere\//,
    )
    const api = http.extend({ baseUrl: url, dispatcher: client })
    assert.equal((await api.get('x').json<Echo>()).url, '/x')
    assert.throws(() => api.get(new URL('http://elsewhere/')), errors.InvalidArgumentError)
  })

  test('is not http itself where it can be closed', async () => {
    assert.match((await failure(http.close())).message, /close a client that extend\(\) has made/)
  })
})

test('a query of the call and of the path wins over that of the client', async (t) => {
  const { api } = await setStage(t, undefined, undefined, { query: { a: 1, b: 1, c: 1 } })
  assert.equal((await api.get('x?a=2', { query: { b: [2, 3] } }).json<Echo>()).url, '/v1/x?a=2&b=2&b=3&c=1')
  const query = new URLSearchParams([
    ['c', '2'],
    ['c', 'ü&'],
  ])
  assert.equal((await api.get('x', { query }).json<Echo>()).url, '/v1/x?a=1&b=1&c=2&c=%C3%BC%26')
  assert.equal((await api.get('x', { query: { a: undefined } }).json<Echo>()).url, '/v1/x?b=1&c=1')
})
