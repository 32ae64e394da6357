import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Duplex, PassThrough, Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { test } from 'node:test'
import { type BodyInput, Client, errors, interceptors } from '../../src/index.ts'
import { deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ONE_AT_A_TIME, overEachWay, startOrigin, type Way } from '../support/wire.ts'

/** Over a pool or an agent it would only take longer. */
const CLIENT_ONLY = "backpressure is the connection's, whatever dispatcher chose it"

const POST = { path: '/', method: 'POST' }
const UTF8 = Buffer.from('grün').toString('latin1')

function* pieces(): Generator<string | Uint8Array> {
  yield 'gr'
  yield ''
  yield new Uint8Array(0)
  yield new Uint8Array([0xc3, 0xbc])
  yield Buffer.from('n')
}

async function* slowPieces(): AsyncGenerator<string | Uint8Array> {
  for (const piece of pieces()) {
    await null
    yield piece
  }
}

async function* slowNothing(): AsyncGenerator<string> {
  await null
  yield ''
}

/** Pushes everything at the first read: its length is known before anything is sent. */
function eagerStream(): Readable {
  return new Readable({
    read() {
      this.push('grün')
      this.push(null)
    },
  })
}

/** A stream whose chunks arrive one by one, with time between them. */
function lateStream(objectMode = false): Readable {
  return Readable.from(slowPieces(), { objectMode })
}

const KINDS: [name: string, make: () => BodyInput, known: boolean][] = [
  ['string', () => 'grün', true],
  ['Buffer', () => Buffer.from('grün'), true],
  ['Uint8Array', () => new Uint8Array(Buffer.from('grün')), true],
  ['Uint8Array with an offset', () => new Uint8Array(Buffer.from('[grün]')).subarray(1, 6), true],
  ['DataView', () => viewOf('--grün--', 2, 5), true],
  ['Uint16Array', () => new Uint16Array([0x7267, 0xbcc3]), true],
  ['ArrayBuffer', () => new Uint8Array(Buffer.from('grün')).buffer, true],
  ['Blob', () => new Blob(['gr', 'ün']), true],
  ['File', () => new File(['grün'], 'a.txt'), true],
  ['stream that has all at once', eagerStream, true],
  ['stream', () => lateStream(), false],
  ['stream in object mode', () => lateStream(true), false],
  ['PassThrough', () => new PassThrough().end('grün'), true],
  ['array', () => ['gr', 'ün'], false],
  ['generator', pieces, false],
  ['async generator', slowPieces, false],
  ['web ReadableStream', () => ReadableStream.from(pieces()) as unknown as AsyncIterable<string>, false],
]

function viewOf(text: string, offset: number, length: number): DataView {
  return new DataView(new Uint8Array(Buffer.from(text)).buffer, offset, length)
}

const EMPTY: [name: string, make: () => BodyInput | null | undefined, known: boolean][] = [
  ['null', () => null, true],
  ['undefined', () => undefined, true],
  ['empty string', () => '', true],
  ['empty Buffer', () => Buffer.alloc(0), true],
  ['empty ArrayBuffer', () => new ArrayBuffer(0), true],
  ['empty view', () => new Uint32Array(0), true],
  ['empty Blob', () => new Blob([]), true],
  ['empty URLSearchParams', () => new URLSearchParams(), true],
  ['empty array', () => [], false],
  ['array of nothing', () => ['', new Uint8Array(0)], false],
  ['empty stream', () => Readable.from([]), false],
  ['stream that yields nothing after a while', () => Readable.from(nothing()), false],
  ['ended stream', endedStream, true],
]

async function* nothing(): AsyncGenerator<string> {
  await null
  yield* []
}

function endedStream(): Readable {
  const stream = new PassThrough()
  stream.end()
  stream.resume()
  return stream
}

