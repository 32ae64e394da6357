import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, Readable, Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Agent,
  BalancedPool,
  type BodyInput,
  type DispatchOptions,
  errors,
  fetch,
  type HeaderObject,
  type HeadersInput,
  type Interceptor,
  interceptors,
  Pool,
  RedirectHandler,
  type RedirectOptions,
  type ResponseData,
} from '../../src/index.ts'
import { type Exchange, ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { contentOf, deferred, type Echo, echo, failure, readEcho } from '../support/exchange.ts'
import { FakeClock, turn } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startOrigin, type TestOrigin, WIRES, type Wire } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

const LOOP_WORDS =
  'This typically happens when using a Client or Pool with cross-origin redirects. Use an Agent for cross-origin redirects.'
const PROTOCOL_WORDS = 'Invalid URL protocol: the URL must start with `http:` or `https:`.'

/** `/to/302?/target` answers with the status and the location after the question mark; everything else echoes. */
function redirecting(request: http.IncomingMessage, response: http.ServerResponse): void {
  const [, status, location] = /^\/to\/(\d+)(?:\?(.*))?$/.exec(request.url!) ?? []
  if (status === undefined) {
    echo(request, response)
    return
  }
  request.resume()
  request.on('end', () => {
    response.writeHead(
      Number(status),
      location === undefined ? {} : { location: decodeURIComponent(location) },
    )
    response.end('moved')
  })
  request.on('error', () => {})
}

function to(location: string, status = 302): string {
  return `/to/${status}?${encodeURIComponent(location)}`
}

interface Setting {
  readonly origin: TestOrigin
  readonly other: TestOrigin
  readonly agent: Agent
  send(opts: Partial<DispatchOptions> & { path: string }): Promise<ResponseData>
  /** What arrived at the end of the redirects. */
  arrived(opts: Partial<DispatchOptions> & { path: string }): Promise<Echo>
}

async function setting(t: TestContext, wire: Wire, options: RedirectOptions = {}): Promise<Setting> {
  const [origin, other] = await Promise.all([
    startOrigin(t, wire, redirecting),
    startOrigin(t, wire, redirecting),
  ])
  const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 5, ...options }))
  const send: Setting['send'] = (opts) => agent.request({ origin: origin.url, method: 'GET', ...opts })
  return { origin, other, agent, send, arrived: async (opts) => readEcho(await send(opts)) }
}

/** Resets the stream, or closes the connection, after what was written. */
function breakOff(request: http.IncomingMessage): void {
  const { stream } = request as unknown as { stream?: { destroy(): void } }
  setImmediate(() => (stream ?? request.socket).destroy())
}

/** Answers with a redirect; a microtask after its end it is followed. */
async function redirected(exchange: Exchange, headers: HeaderObject, context: unknown = null): Promise<void> {
  exchange.start(context).head(302, headers).end()
  await turn()
}

function historyOf({ context }: { context: unknown }): string[] {
  return (context as { history: URL[] }).history.map((url) => url.href)
}

