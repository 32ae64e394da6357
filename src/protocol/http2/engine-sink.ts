/** The callbacks of the engine. `T` is the owner's per-stream slot. */
import type { ProtocolFailure } from '../failure.ts'
import type { HeaderBlock } from '../header-block.ts'
import type { RemoteSettings } from './settings.ts'
import type { Stream } from './stream.ts'

/**
 * Callbacks of a `ClientEngine`. Each may call straight back into the engine.
 *
 * For every stream exactly one of `onEnd` and `onReset` comes, unless the owner gave it up with `reset`, and
 * in any case exactly one `onClosed`, last.
 */
export interface EngineSink<T> {
  /** A 1xx head. */
  onInformational(stream: Stream<T>, status: number, head: HeaderBlock): void
  /** The final head; with `endStream`, `onEnd` follows at once. */
  onHead(stream: Stream<T>, status: number, head: HeaderBlock, endStream: boolean): void
  /** buf[start, end) is borrowed: copy or consume it now, and `release` its bytes when they are consumed. */
  onData(stream: Stream<T>, buf: Buffer, start: number, end: number): void
  /** The response is complete. The request may still be under way. */
  onEnd(stream: Stream<T>, trailers: HeaderBlock | null): void
  /**
   * The response will not be completed. `unprocessed`: provably nothing of the request was acted on, so that
   * any request may be sent again.
   */
  onReset(stream: Stream<T>, failure: ProtocolFailure, unprocessed: boolean): void
  /** The stream was held back by `send` and may be given more now. */
  onWritable(stream: Stream<T>): void
  /** The memory of body bytes that were queued has been given away: the owner must `reset` the stream. */
  onSpoiled(stream: Stream<T>): void
  /**
   * Both directions are done; the stream no longer counts. What was not sent by now never will be. `failure`:
   * why, if that was not our doing and the two ends have not come.
   */
  onClosed(stream: Stream<T>, failure: ProtocolFailure | null): void
  /** After each SETTINGS frame of the server. */
  onSettings(remote: RemoteSettings): void
  /** No new streams from here on. Streams above `lastStreamId` are reset as unprocessed right after. */
  onGoaway(lastStreamId: number, code: number, debug: Uint8Array): void
  /** A PING of ours came back; the eight bytes are a copy. */
  onPong(opaque: Uint8Array): void
  /** A connection error: GOAWAY is queued as the last output, and every stream has been reported. */
  onFailure(failure: ProtocolFailure): void
}