overEachWay('request bodies', (way) => {
  for (const [name, make, known] of KINDS) {
    test(`${name} arrives ${known ? 'with its length' : 'without a length'}`, async (t) => {
      const client = (await startOrigin(t, way, echo)).dispatcher()
      const received = await readEcho(await client.request({ ...POST, body: make() }))
      const expected = name === 'Uint16Array' ? 'gr\u00c3\u00bc' : UTF8
      assert.equal(received.body, expected)
      assert.equal(received.headers['content-length'], known ? String(expected.length) : undefined)
      assert.equal(received.headers['transfer-encoding'], known || way.multiplexes ? undefined : 'chunked')
    })
  }

  test('strings of any length and alphabet arrive as UTF-8, also one behind the other', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher({ pipelining: 4 })
    const texts = [
      'x',
      'x'.repeat(8192),
      'x'.repeat(8193),
      'x'.repeat(100_000),
      '\x7f\x80',
      '\u20ac',
      '\ud800',
    ]
    const received = await Promise.all(
      texts.map(async (body) => readEcho(await client.request({ path: '/', method: 'PUT', body }))),
    )
    for (const [index, text] of texts.entries()) {
      const bytes = Buffer.from(text)
      assert.equal(received[index]!.body, bytes.toString('latin1'))
      assert.equal(received[index]!.headers['content-length'], String(bytes.length))
    }
  })

  test('a handler hears of the bytes of a string', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const body of ['plain', 'gr\u00fcn']) {
      const handler = new RecordingHandler()
      client.dispatch({ ...POST, body }, handler)
      await handler.settled
      assert.deepEqual(handler.sent, [Buffer.from(body)])
    }
  })

  test('a declared length frames a body whose length is unknown', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const make of [lateStream, pieces, slowPieces]) {
      const headers = { 'Content-Length': '5' }
      const received = await readEcho(await client.request({ ...POST, headers, body: make() }))
      assert.equal(received.body, UTF8)
      assert.equal(received.headers['content-length'], '5')
      assert.equal(received.headers['transfer-encoding'], undefined)
    }
  })

  for (const [name, make, known] of EMPTY) {
    test(`${name} is no body: only methods that expect one say so`, async (t) => {
      const client = (await startOrigin(t, way, echo)).dispatcher()
      // HTTP/2 does not hold the head back until the body is known to be empty.
      const announced = known || !way.multiplexes ? '0' : undefined
      for (const method of ['POST', 'PUT', 'PATCH', 'PROPFIND', 'PROPPATCH']) {
        const { headers, body } = await readEcho(await client.request({ path: '/', method, body: make() }))
        assert.equal(body, '')
        assert.equal(headers['content-length'], announced, method)
        assert.equal(headers['transfer-encoding'], undefined)
      }
      for (const method of ['GET', 'DELETE', 'OPTIONS', 'PURGE']) {
        const { headers, body } = await readEcho(await client.request({ path: '/', method, body: make() }))
        assert.equal(body, '')
        assert.equal(headers['content-length'], undefined, method)
        assert.equal(headers['transfer-encoding'], undefined)
      }
    })
  }

  test('only Blob, FormData and URLSearchParams bring a content type, and only when the caller has none', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const typeOf = async (body: BodyInput, headers = {}) =>
      (await readEcho(await client.request({ ...POST, body, headers }))).headers['content-type']
    assert.equal(await typeOf('x'), undefined)
    assert.equal(await typeOf(new Blob(['x'])), undefined)
    assert.equal(await typeOf(new Blob(['x'], { type: 'text/css' })), 'text/css')
    assert.equal(await typeOf(new Blob(['x'], { type: 'text/css' }), { 'Content-Type': 'a/b' }), 'a/b')
    const form = new FormData()
    form.append('a', 'b')
    assert.match(String(await typeOf(form)), /^multipart\/form-data; boundary=-+formdata-undici-0\d+$/)
    assert.equal(await typeOf(form, { 'content-type': 'a/b' }), 'a/b')

    const urlencoded = 'application/x-www-form-urlencoded;charset=UTF-8'
    assert.equal(await typeOf(new URLSearchParams('a=b')), urlencoded)
    assert.equal(await typeOf(new URLSearchParams('a=b'), { 'content-type': 'a/b' }), 'a/b')

    const blob = Object.defineProperty(new Blob(['x']), 'type', { value: 'a\r\nb: c' })
    const error = await failure(client.request({ ...POST, body: blob }))
    assert.ok(error instanceof errors.InvalidArgumentError, String(error))
    assert.equal(error.message, 'invalid content-type header')
    // Nothing was sent, so the connection continues.
    assert.equal((await readEcho(await client.request(POST))).body, '')
  })

  test('URLSearchParams arrive as they are at the call, with their length', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const params = new URLSearchParams({ a: 'b c', '\u00e4': '&=+' })
    const sent = client.request({ ...POST, body: params })
    params.set('a', 'changed')
    const { headers, body } = await readEcho(await sent)
    assert.deepEqual([body, headers['content-length']], ['a=b+c&%C3%A4=%26%3D%2B', '22'])
  })

  test('URLSearchParams are sent again after a 503 and after a redirect', async (t) => {
    const bodies: string[] = []
    const origin = await startOrigin(t, way, async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      bodies.push(`${request.headers['content-type']} ${text}`)
      if (bodies.length === 1) response.writeHead(503)
      if (bodies.length === 2) response.writeHead(307, { location: '/there' })
      response.end()
    })
    const { retry, redirect } = interceptors
    const client = origin
      .dispatcher()
      .compose(retry({ minTimeout: 1, idempotencyKey: true }), redirect({ maxRedirections: 1 }))
    await client.request({ ...POST, body: new URLSearchParams('a=b') })
    const expected = 'application/x-www-form-urlencoded;charset=UTF-8 a=b'
    assert.deepEqual(bodies, [expected, expected, expected])
  })

  test('FormData arrives as a form that the runtime reads back', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const form = new FormData()
    form.append('plain', 'grün\nzwei')
    form.append('q"uo\r\nted', '1')
    form.append('plain', 'again')
    form.append('file', new File(['<grün>'], 'na"me.txt', { type: 'text/plain' }))
    form.append('blob', new Blob([new Uint8Array([0, 255])]))
    const { headers, body } = await readEcho(await client.request({ ...POST, body: form }))
    assert.equal(headers['content-length'], String(body.length))
    assert.equal(headers['transfer-encoding'], undefined)
    const type = String(headers['content-type'])
    const back = await new Response(Buffer.from(body, 'latin1'), {
      headers: { 'content-type': type },
    }).formData()
    assert.deepEqual(back.getAll('plain'), ['grün\r\nzwei', 'again'])
    assert.equal([...back.keys()][1], 'q"uo\r\nted')
    const file = back.get('file') as File
    assert.deepEqual([file.name, file.type, await file.text()], ['na"me.txt', 'text/plain', '<grün>'])
    const blob = back.get('blob') as File
    assert.deepEqual([blob.name, blob.type], ['blob', 'application/octet-stream'])
    assert.deepEqual(new Uint8Array(await blob.arrayBuffer()), new Uint8Array([0, 255]))
  })

  test('FormData of another make is encoded too', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const entries: [string, unknown][] = [
      ['a', '1'],
      ['f', { name: 'x', type: 'text/x', stream: () => slowPieces() }],
    ]
    const form = {
      append() {},
      delete() {},
      get() {},
      getAll: () => [],
      has: () => false,
      set() {},
      [Symbol.toStringTag]: 'FormData',
      [Symbol.iterator]: () => entries[Symbol.iterator](),
    }
    const { headers, body } = await readEcho(await client.request({ ...POST, body: form }))
    // A part without a size leaves the length unknown.
    assert.equal(headers['content-length'], undefined)
    assert.match(body, /name="a"\r\n\r\n1\r\n/)
    assert.match(body, /filename="x"\r\nContent-Type: text\/x\r\n\r\ngr..n\r\n/)
  })

  test('items that are neither text nor bytes fail the request and do not hang', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const bodies: unknown[] = [
      [1],
      ['x', { y: 1 }],
      [null],
      Readable.from([{ a: 1 }]),
      ReadableStream.from(['x', 7]),
      new Map([[1, 2]]),
    ]
    for (const body of bodies) {
      const error = await failure(client.request({ ...POST, body: body as BodyInput }))
      assert.ok(error instanceof TypeError, String(error))
      assert.equal(error.code, 'ERR_INVALID_ARG_TYPE')
    }
    assert.equal((await readEcho(await client.request({ ...POST, body: 'x' }))).body, 'x')
  })

  test('an error of the source is the error of the request, and the server sees no complete request', async (t) => {
    const arrived = deferred()
    const aborted = deferred()
    const client = (
      await startOrigin(t, way, (request) => {
        request.on('error', () => {}).on('aborted', () => aborted.resolve())
        request.once('data', () => arrived.resolve())
      })
    ).dispatcher()
    const own = new Error('mine')
    const broken = async function* () {
      yield 'x'
      await arrived.promise
      throw own
    }
    const error = await failure(client.request({ ...POST, body: broken() }))
    assert.equal(error, own)
    await aborted.promise
  })

  test('a stream that is being sent cannot be the body of a second request', async (t) => {
    const arrived = deferred()
    const origin = await startOrigin(t, way, (request, response) => {
      request.once('data', arrived.resolve)
      request.on('end', () => response.end())
    })
    const [first, second] = [origin.dispatcher(), origin.dispatcher()]
    const body = new PassThrough()
    body.write('the first piece')
    const sent = first.request({ ...POST, origin: origin.url, body })
    sent.catch(() => {})
    await arrived.promise
    const failed = second.request({ ...POST, origin: origin.url, body })
    await assert.rejects(failed, {
      code: 'UND_ERR_INVALID_ARG',
      message: 'the body is being sent with another request',
    })
    await assert.rejects(sent)
  })

  test('a stream that fails while its request waits fails it', async (t) => {
    const entered = deferred()
    const release = deferred()
    const client = (
      await startOrigin(t, way, (request, response) => {
        if (request.url !== '/first') return echo(request, response)
        entered.resolve()
        release.promise.then(() => response.end())
      })
    ).dispatcher(ONE_AT_A_TIME)
    const first = client.request({ path: '/first', method: 'POST' })
    await entered.promise
    const body = new Readable({ read() {} })
    const own = new Error('too early')
    const waiting = failure(client.request({ ...POST, body }))
    body.destroy(own)
    release.resolve()
    await (await first).body.dump()
    assert.equal(await waiting, own)
    assert.equal((await readEcho(await client.request({ ...POST, body: 'next' }))).body, 'next')
  })

  test('a stream that was destroyed before fails its request', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const own = new Error('gone')
    const withError = new Readable({ read() {} })
    withError.on('error', () => {})
    withError.destroy(own)
    await new Promise<void>((resolve) => withError.on('close', resolve))
    assert.equal(await failure(client.request({ ...POST, body: withError })), own)
    const without = new Readable({ read() {} }).destroy()
    const error = await failure(client.request({ ...POST, body: without }))
    assert.ok(error instanceof errors.RequestAbortedError, String(error))
  })

  test('a body that fails in the turn of its first piece: HTTP/1.1 sends nothing', async (t) => {
    let requests = 0
    const origin = await startOrigin(t, way, (request, response) => {
      requests++
      echo(request, response)
    })
    const client = origin.dispatcher()
    await readEcho(await client.request({ ...POST, body: 'first' }))
    const own = new Error('nothing to send')
    const body = new Readable({
      read() {
        this.push('a piece')
        this.destroy(own)
      },
    })
    assert.equal(await failure(client.request({ ...POST, body })), own)
    assert.equal((await readEcho(await client.request({ ...POST, body: 'next' }))).body, 'next')
    if (!way.multiplexes) assert.equal(requests, 2)
  })

  test('a stream that closes without ending is an abort', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const body = new Readable({ read() {} })
    body.push('x')
    const handler = new RecordingHandler({ onBodySent: () => body.destroy() })
    client.dispatch({ ...POST, body }, handler)
    await handler.settled
    assert.ok(handler.error instanceof errors.RequestAbortedError, String(handler.error))
    assert.equal(handler.error.code, 'UND_ERR_ABORTED')
  })

  test('an emitter of older make is read, and destroyed when it ends', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const source = new PassThrough({ autoDestroy: false })
    const destroyed = once(source, 'close')
    const received = client.request({ ...POST, body: source })
    source.write('gr')
    source.end('ün')
    assert.equal((await readEcho(await received)).body, UTF8)
    await destroyed
  })

  test('when the request fails, its stream is destroyed with the same error', async (t) => {
    const origin = await startOrigin(t, way, (request) => {
      request.on('error', () => {})
      for (const socket of origin.sockets) socket.destroy()
    })
    const body = new Readable({ read() {} })
    body.push('x')
    const client = origin.dispatcher()
    const error = await failure(client.request({ ...POST, body }))
    assert.equal(body.destroyed, true)
    assert.equal(body.errored, error)
  })

  test('when the request fails, an iterator is closed at its next step', async (t) => {
    const origin = await startOrigin(t, way, (request) => {
      request.on('error', () => {})
      for (const socket of origin.sockets) socket.destroy()
    })
    const failed = deferred()
    const closed = deferred()
    const endless = async function* () {
      try {
        yield 'x'
        await failed.promise
        for (;;) yield 'y'
      } finally {
        closed.resolve()
      }
    }
    await failure(origin.dispatcher().request({ ...POST, body: endless() }))
    failed.resolve()
    await closed.promise
  })

  test('a response that comes before the whole body is a success; the source is let go', async (t) => {
    const client = (
      await startOrigin(t, way, (_request, response) => {
        response.writeHead(413)
        response.end('enough')
      })
    ).dispatcher()
    const body = new Readable({ read() {} })
    body.push('x')
    const closed = once(body, 'close')
    const response = await client.request({ ...POST, body })
    assert.equal(response.statusCode, 413)
    assert.equal(await response.body.text(), 'enough')
    await closed
    assert.equal(body.errored, null)
  })

  test('an IncomingMessage as body keeps its own socket, whatever becomes of the request', async (t) => {
    const origin = await startOrigin(t, way, (request) => {
      request.on('error', () => {})
      for (const socket of origin.sockets) socket.destroy()
    })
    const client = origin.dispatcher()
    const front = http.createServer((request, response) => {
      client.request({ ...POST, body: request }).then(
        () => response.end('unexpected'),
        () => {
          response.statusCode = 502
          response.end('the origin is gone')
        },
      )
    })
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
    t.after(() => front.close())
    const { port } = front.address() as AddressInfo
    const visitor = new Client(`http://127.0.0.1:${port}`)
    t.after(() => visitor.destroy())
    const body = new PassThrough()
    body.write('x')
    const answer = visitor.request({ ...POST, body })
    const { statusCode, body: text } = await answer
    assert.equal(statusCode, 502)
    assert.equal(await text.text(), 'the origin is gone')
  })

  for (const kind of ['Node stream', 'async generator'] as const) {
    test(`a ${kind} is read no faster than the server takes it`, async (t) => {
      if (way.kind !== 'Client') return t.skip(CLIENT_ONLY)
      const total = 24 * 1024 * 1024
      const { produced, received, ahead } = await upload(t, way, kind, total)
      assert.equal(produced, total)
      assert.equal(received, total)
      assert.equal(ahead < total / 2, true, `${ahead} bytes were ahead of the server`)
    })
  }
})