overTwoWires('interceptors.redirect', (wire) => {
  test('method, body and content headers, by status and method', async (t) => {
    const { arrived } = await setting(t, wire)
    const rows: [status: number, method: string, result: string, hasBody: boolean][] = []
    for (const status of [300, 307, 308]) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'QUERY']) {
        rows.push([status, method, method, method !== 'GET'])
      }
    }
    for (const status of [301, 302]) {
      rows.push([status, 'GET', 'GET', false], [status, 'POST', 'GET', false])
      for (const method of ['PUT', 'DELETE', 'QUERY']) rows.push([status, method, method, true])
    }
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'QUERY']) rows.push([303, method, 'GET', false])
    await Promise.all(
      rows.map(async ([status, method, result, keeps]) => {
        const seen = await arrived({
          path: to('/end', status),
          method,
          headers: { 'content-type': 'text/plain', 'Content-Language': 'eo', 'x-kept': 'yes' },
          body: method === 'GET' ? null : 'a body',
        })
        const row = `${status} ${method}`
        assert.equal(seen.method, result, row)
        assert.equal(seen.body, keeps ? 'a body' : '', row)
        assert.equal(seen.headers['x-kept'], 'yes', row)
        const keepsHeaders = status === 303 ? false : result === method
        assert.equal(seen.headers['content-type'], keepsHeaders ? 'text/plain' : undefined, row)
        assert.equal(seen.headers['content-language'], keepsHeaders ? 'eo' : undefined, row)
      }),
    )
  })

  test('HEAD stays HEAD', async (t) => {
    const { send } = await setting(t, wire)
    for (const status of [300, 301, 302, 303, 307, 308]) {
      const response = await send({ path: to('/end', status), method: 'HEAD' })
      assert.equal(response.statusCode, 200)
      assert.equal(historyOf(response).length, 2)
    }
  })

  test('304, 305, 306, and redirects without a location are delivered', async (t) => {
    const { send } = await setting(t, wire)
    for (const path of [to('/end', 304), to('/end', 305), to('/end', 306), '/to/302', to('')]) {
      const { statusCode, body } = await send({ path })
      assert.equal(statusCode, Number(path.slice(4, 7)))
      await body.dump()
    }
  })

  test('without maxRedirections, or with 0 or null, nothing is followed', async (t) => {
    for (const maxRedirections of [undefined, null, 0]) {
      const { send } = await setting(t, wire, { maxRedirections })
      const { statusCode, body } = await send({ path: to('/end') })
      assert.equal(statusCode, 302)
      assert.equal(await body.text(), 'moved')
    }
    const { send } = await setting(t, wire)
    for (const maxRedirections of [null, 0]) {
      const { statusCode, body } = await send({ path: to('/end'), maxRedirections })
      assert.equal(statusCode, 302)
      await body.dump()
    }
  })

  test('the limit: the last redirect is delivered, or an error', async (t) => {
    const { send } = await setting(t, wire)
    const path = to(to(to('/end')))
    assert.equal((await send({ path, maxRedirections: 3 })).statusCode, 200)
    const { statusCode, context, body } = await send({ path, maxRedirections: 2 })
    assert.equal(statusCode, 302)
    assert.equal(historyOf({ context }).length, 3)
    assert.equal(await body.text(), 'moved')
    const error = await failure(send({ path, maxRedirections: 2, throwOnMaxRedirect: true }))
    assert.ok(error instanceof errors.MaxRedirectsError)
    assert.deepEqual([error.code, error.message], ['UND_ERR_REDIRECT_MAX', 'max redirects'])
    assert.equal((await send({ path, maxRedirections: 3, throwOnMaxRedirect: true })).statusCode, 200)
  })

  test('history has the URLs of all requests, the query included', async (t) => {
    const { send, origin } = await setting(t, wire)
    const first = await send({ path: '/end', query: { a: 1 } })
    assert.deepEqual(historyOf(first), [`${origin.url}/end?a=1`])
    await first.body.dump()
    const second = await send({ path: to(to('/end?x=1#part')) })
    const [, ...rest] = historyOf(second)
    assert.deepEqual(rest, [`${origin.url}${to('/end?x=1#part')}`, `${origin.url}/end?x=1`])
    assert.equal((await readEcho(second)).url, '/end?x=1')
  })

  test('the context is a plain object that can be spread, compared and serialised', async (t) => {
    const { send, origin } = await setting(t, wire)
    const { context, body } = await send({ path: to('/end') })
    await body.dump()
    const history = [new URL(`${origin.url}${to('/end')}`), new URL(`${origin.url}/end`)]
    assert.equal(Object.getPrototypeOf(context), Object.prototype)
    assert.deepEqual(Object.keys(context as object), ['history'])
    assert.deepEqual({ ...(context as object) }, { history })
    assert.deepEqual(context, { history })
    assert.equal(JSON.stringify(context), JSON.stringify({ history }))
  })

  test('a relative location, and the query option of the first request only', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url!.startsWith('/a/b?q=1')) response.writeHead(302, { location: '../c?d' }).end()
      else echo(request, response)
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 2 }))
    const response = await agent.request({ origin: origin.url, path: '/a/b', query: { q: 1 }, method: 'GET' })
    assert.equal((await readEcho(response)).url, '/c?d')
  })

  test('back to a URL that was visited: a cookie wall is passed', async (t) => {
    let count = 0
    const origin = await startOrigin(t, wire, (request, response) => {
      if (++count <= 2) response.writeHead(302, { location: count === 1 ? '/set' : '/' }).end()
      else echo(request, response)
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 5 }))
    const response = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    assert.deepEqual(historyOf(response), [`${origin.url}/`, `${origin.url}/set`, `${origin.url}/`])
    await response.body.dump()
  })

  test('an endless circle ends at the limit', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.writeHead(302, { location: '/' }).end()
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 3 }))
    const response = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    assert.equal(response.statusCode, 302)
    assert.equal(historyOf(response).length, 4)
    await response.body.dump()
  })

  test('bodies that can be read again are sent again', async (t) => {
    const { arrived } = await setting(t, wire)
    const form = new FormData()
    form.set('field', 'in a form')
    const bodies: [BodyInput, RegExp][] = [
      ['text', /^text$/],
      [Buffer.from('bytes'), /^bytes$/],
      [new Uint8Array([65, 66]), /^AB$/],
      [new Blob(['blob']), /^blob$/],
      [['one', 'two'], /^onetwo$/],
      [form, /in a form/],
    ]
    for (const [body, expected] of bodies) {
      assert.match((await arrived({ path: to('/end', 307), method: 'PUT', body })).body, expected)
    }
  })

  test('one-shot bodies: the redirect is delivered, never followed with an empty body', async (t) => {
    const { send } = await setting(t, wire)
    const bodies: (() => BodyInput)[] = [
      () => Readable.from([Buffer.from('stream')]),
      () =>
        (async function* () {
          yield 'generator'
        })(),
      () =>
        (function* () {
          yield 'generator'
        })(),
      () =>
        new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from('web'))
            controller.close()
          },
        }),
    ]
    for (const make of bodies) {
      const { statusCode, body } = await send({ path: to('/end', 307), method: 'POST', body: make() })
      assert.equal(statusCode, 307)
      assert.equal(await body.text(), 'moved')
      const seen = await readEcho(await send({ path: to('/end', 303), method: 'POST', body: make() }))
      assert.deepEqual([seen.method, seen.body], ['GET', ''])
    }
  })

  test('trailers of a dropped body are dropped, others are sent again', async (t) => {
    const trailers: unknown[] = []
    const origin = await startOrigin(t, wire, async (request, response) => {
      await contentOf(request)
      trailers.push(request.trailers['check'])
      const status = /^\/(30\d)$/.exec(request.url!)?.[1]
      response.writeHead(status === undefined ? 200 : Number(status), { location: '/end' }).end()
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 1 }))
    for (const path of ['/307', '/303']) {
      const options = { origin: origin.url, path, method: 'POST', body: 'x', trailers: { check: '1' } }
      assert.equal((await agent.request(options)).statusCode, 200)
    }
    assert.deepEqual(trailers, ['1', '1', '1', undefined])
  })

  test('a Client or Pool refuses another origin, and sends nothing', async (t) => {
    const { origin, other } = await setting(t, wire)
    const client = origin.client().compose(interceptors.redirect({ maxRedirections: 5 }))
    const error = await failure(client.request({ path: to(`${other.url}/end`), method: 'GET' }))
    assert.ok(error instanceof errors.InvalidArgumentError)
    assert.equal(error.message, `Redirect loop detected. Cannot redirect to ${other.url}. ${LOOP_WORDS}`)
    assert.equal(other.sockets.length, 0)
    const response = await client.request({ path: to(`${origin.url}/end`), method: 'GET' })
    assert.equal((await readEcho(response)).url, '/end')
  })

  test('a BalancedPool follows within the origin that served the request', async (t) => {
    const { origin } = await setting(t, wire)
    const options = { useH2c: wire.name === 'h2c' }
    const balanced = new BalancedPool(origin.url, options)
    t.after(() => balanced.destroy())
    const pool = balanced.compose(interceptors.redirect({ maxRedirections: 5 }))
    const response = await pool.request({ path: to('/end?a'), method: 'GET' })
    assert.equal((await readEcho(response)).url, '/end?a')
    const error = await failure(pool.request({ path: to('http://elsewhere.test/'), method: 'GET' }))
    assert.equal(
      error.message,
      `Redirect loop detected. Cannot redirect to http://elsewhere.test. ${LOOP_WORDS}`,
    )
  })

  test('a location that is not http(s), or not a URL', async (t) => {
    const { send } = await setting(t, wire)
    for (const location of ['file:///etc/passwd', 'data:,x', 'javascript:0', 'http://[', 'ftp://a.test/']) {
      const error = await failure(send({ path: to(location) }))
      assert.ok(error instanceof errors.InvalidArgumentError, location)
      assert.equal(error.message, PROTOCOL_WORDS)
    }
  })

  test('referer is dropped only from https to http', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 5 }))
    for (const [from, location, kept] of [
      ['https://a.test', 'http://b.test/', false],
      ['https://a.test', 'https://b.test/', true],
      ['http://a.test', 'https://b.test/', true],
    ] as const) {
      const headers = { Referer: 'https://a.test/page' }
      dispatcher.dispatch({ origin: from, path: '/', method: 'GET', headers }, new RecordingHandler())
      await redirected(base.last, { location })
      assert.equal((base.last.opts.headers as string[]).includes('Referer'), kept, `${from} ${location}`)
    }
  })

  test('allow decides, and sees where from and why', async (t) => {
    const asked: string[] = []
    const { send, arrived, origin, other } = await setting(t, wire, {
      allow: (url, { from, statusCode }) => {
        asked.push(`${statusCode} ${from.href} ${url.href}`)
        // What it does to its copies has no effect.
        url.pathname = from.pathname = '/changed'
        return url.origin === origin.url
      },
    })
    assert.equal((await arrived({ path: to('/end', 301) })).url, '/end')
    const { statusCode, body } = await send({ path: to(`${other.url}/end`, 307) })
    assert.equal(statusCode, 307)
    assert.equal(await body.text(), 'moved')
    assert.equal(other.sockets.length, 0)
    assert.deepEqual(asked, [
      `301 ${origin.url}${to('/end', 301)} ${origin.url}/end`,
      `307 ${origin.url}${to(`${other.url}/end`, 307)} ${other.url}/end`,
    ])
  })

  test('allow that throws, or returns a promise, fails the request', async (t) => {
    const thrown = new Error('not today')
    const throwing = await setting(t, wire, {
      allow: () => {
        throw thrown
      },
    })
    assert.equal(await failure(throwing.send({ path: to('/end') })), thrown)
    // A rejection that is not handled would end the process.
    for (const promise of [async () => false, () => Promise.reject(thrown)]) {
      const promising = await setting(t, wire, { allow: promise as never })
      const error = await failure(promising.send({ path: to('/end') }))
      assert.deepEqual([error.code, error.message], ['UND_ERR_INVALID_ARG', 'allow must return a boolean'])
    }
  })

  test('a redirect body of up to 64 KiB is read, and the connection is used again; a longer one is not', async (t) => {
    for (const [length, chunked, sockets] of [
      [65_536, true, 1],
      [1_000_000, true, 2],
      [1_000_000, false, 2],
    ] as const) {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (request.url === '/end') return response.end('end')
        response.writeHead(302, { location: '/end', ...(chunked ? {} : { 'content-length': length }) })
        return response.end(Buffer.alloc(length))
      })
      const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 1 }))
      const response = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
      assert.equal(await response.body.text(), 'end')
      assert.equal(origin.sockets.length, wire.multiplexes ? 1 : sockets)
    }
  })

  test('a redirect whose body never ends, or breaks off, is followed', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/end') return void response.end('end')
      response.writeHead(302, { location: '/end' })
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384)));
      }
      if (request.url === '/endless') {
        response.on('drain', write)
        response.on('error', () => {})
        write()
      } else {
        response.write('begin', () => breakOff(request))
      }
      return undefined
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 1 }))
    for (const path of ['/endless', '/broken']) {
      const response = await agent.request({ origin: origin.url, path, method: 'GET' })
      assert.equal(await response.body.text(), 'end')
    }
  })

  test('informational responses pass', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      response.writeEarlyHints({ link: `<${request.url}>; rel=preload` })
      if (request.url === '/') response.writeHead(302, { location: '/end' }).end()
      else response.end('end')
    })
    const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 1 }))
    const infos: unknown[] = []
    const { body } = await agent.request({
      origin: origin.url,
      path: '/',
      method: 'GET',
      onInfo: ({ statusCode, headers }) =>
        infos.push([statusCode, (headers as Record<string, string>)['link']]),
    })
    assert.equal(await body.text(), 'end')
    assert.deepEqual(infos, [
      [103, '</>; rel=preload'],
      [103, '</end>; rel=preload'],
    ])
  })

  test('stream() gets the last response', async (t) => {
    const { agent, origin } = await setting(t, wire)
    const chunks: Buffer[] = []
    const statuses: number[] = []
    await agent.stream({ origin: origin.url, path: to('/end'), method: 'GET' }, ({ statusCode }) => {
      statuses.push(statusCode)
      return new Writable({
        write(chunk, _encoding, done) {
          chunks.push(chunk)
          done()
        },
      })
    })
    assert.deepEqual(statuses, [200])
    assert.equal(JSON.parse(Buffer.concat(chunks).toString()).url, '/end')
  })

  test('fetch follows by itself', async (t) => {
    const { agent, origin } = await setting(t, wire)
    const response = await fetch(`${origin.url}${to('/end')}`, { dispatcher: agent })
    assert.deepEqual([response.redirected, response.url], [true, `${origin.url}/end`])
    await response.text()
    const manual = await fetch(`${origin.url}${to('/end')}`, { dispatcher: agent, redirect: 'manual' })
    assert.equal(manual.status, 302)
    await manual.text()
  })

  test('an abort fails the request at once, whichever hop runs', async (t) => {
    const asked = deferred<string>()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/wait') return asked.resolve('head')
      response.writeHead(302, { location: '/wait' })
      if (request.url === '/drain') return void response.write('begin', () => asked.resolve('drain'))
      return void response.end()
    })
    for (const path of ['/', '/drain']) {
      const agent = composedAgent(t, wire, interceptors.redirect({ maxRedirections: 1 }))
      const abort = new AbortController()
      const error = failure(agent.request({ origin: origin.url, path, method: 'GET', signal: abort.signal }))
      await asked.promise
      await nextTurn()
      const reason = new Error(`enough of ${path}`)
      abort.abort(reason)
      assert.equal(await error, reason)
    }
  })

  test('one controller: it aborts and pauses the hop that runs', async (t) => {
    const { agent, origin } = await setting(t, wire)
    const handler = new RecordingHandler()
    agent.dispatch({ origin: origin.url, path: to('/end'), method: 'GET' }, handler)
    await handler.settled
    assert.equal(handler.status, 200)
    assert.equal(new Set(handler.controllers).size, 1)
    assert.deepEqual(
      handler.story.filter((call) => call !== 'onResponseStarted'),
      [
        'onRequestStart',
        'onRequestSent',
        'onRequestStart',
        'onRequestSent',
        'onResponseStart 200',
        'onResponseData',
        'onResponseEnd',
      ],
    )

    const paused = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    agent.dispatch({ origin: origin.url, path: to('/end'), method: 'GET' }, paused)
    await new Promise<void>((resolve) => {
      const look = (): void => void (paused.status === 200 ? resolve() : setImmediate(look))
      look()
    })
    for (let i = 0; i < 5; i++) await nextTurn()
    assert.equal(paused.body, '')
    paused.controllers[0]!.resume()
    await paused.settled
    assert.equal(JSON.parse(paused.body).url, '/end')

    const reason = new Error('by the first controller')
    const aborted = new RecordingHandler({ onResponseStart: () => aborted.controllers[0]!.abort(reason) })
    agent.dispatch({ origin: origin.url, path: to('/end'), method: 'GET' }, aborted)
    await aborted.settled
    assert.deepEqual(aborted.errors, [reason])
    assert.equal(aborted.controllers[0]!.aborted, true)
  })

  test('RedirectHandler and RedirectHandler.buildDispatch', async (t) => {
    const { origin, other } = await setting(t, wire)
    const client = origin.client()
    const opts = { origin: origin.url, path: to(to('/end')), method: 'GET' }
    const handler = new RecordingHandler()
    const dispatch = client.dispatch.bind(client)
    dispatch(opts, new RedirectHandler(dispatch, 2, opts, handler))
    await handler.settled
    assert.equal(JSON.parse(handler.body).url, '/end')

    const following = RedirectHandler.buildDispatch(client, 1)
    const limited = new RecordingHandler()
    following(opts, limited)
    await limited.settled
    assert.equal(limited.status, 302)
    const elsewhere = new RecordingHandler()
    following({ ...opts, path: to(`${other.url}/`) }, elsewhere)
    await elsewhere.settled
    assert.match(elsewhere.error!.message, /^Redirect loop detected/)
  })
})

