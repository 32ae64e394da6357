/** fetch on our dispatchers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Agent } from '../../src/dispatcher/agent.ts'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { FormData, Headers, Request, Response } from '../../src/index.ts'
import type { DispatchHandler } from '../../src/request/dispatch-handler.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { fetch } from '../support/any-fetch.ts'
import { deferred, type Echo, echo, failure } from '../support/exchange.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { copyUrl } from '../support/sources.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'

overEachWire('fetch', (wire) => {
  function agentFor(t: { after(fn: () => unknown): void }, options = {}): Agent {
    const agent = new Agent({ ...wireOptions(wire), ...options })
    t.after(() => agent.destroy())
    return agent
  }

  test('GET: what is sent, and what comes back', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = agentFor(t)
    const response = await fetch(`${origin.url}/path?query#fragment`, {
      dispatcher,
      headers: new Headers({ 'x-a': '1', host: 'dropped.test' }),
    })
    assert.equal(response.status, 200)
    assert.equal(response.statusText, wire.multiplexes ? '' : 'OK')
    assert.ok(response instanceof Response)
    const { method, url, headers } = (await response.json()) as Echo
    assert.deepEqual([method, url], ['GET', '/path?query'])
    assert.equal(headers['x-a'], '1')
    assert.equal(headers['accept'], '*/*')
    assert.equal(headers['accept-language'], '*')
    assert.match(String(headers['accept-encoding']), wire.secure ? /br/ : /^gzip, deflate$/)
    assert.equal(wire.multiplexes ? headers[':authority'] : headers['host'], new URL(origin.url).host)
    // It went only through our agent.
    assert.equal(origin.sockets.length, 1)
    assert.equal(dispatcher.stats[origin.url]?.connected, 1)
  })

  test('POST: text, bytes, a form, parameters, a stream', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = agentFor(t)
    const post = async (body: unknown, more = {}): Promise<Echo> => {
      const init = { dispatcher, method: 'POST', body: body as string, ...more }
      return (await (await fetch(origin.url, init)).json()) as Echo
    }
    const text = await post('grün')
    assert.equal(Buffer.from(text.body, 'latin1').toString(), 'grün')
    assert.equal(text.headers['content-length'], '5')
    assert.equal((await post(new Uint8Array([65, 66]))).body, 'AB')
    assert.equal((await post(new URLSearchParams({ a: 'b' }))).body, 'a=b')
    assert.equal((await post(new Blob(['blob']))).body, 'blob')
    const form = new FormData()
    form.append('a', 'b')
    assert.match((await post(form)).body, /name="a"\r\n\r\nb\r\n/)
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([67]))
        controller.close()
      },
    })
    assert.equal((await post(stream, { duplex: 'half' })).body, 'C')
    assert.equal((await post(undefined)).headers['content-length'], '0')
  })

  test('a response arrives piece by piece, decoded', async (t) => {
    const next = deferred()
    const origin = await startOrigin(t, wire, async (request, response) => {
      if (request.url === '/gzip') {
        response.setHeader('content-encoding', 'gzip')
        response.end(gzipSync('plain'))
        return
      }
      response.write('one')
      await next.promise
      response.end('two')
    })
    const dispatcher = agentFor(t)
    const reader = (await fetch(origin.url, { dispatcher })).body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'one')
    next.resolve()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'two')
    assert.equal((await reader.read()).done, true)
    assert.equal(await (await fetch(`${origin.url}/gzip`, { dispatcher })).text(), 'plain')
  })

  test('aborted beforehand, before the head, and during the body', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/body') response.write('x')
      else arrived.resolve()
    })
    const dispatcher = agentFor(t)
    const reason = new Error('mine')
    const before = failure(fetch(origin.url, { dispatcher, signal: AbortSignal.abort(reason) }))
    assert.equal(await before, reason)
    const first = new AbortController()
    const waiting = failure(fetch(origin.url, { dispatcher, signal: first.signal }))
    await arrived.promise
    first.abort(reason)
    assert.equal(await waiting, reason)
    const second = new AbortController()
    const response = await fetch(`${origin.url}/body`, { dispatcher, signal: second.signal })
    const reader = response.body!.getReader()
    await reader.read()
    const rest = failure(reader.read())
    second.abort()
    assert.equal((await rest).name, 'AbortError')
  })

  test('redirects: followed, refused, handed out; to another origin without credentials', async (t) => {
    const other = await startOrigin(t, wire, echo)
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/here') response.end('here')
      else response.writeHead(302, { location: request.url === '/away' ? `${other.url}/x` : '/here' }).end()
    })
    const dispatcher = agentFor(t)
    const followed = await fetch(`${origin.url}/from`, { dispatcher, method: 'POST', body: 'x' })
    assert.deepEqual([followed.redirected, followed.url], [true, `${origin.url}/here`])
    assert.equal(await followed.text(), 'here')
    const away = await fetch(`${origin.url}/away`, {
      dispatcher,
      headers: { authorization: 'secret', cookie: 'a=b' },
    })
    const { headers } = (await away.json()) as Echo
    assert.deepEqual([headers['authorization'], headers['cookie']], [undefined, undefined])
    assert.equal((await failure(fetch(origin.url, { dispatcher, redirect: 'error' }))).name, 'TypeError')
    assert.equal((await fetch(origin.url, { dispatcher, redirect: 'manual' })).status, 302)
  })

  test('a failure is the cause, with what we know of it', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/body') response.write('x', () => kill())
      else kill()
    })
    const kill = (): void => {
      for (const socket of origin.sockets) socket.destroy()
    }
    const dispatcher = agentFor(t)
    const error = await failure(fetch(origin.url, { dispatcher, method: 'POST' }))
    assert.equal(error.name, 'TypeError')
    assert.equal(error.message, 'fetch failed')
    const cause = error.cause as Error & Record<string, unknown>
    assert.equal(cause['origin'], origin.url)
    assert.equal(cause['method'], 'POST')
    assert.ok(['idempotent-only', 'no'].includes(String(cause['retrySafety'])))
    const late = await fetch(`${origin.url}/body`, { dispatcher }).then((response) =>
      failure(response.text()),
    )
    assert.equal(late.message, 'terminated')
    assert.equal((late.cause as Record<string, unknown>)['phase'], 'body')
  })

  test('an origin that cannot be reached', async (t) => {
    const url = `${wire.secure ? 'https' : 'http'}://127.0.0.1:${await refusingPort(t)}`
    const error = await failure(fetch(url, { dispatcher: agentFor(t) }))
    assert.equal(error.message, 'fetch failed')
    const cause = error.cause as NodeJS.ErrnoException & Record<string, unknown>
    assert.deepEqual([cause.code, cause['phase']], ['ECONNREFUSED', 'connecting'])
  })

  test('HEAD, 204 and many at once', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/none') response.statusCode = 204
      response.end(request.url === '/none' ? '' : 'ok')
    })
    const dispatcher = agentFor(t, { connections: 2 })
    assert.equal((await fetch(origin.url, { dispatcher, method: 'HEAD' })).status, 200)
    assert.equal((await fetch(`${origin.url}/none`, { dispatcher })).status, 204)
    const texts = Array.from({ length: 50 }, async () => (await fetch(origin.url, { dispatcher })).text())
    assert.deepEqual(new Set(await Promise.all(texts)), new Set(['ok']))
  })
})

