import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import type { BodyInput, DispatchOptions } from '../../src/index.ts'
import { CANCEL, DATA, NO_ERROR, REFUSED_STREAM } from '../../src/protocol/http2/constants.ts'
import { failure } from '../support/exchange.ts'
import { FakeClock, turns } from '../support/fake-clock.ts'
import { type PeerRequest, startH2Pair } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'

/** One request as the server sees it. The server answers it. */
async function seen(
  t: TestContext,
  options: Partial<DispatchOptions>,
): Promise<PeerRequest & { authority: string; body: string | null }> {
  const { server, client } = await startH2Pair(t)
  const handler = send(client, options)
  const peer = await server.accept()
  const request = await peer.request()
  const body = request.endStream ? null : (await peer.body(request.id)).toString('latin1')
  peer.respond(request.id)
  await handler.settled
  assert.equal(handler.body, 'ok')
  return { ...request, authority: server.url.slice('http://'.length), body }
}

async function* nothing(): AsyncGenerator<string> {
  await null
  yield ''
}

/** Empty bodies, known to be empty in advance or at the first read. */
const EMPTY: readonly (readonly [name: string, make: () => BodyInput | null])[] = [
  ['no body', () => null],
  ['text', () => ''],
  ['a Buffer', () => Buffer.alloc(0)],
  ['an ArrayBuffer', () => new ArrayBuffer(0)],
  ['a Blob', () => new Blob([])],
  ['a stream that has ended', () => new PassThrough().end()],
  ['a stream of items', () => Readable.from([])],
  ['a list', () => []],
  ['a generator', nothing],
  [
    'a web stream',
    () => new ReadableStream({ start: (controller) => controller.close() }) as unknown as BodyInput,
  ],
]

const without = (fields: readonly string[], prefix: string): string[] =>
  fields.filter((_, i) => !fields[i - (i % 2)]!.startsWith(prefix))

describe('pseudo headers over HTTP/2', () => {
  test('are made of method, path and origin, and stand in front', async (t) => {
    const request = await seen(t, { path: '/a?b=c', method: 'GET', headers: { 'x-one': '1' } })
    assert.deepEqual(request.fields, [
      ':method',
      'GET',
      ':scheme',
      'http',
      ':authority',
      request.authority,
      ':path',
      '/a?b=c',
      'x-one',
      '1',
    ])
    assert.equal(request.endStream, true)
  })

  test('win over those of the caller', async (t) => {
    const request = await seen(t, {
      path: '/real',
      headers: { ':path': '/fake', ':method': 'POST', ':scheme': 'ftp', ':authority': 'fake.test' },
    })
    assert.deepEqual(request.fields, [
      ':method',
      'GET',
      ':scheme',
      'http',
      ':authority',
      request.authority,
      ':path',
      '/real',
    ])
  })

  test('other names with a colon are refused', async (t) => {
    const { client } = await startH2Pair(t)
    const error = await failure(client.request({ path: '/', method: 'GET', headers: { ':status': '200' } }))
    assert.equal(error.message, 'invalid header key')
    assert.equal(error['code'], 'UND_ERR_INVALID_ARG')
  })

  test('a host header becomes :authority and is not sent', async (t) => {
    const request = await seen(t, { headers: { Host: 'name.example.test:8080' } })
    assert.equal(request.headers[':authority'], 'name.example.test:8080')
    assert.equal(request.headers['host'], undefined)
  })

  test('an empty host header leaves the authority of the origin', async (t) => {
    const request = await seen(t, { headers: { host: '' } })
    assert.equal(request.headers[':authority'], request.authority)
  })
})

