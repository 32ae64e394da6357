/**
 * A connected byte stream as connections see it: bytes in through the sink, batched writes out. It is made
 * over any Duplex: a socket of our own connector, or of a custom `connect` function.
 *
 * It has more than fifteen fields because its listeners are fields: the functions that were added must be
 * removed.
 */

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import type { SocketInfo } from '../errors.ts'
import { reportLate } from './late-write-errors.ts'
import type { SlabInlet } from './slab-inlet.ts'
import { destroyWhenSent, whenClosed } from './socket-close.ts'
import { WriteBatch } from './write-batch.ts'

export interface TransportSink {
  /**
   * Bytes from the peer: the first `length` of `memory`, which is lent for the length of the call. `ownBytes`
   * makes memory to keep of them.
   */
  onBytes(memory: Buffer, length: number): void
  /** All writes have left; `congested` is false again. */
  onDrain(): void
  /** EOF. */
  onEof(): void
  /**
   * It keeps bytes until it goes on reading. An orderly close waits for that: over TLS it is noticed even
   * while nobody reads.
   */
  readonly isHolding?: boolean
  /**
   * One of these, or the socket, threw: the sink destroys the transport. Without it the transport does so
   * itself.
   */
  onBroken?(error: Error): void
  /** The last call. `error` is the socket's, null for an orderly close. */
  onTransportClosed(error: Error | null): void
}

/** Called once, when there is nothing more to do with the socket. */
export type OnGone = (how: 'closed' | 'handed-over') => void

export class StreamTransport {
  /** For diagnostics and hand-over only. */
  readonly socket: Duplex
  /** Delivers the bytes of sockets that were opened with one; others emit `data`. */
  readonly #inlet: SlabInlet | null
  readonly #batch: WriteBatch
  readonly #addresses: SocketInfo
  /** Null once it was called. */
  #onGone: OnGone | null
  #sink: TransportSink | null = null
  /** The socket has emitted `close`. */
  #closed = false
  /** Failed writes are reported when all has been read. */
  #answerFirst = false
  #error: Error | null = null
  #referenced = true
  #typeOfService: number | null = null

