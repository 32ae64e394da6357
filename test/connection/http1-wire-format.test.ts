/** Requests over HTTP/1.1, byte for byte (RFC 9112). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { Client, type ClientOptions, type DispatchOptions, errors } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

interface Written {
  /** Everything received on the connection, with HOST in place of the server's authority. */
  readonly text: string
  readonly handler: RecordingHandler
  /** Why the connection was closed. */
  readonly reason: Error
}

/** Sends one request to a server that answers once it is complete, and returns the bytes on the wire. */
async function written(
  t: TestContext,
  options: DispatchOptions,
  clientOptions: ClientOptions = {},
): Promise<Written> {
  const server = await startScriptedServer(t)
  const client = new Client(server.url, clientOptions)
  t.after(() => client.destroy())
  const disconnected = once(client, 'disconnect') as Promise<[URL, Client[], Error]>
  const accepted = server.accept()
  const handler = new RecordingHandler({
    onRequestSent: () => {
      accepted.then((connection) => {
        connection.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      })
    },
  })
  client.dispatch(options, handler)
  const connection = await accepted
  await handler.settled
  const [, , reason] = await disconnected
  await connection.closed()
  return { text: connection.received.replace(`127.0.0.1:${server.port}`, 'HOST'), handler, reason }
}

const get = (extra: Partial<DispatchOptions> = {}): DispatchOptions => ({
  path: '/',
  method: 'GET',
  ...extra,
})
const post = (extra: Partial<DispatchOptions> = {}): DispatchOptions => ({
  path: '/',
  method: 'POST',
  ...extra,
})

function head(line: string, ...fields: string[]): string {
  return `${line} HTTP/1.1\r\n${['host: HOST', 'connection: keep-alive', ...fields].join('\r\n')}\r\n\r\n`
}

function* items(): Generator<string | Uint8Array> {
  yield 'ab'
  yield ''
  yield Buffer.from('0123456789abcdef')
  yield 'ü'
}

async function* lateItems(): AsyncGenerator<string | Uint8Array> {
  await null
  yield* items()
}

const CHUNKS = '2\r\nab\r\n10\r\n0123456789abcdef\r\n2\r\n\u00c3\u00bc\r\n0\r\n\r\n'

