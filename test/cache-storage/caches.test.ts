import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import {
  type Cache,
  caches,
  getGlobalDispatcher,
  Request,
  Response,
  setGlobalDispatcher,
} from '../../src/index.ts'
import { agentFor } from '../fetch/agent-for.ts'
import { failure } from '../support/exchange.ts'
import { startOrigin, WIRES, type Wire } from '../support/wire.ts'

const URL_A = 'http://a.test/'
let opened = 0

/** An empty cache. */
function emptyCache(t: TestContext): Promise<Cache> {
  const name = `cache ${++opened}`
  t.after(() => caches.delete(name))
  return caches.open(name)
}

async function origin(t: TestContext, wire: Wire = WIRES[0]!): Promise<{ url: string; urls: string[] }> {
  const urls: string[] = []
  const { url } = await startOrigin(t, wire, (request, response) => {
    urls.push(request.url!)
    const [, status] = /^\/(\d{3})$/.exec(request.url!) ?? []
    if (status !== undefined) response.statusCode = Number(status)
    if (request.url === '/vary') response.setHeader('vary', 'accept, *')
    if (request.url === '/slow') return
    if (request.url === '/cut') {
      response.write('first', () => request.socket.destroy())
      return
    }
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(`body of ${request.url}`)
  })
  const before = getGlobalDispatcher()
  setGlobalDispatcher(agentFor(t, wire))
  t.after(() => setGlobalDispatcher(before))
  return { url, urls }
}

