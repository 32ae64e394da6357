// The floor for HTTP/2: a bare socket, a header block encoded once, and a reader that only looks at DATA and
// END_STREAM. Nothing here is safe to use; see floor-http1.mjs. With real traffic it encodes each request and parses the
// JSON of each response, but does not decode the fields.
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { textOf } from './text.mjs'

const DATA = 0
const HEADERS = 1
const SETTINGS = 4
const PING = 6
const WINDOW_UPDATE = 8
const END_STREAM = 1
const ACK = 1
const END_HEADERS = 4

const MAX_WINDOW = 2 ** 31 - 1
/** Consumed bytes after which the connection's window is opened again. */
const REOPEN_AFTER = 2 ** 24
/** Bytes that the frame of a real request's fields takes at most. */
const MOST_HEAD = 1024

export async function open(target) {
  const { hostname, port } = new URL(target.origin)
  const encrypted = target.wire === 'h2'
  const socket = encrypted
    ? tls.connect({ host: hostname, port, ca: target.ca, ALPNProtocols: ['h2'] })
    : net.connect(port, hostname)
  socket.setNoDelay(true)
  await once(socket, encrypted ? 'secureConnect' : 'connect')
  const session = new Session(socket, target)
  return { start: (path, done) => session.start(path, done), close: () => socket.destroy() }
}

class Session {
  #socket
  #target
  #blocks = new Map()
  #fixed = null
  #nextId = 1
  #streams = new Map()
  #rest = null
  #consumed = 0
  #out = []

  constructor(socket, target) {
    this.#socket = socket
    this.#target = target
    const settings = Buffer.alloc(6)
    settings.writeUInt16BE(4, 0)
    settings.writeUInt32BE(MAX_WINDOW, 2)
    socket.write(
      Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        frame(SETTINGS, 0, 0, settings),
        frame(WINDOW_UPDATE, 0, 0, word(MAX_WINDOW - 65535)),
      ]),
    )
    socket.on('data', (bytes) => this.#read(bytes))
  }

  start(path, done) {
    const { nextRequest } = this.#target
    const isReal = nextRequest !== null && path !== '/protocol'
    const request = isReal ? this.#encode(nextRequest()) : this.#remembered(path)
    const id = this.#nextId
    this.#nextId += 2
    this.#streams.set(id, { done, chunks: [], isReal })
    for (const offset of request.idOffsets) request.bytes.writeUInt32BE(id, offset)
    if (this.#out.push(request.bytes) === 1) queueMicrotask(() => this.#flush())
  }

  /** What never changes is encoded once, in front of the fields that do. */
  #encode({ path, headers, body }) {
    const { origin, wire, method } = this.#target
    this.#fixed ??= literals({
      ':method': method,
      ':scheme': wire === 'h2' ? 'https' : 'http',
      ':authority': new URL(origin).host,
    })
    const bytes = Buffer.allocUnsafe(MOST_HEAD + (body?.length ?? 0))
    let at = 9 + this.#fixed.copy(bytes, 9)
    at = writeLiteral(bytes, at, ':path', path)
    for (const name in headers) at = writeLiteral(bytes, at, name, headers[name])
    if (body === undefined) {
      writeFrameHead(bytes, 0, at - 9, HEADERS, END_HEADERS | END_STREAM)
      return { bytes: bytes.subarray(0, at), idOffsets: [5] }
    }
    at = writeLiteral(bytes, at, 'content-length', String(body.length))
    writeFrameHead(bytes, 0, at - 9, HEADERS, END_HEADERS)
    writeFrameHead(bytes, at, body.length, DATA, END_STREAM)
    const end = at + 9 + bytes.latin1Write(body, at + 9)
    return { bytes: bytes.subarray(0, end), idOffsets: [5, at + 5] }
  }

  #remembered(path) {
    let block = this.#blocks.get(path)
    if (block === undefined) {
      block = requestFrames(path, this.#target)
      this.#blocks.set(path, block)
    }
    return { bytes: Buffer.from(block.bytes), idOffsets: block.idOffsets }
  }

  #flush() {
    const out = this.#out
    this.#out = []
    this.#socket.write(out.length === 1 ? out[0] : Buffer.concat(out))
  }

  #read(bytes) {
    let chunk = bytes
    if (this.#rest !== null) {
      chunk = Buffer.concat([this.#rest, bytes])
      this.#rest = null
    }
    let at = 0
    while (chunk.length - at >= 9) {
      const length = chunk.readUIntBE(at, 3)
      if (chunk.length - at < 9 + length) break
      this.#frame(chunk, at, length)
      at += 9 + length
    }
    if (at < chunk.length) this.#rest = chunk.subarray(at)
  }

  #frame(chunk, at, length) {
    const type = chunk[at + 3]
    const flags = chunk[at + 4]
    const id = chunk.readUInt32BE(at + 5)
    const payload = at + 9
    if (type === DATA) {
      this.#consumed += length
      if (length > 0) this.#streams.get(id).chunks.push(chunk.subarray(payload, payload + length))
      if (this.#consumed > REOPEN_AFTER) {
        this.#socket.write(frame(WINDOW_UPDATE, 0, 0, word(this.#consumed)))
        this.#consumed = 0
      }
    } else if (type === SETTINGS && (flags & ACK) === 0) {
      this.#socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)))
    } else if (type === PING && (flags & ACK) === 0) {
      this.#socket.write(frame(PING, ACK, 0, chunk.subarray(payload, payload + 8)))
    } else if (type === HEADERS && chunk[payload] !== 0x88) {
      // 0x88 is ":status: 200" of the static table, the first byte of a successful response.
      throw new Error('not a 200')
    }
    if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) {
      const { done, chunks, isReal } = this.#streams.get(id)
      this.#streams.delete(id)
      const text = textOf(chunks)
      done(null, isReal ? JSON.parse(text).text : text)
    }
  }
}

