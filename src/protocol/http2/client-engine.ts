/**
 * The HTTP/2 client protocol without I/O: bytes in, callbacks out, output fetched by the owner (RFC 9113).
 * This is its outside, the calls of the owner. `frame-effects.ts` has the effects of the peer's frames,
 * `engine-state.ts` the ends of streams and of the connection. Input of a peer never makes it throw; a call
 * that breaks the rules throws InternalError.
 */
import { invariant } from '../../base/error/invariant.ts'
import type { ConnectionSink } from './connection-sink.ts'
import {
  DEFAULT_HEADER_TABLE_SIZE,
  MIN_MAX_FRAME_SIZE,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_HEADER_TABLE_SIZE,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_HEADER_LIST_SIZE,
} from './constants.ts'
import { type EngineOptions, EngineState } from './engine-state.ts'
import { FrameEffects } from './frame-effects.ts'
import { FrameReader } from './frame-reader.ts'
import { MAX_SENT_FRAME, SEND_HIGH_WATER } from './limits.ts'
import { headerListSize } from './response-reader.ts'
import { Stream } from './stream.ts'
import type { StreamSink } from './stream-sink.ts'
import { RESET_BY_US, SEND_END, SEND_HEADERS } from './stream-state.ts'

/** A setting has 32 bits (§6.5.1). */
const MAX_SETTING = 0xffff_ffff

export class ClientEngine extends EngineState {
  readonly #reader: FrameReader
  /** May change at any time, and counts streams that are open; a limit of the server takes precedence. */
  maxConcurrentStreams: number
  readonly #maxEarlyStreams: number

  /** Queues the connection preface: SETTINGS, and WINDOW_UPDATE for a larger connection window (§3.4). */
  constructor(sink: ConnectionSink, options: EngineOptions) {
    super(sink, options)
    this.maxConcurrentStreams = options.maxConcurrentStreams
    this.#maxEarlyStreams = options.maxEarlyStreams ?? Number.POSITIVE_INFINITY
    this.#reader = new FrameReader(new FrameEffects(this, options.maxHeaderSize), MIN_MAX_FRAME_SIZE)
    this.writer.preface()
    this.writer.settings([
      [SETTINGS_ENABLE_PUSH, 0],
      [SETTINGS_MAX_CONCURRENT_STREAMS, Math.min(options.maxConcurrentStreams, MAX_SETTING)],
      [SETTINGS_INITIAL_WINDOW_SIZE, this.initialWindowSize],
      [SETTINGS_MAX_HEADER_LIST_SIZE, headerListSize(options.maxHeaderSize)],
      // The default value. Without it nginx puts every field into the table and never refers to one; given
      // any size, it starts with an empty table.
      [SETTINGS_HEADER_TABLE_SIZE, DEFAULT_HEADER_TABLE_SIZE],
    ])
    const increment = this.receiveWindow.announce()
    if (increment > 0) this.writer.windowUpdate(0, increment)
  }

  /** buf[start, end) from the transport, at time `now` in milliseconds of any steady clock. */
  receive(buf: Buffer, start: number, end: number, now: number): void {
    this.now = now
    this.meter.tick(now)
    this.#reader.receive(buf, start, end)
  }

  /** Opens a stream; there must be one free. `fields` is flat, pseudo fields first (`requestFields`). */
  open(fields: readonly string[], endStream: boolean, sink: StreamSink): Stream {
    invariant(this.freeStreams > 0, 'no stream is free')
    invariant(fields[0] === ':method', 'request fields do not begin with :method')
    const stream = new Stream(
      this.streams.nextId,
      sink,
      fields[1]!,
      endStream,
      this.remoteSettings.initialWindowSize,
      this.initialWindowSize,
    )
    const maxFrame = Math.min(this.remoteSettings.maxFrameSize, MAX_SENT_FRAME)
    stream.head = this.writer.headers(stream.id, endStream, this.encoder, fields, maxFrame)
    stream.advance(SEND_HEADERS)
    if (endStream) stream.advance(SEND_END)
    this.streams.add(stream)
    const increment = this.growth.onStreams(this.receiveWindow, this.streams.size)
    if (increment > 0) this.writer.windowUpdate(0, increment)
    return stream
  }

