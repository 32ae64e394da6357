/**
 * Interceptors of the older generation: they wrap the handler that they get in one with `onConnect` … and call the same
 * methods of it.
 */
import assert from 'node:assert/strict'
import type http from 'node:http'
import { type Duplex, Writable } from 'node:stream'
import { test } from 'node:test'
import {
  type Dispatcher,
  type DispatchHandler,
  type DispatchOptions,
  fetch,
  type Interceptor,
  interceptors,
  type LegacyDispatchHandler,
} from '../../src/index.ts'
import { deferred, echo, failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWay, startOrigin, type WayOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

const LARGE = 'x'.repeat(300_000)

/** What an interceptor of the older generation calls on the handler that it gets. */
type Older = Required<LegacyDispatchHandler>

type OlderDispatch = (opts: DispatchOptions, handler: LegacyDispatchHandler) => boolean

/** Types of the older generation are not those of `compose`. */
function older(
  make: (dispatch: OlderDispatch) => (opts: DispatchOptions, handler: Older) => boolean,
): Interceptor {
  return make as unknown as Interceptor
}

/** An object with a function for each call. */
function withFunctions(seen: string[]): Interceptor {
  return older(
    (dispatch) => (opts, handler) =>
      dispatch(opts, {
        onConnect: (abort, context) => {
          seen.push('onConnect')
          return handler.onConnect(abort, context)
        },
        onUpgrade: (...args) => handler.onUpgrade(...args),
        onHeaders: (statusCode, rawHeaders, resume, statusText) => {
          seen.push('onHeaders')
          return handler.onHeaders(
            statusCode,
            [...rawHeaders, Buffer.from('X-Older'), Buffer.from('yes')],
            resume,
            statusText,
          )
        },
        onData: (chunk) => handler.onData(chunk),
        onComplete: (trailers) => {
          seen.push('onComplete')
          return handler.onComplete(trailers)
        },
        onError: (error) => {
          seen.push('onError')
          return handler.onError(error)
        },
      }),
  )
}

/** The base class of undici 6: every call is passed on with whatever arguments it has. */
class OlderDecorator {
  protected readonly handler: Older

  constructor(handler: Older) {
    this.handler = handler
  }

  onConnect(...args: Parameters<Older['onConnect']>): void {
    this.handler.onConnect(...args)
  }
  onError(...args: Parameters<Older['onError']>): void {
    this.handler.onError(...args)
  }
  onUpgrade(...args: Parameters<Older['onUpgrade']>): unknown {
    return this.handler.onUpgrade(...args)
  }
  onResponseStarted(...args: Parameters<Older['onResponseStarted']>): void {
    this.handler.onResponseStarted?.(...args)
  }
  onHeaders(...args: Parameters<Older['onHeaders']>): unknown {
    return this.handler.onHeaders(...args)
  }
  onData(...args: Parameters<Older['onData']>): unknown {
    return this.handler.onData(...args)
  }
  onComplete(...args: Parameters<Older['onComplete']>): void {
    this.handler.onComplete(...args)
  }
  onBodySent(...args: Parameters<Older['onBodySent']>): void {
    this.handler.onBodySent?.(...args)
  }
}

function withClass(seen: string[]): Interceptor {
  class Noting extends OlderDecorator {
    override onConnect(...args: Parameters<Older['onConnect']>): void {
      seen.push('onConnect')
      super.onConnect(...args)
    }
    override onHeaders(...args: Parameters<Older['onHeaders']>): unknown {
      seen.push('onHeaders')
      const [statusCode, rawHeaders, resume, statusText] = args
      const more = [...rawHeaders, Buffer.from('X-Older'), Buffer.from('yes')]
      return super.onHeaders(statusCode, more, resume, statusText)
    }
    override onComplete(...args: Parameters<Older['onComplete']>): void {
      seen.push('onComplete')
      super.onComplete(...args)
    }
    override onError(error: Error): void {
      seen.push('onError')
      super.onError(error)
    }
  }
  return older((dispatch) => (opts, handler) => dispatch(opts, new Noting(handler)))
}

const unchanged = older((dispatch) => (opts, handler) => dispatch(opts, new OlderDecorator(handler)))

/** Adds a field, as an interceptor of the newer generation does; its handler is no class of the library. */
const newer: Interceptor = (dispatch) => (opts, handler) =>
  dispatch(opts, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onResponseStart: (controller, statusCode, headers, statusText) =>
      handler.onResponseStart?.(controller, statusCode, { ...headers, 'x-newer': 'yes' }, statusText),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
  })

function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  if (request.url === '/never') return
  if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': 100 })
    response.write('part', () => response.destroy())
  } else if (request.url === '/large') response.end(LARGE)
  else if (request.url === '/moved') response.writeHead(302, { location: '/' }).end()
  else echo(request, response)
}