const CASES: [name: string, options: () => DispatchOptions, expected: string][] = [
  ['GET without a body', () => get(), head('GET /')],
  ['DELETE without a body', () => get({ method: 'DELETE' }), head('DELETE /')],
  ['OPTIONS without a body', () => get({ method: 'OPTIONS' }), head('OPTIONS /')],
  ['an unknown method without a body', () => get({ method: 'x-y' }), head('x-y /')],
  ['a method in lower case expects no payload', () => get({ method: 'post' }), head('post /')],
  ...['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH'].map(
    (method): [string, () => DispatchOptions, string] => [
      `${method} without a body`,
      () => get({ method }),
      head(`${method} /`, 'content-length: 0'),
    ],
  ),
  ['text as UTF-8', () => post({ body: 'hü' }), `${head('POST /', 'content-length: 3')}h\u00c3\u00bc`],
  [
    'bytes',
    () => post({ body: Buffer.from([0, 255]) }),
    `${head('POST /', 'content-length: 2')}\u0000\u00ff`,
  ],
  [
    'a view with an offset',
    () => post({ body: new DataView(new Uint8Array([1, 65, 66, 2]).buffer, 1, 2) }),
    `${head('POST /', 'content-length: 2')}AB`,
  ],
  ['Blob', () => post({ body: new Blob(['ab']) }), `${head('POST /', 'content-length: 2')}ab`],
  [
    'Blob with a type',
    () => post({ body: new Blob(['ab'], { type: 'text/x' }), headers: { 'X-A': '1' } }),
    `${head('POST /', 'X-A: 1', 'content-type: text/x', 'content-length: 2')}ab`,
  ],
  [
    'Blob with a type, and the caller has one',
    () => post({ body: new Blob(['ab'], { type: 'text/x' }), headers: { 'Content-Type': 'a/b' } }),
    `${head('POST /', 'Content-Type: a/b', 'content-length: 2')}ab`,
  ],
  [
    'stream of known length',
    () => post({ body: new PassThrough().end('abc') }),
    `${head('POST /', 'content-length: 3')}abc`,
  ],
  [
    'stream of unknown length',
    () => post({ body: Readable.from(lateItems()) }),
    head('POST /', 'transfer-encoding: chunked') + CHUNKS,
  ],
  ['generator', () => post({ body: items() }), head('POST /', 'transfer-encoding: chunked') + CHUNKS],
  [
    'async generator',
    () => post({ body: lateItems() }),
    head('POST /', 'transfer-encoding: chunked') + CHUNKS,
  ],
  [
    'generator with a declared length',
    () => post({ body: items(), headers: { 'Content-Length': '20' } }),
    `${head('POST /', 'content-length: 20')}ab0123456789abcdef\u00c3\u00bc`,
  ],
  ['generator of nothing', () => post({ body: ['', ''] }), head('POST /', 'content-length: 0')],
  ['generator of nothing with GET', () => get({ body: [] }), head('GET /')],
  [
    'GET with a streamed body',
    () => get({ body: ['ab'] }),
    `${head('GET /', 'transfer-encoding: chunked')}2\r\nab\r\n0\r\n\r\n`,
  ],
  ['GET with text', () => get({ body: 'ab' }), `${head('GET /', 'content-length: 2')}ab`],
  [
    'trailers behind text, in the letter case given',
    () => post({ body: 'ab', trailers: { 'X-Sum': '1', 'x-list': ['a', 'b'] } }),
    `${head('POST /', 'trailer: X-Sum, x-list', 'transfer-encoding: chunked')}2\r\nab\r\n0\r\nX-Sum: 1\r\nx-list: a\r\nx-list: b\r\n\r\n`,
  ],
  [
    'trailers of a function behind nothing',
    () => get({ trailers: async () => ({ a: 'b' }) }),
    `${head('GET /', 'transfer-encoding: chunked')}0\r\na: b\r\n\r\n`,
  ],
  [
    'GET that declares nothing and has no body',
    () => get({ headers: { 'content-length': '0' } }),
    head('GET /'),
  ],
  [
    'headers in the order and letter case given',
    () => get({ headers: ['X-b', '1', 'x-A', ['2', '3'], 'X-B', null] }),
    head('GET /', 'X-b: 1', 'x-A: 2', 'x-A: 3', 'X-B: '),
  ],
  ['header values as Latin-1', () => get({ headers: { a: 'ü\u00ff' } }), head('GET /', 'a: \u00fc\u00ff')],
  [
    'the host given',
    () => get({ headers: { HOST: 'other:1', a: 'b' } }),
    'GET / HTTP/1.1\r\nhost: other:1\r\nconnection: keep-alive\r\na: b\r\n\r\n',
  ],
  [
    'an empty host',
    () => get({ headers: { host: '' } }),
    'GET / HTTP/1.1\r\nhost: \r\nconnection: keep-alive\r\n\r\n',
  ],
  ['a connection header that is dropped', () => get({ headers: { connection: 'x-custom' } }), head('GET /')],
  [
    'connection: close',
    () => get({ headers: { connection: 'Close' } }),
    'GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n',
  ],
  ['reset: true', () => get({ reset: true }), 'GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n'],
  ['HEAD', () => get({ method: 'HEAD' }), 'HEAD / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n'],
  ['HEAD with reset: false', () => get({ method: 'HEAD', reset: false }), head('HEAD /')],
  ['an absolute URL as path', () => get({ path: 'http://a.test/b?c' }), head('GET http://a.test/b?c')],
  ['a path with a fragment and Latin-1', () => get({ path: '/\u00fc#x"<>' }), head('GET /\u00fc#x"<>')],
  ['a query', () => get({ path: '/x', query: { a: ['1', '2'], b: 'c d' } }), head('GET /x?a=1&a=2&b=c%20d')],
]

