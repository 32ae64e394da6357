/**
 * Whose turn it is to send (RFC 9113 §5.2): streams take turns frame by frame, as far as their windows and
 * the connection's allow. Owns the connection's send window and the two lists of waiting streams. Control
 * frames are in the writer already when this runs, so they go first. It has no callbacks: the results are
 * collected in `writable`, `spoiled` and `closed`.
 */
import { LinkedList } from '../../base/collection/linked-list.ts'
import type { HpackEncoder } from '../hpack/encoder.ts'
import type { AbuseMeter } from './abuse-meter.ts'
import { DEFAULT_WINDOW, MAX_WINDOW } from './constants.ts'
import type { FrameWriter } from './frame-writer.ts'
import { MAX_DATA_PER_TAKE, MAX_SENT_FRAME, SEND_HIGH_WATER, USEFUL_DATA_BYTES } from './limits.ts'
import type { RemoteSettings } from './settings.ts'
import type { Stream } from './stream.ts'
import { SEND_END, SEND_HEADERS } from './stream-state.ts'

export class SendScheduler {
  readonly #writer: FrameWriter
  readonly #encoder: HpackEncoder
  readonly #remote: RemoteSettings
  readonly #meter: AbuseMeter
  #window = DEFAULT_WINDOW
  readonly #ready = new LinkedList<Stream>()
  /** Streams that could send if the connection's window were open. */
  readonly #waiting = new LinkedList<Stream>()
  /** Streams that were held back and may be given more. */
  readonly writable: Stream[] = []
  /** Streams whose queued bytes are lost: a caller has transferred their memory. */
  readonly spoiled: Stream[] = []
  /** Streams whose END_STREAM was the last thing they waited for. */
  readonly closed: Stream[] = []

  constructor(writer: FrameWriter, encoder: HpackEncoder, remote: RemoteSettings, meter: AbuseMeter) {
    this.#writer = writer
    this.#encoder = encoder
    this.#remote = remote
    this.#meter = meter
  }

  get hasReady(): boolean {
    return this.#ready.size > 0
  }

  /** Something about the stream has changed: more to send, or a wider window. */
  consider(stream: Stream): void {
    if (stream.listedIn !== null || !canSend(stream)) return
    this.#ready.push(stream)
  }

  /** The stream is gone. */
  forget(stream: Stream): void {
    stream.listedIn?.remove(stream)
  }

  /** Widens the connection's window; false when it would pass 2^31-1, which is the peer's error (§6.9.1). */
  widen(increment: number): boolean {
    if (this.#window + increment > MAX_WINDOW) return false
    this.#window += increment
    for (let stream = this.#waiting.shift(); stream !== null; stream = this.#waiting.shift()) {
      this.#ready.push(stream)
    }
    return true
  }

  /** Writes all frames that can be sent now, up to MAX_DATA_PER_TAKE bytes of DATA. */
  run(): void {
    let left = MAX_DATA_PER_TAKE
    while (left > 0) {
      const stream = this.#ready.shift()
      if (stream === null) return
      // Its window may have been lowered since it got into the list.
      if (!canSend(stream)) continue
      if (stream.queue.bytes === 0) {
        this.#sendEnd(stream)
      } else if (this.#window <= 0) {
        this.#waiting.push(stream)
      } else {
        const length = this.#frameLength(stream)
        if (stream.queue.holds(length)) {
          this.#sendData(stream, length)
          left -= length
          this.consider(stream)
        } else {
          this.spoiled.push(stream)
        }
      }
    }
  }

  #frameLength(stream: Stream): number {
    const maxFrame = Math.min(this.#remote.maxFrameSize, MAX_SENT_FRAME)
    return Math.min(stream.queue.bytes, maxFrame, stream.sendWindow, this.#window)
  }

  #sendData(stream: Stream, length: number): void {
    const queued = stream.queue.bytes
    const isLast = length === queued && stream.hasAllToSend && stream.trailers === null
    stream.sendWindow -= length
    this.#window -= length
    this.#writer.dataHeader(stream.id, length, isLast)
    stream.queue.moveTo(this.#writer, length)
    if (length === queued || length >= USEFUL_DATA_BYTES) this.#meter.earnWindowUpdates()
    if (isLast) {
      this.#onEndSent(stream)
    } else if (stream.isHeldBack && stream.queue.bytes * 2 <= SEND_HIGH_WATER) {
      stream.isHeldBack = false
      this.writable.push(stream)
    }
  }

  /**
   * END_STREAM on HEADERS that are still here, on trailers, or on an empty DATA frame: none needs a window
   * (§6.9.1). A body that turns out to be empty before its HEADERS leave needs no further frame.
   */
  #sendEnd(stream: Stream): void {
    if (stream.trailers === null) {
      if (!this.#writer.endAtHead(stream.head)) this.#writer.dataHeader(stream.id, 0, true)
    } else {
      const maxFrame = Math.min(this.#remote.maxFrameSize, MAX_SENT_FRAME)
      this.#writer.headers(stream.id, true, this.#encoder, stream.trailers, maxFrame)
      stream.advance(SEND_HEADERS)
    }
    this.#onEndSent(stream)
  }

  #onEndSent(stream: Stream): void {
    stream.advance(SEND_END)
    if (stream.isClosed) this.closed.push(stream)
  }
}

function canSend(stream: Stream): boolean {
  if (!stream.maySend) return false
  return stream.queue.bytes > 0 ? stream.sendWindow > 0 : stream.hasAllToSend
}