describe('caches', () => {
  test('has caches by name, in the order in which they were opened', async (t) => {
    const names = ['z', 'a', '5']
    for (const name of names) {
      assert.equal(await caches.has(name), false)
      await caches.open(name)
      t.after(() => caches.delete(name))
    }
    await caches.open(5 as never)
    assert.deepEqual(await caches.keys(), names)
    assert.equal(await caches.has('a'), true)
    assert.equal(await caches.delete('a'), true)
    assert.equal(await caches.delete('a'), false)
    assert.deepEqual(await caches.keys(), ['z', '5'])
  })

  test('open returns a new object each time, of the same cache', async (t) => {
    const first = await emptyCache(t)
    const name = (await caches.keys()).at(-1)!
    const second = await caches.open(name)
    assert.notEqual(second, first)
    await first.put(URL_A, new Response('by the first'))
    assert.equal(await (await second.match(URL_A))?.text(), 'by the first')
    await second.delete(URL_A)
    assert.equal(await first.match(URL_A), undefined)
    await caches.delete(name)
    const anew = await caches.open(name)
    await second.put(URL_A, new Response('of the deleted one'))
    assert.equal(await anew.match(URL_A), undefined, 'another cache of the same name')
    assert.equal(await (await first.match(URL_A))?.text(), 'of the deleted one')
  })

  test('a stored request has no signal of its caller', async (t) => {
    const cache = await emptyCache(t)
    const controller = new AbortController()
    for (const [i, Class] of [Request, globalThis.Request].entries()) {
      const request = new Class(`${URL_A}${i}`, { signal: controller.signal, headers: { a: '1' } })
      await cache.put(request as Request, new Response('x'))
    }
    controller.abort(new Error('too late'))
    const keys = await cache.keys()
    assert.deepEqual(
      keys.map(({ url, signal, headers }) => [url, signal.aborted, headers.get('a')]),
      [
        [`${URL_A}0`, false, '1'],
        [`${URL_A}1`, false, '1'],
      ],
    )
    const aborted = new Request(`${URL_A}2`, { signal: AbortSignal.abort() })
    await cache.put(aborted, new Response('y'))
    assert.equal((await cache.keys(aborted))[0]?.signal.aborted, false)
  })

  test('put and match look at the entries of their URL alone, however many there are', async (t) => {
    const [empty, large] = [await emptyCache(t), await emptyCache(t)]
    for (let i = 0; i < 1000; i++) await large.put(`${URL_A}${i}?q`, new Response('x'))
    const RealUrl = URL
    let parsed = 0
    t.after(() => {
      globalThis.URL = RealUrl
    })
    globalThis.URL = class extends RealUrl {
      constructor(...args: ConstructorParameters<typeof RealUrl>) {
        super(...args)
        parsed++
      }
    }
    const costs: number[] = []
    for (const cache of [empty, large]) {
      parsed = 0
      await cache.put(`${URL_A}new`, new Response('x'))
      assert.equal((await cache.matchAll(`${URL_A}new`)).length, 1)
      costs.push(parsed)
    }
    // The last URL may be remembered.
    assert.ok(costs[1]! <= costs[0]!, `${costs[1]} URLs parsed, ${costs[0]} in an empty cache`)
    assert.equal((await large.keys()).length, 1001)
    assert.equal((await large.keys(`${URL_A}5`, { ignoreSearch: true })).length, 1)
  })

  test('variants of one URL stand beside each other, in the order in which they were stored', async (t) => {
    const cache = await emptyCache(t)
    const as = (language: string): Request => new Request(URL_A, { headers: { 'accept-language': language } })
    const page = (text: string): Response => new Response(text, { headers: { vary: 'accept-language' } })
    for (const language of ['de', 'fr', 'it']) await cache.put(as(language), page(language))
    await cache.put(`${URL_A}other`, new Response('other'))
    await cache.put(as('de'), page('de, newer'))
    const texts = async (found: readonly Response[]): Promise<string[]> =>
      Promise.all(found.map((response) => response.text()))
    assert.deepEqual(await texts(await cache.matchAll()), ['fr', 'it', 'other', 'de, newer'])
    assert.deepEqual(await texts(await cache.matchAll(as('de'))), ['de, newer'])
    assert.deepEqual(await texts(await cache.matchAll(URL_A, { ignoreVary: true })), [
      'fr',
      'it',
      'de, newer',
    ])
    assert.equal(await cache.delete(as('it')), true)
    assert.deepEqual(await texts(await cache.matchAll(URL_A, { ignoreVary: true })), ['fr', 'de, newer'])
    assert.equal(await cache.delete(URL_A, { ignoreVary: true }), true)
    assert.deepEqual(await texts(await cache.matchAll()), ['other'])
  })

  test('match looks into all caches, or into one', async (t) => {
    const [first, second] = [await emptyCache(t), await emptyCache(t)]
    const [, name] = await caches.keys()
    await first.put(`${URL_A}1`, new Response('first 1'))
    await second.put(`${URL_A}1`, new Response('second 1'))
    await second.put(`${URL_A}2?x`, new Response('second 2'))
    const text = async (path: string, options = {}): Promise<string | undefined> =>
      (await caches.match(`${URL_A}${path}`, options))?.text()
    assert.equal(await text('1'), 'first 1')
    assert.equal(await text('1', { cacheName: name }), 'second 1')
    assert.equal(await text('1', { cacheName: 'unknown' }), undefined)
    assert.equal(await text('2', { ignoreSearch: true }), 'second 2')
    assert.equal(await text('3'), undefined)
  })

  test('no class can be constructed', async (t) => {
    const cache = await emptyCache(t)
    for (const [object, name] of [
      [caches, 'CacheStorage'],
      [cache, 'Cache'],
    ] as const) {
      const made = object.constructor
      assert.equal(made.name, name)
      assert.equal(Object.prototype.toString.call(object), `[object ${name}]`)
      assert.throws(() => Reflect.construct(made, []), {
        name: 'TypeError',
        message: 'TypeError: Illegal constructor',
      })
    }
  })

  test('missing arguments reject', async (t) => {
    const cache = (await emptyCache(t)) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    const storage = caches as unknown as typeof cache
    for (const name of ['match', 'has', 'open', 'delete']) {
      const { message } = await failure(storage[name]!())
      assert.equal(message, `CacheStorage.${name}: 1 argument required, but 0 found.`)
    }
    for (const name of ['match', 'add', 'addAll', 'delete']) {
      const { message } = await failure(cache[name]!())
      assert.equal(message, `Cache.${name}: 1 argument required, but 0 found.`)
    }
    const put = 'Cache.put: 2 arguments required, but'
    assert.equal((await failure(cache['put']!())).message, `${put} 0 found.`)
    assert.equal((await failure(cache['put']!(URL_A))).message, `${put} only 1 found.`)
    const options = 'Expected 5 to be one of: Null, Undefined, Object.'
    assert.equal((await failure(cache['match']!(URL_A, 5))).message, `Cache.match: ${options}`)
    assert.equal((await failure(storage['match']!(URL_A, 5))).message, `CacheStorage.match: ${options}`)
    assert.equal((await failure(cache['match']!('/relative'))).message, 'Failed to parse URL from /relative')
  })
})

