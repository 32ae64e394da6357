/**
 * The exact messages of errors: programs compare them, and logs are grouped by them. None reveals where the request
 * went, so a proxy may pass `message` on to its clients. The first line of `stack` has the destination.
 */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2Session, ServerHttp2Stream } from 'node:http2'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Agent, BalancedPool, Client, type ClientOptions, errors, H2CClient } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { type Listener, overEachWire, startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'

const PATH = '/inner/place'
const HOLD: Listener = () => {}

type Failed = Error & { readonly code?: string; readonly phase?: string; readonly origin?: string }

interface Situation {
  readonly title: string
  /** Over HTTP/1.1 and over HTTP/2; null if it cannot happen. */
  readonly message: string | readonly [h1: string | null, h2: string | null]
  readonly options?: ClientOptions
  readonly listener: Listener
  readonly provoke: (client: Client, origin: TestOrigin) => Promise<unknown>
}

function streamOf(request: IncomingMessage): ServerHttp2Stream {
  return (request as unknown as Http2ServerRequest).stream
}

function sessionOf(request: IncomingMessage): Http2Session {
  return streamOf(request).session!
}

function hangUp(request: IncomingMessage): void {
  if (request.httpVersionMajor === 2) sessionOf(request).destroy()
  else request.socket.end()
}

const get = (client: Client, more: object = {}): Promise<{ body: Readable & { text(): Promise<string> } }> =>
  client.request({ path: PATH, method: 'GET', ...more })

const post = (client: Client, more: object = {}): Promise<unknown> =>
  client.request({ path: PATH, method: 'POST', ...more })

function resetWith(code: number): Pick<Situation, 'listener' | 'provoke'> {
  return { listener: (request) => streamOf(request).close(code), provoke: (client) => get(client) }
}

/** A server that ends before it has sent the announced length. */
function cutOff(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '10' })
  response.write('half')
  if (request.httpVersionMajor === 2) streamOf(request).end()
  else request.socket.end()
}

