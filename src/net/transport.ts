/**
 * A connected byte stream as connections see it: bytes in through the sink, batched writes out.
 */
import type { Duplex } from 'node:stream'
import type { SocketInfo } from '../errors.ts'

export interface TransportSink {
  /** Bytes from the peer. The buffer belongs to the sink from now on. */
  onBytes(bytes: Buffer): void
  /** What was written has left; `congested` is false again. */
  onDrain(): void
  /** The peer will send nothing more. */
  onEof(): void
  /** One of these, or the socket, threw: the transport is to be destroyed. Without it the transport does so itself. */
  onBroken?(error: Error): void
  /** The last call. `error` is what the socket failed with, null for an orderly close. */
  onTransportClosed(error: Error | null): void
}

export interface Transport {
  /** For diagnostics and hand-over only. */
  readonly socket: Duplex
  /** More is waiting to leave than the socket likes to hold. */
  readonly congested: boolean
  attach(sink: TransportSink): void
  /** Joins what else is written in this tick. Strings are latin1. */
  write(data: string): void
  /** The same with several pieces. Bytes are done with when this returns: their owner may use the memory again. */
  writeAll(pieces: readonly (string | Uint8Array)[]): void
  /** Gives this to the socket now, behind what was written before. Strings are latin1. */
  writeNow(data: string | Uint8Array): void
  /** The same with several pieces. Their memory is to be left alone until it is sent. */
  writeAllNow(pieces: readonly (string | Uint8Array)[]): void
  pauseReading(): void
  resumeReading(): void
  /** An unreferenced transport does not keep the process alive. */
  setReferenced(on: boolean): void
  setTypeOfService(value: number): void
  info(): SocketInfo
  /** Hands the socket over with the bytes that were read too far; the sink hears nothing more. */
  detach(unread: Uint8Array): Duplex
  destroy(error: Error | null): void
  /**
   * The same to the sink; the socket is destroyed once what was written has left, so that the peer hears it. Not for
   * long: a peer may not read.
   */
  end(error: Error | null): void
}