describe('headers of a request over HTTP/2', () => {
  test('names in lower case, each value of a list a field of its own, cookies too', async (t) => {
    const request = await seen(t, {
      headers: ['X-Mixed-Case', 'Kept', 'Accept', ['a', 'b'], 'cookie', ['one=1', 'two=2'], 'TE', 'trailers'],
    })
    assert.deepEqual(without(request.fields, ':'), [
      'x-mixed-case',
      'Kept',
      'accept',
      'a',
      'accept',
      'b',
      'cookie',
      'one=1',
      'cookie',
      'two=2',
      'te',
      'trailers',
    ])
  })

  test('connection is dropped', async (t) => {
    const request = await seen(t, { headers: { connection: 'keep-alive' } })
    assert.deepEqual(without(request.fields, ':'), [])
  })

  const forbidden = (name: string, value: string) =>
    [
      { [name]: value },
      'ERR_HTTP2_INVALID_CONNECTION_HEADERS',
      `HTTP/1 Connection specific headers are forbidden: "${name}"`,
    ] as const
  const repeated = (name: string, other: string) =>
    [
      { [name]: 'a', [other]: 'b' },
      'ERR_HTTP2_HEADER_SINGLE_VALUE',
      `Header field "${name.toLowerCase()}" must only have a single value`,
    ] as const

  for (const [headers, code, message] of [
    forbidden('proxy-connection', 'keep-alive'),
    forbidden('http2-settings', 'AAMAAABk'),
    forbidden('te', 'gzip'),
    repeated('content-type', 'Content-Type'),
    repeated('User-Agent', 'user-agent'),
    repeated('AUTHORIZATION', 'Authorization'),
    repeated('If-Match', 'if-match'),
  ]) {
    test(`${JSON.stringify(headers)} fails its request and nothing else`, async (t) => {
      const { server, client, events } = await startH2Pair(t)
      const other = send(client, { path: '/other' })
      const peer = await server.accept()
      const running = await peer.request()
      const refused = send(client, { headers })
      await refused.settled
      const error = refused.error as Error & { code: string; retrySafety: string; cause: { code: string } }
      assert.equal(error.code, 'UND_ERR_INFO')
      assert.equal(error.cause.code, code)
      assert.equal(error.message, message)
      assert.equal(error.retrySafety, 'no')
      peer.respond(running.id)
      await other.settled
      const next = send(client, { path: '/next' })
      const last = await peer.request()
      assert.equal(last.headers[':path'], '/next')
      peer.respond(last.id)
      await next.settled
      assert.deepEqual([other.body, next.body], ['ok', 'ok'])
      assert.equal(server.count, 1)
      assert.ok(!events.some((event) => event.startsWith('disconnect')))
    })
  }

  test('a head over maxHeaderSize fails before a byte is written', async (t) => {
    const { server, client } = await startH2Pair(t, { maxHeaderSize: 200 })
    const large = send(client, { headers: { 'x-large': 'x'.repeat(200) } })
    const small = send(client, { path: '/small' })
    const peer = await server.accept()
    const request = await peer.request()
    assert.equal(request.headers[':path'], '/small')
    await large.settled
    const error = large.error as Error & { code: string }
    assert.equal(error.code, 'UND_ERR_HEADERS_OVERFLOW')
    assert.match(error.message, /maxHeaderSize/)
    assert.match(error.message, /200/)
    peer.respond(request.id)
    await small.settled
    assert.equal(small.body, 'ok')
  })
})