const SITUATIONS: readonly Situation[] = [
  {
    title: 'the server closes before it answers',
    message: 'other side closed',
    listener: hangUp,
    provoke: (client) => get(client),
  },
  {
    title: 'the server closes within a body it said it would keep the connection after',
    message: ['other side closed', null],
    listener: cutOff,
    provoke: async (client) => (await get(client)).body.text(),
  },
  {
    title: 'the body is shorter than announced',
    message: [null, 'Response body length does not match content-length header'],
    listener: cutOff,
    provoke: async (client) => (await get(client)).body.text(),
  },
  {
    title: 'the body of a last response is shorter than announced',
    message: ['Response body length does not match content-length header', null],
    listener(request, response) {
      response.setHeader('connection', 'close')
      cutOff(request, response)
    },
    provoke: async (client) => (await get(client)).body.text(),
  },
  {
    title: 'no head in time',
    message: ['Headers Timeout Error', 'HTTP/2: "headers timeout after 1"'],
    listener: HOLD,
    provoke: (client) => get(client, { headersTimeout: 1 }),
  },
  {
    title: 'no body in time',
    message: ['Body Timeout Error', 'HTTP/2: "stream timeout after 1"'],
    listener: (_request, response) => response.write('x'),
    provoke: async (client) => (await get(client, { bodyTimeout: 1 })).body.text(),
  },
  {
    title: 'a body over maxResponseSize',
    message: 'Response content exceeded max size',
    options: { maxResponseSize: 1 },
    listener: (_request, response) => response.end('xx'),
    provoke: async (client) => (await get(client)).body.text(),
  },
  {
    title: 'a response head over maxHeaderSize',
    message: 'Headers Overflow Error',
    options: { maxHeaderSize: 500 },
    listener: (_request, response) => response.writeHead(200, { long: 'x'.repeat(600) }).end(),
    provoke: (client) => get(client),
  },
  {
    title: 'a request body that is not as long as announced',
    message: 'Request body length does not match content-length header',
    listener: HOLD,
    provoke: (client) => post(client, { body: 'x', headers: { 'content-length': '5' } }),
  },
  {
    title: 'a streamed request body that is not as long as announced',
    message: 'Request body length does not match content-length header',
    listener: HOLD,
    provoke: (client) =>
      post(client, { body: Readable.from([Buffer.from('x')]), headers: { 'content-length': '5' } }),
  },
  {
    title: 'a request body that closes before its end',
    message: 'Request aborted',
    listener: HOLD,
    provoke(client) {
      const body = new Readable({ read() {} })
      body.push('x')
      const failed = post(client, { body })
      client.once('connect', () => setImmediate(() => body.destroy()))
      return failed
    },
  },
  {
    title: 'after close()',
    message: 'The client is closed',
    listener: HOLD,
    provoke(client) {
      get(client).catch(() => {})
      client.close().catch(() => {})
      return get(client)
    },
  },
  {
    title: 'after destroy()',
    message: 'The client is destroyed',
    listener: HOLD,
    async provoke(client) {
      await client.destroy()
      return get(client)
    },
  },
  {
    title: 'destroy() meanwhile',
    message: 'The client is destroyed',
    listener: HOLD,
    async provoke(client, origin) {
      const arrived = once(origin.server, 'request')
      const failed = get(client)
      failed.catch(() => {})
      await arrived
      await client.destroy()
      return failed
    },
  },
  {
    title: 'a signal without a reason',
    message: 'Request aborted',
    listener: HOLD,
    provoke(client) {
      const signal = new EventEmitter()
      const failed = get(client, { signal })
      client.once('connect', () => setImmediate(() => signal.emit('abort')))
      return failed
    },
  },
  {
    title: 'a body destroyed early',
    message: 'Request aborted',
    listener: (_request, response) => response.write('x'),
    async provoke(client) {
      const { body } = await get(client)
      const failed = once(body, 'error').then(([error]) => Promise.reject(error))
      body.destroy()
      return failed
    },
  },
  {
    title: 'a factory that returns no stream',
    message: 'expected Writable',
    listener: (_request, response) => response.end('x'),
    provoke: (client) => client.stream({ path: PATH, method: 'GET' }, () => ({}) as Writable),
  },
  {
    title: 'a pipeline handler that returns no stream',
    message: 'expected Readable',
    listener: (_request, response) => response.end('x'),
    async provoke(client) {
      const duplex = client.pipeline({ path: PATH, method: 'GET' }, () => ({}) as Readable).end()
      const [error] = await once(duplex, 'error')
      throw error
    },
  },
  {
    title: 'an upgrade that is not granted',
    message: ['bad upgrade', 'Custom upgrade "other" not supported over HTTP/2'],
    listener: (_request, response) => response.end('no'),
    provoke: (client) => client.upgrade({ path: PATH, protocol: 'other' }),
  },
  {
    title: 'an upgrade that request() asks for',
    message: [null, 'Custom upgrade "other" not supported over HTTP/2'],
    listener: HOLD,
    provoke: (client) => get(client, { upgrade: 'other' }),
  },
  {
    title: 'a WebSocket where the server does not know them',
    message: [null, 'HTTP/2: Extended CONNECT protocol not supported by server'],
    listener: HOLD,
    provoke: (client) => client.upgrade({ path: PATH, protocol: 'websocket' }),
  },
  {
    title: 'an expect header',
    message: 'expect header not supported',
    listener: HOLD,
    provoke: (client) => get(client, { headers: { expect: '100-continue' } }),
  },
  {
    title: 'a header that HTTP/2 has not',
    message: [null, 'HTTP/1 Connection specific headers are forbidden: "proxy-connection"'],
    listener: HOLD,
    provoke: (client) => get(client, { headers: { 'proxy-connection': 'close' } }),
  },
  {
    title: 'another te than trailers',
    message: [null, 'HTTP/1 Connection specific headers are forbidden: "te"'],
    listener: HOLD,
    provoke: (client) => get(client, { headers: { te: 'gzip' } }),
  },
  {
    title: 'formData()',
    message: 'Not supported error',
    listener: (_request, response) => response.end('x'),
    async provoke(client) {
      const { body } = await client.request({ path: PATH, method: 'GET' })
      await body.dump()
      return body.formData()
    },
  },
  { title: 'a reset: NO_ERROR', message: [null, 'HTTP/2: stream half-closed (remote)'], ...resetWith(0) },
  {
    title: 'a reset: CANCEL',
    message: [null, 'HTTP/2: stream closed before the response was complete'],
    ...resetWith(8),
  },
  {
    title: 'a reset: INTERNAL_ERROR',
    message: [null, 'Stream closed with error code NGHTTP2_INTERNAL_ERROR'],
    ...resetWith(2),
  },
  {
    title: 'a tunnel that is reset: CANCEL',
    message: [null, 'HTTP/2: stream closed before response headers'],
    listener: HOLD,
    provoke(client, origin) {
      origin.server.on('connect', (request: Http2ServerRequest) => request.stream.close(8))
      return client.connect({ path: 'a.test:1' })
    },
  },
  {
    title: 'a tunnel that is reset: INTERNAL_ERROR',
    message: [null, 'HTTP/2: "stream error" received - code 2'],
    listener: HOLD,
    provoke(client, origin) {
      origin.server.on('connect', (request: Http2ServerRequest) => request.stream.close(2))
      return client.connect({ path: 'a.test:1' })
    },
  },
  {
    title: 'a tunnel that is not answered in time',
    message: [null, 'HTTP/2: "stream timeout after 1"'],
    listener: (_request, response) => response.end(),
    async provoke(client, origin) {
      origin.server.on('connect', () => {})
      // The time before the server's SETTINGS counts as well, and ends with a different message.
      await (await get(client)).body.text()
      return client.connect({ path: 'a.test:1', headersTimeout: 1 })
    },
  },
  {
    title: 'GOAWAY with an error, as the client’s event has it',
    message: [null, 'HTTP/2: "GOAWAY" frame received with code 11'],
    listener: (request) => sessionOf(request).goaway(11, 0, Buffer.from('slow down')),
    async provoke(client) {
      get(client).catch(() => {})
      const [, , error] = await once(client, 'disconnect')
      throw error
    },
  },
]

