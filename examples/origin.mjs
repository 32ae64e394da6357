// The origin that the snippets of README.md and docs/ talk to: `node examples/origin.mjs`.
// All on loopback. The keys beside this file are public, so do not use them for anything else.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { WebSocketServer } from 'ws'

/** The ports that the snippets use; a test maps each to a free port. */
export const PORTS = { http: 3000, otherHttp: 3001, h2c: 3002, https: 3443, mutualTls: 3444, socks: 3080 }

const pem = (name) => readFileSync(new URL(`./${name}.pem`, import.meta.url))
const identity = { key: pem('localhost-key'), cert: pem('localhost') }

/** Milliseconds: long enough for a reader who types. */
const KEEP_ALIVE = 60_000

/** Paths that were requested once: `/flaky/…` answers from the second time on. */
const seen = new Set()

/** How often each path of `/cached/…` was requested. */
const visits = new Map()

function answer(request, response) {
  const url = new URL(request.url, 'http://origin.invalid')
  const [, first, second] = url.pathname.split('/')
  const json = (value) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(value))
  }
  request.on('error', () => {})
  response.on('error', () => {})
  switch (first) {
    case '':
      response.setHeader('content-type', 'text/plain')
      response.end(`hello over HTTP/${request.httpVersion}`)
      return
    case 'echo':
      response.setHeader('content-type', request.headers['content-type'] ?? 'application/octet-stream')
      request.pipe(response)
      return
    case 'json':
      json({ hello: 'world' })
      return
    case 'request':
      json({ method: request.method, path: request.url, headers: request.headers })
      return
    case 'items': {
      // Three pages of two.
      const page = Number(url.searchParams.get('page') ?? 1)
      if (page < 3) response.setHeader('link', `</items?page=${page + 1}>; rel="next"`)
      json([2 * page - 1, 2 * page])
      return
    }
    case 'who':
      json({ client: request.socket.getPeerCertificate?.()?.subject?.CN ?? null })
      return
    case 'status':
      response.writeHead(Number(second))
      response.end()
      return
    case 'large': {
      // All of it, or what follows a byte.
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range)?.[1] ?? 0)
      if (start > 0) response.setHeader('content-range', `bytes ${start}-1048575/1048576`)
      response.writeHead(start > 0 ? 206 : 200, { 'content-length': 1_048_576 - start })
      response.end(Buffer.alloc(1_048_576 - start, 'x'))
      return
    }
    case 'gzip':
      response.setHeader('content-type', 'text/plain')
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync('hello '.repeat(100)))
      return
    case 'cookies':
      response.setHeader('set-cookie', [
        'session=abc; Path=/; HttpOnly; SameSite=Lax',
        'theme=dark; Max-Age=60',
      ])
      response.end()
      return
    case 'hints':
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
      response.end('with hints')
      return
    case 'trailers':
      response.setHeader('trailer', 'checksum')
      response.write('a body')
      response.addTrailers({ checksum: '42' })
      response.end()
      return
    case 'events':
      // Three events, after the one that the client has seen last.
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let id = Number(request.headers['last-event-id'] ?? 0) + 1; id <= 3; id++) {
        response.write(`id: ${id}\nevent: tick\ndata: ${id} of 3\n\n`)
      }
      response.end()
      return
    case 'chat':
      chat(request, response)
      return
    case 'cached': {
      if (request.headers['if-none-match'] === '"1"') {
        response.writeHead(304, { 'cache-control': 'max-age=60', etag: '"1"' })
        response.end()
        return
      }
      const count = (visits.get(url.pathname) ?? 0) + 1
      visits.set(url.pathname, count)
      response.writeHead(200, { 'cache-control': 'max-age=60', etag: '"1"' })
      response.end(`response ${count}`)
      return
    }
    case 'private':
      // Only for those who have fetched a new token.
      if (request.headers.authorization === 'Bearer token-2') return json({ secret: 42 })
      response.writeHead(401, { 'www-authenticate': 'Bearer' })
      response.end()
      return
    case 'pages': {
      // Three pages of two items.
      const page = Number(url.searchParams.get('page') ?? 1)
      if (page < 3) response.setHeader('link', `</pages?page=${page + 1}>; rel="next"`)
      return json([`item ${2 * page - 1}`, `item ${2 * page}`])
    }
    case 'bad':
      response.writeHead(422, { 'content-type': 'application/json' })
      response.end('{"error":"no name"}')
      return
    case 'redirect':
      response.writeHead(302, { location: '/json' })
      response.end()
      return
    case 'slow':
      // Never answers.
      return
    case 'stall':
      // Only the first half of a body.
      response.setHeader('content-length', 10)
      response.write('first')
      return
    case 'die':
      lose(request)
      return
    case 'flaky':
      if (seen.has(url.href)) {
        response.end('here now')
        return
      }
      seen.add(url.href)
      lose(request)
      return
    default:
      response.writeHead(404)
      response.end()
  }
}