describe('put and match', () => {
  test('a response comes back as it was, as often as it is asked for', async (t) => {
    const cache = await emptyCache(t)
    const headers: [string, string][] = [
      ['x-a', '1'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]
    const response = new Response('text', { status: 201, statusText: 'Made', headers })
    assert.equal(await cache.put(URL_A, response), undefined)
    assert.equal(response.bodyUsed, true)
    for (let i = 0; i < 2; i++) {
      const found = (await cache.match(URL_A))!
      assert.ok(found instanceof Response)
      assert.deepEqual([found.status, found.statusText, found.type, found.url], [201, 'Made', 'default', ''])
      assert.deepEqual(found.headers.getSetCookie(), ['a=1', 'b=2'])
      assert.equal(found.headers.get('x-a'), '1')
      assert.throws(() => found.headers.set('x-a', '2'), TypeError)
      assert.equal(found.bodyUsed, false)
      assert.equal(await found.text(), 'text')
    }
  })

  test('what a reader does with the bytes does not change what is stored', async (t) => {
    const cache = await emptyCache(t)
    await cache.put(URL_A, new Response('text'))
    new Uint8Array(await (await cache.match(URL_A))!.arrayBuffer()).fill(0)
    const reader = (await cache.match(URL_A))!.body!.getReader()
    ;(await reader.read()).value!.fill(0)
    assert.equal(await (await cache.match(URL_A))!.clone().text(), 'text')
  })

  test('a response without a body', async (t) => {
    const cache = await emptyCache(t)
    await cache.put(URL_A, new Response(null, { status: 204 }))
    const found = (await cache.match(URL_A))!
    assert.deepEqual([found.status, found.body], [204, null])
  })

  test('requests and responses of the runtime', async (t) => {
    const cache = await emptyCache(t)
    const request = new globalThis.Request(URL_A, { headers: { 'x-a': '1' } })
    const response = new globalThis.Response('theirs', { headers: { vary: 'x-a' } })
    await cache.put(request as never, response as never)
    assert.equal(await cache.match(URL_A), undefined)
    assert.equal(await (await cache.match(request as never))!.text(), 'theirs')
    assert.equal((await cache.keys())[0]!.headers.get('x-a'), '1')
    assert.equal(await cache.delete(request as never), true)
  })

  test('the fragment is ignored, the query on demand', async (t) => {
    const cache = await emptyCache(t)
    await cache.put(`${URL_A}p?a=1#f`, new Response('x'))
    assert.ok(await cache.match(`${URL_A}p?a=1#other`))
    assert.equal(await cache.match(`${URL_A}p?a=2`), undefined)
    assert.ok(await cache.match(`${URL_A}p?a=2`, { ignoreSearch: true }))
    assert.equal(await cache.match(`${URL_A}q`, { ignoreSearch: true }), undefined)
  })

  test('only GET matches, unless the method is ignored', async (t) => {
    const cache = await emptyCache(t)
    await cache.put(URL_A, new Response('x'))
    const request = new Request(URL_A, { method: 'POST', body: 'body' })
    assert.equal(await cache.match(request), undefined)
    assert.ok(await cache.match(request, { ignoreMethod: true }))
    assert.equal(request.bodyUsed, false)
  })

  test('vary keeps the responses apart', async (t) => {
    const cache = await emptyCache(t)
    const requests = ['de', 'en'].map(
      (language) => new Request(URL_A, { headers: { 'Accept-Language': language } }),
    )
    for (const request of requests) {
      const headers = { vary: 'accept-language , X-Other' }
      await cache.put(request, new Response(request.headers.get('accept-language'), { headers }))
    }
    for (const request of requests) {
      assert.equal(await (await cache.match(request))!.text(), request.headers.get('accept-language'))
    }
    assert.equal(await cache.match(URL_A), undefined)
    assert.equal((await cache.matchAll(URL_A, { ignoreVary: true })).length, 2)
    await cache.put(requests[0]!, new Response('new', { headers: { vary: 'accept-language' } }))
    const all = await Promise.all((await cache.matchAll()).map((response) => response.text()))
    assert.deepEqual(all, ['en', 'new'])
  })

  test('a request that changes afterwards does not change the stored one', async (t) => {
    const cache = await emptyCache(t)
    const request = new Request(URL_A, { headers: { 'x-a': '1' } })
    await cache.put(request, new Response('x', { headers: { vary: 'x-a' } }))
    request.headers.set('x-a', '2')
    const [stored] = await cache.keys()
    stored!.headers.set('x-a', '3')
    assert.ok(await cache.match(new Request(URL_A, { headers: { 'x-a': '1' } })))
  })

  test('matchAll, keys and delete', async (t) => {
    const cache = await emptyCache(t)
    for (const path of ['1', '2', '3?x']) await cache.put(`${URL_A}${path}`, new Response(path))
    assert.ok(Object.isFrozen(await cache.matchAll()) && Object.isFrozen(await cache.keys()))
    assert.deepEqual(
      (await cache.keys()).map(({ url }) => url),
      ['1', '2', '3?x'].map((path) => `${URL_A}${path}`),
    )
    assert.equal((await cache.keys(`${URL_A}3`)).length, 0)
    assert.equal((await cache.keys(`${URL_A}3`, { ignoreSearch: true })).length, 1)
    assert.equal((await cache.matchAll(`${URL_A}2`)).length, 1)
    assert.equal(await cache.delete(`${URL_A}2`), true)
    assert.equal(await cache.delete(`${URL_A}2`), false)
    assert.equal((await cache.matchAll()).length, 2)
  })

  test('refuses', async (t) => {
    const cache = await emptyCache(t)
    const used = new Response('x')
    await used.text()
    const locked = new Response('x')
    locked.body!.getReader()
    const scheme = 'Cache.put: Expected an http/s scheme when method is not GET'
    const unusable = 'Cache.put: Response body is locked or disturbed'
    for (const [request, response, message] of [
      [new Request(URL_A, { method: 'POST' }), new Response('x'), scheme],
      ['ftp://a.test/', new Response('x'), scheme],
      [URL_A, new Response('x', { status: 206 }), 'Cache.put: Got 206 status'],
      [URL_A, new Response('x', { headers: { vary: 'a, *' } }), 'Cache.put: Got * vary field value'],
      [URL_A, used, unusable],
      [URL_A, locked, unusable],
      [URL_A, 5, 'Cache.put: Expected response ("5") to be an instance of Response.'],
    ] as const) {
      const error = await failure(cache.put(request, response as never))
      assert.deepEqual([error.name, error.message], ['TypeError', message])
    }
    assert.equal((await cache.keys()).length, 0)
  })
})

describe('add and addAll', () => {
  for (const wire of [WIRES[0]!, WIRES[3]!]) {
    test(`what is stored can be read back, over ${wire.name}`, async (t) => {
      const { url, urls } = await origin(t, wire)
      const cache = await emptyCache(t)
      assert.equal(await cache.add(`${url}/ok#fragment`), undefined)
      assert.equal(
        await cache.addAll([`${url}/1`, new Request(`${url}/2`), new globalThis.Request(`${url}/3`)]),
        undefined,
      )
      for (const path of ['/ok', '/2', '/3']) {
        const found = (await cache.match(`${url}${path}`))!
        assert.deepEqual([found.status, found.url, found.type], [200, `${url}${path}`, 'basic'])
        assert.deepEqual(found.headers.getSetCookie(), ['a=1', 'b=2'])
        assert.equal(await found.text(), `body of ${path}`)
      }
      assert.equal(urls.length, 4)
      assert.equal((await cache.matchAll()).length, 4)
    })
  }

  test('refuse', async (t) => {
    const { url } = await origin(t)
    const cache = await emptyCache(t)
    const failed = 'Cache.addAll: Received an invalid status code or the request failed.'
    for (const [request, message] of [
      ['ftp://a.test/', 'Cache.addAll: Expected http/s scheme.'],
      [new Request(url, { method: 'POST' }), 'Cache.addAll: Expected http/s scheme when method is not GET.'],
      [undefined, 'Cache.addAll: Argument 1 could not be converted to: undefined is not allowed.'],
      [`${url}/206`, failed],
      [`${url}/404`, failed],
      [`${url}/500`, failed],
      ['http://127.0.0.1:1/', failed],
      [`${url}/cut`, failed],
      [`${url}/vary`, 'Cache.addAll: invalid vary field value'],
    ] as const) {
      for (const add of [() => cache.add(request as never), () => cache.addAll([request as never])]) {
        const error = await failure(add())
        assert.deepEqual([error.name, error.message], ['TypeError', message])
      }
    }
    assert.equal((await failure(cache.addAll(5 as never))).name, 'TypeError')
    assert.equal((await cache.keys()).length, 0)
  })

  test('one failure stores nothing, and ends the others', async (t) => {
    const { url } = await origin(t)
    const cache = await emptyCache(t)
    await failure(cache.addAll([`${url}/ok`, `${url}/slow`, `${url}/404`]))
    assert.equal((await cache.keys()).length, 0)
  })

  test('duplicates are an InvalidStateError', async (t) => {
    const { url } = await origin(t)
    const cache = await emptyCache(t)
    const error = await failure(cache.addAll([`${url}/d`, `${url}/d#other`]))
    assert.deepEqual(
      [error.name, error.message],
      ['InvalidStateError', 'Cache.addAll: two of the requests match'],
    )
    assert.equal((await cache.keys()).length, 0)
  })
})
