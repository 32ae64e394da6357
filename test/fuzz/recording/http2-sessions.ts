/**
 * The output of a node:http2 server to our client over cleartext HTTP/2, and the header blocks in it. The recordings
 * start with the server's SETTINGS; the streams are numbered in the order of the requests.
 */
import http2, {
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerStreamResponseOptions,
} from 'node:http2'
import { H2CClient } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'
import { FORMATS } from '../format.ts'
import { listen, Relay } from './relay.ts'

/** A fixed date, so that a recording depends only on this file. */
const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'

function respond(
  stream: ServerHttp2Stream,
  fields: OutgoingHttpHeaders,
  options: ServerStreamResponseOptions = {},
): void {
  stream.respond({ date: DATE, ...fields }, options)
}

type Answer = (stream: ServerHttp2Stream) => void

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/plain': (stream) => {
    respond(stream, { ':status': 200, 'content-type': 'text/plain', 'content-length': 5 })
    stream.end('hello')
  },
  '/pieces': (stream) => {
    respond(stream, { ':status': 200, 'x-kind': 'pieces' })
    stream.write('first ')
    stream.write(Buffer.from([0, 1, 2, 255]))
    stream.end(' last')
  },
  '/trailers': (stream) => {
    respond(stream, { ':status': 200, trailer: 'x-sum' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 'abc', 'x-more': 'def' }))
    stream.end('body')
  },
  '/interim': (stream) => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
    stream.additionalHeaders({ ':status': 102 })
    respond(stream, { ':status': 204, server: 'test' }, { endStream: true })
  },
  '/long-head': (stream) => {
    // Above the frame size of 16,384 bytes, so that a CONTINUATION is needed.
    const fields: Record<string, string> = { ':status': '200' }
    for (let i = 0; i < 15; i++) fields[`x-long-${i}`] = '~#\\|'.repeat(290)
    respond(stream, fields, { endStream: true })
  },
  '/reset': (stream) => {
    respond(stream, { ':status': 200 })
    stream.write('some of it')
    setImmediate(() => stream.destroy(new Error('meant to fail')))
  },
  '/refuse': (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM),
  '/goaway': (stream) => {
    respond(stream, { ':status': 200 })
    stream.end('bye')
    stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, stream.id ?? 1, Buffer.from('maintenance'))
  },
  '/control': (stream) => {
    const session = stream.session as ServerHttp2Session
    session.settings({ initialWindowSize: 70_000, maxConcurrentStreams: 50, headerTableSize: 100 })
    session.ping(Buffer.from('pingpong'), () => {})
    session.origin('https://a.test', 'https://b.test')
    session.altsvc('h2=":8000"', stream.id ?? 1)
    respond(stream, { ':status': 200 })
    stream.end('ok')
  },
  '/not-modified': (stream) => respond(stream, { ':status': 304, etag: '"x"' }, { endStream: true }),
  '/upload': (stream) => {
    stream.resume()
    stream.on('end', () => {
      respond(stream, { ':status': 201, location: '/new' })
      stream.end()
    })
  },
}

/** For the header blocks: fields that repeat, change, and evict each other from the table. */
function answerFields(stream: ServerHttp2Stream, n: number): void {
  const fields: Record<string, string | string[]> = {
    ':status': n % 5 === 0 ? '404' : '200',
    'content-type': 'text/html; charset=utf-8',
    'cache-control': n % 2 === 0 ? 'no-store' : 'public, max-age=604800',
    etag: `"${(n * 7919).toString(16)}"`,
    'set-cookie': [`id=${n}; Secure; HttpOnly`, 'theme=dark'],
    [`x-field-${n % 7}`]: `value-${n % 3}`.repeat(1 + (n % 30)),
    'x-latin': 'gr\u00fc\u00df dich',
    'x-empty': '',
  }
  respond(stream, fields, { endStream: true })
}

