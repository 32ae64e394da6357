/**
 * The HTTP/2 client protocol without I/O: bytes in, callbacks out, output fetched by the owner (RFC 9113).
 * This is its outside, the calls of the owner. `frame-effects.ts` has the effects of the peer's frames,
 * `engine-state.ts` the ends of streams and of the connection. Input of a peer never makes it throw; a call
 * that breaks the rules throws InternalError.
 */
import { invariant } from '../../base/error/invariant.ts'
import type { ProtocolFailure } from '../failure.ts'
import type { AbuseLimits } from './abuse-meter.ts'
import type { ConnectionSink } from './connection-sink.ts'
import {
  DEFAULT_HEADER_TABLE_SIZE,
  MAX_WINDOW,
  MIN_MAX_FRAME_SIZE,
  SETTINGS_ENABLE_PUSH,
  SETTINGS_HEADER_TABLE_SIZE,
  SETTINGS_INITIAL_WINDOW_SIZE,
  SETTINGS_MAX_CONCURRENT_STREAMS,
  SETTINGS_MAX_HEADER_LIST_SIZE,
} from './constants.ts'
import { EngineState } from './engine-state.ts'
import { FrameEffects } from './frame-effects.ts'
import { FrameReader } from './frame-reader.ts'
import { MAX_SENT_FRAME, SEND_HIGH_WATER } from './limits.ts'
import { headerListSize } from './response-reader.ts'
import type { RemoteSettings } from './settings.ts'
import { Stream } from './stream.ts'
import type { StreamSink } from './stream-sink.ts'
import { RESET_BY_US, SEND_END, SEND_HEADERS } from './stream-state.ts'
import type { GrowthOptions } from './window-growth.ts'

export interface EngineOptions {
  /** Receive window of a stream at its start. */
  readonly initialWindowSize: number
  /** Receive window of the connection at its start. */
  readonly connectionWindowSize: number
  /**
   * Concurrent streams until the server sets a limit; also sent as the limit for pushes, which are disabled.
   */
  readonly maxConcurrentStreams: number
  /** No more than these before the server's first SETTINGS: what is known of its limit from other connections. */
  readonly firstFlight?: number
  /** Bytes of names and values of one head or trailers; reaching it is too much already. */
  readonly maxHeaderSize: number
  /** Ceilings for frames that make no progress. */
  readonly abuse?: AbuseLimits
  /** How far receive windows may grow. */
  readonly growth?: GrowthOptions
}

/** A setting has 32 bits (§6.5.1). */
const MAX_SETTING = 0xffff_ffff

const NO_DEBUG = new Uint8Array(0)

export class ClientEngine {
  readonly #state: EngineState
  readonly #reader: FrameReader
  readonly #initialWindowSize: number
  #maxConcurrentStreams: number
  readonly #firstFlight: number

