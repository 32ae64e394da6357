/** Redirects and the responses that fetch treats specially, on our dispatchers. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import {
  FormData,
  type ReferrerPolicy,
  type RequestInitWithDispatcher,
  type Response,
  setGlobalOrigin,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { contentOf, deferred, type Echo, echo, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** Status, requested method, method that arrives, whether the body arrives. */
const ROWS: [status: number, method: string, arrives: string, withBody: boolean][] = [
  [301, 'POST', 'GET', false],
  [302, 'POST', 'GET', false],
  [301, 'PUT', 'PUT', true],
  [303, 'POST', 'GET', false],
  [303, 'PUT', 'GET', false],
  [307, 'POST', 'POST', true],
  [308, 'PUT', 'PUT', true],
]

function stream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('once'))
      controller.close()
    },
  })
}

overEachWire('a redirect', (wire) => {
  /** `/301` and so on lead to `/there`, which reports its request. */
  const start = (t: TestContext) =>
    startOrigin(t, wire, async (request, response) => {
      const status = Number(request.url!.slice(1, 4))
      if (!status) return echo(request, response)
      await contentOf(request)
      response.writeHead(status, { location: '/there' }).end()
    })

  test('which method and body follow it', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    for (const [status, method, arrives, withBody] of ROWS) {
      const content = {
        'content-language': 'de',
        'content-encoding': 'identity',
        'content-location': '/here',
      }
      const headers = { ...content, 'content-length': '4', 'x-own': '1' }
      const init = { dispatcher, method, body: 'text', headers }
      const response = await fetch(`${origin.url}/${status}`, init)
      assert.deepEqual([response.redirected, response.url], [true, `${origin.url}/there`])
      const got = (await response.json()) as Echo
      assert.deepEqual([got.method, got.body], [arrives, withBody ? 'text' : ''], `${status} ${method}`)
      for (const [name, value] of Object.entries(content)) {
        assert.equal(got.headers[name], withBody ? value : undefined, `${status} ${method} ${name}`)
      }
      assert.equal(got.headers['content-type'] !== undefined, withBody)
      assert.equal(got.headers['content-length'], withBody ? '4' : undefined)
      assert.equal(got.headers['x-own'], '1')
    }
  })

  test('GET, HEAD and other methods without a body stay', async (t) => {
    const seen: string[] = []
    const origin = await startOrigin(t, wire, (request, response) => {
      seen.push(request.method!)
      const status = Number(request.url!.slice(1))
      response.writeHead(status || 200, status ? { location: '/there' } : {}).end()
    })
    const dispatcher = agentFor(t, wire)
    for (const status of [301, 302, 303, 307, 308]) {
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        seen.length = 0
        const response = await fetch(`${origin.url}/${status}`, { dispatcher, method })
        assert.equal(response.redirected, true)
        const arrives = status === 303 && method === 'DELETE' ? 'GET' : method
        assert.deepEqual(seen, [method, arrives], `${status} ${method}`)
      }
    }
  })

  test('bodies of every kind that can be sent again, over several hops', async (t) => {
    const seen: string[] = []
    const origin = await startOrigin(t, wire, async (request, response) => {
      seen.push((await contentOf(request)).toString())
      const left = Number(request.url!.slice(1))
      if (left > 0) response.writeHead(left % 2 === 0 ? 307 : 308, { location: `/${left - 1}` })
      response.end('answer')
    })
    const dispatcher = agentFor(t, wire)
    const bodies = ['text', Buffer.from('text'), new Blob(['te', 'xt']), new URLSearchParams('text')]
    for (const body of bodies) {
      seen.length = 0
      const response = await fetch(`${origin.url}/4`, { dispatcher, method: 'PUT', body })
      assert.equal(await response.text(), 'answer')
      const sent = body instanceof URLSearchParams ? 'text=' : 'text'
      assert.deepEqual(seen, Array(5).fill(sent))
    }
  })

  test('a stream cannot be sent again, but 303 needs none', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    const post = (status: number): Promise<Response> =>
      fetch(`${origin.url}/${status}`, {
        dispatcher,
        method: 'POST',
        body: stream(),
        duplex: 'half',
      } as RequestInitWithDispatcher)
    const error = await failure(post(307))
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
    assert.equal(((await (await post(303)).json()) as Echo).method, 'GET')
  })

  test('to another origin: without what was meant for the first', async (t) => {
    const other = await startOrigin(t, wire, echo)
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const secrets = { authorization: 'secret', 'proxy-authorization': 'secret', cookie: 'a=b' }
    const headers = { ...secrets, 'x-own': '1' }
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire), headers })
    const got = ((await response.json()) as Echo).headers
    for (const name of Object.keys(secrets)) assert.equal(got[name], undefined, name)
    assert.equal(got['x-own'], '1')
    assert.equal(got[wire.multiplexes ? ':authority' : 'host'], `localhost:${other.port}`)
  })

  test('twenty of them, and no more', async (t) => {
    let hops = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      const left = Number(request.url!.slice(1))
      hops++
      if (left === 0) response.end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const dispatcher = agentFor(t, wire)
    assert.equal(await (await fetch(`${origin.url}/20`, { dispatcher })).text(), 'there')
    hops = 0
    const error = await failure(fetch(`${origin.url}/21`, { dispatcher }))
    assert.equal((error.cause as Error).message, 'redirect count exceeded')
    assert.equal(hops, 21)
  })

  test('error refuses it, manual hands it out', async (t) => {
    const origin = await start(t)
    const dispatcher = agentFor(t, wire)
    const error = await failure(fetch(`${origin.url}/302`, { dispatcher, redirect: 'error' }))
    assert.deepEqual([error.name, (error.cause as Error).message], ['TypeError', 'unexpected redirect'])
    const response = await fetch(`${origin.url}/302`, { dispatcher, redirect: 'manual' })
    assert.deepEqual([response.status, response.headers.get('location')], [302, '/there'])
    assert.deepEqual([response.redirected, response.type], [false, 'basic'])
  })
})

