// The floor for HTTP/1.1: a bare socket, a request encoded once, and a parser that trusts its input. With real traffic
// each request is encoded, and each response's fields are parsed, and its JSON, or its page is decompressed.
// Nothing here is safe to use. It shows the speed of JavaScript on a socket that does as little as possible.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { Fifo } from './fifo.mjs'
import { textOf } from './text.mjs'

export async function open(target) {
  const targets = targetsOf(target)
  const sockets = await Promise.all(targets.map(dial))
  const lines = sockets.map((socket, i) => new Line(socket, targets[i]))
  const [only] = lines
  const queued = []
  const run = (line, path, done) => {
    line.start(path, (error, text) => {
      const next = queued.shift()
      if (next === undefined) lines.push(line)
      else run(line, next.path, next.done)
      done(error, text)
    })
  }
  return {
    start(path, done) {
      if (target.connections === 1) return only.start(path, done)
      // At a fixed rate there may be more requests than connections.
      if (lines.length === 0) return queued.push({ path, done })
      run(lines.pop(), path, done)
    },
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** One for each connection; those of a crawler go to its origins in turn. */
function targetsOf(target) {
  const origins =
    target.traffic === 'crawler'
      ? target.ports.pages.map((port) => `http://127.0.0.1:${port}`)
      : [target.origin]
  return Array.from({ length: target.connections }, (_, i) => ({
    ...target,
    origin: origins[i % origins.length],
  }))
}

async function dial({ origin, wire, ca }) {
  const { hostname, port } = new URL(origin)
  const encrypted = wire === 'h1-tls'
  const socket = encrypted ? tls.connect({ host: hostname, port, ca }) : net.connect(port, hostname)
  socket.setNoDelay(true)
  await once(socket, encrypted ? 'secureConnect' : 'connect')
  return socket
}

class Line {
  #socket
  #prefix
  #suffix
  #waiting = new Fifo()
  #rest = null
  /** Bytes of the current body that are still missing, and those that have arrived. */
  #left = 0
  #chunks = []
  #host
  #method
  #nextRequest
  #read

  constructor(socket, { origin, method, headers, body = '', nextRequest, api }) {
    this.#socket = socket
    this.#host = new URL(origin).host
    this.#method = method
    this.#nextRequest = nextRequest
    this.#read = api === 'request-page' ? pageOf : jsonTextOf
    this.#prefix = `${method} `
    const fields = { host: new URL(origin).host, ...headers }
    if (method === 'POST') fields['content-length'] = String(body.length)
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    this.#suffix = ` HTTP/1.1\r\n${lines.join('')}\r\n${body}`
    socket.on('data', (bytes) => this.#receive(bytes))
  }

  start(path, done) {
    if (this.#nextRequest === null || path === '/protocol') {
      this.#waiting.push({ done, isReal: false })
      this.#socket.write(this.#prefix + path + this.#suffix, 'latin1')
    } else {
      this.#waiting.push({ done, isReal: true })
      this.#socket.write(this.#encode(this.#nextRequest()), 'latin1')
    }
  }

  #encode({ path, headers, body }) {
    let text = `${this.#method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n`
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`
    return body === undefined ? `${text}\r\n` : `${text}content-length: ${body.length}\r\n\r\n${body}`
  }

  #receive(bytes) {
    let chunk = bytes
    if (this.#rest !== null) {
      chunk = Buffer.concat([this.#rest, bytes])
      this.#rest = null
    }
    let at = 0
    while (at < chunk.length) {
      if (this.#left === 0) {
        const end = chunk.indexOf('\r\n\r\n', at, 'latin1')
        if (end === -1) {
          this.#rest = chunk.subarray(at)
          return
        }
        const head = chunk.latin1Slice(at, end)
        if (!head.startsWith('HTTP/1.1 200')) throw new Error(head)
        this.#left = Number(
          this.#nextRequest === null
            ? Number.parseInt(head.slice(head.indexOf('Content-Length: ') + 16), 10)
            : fieldsOf(head)['content-length'],
        )
        at = end + 4
      }
      const end = Math.min(chunk.length, at + this.#left)
      this.#chunks.push(chunk.subarray(at, end))
      this.#left -= end - at
      at = end
      if (this.#left === 0) this.#finish()
    }
  }

  #finish() {
    const chunks = this.#chunks
    this.#chunks = []
    const { done, isReal } = this.#waiting.shift()
    done(null, (isReal ? this.#read : textOf)(chunks))
  }
}

function jsonTextOf(chunks) {
  return JSON.parse(textOf(chunks)).text
}

function pageOf(chunks) {
  return gunzipSync(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString()
}

/** The fields of a head as a library returns them. */
function fieldsOf(head) {
  const fields = {}
  for (let at = head.indexOf('\r\n') + 2; at !== 1; ) {
    const next = head.indexOf('\r\n', at)
    const colon = head.indexOf(':', at)
    const name = head.slice(at, colon).toLowerCase()
    fields[name] = head.slice(colon + 2, next === -1 ? undefined : next)
    at = next + 2
  }
  return fields
}
