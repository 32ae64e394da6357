/**
 * Bytes of a server → messages and control frames (RFC 6455 §5). It never throws for what comes: the first
 * violation goes to the sink, and nothing after it. Inflating takes time, which this folder does not have:
 * the sink gets compressed payloads, pauses the receiver, and brings back what they inflate to.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { CarriedBytes } from '../carried-bytes.ts'
import { isReceivable, NO_STATUS } from './close-code.ts'
import {
  CLOSE,
  CONTINUATION,
  CONTROL,
  FIN,
  LENGTH_16,
  LENGTH_64,
  MASKED,
  MAX_CONTROL_PAYLOAD,
  OPCODE,
  PING,
  PONG,
  RSV1,
  RSV2_RSV3,
  TEXT,
} from './constants.ts'
import {
  EXPECTED_CONTINUATION,
  FRAGMENTED_CONTROL,
  FRAME_TOO_LONG,
  INFLATE_FAILED,
  INVALID_CLOSE_CODE,
  INVALID_OPCODE,
  INVALID_UTF8,
  INVALID_WINDOW_BITS,
  LONG_CONTROL,
  MASKED_FRAME,
  PAYLOAD_TOO_BIG,
  RESERVED_BITS,
  SHORT_CLOSE,
  TOO_MANY_FRAGMENTS,
  UNEXPECTED_CONTINUATION,
  type WebSocketFailure,
} from './failures.ts'
import { MAX_FRAME_LENGTH, type WebSocketLimits } from './limits.ts'
import { type MessageBytes, MessageCollector } from './message-collector.ts'
import { Utf8Validator } from './utf8.ts'

export interface ReceiverSink {
  /** A string for a text message. */
  onMessage(data: string | MessageBytes): void
  /**
   * A piece of a compressed message, borrowed; `last`: it ends here. To be answered with `inflated()` for
   * what it inflates to, and `inflatedEnd()` after the last.
   */
  onCompressed(bytes: Buffer, start: number, end: number, last: boolean): void
  /** The payload is the sink's to keep. */
  onPing(payload: Buffer): void
  onPong(payload: Buffer): void
  /** `code` is 1005 when the frame had none. Nothing comes after it. */
  onClose(code: number, reason: string): void
  /** Nothing comes after it. */
  onFailure(failure: WebSocketFailure): void
}

/** `invalid`: it was agreed on with parameters that no inflater can be made from. */
export type Compression = 'none' | 'deflate' | 'invalid'

/** `paused` until `resume()`; `ended` after a close frame, a failure or `stop()`. */
export type ParserStatus = 'reading' | 'paused' | 'ended'

const LONGEST_HEAD = 10

/** Heads and control frames are shorter: their memory is always kept. */
const MOST_KEPT_BYTES = 1024
const BYTE_ORDER_MARK = 0xfeff

export class Receiver {
  readonly #sink: ReceiverSink
  readonly #limits: WebSocketLimits
  /** Unless it is `none`, RSV1 marks a compressed message. */
  readonly #compression: Compression
  readonly #collector: MessageCollector
  status: ParserStatus = 'reading'
  /** The beginning of a head that did not come at once. */
  readonly #head = new CarriedBytes(MOST_KEPT_BYTES)
  #inPayload = false
  #opcode = 0
  #fin = false
  /** Bytes of the payload that are still to come. */
  #rest = 0
  /** The payload of a control frame. */
  readonly #control = new CarriedBytes(MOST_KEPT_BYTES)
  /** Frames of the message that has begun and not ended; 0 = there is none. */
  #fragments = 0
  /** Bytes of that message's frames, as announced. */
  #announced = 0
  /** That message is compressed. */
  #compressed = false

  constructor(sink: ReceiverSink, limits: WebSocketLimits, compression: Compression) {
    this.#sink = sink
    this.#limits = limits
    this.#compression = compression
    this.#collector = new MessageCollector(limits.maxPayloadSize)
  }