describe('the body of a request over HTTP/2', () => {
  const post = { method: 'POST', path: '/' } as const

  test('bytes: content-length and the bytes', async (t) => {
    const request = await seen(t, { ...post, body: 'hello' })
    assert.equal(request.headers['content-length'], '5')
    assert.equal(request.headers['transfer-encoding'], undefined)
    assert.equal(request.body, 'hello')
  })

  test('GET with a body announces its length too', async (t) => {
    const request = await seen(t, { method: 'GET', body: 'hello' })
    assert.equal(request.headers['content-length'], '5')
    assert.equal(request.body, 'hello')
  })

  for (const [name, make] of EMPTY) {
    test(`${name} that is empty: END_STREAM on HEADERS, and no DATA`, async (t) => {
      const { server, client } = await startH2Pair(t)
      // Several at once: each HEADERS frame ends its own stream.
      const handlers = [...'abc'].map((path) => send(client, { ...post, path: `/${path}`, body: make() }))
      const peer = await server.accept()
      const requests = await peer.take(3)
      assert.deepEqual(
        requests.map(({ headers, endStream }) => [headers[':path'], endStream]),
        [...'abc'].map((path) => [`/${path}`, true]),
      )
      for (const { id } of requests) peer.respond(id)
      for (const handler of handlers) await handler.settled
      assert.deepEqual(peer.pending(DATA), [])
    })
  }

  test('a head of several frames whose body turns out to be empty', async (t) => {
    const { server, client } = await startH2Pair(t, { maxHeaderSize: 1 << 20 })
    const handler = send(client, { ...post, headers: { 'x-long': '~'.repeat(40_000) }, body: [] })
    const peer = await server.accept()
    const { id, endStream } = await peer.request()
    assert.equal(endStream, true)
    peer.respond(id)
    await handler.settled
    assert.deepEqual(peer.pending(DATA), [])
  })

  test('a stream that ends only later: the head has left, and an empty DATA frame follows', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new PassThrough()
    const handler = send(client, { ...post, body })
    const peer = await server.accept()
    const { id, endStream } = await peer.request()
    assert.equal(endStream, false)
    body.end()
    assert.equal((await peer.body(id)).length, 0)
    peer.respond(id)
    await handler.settled
  })

  test('trailers: HEADERS with END_STREAM behind the last DATA, names in lower case', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { ...post, body: 'four', trailers: { 'X-Sum': '1', 'x-list': ['a', 'b'] } })
    const peer = await server.accept()
    const head = await peer.request()
    const data = await peer.frame(DATA, head.id)
    const trailers = await peer.request()
    assert.deepEqual([head.endStream, String(data.payload), data.flags], [false, 'four', 0])
    assert.deepEqual([head.headers['content-length'], head.headers['trailer']], ['4', 'X-Sum, x-list'])
    assert.deepEqual([trailers.id, trailers.endStream], [head.id, true])
    assert.deepEqual(trailers.fields, ['x-sum', '1', 'x-list', 'a', 'x-list', 'b'])
    peer.respond(head.id)
    await handler.settled
    assert.deepEqual(peer.pending(DATA), [])
  })

  test('trailers that are awaited while the stream is refused: only those of the second stream go out', async (t) => {
    const { server, client } = await startH2Pair(t)
    const given: ((fields: Record<string, string>) => void)[] = []
    const trailers = () => new Promise<Record<string, string>>((resolve) => given.push(resolve))
    const handler = send(client, { ...post, body: 'four', trailers })
    const peer = await server.accept()
    const first = await peer.request()
    await peer.frame(DATA, first.id)
    peer.reset(first.id, REFUSED_STREAM)
    const second = await peer.request()
    await peer.frame(DATA, second.id)
    given[0]!({ 'x-stale': '1' })
    await peer.settled()
    assert.equal(handler.calls.includes('onRequestSent'), false)
    given[1]!({ 'x-fresh': '1' })
    const sent = await peer.request()
    assert.deepEqual([sent.id, sent.fields], [second.id, ['x-fresh', '1']])
    peer.respond(second.id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('POST without one: content-length 0 and END_STREAM on HEADERS', async (t) => {
    const request = await seen(t, post)
    assert.equal(request.headers['content-length'], '0')
    assert.equal(request.endStream, true)
  })

  test('DELETE without one: no length', async (t) => {
    const request = await seen(t, { method: 'DELETE' })
    assert.equal(request.headers['content-length'], undefined)
    assert.equal(request.endStream, true)
  })

  test('a Blob brings its type; an empty one ends the stream with HEADERS', async (t) => {
    const blob = await seen(t, { ...post, body: new Blob(['blob'], { type: 'text/x-blob' }) })
    assert.equal(blob.headers['content-type'], 'text/x-blob')
    assert.equal(blob.headers['content-length'], '4')
    assert.equal(blob.body, 'blob')
    assert.equal((await seen(t, { ...post, body: new Blob([]) })).endStream, true)
  })

  test('a stream of unknown length has no length header', async (t) => {
    async function* pieces(): AsyncGenerator<string> {
      yield 'one '
      yield 'two'
    }
    const request = await seen(t, { ...post, body: pieces() })
    assert.equal(request.headers['content-length'], undefined)
    assert.equal(request.body, 'one two')
  })

  test('a declared length is sent for a stream, and a shorter or longer stream fails', async (t) => {
    const { server, client } = await startH2Pair(t)
    async function* pieces(): AsyncGenerator<string> {
      yield 'one '
      await turns(1)
      yield 'two'
    }
    for (const [length, ok] of [
      ['7', true],
      ['3', false],
      ['9', false],
    ] as const) {
      const handler = send(client, { ...post, body: pieces(), headers: { 'content-length': length } })
      if (ok) {
        const peer = await server.accept()
        const { id, headers } = await peer.request()
        assert.equal(headers['content-length'], '7')
        assert.equal((await peer.body(id)).toString(), 'one two')
        peer.respond(id)
        await handler.settled
        assert.equal(handler.body, 'ok')
      } else {
        await handler.settled
        const error = handler.error as Error & { code: string }
        assert.equal(error.code, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
      }
    }
    assert.equal(server.count, 1)
  })

  test('without strictContentLength a wrong length is only a warning', async (t) => {
    const { server, client } = await startH2Pair(t, { strictContentLength: false })
    const warned = once(process, 'warning')
    async function* pieces(): AsyncGenerator<string> {
      yield 'one '
      await turns(1)
      yield 'two'
    }
    const handler = send(client, { ...post, body: pieces(), headers: { 'content-length': '3' } })
    const peer = await server.accept()
    const { id } = await peer.request()
    assert.equal((await peer.body(id)).toString(), 'one two')
    peer.respond(id)
    await handler.settled
    assert.equal(handler.body, 'ok')
    const [warning] = (await warned) as [Error & { code: string }]
    assert.equal(warning.code, 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
  })

  test('bytes that differ from the declared length never leave', async (t) => {
    const { client, server } = await startH2Pair(t)
    const error = await failure(client.request({ ...post, body: 'four', headers: { 'content-length': '5' } }))
    assert.equal(error['code'], 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH')
    const next = send(client, { path: '/next' })
    const peer = await server.accept()
    const { id, headers } = await peer.request()
    assert.equal(headers[':path'], '/next')
    peer.respond(id)
    await next.settled
  })

  test('waits for the window of its stream, while others pass', async (t) => {
    const { server, client } = await startH2Pair(t)
    const large = send(client, { ...post, body: Buffer.alloc(100_000, 'x') })
    const peer = await server.accept()
    const { id } = await peer.request()
    let received = 0
    while (received < 65_535) received += (await peer.frame(DATA, id)).payload.length
    assert.equal(received, 65_535)
    const small = send(client, { path: '/small' })
    const other = await peer.request()
    peer.respond(other.id)
    await small.settled
    assert.equal(peer.pending(DATA, id).length, 0)
    peer.windowUpdate(0, 100_000).windowUpdate(id, 100_000)
    assert.equal((await peer.body(id)).length, 100_000 - 65_535)
    peer.respond(id)
    await large.settled
    assert.equal(large.body, 'ok')
  })

  test('a stream is read no faster than the window allows', async (t) => {
    const { server, client } = await startH2Pair(t)
    let produced = 0
    const body = new Readable({
      read() {
        produced += 16_384
        this.push(produced > 10_000_000 ? null : Buffer.alloc(16_384))
      },
    })
    const handler = send(client, { ...post, body })
    const peer = await server.accept()
    const { id } = await peer.request()
    for (let received = 0; received < 65_535; ) received += (await peer.frame(DATA, id)).payload.length
    await peer.settled()
    await turns(10)
    assert.ok(produced < 1_000_000, `${produced} bytes were read from a source that nobody empties`)
    peer.respond(id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('the server may say NO_ERROR after its early response', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new Readable({ read() {} })
    body.push('part')
    const handler = send(client, { ...post, body })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 413).data(id, 'too much', true).reset(id, NO_ERROR))
    await handler.settled
    assert.deepEqual([handler.status, handler.body], [413, 'too much'])
  })

  test('a source that fails resets its stream and keeps the connection', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new Readable({ read() {} })
    body.push('part')
    const handler = send(client, { ...post, body })
    const peer = await server.accept()
    const { id } = await peer.request()
    const reason = new Error('disk on fire')
    body.destroy(reason)
    await handler.settled
    assert.equal(handler.error, reason)
    assert.equal(await peer.resetOf(id), CANCEL)
    const next = send(client, { path: '/next' })
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })
})

describe('expectContinue over HTTP/2', () => {
  const options = { method: 'POST', path: '/', body: 'the body', expectContinue: true } as const

  test('the body waits for 100', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, options)
    const peer = await server.accept()
    const { id, headers } = await peer.request()
    assert.equal(headers['expect'], '100-continue')
    assert.equal(headers['content-length'], '8')
    await peer.settled()
    assert.deepEqual(peer.pending(DATA), [])
    peer.head(id, 100)
    assert.equal((await peer.body(id)).toString(), 'the body')
    peer.respond(id)
    await handler.settled
    assert.deepEqual(handler.statuses, [200])
    assert.equal(handler.body, 'ok')
  })

  test('a final response first is delivered, and the body never sent', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, options)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.respond(id, 'no thanks', 417)
    await handler.settled
    assert.deepEqual([handler.status, handler.body], [417, 'no thanks'])
    assert.equal(await peer.resetOf(id), CANCEL)
    await peer.settled()
    assert.deepEqual(peer.pending(DATA), [])
    assert.ok(!handler.calls.includes('onBodySent'))
  })

  for (const status of [200, 299]) {
    test(`${status} without a 100: the server wants the body`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const handler = send(client, { ...options, body: Readable.from(['the ', 'body']) })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.head(id, status)
      assert.equal((await peer.body(id)).toString(), 'the body')
      peer.data(id, 'ok', true)
      await handler.settled
      assert.deepEqual([handler.status, handler.body], [status, 'ok'])
    })
  }

  for (const hook of ['onBodySent', 'onRequestSent'] as const) {
    test(`200 without a 100, and ${hook} throws: one failure, and no head after it`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const calls: string[] = []
      const over = new Promise<void>((resolve) => {
        client.dispatch(options, {
          onRequestStart() {},
          onResponseStart: () => void calls.push('head'),
          onResponseData() {},
          onResponseEnd: () => void calls.push('end'),
          onResponseError(_controller, error) {
            calls.push(error.message)
            resolve()
          },
          [hook]() {
            throw new Error('thrown')
          },
        })
      })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.respond(id)
      await over
      await peer.settled()
      assert.deepEqual(calls, ['thrown'])
    })
  }

  test('303 without a 100: the body is never sent', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, options)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.respond(id, '', 303)
    await handler.settled
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.deepEqual(peer.pending(DATA), [])
  })

  test('a server that says nothing for a second gets the body', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t)
    const handler = send(client, options)
    const peer = await server.accept()
    const { id } = await peer.request()
    await clock.advance(999)
    await peer.settled()
    assert.deepEqual(peer.pending(DATA), [])
    await clock.advance(1)
    assert.equal((await peer.body(id)).toString(), 'the body')
    peer.head(id, 100).respond(id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('it is sent after expectContinueTimeout, and does not use up the time for the head', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, { expectContinueTimeout: 5000, headersTimeout: 400 })
    const quick = send(client, { ...options, expectContinueTimeout: 100 })
    const peer = await server.accept()
    const { id } = await peer.request()
    await clock.advance(100)
    assert.equal((await peer.body(id)).toString(), 'the body')
    peer.respond(id)
    await quick.settled

    const slow = send(client, options)
    const { id: next } = await peer.request()
    await clock.advance(400)
    assert.equal((await peer.body(next)).toString(), 'the body')
    await clock.advance(399)
    assert.equal(slow.error, undefined)
    peer.respond(next)
    await slow.settled
    assert.equal(slow.body, 'ok')
  })

  test('an abort while the body is held back sends nothing of it', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t)
    const handler = send(client, options)
    const peer = await server.accept()
    const { id } = await peer.request()
    handler.controller!.abort()
    assert.equal(await peer.resetOf(id), CANCEL)
    await clock.advance(2_000)
    await peer.settled()
    assert.deepEqual(peer.pending(DATA), [])
    assert.equal(handler.errors.length, 1)
  })

  test('a stream body that was held back can go to another connection', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { ...options, body: Readable.from(['from ', 'a stream']) })
    const first = await server.accept()
    await first.request()
    first.goaway(0)
    const second = await server.accept()
    const { id } = await second.request()
    second.head(id, 100)
    assert.equal((await second.body(id)).toString(), 'from a stream')
    second.respond(id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('a stream that its owner destroys while it is held back fails the request', async (t) => {
    const { server, client } = await startH2Pair(t, { expectContinueTimeout: 0, headersTimeout: 0 })
    const body = new Readable({ read() {} })
    const handler = send(client, { ...options, body })
    const peer = await server.accept()
    const { id } = await peer.request()
    body.destroy()
    await handler.settled
    assert.equal(handler.error?.name, 'AbortError')
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.deepEqual(peer.pending(DATA), [])
  })

  test('means nothing without a body', async (t) => {
    const request = await seen(t, { path: '/', method: 'GET', expectContinue: true })
    assert.equal(request.headers['expect'], undefined)
  })
})