/** Reads slowly, so that the response has to pause. */
function slowWritable(received: { length: number }): Writable {
  return new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      received.length += chunk.length
      setImmediate(done)
    },
  })
}

const SHAPES = { 'with functions': withFunctions, 'with a class': withClass }

const STACKS: Record<string, (one: Interceptor) => Interceptor[]> = {
  alone: (one) => [one],
  'before a newer one': (one) => [one, newer],
  'after a newer one': (one) => [newer, one],
  'between ours': (one) => [interceptors.decompress(), one, interceptors.redirect({ maxRedirections: 3 })],
  'after retry': (one) => [interceptors.retry(), one],
  'before retry': (one) => [one, interceptors.retry()],
  'before cache, hedge and deduplicate': (one) => [
    one,
    interceptors.hedge({ delay: 10_000 }),
    interceptors.deduplicate(),
    interceptors.cache(),
  ],
  'between others': (one) => [unchanged, one, unchanged],
}

overEachWay('an interceptor of the older generation', (way) => {
  for (const [shape, make] of Object.entries(SHAPES)) {
    for (const [place, stack] of Object.entries(STACKS)) {
      test(`${shape}, ${place}: request, stream and fetch`, async (t) => {
        const origin = await startOrigin(t, way, answer)
        const seen: string[] = []
        const client = origin.dispatcher().compose(stack(make(seen)))
        await checkAll(client, origin, place.includes('newer'))
        assert.ok(seen.includes('onConnect') && seen.includes('onHeaders') && seen.includes('onComplete'))
      })
    }

    test(`${shape}: failures reach the caller`, async (t) => {
      const origin = await startOrigin(t, way, answer)
      const seen: string[] = []
      const client = origin.dispatcher().compose(make(seen))
      const { body } = await client.request({ ...GET, path: '/cut' })
      await assert.rejects(body.text())
      assert.equal(seen.at(-1), 'onError')
      const refused = await failure(client.request({ ...GET, headers: { 'x-a': 'a\nb' } }))
      assert.equal(refused.message, 'invalid x-a header')
    })

    test(`${shape}: a signal aborts`, async (t) => {
      const arrived = deferred()
      const origin = await startOrigin(t, way, () => arrived.resolve())
      const client = origin.dispatcher().compose(make([]))
      const controller = new AbortController()
      const failed = failure(client.request({ ...GET, signal: controller.signal }))
      await arrived.promise
      controller.abort()
      assert.equal((await failed).name, 'AbortError')
    })

    test(`${shape}: a handler of the caller, of either generation`, async (t) => {
      const origin = await startOrigin(t, way, answer)
      const client = origin.dispatcher().compose(make([]))
      const handler = new RecordingHandler()
      client.dispatch({ ...GET, origin: origin.url }, handler)
      await handler.settled
      assert.deepEqual(handler.errors, [])
      const whole = deferred<string>()
      let text = ''
      client.dispatch({ ...GET, origin: origin.url }, {
        onConnect() {},
        onHeaders: () => true,
        onData(chunk) {
          text += chunk
          return true
        },
        onComplete: () => whole.resolve(text),
        onError: whole.reject,
      } satisfies LegacyDispatchHandler as DispatchHandler)
      assert.equal(JSON.parse(await whole.promise).url, '/')
    })
  }

  test('a socket is handed over', async (t) => {
    const origin = await startOrigin(t, way, answer)
    origin.server.on('connect', (_request: unknown, socket: Duplex) => {
      if (!way.multiplexes) socket.end('HTTP/1.1 200 OK\r\n\r\n')
    })
    if (way.multiplexes) return t.skip('the runtime has no such server')
    const client = origin.dispatcher().compose(withFunctions([]))
    const { statusCode, socket } = await client.connect({ path: 'example.test:80' })
    assert.equal(statusCode, 200)
    socket.destroy()
  })
})

async function checkAll(client: Dispatcher, origin: WayOrigin, isChanged: boolean): Promise<void> {
  const response = await client.request({ ...GET, headers: { 'x-a': '1' } })
  assert.equal(response.statusCode, 200)
  assert.equal(response.headers['x-older'], 'yes')
  assert.equal(response.headers['content-type'], 'application/json')
  assert.equal(response.headers['x-newer'], isChanged ? 'yes' : undefined)
  assert.equal(((await response.body.json()) as { url: string }).url, '/')

  const fetched = await fetch(`${origin.url}/moved`, { dispatcher: client })
  assert.equal(fetched.status, 200)
  assert.equal(fetched.headers.get('x-older'), 'yes')
  assert.equal(((await fetched.json()) as { url: string }).url, '/')

  const received = { length: 0 }
  await client.stream({ ...GET, path: '/large' }, () => slowWritable(received))
  assert.equal(received.length, LARGE.length)
}