describe('interceptors.redirect: security', () => {
  const CREDENTIALS = { authorization: 'Basic x', cookie: 'a=b', 'proxy-authorization': 'Basic y' }
  const KEPT = { 'x-custom': 'kept' }

  /** The same fields in every form that a caller may give them in. */
  function forms(fields: Record<string, string>): HeadersInput[] {
    const upper = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name.toUpperCase(), value]),
    )
    const mixed = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name.replace(/(^|-)[a-z]/g, (s) => s.toUpperCase()),
        value,
      ]),
    )
    return [fields, upper, mixed].flatMap((each) => [
      each,
      Object.entries(each).flat(),
      new Headers(each),
      new Map(Object.entries(each)),
      Object.entries(each).flatMap(([name, value]) => [name, [value]]),
    ])
  }

  test('row 1: credentials do not cross host, port or scheme, whatever the status and the form', async (t) => {
    const http = await startOrigin(t, WIRES[0]!, redirecting)
    const port = await startOrigin(t, WIRES[0]!, redirecting)
    const secure = await startOrigin(t, WIRES[1]!, redirecting)
    const agent = composedAgent(t, WIRES[1]!, interceptors.redirect({ maxRedirections: 5 }))
    const host = http.url.replace('localhost', '127.0.0.1')
    const ways: [from: string, to: string][] = [
      [http.url, port.url],
      [http.url, host],
      [http.url, secure.url],
      [secure.url, http.url],
    ]
    for (const [from, target] of ways) {
      for (const status of [300, 301, 302, 303, 307, 308]) {
        for (const headers of forms({ ...CREDENTIALS, ...KEPT })) {
          const response = await agent.request({
            origin: from,
            path: to(`${target}/end`, status),
            method: 'GET',
            headers,
          })
          const seen = (await readEcho(response)).headers
          assert.equal(seen['x-custom'], 'kept')
          for (const name of Object.keys(CREDENTIALS))
            assert.equal(seen[name], undefined, `${status} ${name}`)
        }
      }
    }
    const within = await agent.request({
      origin: http.url,
      path: to(`${http.url}/end`),
      method: 'GET',
      headers: CREDENTIALS,
    })
    const kept = (await readEcho(within)).headers
    assert.deepEqual([kept['authorization'], kept['cookie']], ['Basic x', 'a=b'])
  })

  test('row 1: names that are Buffers, and lists of pairs, for dispatchers that take them', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 5 }))
    for (const headers of [
      [Buffer.from('Authorization'), Buffer.from('x'), Buffer.from('X-Kept'), Buffer.from('y')],
      [
        ['Authorization', 'x'],
        ['X-Kept', 'y'],
      ],
    ]) {
      const opts = { origin: 'http://a.test', path: '/', method: 'GET', headers: headers as never }
      dispatcher.dispatch(opts, new RecordingHandler())
      await redirected(base.last, { location: 'http://b.test/' })
      assert.deepEqual((base.last.opts.headers as unknown[]).map(String), ['X-Kept', 'y'])
    }
  })

  test('a handler that throws at its last call between two requests does not end the process', async () => {
    const base = new ScriptedDispatcher()
    let sent = 0
    const failing: Interceptor = (dispatch) => (opts, handler) => {
      if (++sent === 2) throw new Error('below')
      return dispatch(opts, handler)
    }
    const dispatcher = base.compose(failing, interceptors.redirect({ maxRedirections: 5 }))
    const handler = new RecordingHandler({
      onResponseError() {
        throw new Error('in the handler')
      },
    })
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
    await redirected(base.last, { location: '/next' })
    assert.deepEqual(
      handler.errors.map(({ message }) => message),
      ['below'],
    )
  })

  test('row 1: host and servername of the first origin are not sent to another', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 5 }))
    const opts = { origin: 'https://a.test', path: '/', method: 'GET', servername: 'name.test' }
    dispatcher.dispatch({ ...opts, headers: { HOST: 'name.test' } }, new RecordingHandler())
    await redirected(base.last, { location: '/same' })
    assert.deepEqual(base.last.opts.headers, [])
    assert.equal(base.last.opts.servername, 'name.test')
    await redirected(base.last, { location: 'https://b.test/' })
    assert.equal(base.last.opts.servername, null)
  })

  test('row 2: A → B → A, and what was dropped stays so', async (t) => {
    const { origin, other, arrived } = await setting(t, WIRES[0]!)
    const { headers, url } = await arrived({
      path: to(`${other.url}${to(`${origin.url}/end`)}`),
      headers: { ...CREDENTIALS, ...KEPT },
    })
    assert.equal(url, '/end')
    assert.equal(headers['x-custom'], 'kept')
    for (const name of Object.keys(CREDENTIALS)) assert.equal(headers[name], undefined, name)
  })

  test('row 4: a location with credentials, IDN, //host, \\\\host, 64 KiB', async (t) => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 5 }))
    const target = async (location: string): Promise<string> => {
      const handler = new RecordingHandler()
      const path = '//evil.test/page'
      dispatcher.dispatch({ origin: 'http://a.test', path, method: 'GET' }, handler)
      await redirected(base.last, { location })
      const { origin, path: next, headers } = base.last.opts
      base.last.start()
      const history = historyOf({ context: handler.context })
      assert.deepEqual(history, ['http://a.test//evil.test/page', `${String(origin)}${next}`])
      assert.deepEqual(headers, [])
      return `${String(origin)}${next}`
    }
    assert.equal(await target('http://user:secret@b.test/x#y'), 'http://b.test/x')
    assert.equal(await target('//b.test/x'), 'http://b.test/x')
    assert.equal(await target('\\\\b.test\\x'), 'http://b.test/x')
    assert.equal(await target('/\\b.test'), 'http://b.test/')
    assert.equal(await target('relative'), 'http://a.test//evil.test/relative')
    assert.equal(
      await target(Buffer.from('http://bücher.test/é').toString('latin1')),
      'http://xn--bcher-kva.test/%C3%A9',
    )
    assert.equal((await target(`/${'x'.repeat(65_536)}`)).length, 'http://a.test/'.length + 65_536)

    const origin = await startOrigin(t, WIRES[0]!, (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: `/${'x'.repeat(65_536)}` }).end()
      else response.end(String(request.url!.length))
    })
    const client = origin.client().compose(interceptors.redirect({ maxRedirections: 1 }))
    const error = await failure(client.request({ path: '/', method: 'GET' }))
    assert.equal(error.code, 'UND_ERR_HEADERS_OVERFLOW')
  })

  test('row 4: two different locations are not followed', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 5 }))
    const send = async (location: string[]): Promise<number | undefined> => {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
      await redirected(base.last, { location })
      return handler.status
    }
    assert.equal(await send(['/one', '/two']), 302)
    assert.equal(await send(['/one', '/one']), undefined)
    assert.equal(base.last.opts.path, '/one')
  })

  test("row 1: stripHeadersOnCrossOriginRedirect: '*' keeps only what holds no secret", async (t) => {
    const { arrived, other } = await setting(t, WIRES[0]!, { stripHeadersOnCrossOriginRedirect: '*' })
    const kept = {
      accept: 'text/html',
      'accept-language': 'eo',
      'user-agent': 'test',
      'content-type': 'text/plain',
      range: 'bytes=0-1',
      'if-none-match': '"x"',
    }
    const secret = { 'x-api-key': 'secret', accepted: 'no', 'x-range': 'no' }
    const options = { method: 'PUT', body: 'x', headers: { ...kept, ...secret } }
    const across = (await arrived({ path: to(`${other.url}/end`), ...options })).headers
    for (const [name, value] of Object.entries(kept)) assert.equal(across[name], value)
    for (const name of Object.keys(secret)) assert.equal(across[name], undefined, name)
    const within = (await arrived({ path: to('/end'), ...options })).headers
    assert.equal(within['x-api-key'], 'secret')
  })

  test('stripHeadersOnRedirect and stripHeadersOnCrossOriginRedirect, in any letter case, per request too', async (t) => {
    const { arrived, other } = await setting(t, WIRES[0]!, {
      stripHeadersOnRedirect: ['X-Always'],
      stripHeadersOnCrossOriginRedirect: ['X-Across'],
    })
    const headers = { 'x-always': '1', 'X-ACROSS': '2', 'x-own': '3' }
    const within = (await arrived({ path: to('/end'), headers })).headers
    assert.deepEqual([within['x-always'], within['x-across']], [undefined, '2'])
    const across = (await arrived({ path: to(`${other.url}/end`), headers })).headers
    assert.deepEqual([across['x-always'], across['x-across'], across['x-own']], [undefined, undefined, '3'])
    const own = await arrived({
      path: to(`${other.url}/end`),
      headers,
      stripHeadersOnRedirect: null,
      stripHeadersOnCrossOriginRedirect: ['x-own'],
    })
    assert.deepEqual(
      [own.headers['x-always'], own.headers['x-across'], own.headers['x-own']],
      ['1', '2', undefined],
    )
  })

  test('row 10: a polluted prototype follows no redirect', async (t) => {
    const { send } = await setting(t, WIRES[0]!, { maxRedirections: undefined })
    const polluted = Object.prototype as Record<string, unknown>
    polluted['maxRedirections'] = 5
    polluted['allow'] = () => true
    try {
      const { statusCode, body } = await send({ path: to('/end') })
      assert.equal(statusCode, 302)
      await body.dump()
    } finally {
      delete polluted['maxRedirections']
      delete polluted['allow']
    }
  })
})

