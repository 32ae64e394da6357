/**
 * A connected byte stream as connections see it: bytes in through the sink, batched writes out.
 */
import type { Duplex } from 'node:stream'
import type { SocketInfo } from '../errors.ts'

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
   * One of these, or the socket, threw: the sink destroys the transport. Without it the transport does so
   * itself.
   */
  onBroken?(error: Error): void
  /** The last call. `error` is the socket's, null for an orderly close. */
  onTransportClosed(error: Error | null): void
}

export interface Transport {
  /** For diagnostics and hand-over only. */
  readonly socket: Duplex
  /** More bytes wait than the socket's high-water mark. */
  readonly congested: boolean
  attach(sink: TransportSink): void
  /** Leaves together with the other writes of this tick. Strings are latin1. */
  write(data: string): void
  /** The same with several pieces. Their memory may be reused as soon as this returns. */
  writeAll(pieces: readonly (string | Uint8Array)[]): void
  /** Goes to the socket now, after earlier writes. Strings are latin1. */
  writeNow(data: string | Uint8Array): void
  /** The same with several pieces. Their memory must not change until it is sent. */
  writeAllNow(pieces: readonly (string | Uint8Array)[]): void
  pauseReading(): void
  resumeReading(): void
  /** An unreferenced transport does not keep the process alive. */
  setReferenced(on: boolean): void
  setTypeOfService(value: number): void
  info(): SocketInfo
  /** Hands the socket over with the bytes that were read too far; the sink gets no further calls. */
  detach(unread: Uint8Array): Duplex
  destroy(error: Error | null): void
  /**
   * The same to the sink, but the socket is destroyed once all writes have left, so that the peer gets them,
   * or soon after: a peer may not read.
   */
  end(error: Error | null): void
}