/** Uploads to a server that takes one chunk for each turn of the event loop. */
async function upload(
  t: Parameters<typeof startOrigin>[0],
  way: Way,
  kind: 'Node stream' | 'async generator',
  total: number,
): Promise<{ produced: number; received: number; ahead: number }> {
  const chunk = Buffer.alloc(64 * 1024)
  let produced = 0
  let received = 0
  let ahead = 0
  const next = (): Buffer | null => {
    if (produced === total) return null
    produced += chunk.length
    ahead = Math.max(ahead, produced - received)
    return chunk
  }
  async function* generate(): AsyncGenerator<Buffer> {
    for (let piece = next(); piece !== null; piece = next()) yield piece
  }
  const source =
    kind === 'async generator'
      ? generate()
      : new Readable({
          read() {
            this.push(next())
          },
        })
  const origin = await startOrigin(t, way, async (request, response) => {
    for await (const piece of request) {
      received += (piece as Buffer).length
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  })
  const { body } = await origin.dispatcher().request({ ...POST, body: source })
  await body.dump()
  return { produced, received, ahead }
}

overEachWay('declared length against real length', (way) => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'POST', 'PUT', 'DELETE', 'QUERY', 'X-OWN']) {
    test(`strict: ${method} with another length than it declares fails before anything is sent`, async (t) => {
      const origin = await startOrigin(t, way, echo)
      const client = origin.dispatcher()
      const bodies = [null, '', 'abc', Buffer.from('abc'), new Blob(['abc']), eagerStream(), new FormData()]
      for (const body of bodies) {
        const headers = { 'content-length': '2' }
        const error = await failure(client.request({ path: '/', method, headers, body }))
        assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
        assert.equal(error.code, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
      }
      assert.equal((await readEcho(await client.request(POST))).body, '')
      // Nothing had been sent: the connection was kept.
      assert.equal(origin.sockets.length, 1)
    })
  }

  test('strict: CONNECT and an upgrade that declare a body fail before anything is sent', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const headers = { 'content-length': '2' }
    const opened = [
      () => client.connect({ path: 'a.test:80', headers }),
      () => client.upgrade({ path: '/', protocol: 'websocket', headers }),
    ]
    for (const open of opened) {
      const error = await failure(open())
      // Over HTTP/2, missing support for extended CONNECT is detected first.
      if (error instanceof errors.InformationalError) assert.equal(way.multiplexes, true)
      else assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
    }
    assert.equal((await readEcho(await client.request(POST))).body, '')
    assert.equal(origin.sockets.length, 1)
  })

  test('strict: the right length is sent, 0 only where a body is expected', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const [method, body, announced] of [
      ['GET', null, undefined],
      ['DELETE', '', undefined],
      ['POST', null, '0'],
      ['GET', 'abc', '3'],
      ['DELETE', 'abc', '3'],
    ] as const) {
      const headers = { 'content-length': String(body?.length ?? 0) }
      const received = await readEcho(await client.request({ path: '/', method, headers, body }))
      assert.equal(received.headers['content-length'], announced, method)
      assert.equal(received.body, body ?? '')
    }
  })

  test('strict: a streamed body where none was declared fails, whatever the method', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      request.on('error', () => {})
      echo(request, response)
    })
    const client = origin.dispatcher()
    for (const method of ['GET', 'DELETE', 'POST']) {
      const options = { path: '/', method, headers: { 'content-length': '0' } }
      const error = await failure(client.request({ ...options, body: slowPieces() }))
      assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
      assert.equal((await readEcho(await client.request({ ...options, body: slowNothing() }))).body, '')
    }
  })

  test('strict: a streamed body that is longer or shorter fails', async (t) => {
    const client = (
      await startOrigin(t, way, (request, response) => {
        request.on('error', () => {})
        echo(request, response)
      })
    ).dispatcher()
    for (const length of ['3', '9']) {
      const headers = { 'content-length': length }
      const error = await failure(client.request({ ...POST, headers, body: slowPieces() }))
      assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
    }
    assert.equal((await readEcho(await client.request({ ...POST, body: 'x' }))).body, 'x')
  })

  test('not strict: a warning, and the real length is sent', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher({ strictContentLength: false })
    for (const [method, body, announced] of [
      ['POST', 'abc', '3'],
      ['GET', 'abc', '3'],
      ['POST', null, '0'],
      ['PUT', new Blob([]), '0'],
      ['GET', null, undefined],
      ['DELETE', '', undefined],
    ] as const) {
      const warned = once(process, 'warning')
      const headers = { 'content-length': '2' }
      const received = await readEcho(await client.request({ path: '/', method, headers, body }))
      assert.equal(received.headers['content-length'], announced, method)
      assert.equal(received.body, typeof body === 'string' ? body : '')
      const [warning] = (await warned) as [Error]
      assert.ok(warning instanceof errors.RequestContentLengthMismatchError, String(warning))
    }
  })
})

