// What the programs share: servers on loopback that end with the check that started them, a proxy, and bodies as text.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'

const certificate = (name) => readFileSync(new URL(`../support/certs/${name}`, import.meta.url), 'utf8')

/** The authority that signed the certificate of the servers with TLS. */
export const ca = certificate('ca.pem')
const identity = () => ({ key: certificate('localhost-key.pem'), cert: certificate('localhost.pem') })

/** The newest versions of packages are in use: see the imports in package.json. */
export const isNewest = process.execArgv.includes('--conditions=newest')

/** Milliseconds to close one thing. */
const PATIENCE = 2_000

/** The servers, sockets and other things of one check. */
export class Stage {
  #endings = []

  after(ending) {
    this.#endings.unshift(ending)
  }

  /** Bounded, since a check that failed may have left requests open. */
  async end() {
    for (const ending of this.#endings) {
      const done = Promise.resolve().then(ending)
      let timer
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, PATIENCE)
      })
      await Promise.race([done.catch(() => {}), late])
      clearTimeout(timer)
    }
  }

  /** The origin of an HTTP/1.1 server. */
  serve(handler) {
    return this.#listen(http.createServer(handler), 'http')
  }

  serveTls(handler) {
    return this.#listen(https.createServer(identity(), handler), 'https')
  }

  /** HTTP/2 over TLS, and HTTP/1.1 for clients that do not offer it. */
  serveH2(handler) {
    return this.#listen(http2.createSecureServer({ ...identity(), allowHTTP1: true }, handler), 'https')
  }

  async #listen(server, scheme) {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    this.#closeSockets(server)
    return `${scheme}://localhost:${server.address().port}`
  }

  async serveUnix(path, handler) {
    const server = http.createServer(handler)
    await once(server.listen(path), 'listening')
    this.#closeSockets(server)
  }

  /** A server that gets bare sockets. */
  serveSockets(onSocket) {
    return this.#listen(
      net.createServer((socket) => onSocket(socket.on('error', () => {}))),
      'http',
    )
  }

  /** A server that is made already. */
  listen(server, scheme = 'http') {
    return this.#listen(server, scheme)
  }

  #closeSockets(server) {
    const sockets = new Set()
    const keep = (socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    server.on('connection', keep).on('secureConnection', keep)
    this.after(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
  }

  /** An origin where nothing listens. */
  async nowhere() {
    const server = net.createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address()
    server.close()
    await once(server, 'close')
    return `http://localhost:${port}`
  }

  /** A proxy that tunnels and forwards. It keeps what it was asked for, with the credentials. */
  async proxy() {
    const asked = []
    const server = http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      const { 'proxy-authorization': _, ...headers } = request.headers
      const forwarded = http.request(request.url, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      forwarded.on('error', () => response.destroy())
      request.pipe(forwarded)
    })
    server.on('connect', (request, socket, head) => {
      const credentials = request.headers['proxy-authorization']
      asked.push(`CONNECT ${request.url}${credentials === undefined ? '' : ` ${credentials}`}`)
      const { port } = new URL(`http://${request.url}`)
      const target = net.connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        target.write(head)
        target.pipe(socket).pipe(target)
      })
      target.on('error', () => socket.destroy())
      socket.on('error', () => target.destroy())
      this.after(() => target.destroy())
    })
    return { origin: await this.#listen(server, 'http'), asked }
  }
}

export async function text(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export async function json(stream) {
  return JSON.parse(await text(stream))
}

export function sendJson(response, value, status = 200, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}

/** An event stream, one write for each event. */
export async function sendEvents(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const event of events) {
    response.write(event)
    await new Promise(setImmediate)
  }
  response.end()
}

/** The error of a promise that must fail. */
export async function failure(promise) {
  const nothing = Symbol('nothing')
  const error = await Promise.resolve(promise).then(
    () => nothing,
    (reason) => reason,
  )
  if (error === nothing) throw new Error('it should have failed')
  return error
}