overEachWire('where a redirect leads', (wire) => {
  /** Answers `/go` with the location that the test sets, `/there…` with its request. */
  async function start(t: TestContext, location: (url: string) => string, headers = {}) {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url !== '/go') return echo(request, response)
      response.writeHead(302, { location: Buffer.from(location(origin.url)).toString('latin1'), ...headers })
      response.end('moved')
    })
    return origin
  }
  const follow = async (t: TestContext, location: string | ((url: string) => string), init = {}) => {
    const origin = await start(t, typeof location === 'string' ? () => location : location)
    return fetch(`${origin.url}/go#mine`, { dispatcher: agentFor(t, wire), ...init })
  }
  const refused = async (t: TestContext, location: string | ((url: string) => string), init = {}) => {
    const error = await failure(follow(t, location, init) as Promise<unknown>)
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
    return error.cause as NodeJS.ErrnoException
  }

  test('a path in UTF-8, a query, a URL in full', async (t) => {
    for (const [location, path] of [
      ['/grün', '/gr%C3%BCn'],
      ['there?', '/there?'],
      ['?a=b', '/go?a=b'],
    ] as const) {
      const response = await follow(t, location)
      assert.equal(((await response.json()) as Echo).url, path)
    }
    const whole = await follow(t, (url) => `${url}/there#x`)
    assert.equal(((await whole.json()) as Echo).url, '/there')
    assert.equal(new URL(whole.url).hash, '')
  })

  test('without a location it is the response', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.writeHead(302).end('here'))
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    assert.deepEqual([response.status, response.redirected, await response.text()], [302, false, 'here'])
  })

  test('nowhere', async (t) => {
    assert.equal((await refused(t, 'http://')).code, 'ERR_INVALID_URL')
    assert.equal((await refused(t, 'ftp://a.test/')).message, 'URL scheme must be a HTTP(S) scheme')
    assert.equal((await refused(t, 'data:,x')).message, 'URL scheme must be a HTTP(S) scheme')
    assert.equal((await refused(t, 'http://a.test:1/')).message, 'bad port')
    const sameOrigin = await refused(t, 'http://a.test/', { mode: 'same-origin' })
    assert.equal(sameOrigin.message, 'request mode cannot be "same-origin"')
  })

  describe('a URL with credentials', () => {
    const withUser = (url: string): string => url.replace('://', '://user:pass@')
    const CROSS_ORIGIN = 'cross origin not allowed for request mode "cors"'

    test('in mode cors: not without a client of the same origin', async (t) => {
      assert.equal((await refused(t, 'http://user:pass@a.test/')).message, CROSS_ORIGIN)
      assert.equal((await refused(t, (url) => `${withUser(url)}/there`)).message, CROSS_ORIGIN)
      t.after(() => setGlobalOrigin(undefined))
      setGlobalOrigin('http://client.test')
      assert.equal((await refused(t, (url) => `${withUser(url)}/there`)).message, CROSS_ORIGIN)
    })

    test("in mode cors: within the client's origin, and not after another one", async (t) => {
      const other = await startOrigin(t, wire, (_, response) => {
        response.writeHead(302, { location: `${withUser(origin.url)}/there` }).end()
      })
      const origin = await start(t, (url) => (foreign ? other.url : `${withUser(url)}/there`))
      t.after(() => setGlobalOrigin(undefined))
      setGlobalOrigin(origin.url)
      let foreign = false
      const init = { dispatcher: agentFor(t, wire) }
      const within = await fetch(`${origin.url}/go`, init)
      assert.equal(((await within.json()) as Echo).url, '/there')
      foreign = true
      const MESSAGE = 'URL cannot contain credentials for request mode "cors"'
      for (const url of [`${origin.url}/go`, other.url]) {
        const error = await failure(fetch(url, init))
        assert.equal((error.cause as Error).message, MESSAGE)
      }
    })

    test('in the other modes it is followed, and the credentials are not sent', async (t) => {
      for (const mode of ['no-cors', 'same-origin'] as const) {
        const response = await follow(t, (url) => `${withUser(url)}/there`, { mode })
        const got = (await response.json()) as Echo
        assert.deepEqual([got.url, got.headers['authorization']], ['/there', undefined])
      }
      const other = await startOrigin(t, wire, (request, response) => {
        if (request.url === '/there') response.end('there')
        else response.writeHead(302, { location: withUser(`${other.url}/there`) }).end()
      })
      const opaque = await follow(t, () => `${other.url}/again`, { mode: 'no-cors' })
      assert.equal(opaque.type, 'opaque')
    })
  })

  test('back from another origin, the response is still one from elsewhere', async (t) => {
    const other = await startOrigin(t, wire, (_, response) => {
      response.writeHead(302, { location: `${origin.url}/there` }).end()
    })
    const origin = await start(t, () => other.url)
    const dispatcher = agentFor(t, wire)
    assert.equal((await fetch(`${origin.url}/go`, { dispatcher })).type, 'cors')
    assert.equal((await fetch(`${origin.url}/go`, { dispatcher, mode: 'no-cors' })).type, 'opaque')
  })

  test('a body that is a stream: the cause says why', async (t) => {
    const origin = await startOrigin(t, wire, async (request, response) => {
      await contentOf(request)
      response.writeHead(307, { location: '/there' }).end()
    })
    const init = { method: 'POST', body: stream(), duplex: 'half' } as const
    const error = await failure(fetch(origin.url, { dispatcher: agentFor(t, wire), ...init }))
    assert.match((error.cause as Error).message, /stream/)
  })

  test('the boundary of a form stays, and so does the type of a body that is sent again', async (t) => {
    const seen: string[] = []
    const origin = await startOrigin(t, wire, async (request, response) => {
      seen.push(`${request.headers['content-type']} ${await contentOf(request)}`)
      if (request.url === '/go') response.writeHead(307, { location: '/there' })
      response.end()
    })
    const form = new FormData()
    form.append('a', new File(['b'], 'c'))
    await (
      await fetch(`${origin.url}/go`, { dispatcher: agentFor(t, wire), method: 'POST', body: form })
    ).text()
    assert.equal(seen.length, 2)
    assert.equal(seen[0], seen[1])
  })

  test('to another origin: cors, nothing filtered; no-cors: nothing told', async (t) => {
    const other = await startOrigin(t, wire, (_, response) => {
      response.writeHead(201, { 'x-secret': '1' }).end('content')
    })
    const origin = await startOrigin(t, wire, (_, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const dispatcher = agentFor(t, wire)
    const open = await fetch(origin.url, { dispatcher })
    assert.deepEqual([open.type, open.status, open.headers.get('x-secret')], ['cors', 201, '1'])
    assert.equal(await open.text(), 'content')
    const opaque = await fetch(origin.url, { dispatcher, mode: 'no-cors' })
    const { type, status, ok, url, body, redirected } = opaque
    assert.deepEqual([type, status, ok, url, body, redirected], ['opaque', 0, false, '', null, false])
    assert.deepEqual([...opaque.headers], [])
    assert.equal((await fetch(other.url, { dispatcher })).type, 'basic')
  })

  test('credentials that were dropped do not come back with the way back', async (t) => {
    const other = await startOrigin(t, wire, (_, response) => {
      response.writeHead(302, { location: `${origin.url}/there` }).end()
    })
    const origin = await start(t, () => other.url)
    const headers = { authorization: 'secret', 'proxy-authorization': 'secret', cookie: 'a=b', 'x-own': '1' }
    const response = await fetch(`${origin.url}/go`, { dispatcher: agentFor(t, wire), headers })
    const got = ((await response.json()) as Echo).headers
    assert.deepEqual(
      [got['authorization'], got['proxy-authorization'], got['cookie'], got['x-own']],
      [undefined, undefined, undefined, '1'],
    )
  })

  test('the body of the redirect is read away, and its connection used again', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/there') response.end('there')
      else response.writeHead(302, { location: '/there' }).end('x'.repeat(50_000))
    })
    const client = origin.client({ pipelining: 1 })
    const response = await fetch(origin.url, { dispatcher: client })
    assert.equal(await response.text(), 'there')
    assert.equal(origin.sockets.length, 1)
  })

  test('an endless body of a redirect is given up', async (t) => {
    const gone = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/there') return void response.end('there')
      response.writeHead(302, { location: '/there' })
      response.on('close', () => gone.resolve())
      const more = (): void => {
        if (!response.destroyed && response.write(Buffer.alloc(16_384))) setImmediate(more)
        else response.once('drain', more)
      }
      more()
    })
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    assert.equal(await response.text(), 'there')
    await gone.promise
  })

  test('an abort after a redirect', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/there') arrived.resolve()
      else response.writeHead(302, { location: '/there' }).end()
    })
    const controller = new AbortController()
    const failed = failure(fetch(origin.url, { dispatcher: agentFor(t, wire), signal: controller.signal }))
    await arrived.promise
    controller.abort('late')
    assert.equal(await failed, 'late' as never)
  })

  test('an abort after a redirect also ends the body that the first server is still getting', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      request.on('error', () => {}).resume()
      if (request.url === '/there') arrived.resolve()
      // Without an end, for then there would be nothing left to send.
      else response.writeHead(303, { location: '/there' }).write('moved')
    })
    const ended = deferred()
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) {
          yield 'x'
          await new Promise(setImmediate)
        }
      } finally {
        ended.resolve()
      }
    }
    const controller = new AbortController()
    const { signal } = controller
    const init = { method: 'POST', body: endless(), duplex: 'half', signal } as const
    const failed = failure(fetch(origin.url, { dispatcher: agentFor(t, wire), ...init }))
    await arrived.promise
    controller.abort('late')
    assert.equal(await failed, 'late' as never)
    await ended.promise
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

