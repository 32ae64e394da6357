/**
 * The other end of an HTTP/2 connection in memory (RFC 9113): reads frames as far as it has to, and plays the reply of each
 * request in frames of our own encoder. The client is ours and sends one request at a time.
 */
import { Buffer } from 'node:buffer'
import { NO_BYTES } from '../../base/empty.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'
import { HpackEncoder } from '../../protocol/hpack/encoder.ts'
import {
  CONTINUATION,
  DATA,
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
  SETTINGS_ENTRY_BYTES,
  SETTINGS_INITIAL_WINDOW_SIZE,
  WINDOW_UPDATE,
} from '../../protocol/http2/constants.ts'
import { FrameWriter } from '../../protocol/http2/frame-writer.ts'
import { bytesOf } from '../mock-body.ts'
import { isBodiless, type MockedResponse } from '../reply/reply.ts'
import { StreamedContent } from '../reply/reply-content.ts'
import { WirePlayer } from './wire-player.ts'
import type { WireListener, WireSocket } from './wire-socket.ts'
import { h2FaultScript, type WireFrame } from './wire-step.ts'
import type { WireTurn } from './wire-turn.ts'

/** RFC 9113 §6.9.2. */
const FIRST_WINDOW = 65_535

/** Fields of HTTP/1.1 connections, which HTTP/2 forbids (RFC 9113 §8.2.2). */
const FORBIDDEN: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

export class WireH2Peer implements WireListener {
  readonly #socket: WireSocket
  readonly #take: () => WireTurn | null
  readonly #player: WirePlayer
  readonly #writer = new FrameWriter()
  readonly #encoder = new HpackEncoder()
  #input: Buffer = NO_BYTES
  #isPrefaceSeen = false
  /** Of the request; 0 after it was cancelled. */
  #stream = 0
  #endsWithHead = false
  #initialWindow = FIRST_WINDOW
  #connectionWindow = FIRST_WINDOW
  #streamWindow = FIRST_WINDOW
  #onWindow: (() => void) | null = null

  /** `take` returns what the request that has arrived is replied with. */
  constructor(socket: WireSocket, take: () => WireTurn | null) {
    this.#socket = socket
    this.#take = take
    this.#player = new WirePlayer(socket, (frame) => this.#writeFrame(frame))
    socket.listener = this
  }

  onBytes(bytes: Buffer): void {
    this.#input = Buffer.concat([this.#input, bytes])
    if (!this.#isPrefaceSeen) {
      if (this.#input.length < PREFACE.length) return
      this.#isPrefaceSeen = true
      this.#input = this.#input.subarray(PREFACE.length)
      this.#writer.settings([])
    }
    while (this.#input.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + this.#input.readUIntBE(0, 3)
      if (this.#input.length < end) break
      const frame = this.#input.subarray(0, end)
      this.#input = this.#input.subarray(end)
      this.#onFrame(frame[3]!, frame[4]!, frame.readUInt32BE(5), frame.subarray(FRAME_HEADER_BYTES))
    }
    void this.#flush()
  }

  onEnd(): void {
    this.#socket.finish()
  }

  onClosed(): void {
    this.#stream = 0
    this.#player.stop()
    this.#openWindow()
  }

  #onFrame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case SETTINGS:
        if ((flags & FLAG_ACK) === 0) this.#onSettings(payload)
        return
      case PING:
        if ((flags & FLAG_ACK) === 0) this.#writer.ping(true, payload, 0)
        return
      case WINDOW_UPDATE:
        if (id === 0) this.#connectionWindow += payload.readUInt32BE(0)
        else this.#streamWindow += payload.readUInt32BE(0)
        this.#openWindow()
        return
      case RST_STREAM:
        if (id === this.#stream) this.#stream = 0
        this.#openWindow()
        return
      case HEADERS:
        if (id !== this.#stream) this.#streamWindow = this.#initialWindow
        this.#stream = id
        this.#endsWithHead = (flags & FLAG_END_STREAM) !== 0
        if ((flags & FLAG_END_HEADERS) !== 0 && this.#endsWithHead) this.#onRequest()
        return
      case CONTINUATION:
        if ((flags & FLAG_END_HEADERS) !== 0 && this.#endsWithHead) this.#onRequest()
        return
      case DATA:
        if (payload.length > 0) {
          this.#writer.windowUpdate(0, payload.length)
          this.#writer.windowUpdate(id, payload.length)
        }
        if ((flags & FLAG_END_STREAM) !== 0) this.#onRequest()
    }
  }

  #onSettings(payload: Buffer): void {
    for (let at = 0; at < payload.length; at += SETTINGS_ENTRY_BYTES) {
      if (payload.readUInt16BE(at) === SETTINGS_INITIAL_WINDOW_SIZE) {
        this.#initialWindow = payload.readUInt32BE(at + 2)
        this.#streamWindow = this.#initialWindow
      }
    }
    this.#writer.settingsAck()
  }

  #openWindow(): void {
    const wake = this.#onWindow
    this.#onWindow = null
    wake?.()
  }

  #onRequest(): void {
    const turn = this.#take()
    if (turn === null) return
    this.#reply(turn, this.#stream).catch((error: unknown) => turn.fail(error))
  }

  async #reply({ call, interception: { reply, delay } }: WireTurn, id: number): Promise<void> {
    if (delay > 0) await this.#player.wait(delay)
    if (this.#stream !== id) return
    switch (reply.kind) {
      case 'response':
        return this.#respond(reply.response, call.method, id)
      case 'function': {
        const made = await reply.make(call.callbackOptions())
        return this.#respond(reply.read(made), call.method, id)
      }
      case 'raw':
        return this.#player.play(reply.script(call.callbackOptions()))
      case 'fault':
        return this.#player.play(h2FaultScript(reply.fault))
    }
  }

  async #respond(response: MockedResponse, method: string, id: number): Promise<void> {
    const { statusCode, fields, trailers, informational, content } = response
    for (const head of informational) this.#head(id, head.statusCode, head.fields.flat, false)
    const hasTrailers = trailers.flat.length > 0
    const isEmpty = content instanceof StreamedContent ? false : content.length === 0
    const endsWithHead = isBodiless(method, statusCode) || (isEmpty && !hasTrailers)
    this.#head(id, statusCode, fields.flat, endsWithHead)
    await this.#flush()
    if (endsWithHead) return
    const isStreamed = content instanceof StreamedContent
    for await (const piece of isStreamed ? content.source : [content]) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : bytesOf(piece)
      if (bytes === null) throw new TypeError('a piece of a mocked body is neither a string nor bytes')
      await this.#data(id, bytes, !isStreamed && !hasTrailers)
    }
    if (hasTrailers)
      this.#writer.headers(id, true, this.#encoder, wireFields(trailers.flat), MIN_MAX_FRAME_SIZE)
    else if (isStreamed) this.#writer.dataHeader(id, 0, true)
    if (this.#stream === id) await this.#flush()
  }

