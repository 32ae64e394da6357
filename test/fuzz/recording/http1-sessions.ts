/** The output of a node:http server to our client: every framing, interim responses, trailers, upgrades. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Client } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'
import { listen, Relay } from './relay.ts'

type Answer = (response: ServerResponse) => void

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/counted': (response) => response.setHeader('content-length', 5).end('hello'),
  '/empty': (response) => response.setHeader('content-length', 0).end(),
  '/chunked': (response) => {
    response.write('first piece ')
    response.write(Buffer.from([0, 1, 2, 13, 10, 48, 13, 10, 255]))
    response.end('and the last')
  },
  '/trailers': (response) => {
    response.setHeader('trailer', 'x-sum, x-done')
    response.write('body')
    response.addTrailers({ 'x-sum': 'abc', 'x-done': 'yes' })
    response.end()
  },
  '/until-close': (response) => {
    response.useChunkedEncodingByDefault = false
    response.writeHead(200, { connection: 'close' })
    response.end('everything up to the end')
  },
  '/no-content': (response) => response.writeHead(204).end(),
  '/not-modified': (response) => response.writeHead(304, { etag: '"x"', 'content-length': 500 }).end(),
  '/processing': (response) => {
    response.writeProcessing()
    response.end('done')
  },
  '/hints': (response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
    response.writeEarlyHints({ link: '</other.css>; rel=preload; as=style', 'x-trace': 'id' })
    response.setHeader('content-length', 2).end('ok')
  },
  '/fields': (response) => {
    response.setHeader('Set-Cookie', ['a=1; Path=/', 'b=2; Secure; HttpOnly'])
    response.setHeader('X-Empty', '')
    response.setHeader('X-Latin', 'gr\u00fc\u00df')
    response.setHeader('Cache-Control', 'no-store, max-age=0')
    for (let i = 0; i < 20; i++) response.setHeader(`x-field-${i}`, 'v'.repeat(i * 3))
    response.writeHead(404, 'Nowhere To Be Found')
    response.end('no')
  },
  '/close': (response) => response.writeHead(500, { connection: 'close', 'content-length': 4 }).end('oops'),
  '/switch': (response) => response.writeHead(426, { upgrade: 'x', connection: 'upgrade' }).end('later'),
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  response.sendDate = false
  request.resume()
  request.on('end', () => ANSWERS[request.url ?? '']?.(response))
}

function upgrade(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {})
  socket.end(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes of another kind',
  )
}

function connect(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {})
  socket.end('HTTP/1.1 200 Connection established\r\nproxy-agent: test\r\n\r\nthrough the tunnel')
}

/** One session per line: requests made one after the other on one connection, or all at once. */
const SESSIONS: readonly (readonly [name: string, requests: readonly string[], atOnce?: boolean])[] = [
  ...Object.keys(ANSWERS).map((path) => [path.slice(1), [`GET ${path}`]] as const),
  ['head', ['HEAD /counted', 'HEAD /chunked']],
  ['one-after-the-other', ['GET /counted', 'GET /chunked', 'POST /no-content', 'GET /trailers']],
  ['pipelined', ['GET /hints', 'HEAD /counted', 'GET /chunked', 'GET /close'], true],
  ['upgrade', ['GET upgrade']],
  ['tunnel', ['CONNECT']],
]

export async function recordHttp1(): Promise<Recording[]> {
  const server = http.createServer({ keepAliveTimeout: 5_000 }, answer)
  server.on('upgrade', upgrade).on('connect', connect)
  await listen(server)
  const recordings: Recording[] = []
  for (const [name, requests, atOnce = false] of SESSIONS) {
    const relay = await Relay.open(server)
    const client = new Client(relay.origin, { pipelining: atOnce ? requests.length : 1 })
    const waiting: Promise<unknown>[] = []
    for (const request of requests) {
      const done = perform(client, request)
      if (atOnce) waiting.push(done)
      else await done
    }
    await Promise.all(waiting)
    await client.destroy()
    const context = requests.map((request) => request.replace(/ \/.*/, '')).join(',')
    recordings.push({ name, context, bytes: await relay.close() })
  }
  server.closeAllConnections()
  server.close()
  return recordings
}

async function perform(client: Client, request: string): Promise<void> {
  const [method = '', path = '/'] = request.split(' ')
  if (path === 'upgrade' || method === 'CONNECT') {
    const { socket } =
      method === 'CONNECT'
        ? await client.connect({ path: 'a.test:443' })
        : await client.upgrade({ path: '/', protocol: 'x' })
    await socket.toArray()
    return
  }
  const { body } = await client.request({
    method: method as 'GET',
    path,
    body: method === 'POST' ? 'data' : null,
  })
  await body.text()
}
