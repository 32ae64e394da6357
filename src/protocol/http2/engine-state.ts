/**
 * The parts of the engine that all others use, and how streams and the connection end (RFC 9113 §5.4, §6.8):
 * the stream's state first, then the frame, then the set, callbacks last.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import type { ProtocolFailure } from '../failure.ts'
import { HpackEncoder } from '../hpack/encoder.ts'
import { type AbuseLimits, AbuseMeter, type Budget } from './abuse-meter.ts'
import { CancelLedger } from './cancel-ledger.ts'
import type { ConnectionSink } from './connection-sink.ts'
import {
  DEFAULT_WINDOW,
  ENHANCE_YOUR_CALM,
  errorCodeName,
  MAX_STREAM_ID,
  MAX_WINDOW,
  NO_ERROR,
  PROTOCOL_ERROR,
  STREAM_CLOSED,
} from './constants.ts'
import { ReceiveWindow } from './flow-window.ts'
import { FrameWriter } from './frame-writer.ts'
import { MAX_CONTROL_BYTES_QUEUED } from './limits.ts'
import { SendScheduler } from './send-scheduler.ts'
import { PeerSettings } from './settings.ts'
import type { Stream } from './stream.ts'
import { StreamSet } from './stream-set.ts'
import {
  CONNECTION_FAULT_CLOSED,
  IGNORED,
  isState,
  RECV_DATA,
  RESET_BY_US,
  STREAM_FAULT_CLOSED,
  type StreamInput,
} from './stream-state.ts'
import { type GrowthOptions, WindowGrowth } from './window-growth.ts'

export interface EngineOptions {
  /** Receive window of a stream at its start. */
  readonly initialWindowSize: number
  /** Receive window of the connection at its start. */
  readonly connectionWindowSize: number
  /**
   * Concurrent streams until the server sets a limit; also sent as the limit for pushes, which are disabled.
   */
  readonly maxConcurrentStreams: number
  /**
   * No more than these before the server's first SETTINGS: what is known of its limit from other connections.
   */
  readonly maxEarlyStreams?: number
  /** Bytes of names and values of one head or trailers; reaching it is too much already. */
  readonly maxHeaderSize: number
  /** Ceilings for frames that make no progress. */
  readonly abuse?: AbuseLimits
  /** How far receive windows may grow. */
  readonly growth?: GrowthOptions
}

/** `draining`: a GOAWAY came or went; no new streams, those that are open may finish. */
type Life = 'open' | 'draining' | 'closed'

/** Below the first id of a client. */
const NOTHING_TAKEN = 0

/** Many fields, because it is where the parts of the engine find each other. */
export class EngineState {
  readonly sink: ConnectionSink
  readonly initialWindowSize: number
  readonly meter: AbuseMeter
  readonly writer: FrameWriter = new FrameWriter()
  readonly encoder: HpackEncoder = new HpackEncoder()
  readonly remoteSettings: PeerSettings = new PeerSettings()
  /** The server has acknowledged our SETTINGS (§6.5.3); how long to wait is up to the owner. */
  areSettingsAcknowledged = false
  readonly streams: StreamSet = new StreamSet()
  readonly cancels: CancelLedger = new CancelLedger()
  readonly scheduler: SendScheduler
  readonly growth: WindowGrowth
  readonly receiveWindow: ReceiveWindow
  /** The time of the present read, from the owner. */
  now = 0
  /** The highest stream id whose HEADERS have been handed to the transport. */
  takenUpTo: number = NOTHING_TAKEN
  #life: Life = 'open'
  #lastStreamId = MAX_STREAM_ID

  constructor(sink: ConnectionSink, options: EngineOptions) {
    this.sink = sink
    this.initialWindowSize = Math.min(options.initialWindowSize, MAX_WINDOW)
    this.meter = new AbuseMeter(options.abuse ?? {})
    this.scheduler = new SendScheduler(this.writer, this.encoder, this.remoteSettings, this.meter)
    this.growth = new WindowGrowth(this.initialWindowSize, options.growth ?? {})
    const connectionWindowSize = Math.min(options.connectionWindowSize, MAX_WINDOW)
    this.receiveWindow = new ReceiveWindow(connectionWindowSize, DEFAULT_WINDOW)
  }

  /** Nothing more is read, and only what `takeOutput` still returns is written. */
  get isClosed(): boolean {
    return this.#life === 'closed'
  }

  /** False for good once a GOAWAY came or went, the connection failed, or the ids are used up. */
  get canOpen(): boolean {
    return this.#life === 'open' && this.streams.hasIdsLeft
  }

  /**
   * Advances a stream by a frame of the peer. Null when the frame is not for a live stream or not allowed:
   * then it has been dealt with here.
   */
  admit(streamId: number, input: StreamInput): Stream | null {
    const stream = this.streams.get(streamId)
    const outcome = stream === undefined ? this.streams.advanceAbsent(streamId, input) : stream.advance(input)
    if (stream !== undefined && isState(outcome)) {
      this.cancels.onFrame(streamId, this.streams.nextId)
      return stream
    }
    // Late DATA costs the peer as much as us, and one cancelled download may leave thousands under way.
    if (outcome === IGNORED) {
      if (input !== RECV_DATA) this.spend('lateFrames')
    } else if (outcome === STREAM_FAULT_CLOSED)
      this.failById(streamId, STREAM_CLOSED, 'frame on a closed stream')
    else if (outcome === CONNECTION_FAULT_CLOSED) this.fail(STREAM_CLOSED, 'frame on a stream that has ended')
    else this.fail(PROTOCOL_ERROR, `frame on stream ${streamId}, which is not open`)
    return null
  }