const SESSIONS: readonly (readonly [name: string, requests: readonly string[]])[] = [
  ...Object.keys(ANSWERS)
    .filter((path) => path !== '/upload')
    .map((path) => [path.slice(1), [`GET ${path}`]] as const),
  ['upload', ['POST /upload']],
  ['head', ['HEAD /plain']],
  ['many', ['GET /plain', 'GET /pieces', 'POST /upload', 'GET /trailers', 'GET /interim', 'HEAD /plain']],
  ['trouble', ['GET /reset', 'GET /trailers', 'POST /refuse', 'GET /pieces', 'GET /goaway']],
  ['settings', ['GET /control', 'GET /plain', 'GET /pieces']],
  ['fields', Array.from({ length: 12 }, (_, i) => `GET /fields/${i}`)],
]

const BLOCK_SESSIONS: readonly (readonly [name: string, count: number, from: number])[] = [
  ['few', 3, 0],
  ['repeated', 12, 0],
  ['many', 40, 100],
]

export async function recordHttp2(): Promise<Recording[]> {
  const recordings: Recording[] = []
  for (const [name, requests] of SESSIONS) {
    const { methods, bytes } = await recordSession(requests)
    recordings.push({ name, context: methods.join(','), bytes })
  }
  return recordings
}

/** Header blocks, each after its length in two octets. */
export async function recordHpack(): Promise<Recording[]> {
  const recordings: Recording[] = []
  for (const [name, count, from] of BLOCK_SESSIONS) {
    const requests = Array.from({ length: count }, (_, i) => `GET /fields/${from + i}`)
    recordings.push({ name, context: 'node', bytes: blocksOf((await recordSession(requests)).bytes) })
  }
  const paths = ['/plain', '/trailers', '/interim', '/upload']
  const mixed = await recordSession(paths.map((path) => `GET ${path}`))
  recordings.push({ name: 'mixed', context: 'node', bytes: blocksOf(mixed.bytes) })
  return recordings
}

/** The methods are those that the server saw: refused requests are sent again. */
async function recordSession(requests: readonly string[]): Promise<{ methods: string[]; bytes: Buffer }> {
  const methods: string[] = []
  const server = http2.createServer()
  const sessions: http2.ServerHttp2Session[] = []
  server.on('session', (session) => sessions.push(session.on('error', () => {})))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    methods.push(String(headers[':method']))
    const path = String(headers[':path'])
    if (path.startsWith('/fields/')) answerFields(stream, Number(path.slice(8)))
    else ANSWERS[path]?.(stream)
  })
  await listen(server)
  const relay = await Relay.open(server)
  const client = new H2CClient(relay.origin, { maxHeaderSize: 65_536 })
  await Promise.all(requests.map((request) => perform(client, request)))
  await client.destroy()
  const bytes = await relay.close()
  for (const session of sessions) session.destroy()
  server.close()
  return { methods, bytes }
}

async function perform(client: H2CClient, request: string): Promise<void> {
  const [method = '', path = '/'] = request.split(' ')
  try {
    const { body } = await client.request({
      method: method as 'GET',
      path,
      body: method === 'POST' ? 'x'.repeat(100_000) : null,
    })
    await body.text()
  } catch {
    // Some of the responses are meant to fail.
  }
}

const HEADERS = 1
const CONTINUATION = 9
const END_HEADERS = 4

/** node:http2 sends HEADERS without padding and priority, so the payload is the block. */
function blocksOf(session: Buffer): Buffer {
  const parts: Buffer[] = []
  let block: Buffer[] = []
  const starts = FORMATS.http2.boundaries(session)
  for (const [i, at] of starts.slice(0, -1).entries()) {
    const type = session[at + 3]
    if (type !== HEADERS && type !== CONTINUATION) continue
    block.push(session.subarray(at + 9, starts[i + 1]))
    if ((session[at + 4]! & END_HEADERS) === 0) continue
    const whole = Buffer.concat(block)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(whole.length)
    parts.push(length, whole)
    block = []
  }
  return Buffer.concat(parts)
}