/** With a global origin, `referer` and `origin` are sent; their values depend on all previous hops. */
overEachWire('referrer and origin on the way', (wire) => {
  async function way(t: TestContext, init: object, fields: object = {}) {
    const last = await startOrigin(t, wire, echo)
    const second = await startOrigin(t, wire, (_, response) => {
      response.writeHead(307, { location: last.url, ...fields }).end()
    })
    const first = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/direct') return echo(request, response)
      response.writeHead(307, { location: request.url === '/once' ? last.url : second.url, ...fields }).end()
    })
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin(`${first.url}/page?query#fragment`)
    const ask = async (path: string): Promise<Echo['headers']> => {
      const response = await fetch(first.url + path, { dispatcher: agentFor(t, wire), ...init })
      return ((await response.json()) as Echo).headers
    }
    return { first, ask }
  }

  test('each hop is told what the policy lets it know of the client', async (t) => {
    const { first, ask } = await way(t, {})
    const direct = await ask('/direct')
    assert.deepEqual([direct['referer'], direct['origin']], [`${first.url}/page?query`, undefined])
    const once = await ask('/once')
    assert.deepEqual([once['referer'], once['origin']], [`${first.url}/`, first.url])
    const twice = await ask('/twice')
    assert.deepEqual([twice['referer'], twice['origin']], [`${first.url}/`, 'null'])
  })

  test('the policy of a response counts from then on', async (t) => {
    const { ask } = await way(t, { method: 'POST' }, { 'referrer-policy': 'no-referrer' })
    assert.equal((await ask('/once'))['referer'], undefined)
    const unsafe = { method: 'POST', referrerPolicy: 'unsafe-url' }
    const { first, ask: unknown } = await way(t, unsafe, { 'referrer-policy': 'unknown' })
    assert.equal((await unknown('/once'))['referer'], `${first.url}/page?query`)
  })

  test('unsafe-url, no-referrer and a referrer of its own', async (t) => {
    const { first, ask } = await way(t, { referrerPolicy: 'unsafe-url', method: 'POST' })
    const unsafe = await ask('/twice')
    assert.equal(unsafe['referer'], `${first.url}/page?query`)
    assert.equal((await ask('/direct'))['origin'], first.url)
    const { ask: silent } = await way(t, { referrerPolicy: 'no-referrer', method: 'POST' })
    const none = await silent('/direct')
    assert.deepEqual([none['referer'], none['origin']], [undefined, 'null'])
    const { ask: hidden } = await way(t, { referrer: '' })
    assert.equal((await hidden('/direct'))['referer'], undefined)
  })

  test('what one hop was not told, no response can disclose to the next', async (t) => {
    const disclose = { 'referrer-policy': 'unsafe-url' }
    const rows: [policy: ReferrerPolicy | '', told: 'none' | 'origin' | 'all'][] = [
      ['no-referrer', 'none'],
      ['origin', 'origin'],
      ['strict-origin', 'origin'],
      ['unsafe-url', 'all'],
    ]
    const told = (url: string) => ({ none: undefined, origin: `${url}/`, all: `${url}/page?query` })
    for (const [referrerPolicy, expected] of rows) {
      for (const referrer of ['about:client', '/page?query']) {
        const { first, ask } = await way(t, { referrerPolicy, referrer }, disclose)
        for (const path of ['/once', '/twice']) {
          assert.equal((await ask(path))['referer'], told(first.url)[expected], `${referrerPolicy} ${path}`)
        }
      }
    }
    // The second hop is foreign: there, the default policy leaves the origin alone.
    const { first, ask } = await way(t, {}, { 'referrer-policy': 'origin-when-cross-origin' })
    assert.equal((await ask('/twice'))['referer'], `${first.url}/`)
  })

  test('a referrer without a global origin is reduced, too', async (t) => {
    const last = await startOrigin(t, wire, echo)
    const first = await startOrigin(t, wire, (_, response) => {
      response.writeHead(307, { location: last.url, 'referrer-policy': 'unsafe-url' }).end()
    })
    for (const [referrerPolicy, expected] of [
      ['no-referrer', undefined],
      ['origin', 'https://page.test/'],
    ] as const) {
      const referrer = 'https://page.test/secret?query'
      const init = { dispatcher: agentFor(t, wire), referrer, referrerPolicy }
      const got = (await (await fetch(first.url, init)).json()) as Echo
      assert.equal(got.headers['referer'], expected)
    }
  })
})