overEachWay('what a handler hears of the body', (way) => {
  test('each chunk as the caller gave it, then that all is sent', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const chunks = ['one', Buffer.from('two'), new Uint8Array([51])]
    const streamed = new RecordingHandler()
    client.dispatch({ ...POST, body: chunks }, streamed)
    await streamed.settled
    assert.deepEqual(streamed.sent, chunks)
    assert.equal(streamed.sent[1], chunks[1])
    assert.deepEqual(streamed.calls.slice(0, 5), [
      'onRequestStart',
      'onBodySent',
      'onBodySent',
      'onBodySent',
      'onRequestSent',
    ])

    const text = new RecordingHandler()
    client.dispatch({ ...POST, body: 'grün' }, text)
    await text.settled
    assert.equal(Buffer.isBuffer(text.sent[0]), true)
    assert.equal(String(text.sent[0]), 'grün')

    const none = new RecordingHandler()
    client.dispatch(POST, none)
    await none.settled
    assert.deepEqual(none.calls.slice(0, 2), ['onRequestStart', 'onRequestSent'])
  })

  test('a Duplex is read to its end', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const body = Duplex.from(slowPieces())
    assert.equal((await readEcho(await client.request({ ...POST, body }))).body, UTF8)
  })

  test('bytes are not copied: what they are when they are sent is sent', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const body = Buffer.from('before')
    const response = client.request({ ...POST, body })
    body.write('after!')
    assert.equal((await readEcho(await response)).body, 'after!')
  })
})