  #head(id: number, statusCode: number, fields: readonly string[], endStream: boolean): void {
    const list = [':status', String(statusCode), ...wireFields(fields)]
    this.#writer.headers(id, endStream, this.#encoder, list, MIN_MAX_FRAME_SIZE)
  }

  /** As the windows of the client allow (RFC 9113 §6.9). */
  async #data(id: number, bytes: Buffer, endStream: boolean): Promise<void> {
    let at = 0
    while (at < bytes.length && this.#stream === id) {
      const room = Math.min(this.#connectionWindow, this.#streamWindow, MIN_MAX_FRAME_SIZE)
      if (room <= 0) {
        await new Promise<void>((resolve) => {
          this.#onWindow = resolve
        })
        continue
      }
      const end = Math.min(bytes.length, at + room)
      this.#connectionWindow -= end - at
      this.#streamWindow -= end - at
      this.#writer.dataHeader(id, end - at, endStream && end === bytes.length)
      this.#writer.body(bytes, at, end)
      at = end
      await this.#flush()
    }
  }

  /** A frame of a script belongs to the request, unless its type is for the connection. */
  async #writeFrame(frame: WireFrame): Promise<void> {
    const id = this.#stream
    if (frame.kind === 'headers') {
      this.#writer.headers(id, frame.endStream, this.#encoder, wireFields(frame.fields), MIN_MAX_FRAME_SIZE)
    } else if (frame.kind === 'data') {
      this.#writer.dataHeader(id, frame.bytes.length, frame.endStream)
      this.#writer.body(frame.bytes, 0, frame.bytes.length)
    } else {
      const isOfConnection = [SETTINGS, PING, GOAWAY].includes(frame.type)
      const header = Buffer.alloc(FRAME_HEADER_BYTES)
      header.writeUIntBE(frame.payload.length, 0, 3)
      header[3] = frame.type
      header[4] = frame.flags
      header.writeUInt32BE(isOfConnection ? 0 : id, 5)
      await this.#flush()
      await this.#player.write(Buffer.concat([header, frame.payload]))
      return
    }
    await this.#flush()
  }

  async #flush(): Promise<void> {
    const parts = this.#writer.take()
    if (parts !== null) await this.#player.write(Buffer.concat(parts))
  }
}

function wireFields(flat: readonly string[]): string[] {
  const fields: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const name = lowerCaseName(flat[i]!)
    if (!FORBIDDEN.has(name)) fields.push(name, flat[i + 1]!)
  }
  return fields
}
