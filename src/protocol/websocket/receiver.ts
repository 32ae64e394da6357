/**
 * Bytes of a server → messages and control frames, or one failure. Compressed payloads leave on one side and
 * come back inflated on the other: inflating takes time, and this folder has none. The owner pauses the
 * receiver meanwhile.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { INFLATE_FAILED, INVALID_WINDOW_BITS, type WebSocketFailure } from './failures.ts'
import { FrameParser, type FrameSink, type ParserStatus } from './frame-parser.ts'
import type { WebSocketLimits } from './limits.ts'
import { type MessageBytes, MessageCollector } from './message-collector.ts'

export interface ReceiverSink {
  /** A string for a text message. */
  onMessage(data: string | MessageBytes): void
  /**
   * A piece of a compressed message, borrowed; `last`: it ends here. To be answered with `inflated()` for
   * what it inflates to, and `inflatedEnd()` after the last.
   */
  onCompressed(bytes: Buffer, start: number, end: number, last: boolean): void
  onPing(payload: Buffer): void
  onPong(payload: Buffer): void
  /** `code` is 1005 when the frame had none. Nothing comes after it. */
  onClose(code: number, reason: string): void
  /** Nothing comes after it. */
  onFailure(failure: WebSocketFailure): void
}

/** `invalid`: it was agreed on with parameters that no inflater can be made from. */
export type Compression = 'none' | 'deflate' | 'invalid'

export class Receiver implements FrameSink {
  readonly #sink: ReceiverSink
  readonly #parser: FrameParser
  readonly #collector: MessageCollector
  readonly #compression: Compression
  #compressed = false

  constructor(sink: ReceiverSink, limits: WebSocketLimits, compression: Compression) {
    this.#sink = sink
    this.#parser = new FrameParser(this, limits, compression !== 'none')
    this.#collector = new MessageCollector(limits.maxPayloadSize)
    this.#compression = compression
  }

  get status(): ParserStatus {
    return this.#parser.status
  }

  /** Returns the offset after the last byte it took; the others are to be fed again. */
  execute(bytes: Buffer, start: number, end: number): number {
    return this.#parser.execute(bytes, start, end)
  }

  pause(): void {
    this.#parser.pause()
  }

  resume(): void {
    this.#parser.resume()
  }

  /** Nothing more is delivered. */
  stop(): void {
    this.#parser.stop()
  }

  /** False when that was too much, or wrong; the failure has been reported. */
  inflated(bytes: Buffer): boolean {
    if (this.status === 'ended') return false
    const failure = this.#collector.add(bytes, 0, bytes.length, 0, false)
    if (failure !== null) this.#fail(failure)
    return failure === null
  }

  inflatedEnd(): void {
    if (this.status !== 'ended') this.#finish(NO_BYTES, 0, 0)
  }

  inflateFailed(): void {
    if (this.status !== 'ended') this.#fail(INFLATE_FAILED)
  }

  onMessageStart(text: boolean, compressed: boolean): void {
    this.#compressed = compressed
    this.#collector.start(text)
    if (compressed && this.#compression === 'invalid') this.#fail(INVALID_WINDOW_BITS)
  }

  onPayload(bytes: Buffer, start: number, end: number, rest: number, fin: boolean): void {
    const last = fin && rest === 0
    if (this.#compressed) {
      this.#sink.onCompressed(bytes, start, end, last)
    } else if (last) {
      this.#finish(bytes, start, end)
    } else {
      const failure = this.#collector.add(bytes, start, end, rest, fin)
      if (failure !== null) this.#fail(failure)
    }
  }

  onPing(payload: Buffer): void {
    this.#sink.onPing(payload)
  }

  onPong(payload: Buffer): void {
    this.#sink.onPong(payload)
  }

  onClose(code: number, reason: string): void {
    this.#sink.onClose(code, reason)
  }

  onFailure(failure: WebSocketFailure): void {
    this.#sink.onFailure(failure)
  }

  #finish(bytes: Buffer, start: number, end: number): void {
    const message = this.#collector.finish(bytes, start, end)
    if (typeof message === 'string' || Buffer.isBuffer(message)) this.#sink.onMessage(message)
    else this.#fail(message)
  }

  #fail(failure: WebSocketFailure): void {
    this.#parser.stop()
    this.#sink.onFailure(failure)
  }
}