  /** Queues the connection preface: SETTINGS, and WINDOW_UPDATE for a larger connection window (§3.4). */
  constructor(sink: ConnectionSink, options: EngineOptions) {
    this.#initialWindowSize = Math.min(options.initialWindowSize, MAX_WINDOW)
    this.#maxConcurrentStreams = options.maxConcurrentStreams
    this.#firstFlight = options.firstFlight ?? Number.POSITIVE_INFINITY
    const state = new EngineState(sink, {
      initialWindowSize: this.#initialWindowSize,
      connectionWindowSize: Math.min(options.connectionWindowSize, MAX_WINDOW),
      abuse: options.abuse ?? {},
      growth: options.growth ?? {},
    })
    const reader = new FrameReader(new FrameEffects(state, options.maxHeaderSize), MIN_MAX_FRAME_SIZE)
    state.writer.preface()
    state.writer.settings([
      [SETTINGS_ENABLE_PUSH, 0],
      [SETTINGS_MAX_CONCURRENT_STREAMS, Math.min(options.maxConcurrentStreams, MAX_SETTING)],
      [SETTINGS_INITIAL_WINDOW_SIZE, this.#initialWindowSize],
      [SETTINGS_MAX_HEADER_LIST_SIZE, headerListSize(options.maxHeaderSize)],
      // The default value. Without it nginx puts every field into the table and never refers to one; given
      // any size, it starts with an empty table.
      [SETTINGS_HEADER_TABLE_SIZE, DEFAULT_HEADER_TABLE_SIZE],
    ])
    state.local.onSent()
    const increment = state.receiveWindow.announce()
    if (increment > 0) state.writer.windowUpdate(0, increment)
    this.#state = state
    this.#reader = reader
  }

  /** buf[start, end) from the transport, at time `now` in milliseconds of any steady clock. */
  receive(buf: Buffer, start: number, end: number, now: number): void {
    this.#state.now = now
    this.#state.meter.tick(now)
    this.#reader.receive(buf, start, end)
  }

  /** Opens a stream; there must be one free. `fields` is flat, pseudo fields first (`requestFields`). */
  open(fields: readonly string[], endStream: boolean, sink: StreamSink): Stream {
    const state = this.#state
    invariant(this.freeStreams > 0, 'no stream is free')
    invariant(fields[0] === ':method', 'request fields do not begin with :method')
    const stream = new Stream(
      state.streams.nextId,
      sink,
      fields[1]!,
      endStream,
      state.remote.initialWindowSize,
      this.#initialWindowSize,
    )
    const maxFrame = Math.min(state.remote.maxFrameSize, MAX_SENT_FRAME)
    stream.head = state.writer.headers(stream.id, endStream, state.encoder, fields, maxFrame)
    stream.advance(SEND_HEADERS)
    if (endStream) stream.advance(SEND_END)
    state.streams.add(stream)
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
    this.#state.scheduler.consider(stream)
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
    this.#state.scheduler.consider(stream)
  }

  /** The consumer has taken this many bytes from `onData`. */
  release(stream: Stream, bytes: number): void {
    // After the peer's END_STREAM nothing more can come, so there is nothing to allow.
    if (!stream.mayReceive) return
    const increment = stream.receiveWindow.release(bytes)
    if (increment > 0) this.#state.writer.windowUpdate(stream.id, increment)
  }

  /** Gives a stream up: RST_STREAM if it is not closed yet, and no further callback but `onClosed`. */
  reset(stream: Stream, code: number): void {
    const state = this.#state
    stream.isSettled = true
    if (stream.isClosed) return
    stream.advance(RESET_BY_US)
    state.writer.rstStream(stream.id, code)
    state.cancels.add(state.streams.nextId)
    state.remove(stream)
    stream.sink.onClosed(null)
  }

  /**
   * Sends GOAWAY and opens no more streams. With NO_ERROR those that are open may finish; with any other
   * code they are reset at once.
   */
  shutdown(code: number, debug: Uint8Array = NO_DEBUG): void {
    this.#state.shutdown(code, debug)
  }

  /**
   * The transport is gone: every open stream is reset with this failure. The engine cannot be used
   * afterwards.
   */
  terminate(failure: ProtocolFailure): void {
    this.#state.end(failure)
  }

  /** Eight bytes that come back through `onPong`. */
  ping(opaque: Uint8Array): void {
    invariant(opaque.length === 8, 'PING takes eight bytes')
    if (this.#state.isClosed) return
    this.#state.writer.ping(false, opaque, 0)
    this.#state.cancels.onPingSent(this.#state.streams.nextId)
  }

  /** A measured round trip in milliseconds; windows grow only once there is one. */
  addRoundTrip(milliseconds: number): void {
    this.#state.growth.addRoundTrip(milliseconds)
  }

  /**
   * The next bytes for the transport, or null when there is nothing to send now. Not to be called while the
   * transport is congested: the limits on memory rely on it.
   */
  takeOutput(): Uint8Array[] | null {
    const state = this.#state
    const scheduler = state.scheduler
    scheduler.run()
    const output = state.writer.take()
    state.takenUpTo = state.streams.nextId - 2
    if (scheduler.closed.length > 0) {
      const closed = scheduler.closed
      scheduler.closed = []
      for (const stream of closed) state.remove(stream)
      for (const stream of closed) stream.sink.onClosed(null)
    }
    if (scheduler.spoiled.length > 0) {
      const spoiled = scheduler.spoiled
      scheduler.spoiled = []
      for (const stream of spoiled) {
        if (!stream.isClosed) stream.sink.onSpoiled()
      }
    }
    if (scheduler.writable.length > 0) {
      const writable = scheduler.writable
      scheduler.writable = []
      for (const stream of writable) {
        if (!stream.isClosed) stream.sink.onWritable()
      }
    }
    return output
  }

  /** Whether `takeOutput` would return bytes. */
  get wantsOutput(): boolean {
    return !this.#state.writer.isEmpty || this.#state.scheduler.hasReady
  }

  /** Streams that may be opened right now. */
  get freeStreams(): number {
    const state = this.#state
    if (!state.canOpen) return 0
    const own = this.#maxConcurrentStreams
    const { isReceived, maxConcurrentStreams } = state.remote
    const limit = isReceived ? (maxConcurrentStreams ?? own) : Math.min(own, this.#firstFlight)
    return Math.max(0, limit - state.streams.size - state.cancels.size)
  }

  /** Streams that were reset and still count as open, because the server may not know yet. */
  get cancelledStreams(): number {
    return this.#state.cancels.size
  }

  /** None is open, and only cancelled streams are in the way. */
  get awaitsWord(): boolean {
    return this.openStreams === 0 && this.cancelledStreams > 0
  }

  /** No stream is free, and the answer to a PING would show whether those that were reset still count. */
  get wantsPing(): boolean {
    return this.#state.cancels.wantsPing && this.canOpen && this.freeStreams === 0
  }

  /** Takes effect at once, and counts streams that are open; a limit of the server takes precedence. */
  set maxConcurrentStreams(limit: number) {
    this.#maxConcurrentStreams = limit
  }

  /** The id that the next stream will have. */
  get nextStreamId(): number {
    return this.#state.streams.nextId
  }

  get openStreams(): number {
    return this.#state.streams.size
  }

  /** False for good once a GOAWAY came or went, the connection failed, or the ids are used up. */
  get canOpen(): boolean {
    return this.#state.canOpen
  }

  /** Nothing more is read, and only what `takeOutput` still returns is written. */
  get isClosed(): boolean {
    return this.#state.isClosed
  }

  get remoteSettings(): RemoteSettings {
    return this.#state.remote
  }

  /** Whether the server has acknowledged our SETTINGS (§6.5.3); how long to wait is the owner's business. */
  get areSettingsAcknowledged(): boolean {
    return this.#state.local.unacknowledged === 0
  }
}
