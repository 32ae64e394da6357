/**
 * The effects of each frame of the peer (RFC 9113 §6). Owns only what lasts from one frame to the next: the
 * order of frames, the unfinished header block, and the DATA frame under way.
 */
import {
  ENHANCE_YOUR_CALM,
  errorCodeName,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FLOW_CONTROL_ERROR,
  NO_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
} from './constants.ts'
import type { EngineState } from './engine-state.ts'
import { FrameOrder } from './frame-order.ts'
import type { FrameHandler } from './frame-reader.ts'
import { HeaderAssembler } from './header-assembler.ts'
import { MAX_DEBUG_DATA } from './limits.ts'
import { headerListSize, ResponseReader } from './response-reader.ts'
import type { SettingsEffects } from './settings.ts'
import type { Stream } from './stream.ts'
import { RECV_DATA, RECV_RST, RECV_WINDOW_UPDATE } from './stream-state.ts'

export class FrameEffects implements FrameHandler, SettingsEffects {
  readonly #state: EngineState
  readonly #responses: ResponseReader
  readonly #assembler: HeaderAssembler
  readonly #order = new FrameOrder()
  /** The DATA frame under way: its stream (null when its bytes are dropped), its size and its end flag. */
  #dataStream: Stream | null = null
  #dataLength = 0
  #dataEndsStream = false

  constructor(state: EngineState, maxHeaderSize: number) {
    this.#state = state
    this.#responses = new ResponseReader(state, maxHeaderSize)
    this.#assembler = new HeaderAssembler(headerListSize(maxHeaderSize))
  }

  get isStopped(): boolean {
    return this.#state.isClosed
  }

  onFrame(type: number, flags: number, streamId: number): void {
    const problem = this.#order.check(type, flags, streamId)
    if (problem !== null) this.#state.fail(PROTOCOL_ERROR, problem)
  }

