/**
 * Bytes of a server → messages and control frames, or one failure. Compressed payloads leave on one side and
 * come back inflated on the other: inflating takes time, and this folder has none. The owner pauses the
 * receiver meanwhile.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { INFLATE_FAILED, INVALID_WINDOW_BITS } from './failures.ts'
import { type ControlSink, FrameParser } from './frame-parser.ts'
import type { WebSocketLimits } from './limits.ts'
import { type MessageBytes, MessageCollector } from './message-collector.ts'

export interface ReceiverSink extends ControlSink {
  /** A string for a text message. */
  onMessage(data: string | MessageBytes): void
  /**
   * A piece of a compressed message, borrowed; `last`: it ends here. To be answered with `inflated()` for
   * what it inflates to, and `inflatedEnd()` after the last.
   */
  onCompressed(bytes: Buffer, start: number, end: number, last: boolean): void
}

/** `invalid`: it was agreed on with parameters that no inflater can be made from. */
export type Compression = 'none' | 'deflate' | 'invalid'

export class Receiver extends FrameParser {
  readonly #sink: ReceiverSink
  readonly #collector: MessageCollector
  readonly #compression: Compression
  #compressed = false

  constructor(sink: ReceiverSink, limits: WebSocketLimits, compression: Compression) {
    super(sink, limits, compression !== 'none')
    this.#sink = sink
    this.#collector = new MessageCollector(limits.maxPayloadSize)
    this.#compression = compression
  }

  /** False when that was too much, or wrong; the failure has been reported. */
  inflated(bytes: Buffer): boolean {
    if (this.status === 'ended') return false
    const failure = this.#collector.add(bytes, 0, bytes.length, 0, false)
    if (failure !== null) this.fail(failure)
    return failure === null
  }

  inflatedEnd(): void {
    if (this.status !== 'ended') this.#finish(NO_BYTES, 0, 0)
  }

  inflateFailed(): void {
    if (this.status !== 'ended') this.fail(INFLATE_FAILED)
  }

  protected override onMessageStart(text: boolean, compressed: boolean): void {
    this.#compressed = compressed
    this.#collector.start(text)
    if (compressed && this.#compression === 'invalid') this.fail(INVALID_WINDOW_BITS)
  }

  protected override onPayload(bytes: Buffer, start: number, end: number, rest: number, fin: boolean): void {
    const last = fin && rest === 0
    if (this.#compressed) {
      this.#sink.onCompressed(bytes, start, end, last)
    } else if (last) {
      this.#finish(bytes, start, end)
    } else {
      const failure = this.#collector.add(bytes, start, end, rest, fin)
      if (failure !== null) this.fail(failure)
    }
  }

  #finish(bytes: Buffer, start: number, end: number): void {
    const message = this.#collector.finish(bytes, start, end)
    if (typeof message === 'string' || Buffer.isBuffer(message)) this.#sink.onMessage(message)
    else this.fail(message)
  }
}