  /** False when that was too much, or wrong; the failure has been reported. */
  inflated(bytes: Buffer): boolean {
    return this.status !== 'ended' && this.#collect(bytes, 0, bytes.length, 0, false)
  }

  inflatedEnd(): void {
    if (this.status !== 'ended') this.#finish(NO_BYTES, 0, 0)
  }

  inflateFailed(): void {
    if (this.status !== 'ended') this.#fail(INFLATE_FAILED)
  }

  /** Takes effect before the next piece or frame; what was not consumed is to be given again. */
  pause(): void {
    if (this.status === 'reading') this.status = 'paused'
  }

  resume(): void {
    if (this.status === 'paused') this.status = 'reading'
  }

  /** Nothing more is delivered. */
  stop(): void {
    this.status = 'ended'
  }

  /** Returns the offset after the last byte it took. */
  execute(bytes: Buffer, start: number, end: number): number {
    let at = start
    while (this.status === 'reading') {
      if (!this.#inPayload) {
        at = this.#readHead(bytes, at, end)
        // A sink may pause or stop in its callback for a message.
        if (!this.#inPayload || this.status !== 'reading') return at
      } else if (at === end && this.#rest > 0) {
        return at
      }
      const next = at + Math.min(this.#rest, end - at)
      this.#rest -= next - at
      if ((this.#opcode & CONTROL) !== 0) this.#readControl(bytes, at, next)
      else this.#readData(bytes, at, next)
      at = next
    }
    return at
  }

  #readHead(bytes: Buffer, start: number, end: number): number {
    const missing = this.#missingHead(bytes, start, end)
    if (missing > 0) {
      const next = Math.min(start + missing, end)
      this.#head.append(bytes, start, next)
      if (next - start < missing) return next
      return this.#readHead(bytes, next, end)
    }
    if (this.#head.length > 0) {
      const { bytes: head, length } = this.#head
      this.#head.clear()
      this.#onHead(head, 0, length)
      return start
    }
    const length = headLength(bytes[start + 1]!)
    this.#onHead(bytes, start, length)
    return start + length
  }

  /** Bytes of the head that must be put aside, because it is, or was, not all in one piece. */
  #missingHead(bytes: Buffer, start: number, end: number): number {
    const kept = this.#head.length
    if (kept >= 2) return headLength(this.#head.bytes[1]!) - kept
    if (kept === 1) return 1
    const there = end - start
    if (there >= 2 && there >= headLength(bytes[start + 1]!)) return 0
    return 2
  }

  #onHead(bytes: Buffer, at: number, length: number): void {
    const first = bytes[at]!
    const second = bytes[at + 1]!
    const opcode = first & OPCODE
    const fin = (first & FIN) !== 0
    const size = payloadLength(bytes, at, length)
    const failure = this.#violation(first, second, opcode, fin) ?? this.#excess(opcode, size)
    if (failure !== null) {
      this.#fail(failure)
      return
    }
    this.#opcode = opcode
    this.#fin = fin
    this.#rest = size
    this.#inPayload = true
    if ((opcode & CONTROL) !== 0) return
    this.#fragments++
    this.#announced += size
    if (opcode === CONTINUATION) return
    this.#compressed = (first & RSV1) !== 0
    this.#collector.start(opcode === TEXT)
    if (this.#compressed && this.#compression === 'invalid') this.#fail(INVALID_WINDOW_BITS)
  }

  #violation(first: number, second: number, opcode: number, fin: boolean): WebSocketFailure | null {
    if ((first & RSV2_RSV3) !== 0) return RESERVED_BITS
    if ((opcode & CONTROL) !== 0 ? opcode > PONG : opcode > 2) return INVALID_OPCODE
    const mayCompress = this.#compression !== 'none' && (opcode & CONTROL) === 0 && opcode !== CONTINUATION
    if ((first & RSV1) !== 0 && !mayCompress) return RESERVED_BITS
    // RFC 6455 §5.1: a server must not mask.
    if ((second & MASKED) !== 0) return MASKED_FRAME
    if ((opcode & CONTROL) !== 0) {
      if (!fin) return FRAGMENTED_CONTROL
      return second > MAX_CONTROL_PAYLOAD ? LONG_CONTROL : null
    }
    if (opcode === CONTINUATION) return this.#fragments === 0 ? UNEXPECTED_CONTINUATION : null
    return this.#fragments > 0 ? EXPECTED_CONTINUATION : null
  }

  /** Before a byte of the payload is read. */
  #excess(opcode: number, size: number): WebSocketFailure | null {
    if (size > MAX_FRAME_LENGTH) return FRAME_TOO_LONG
    if ((opcode & CONTROL) !== 0) return null
    const { maxFragments, maxPayloadSize } = this.#limits
    if (maxFragments > 0 && this.#fragments >= maxFragments) return TOO_MANY_FRAGMENTS
    return maxPayloadSize > 0 && this.#announced + size > maxPayloadSize ? PAYLOAD_TOO_BIG : null
  }

  #readData(bytes: Buffer, start: number, end: number): void {
    const rest = this.#rest
    const last = rest === 0 && this.#fin
    if (rest === 0) this.#inPayload = false
    if (last) {
      this.#fragments = 0
      this.#announced = 0
    }
    if (this.#compressed) {
      if (end > start || last) this.#sink.onCompressed(bytes, start, end, last)
    } else if (last) {
      this.#finish(bytes, start, end)
    } else if (end > start) {
      this.#collect(bytes, start, end, rest, this.#fin)
    }
  }

  #collect(bytes: Buffer, start: number, end: number, rest: number, fin: boolean): boolean {
    const failure = this.#collector.add(bytes, start, end, rest, fin)
    if (failure !== null) this.#fail(failure)
    return failure === null
  }

