/** What a response body offers beside the stream interface. */
import type { Blob } from 'node:buffer'
import type { ReadableStream } from 'node:stream/web'

/** The ways to get a whole body. */
export interface BodyMixin {
  /** True once data was read or collected. */
  readonly bodyUsed: boolean
  /** The body as a web stream. */
  readonly body: ReadableStream<Uint8Array>
  /** The whole body as text. */
  text(): Promise<string>
  /** The whole body, parsed; nothing checks that it is a `T`. */
  json<T = unknown>(): Promise<T>
  /** The whole body, in memory that is not shared. */
  bytes(): Promise<Uint8Array>
  /** The whole body, in memory that is not shared. */
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