  /**
   * Queues body bytes, in a view of fixed length; they must not change before they are out. False: wait for
   * `onWritable`, or the stream is closed and the bytes were dropped.
   */
  send(stream: Stream, chunk: Uint8Array, end: boolean): boolean {
    if (stream.isClosed) return false
    invariant(!stream.hasAllToSend, 'send after the end of the body')
    stream.queue.push(chunk)
    stream.hasAllToSend = end
    this.scheduler.consider(stream)
    if (end || stream.queue.bytes <= SEND_HIGH_WATER) return true
    stream.isHeldBack = true
    return false
  }

  /** Ends the body with trailers: flat, lower-case names, no pseudo fields. */
  sendTrailers(stream: Stream, fields: readonly string[]): void {
    if (stream.isClosed) return
    invariant(!stream.hasAllToSend, 'trailers after the end of the body')
    stream.trailers = fields
    stream.hasAllToSend = true
    this.scheduler.consider(stream)
  }

  /** The consumer has taken this many bytes from `onData`. */
  release(stream: Stream, bytes: number): void {
    // After the peer's END_STREAM nothing more can come, so there is nothing to allow.
    if (!stream.mayReceive) return
    const increment = stream.receiveWindow.release(bytes)
    if (increment > 0) this.writer.windowUpdate(stream.id, increment)
  }

  /** Gives a stream up: RST_STREAM if it is not closed yet, and no further callback but `onClosed`. */
  reset(stream: Stream, code: number): void {
    stream.isSettled = true
    if (stream.isClosed) return
    stream.advance(RESET_BY_US)
    this.writer.rstStream(stream.id, code)
    this.cancels.add(this.streams.nextId)
    this.remove(stream)
    stream.sink.onClosed(null)
  }

  /** Eight bytes that come back through `onPong`. */
  ping(opaque: Uint8Array): void {
    invariant(opaque.length === 8, 'PING takes eight bytes')
    if (this.isClosed) return
    this.writer.ping(false, opaque, 0)
    this.cancels.onPingSent(this.streams.nextId)
  }

  /**
   * The next bytes for the transport, or null when there is nothing to send now. Not to be called while the
   * transport is congested: the limits on memory rely on it.
   */
  takeOutput(): Uint8Array[] | null {
    const { scheduler } = this
    scheduler.run()
    const output = this.writer.take()
    this.takenUpTo = this.streams.nextId - 2
    const closed = scheduler.closed.splice(0)
    for (const stream of closed) this.remove(stream)
    for (const stream of closed) stream.sink.onClosed(null)
    for (const stream of scheduler.spoiled.splice(0)) if (!stream.isClosed) stream.sink.onSpoiled()
    for (const stream of scheduler.writable.splice(0)) if (!stream.isClosed) stream.sink.onWritable()
    return output
  }

  /** Whether `takeOutput` would return bytes. */
  get wantsOutput(): boolean {
    return !this.writer.isEmpty || this.scheduler.hasReady
  }

  /** Streams that may be opened right now. */
  get freeStreams(): number {
    if (!this.canOpen) return 0
    return Math.max(0, this.streamLimit - this.streams.size - this.cancels.size)
  }

  /** Streams that there may be at a time. */
  get streamLimit(): number {
    const own = this.maxConcurrentStreams
    const { isReceived, maxConcurrentStreams } = this.remoteSettings
    return isReceived ? (maxConcurrentStreams ?? own) : Math.min(own, this.#maxEarlyStreams)
  }

  /** No stream is open, and only those that were reset take up room. */
  get awaitsProof(): boolean {
    return this.streams.size === 0 && this.cancels.size > 0
  }

  /** No stream is free, and the answer to a PING would show whether those that were reset still count. */
  get wantsPing(): boolean {
    return this.cancels.wantsPing && this.canOpen && this.freeStreams === 0
  }
}