  #finish(bytes: Buffer, start: number, end: number): void {
    const message = this.#collector.finish(bytes, start, end)
    if (typeof message === 'string' || Buffer.isBuffer(message)) this.#sink.onMessage(message)
    else this.#fail(message)
  }

  #readControl(bytes: Buffer, start: number, end: number): void {
    this.#control.append(bytes, start, end)
    if (this.#rest > 0) return
    this.#inPayload = false
    const payload = Buffer.alloc(this.#control.length)
    this.#control.bytes.copy(payload)
    this.#control.clear()
    if (this.#opcode === PING) this.#sink.onPing(payload)
    else if (this.#opcode === CLOSE) this.#onClose(payload)
    else this.#sink.onPong(payload)
  }

  #onClose(payload: Buffer): void {
    if (payload.length === 0) {
      this.status = 'ended'
      this.#sink.onClose(NO_STATUS, '')
      return
    }
    if (payload.length === 1) {
      this.#fail(SHORT_CLOSE)
      return
    }
    const code = payload.readUInt16BE(0)
    if (!isReceivable(code)) {
      this.#fail(INVALID_CLOSE_CODE)
      return
    }
    const utf8 = new Utf8Validator()
    if (!utf8.accepts(payload, 2, payload.length) || !utf8.complete) {
      this.#fail(INVALID_UTF8)
      return
    }
    const reason = payload.toString('utf8', 2)
    this.status = 'ended'
    this.#sink.onClose(code, reason.charCodeAt(0) === BYTE_ORDER_MARK ? reason.slice(1) : reason)
  }

  #fail(failure: WebSocketFailure): void {
    this.status = 'ended'
    this.#sink.onFailure(failure)
  }
}

/** Bytes before the payload, from the second byte. A masked frame is refused before its key is read. */
function headLength(second: number): number {
  const length = second & ~MASKED
  if (length < LENGTH_16) return 2
  return length === LENGTH_64 ? LONGEST_HEAD : 4
}

function payloadLength(bytes: Buffer, at: number, length: number): number {
  if (length === 2) return bytes[at + 1]! & ~MASKED
  if (length === 4) return bytes.readUInt16BE(at + 2)
  // Above 2^53 this is not exact, which does not matter for a length that is refused.
  return bytes.readUInt32BE(at + 2) * 2 ** 32 + bytes.readUInt32BE(at + 6)
}