  readonly #onData = (bytes: Buffer): void => this.#onBytes(bytes, bytes.length)
  readonly #onBytes = (memory: Buffer, length: number): void => {
    try {
      this.#sink?.onBytes(memory, length)
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }
  /**
   * A mistake of ours, or a caller's Duplex that throws. It ends this connection and the requests on it, not
   * the process.
   */
  readonly #onBroken = (error: Error): void => {
    if (this.#sink?.onBroken === undefined) this.destroy(error)
    else this.#sink.onBroken(error)
  }
  readonly #onDrain = (): void => this.#notify('onDrain')
  readonly #onEnd = (): void => {
    if (this.#inlet?.hasBacklog) this.#inlet.whenDrained(this.#onEnd)
    else this.#notify('onEof')
  }
  readonly #onError = (error: Error): void => {
    this.#error ??= error
    // A TLS socket emits a fatal alert that comes after the handshake (RFC 8446 §6.2: a client certificate
    // that is missing or wrong) and stays open. The end that follows would hide the reason.
    if (!this.socket.destroyed) this.destroy(null)
  }
  readonly #onClose = (): void => {
    this.#closed = true
    this.#onOver()
  }
  readonly #onOver = (): void => {
    if (this.#sink === null) return
    // An orderly end waits until the bytes before it have been delivered.
    if (this.#inlet?.hasBacklog && this.#error === null) this.#inlet.whenDrained(() => this.#endLate())
    else if (this.#error !== null || this.#sink.isHolding !== true) this.#finish()
  }

  /** `onGone` is called with the sink's last call, or later. */
  constructor(socket: Duplex, inlet: SlabInlet | null = null, onGone: OnGone | null = null) {
    this.socket = socket
    this.#onGone = onGone
    this.#inlet = inlet
    this.#batch = new WriteBatch(socket, this.#onBroken)
    // A closed socket has forgotten its address, which errors then report.
    const { localAddress, localPort, remoteAddress, remotePort, remoteFamily } = socket as Partial<Socket>
    this.#addresses = { localAddress, localPort, remoteAddress, remotePort, remoteFamily }
  }

  /** More bytes wait than the socket's high-water mark. */
  get congested(): boolean {
    return this.socket.writableNeedDrain || this.#batch.waiting > this.socket.writableHighWaterMark
  }

  /** All bytes come from polls of the event loop, and none from other code of this process. */
  get isPolled(): boolean {
    return this.#inlet !== null
  }

  attach(sink: TransportSink): void {
    this.#sink = sink
    try {
      this.#listen()
    } catch (error) {
      // It is not a socket. The sink gets no calls.
      this.#sink = null
      this.#unlisten()
      throw error
    }
    // The end may have come already: its events are past, but it counts only after the backlog.
    if (!this.#inlet?.hasBacklog) return
    if (this.socket.closed) this.#onClose()
    else if (this.socket.readableEnded) this.#onEnd()
  }

  /**
   * Leaves together with the other writes of this tick. Strings are latin1; the memory of other pieces may be
   * reused as soon as this returns.
   */
  writeAll(pieces: readonly (string | Uint8Array)[]): void {
    this.#batch.addAll(pieces)
  }

  /** Goes to the socket now, after earlier writes. Strings are latin1. */
  writeNow(data: string | Uint8Array): void {
    this.#batch.put(data)
    this.#batch.flush()
  }

  /** The same with several pieces. Their memory must not change until it is sent. */
  writeAllNow(pieces: readonly (string | Uint8Array)[]): void {
    for (const piece of pieces) this.#batch.put(piece)
    this.#batch.flush()
  }

  /** For a body: if the server answers before it has all of it, and closes, the answer is read. */
  readAnswerFirst(): void {
    if (this.#inlet === null || this.#answerFirst) return
    this.#answerFirst = true
    reportLate(this.socket, () => this.#sink !== null)
  }

  setReading(on: boolean): void {
    if (on && this.#closed) runtimeSetImmediate(this.#onOver)
    try {
      ;(this.#inlet ?? this.socket)[on ? 'resume' : 'pause']()
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }

  /** An unreferenced transport does not keep the process alive. */
  setReferenced(on: boolean): void {
    if (this.#referenced === on) return
    this.#referenced = on
    const socket = this.socket as Partial<Socket>
    try {
      if (on) socket.ref?.()
      else socket.unref?.()
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }

  setTypeOfService(value: number): void {
    const socket = this.socket as { setTypeOfService?: (value: number) => void }
    if (this.#typeOfService === value || typeof socket.setTypeOfService !== 'function') return
    try {
      socket.setTypeOfService(value)
      this.#typeOfService = value
    } catch {
      // Best effort: a system that refuses the mark still carries the request.
    }
  }

  info(): SocketInfo {
    try {
      const { timeout, bytesWritten, bytesRead } = this.socket as Partial<Socket>
      return { ...this.#addresses, timeout, bytesWritten, bytesRead }
    } catch {
      // Errors name what is known; a caller's Duplex must not keep them from being reported.
      return this.#addresses
    }
  }

  /** Hands the socket over with the bytes that were read too far; the sink gets no further calls. */
  detach(unread: Uint8Array): Duplex {
    const { socket } = this
    this.#batch.flush()
    this.setReferenced(true)
    this.#unlisten()
    if (this.#inlet === null) this.#unflow()
    else this.#inlet.release()
    if (unread.byteLength > 0) socket.unshift(unread)
    // Last, because until all of this has succeeded an error must still be noticed.
    socket.off('error', this.#onError)
    this.#sink = null
    this.#leave('handed-over')
    return socket
  }

  destroy(error: Error | null): void {
    this.#error ??= error
    this.#inlet?.close()
    // A stream reads the stack of its error, and formatting that takes longer than all else here. Only we
    // listen to a socket that was opened for us; others may have listeners, which get the error.
    try {
      this.socket.destroy(this.#inlet === null ? (error ?? undefined) : undefined)
    } catch (thrown) {
      this.#error ??= thrown as Error
    }
    // The requests on it do not wait for `close`.
    runtimeSetImmediate(this.#onOver)
  }

  /**
   * The same to the sink, but the socket is destroyed once all writes have left, so that the peer gets them,
   * or soon after: a peer may not read.
   */
  end(error: Error | null): void {
    this.#error ??= error
    this.#inlet?.close()
    destroyWhenSent(this.socket, this.#inlet === null ? error : null)
    runtimeSetImmediate(this.#onOver)
  }

  /**
   * Back to the state of a new stream, which flows with its first `data` listener; a paused one needs a
   * `resume`.
   */
  #unflow(): void {
    const { socket } = this
    if (socket.isPaused()) socket.resume()
    ;(socket as { readableFlowing: boolean | null }).readableFlowing = null
  }

  #listen(): void {
    if (this.#inlet === null) this.socket.on('data', this.#onData)
    else this.#inlet.open(this.#onBytes)
    this.socket
      .on('drain', this.#onDrain)
      .on('end', this.#onEnd)
      .on('error', this.#onError)
      .on('close', this.#onClose)
  }

  /** All but `error`: a closed socket may still emit one, which would be unhandled. */
  #unlisten(): void {
    this.socket
      .off('data', this.#onData)
      .off('drain', this.#onDrain)
      .off('end', this.#onEnd)
      .off('close', this.#onClose)
  }

  #notify(event: 'onDrain' | 'onEof'): void {
    try {
      this.#sink?.[event]()
    } catch (error) {
      this.#onBroken(error as Error)
    }
  }

  #endLate(): void {
    this.#notify('onEof')
    this.#finish()
  }

  #finish(): void {
    this.#inlet?.close()
    const sink = this.#sink
    this.#sink = null
    try {
      this.#unlisten()
    } catch (error) {
      this.#error ??= error as Error
    }
    if (this.#closed) this.#leave('closed')
    else if (this.#onGone !== null) whenClosed(this.socket, () => this.#leave('closed'))
    sink?.onTransportClosed(this.#error)
  }

  #leave(how: 'closed' | 'handed-over'): void {
    const onGone = this.#onGone
    this.#onGone = null
    onGone?.(how)
  }
}

/** What connections need of it. */
export type Transport = Pick<StreamTransport, keyof StreamTransport>
