/**
 * Bytes → frames (RFC 9113 §4.1, §6). Owns the position inside the current frame and judges what can be
 * judged by looking at one frame: length, stream id, padding, increments. Knows nothing about streams, order
 * of frames, or meaning. DATA is passed on in place as it arrives; the other types are handed over whole,
 * in place when they lie in one read, else joined first.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { CarriedBytes } from '../carried-bytes.ts'
import {
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FLAG_PADDED,
  FLAG_PRIORITY,
  FRAME_HEADER_BYTES,
  FRAME_SIZE_ERROR,
  GOAWAY,
  HEADERS,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  SETTINGS_ENTRY_BYTES,
  WINDOW_UPDATE,
} from './constants.ts'

/** The callbacks of the reader. Every buffer is borrowed for the length of the call. */
export interface FrameHandler {
  /** Stops the reader for good, even within a frame. Read after each of the calls below. */
  readonly isStopped: boolean
  /** Each frame, before anything else about it. */
  onFrame(type: number, flags: number, streamId: number): void
  /** `length` counts against the windows (padding included), `dataLength` bytes follow in `onDataBytes`. */
  onDataStart(streamId: number, flags: number, length: number, dataLength: number): void
  onDataBytes(buf: Buffer, start: number, end: number): void
  onDataEnd(): void
  /** The fragment without padding and priority. */
  onHeaders(streamId: number, flags: number, buf: Buffer, start: number, end: number): void
  onContinuation(streamId: number, flags: number, buf: Buffer, start: number, end: number): void
  onRstStream(streamId: number, code: number): void
  onSettings(buf: Buffer, start: number, end: number): void
  onSettingsAck(): void
  onPushPromise(streamId: number): void
  onPing(ack: boolean, buf: Buffer, start: number): void
  onGoaway(lastStreamId: number, code: number, buf: Buffer, start: number, end: number): void
  onWindowUpdate(streamId: number, increment: number): void
  /** PRIORITY and every type that RFC 9113 does not define: already skipped. */
  onIgnored(): void
  /** A fault in a frame that concerns only its stream. The reader goes on. */
  onStreamFault(streamId: number, code: number, message: string): void
  /** A fault that ends the connection. The reader has stopped. */
  onConnectionFault(code: number, message: string): void
}

/** Memory of the beginning of a frame up to this size is kept for the next one. */
const MOST_KEPT_BYTES = 1024

/** By type. */
const NAMES: readonly string[] =
  'DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE CONTINUATION'.split(' ')

function isValidLength(type: number, flags: number, length: number): boolean {
  switch (type) {
    case RST_STREAM:
    case WINDOW_UPDATE:
      return length === 4
    case SETTINGS:
      return (flags & FLAG_ACK) !== 0 ? length === 0 : length % SETTINGS_ENTRY_BYTES === 0
    case PING:
      return length === 8
    case GOAWAY:
      return length >= 8
    default:
      return true
  }
}

/** `faulty`: nothing more can be read. */
type Place = 'header' | 'pad-length' | 'data' | 'skipped' | 'payload' | 'faulty'

export class FrameReader {
  readonly #handler: FrameHandler
  readonly #maxFrameSize: number
  #at: Place = 'header'
  /** The beginning of a header or payload that did not come at once. */
  readonly #carry = new CarriedBytes(MOST_KEPT_BYTES)
  #type = 0
  #flags = 0
  #streamId = 0
  #length = 0
  /** Bytes left of the present part: data, or skipped bytes. */
  #left = 0
  #padding = 0

  constructor(handler: FrameHandler, maxFrameSize: number) {
    this.#handler = handler
    this.#maxFrameSize = maxFrameSize
  }