describe('the bytes of a request', () => {
  for (const [name, options, expected] of CASES) {
    test(name, async (t) => {
      const { text, handler } = await written(t, options())
      assert.equal(text, expected)
      assert.equal(handler.calls.at(-1), 'onResponseEnd')
    })
  }

  test('pipelining: 0 closes after each request', async (t) => {
    const { text } = await written(t, get(), { pipelining: 0 })
    assert.equal(text, 'GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n')
  })

  test('maxRequestsPerClient closes with the last request', async (t) => {
    const { text } = await written(t, get(), { maxRequestsPerClient: 1 })
    assert.equal(text, 'GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n')
  })

  test('FormData: parts, boundary and the line end after the last delimiter', async (t) => {
    const form = new FormData()
    form.append('a', 'b\nc')
    form.append('f"', new File(['x'], 'n"', { type: 'text/x' }))
    const { text } = await written(t, post({ body: form }))
    const boundary = /boundary=(-+formdata-undici-0\d{11})\r\n/.exec(text)?.[1] ?? assert.fail(text)
    const body =
      `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\nc\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="f%22"; filename="n%22"\r\n` +
      `Content-Type: text/x\r\n\r\nx\r\n--${boundary}--\r\n`
    assert.equal(
      text,
      head(
        'POST /',
        `content-type: multipart/form-data; boundary=${boundary}`,
        `content-length: ${body.length}`,
      ) + body,
    )
  })

  test('not strict: the length known beforehand is sent, whatever was declared', async (t) => {
    const warned = once(process, 'warning')
    const options = post({ headers: { 'content-length': '9' }, body: 'ab' })
    const { text } = await written(t, options, { strictContentLength: false })
    assert.equal(text, `${head('POST /', 'content-length: 2')}ab`)
    await warned
  })

  test('not strict: a streamed body that is too long is sent as it is', async (t) => {
    const warned = once(process, 'warning')
    const options = post({ headers: { 'content-length': '1' }, body: ['ab'] })
    const { text } = await written(t, options, { strictContentLength: false })
    assert.equal(text, `${head('POST /', 'content-length: 1')}ab`)
    const [warning] = (await warned) as [Error]
    assert.ok(warning instanceof errors.RequestContentLengthMismatchError, String(warning))
  })
})

describe('what follows a request', () => {
  const KEPT = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

  /** Sends two requests and returns the number of connections they used. */
  async function connections(
    t: TestContext,
    first: DispatchOptions,
  ): Promise<[count: number, reason: string]> {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    let reason = ''
    client.on('disconnect', (_origin, _targets, error: Error) => {
      reason = error.message
    })
    const one = new RecordingHandler()
    client.dispatch(first, one)
    const connection = await server.accept()
    await connection.head()
    connection.send(KEPT)
    await one.settled
    const two = new RecordingHandler()
    client.dispatch(get({ path: '/second' }), two)
    const second = await Promise.race([
      server.accept(),
      connection.until('GET /second').then(
        () => connection,
        () => server.accept(),
      ),
    ])
    second.send(KEPT)
    await two.settled
    assert.equal(two.calls.at(-1), 'onResponseEnd')
    return [server.count, reason]
  }

  test('the connection is reused', async (t) => {
    assert.deepEqual(await connections(t, get()), [1, ''])
    assert.deepEqual(await connections(t, post({ body: 'x' })), [1, ''])
  })

  test('a body where none is expected ends it, although the head does not say so', async (t) => {
    assert.deepEqual(await connections(t, get({ body: 'x' })), [2, 'reset'])
    assert.deepEqual(await connections(t, get({ method: 'DELETE', body: 'x' })), [2, 'reset'])
    assert.deepEqual(await connections(t, get({ body: 'x', reset: false })), [1, ''])
  })

  test('HEAD ends it, unless reset is false', async (t) => {
    assert.deepEqual(await connections(t, get({ method: 'HEAD' })), [2, 'reset'])
    assert.deepEqual(await connections(t, get({ method: 'HEAD', reset: false })), [1, ''])
  })

  test('reset ends it', async (t) => {
    assert.deepEqual(await connections(t, get({ reset: true })), [2, 'reset'])
  })

  test('a response before the whole body ends it', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const disconnected = once(client, 'disconnect') as Promise<[URL, Client[], Error]>
    const body = new Readable({ read() {} })
    body.push('x')
    const handler = new RecordingHandler()
    client.dispatch(post({ body }), handler)
    const connection = await server.accept()
    await connection.until('1\r\nx\r\n')
    connection.send('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    await handler.settled
    assert.equal(handler.body, 'ok')
    const [, , reason] = await disconnected
    assert.ok(reason instanceof errors.InformationalError, String(reason))
    assert.equal(reason.message, 'reset')
    assert.equal(body.destroyed, true)
    assert.equal(body.errored, null)
    await connection.closed()
  })
})

