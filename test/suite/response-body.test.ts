import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { errors } from '../../src/index.ts'
import { contentOf, deferred, failure } from '../support/exchange.ts'
import { loadOf, overEachWay, startOrigin } from '../support/wire.ts'

/** Over a pool or an agent it would only take longer. */
const CLIENT_ONLY = "backpressure is the connection's, whatever dispatcher chose it"

const GET = { path: '/', method: 'GET' }
const BOM = '\ufeff'

overEachWay('the response body', (way) => {
  test('text, json, bytes, arrayBuffer and blob give the whole body', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.setHeader('content-type', 'application/json; charset=utf-8')
        response.write('{"a":')
        response.end('"grün"}')
      })
    ).dispatcher()
    const next = async () => (await client.request(GET)).body
    const expected = '{"a":"grün"}'
    assert.equal(await (await next()).text(), expected)
    assert.deepEqual(await (await next()).json(), { a: 'grün' })
    const bytes = await (await next()).bytes()
    assert.equal(bytes.constructor, Uint8Array)
    assert.equal(Buffer.from(bytes).toString(), expected)
    const buffer = await (await next()).arrayBuffer()
    assert.equal(buffer instanceof ArrayBuffer, true)
    assert.equal(buffer.byteLength, 13)
    const blob = await (await next()).blob()
    assert.equal(blob.type, 'application/json; charset=utf-8')
    assert.equal(await blob.text(), expected)
  })

  test('text and json drop a byte order mark; bytes do not', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end(`${BOM}{}`))).dispatcher()
    assert.equal(await (await client.request(GET)).body.text(), '{}')
    assert.deepEqual(await (await client.request(GET)).body.json(), {})
    assert.equal((await (await client.request(GET)).body.bytes()).length, 5)
  })

  test('json of something else rejects, and the stream is gone', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => response.end(request.url === '/empty' ? '' : '{'))
    ).dispatcher()
    for (const path of ['/empty', '/broken']) {
      const { body } = await client.request({ path, method: 'GET' })
      await assert.rejects(body.json(), SyntaxError)
      assert.equal(body.destroyed, true)
    }
  })

  test('formData is not supported', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end())).dispatcher()
    const { body } = await client.request(GET)
    assert.equal((await failure(body.formData())) instanceof errors.NotSupportedError, true)
    await body.dump()
  })

  test('is consumed once', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('x'))).dispatcher()
    const { body } = await client.request(GET)
    const first = body.text()
    await assert.rejects(body.text(), { name: 'TypeError', message: 'unusable' })
    assert.equal(await first, 'x')
    assert.equal(body.bodyUsed, true)
    await assert.rejects(body.json(), { name: 'TypeError', message: 'unusable' })
  })

  test('is an ordinary stream', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('one ')
        response.end('two')
      })
    ).dispatcher()
    assert.equal(String(await contentOf((await client.request(GET)).body)), 'one two')
    const through = new PassThrough()
    const read = contentOf(through)
    await pipeline((await client.request(GET)).body, through)
    assert.equal(String(await read), 'one two')
    const { body } = await client.request(GET)
    assert.equal(body.bodyUsed, false)
    let text = ''
    body.on('data', (chunk) => {
      text += chunk
    })
    await once(body, 'end')
    assert.equal(text, 'one two')
    assert.equal(body.bodyUsed, true)
  })

  test('is a Readable to whoever puts back, peeks, takes a part or asks what was read', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => response.end(request.url === '/empty' ? '' : 'bc'))
    ).dispatcher()
    const next = async (path = '/') => {
      const { body } = await client.request({ path, method: 'GET' })
      // All of it has arrived and is unread.
      while (loadOf(client).running > 0) await new Promise((resolve) => setImmediate(resolve))
      return body
    }
    const restored = await next()
    restored.unshift('a')
    assert.equal(await restored.text(), 'abc')
    const iterated = await next()
    assert.equal(String(await contentOf(iterated)), 'bc')
    assert.equal(Readable.isDisturbed(iterated), true)
    for (const peek of [
      (body: Readable) => void body.read(0),
      (body: Readable) => void body.unpipe(body.pipe(new PassThrough())),
    ]) {
      const empty = await next('/empty')
      const ended = once(empty, 'end')
      peek(empty)
      await ended
      assert.equal(await empty.text(), '')
    }
    const taken = await next()
    const closed = once(taken, 'close')
    assert.equal((await taken.take(1).toArray()).join(''), 'bc')
    await closed.catch(() => {})
    assert.equal(taken.destroyed, true)
    const shared = await next()
    await once(shared, 'readable')
    const rest = shared.arrayBuffer()
    const first = String(shared.read(1))
    assert.equal(first + Buffer.from(await rest).toString(), 'bc')
  })

  test('setEncoding joins characters that were split between chunks', async (t) => {
    const bytes = Buffer.from('a€b')
    const server = deferred<ServerResponse>()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write(bytes.subarray(0, 2))
        server.resolve(response)
      })
    ).dispatcher()
    const { body } = await client.request(GET)
    body.setEncoding('utf8')
    const chunks: string[] = []
    body.on('data', (chunk: string) => chunks.push(chunk))
    await once(body, 'data')
    ;(await server.promise).end(bytes.subarray(2))
    await once(body, 'end')
    assert.equal(chunks.join(''), 'a€b')
  })

  test('data listeners added after text() see the data too', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('both'))).dispatcher()
    const { body } = await client.request(GET)
    const text = body.text()
    let seen = ''
    body.on('data', (chunk) => {
      seen += chunk
    })
    assert.equal(await text, 'both')
    assert.equal(seen, 'both')
  })

  test('as a web stream of bytes', async (t) => {
    const client = (await startOrigin(t, way, (_request, response) => response.end('web'))).dispatcher()
    const { body } = await client.request(GET)
    assert.equal(body.body, body.body)
    const reader = body.body.getReader()
    const { value } = await reader.read()
    assert.equal(Buffer.from(value ?? []).toString(), 'web')
    assert.equal((await reader.read()).done, true)

    const consumed = (await client.request(GET)).body
    const text = consumed.text()
    assert.equal(consumed.body.locked, true)
    assert.equal(await text, 'web')
  })

  test('dump frees the connection', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => response.end('x'.repeat(1000)))
    const client = origin.dispatcher()
    for (let i = 0; i < 3; i++) {
      const { body } = await client.request(GET)
      assert.equal(await body.dump(), null)
      assert.equal(await body.dump(), null)
    }
    assert.equal(origin.sockets.length, 1)
  })

  test('dump gives up beyond its limit, and still resolves', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      if (request.url === '/length') response.setHeader('content-length', '200000')
      response.write('x'.repeat(1000))
      response.on('error', () => {})
      if (request.url !== '/length') response.end('x'.repeat(1000))
    })
    const client = origin.dispatcher()
    // More is announced than the default limit.
    const announced = await client.request({ path: '/length', method: 'GET' })
    await announced.body.dump()
    assert.equal(announced.body.destroyed, true)
    const counted = await client.request(GET)
    await counted.body.dump({ limit: 1500 })
    assert.equal(counted.body.destroyed, true)
    const fine = await client.request(GET)
    await fine.body.dump({ limit: 2000 })
    assert.equal(fine.body.errored, null)
  })

  test('dump takes an AbortSignal', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('never ends')
      })
    ).dispatcher()
    const { body } = await client.request(GET)
    const wrong = await failure(body.dump({ signal: 'x' as never }))
    assert.ok(wrong instanceof errors.InvalidArgumentError, String(wrong))
    assert.equal(wrong.message, 'signal must be an AbortSignal')
    const reason = new Error('enough')
    assert.equal(await failure(body.dump({ signal: AbortSignal.abort(reason) })), reason)
    const controller = new AbortController()
    const dumped = failure(body.dump({ signal: controller.signal }))
    controller.abort(reason)
    assert.equal(await dumped, reason)
  })

  test('destroyed before its end, it aborts the request', async (t) => {
    const gone = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.on('close', () => gone.resolve())
        response.write('x')
      })
    ).dispatcher()
    const { body } = await client.request(GET)
    body.destroy()
    const [error] = (await once(body, 'error')) as [Error]
    assert.ok(error instanceof errors.RequestAbortedError, String(error))
    await gone.promise
    assert.equal(await failure(body.text()), error)
  })

  test('destroyed with an error, it has that error', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.write('x')
      })
    ).dispatcher()
    const own = new Error('mine')
    const { body } = await client.request(GET)
    body.destroy(own)
    const [error] = await once(body, 'error')
    assert.equal(error, own)
    assert.equal(await failure(body.text()), own)
  })

  test('asyncDispose lets go of what was not consumed', async (t) => {
    const gone = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.on('close', () => gone.resolve())
        response.write('x')
      })
    ).dispatcher()
    const { body } = await client.request(GET)
    await body[Symbol.asyncDispose]()
    assert.equal(body.closed, true)
    await gone.promise
  })

  test('fails when the server goes away in the middle', async (t) => {
    const origin = await startOrigin(t, way, (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half')
    })
    const client = origin.dispatcher()
    const { body } = await client.request(GET)
    const text = failure(body.text())
    for (const socket of origin.sockets) socket.destroy()
    const error = await text
    assert.match(error.message, /^(other side closed|read ECONNRESET|closed)/)
  })

  test('holds the server back while nobody reads, and loses nothing', async (t) => {
    if (way.kind !== 'Client') return t.skip(CLIENT_ONLY)
    const total = 24 * 1024 * 1024
    let sent = 0
    let ahead = 0
    let received = 0
    const stalled = deferred()
    const client = (
      await startOrigin(t, way, (_request, response) => {
        const chunk = Buffer.alloc(64 * 1024, 'x')
        const write = (): void => {
          while (sent < total) {
            sent += chunk.length
            ahead = Math.max(ahead, sent - received)
            if (!response.write(chunk)) {
              stalled.resolve()
              response.once('drain', write)
              return
            }
          }
          response.end()
        }
        write()
      })
    ).dispatcher()
    const { body } = await client.request(GET)
    await stalled.promise
    for await (const chunk of body) {
      received += (chunk as Buffer).length
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal(received, total)
    assert.equal(ahead < total / 2, true, `${ahead} bytes were ahead of the reader`)
  })

  test('highWaterMark bounds what is held unread', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => response.end('x'.repeat(50_000)))
    ).dispatcher()
    for (const highWaterMark of [0, 1, 1024]) {
      const { body } = await client.request({ ...GET, highWaterMark })
      assert.equal(body.readableHighWaterMark, highWaterMark)
      assert.equal((await contentOf(body)).length, 50_000)
    }
    const { body } = await client.request(GET)
    assert.equal(body.readableHighWaterMark, 65536)
    await body.dump()
  })

  test('maxResponseSize: one byte more fails the body', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        response.write('x')
        response.end(request.url === '/fits' ? '' : 'y')
      })
    ).dispatcher({ maxResponseSize: 1 })
    assert.equal(await (await client.request({ path: '/fits', method: 'GET' })).body.text(), 'x')
    const error = await failure((await client.request(GET)).body.text())
    assert.ok(error instanceof errors.ResponseExceededMaxSizeError, String(error))
    assert.equal(await (await client.request({ path: '/fits', method: 'GET' })).body.text(), 'x')
  })
})
