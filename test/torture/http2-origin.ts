/**
 * The server side of HTTP/2 for the torture and chaos runs: it respects its client's flow control, passes each request
 * to its script, and lets scripts answer correctly or not.
 */
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import {
  CONTINUATION,
  DATA,
  DEFAULT_WINDOW,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FRAME_HEADER_BYTES,
  GOAWAY,
  HEADERS,
  MIN_MAX_FRAME_SIZE,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  SETTINGS_ENABLE_CONNECT_PROTOCOL,
  SETTINGS_INITIAL_WINDOW_SIZE,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import { frameBytes, settingsPayload, uint32 } from '../support/frame-peer.ts'
import type { OriginExchange, OriginPort, OriginScript } from './origin-port.ts'

type Fields = Readonly<Record<string, string>>

export class Http2OriginStream implements OriginExchange {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly headers: Fields
  readonly received: Buffer[] = []
  trailers: Fields = {}
  isComplete = false
  isAnswered = false
  /** RST_STREAM was sent or received. */
  isReset = false
  window: number
  onBody: (bytes: Buffer) => void = () => {}
  onComplete: () => void = () => {}
  readonly #origin: Http2Origin
  /** Waits for the client's windows. */
  readonly #waiting: Buffer[] = []
  #trailersToSend: Fields | null = null
  /** Each byte leaves in a frame of its own. */
  #isInSingles = false

  constructor(origin: Http2Origin, id: number, headers: Fields, window: number) {
    this.#origin = origin
    this.id = id
    this.headers = headers
    this.method = headers[':method']!
    this.path = headers[':path'] ?? headers[':authority']!
    this.window = window
  }

  get isOpen(): boolean {
    return this.#origin.port.isOpen && !this.isReset && !this.isAnswered
  }

  interim(status: number): void {
    if (this.isOpen) this.#origin.sendHeaders(this.id, { ':status': String(status) }, false)
  }

  head(status: number, fields: Fields = {}): void {
    const { connection: _, ...rest } = fields
    if (this.isOpen) this.#origin.sendHeaders(this.id, { ':status': String(status), ...rest }, false)
  }

  write(bytes: Buffer | string): void {
    if (!this.isOpen) return
    this.#waiting.push(Buffer.from(bytes as string))
    this.flush()
  }

  writeSingles(bytes: Buffer | string): void {
    this.#isInSingles = true
    this.write(bytes)
  }

  end(trailers: Fields = {}): void {
    if (!this.isOpen) return
    this.#trailersToSend = trailers
    this.flush()
  }

  respond(status: number, body: Buffer | string): void {
    const bytes = Buffer.from(body as string)
    if (!this.isOpen) return
    if (this.method === 'HEAD' || bytes.length === 0) {
      this.isAnswered = true
      this.#origin.sendHeaders(this.id, { ':status': String(status) }, true)
      return
    }
    this.head(status, { 'content-length': String(bytes.length) })
    this.write(bytes)
    this.end()
  }

  grant(fields: Fields = {}): void {
    this.head(200, fields)
  }

  reset(code: number): void {
    if (this.isReset) return
    this.isReset = true
    this.#origin.frame(RST_STREAM, 0, this.id, uint32(code))
  }

  /** Sends as much as the windows allow. */
  flush(): void {
    const origin = this.#origin
    for (let bytes = this.#waiting[0]; bytes !== undefined; bytes = this.#waiting[0]) {
      const room = Math.min(this.window, origin.window, MIN_MAX_FRAME_SIZE, bytes.length)
      if (room <= 0 && bytes.length > 0) return
      this.#waiting.shift()
      if (room < bytes.length) this.#waiting.unshift(bytes.subarray(room))
      this.window -= room
      origin.window -= room
      const last =
        this.#waiting.length === 0 && this.#trailersToSend !== null && isEmpty(this.#trailersToSend)
      if (last) this.isAnswered = true
      origin.data(this.id, bytes.subarray(0, room), last, this.#isInSingles)
      if (last) return
    }
    if (this.#trailersToSend === null || this.isAnswered) return
    this.isAnswered = true
    if (isEmpty(this.#trailersToSend)) origin.frame(DATA, FLAG_END_STREAM, this.id, Buffer.alloc(0))
    else origin.sendHeaders(this.id, this.#trailersToSend, true)
  }

  accept(bytes: Buffer): void {
    this.received.push(bytes)
    this.onBody(bytes)
  }

  complete(): void {
    if (this.isComplete) return
    this.isComplete = true
    this.onComplete()
  }
}

export class Http2Origin {
  readonly port: OriginPort
  readonly streams: Map<number, Http2OriginStream> = new Map()
  /** The rest of the client's connection window. */
  window: number = DEFAULT_WINDOW
  /** Requests above it are not processed. */
  lastStreamId: number = Number.POSITIVE_INFINITY
  highestStreamId = 0
  readonly #script: OriginScript
  readonly #slice: (bytes: Buffer) => Buffer[]
  readonly #encoder = new HpackEncoder()
  readonly #decoder = new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 20, maxFields: 10_000 })
  #input: Buffer = Buffer.alloc(0)
  #prefaceSeen = false
  #block: Buffer[] = []
  #blockFlags = 0
  #initialWindow = DEFAULT_WINDOW

  constructor(port: OriginPort, script: OriginScript, slice: (bytes: Buffer) => Buffer[]) {
    this.port = port
    this.#script = script
    this.#slice = slice
    port.onBytes = (bytes) => {
      this.#input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes])
      this.#read()
    }
    port.onGone = () => port.end()
    this.settings([[SETTINGS_ENABLE_CONNECT_PROTOCOL, 1]])
  }

  settings(entries: readonly (readonly [number, number])[]): void {
    this.frame(SETTINGS, 0, 0, settingsPayload(entries))
  }

  /** Streams above `last` will never be processed. */
  goaway(last: number, code: number): void {
    this.lastStreamId = Math.min(this.lastStreamId, last)
    this.frame(GOAWAY, 0, 0, uint32(last, code))
  }

  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    this.#send(frameBytes(type, flags, streamId, payload))
  }

  /** One frame, or one for each byte. */
  data(streamId: number, bytes: Buffer, end: boolean, inSingles: boolean): void {
    const flags = end ? FLAG_END_STREAM : 0
    if (!inSingles || bytes.length < 2) {
      this.frame(DATA, flags, streamId, bytes)
      return
    }
    const last = bytes.length - 1
    this.#send(
      Buffer.concat(
        Array.from(bytes, (_, at) =>
          frameBytes(DATA, at === last ? flags : 0, streamId, bytes.subarray(at, at + 1)),
        ),
      ),
    )
  }

  #send(bytes: Buffer): void {
    for (const piece of this.#slice(bytes)) this.port.send(piece)
  }

  sendHeaders(streamId: number, headers: Fields, end: boolean): void {
    const fields = Object.entries(headers).flat()
    const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
    const block = out.subarray(0, this.#encoder.encode(fields, out, 0))
    this.frame(HEADERS, FLAG_END_HEADERS | (end ? FLAG_END_STREAM : 0), streamId, block)
  }

  #read(): void {
    if (!this.#prefaceSeen) {
      if (this.#input.length < PREFACE.length) return
      this.#prefaceSeen = true
      this.#input = this.#input.subarray(PREFACE.length)
    }
    while (this.#input.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + this.#input.readUIntBE(0, 3)
      if (this.#input.length < end) return
      const frame = this.#input.subarray(0, end)
      this.#input = this.#input.subarray(end)
      this.#onFrame(frame[3]!, frame[4]!, frame.readUInt32BE(5), frame.subarray(FRAME_HEADER_BYTES))
    }
  }

  #onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    const stream = this.streams.get(streamId)
    switch (type) {
      case HEADERS:
      case CONTINUATION:
        if (type === HEADERS) this.#blockFlags = flags
        this.#block.push(payload)
        if ((flags & FLAG_END_HEADERS) !== 0) this.#onRequest(streamId)
        return
      case DATA:
        this.#onData(stream, flags, streamId, payload)
        return
      case SETTINGS:
        if ((flags & FLAG_ACK) === 0) this.#onSettings(payload)
        return
      case PING:
        if ((flags & FLAG_ACK) === 0) this.frame(PING, FLAG_ACK, 0, payload)
        return
      case RST_STREAM:
        if (stream !== undefined) stream.isReset = true
        return
      case WINDOW_UPDATE:
        if (streamId === 0) this.window += payload.readUInt32BE(0)
        else if (stream !== undefined) stream.window += payload.readUInt32BE(0)
        for (const each of this.streams.values()) {
          if (each.isOpen) each.flush()
          else if (each.isReset || each.isComplete) this.streams.delete(each.id)
        }
    }
  }

  #onRequest(id: number): void {
    const block = Buffer.concat(this.#block)
    this.#block = []
    const fields: string[] = []
    if (this.#decoder.decode(block, 0, block.length, fields) !== HPACK_OK) throw new Error('bad HPACK')
    const headers: Record<string, string> = {}
    for (let i = 0; i < fields.length; i += 2) headers[fields[i]!] = fields[i + 1]!
    if (id <= this.highestStreamId) {
      this.#onTrailers(id, headers)
      return
    }
    this.highestStreamId = id
    if (id > this.lastStreamId) return
    const stream = new Http2OriginStream(this, id, headers, this.#initialWindow)
    this.streams.set(id, stream)
    this.#script(stream)
    if ((this.#blockFlags & FLAG_END_STREAM) !== 0) stream.complete()
  }

  /** A second head of a stream ends it. */
  #onTrailers(id: number, trailers: Fields): void {
    const isTrailers = (this.#blockFlags & FLAG_END_STREAM) !== 0 && trailers[':path'] === undefined
    const stream = this.streams.get(id)
    if (!isTrailers || stream?.isComplete === true) throw new Error('the client sent a second head')
    if (stream === undefined || stream.isReset) return
    stream.trailers = trailers
    stream.complete()
  }

  #onData(stream: Http2OriginStream | undefined, flags: number, id: number, payload: Buffer): void {
    const end = (flags & FLAG_END_STREAM) !== 0
    if (payload.length > 0) {
      this.frame(WINDOW_UPDATE, 0, 0, uint32(payload.length))
      if (stream !== undefined && !stream.isReset && !end) {
        this.frame(WINDOW_UPDATE, 0, id, uint32(payload.length))
      }
    }
    if (stream === undefined || stream.isReset) return
    if (payload.length > 0) stream.accept(payload)
    if (end) stream.complete()
  }

  #onSettings(payload: Buffer): void {
    for (let at = 0; at < payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== SETTINGS_INITIAL_WINDOW_SIZE) continue
      const window = payload.readUInt32BE(at + 2)
      for (const stream of this.streams.values()) stream.window += window - this.#initialWindow
      this.#initialWindow = window
    }
    this.frame(SETTINGS, FLAG_ACK, 0, Buffer.alloc(0))
  }
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0
}