/** HEADERS, and DATA for a body, with the offsets of the stream identifier. */
function requestFrames(path, { origin, wire, method, headers, body }) {
  const fields = {
    ':method': method,
    ':scheme': wire === 'h2' ? 'https' : 'http',
    ':authority': new URL(origin).host,
    ':path': path,
    ...headers,
  }
  if (body !== undefined) fields['content-length'] = String(body.length)
  const end = body === undefined ? END_STREAM : 0
  const head = frame(HEADERS, END_HEADERS | end, 0, literals(fields))
  if (body === undefined) return { bytes: head, idOffsets: [5] }
  const data = frame(DATA, END_STREAM, 0, Buffer.from(body))
  return { bytes: Buffer.concat([head, data]), idOffsets: [5, head.length + 5] }
}

function literals(fields) {
  const bytes = Buffer.alloc(MOST_HEAD)
  let at = 0
  for (const [name, value] of Object.entries(fields)) at = writeLiteral(bytes, at, name, value)
  return bytes.subarray(0, at)
}

/** "Literal without indexing, new name", never longer than 126 octets: 0x00, length, name, length, value. */
function writeLiteral(bytes, start, name, value) {
  let at = start
  bytes[at++] = 0
  bytes[at++] = name.length
  at += bytes.latin1Write(name, at)
  bytes[at++] = value.length
  return at + bytes.latin1Write(value, at)
}

function writeFrameHead(bytes, at, length, type, flags) {
  bytes.writeUIntBE(length, at, 3)
  bytes[at + 3] = type
  bytes[at + 4] = flags
}

function frame(type, flags, id, payload) {
  const bytes = Buffer.alloc(9 + payload.length)
  writeFrameHead(bytes, 0, payload.length, type, flags)
  bytes.writeUInt32BE(id, 5)
  payload.copy(bytes, 9)
  return bytes
}

function word(value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