/** Answers each request with its name, through handlers of the newer generation only. */
class Named extends Dispatcher {
  readonly name: string
  constructor(name: string) {
    super()
    this.name = name
  }
  override dispatch(options: DispatchOptions, handler: DispatchHandler): boolean {
    assert.equal(typeof handler.onRequestStart, 'function')
    const controller = { abort() {}, pause() {}, resume() {}, aborted: false, paused: false, reason: null }
    queueMicrotask(() => {
      handler.onRequestStart!(controller, null)
      // The fetch of Node 26 reads the raw fields only.
      const rawHeaders = [Buffer.from('x-path'), Buffer.from(options.path)]
      handler.onResponseStart!({ ...controller, rawHeaders }, 200, { 'x-path': options.path }, 'OK')
      handler.onResponseData!(controller, Buffer.from(this.name))
      handler.onResponseEnd!(controller, {})
    })
    return true
  }
}

describe('which dispatcher', () => {
  const URL_ = 'http://a.test/'
  const text = async (response: Promise<Response>): Promise<string> => (await response).text()

  test('init, then the request; a clone keeps it; a request made from a request, too', async () => {
    const request = new Request(URL_, { dispatcher: new Named('request') })
    assert.equal(await text(fetch(request)), 'request')
    assert.equal(await text(fetch(request, { dispatcher: new Named('init') })), 'init')
    assert.equal(await text(fetch(request, { dispatcher: null })), 'request')
    assert.equal(await text(fetch(request.clone())), 'request')
    assert.equal(await text(fetch(request.clone().clone())), 'request')
    assert.equal(await text(fetch(new Request(request))), 'request')
    assert.equal(await text(fetch(new Request(request, { dispatcher: new Named('newer') }))), 'newer')
  })

  test('that of a request of the runtime, where it can be found', async () => {
    const members = { url: URL_, method: 'GET', [Symbol.toStringTag]: 'Request' }
    const theirs = { ...members, [Symbol('dispatcher')]: new Named('theirs') }
    assert.equal(await text(fetch(theirs)), 'theirs')
    assert.equal(await text(fetch(theirs, { dispatcher: new Named('init') })), 'init')
  })

  test('that of a request of another copy of the library', async () => {
    type Copy = typeof import('../../src/fetch/request.ts')
    const copy = (await import(copyUrl('src/fetch/request.ts', 'copy'))) as Copy
    assert.notEqual(copy.Request, Request)
    const theirs = new copy.Request(URL_, { dispatcher: new Named('theirs') })
    assert.equal(await text(fetch(theirs)), 'theirs')
    assert.equal(await text(fetch(theirs.clone())), 'theirs')
  })

  test('any object that can dispatch', async () => {
    const named = new Named('plain')
    const dispatcher = { dispatch: named.dispatch.bind(named) }
    const response = await fetch(`${URL_}x?`, { dispatcher })
    assert.equal(response.headers.get('x-path'), '/x?')
    assert.equal(await response.text(), 'plain')
  })

  test('one that cannot', async () => {
    const error = await failure(fetch(URL_, { dispatcher: {} as never }))
    assert.deepEqual([error.name, error.message], ['TypeError', 'fetch failed'])
    assert.equal((error.cause as Error).message, 'agent.dispatch is not a function')
  })

  test('a bad URL, a blocked port and other schemes need none', async () => {
    const dispatcher = new Named('never')
    assert.equal((await failure(fetch('nonsense', { dispatcher }))).name, 'TypeError')
    const blocked = await failure(fetch('http://a.test:1/', { dispatcher }))
    assert.equal((blocked.cause as Error).message, 'bad port')
    assert.equal(await text(fetch('data:,inline', { dispatcher })), 'inline')
  })
})
