/**
 * The callbacks of the engine about the connection as a whole. Each may call straight back into the engine.
 */
import type { ProtocolFailure } from '../failure.ts'
import type { RemoteSettings } from './settings.ts'

export interface ConnectionSink {
  /** After each SETTINGS frame of the server. */
  onSettings(remote: RemoteSettings): void
  /** No new streams from here on. Streams above `lastStreamId` are reset as unprocessed right after. */
  onGoaway(lastStreamId: number, code: number, debug: Uint8Array): void
  /** A PING of ours came back; the eight bytes are a copy. */
  onPong(opaque: Uint8Array): void
  /** A connection error: GOAWAY is queued as the last output, and every stream has been reported. */
  onFailure(failure: ProtocolFailure): void
}