describe('the head of a streamed body', () => {
  test('waits for the first piece and goes out together with it', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const body = new PassThrough()
    const started = new Promise<void>((resolve) => {
      client.dispatch(post({ body }), new RecordingHandler({ onRequestStart: () => resolve() }))
    })
    const connection = await server.accept()
    await started
    // A turn of the event loop, in which written bytes would arrive.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    assert.equal(connection.received, '')
    const first = once(connection.socket, 'data')
    body.write('x')
    assert.match(
      String(await first),
      /^POST \/ HTTP\/1\.1\r\n.*\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n$/s,
    )
  })

  test('a strict mismatch at the end leaves no complete request behind, and the connection goes', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const disconnected = once(client, 'disconnect') as Promise<[URL, Client[], Error]>
    const handler = new RecordingHandler()
    client.dispatch(post({ headers: { 'content-length': '5' }, body: lateItems() }), handler)
    await handler.settled
    assert.ok(handler.error instanceof errors.RequestContentLengthMismatchError, String(handler.error))
    const [, , reason] = await disconnected
    assert.ok(reason instanceof errors.RequestContentLengthMismatchError, String(reason))
    const connection = await server.accept()
    await connection.closed()
    assert.equal(connection.received.includes('0123456789abcdef'), false)
  })
})

describe('requests that take the connection over', () => {
  test('upgrade', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const upgraded = client.upgrade({ path: '/chat', headers: { 'X-A': '1' } })
    const connection = await server.accept()
    assert.equal(
      await connection.head(),
      `GET /chat HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: upgrade\r\nupgrade: Websocket\r\nX-A: 1\r\n\r\n`,
    )
    connection.send('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: Websocket\r\n\r\nearly')
    const { socket, headers } = await upgraded
    assert.equal(headers['upgrade'], 'Websocket')
    const [early] = await once(socket, 'data')
    assert.equal(String(early), 'early')
    socket.write('raw')
    await connection.until('raw')
    socket.destroy()
  })

  test('upgrade with a method and protocol of the caller', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const upgraded = client.upgrade({ path: '/', method: 'POST', protocol: 'x/1, y' })
    const connection = await server.accept()
    assert.match(
      await connection.head(),
      /^POST \/ HTTP\/1\.1\r\n.*\r\nconnection: upgrade\r\nupgrade: x\/1, y\r\n/,
    )
    connection.send('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x/1\r\n\r\n')
    ;(await upgraded).socket.destroy()
  })

  test('CONNECT', async (t) => {
    const server = await startScriptedServer(t)
    const client = new Client(server.url)
    t.after(() => client.destroy())
    const connected = client.connect({ path: 'a.test:443', headers: { 'X-A': '1' } })
    const connection = await server.accept()
    const text = await connection.head()
    assert.match(
      text,
      /^CONNECT a\.test:443 HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nconnection: close\r\nX-A: 1\r\n\r\n$/,
    )
    connection.send('HTTP/1.1 200 Connected\r\n\r\nhello')
    const { socket, statusCode } = await connected
    assert.equal(statusCode, 200)
    const [early] = await once(socket, 'data')
    assert.equal(String(early), 'hello')
    socket.destroy()
  })
})

describe('typeOfService', () => {
  test('is set where the socket can, when it differs from what was set; a refusal is ignored', async (t) => {
    const server = await startScriptedServer(t)
    const values: number[] = []
    const client = new Client(server.url, {
      connect(_options, callback) {
        const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
        Object.assign(socket, {
          setTypeOfService(value: number) {
            values.push(value)
            if (value === 4) throw new Error('not permitted')
          },
        })
      },
    })
    t.after(() => client.destroy())
    const accepted = server.accept()
    for (const typeOfService of [8, 8, undefined, 4, 16]) {
      const handler = new RecordingHandler()
      client.dispatch(get({ typeOfService }), handler)
      const connection = await accepted
      await connection.head()
      connection.send('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      await handler.settled
      assert.equal(handler.error, undefined)
    }
    assert.deepEqual(values, [8, 4, 16])
  })
})
