/** Servers that answer before they have the whole request: over HTTP/2 the upload goes on until its end. */
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { getEventListeners, once } from 'node:events'
import { constants, type Http2ServerRequest } from 'node:http2'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'
import { type Dispatcher, fetch } from '../../src/index.ts'
import { deferred } from '../support/exchange.ts'
import { http2Only, overEachWay, startOrigin } from '../support/wire.ts'

const PIECE = Buffer.alloc(50_000, 'x')
const PIECES = 100

/** The first piece, then the others when the caller has its answer. */
async function* pieces(answered: Promise<unknown>): AsyncGenerator<Buffer> {
  yield PIECE
  await answered
  for (let i = 1; i < PIECES; i++) yield PIECE
}

/** A piece whenever one is asked for; reports when no more are. */
async function* endless(stopped: { resolve(): void }): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      yield PIECE
      await new Promise(setImmediate)
    }
  } finally {
    stopped.resolve()
  }
}

function abortable(): { controller: AbortController; signal: AbortSignal } {
  const controller = new AbortController()
  return { controller, signal: controller.signal }
}

/** Each returns the text of the answer. */
const CALLS: Record<
  string,
  (dispatcher: Dispatcher, url: string, body: AsyncIterable<Buffer>, signal?: AbortSignal) => Promise<string>
> = {
  'request() of a generator': async (dispatcher, url, body, signal) => {
    const response = await dispatcher.request({ origin: url, path: '/', method: 'POST', body, signal })
    return response.body.text()
  },
  'request() of a stream': async (dispatcher, url, body, signal) => {
    const response = await dispatcher.request({
      origin: url,
      path: '/',
      method: 'POST',
      body: Readable.from(body),
      signal,
    })
    return response.body.text()
  },
  'stream()': async (dispatcher, url, body, signal) => {
    const into = new PassThrough()
    const chunks: Buffer[] = []
    into.on('data', (chunk: Buffer) => chunks.push(chunk))
    const ended = once(into, 'end')
    await dispatcher.stream({ origin: url, path: '/', method: 'POST', body, signal }, () => into)
    await ended
    return Buffer.concat(chunks).toString()
  },
  'fetch()': async (dispatcher, url, body, signal) => {
    const response = await fetch(url, { method: 'POST', body, duplex: 'half', dispatcher, signal } as never)
    return response.text()
  },
}

overEachWay(
  'an answer before the end of the request',
  (way) => {
    for (const [name, call] of Object.entries(CALLS)) {
      test(`${name}: the answer comes at once, and 5 MB arrive whole`, async (t) => {
        const arrived = deferred<number>()
        const origin = await startOrigin(t, way, (request, response) => {
          let bytes = 0
          request.once('data', () => response.end('thanks'))
          request.on('data', (chunk: Buffer) => {
            bytes += chunk.length
          })
          request.on('end', () => arrived.resolve(bytes))
          request.on('aborted', () => arrived.resolve(-bytes))
        })
        const answered = deferred()
        const dispatcher = origin.dispatcher()
        assert.equal(await call(dispatcher, origin.url, pieces(answered.promise)), 'thanks')
        answered.resolve()
        assert.equal(await arrived.promise, PIECES * PIECE.length)
        await dispatcher.close()
        assert.equal(origin.sockets.length, 1)
      })

      test(`${name}: an abort after the answer stops the upload`, async (t) => {
        const cut = deferred()
        const origin = await startOrigin(t, way, (request, response) => {
          request.once('data', () => response.end('thanks'))
          request.on('close', cut.resolve)
        })
        const stopped = deferred()
        const { signal, controller } = abortable()
        const dispatcher = origin.dispatcher()
        assert.equal(await call(dispatcher, origin.url, endless(stopped), signal), 'thanks')
        controller.abort()
        await cut.promise
        await stopped.promise
        assert.equal(getEventListeners(signal, 'abort').length, 0)
        await dispatcher.close()
      })

      test(`${name}: its signal is let go when the upload has ended`, async (t) => {
        const arrived = deferred()
        const origin = await startOrigin(t, way, (request, response) => {
          request.once('data', () => response.end('thanks'))
          request.on('end', arrived.resolve)
        })
        const answered = deferred()
        const { signal } = abortable()
        const dispatcher = origin.dispatcher()
        assert.equal(await call(dispatcher, origin.url, pieces(answered.promise), signal), 'thanks')
        assert.equal(getEventListeners(signal, 'abort').length, 1)
        answered.resolve()
        await arrived.promise
        await dispatcher.close()
        assert.equal(getEventListeners(signal, 'abort').length, 0)
      })
    }

    test('fetch(): whoever cancels the answer ends the upload, and it does not look whole', async (t) => {
      const code = deferred<number>()
      const origin = await startOrigin(t, way, (request, response) => {
        const { stream } = request as unknown as Http2ServerRequest
        request.once('data', () => response.end('thanks'))
        stream.on('close', () => code.resolve(stream.rstCode!))
      })
      const complete = deferred<unknown>()
      const completed = channel('undici:request:trailers')
      completed.subscribe(complete.resolve)
      t.after(() => completed.unsubscribe(complete.resolve))
      const dispatcher = origin.dispatcher()
      const stopped = deferred()
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(PIECE),
        cancel: stopped.resolve,
      })
      const response = await fetch(origin.url, { method: 'POST', body, duplex: 'half', dispatcher })
      await complete.promise
      await response.body!.cancel()
      await stopped.promise
      assert.equal(await code.promise, constants.NGHTTP2_CANCEL)
      await dispatcher.close()
    })
  },
  http2Only('HTTP/1.1 ends the connection instead'),
)