overEachWire('an answer of its own kind', (wire) => {
  test('407 is an error', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.writeHead(407).end())
    const error = await failure(fetch(origin.url, { dispatcher: agentFor(t, wire) }))
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
    assert.match((error.cause as Error).message, /proxy/)
  })

  test('401 is a response like any other', async (t) => {
    let count = 0
    const origin = await startOrigin(t, wire, (_, response) => {
      count++
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end('who?')
    })
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire), credentials: 'include' })
    assert.deepEqual([response.status, await response.text(), count], [401, 'who?', 1])
  })
})

overEachWire('421', (wire) => {
  test('is asked again once, with its body; not a stream', async (t) => {
    let count = 0
    const origin = await startOrigin(t, wire, async (request, response) => {
      const body = await contentOf(request)
      if (++count % 2 === 1 || request.url === '/always') response.writeHead(421).end('wrong')
      else response.end(body)
    })
    const dispatcher = agentFor(t, wire)
    const response = await fetch(origin.url, { dispatcher, method: 'POST', body: 'again' })
    assert.deepEqual([response.status, await response.text(), count], [200, 'again', 2])
    assert.equal(response.redirected, false)
    assert.equal(origin.sockets.length, 2)
    const always = await fetch(`${origin.url}/always`, { dispatcher })
    assert.deepEqual([always.status, await always.text(), count], [421, 'wrong', 4])
    const init = { dispatcher, method: 'POST', body: stream(), duplex: 'half' } as const
    assert.deepEqual([(await fetch(origin.url, init)).status, count], [421, 5])
  })

  test('is asked again once after each redirect', async (t) => {
    const asked: string[] = []
    const origin = await startOrigin(t, wire, (request, response) => {
      const url = request.url!
      const isFirst = !asked.includes(url)
      asked.push(url)
      if (isFirst || url === '/always') response.writeHead(421).end('wrong')
      else response.writeHead(302, { location: url === '/a' ? '/b' : '/always' }).end()
    })
    const response = await fetch(`${origin.url}/a`, { dispatcher: agentFor(t, wire) })
    assert.deepEqual([response.status, await response.text()], [421, 'wrong'])
    assert.deepEqual(asked, ['/a', '/a', '/b', '/b', '/always', '/always'])
  })

  test('leaves alone what else runs on the connection', async (t) => {
    const slow = deferred<ServerResponse>()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/slow') {
        response.write('slow')
        slow.resolve(response)
      } else {
        response.writeHead(421).end('wrong')
      }
    })
    const dispatcher = agentFor(t, wire)
    const other = await fetch(`${origin.url}/slow`, { dispatcher })
    const response = await slow.promise
    assert.equal((await fetch(origin.url, { dispatcher })).status, 421)
    response.end(' and whole')
    assert.equal(await other.text(), 'slow and whole')
  })
})