/** Repeats the prompt word by word, as a language model would. */
async function chat(request, response) {
  if (request.headers.authorization === undefined) {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"error":"no token"}')
    return
  }
  let text = ''
  for await (const chunk of request) text += chunk
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const word of JSON.parse(text).prompt.split(' ')) {
    response.write(`data: ${JSON.stringify({ delta: word })}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

/** Ends the connection without an answer. */
function lose(request) {
  const session = request.stream?.session
  if (session) session.destroy()
  else request.socket.destroy()
}

/** `upgrade: echo` echoes bytes; `upgrade: websocket` echoes messages. */
function switchProtocols(webSockets, request, socket, head) {
  socket.on('error', () => {})
  if (request.headers.upgrade.toLowerCase() === 'websocket') {
    webSockets.handleUpgrade(request, socket, head, (connection) => {
      connection.on('error', () => {})
      connection.on('message', (data, isBinary) => connection.send(data, { binary: isBinary }))
    })
    return
  }
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
  socket.pipe(socket)
}

/** A tunnel, to loopback only. */
function tunnel(request, socket, head) {
  socket.on('error', () => {})
  const { hostname, port } = new URL(`http://${request.url}`)
  if (hostname !== 'localhost' && hostname !== '127.0.0.1') {
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    return
  }
  const target = net.connect(Number(port || 80), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    target.write(head)
    target.pipe(socket).pipe(target)
  })
  target.on('error', () => socket.destroy())
}

/** A SOCKS 5 proxy (RFC 1928) for user:sesame, to loopback only. Each message is expected in one piece. */
function socks(socket) {
  const nextMessage = () => new Promise((resolve) => socket.once('data', resolve))
  const negotiate = async () => {
    const greeting = await nextMessage()
    if (!greeting.includes(2, 2)) return socket.end(Buffer.of(5, 0xff))
    socket.write(Buffer.of(5, 2))
    const isKnown = String(await nextMessage()) === '\x01\x04user\x06sesame'
    socket.write(Buffer.of(1, isKnown ? 0 : 1))
    if (!isKnown) return socket.end()
    const request = await nextMessage()
    const isLocal = request.includes('localhost') || request.includes(Buffer.of(127, 0, 0, 1))
    if (!isLocal) return socket.end(Buffer.of(5, 2, 0, 1, 0, 0, 0, 0, 0, 0))
    const target = net.connect(request.readUInt16BE(request.length - 2), '127.0.0.1', () => {
      socket.write(Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0))
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('close', () => target.destroy())
  }
  negotiate()
}

/**
 * Starts all servers on loopback.
 *
 * @param {Record<keyof typeof PORTS, number>} ports 0 for a free one
 * @returns the ports they listen on, and a function that stops them
 */
export async function startOrigins(ports) {
  const webSockets = new WebSocketServer({ noServer: true })
  const tls = { ...identity, allowHTTP1: true }
  const servers = {
    http: http.createServer({ keepAliveTimeout: KEEP_ALIVE }, answer),
    otherHttp: http.createServer({ keepAliveTimeout: KEEP_ALIVE }, answer),
    h2c: http2.createServer(answer),
    https: http2.createSecureServer(tls, answer),
    mutualTls: http2.createSecureServer({ ...tls, ca: pem('ca'), requestCert: true }, answer),
    socks: net.createServer(socks),
  }
  const sockets = new Set()
  const listening = {}
  for (const [name, server] of Object.entries(servers)) {
    server.on('upgrade', (request, socket, head) => switchProtocols(webSockets, request, socket, head))
    if (name.toLowerCase().endsWith('http')) server.on('connect', tunnel)
    server.on('sessionError', () => {})
    server.on('tlsClientError', () => {})
    server.on('connection', (socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(ports[name], '127.0.0.1', resolve)
    })
    listening[name] = server.address().port
  }
  const close = async () => {
    const closed = Object.values(servers).map((server) => new Promise((resolve) => server.close(resolve)))
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  }
  return { ports: listening, close }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ports } = await startOrigins(PORTS)
  console.log(`HTTP/1.1              http://localhost:${ports.http}, http://localhost:${ports.otherHttp}`)
  console.log(`HTTP/2 over TLS       https://localhost:${ports.https}`)
  console.log(`  with certificates   https://localhost:${ports.mutualTls}`)
  console.log(`HTTP/2 over cleartext http://localhost:${ports.h2c}`)
  console.log(`SOCKS 5               socks5://user:sesame@localhost:${ports.socks}`)
  console.log('Ctrl+C ends it.')
}
