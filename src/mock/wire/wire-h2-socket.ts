/**
 * An in-memory connection whose server speaks HTTP/2 (RFC 9113). The client is ours and sends one request at
 * a time, so frames are read without checks; replies use our own frame writer and HPACK encoder.
 */
import { Buffer } from 'node:buffer'
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'
import { HpackEncoder } from '../../protocol/hpack/encoder.ts'
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
  SETTINGS_ENTRY_BYTES,
  SETTINGS_INITIAL_WINDOW_SIZE,
  WINDOW_UPDATE,
} from '../../protocol/http2/constants.ts'
import { FrameWriter } from '../../protocol/http2/frame-writer.ts'
import { CONNECTION_SPECIFIC } from '../../protocol/http2/message.ts'
import { isBodiless, type MockedResponse } from '../reply/reply.ts'
import { contentPieces } from '../reply/reply-content.ts'
import { WireSocket } from './wire-socket.ts'
import { dataFrame, type WireFrame } from './wire-step.ts'

export class WireH2Socket extends WireSocket {
  override readonly alpnProtocol = 'h2'
  readonly #writer = new FrameWriter()
  readonly #encoder = new HpackEncoder()
  #input: Buffer = NO_BYTES
  #isPrefaceSeen = false
  #endsWithHead = false
  #initialWindow = DEFAULT_WINDOW
  #connectionWindow = DEFAULT_WINDOW
  #streamWindow = DEFAULT_WINDOW
  #onWindow: (() => void) | null = null

  /** The flag END_STREAM says it. */
  override onSent(): void {}

  protected override onBytes(bytes: Buffer): void {
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

  protected override onClosed(): void {
    super.onClosed()
    this.stream = 0
    this.#onWindow?.()
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
        this.#onWindow?.()
        return
      case RST_STREAM:
        if (id === this.stream) this.stream = 0
        this.#onWindow?.()
        return
      case HEADERS:
        if (id !== this.stream) this.#streamWindow = this.#initialWindow
        this.stream = id
        this.#endsWithHead = (flags & FLAG_END_STREAM) !== 0
        if ((flags & FLAG_END_HEADERS) !== 0 && this.#endsWithHead) this.onRequest()
        return
      case CONTINUATION:
        if ((flags & FLAG_END_HEADERS) !== 0 && this.#endsWithHead) this.onRequest()
        return
      case DATA:
        if (payload.length > 0) {
          this.#writer.windowUpdate(0, payload.length)
          this.#writer.windowUpdate(id, payload.length)
        }
        if ((flags & FLAG_END_STREAM) !== 0) this.onRequest()
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

  protected override async *responseSteps(
    { statusCode, fields, trailers, informational, content }: MockedResponse,
    method: string,
  ): AsyncGenerator<WireFrame> {
    const id = this.stream
    for (const head of informational) yield headFrame(head.statusCode, head.fields.flat, false)
    const isStreamed = !Buffer.isBuffer(content)
    const hasTrailers = trailers.flat.length > 0
    const isEmpty = !isStreamed && content.length === 0
    const endsWithHead = isBodiless(method, statusCode) || (isEmpty && !hasTrailers)
    yield headFrame(statusCode, fields.flat, endsWithHead)
    if (endsWithHead) return
    for await (const bytes of contentPieces(content)) {
      for (let at = 0; at < bytes.length; ) {
        const end = at + (await this.#room(id, bytes.length - at))
        const endStream = end === bytes.length && !isStreamed && !hasTrailers
        yield dataFrame(bytes.subarray(at, end), endStream)
        at = end
      }
    }
    if (hasTrailers) yield { kind: 'headers', fields: trailers.flat, endStream: true }
    else if (isStreamed) yield dataFrame(NO_BYTES, true)
  }

  /** Waits for window space and takes at most one frame of it (RFC 9113 §6.9); 0 after a cancellation. */
  async #room(id: number, wanted: number): Promise<number> {
    while (this.stream === id) {
      const room = Math.min(this.#connectionWindow, this.#streamWindow, MIN_MAX_FRAME_SIZE, wanted)
      if (room > 0) {
        this.#connectionWindow -= room
        this.#streamWindow -= room
        return room
      }
      await new Promise<void>((resolve) => {
        this.#onWindow = resolve
      })
    }
    return 0
  }

  /** Frames of a script go to the stream of the request, unless their type belongs to the connection. */
  protected override async sendFrame(frame: WireFrame): Promise<void> {
    const id = this.stream
    if (frame.kind === 'headers') {
      this.#writer.headers(id, frame.endStream, this.#encoder, wireFields(frame.fields), MIN_MAX_FRAME_SIZE)
      return this.#flush()
    }
    const isOfConnection = [SETTINGS, PING, GOAWAY].includes(frame.type)
    const header = Buffer.alloc(FRAME_HEADER_BYTES)
    header.writeUIntBE(frame.payload.length, 0, 3)
    header[3] = frame.type
    header[4] = frame.flags
    header.writeUInt32BE(isOfConnection ? 0 : id, 5)
    await this.#flush()
    await this.send(Buffer.concat([header, frame.payload]))
  }

  async #flush(): Promise<void> {
    const parts = this.#writer.take()
    if (parts !== null) await this.send(Buffer.concat(parts))
  }
}

function headFrame(statusCode: number, fields: readonly string[], endStream: boolean): WireFrame {
  return { kind: 'headers', fields: [':status', String(statusCode), ...fields], endStream }
}

/** Without the fields that only HTTP/1.1 has. */
function wireFields(flat: readonly string[]): string[] {
  const fields: string[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const name = lowerCaseName(flat[i]!)
    if (!CONNECTION_SPECIFIC.has(name)) fields.push(name, flat[i + 1]!)
  }
  return fields
}