  onDataStart(streamId: number, flags: number, length: number, dataLength: number): void {
    const state = this.#state
    this.#dataStream = null
    this.#dataLength = length
    this.#dataEndsStream = (flags & FLAG_END_STREAM) !== 0
    if (!state.receiveWindow.receive(length)) {
      state.fail(FLOW_CONTROL_ERROR, 'DATA beyond the connection window')
      return
    }
    if (dataLength === 0 && !this.#dataEndsStream && !state.spend('emptyFrames')) return
    const stream = state.admit(streamId, RECV_DATA)
    if (stream === null) return
    const window = stream.receiveWindow
    if (!window.receive(length)) {
      state.failStream(stream, FLOW_CONTROL_ERROR, 'DATA beyond the stream window', FLOW_CONTROL_ERROR)
      return
    }
    if (!this.#responses.admitContent(stream, dataLength)) return
    this.#dataStream = stream
    const increment = state.growth.onStreamData(window, state.now, length)
    this.#announce(stream.id, increment)
    if (increment > 0) this.#announce(0, state.growth.onStreams(state.receiveWindow, state.streams.size))
    // The consumer never sees padding, so it is released here.
    if (length > dataLength) this.#announce(stream.id, window.release(length - dataLength))
  }

  onDataBytes(buf: Buffer, start: number, end: number): void {
    const stream = this.#dataStream
    if (stream === null) return
    // Reset by its owner while the frame was arriving.
    if (stream.isClosed) this.#dataStream = null
    else stream.sink.onData(buf, start, end)
  }

  onDataEnd(): void {
    const state = this.#state
    const stream = this.#dataStream
    this.#dataStream = null
    // The connection's window is given back as bytes arrive, not as they are consumed: a consumer that stops
    // reading holds back its own stream and no other. It can make us hold its stream's window at most.
    const length = this.#dataLength
    this.#announce(0, state.growth.onConnectionData(state.receiveWindow, state.now, length))
    this.#announce(0, state.receiveWindow.release(length))
    if (this.#dataEndsStream && stream !== null && !stream.isClosed) this.#responses.onEnd(stream)
  }

  onHeaders(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    const endStream = (flags & FLAG_END_STREAM) !== 0
    if ((flags & FLAG_END_HEADERS) !== 0) {
      this.#responses.onBlock(streamId, endStream, buf, start, end)
      return
    }
    if (start === end && !this.#state.spend('emptyFrames')) return
    this.#assembler.begin(endStream, buf, start, end)
  }

  onContinuation(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    const isLast = (flags & FLAG_END_HEADERS) !== 0
    if (start === end && !isLast && !this.#state.spend('emptyFrames')) return
    const problem = this.#assembler.add(buf, start, end)
    if (problem !== null) {
      this.#state.fail(ENHANCE_YOUR_CALM, problem)
      return
    }
    if (!isLast) return
    const block = this.#assembler.finish()
    this.#responses.onBlock(streamId, this.#assembler.endStream, block, 0, block.length)
  }

  onRstStream(streamId: number, code: number): void {
    const state = this.#state
    const stream = state.admit(streamId, RECV_RST)
    if (stream === null) return
    state.remove(stream)
    if (code === NO_ERROR) this.#responses.onEndMissing(stream)
    const message = `stream reset by the server with ${errorCodeName(code)}`
    state.reportReset(stream, { scope: 'stream', blame: 'peer', code, message }, code === REFUSED_STREAM)
    state.spend('peerResets')
  }

  onSettings(buf: Buffer, start: number, end: number): void {
    const state = this.#state
    if (!state.spend('settings')) return
    const fault = state.remoteSettings.apply(buf, start, end, this)
    if (fault !== null) {
      state.fail(fault.wireCode, fault.message, fault.code)
      return
    }
    state.writer.settingsAck()
    state.checkControlQueue()
    if (!state.isClosed) state.sink.onSettings(state.remoteSettings)
  }

  onSettingsAck(): void {
    const state = this.#state
    if (state.areSettingsAcknowledged) state.fail(PROTOCOL_ERROR, 'SETTINGS acknowledged that were not sent')
    state.areSettingsAcknowledged = true
  }

  onPushPromise(): void {
    this.#state.fail(PROTOCOL_ERROR, 'PUSH_PROMISE although push is disabled')
  }

  onPing(ack: boolean, buf: Buffer, start: number): void {
    const state = this.#state
    if (!state.spend('pings')) return
    if (ack) {
      state.cancels.onPingAnswered(state.streams.nextId)
      state.sink.onPong(Uint8Array.prototype.slice.call(buf, start, start + 8))
      return
    }
    state.writer.ping(true, buf, start)
    state.checkControlQueue()
  }

  onGoaway(lastStreamId: number, code: number, buf: Buffer, start: number, end: number): void {
    if (!this.#state.spend('settings')) return
    const debug = Uint8Array.prototype.slice.call(buf, start, Math.min(end, start + MAX_DEBUG_DATA))
    this.#state.onGoaway(lastStreamId, code, debug)
  }

  onWindowUpdate(streamId: number, increment: number): void {
    const state = this.#state
    if (!state.spend('idleWindowUpdates')) return
    if (streamId === 0) {
      if (!state.scheduler.widen(increment)) state.fail(FLOW_CONTROL_ERROR, 'connection window above 2^31-1')
      return
    }
    const stream = state.admit(streamId, RECV_WINDOW_UPDATE)
    if (stream === null) return
    if (stream.shiftSendWindow(increment)) state.scheduler.consider(stream)
    else state.failStream(stream, FLOW_CONTROL_ERROR, 'stream window above 2^31-1', FLOW_CONTROL_ERROR)
  }

  onIgnored(): void {
    this.#state.spend('ignoredFrames')
  }

  onStreamFault(streamId: number, code: number, message: string): void {
    const state = this.#state
    // On an idle stream there is nothing to reset: RST_STREAM would itself be an error (§6.4).
    if (state.streams.isIdle(streamId)) {
      state.fail(code, message)
      return
    }
    state.failById(streamId, code, message)
  }

  onConnectionFault(code: number, message: string): void {
    this.#state.fail(code, message)
  }

  setHeaderTableSize(size: number): void {
    this.#state.encoder.setMaxTableSize(size)
  }

  shiftSendWindows(delta: number): boolean {
    const scheduler = this.#state.scheduler
    let withinBounds = true
    for (const stream of this.#state.streams.all()) {
      if (stream.shiftSendWindow(delta)) scheduler.consider(stream)
      else withinBounds = false
    }
    return withinBounds
  }

  #announce(streamId: number, increment: number): void {
    if (increment > 0) this.#state.writer.windowUpdate(streamId, increment)
  }
}