describe('interceptors.redirect: calls', () => {
  test('the body of a redirect is read up to 64 KiB, announced or not', (t) => {
    FakeClock.install(t)
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const redirecting = (headers: HeaderObject): Exchange => {
      dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, new RecordingHandler())
      return base.last.start().head(302, { location: '/end', ...headers })
    }
    const unannounced = redirecting({}).data(Buffer.alloc(65_536))
    assert.equal(unannounced.aborts.length, 0)
    assert.equal(unannounced.data('x').aborts.length, 1)
    assert.equal(redirecting({ 'content-length': '65536' }).aborts.length, 0)
    assert.equal(redirecting({ 'content-length': '65537' }).aborts.length, 1)
  })

  test('the body of a redirect is read for a second, however slowly it comes', async (t) => {
    const clock = FakeClock.install(t)
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
    const first = base.last.failOnAbort().start().head(302, { location: '/end' })
    for (let passed = 0; passed < 900; passed += 100) {
      first.data('x')
      await clock.advance(100)
    }
    await clock.advance(99)
    assert.deepEqual([first.aborts.length, base.exchanges.length], [0, 1])
    await clock.advance(1)
    assert.deepEqual([first.aborts.length, base.exchanges.length], [1, 2])
    assert.equal(base.last.opts.path, '/end')
    base.last.start().head(200).data('arrived').end()
    assert.deepEqual([handler.body, handler.errors, handler.calls.at(-1)], ['arrived', [], 'onResponseEnd'])
    assert.equal(clock.active.size, 0)
  })

  test('there is a timer only while the body of a redirect is read', async (t) => {
    const clock = FakeClock.install(t)
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const started = (): { exchange: Exchange; handler: RecordingHandler } => {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
      return { exchange: base.last.failOnAbort().start(), handler }
    }
    started().exchange.head(200).data('x')
    assert.equal(clock.active.size, 0)
    const ways: ((exchange: Exchange, handler: RecordingHandler) => void)[] = [
      (exchange) => exchange.end(),
      (exchange) => exchange.error(new Error('lost')),
      (exchange) => exchange.data(Buffer.alloc(65_537)),
      (_exchange, handler) => handler.controller!.abort(new Error('enough')),
    ]
    for (const end of ways) {
      const { exchange, handler } = started()
      exchange.head(302, { location: '/end' }).data('x')
      assert.deepEqual([clock.active.size, [...clock.active][0]!.referenced], [1, false])
      end(exchange, handler)
      assert.equal(clock.active.size, 0)
      await turn()
      // The last one that is followed.
      base.last.start().head(302, { location: '/more' })
      assert.equal(clock.active.size, 0)
    }
  })

  test('a request without the body of the one before does not expect 100 Continue', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    for (const [status, expects] of [
      [303, null],
      [307, true],
    ] as const) {
      const opts = {
        origin: 'http://a.test',
        path: '/',
        method: 'PUT',
        body: 'x',
        expectContinue: true,
      } as const
      dispatcher.dispatch(opts, new RecordingHandler())
      base.last.start().head(status, { location: '/end' }).end()
      await turn()
      assert.deepEqual([base.last.opts.path, base.last.opts.expectContinue], ['/end', expects])
    }
  })

  test('allow sees the URL that is sent to, without credentials and fragment', async () => {
    const asked: string[] = []
    const base = new ScriptedDispatcher()
    const allow = (url: URL): boolean => asked.push(url.href) > 0
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1, allow }))
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, new RecordingHandler())
    await redirected(base.last, { location: 'http://user:secret@b.test/x?q#y' })
    assert.deepEqual(asked, ['http://b.test/x?q'])
  })

  test('wrong options, of the interceptor and of a request', async () => {
    const wrong: [RedirectOptions, string][] = [
      [{ maxRedirections: -1 }, 'maxRedirections must be a positive number'],
      [{ maxRedirections: 1.5 }, 'maxRedirections must be a positive number'],
      [{ maxRedirections: '1' as never }, 'maxRedirections must be a positive number'],
      [{ throwOnMaxRedirect: 1 as never }, 'throwOnMaxRedirect must be a boolean'],
      [{ stripHeadersOnRedirect: 'x' as never }, 'stripHeadersOnRedirect must be an array'],
      [{ stripHeadersOnRedirect: [1] as never }, 'stripHeadersOnRedirect must contain header names'],
      [
        { stripHeadersOnCrossOriginRedirect: {} as never },
        'stripHeadersOnCrossOriginRedirect must be an array',
      ],
      [
        { stripHeadersOnCrossOriginRedirect: [null] as never },
        'stripHeadersOnCrossOriginRedirect must contain header names',
      ],
    ]
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    for (const [options, message] of wrong) {
      assert.throws(() => interceptors.redirect(options), { name: 'InvalidArgumentError', message })
      const request = { origin: 'http://a.test', path: '/', method: 'GET', ...options } as DispatchOptions
      const error = await failure(dispatcher.request(request))
      assert.ok(error instanceof errors.InvalidArgumentError)
      assert.equal(error.message, message)
    }
    assert.equal(base.exchanges.length, 0)
    assert.throws(() => interceptors.redirect({ allow: true as never }), {
      message: 'allow must be a function',
    })
    assert.throws(() => interceptors.redirect(5 as never), { message: 'options must be an object' })
    const opts = { origin: 'http://a.test', path: '/', method: 'GET' }
    const dispatch = base.dispatch.bind(base)
    assert.throws(() => new RedirectHandler(dispatch, -1, opts, new RecordingHandler()), {
      message: 'maxRedirections must be a positive number',
    })
    assert.throws(() => RedirectHandler.buildDispatch(base, -1), {
      message: 'maxRedirections must be a positive number',
    })
    assert.throws(() => new RedirectHandler(dispatch, 1, opts, null as never), {
      message: 'handler must be an object',
    })
  })

  test('options and controller of the caller stay as they are', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const opts = Object.freeze({
      origin: 'http://a.test',
      path: '/',
      method: 'POST',
      body: 'x',
      headers: Object.freeze({ host: 'h' }),
      maxRedirections: 2,
    })
    dispatcher.dispatch(opts, new RecordingHandler())
    Object.freeze(base.last.controller)
    await redirected(base.last, { location: '/next' }, { kept: 1 })
    base.last.start().head(200).end()
    assert.equal(base.exchanges.length, 2)
    assert.equal(base.last.opts.maxRedirections, 0)
  })

  test('the context of the dispatcher below is kept', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const handler = new RecordingHandler()
    dispatcher.dispatch({ origin: 'http://a.test', path: '/x', method: 'GET' }, handler)
    // Names that this context uses itself are no reason to fail.
    base.last.start({ mine: 1, history: 'other', url: 'other' })
    const context = handler.context as { mine: number; history: URL[] }
    assert.deepEqual([context.mine, context.history.map(String)], [1, ['http://a.test/x']])
  })

  test('all hooks are forwarded, and the optional ones exist only where the handler has them', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const opts = { origin: 'http://a.test', path: '/', method: 'GET' }
    const handler = new RecordingHandler()
    dispatcher.dispatch(opts, handler)
    const { handler: ours } = base.last
    base.last.start()
    ours.onBodySent?.('x')
    ours.onRequestSent?.()
    ours.onResponseStarted?.()
    base.last.head(200).data('x').end()
    assert.equal(ours.onRequestQueued, undefined)
    assert.deepEqual(handler.calls, [
      'onRequestStart',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart',
      'onResponseData',
      'onResponseEnd',
    ])
    dispatcher.dispatch(opts, { onRequestStart() {}, onResponseError() {} })
    assert.equal(base.last.handler.onBodySent, undefined)
  })

  test('an abort through onRequestQueued reaches the hop that waits', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    let abort: (reason?: unknown) => void = () => {}
    const handler = new RecordingHandler()
    const queued = Object.assign(handler, {
      onRequestQueued: (given: typeof abort) => {
        abort = given
      },
    })
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, queued)
    base.last.handler.onRequestQueued!(() => {})
    await redirected(base.last, { location: '/next' })
    const reasons: unknown[] = []
    base.last.handler.onRequestQueued!((reason) => reasons.push(reason))
    abort('enough')
    assert.deepEqual(reasons, ['enough'])
    // A dispatcher that starts it all the same is asked again.
    base.last.start()
    assert.deepEqual(base.last.aborts, ['enough'])
  })

  test('late calls of a hop that is over change nothing', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const handler = new RecordingHandler()
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
    const first = base.last
    first.start().head(302, { location: '/next', 'content-length': '1000000' })
    assert.equal(base.exchanges.length, 2)
    base.last.start().head(200)
    first.data('late').error(new Error('late')).end()
    base.last.data('right').end()
    assert.deepEqual([handler.body, handler.errors, handler.calls.at(-1)], ['right', [], 'onResponseEnd'])
  })

  test('a dispatcher that throws when the redirect is followed', async () => {
    const thrown = new Error('closed')
    const base = new ScriptedDispatcher(({ opts }) => {
      if (opts.path === '/next') throw thrown
    })
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const handler = new RecordingHandler()
    dispatcher.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
    await redirected(base.last, { location: '/next' })
    assert.deepEqual(handler.errors, [thrown])
  })

  test('the answer to an upgrade is followed, and the 101 of the last hop delivered', async (t) => {
    const server = http.createServer((request, response) => {
      response.writeHead(request.url === '/' ? 302 : 404, { location: '/next' }).end('moved')
    })
    server.on('upgrade', (request: http.IncomingMessage, socket: Duplex) => {
      socket.on('error', () => {})
      if (request.url === '/')
        socket.end('HTTP/1.1 302 Found\r\nlocation: /next\r\ncontent-length: 5\r\n\r\nmoved')
      else socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => void server.close())
    const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    t.after(() => pool.destroy())
    const dispatcher = pool.compose(interceptors.redirect({ maxRedirections: 2 }))
    const { socket } = await dispatcher.upgrade({ path: '/', protocol: 'echo' })
    t.after(() => void socket.destroy())
    assert.equal(String((await once(socket, 'data'))[0]), 'hello')
  })

  test('CONNECT is none of its business', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    const handler = new RecordingHandler()
    const opts = { path: 'a.test:443', method: 'CONNECT', maxRedirections: 2 }
    dispatcher.dispatch({ origin: 'http://a.test', ...opts }, handler)
    base.last.start().head(302, { location: '/' }).end()
    assert.equal(handler.status, 302)
    assert.equal(base.exchanges.length, 1)
  })

  test('OPTIONS *, and a request in absolute form, are not redirected', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.redirect({ maxRedirections: 1 }))
    for (const path of ['*', 'http://b.test/']) {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ origin: 'http://a.test', path, method: 'OPTIONS' }, handler)
      await redirected(base.last, { location: '/' })
      assert.equal(handler.status, 302)
      assert.deepEqual(historyOf({ context: handler.context }), [])
    }
  })
})
