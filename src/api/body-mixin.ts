/** What the body of a response can do beside being a stream. */
import type { Blob } from 'node:buffer'
import type { ReadableStream } from 'node:stream/web'

/** The ways to have a body all at once. */
export interface BodyMixin {
  /** True once data was read or collected. */
  readonly bodyUsed: boolean
  /** The body as a web stream. */
  readonly body: ReadableStream<Uint8Array>
  /** The whole body as text. */
  text(): Promise<string>
  /** The whole body, parsed. */
  json(): Promise<unknown>
  /** The whole body in memory of its own. */
  bytes(): Promise<Uint8Array>
  /** The whole body in memory of its own. */
  arrayBuffer(): Promise<ArrayBuffer>
  /** The whole body as a Blob with the response's content type. */
  blob(): Promise<Blob>
  /** Not supported; rejects. */
  formData(): Promise<never>
}

/** Options of `dump()`. */
export interface DumpOptions {
  /** Bytes to read at most; with more, the body is destroyed. Default: 131072. */
  limit?: number | undefined
  /** Ends the wait, and rejects with its reason. */
  signal?: AbortSignal | null | undefined
}
