/** The callbacks of the engine about one stream. */
import type { ProtocolFailure } from '../failure.ts'
import type { HeaderBlock } from '../header-block.ts'

/**
 * Given to `ClientEngine.open`. Each callback may call straight back into the engine.
 *
 * For every stream exactly one of `onEnd` and `onReset` comes, unless the owner gave it up with `reset`, and
 * in any case exactly one `onClosed`, last.
 */
export interface StreamSink {
  /** A 1xx head. */
  onInformational(status: number, head: HeaderBlock): void
  /** The final head; with `endStream`, `onEnd` follows at once. */
  onHead(status: number, head: HeaderBlock, endStream: boolean): void
  /** buf[start, end) is borrowed: copy or consume it now, and `release` its bytes when they are consumed. */
  onData(buf: Buffer, start: number, end: number): void
  /** The response is complete. The request may still be under way. */
  onEnd(trailers: HeaderBlock | null): void
  /**
   * The response will not be completed. `unprocessed`: provably nothing of the request was acted on, so that
   * any request may be sent again.
   */
  onReset(failure: ProtocolFailure, unprocessed: boolean): void
  /** The stream was held back by `send` and may be given more now. */
  onWritable(): void
  /** The memory of body bytes that were queued has been given away: the owner must `reset` the stream. */
  onSpoiled(): void
  /**
   * Both directions are done; the stream no longer counts. What was not sent by now never will be. `failure`:
   * why, if that was not our doing and the two ends have not come.
   */
  onClosed(failure: ProtocolFailure | null): void
}
