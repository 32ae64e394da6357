/**
 * What each frame of the peer leads to (RFC 9113 §6). Owns only what lasts from one frame to the next: the
 * order of frames, the unfinished header block, and the DATA frame under way.
 */
import {
  EMPTY_FRAMES,
  IDLE_WINDOW_UPDATES,
  IGNORED_FRAMES,
  PEER_RESETS,
  PINGS,
  SETTINGS_FRAMES,
} from './abuse-meter.ts'
import {
  ENHANCE_YOUR_CALM,
  errorCodeName,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FLOW_CONTROL_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
} from './constants.ts'
import { FrameOrder } from './frame-order.ts'
import type { FrameHandler } from './frame-reader.ts'
import { HeaderAssembler } from './header-assembler.ts'
import { MAX_DEBUG_DATA } from './limits.ts'
import { headerListSize, ResponseReader } from './response-reader.ts'
import type { Session } from './session.ts'
import type { SettingsEffects } from './settings.ts'
import type { Stream } from './stream.ts'
import { RECV_DATA, RECV_RST, RECV_WINDOW_UPDATE } from './stream-state.ts'

export class Inbound<T> implements FrameHandler, SettingsEffects {
  readonly #session: Session<T>
  readonly #responses: ResponseReader<T>
  readonly #assembler: HeaderAssembler
  readonly #order = new FrameOrder()
  /** The DATA frame under way: its stream (null when its bytes are dropped), its size and its end flag. */
  #dataStream: Stream<T> | null = null
  #dataLength = 0
  #dataEndsStream = false

  constructor(session: Session<T>, maxHeaderSize: number) {
    this.#session = session
    this.#responses = new ResponseReader<T>(session, maxHeaderSize)
    this.#assembler = new HeaderAssembler(headerListSize(maxHeaderSize))
  }

  onFrame(type: number, flags: number, streamId: number): boolean {
    const problem = this.#order.check(type, flags, streamId)
    if (problem === null) return true
    this.#session.fail(PROTOCOL_ERROR, problem)
    return false
  }