  receive(buf: Buffer, start: number, end: number): void {
    let position = start
    while (position < end && !this.#handler.isStopped) {
      switch (this.#at) {
        case 'header':
          position = this.#readWhole(FRAME_HEADER_BYTES, buf, position, end)
          break
        case 'pad-length':
          this.#startPaddedData(buf[position]!)
          position++
          break
        case 'data':
          position = this.#readData(buf, position, end)
          break
        case 'skipped':
          position = this.#skip(position, end)
          break
        case 'payload':
          position = this.#readWhole(this.#length, buf, position, end)
          break
        default:
          return
      }
    }
  }

  /** A header or a payload of this length. */
  #readWhole(length: number, buf: Buffer, position: number, end: number): number {
    const carry = this.#carry
    const taken = Math.min(length - carry.length, end - position)
    if (taken === length) {
      this.#onWhole(buf, position)
      return position + length
    }
    carry.append(buf, position, position + taken)
    if (carry.length === length) {
      const { bytes } = carry
      carry.clear()
      this.#onWhole(bytes, 0)
    }
    return position + taken
  }

  #onWhole(buf: Buffer, start: number): void {
    if (this.#at === 'header') this.#begin(buf, start)
    else this.#dispatch(buf, start)
  }

  #begin(buf: Buffer, at: number): void {
    const length = (buf[at]! << 16) | (buf[at + 1]! << 8) | buf[at + 2]!
    const type = buf[at + 3]!
    const flags = buf[at + 4]!
    // The reserved bit is ignored on receipt (RFC 9113 §4.1).
    const streamId = readUint31(buf, at + 5)
    this.#type = type
    this.#flags = flags
    this.#streamId = streamId
    this.#length = length
    this.#left = length
    // A size that its type cannot have comes first (§4.2), even in a frame that is out of place.
    if (!isValidLength(type, flags, length)) {
      this.#fault(FRAME_SIZE_ERROR, `${NAMES[type]!} of ${length} bytes`)
      return
    }
    // The order of frames is judged before the limit: it reveals a server that answers in HTTP/1.1, whose
    // bytes, read as a length, would only look like an over-long frame.
    this.#handler.onFrame(type, flags, streamId)
    if (this.#handler.isStopped) return
    if (length > this.#maxFrameSize) {
      this.#fault(FRAME_SIZE_ERROR, `frame of ${length} bytes exceeds the limit of ${this.#maxFrameSize}`)
      return
    }
    if (type > CONTINUATION) this.#beginSkipped()
    else if (!this.#isWellPlaced()) return
    else if (type === DATA) this.#beginData()
    else if (type === PRIORITY) this.#beginPriority()
    else this.#beginPayload()
  }

  #beginData(): void {
    if ((this.#flags & FLAG_PADDED) === 0) this.#startData(0, this.#length)
    else if (this.#length > 0) this.#at = 'pad-length'
    else this.#fault(FRAME_SIZE_ERROR, 'padded DATA without a pad length')
  }

  #startPaddedData(padding: number): void {
    if (padding < this.#length) this.#startData(padding, this.#length - 1 - padding)
    else this.#fault(PROTOCOL_ERROR, 'DATA padding exceeds the frame')
  }

  #startData(padding: number, dataLength: number): void {
    this.#at = 'data'
    this.#padding = padding
    this.#left = dataLength
    this.#handler.onDataStart(this.#streamId, this.#flags, this.#length, dataLength)
    if (dataLength === 0) this.#endOfData()
  }

  #readData(buf: Buffer, position: number, end: number): number {
    const taken = Math.min(this.#left, end - position)
    this.#left -= taken
    this.#handler.onDataBytes(buf, position, position + taken)
    if (this.#left === 0) this.#endOfData()
    return position + taken
  }

  #endOfData(): void {
    if (this.#handler.isStopped) return
    if (this.#padding > 0) {
      this.#left = this.#padding
      this.#padding = 0
      this.#at = 'skipped'
      return
    }
    this.#at = 'header'
    this.#handler.onDataEnd()
  }

  #beginPriority(): void {
    // RFC 9113 §6.3: the one size error that concerns a stream only.
    if (this.#length !== 5) {
      this.#handler.onStreamFault(this.#streamId, FRAME_SIZE_ERROR, `PRIORITY of ${this.#length} bytes`)
    }
    if (!this.#handler.isStopped) this.#beginSkipped()
  }

  #beginSkipped(): void {
    this.#at = 'skipped'
    if (this.#length === 0) this.#endOfSkipped()
  }

  #skip(position: number, end: number): number {
    const taken = Math.min(this.#left, end - position)
    this.#left -= taken
    if (this.#left === 0) this.#endOfSkipped()
    return position + taken
  }

  #endOfSkipped(): void {
    this.#at = 'header'
    if (this.#type === DATA) this.#handler.onDataEnd()
    else this.#handler.onIgnored()
  }

  /** Whether the frame is where its type may be, on a stream or on the connection (RFC 9113 §6). */
  #isWellPlaced(): boolean {
    const type = this.#type
    const isOnConnection = type === SETTINGS || type === PING || type === GOAWAY
    if (type === WINDOW_UPDATE || isOnConnection === (this.#streamId === 0)) return true
    this.#fault(PROTOCOL_ERROR, `${NAMES[type]!} on stream ${this.#streamId}`)
    return false
  }

  #beginPayload(): void {
    this.#at = 'payload'
    if (this.#length === 0) this.#dispatch(NO_BYTES, 0)
  }

  #dispatch(buf: Buffer, start: number): void {
    this.#at = 'header'
    const end = start + this.#length
    const handler = this.#handler
    switch (this.#type) {
      case HEADERS:
        this.#dispatchHeaders(buf, start, end)
        break
      case CONTINUATION:
        handler.onContinuation(this.#streamId, this.#flags, buf, start, end)
        break
      case RST_STREAM:
        handler.onRstStream(this.#streamId, buf.readUInt32BE(start))
        break
      case SETTINGS:
        if ((this.#flags & FLAG_ACK) !== 0) handler.onSettingsAck()
        else handler.onSettings(buf, start, end)
        break
      case PUSH_PROMISE:
        handler.onPushPromise(this.#streamId)
        break
      case PING:
        handler.onPing((this.#flags & FLAG_ACK) !== 0, buf, start)
        break
      case GOAWAY:
        handler.onGoaway(readUint31(buf, start), buf.readUInt32BE(start + 4), buf, start + 8, end)
        break
      default:
        this.#dispatchWindowUpdate(readUint31(buf, start))
        break
    }
  }

  #dispatchHeaders(buf: Buffer, start: number, end: number): void {
    const flags = this.#flags
    let from = start
    let padding = 0
    if ((flags & FLAG_PADDED) !== 0) {
      if (from === end) {
        this.#fault(FRAME_SIZE_ERROR, 'padded HEADERS without a pad length')
        return
      }
      padding = buf[from++]!
    }
    if ((flags & FLAG_PRIORITY) !== 0) {
      if (end - from < 5) {
        this.#fault(FRAME_SIZE_ERROR, 'HEADERS too short for its priority')
        return
      }
      from += 5
    }
    if (padding > end - from) {
      this.#fault(PROTOCOL_ERROR, 'HEADERS padding exceeds the frame')
      return
    }
    this.#handler.onHeaders(this.#streamId, flags, buf, from, end - padding)
  }

  #dispatchWindowUpdate(increment: number): void {
    if (increment > 0) this.#handler.onWindowUpdate(this.#streamId, increment)
    else if (this.#streamId === 0) this.#fault(PROTOCOL_ERROR, 'WINDOW_UPDATE of 0 for the connection')
    else this.#handler.onStreamFault(this.#streamId, PROTOCOL_ERROR, 'WINDOW_UPDATE of 0')
  }

  #fault(code: number, message: string): void {
    this.#at = 'faulty'
    this.#handler.onConnectionFault(code, message)
  }
}

function readUint31(buf: Buffer, at: number): number {
  return ((buf[at]! & 0x7f) << 24) | (buf[at + 1]! << 16) | (buf[at + 2]! << 8) | buf[at + 3]!
}