  /** Counts against a budget; false when that has ended the connection. */
  spend(budget: Budget): boolean {
    if (this.meter.spend(budget)) return true
    this.fail(ENHANCE_YOUR_CALM, this.meter.describe(budget))
    return false
  }

  /** To be called after answering a control frame: a peer that does not read must not fill our memory. */
  checkControlQueue(): void {
    if (this.writer.controlBytes > MAX_CONTROL_BYTES_QUEUED) {
      this.fail(ENHANCE_YOUR_CALM, `more than ${MAX_CONTROL_BYTES_QUEUED} bytes of control frames to answer`)
    }
  }

  /** A stream error (§5.4.2) on a stream that may be closed already, but not idle. */
  failById(streamId: number, wireCode: number, message: string): void {
    const stream = this.streams.get(streamId)
    if (stream !== undefined) {
      this.failStream(stream, wireCode, message, wireCode)
      return
    }
    if (!this.spend('provokedResets')) return
    this.writer.rstStream(streamId, wireCode)
    this.streams.advanceAbsent(streamId, RESET_BY_US)
    this.checkControlQueue()
  }

  /** A stream error that we found: the owner gets `code`, which may be more precise. */
  failStream(stream: Stream, wireCode: number, message: string, code: number | string): void {
    if (!this.spend('provokedResets')) return
    stream.advance(RESET_BY_US)
    this.writer.rstStream(stream.id, wireCode)
    this.remove(stream)
    this.reportReset(stream, { scope: 'stream', blame: 'peer', code, message }, false)
    this.checkControlQueue()
  }

  /** A connection error (§5.4.1). */
  fail(wireCode: number, message: string, code: number | string = wireCode): void {
    if (this.#life === 'closed') return
    // Requests whose HEADERS are still here will be sent elsewhere, so these must not leave.
    const isHoldingBack = this.streams.nextId - 2 > this.takenUpTo
    if (isHoldingBack) this.writer.take()
    // The preface may be among them, and without it no frame can be sent.
    if (!isHoldingBack || this.takenUpTo !== NOTHING_TAKEN) {
      this.writer.goaway(0, wireCode, Buffer.from(message, 'latin1'))
    }
    const failure: ProtocolFailure = { scope: 'connection', blame: 'peer', code, message }
    this.terminate(failure)
    this.sink.onFailure(failure)
  }

  /**
   * The transport is gone, or must go: every open stream is reset with this failure. The engine cannot be
   * used afterwards.
   */
  terminate(failure: ProtocolFailure): void {
    if (this.#life === 'closed') return
    this.#life = 'closed'
    const streams = this.streams.all()
    this.#abandon(streams)
    for (const stream of streams) this.reportReset(stream, failure, stream.id > this.takenUpTo)
  }

  /** The peer's GOAWAY (§6.8); the first of two may promise more than the second keeps, never less. */
  onGoaway(lastStreamId: number, code: number, debug: Uint8Array): void {
    if (lastStreamId > this.#lastStreamId) {
      this.fail(PROTOCOL_ERROR, 'GOAWAY with a rising last stream id')
      return
    }
    this.#life = 'draining'
    this.#lastStreamId = lastStreamId
    const refused = this.streams.all().filter((stream) => stream.id > lastStreamId)
    this.#abandon(refused)
    this.sink.onGoaway(lastStreamId, code, debug)
    const message = `GOAWAY with ${errorCodeName(code)}`
    for (const stream of refused) {
      this.reportReset(stream, { scope: 'connection', blame: 'peer', code, message }, true)
    }
  }

  /** Sends GOAWAY with NO_ERROR and opens no more streams. Those that are open may finish. */
  shutdown(): void {
    if (this.#life === 'closed') return
    this.#life = 'draining'
    this.writer.goaway(0, NO_ERROR, NO_BYTES)
  }

  /** Removes a stream, closed by its state, from everything. */
  remove(stream: Stream): void {
    this.streams.remove(stream)
    this.scheduler.forget(stream)
    stream.queue.clear()
    this.growth.onStreamClosed(stream.receiveWindow)
  }

  /**
   * Reports a stream that was removed before its response was complete. Once part of a response has come, the
   * server has acted on the request, even if a GOAWAY or a code claims otherwise.
   */
  reportReset(stream: Stream, failure: ProtocolFailure, unprocessed: boolean): void {
    if (!stream.isSettled) {
      stream.isSettled = true
      const isUnanswered = stream.phase === 'head' && stream.interimHeads === 0
      stream.sink.onReset(failure, unprocessed && isUnanswered)
    }
    stream.sink.onClosed(failure)
  }

  /**
   * Closes streams without a frame; all of them before the first is reported, so that callbacks find them
   * closed.
   */
  #abandon(streams: readonly Stream[]): void {
    for (const stream of streams) {
      stream.advance(RESET_BY_US)
      this.remove(stream)
    }
  }
}
