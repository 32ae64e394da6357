/** The connection, as its parts see it. */
import type { EndReason } from '../../request/end-reason.ts'

export interface Http2Host {
  readonly isOver: boolean
  /** Requests that had to wait may be sent. */
  onRoom(): void
  sendPing(opaque: Uint8Array): void
  /** A round trip was measured. */
  onRoundTrip(milliseconds: number): void
  onPingAnswered(milliseconds: number): void
  /** Before output is fetched: the last chance to add a frame. */
  onFlush(): void
  /** What was due has left. */
  onFlushed(): void
  close(reason: EndReason): void
  onBroken(error: Error): void
}
