/**
 * An HTTP/2 server on a real socket that sends exactly the frames a test wants and sees exactly the frames a
 * client sent. Every wait is for an action of the client, never for time.
 */
import { once } from 'node:events'
import net from 'node:net'
import type { Duplex } from 'node:stream'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import { Client, type ClientOptions, H2CClient } from '../../src/index.ts'
import { HPACK_OK, HpackDecoder } from '../../src/protocol/hpack/decoder.ts'
import { HpackEncoder } from '../../src/protocol/hpack/encoder.ts'
import {
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  GOAWAY,
  HEADERS,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import { authority, localhost } from './certificates.ts'
import { type Frame, frameBytes, settingsPayload, uint32 } from './frame-peer.ts'
import { recordEvents } from './scripted-client.ts'

export type SettingsEntries = readonly (readonly [number, number])[]

/** A request as its HEADERS describe it. */
export interface PeerRequest {
  readonly id: number
  /** Flat, in order. */
  readonly fields: readonly string[]
  /** The last value of each name. */
  readonly headers: Readonly<Record<string, string>>
  readonly endStream: boolean
}

const FRAME_HEADER = 9

/** One connection of a client. */
export class H2Peer {
  readonly socket: Duplex
  /** Requests in order of arrival, including those that were taken. */
  readonly requests: PeerRequest[] = []
  /** Answers each PING immediately. */
  answersPings = true
  readonly #encoder = new HpackEncoder()
  readonly #decoder = new HpackDecoder({ maxTableSize: 4096, maxListSize: 1 << 24, maxFields: 100_000 })
  #input: Buffer = Buffer.alloc(0)
  #prefaceSeen = false
  #block: Buffer[] = []
  #blockHead: Frame | null = null
  #untakenRequests: PeerRequest[] = []
  /** All frames except HEADERS, CONTINUATION and acknowledgements. */
  readonly #frames: Frame[] = []
  #settingsSent = false
  /** The client's own SETTINGS arrived, not just an acknowledgement. */
  #settingsReceived = false
  #ended = false
  #waiting: (() => void)[] = []

  constructor(socket: Duplex, settings: SettingsEntries | null) {
    this.socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes])
      this.#read()
      this.#wake()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake()
    }
    socket.on('end', end).on('close', end).on('error', end)
    if (settings !== null) this.settings(settings)
  }

  /** Waits for the next request. */
  request(): Promise<PeerRequest> {
    return this.#until('a request', () => this.#untakenRequests.shift())
  }

  /** Waits for this many requests. */
  async take(count: number): Promise<PeerRequest[]> {
    const requests: PeerRequest[] = []
    for (let i = 0; i < count; i++) requests.push(await this.request())
    return requests
  }

  /** Waits for the next frame of this type, on this stream if one is given. Other frames stay. */
  frame(type: number, streamId?: number): Promise<Frame> {
    return this.#until(`frame ${type} on stream ${streamId ?? 'any'}`, () => this.#takeFrame(type, streamId))
  }

  /** Waits for RST_STREAM and returns its code. */
  async resetOf(streamId: number): Promise<number> {
    return (await this.frame(RST_STREAM, streamId)).payload.readUInt32BE(0)
  }

  /** Waits for the whole body of a request. */
  async body(streamId: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (;;) {
      const frame = await this.frame(DATA, streamId)
      parts.push(frame.payload)
      if ((frame.flags & FLAG_END_STREAM) !== 0) return Buffer.concat(parts)
    }
  }

  /** Frames of this type that arrived and were not taken. */
  pending(type: number, streamId?: number): Frame[] {
    return this.#frames.filter((f) => f.type === type && (streamId === undefined || f.streamId === streamId))
  }

  /** Waits until the client has processed everything sent before: it answers a PING. */
  async settled(): Promise<void> {
    this.send(PING, 0, 0, Buffer.from('settled?'))
    await this.#until('PING answered', () => this.#takeFrame(PING, 0, FLAG_ACK))
  }

  /** Waits until the client has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  send(type: number, flags: number, streamId: number, payload: Uint8Array = Buffer.alloc(0)): this {
    if (this.socket.writable) this.socket.write(frameBytes(type, flags, streamId, payload))
    return this
  }

  /** All frames sent inside leave together. */
  together(send: () => void): this {
    this.socket.cork()
    send()
    this.socket.uncork()
    return this
  }

  settings(entries: SettingsEntries): this {
    this.send(SETTINGS, 0, 0, settingsPayload(entries))
    this.#settingsSent = true
    if (this.#settingsReceived) this.#acknowledge()
    return this
  }

  /** The first frame of a server is its own SETTINGS, so this may have to wait. */
  #acknowledge(): void {
    this.#settingsReceived = !this.#settingsSent
    if (this.#settingsSent) this.send(SETTINGS, FLAG_ACK, 0)
  }

  headers(streamId: number, fields: readonly string[], endStream = false): this {
    const out = Buffer.alloc(HpackEncoder.maxEncodedSize(fields))
    const block = out.subarray(0, this.#encoder.encode(fields, out, 0))
    const end = endStream ? FLAG_END_STREAM : 0
    const first = block.subarray(0, 16_384)
    this.send(HEADERS, end | (first.length === block.length ? FLAG_END_HEADERS : 0), streamId, first)
    for (let at = first.length; at < block.length; at += 16_384) {
      const part = block.subarray(at, at + 16_384)
      const last = at + part.length === block.length
      this.send(CONTINUATION, last ? FLAG_END_HEADERS : 0, streamId, part)
    }
    return this
  }

  head(streamId: number, status: number, fields: readonly string[] = [], endStream = false): this {
    return this.headers(streamId, [':status', String(status), ...fields], endStream)
  }

  data(streamId: number, bytes: Uint8Array | string, endStream = false): this {
    return this.send(DATA, endStream ? FLAG_END_STREAM : 0, streamId, Buffer.from(bytes as string))
  }

  /** A complete response. */
  respond(streamId: number, body = 'ok', status = 200): this {
    return this.together(() => this.head(streamId, status).data(streamId, body, true))
  }

  reset(streamId: number, code: number): this {
    return this.send(RST_STREAM, 0, streamId, uint32(code))
  }

  goaway(lastStreamId: number, code = 0, debug = ''): this {
    return this.send(GOAWAY, 0, 0, Buffer.concat([uint32(lastStreamId, code), Buffer.from(debug)]))
  }

  windowUpdate(streamId: number, increment: number): this {
    return this.send(WINDOW_UPDATE, 0, streamId, uint32(increment))
  }

  pong(opaque: Uint8Array): this {
    return this.send(PING, FLAG_ACK, 0, opaque)
  }

  end(): this {
    this.socket.end()
    return this
  }

  #takeFrame(type: number, streamId?: number, flags = 0): Frame | undefined {
    const at = this.#frames.findIndex(
      (f) =>
        f.type === type &&
        (streamId === undefined || f.streamId === streamId) &&
        (flags === 0 || f.flags === flags),
    )
    return at === -1 ? undefined : this.#frames.splice(at, 1)[0]
  }

  async #until<T>(what: string, find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      if (this.#ended) throw new Error(`the client closed while the test waits for ${what}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #read(): void {
    if (!this.#prefaceSeen) {
      if (this.#input.length < PREFACE.length) return
      if (!this.#input.toString('latin1').startsWith(PREFACE)) throw new Error('no preface')
      this.#input = this.#input.subarray(PREFACE.length)
      this.#prefaceSeen = true
    }
    while (this.#input.length >= FRAME_HEADER) {
      const length = this.#input.readUIntBE(0, 3)
      if (this.#input.length < FRAME_HEADER + length) return
      this.#onFrame({
        type: this.#input[3]!,
        flags: this.#input[4]!,
        streamId: this.#input.readUInt32BE(5),
        payload: this.#input.subarray(FRAME_HEADER, FRAME_HEADER + length),
      })
      this.#input = this.#input.subarray(FRAME_HEADER + length)
    }
  }

  #onFrame(frame: Frame): void {
    const { type, flags } = frame
    if (type === HEADERS || type === CONTINUATION) {
      if (type === HEADERS) this.#blockHead = frame
      this.#block.push(frame.payload)
      if ((flags & FLAG_END_HEADERS) !== 0) this.#onBlock()
      return
    }
    if (type === SETTINGS) {
      if ((flags & FLAG_ACK) !== 0) return
      this.#acknowledge()
    }
    if (type === PING && (flags & FLAG_ACK) === 0 && this.answersPings) this.pong(frame.payload)
    this.#frames.push(frame)
  }

  #onBlock(): void {
    const block = Buffer.concat(this.#block)
    this.#block = []
    const fields: string[] = []
    if (this.#decoder.decode(block, 0, block.length, fields) !== HPACK_OK) throw new Error('bad HPACK')
    const headers: Record<string, string> = {}
    for (let i = 0; i < fields.length; i += 2) headers[fields[i]!] = fields[i + 1]!
    const { streamId: id, flags } = this.#blockHead!
    const request = { id, fields, headers, endStream: (flags & FLAG_END_STREAM) !== 0 }
    this.requests.push(request)
    this.#untakenRequests.push(request)
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

export interface H2Server {
  readonly url: string
  readonly port: number
  /** The next connection a client opens. */
  accept(): Promise<H2Peer>
  /** Connections accepted so far. */
  readonly count: number
}

export interface H2ServerOptions {
  /** TLS with ALPN; the protocols that the server offers, in its order. */
  readonly alpn?: readonly string[]
  /** A Unix socket instead of a port. */
  readonly path?: string
  /** The SETTINGS sent on each connection; null for none. */
  readonly settings?: SettingsEntries | null
}

export async function startH2Server(t: TestContext, options: H2ServerOptions = {}): Promise<H2Server> {
  const ready: H2Peer[] = []
  const waiting: ((peer: H2Peer) => void)[] = []
  const sockets: net.Socket[] = []
  let count = 0
  const onSocket = (socket: net.Socket): void => {
    count++
    sockets.push(socket)
    const peer = new H2Peer(socket, options.settings === undefined ? [] : options.settings)
    const next = waiting.shift()
    if (next === undefined) ready.push(peer)
    else next(peer)
  }
  const server =
    options.alpn === undefined
      ? net.createServer({ allowHalfOpen: true, noDelay: true }, onSocket)
      : tls.createServer({ ...localhost, noDelay: true, ALPNProtocols: [...options.alpn] }, onSocket)
  if (options.path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(options.path)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return {
    url: `${options.alpn === undefined ? 'http' : 'https'}://localhost:${port}`,
    port,
    accept: () => {
      const peer = ready.shift()
      return peer ? Promise.resolve(peer) : new Promise((resolve) => waiting.push(resolve))
    },
    get count() {
      return count
    },
  }
}

export interface H2Pair {
  readonly server: H2Server
  readonly client: Client
  /** Names of the client's events, in order, with the message of an error. */
  readonly events: string[]
}

/** A cleartext server and its client. */
export async function startH2Pair(
  t: TestContext,
  clientOptions: ClientOptions = {},
  serverOptions: H2ServerOptions = {},
): Promise<H2Pair> {
  const server = await startH2Server(t, serverOptions)
  const client =
    serverOptions.alpn === undefined
      ? new H2CClient(server.url, clientOptions)
      : new Client(server.url, { ...clientOptions, connect: { ca: authority } })
  t.after(() => client.destroy())
  return { server, client, events: recordEvents(client) }
}