/** Wrong calls: the same over every wire, before anything is sent. */
const CALLS: readonly (readonly [message: string, call: (client: Client) => unknown])[] = [
  ['invalid opts', (client) => client.request(null as never)],
  ['invalid callback', async (client) => client.request({ path: PATH, method: 'GET' }, 1 as never)],
  ['path must be a string', (client) => client.request({ method: 'GET' } as never)],
  ['path must be an absolute URL or start with a slash', (client) => get(client, { path: 'inner/place' })],
  ['invalid request path', (client) => get(client, { path: `${PATH} ` })],
  ['invalid request method', (client) => get(client, { method: 'G T' })],
  ['invalid method', (client) => get(client, { method: 'CONNECT' })],
  ['upgrade must be a string', (client) => get(client, { upgrade: true })],
  ['invalid headersTimeout', (client) => get(client, { headersTimeout: -1 })],
  ['invalid bodyTimeout', (client) => get(client, { bodyTimeout: -1 })],
  ['invalid reset', (client) => get(client, { reset: 1 })],
  ['invalid throwOnError', (client) => get(client, { throwOnError: true })],
  [
    'maxRedirections is not supported, use the redirect interceptor',
    (client) => get(client, { maxRedirections: 1 }),
  ],
  [
    'body must be a string, a Buffer, a Readable stream, an iterable, or an async iterable',
    (client) => post(client, { body: 5 }),
  ],
  ['headers must be an object or an array', (client) => get(client, { headers: 'a' })],
  ['headers array must be even', (client) => get(client, { headers: ['a'] })],
  ['headers must be in key-value pair format', (client) => get(client, { headers: new Set([['a']]) })],
  ['invalid header key', (client) => get(client, { headers: { 'a b': 'c' } })],
  ['invalid Name header', (client) => get(client, { headers: { Name: 'a\nb' } })],
  ['duplicate host header', (client) => get(client, { headers: ['host', 'a', 'host', 'b'] })],
  ['invalid content-length header', (client) => get(client, { headers: { 'content-length': 'x' } })],
  ['invalid transfer-encoding header', (client) => get(client, { headers: { 'Transfer-Encoding': 'x' } })],
  ['invalid connection header', (client) => get(client, { headers: { connection: 'a b' } })],
  ['signal must be an EventEmitter or EventTarget', (client) => get(client, { signal: {} })],
  ['invalid onInfo callback', (client) => get(client, { onInfo: 1 })],
  ['invalid highWaterMark', (client) => get(client, { highWaterMark: -1 })],
  ['invalid factory', (client) => client.stream({ path: PATH, method: 'GET' }, 1 as never)],
  ['handler must be an object', async (client) => client.dispatch({ path: PATH, method: 'GET' }, 1 as never)],
  [
    'invalid onRequestStart method',
    async (client) => client.dispatch({ path: PATH, method: 'GET' }, {} as never),
  ],
  [
    'opts.dispatcher is not supported by instance methods. Pass opts.dispatcher to the top-level undici functions or call the dispatcher instance method directly.',
    (client) => get(client, { dispatcher: client }),
  ],
]