  onDataStart(streamId: number, flags: number, length: number, dataLength: number): void {
    const session = this.#session
    this.#dataStream = null
    this.#dataLength = length
    this.#dataEndsStream = (flags & FLAG_END_STREAM) !== 0
    if (!session.receiveWindow.receive(length)) {
      session.fail(FLOW_CONTROL_ERROR, 'DATA beyond the connection window')
      return
    }
    if (dataLength === 0 && !this.#dataEndsStream && !session.spend(EMPTY_FRAMES)) return
    const stream = session.admit(streamId, RECV_DATA)
    if (stream === null) return
    const window = stream.receiveWindow
    if (!window.receive(length)) {
      session.failStream(stream, FLOW_CONTROL_ERROR, 'DATA beyond the stream window', FLOW_CONTROL_ERROR)
      return
    }
    if (!this.#responses.admitContent(stream, dataLength)) return
    this.#dataStream = stream
    this.#announce(stream.id, session.growth.onStreamData(window, session.now, length))
    // The consumer never sees padding, so nobody else would give it back.
    if (length > dataLength) this.#announce(stream.id, window.release(length - dataLength))
  }

  onDataBytes(buf: Buffer, start: number, end: number): void {
    const stream = this.#dataStream
    if (stream === null) return
    // Reset by its owner while the frame was arriving.
    if (stream.isClosed) this.#dataStream = null
    else this.#session.sink.onData(stream, buf, start, end)
  }

  onDataEnd(): void {
    const session = this.#session
    const stream = this.#dataStream
    this.#dataStream = null
    // The connection's window is given back as bytes arrive, not as they are consumed: a consumer that stops
    // reading holds back its own stream and no other. What it can make us keep is its stream's window.
    const length = this.#dataLength
    this.#announce(0, session.growth.onConnectionData(session.receiveWindow, session.now, length))
    this.#announce(0, session.receiveWindow.release(length))
    if (this.#dataEndsStream && stream !== null && !stream.isClosed) this.#responses.onEnd(stream)
  }

  onHeaders(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    const endStream = (flags & FLAG_END_STREAM) !== 0
    if ((flags & FLAG_END_HEADERS) !== 0) {
      this.#responses.onBlock(streamId, endStream, buf, start, end)
      return
    }
    if (start === end && !this.#session.spend(EMPTY_FRAMES)) return
    this.#assembler.begin(endStream, buf, start, end)
  }

  onContinuation(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    const isLast = (flags & FLAG_END_HEADERS) !== 0
    if (start === end && !isLast && !this.#session.spend(EMPTY_FRAMES)) return
    const problem = this.#assembler.add(buf, start, end)
    if (problem !== null) {
      this.#session.fail(ENHANCE_YOUR_CALM, problem)
      return
    }
    if (!isLast) return
    const block = this.#assembler.finish()
    this.#responses.onBlock(streamId, this.#assembler.endStream, block, 0, block.length)
  }

  onRstStream(streamId: number, code: number): void {
    const session = this.#session
    const stream = session.admit(streamId, RECV_RST)
    if (stream === null) return
    session.retire(stream)
    const message = `stream reset by the server with ${errorCodeName(code)}`
    session.settle(stream, { scope: 'stream', blame: 'peer', code, message }, code === REFUSED_STREAM)
    session.spend(PEER_RESETS)
  }

  onSettings(buf: Buffer, start: number, end: number): void {
    const session = this.#session
    if (!session.spend(SETTINGS_FRAMES)) return
    const fault = session.remote.apply(buf, start, end, this)
    if (fault !== null) {
      session.fail(fault.wireCode, fault.message, fault.code)
      return
    }
    session.writer.settingsAck()
    session.checkControlQueue()
    if (!session.isClosed) session.sink.onSettings(session.remote)
  }

  onSettingsAck(): void {
    if (!this.#session.local.onAck())
      this.#session.fail(PROTOCOL_ERROR, 'SETTINGS acknowledged that were not sent')
  }

  onPushPromise(): void {
    this.#session.fail(PROTOCOL_ERROR, 'PUSH_PROMISE although push is disabled')
  }

  onPing(ack: boolean, buf: Buffer, start: number): void {
    const session = this.#session
    if (!session.spend(PINGS)) return
    if (ack) {
      session.cancels.onPingAnswered(session.streams.nextId)
      session.sink.onPong(Uint8Array.prototype.slice.call(buf, start, start + 8))
      return
    }
    session.writer.ping(true, buf, start)
    session.checkControlQueue()
  }

  onGoaway(lastStreamId: number, code: number, buf: Buffer, start: number, end: number): void {
    if (!this.#session.spend(SETTINGS_FRAMES)) return
    const debug = Uint8Array.prototype.slice.call(buf, start, Math.min(end, start + MAX_DEBUG_DATA))
    this.#session.onGoaway(lastStreamId, code, debug)
  }

  onWindowUpdate(streamId: number, increment: number): void {
    const session = this.#session
    if (!session.spend(IDLE_WINDOW_UPDATES)) return
    if (streamId === 0) {
      if (!session.scheduler.window.add(increment)) {
        session.fail(FLOW_CONTROL_ERROR, 'connection window above 2^31-1')
        return
      }
      session.scheduler.onConnectionWindow()
      return
    }
    const stream = session.admit(streamId, RECV_WINDOW_UPDATE)
    if (stream === null) return
    if (stream.sendWindow.add(increment)) {
      session.scheduler.consider(stream)
      return
    }
    session.failStream(stream, FLOW_CONTROL_ERROR, 'stream window above 2^31-1', FLOW_CONTROL_ERROR)
  }

  onIgnored(): void {
    this.#session.spend(IGNORED_FRAMES)
  }

  onStreamFault(streamId: number, code: number, message: string): void {
    const session = this.#session
    // On an idle stream there is nothing to reset: RST_STREAM would itself be an error (§6.4).
    if (session.streams.isIdle(streamId)) {
      session.fail(code, message)
      return
    }
    session.failById(streamId, code, message)
  }

  onConnectionFault(code: number, message: string): void {
    this.#session.fail(code, message)
  }

  setHeaderTableSize(size: number): void {
    this.#session.encoder.setMaxTableSize(size)
  }

  shiftSendWindows(delta: number): boolean {
    const scheduler = this.#session.scheduler
    let withinBounds = true
    this.#session.streams.forEach((stream) => {
      if (stream.sendWindow.add(delta)) scheduler.consider(stream)
      else withinBounds = false
    })
    return withinBounds
  }

  #announce(streamId: number, increment: number): void {
    if (increment > 0) this.#session.writer.windowUpdate(streamId, increment)
  }
}
