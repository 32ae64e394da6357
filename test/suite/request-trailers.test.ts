/** Fields after the body of a request. */
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { type BodyInput, errors, type TrailersInput } from '../../src/index.ts'
import { contentOf, deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

interface Received {
  readonly body: string
  readonly headers: Record<string, string>
  readonly trailers: Record<string, string>
}

/** Answers with the received trailers. */
function tellTrailers(request: IncomingMessage, response: ServerResponse): void {
  contentOf(request).then(
    (body) => {
      const { headers, trailers } = request
      response.end(JSON.stringify({ body: String(body), headers, trailers }))
    },
    () => response.destroy(),
  )
}

async function* pieces(): AsyncGenerator<string> {
  yield 'ab'
  await null
  yield 'c'
}

function form(): FormData {
  const data = new FormData()
  data.append('a', 'b')
  return data
}

const BODIES: readonly (readonly [name: string, make: () => BodyInput | null])[] = [
  ['no body', () => null],
  ['text', () => 'abc'],
  ['bytes', () => Buffer.from('abc')],
  ['a Blob', () => new Blob(['abc'])],
  ['an empty Blob', () => new Blob([])],
  ['a form', form],
  ['a stream', () => Readable.from(pieces())],
  ['an empty stream', () => Readable.from([])],
  ['a generator', pieces],
]

const FORBIDDEN = [
  'Content-Length',
  'transfer-encoding',
  'host',
  'Trailer',
  'te',
  'connection',
  'keep-alive',
  'upgrade',
  'proxy-connection',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'content-type',
  'content-encoding',
  'content-range',
  'expect',
  'cache-control',
  'range',
  'if-match',
  'max-forwards',
]

const REFUSED: readonly (readonly [trailers: unknown, message: string])[] = [
  ...FORBIDDEN.map((name) => [{ [name]: 'x' }, `${name} is not allowed in trailers`] as const),
  ['x', 'headers must be an object or an array'],
  [['a'], 'headers array must be even'],
  [{ ':path': '/' }, 'invalid trailer key'],
  [[1, 'x'], 'invalid trailer key'],
  [{ 'a b': 'x' }, 'invalid header key'],
  [{ 'x-a': 'a\r\nb: c' }, 'invalid x-a header'],
  [{ 'x-a': {} }, 'invalid x-a header'],
]

const POST = { path: '/', method: 'POST' }

overEachWay('request trailers', (way) => {
  const read = async (response: { body: { json(): Promise<unknown> } }): Promise<Received> =>
    (await response.body.json()) as Received

  for (const [name, make] of BODIES) {
    test(`behind ${name}`, async (t) => {
      const origin = await startOrigin(t, way, tellTrailers)
      const client = origin.dispatcher({ connections: 1 })
      const given: TrailersInput[] = [
        { 'X-Sum': '1', 'x-list': ['a', 'b'] },
        ['X-Sum', '1', 'x-list', 'a', 'x-list', 'b'],
        () => ({ 'X-Sum': 1, 'x-list': ['a', 'b'] }),
        async () => {
          await null
          return new Map([
            ['x-sum', '1'],
            ['x-list', 'a, b'],
          ])
        },
      ]
      for (const trailers of given) {
        const { body, headers, ...received } = await read(
          await client.request({ ...POST, body: make(), trailers }),
        )
        assert.deepEqual(received.trailers, { 'x-sum': '1', 'x-list': 'a, b' })
        if (name === 'a form') assert.match(body, /name="a"/)
        else assert.equal(body, /empty|no body/.test(name) ? '' : 'abc')
        if (!way.multiplexes) {
          assert.equal(headers['transfer-encoding'], 'chunked')
          assert.equal(headers['content-length'], undefined)
        }
        const announced = typeof trailers === 'function' ? undefined : /^x-sum, x-list$/i
        if (announced === undefined) assert.equal(headers['trailer'], undefined)
        else assert.match(headers['trailer']!, announced)
      }
      assert.equal(origin.sockets.length, 1)
    })
  }

  test('none: nothing changes', async (t) => {
    const client = (await startOrigin(t, way, tellTrailers)).dispatcher()
    for (const trailers of [null, undefined, {}, [], { 'x-a': undefined }]) {
      const received = await read(await client.request({ ...POST, body: 'abc', trailers }))
      assert.equal(received.headers['content-length'], '3')
      assert.equal(received.headers['transfer-encoding'], undefined)
      assert.deepEqual(received.trailers, {})
    }
    for (const nothing of [() => null, () => undefined, async () => ({})]) {
      const received = await read(await client.request({ ...POST, body: 'abc', trailers: nothing }))
      assert.equal(received.body, 'abc')
      assert.deepEqual(received.trailers, {})
    }
  })

  test('a function is called once, when the body has ended', async (t) => {
    const client = (await startOrigin(t, way, tellTrailers)).dispatcher()
    const log: string[] = []
    async function* body(): AsyncGenerator<string> {
      yield 'a'
      log.push('last')
      yield 'b'
    }
    const trailers = () => {
      log.push('trailers')
      return { 'x-length': 2 }
    }
    const received = await read(await client.request({ ...POST, body: body(), trailers }))
    assert.deepEqual(received.trailers, { 'x-length': '2' })
    assert.deepEqual(log, ['last', 'trailers'])
  })

  test("the caller's own trailer header is the only one", async (t) => {
    const client = (await startOrigin(t, way, tellTrailers)).dispatcher()
    const options = { ...POST, body: 'abc', headers: { Trailer: 'x-own' }, trailers: { 'x-own': '1' } }
    const received = await read(await client.request(options))
    assert.equal(received.headers['trailer'], 'x-own')
    assert.deepEqual(received.trailers, { 'x-own': '1' })
  })

  test('GET may have them, too', async (t) => {
    const client = (await startOrigin(t, way, tellTrailers)).dispatcher()
    const received = await read(await client.request({ path: '/', method: 'GET', trailers: { 'x-a': '1' } }))
    assert.deepEqual([received.body, received.trailers], ['', { 'x-a': '1' }])
  })

  test('what must not be there is refused at the call', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    for (const [trailers, message] of REFUSED) {
      const error = await failure(client.request({ ...POST, trailers: trailers as TrailersInput }))
      assert.ok(error instanceof errors.InvalidArgumentError, `${message}: ${error}`)
      assert.equal(error.message, message)
    }
    for (const open of [
      client.connect({ path: 'a.test:80', trailers: { 'x-a': '1' } } as never),
      client.upgrade({ path: '/', protocol: 'websocket', trailers: { 'x-a': '1' } } as never),
    ]) {
      assert.equal((await failure(open)).message, 'CONNECT and upgrades have no trailers')
    }
    assert.equal(origin.sockets.length, 0)
  })

  test('a function that gives what must not be there, throws or rejects fails its request', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      request.on('error', () => {})
      echo(request, response)
    })
    const client = origin.dispatcher()
    const boom = new Error('boom')
    const given: (() => never)[] = [
      () => ({ host: 'x' }) as never,
      () => Promise.resolve({ host: 'x' }) as never,
      () => {
        throw boom
      },
      () => Promise.reject(boom) as never,
    ]
    for (const [index, trailers] of given.entries()) {
      const error = await failure(client.request({ ...POST, body: 'abc', trailers }))
      if (index < 2) assert.equal(error.message, 'host is not allowed in trailers')
      else assert.equal(error, boom)
    }
    assert.equal((await readEcho(await client.request({ ...POST, body: 'x' }))).body, 'x')
  })

  test('a declared length is held to, trailers or not', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      request.on('error', () => {})
      tellTrailers(request, response)
    })
    const client = origin.dispatcher()
    const options = { ...POST, trailers: { 'x-a': '1' } }
    for (const length of ['2', '4']) {
      const headers = { 'content-length': length }
      for (const body of ['abc', pieces()]) {
        const error = await failure(client.request({ ...options, headers, body }))
        assert.ok(error instanceof errors.RequestContentLengthMismatchError, String(error))
      }
    }
    const headers = { 'content-length': '3' }
    for (const body of ['abc', pieces()]) {
      const received = await read(await client.request({ ...options, headers, body }))
      assert.deepEqual([received.body, received.trailers], ['abc', { 'x-a': '1' }])
    }
  })

  test('aborted while the trailers are still awaited: they go nowhere, and the next request is fine', async (t) => {
    const asked = deferred()
    const late = deferred<Record<string, string>>()
    const origin = await startOrigin(t, way, (request, response) => {
      request.on('error', () => {})
      tellTrailers(request, response)
    })
    const client = origin.dispatcher({ connections: 1 })
    const abort = new AbortController()
    const given = client.request({
      ...POST,
      body: 'abc',
      signal: abort.signal,
      trailers: () => {
        asked.resolve()
        return late.promise
      },
    })
    await asked.promise
    abort.abort()
    assert.equal((await failure(given)).name, 'AbortError')
    late.resolve({ 'x-late': '1' })
    const received = await read(await client.request({ ...POST, body: 'next' }))
    assert.deepEqual([received.body, received.trailers], ['next', {}])
  })
})