/** The bytes of a response that is not HTTP/1.1, and the message for it. */
const RESPONSES: readonly (readonly [reason: string, response: string])[] = [
  ['Expected HTTP/, RTSP/ or ICE/', 'NOPE/1.1 200 OK\r\n\r\n'],
  ['Invalid HTTP version', 'HTTP/1.5 200 OK\r\n\r\n'],
  ['Expected dot', 'HTTP/11 200 OK\r\n\r\n'],
  ['Expected space after version', 'HTTP/1.1200 OK\r\n\r\n'],
  ['Invalid status code', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['Invalid response status', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['Missing expected CR after response line', 'HTTP/1.1 200 OK\nA: b\r\n\r\n'],
  ['Unexpected space after start line', 'HTTP/1.1 200 OK\r\n a: b\r\n\r\n'],
  ['Unexpected whitespace after header value', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n 2\r\n\r\n'],
  ['Invalid header token', 'HTTP/1.1 200 OK\r\na : b\r\n\r\n'],
  ['Invalid header value char', 'HTTP/1.1 200 OK\r\na: \x01\r\n\r\n'],
  ['Missing expected CR after header value', 'HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n'],
  ['Missing expected LF after header value', 'HTTP/1.1 200 OK\r\na: b\rc\r\n\r\n'],
  ['Expected LF after headers', 'HTTP/1.1 200 OK\r\na: b\r\n\rx'],
  ['Invalid header field char', 'HTTP/1.1 200 OK\r\na: b\r\n\nx'],
  ['Invalid character in Content-Length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['Empty Content-Length', 'HTTP/1.1 200 OK\r\ncontent-length:\r\n\r\n'],
  ['Content-Length overflow', 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n'],
  ['Duplicate Content-Length', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n'],
  [
    "Content-Length can't be present with Transfer-Encoding",
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n',
  ],
  [
    "Transfer-Encoding can't be present with Content-Length",
    'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n',
  ],
]

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

const CHUNKS: readonly (readonly [reason: string, chunks: string])[] = [
  ['Invalid character in chunk size', 'x\r\n'],
  ['Chunk size overflow', 'fffffffffffffffff\r\n'],
  ['Missing expected CR after chunk size', '1\nx'],
  ['Expected LF after chunk size', '1\rx'],
  ['Missing expected CR after chunk data', '1\r\nx\n'],
  ['Expected LF after chunk data', '1\r\nxyz'],
  ['Invalid character in chunk extensions name', '1;a b\r\n'],
  ['Missing expected CR after chunk extension name', '1;a\n'],
  ['Invalid character in chunk extensions value', '1;a=b\x01\r\n'],
  ['Missing expected CR after chunk extension value', '1;a=b\n'],
  ['Invalid character in chunk extensions quoted value', '1;a="\x01'],
  ['Invalid quoted-pair in chunk extensions quoted value', '1;a="\\\x01'],
  ['Invalid character in chunk extensions quote value', '1;a="b"c'],
]

function giveNothingAway(error: Error, port: number): void {
  for (const secret of [String(port), 'localhost', '127.0.0.1', PATH]) {
    assert.equal(error.message.includes(secret), false, `${error.message} tells ${secret}`)
  }
}

/** The printed form of a library error that ended a request. */
function assertContextShown(error: Failed): void {
  const [line] = error.stack!.split('\n', 1) as [string]
  const method = (error as { method?: string }).method!
  assert.ok(line.startsWith(`${error.name}: ${error.message} (${method} `), line)
  assert.ok(line.includes(error.origin!), line)
  assert.ok(inspect(error).startsWith(line))
}

function expected({ message }: Situation, wire: Wire): string | null {
  return typeof message === 'string' ? message : message[wire.multiplexes ? 1 : 0]
}

overEachWire('the message of an error', (wire) => {
  for (const situation of SITUATIONS) {
    const message = expected(situation, wire)
    if (message === null) continue
    test(situation.title, async (t) => {
      const origin = await startOrigin(t, wire, situation.listener)
      const client = origin.client(situation.options)
      client.on('error', () => {})
      const error = (await failure(situation.provoke(client, origin))) as Failed
      assert.equal(error.message, message)
      giveNothingAway(error, origin.port)
      if (error.phase !== undefined) assertContextShown(error)
    })
  }

  test('a request head over maxHeaderSize: the option and both sizes', async (t) => {
    const origin = await startOrigin(t, wire, HOLD)
    const client = origin.client({ maxHeaderSize: 200 })
    const error = await failure(get(client, { headers: { long: 'x'.repeat(300) } }))
    const words = /^Headers Overflow Error: the request head has (\d+) bytes, maxHeaderSize is 200$/
    assert.ok(Number(words.exec(error.message)?.[1]) > 300, error.message)
    giveNothingAway(error, origin.port)
  })

  test('the words of GOAWAY and the sizes of a head are in the cause', async (t) => {
    if (wire.multiplexes) {
      const origin = await startOrigin(t, wire, (request) =>
        sessionOf(request).goaway(11, 0, Buffer.from('slow\ndown')),
      )
      const client = origin.client()
      get(client).catch(() => {})
      const [, , error] = await once(client, 'disconnect')
      assert.deepEqual(error.cause, { code: 11, message: 'slow?down' })
    }
    const origin = await startOrigin(t, wire, (_request, response) =>
      response.writeHead(200, { long: 'x'.repeat(600) }).end(),
    )
    const error = await failure(get(origin.client({ maxHeaderSize: 500 })))
    assert.match((error.cause as { message: string }).message, /500/)
  })

  for (const [message, call] of CALLS) {
    test(`a wrong call: ${message}`, async (t) => {
      const origin = await startOrigin(t, wire, HOLD)
      const client = origin.client()
      const error = await failure(Promise.resolve().then(() => call(client)))
      assert.equal(error.message, message)
      assert.ok(error instanceof errors.InvalidArgumentError)
      giveNothingAway(error, origin.port)
    })
  }
})

const MALFORMED = [...RESPONSES, ...CHUNKS.map(([reason, chunks]) => [reason, CHUNKED + chunks] as const)]

for (const [reason, response] of MALFORMED) {
  test(`a response that is not HTTP/1.1: ${reason}`, async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const failed = failure(get(client).then(({ body }) => body.text()))
    const connection = await server.accept()
    await connection.head()
    connection.send(response)
    const error = (await failed) as Failed
    assert.equal(error.message, `Response does not match the HTTP/1.1 protocol (${reason})`)
    assert.match(error.code!, /^HPE_/)
    giveNothingAway(error, server.port)
    assertContextShown(error)
  })
}

for (const [message, response] of [
  ['bad response', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(257)],
  ['bad upgrade', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
] as const) {
  test(`a response that was not asked for: ${message}`, async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const failed = failure(get(client))
    const connection = await server.accept()
    await connection.head()
    connection.send(response)
    const error = await failed
    assert.equal(error.message, message)
    giveNothingAway(error, server.port)
  })
}

test('a server that does not speak HTTP/2', async (t) => {
  const server = await startScriptedServer(t)
  const client = new H2CClient(server.url)
  t.after(() => client.destroy())
  const failed = failure(get(client))
  const connection = await server.accept()
  connection.send('HTTP/1.1 400 Bad Request\r\n\r\n')
  const error = await failed
  assert.equal(error.message, 'other side closed')
  giveNothingAway(error, server.port)
})

test('without upstreams, and with too many origins', async (t) => {
  const pool = new BalancedPool([])
  const agent = new Agent({ maxOrigins: 1 })
  t.after(() => Promise.all([pool.destroy(), agent.destroy()]))
  const missing = await failure(pool.request({ path: PATH, method: 'GET' }))
  assert.equal(missing.message, 'No upstream has been added to the BalancedPool')
  const port = await refusingPort(t)
  const options = { path: PATH, method: 'GET' }
  agent.request({ ...options, origin: `http://127.0.0.1:${port}` }).catch(() => {})
  const many = await failure(agent.request({ ...options, origin: 'http://b.test' }))
  assert.equal(many.message, 'Maximum allowed origins reached')
})

// Two messages name the address, as in the reference; docs/errors.md warns about them.
test('a connect that fails keeps the words of the runtime', async (t) => {
  const port = await refusingPort(t)
  const client = new Client(`http://127.0.0.1:${port}`)
  const late = new Client(`http://a.test:${port}`, { connect: { timeout: 1, lookup: () => {} } })
  const several = new Client(`http://a.test:${port}`, {
    connect: {
      lookup: (_hostname, _options, callback) =>
        callback(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    },
  })
  t.after(() => Promise.all([client.destroy(), late.destroy(), several.destroy()]))
  assert.equal((await failure(get(client))).message, `connect ECONNREFUSED 127.0.0.1:${port}`)
  assert.equal(
    (await failure(get(late))).message,
    `Connect Timeout Error (attempted address: a.test:${port}, timeout: 1ms)`,
  )
  const all = await failure(get(several))
  assert.equal(all.message, '')
  assert.deepEqual(
    (all.errors as Error[]).map((error) => error.message),
    Array(2).fill(`connect ECONNREFUSED 127.0.0.1:${port}`),
  )
})

test('a stream that closes early keeps the words of the runtime', async (t) => {
  const served = deferred()
  const origin = await startOrigin(
    t,
    { name: 'h1', secure: false, multiplexes: false },
    (_request, response) => {
      response.end('x')
      served.resolve()
    },
  )
  const error = await failure(
    origin.client().stream({ path: PATH, method: 'GET' }, () => {
      const target = new Writable({ write() {} })
      target.destroy()
      return target
    }),
  )
  await served.promise
  assert.equal(error.message, 'Premature close')
})
