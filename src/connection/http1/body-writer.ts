/**
 * Writes one streamed request body over HTTP/1.1. The head waits for the first piece: only then is it known
 * whether there is a body at all, and how it is framed.
 */
import { CHUNK_SUFFIX, chunkPrefix, LAST_CHUNK, lastChunkWith } from '../../protocol/http1/body-encoder.ts'
import { CHUNKED_TAIL, contentLengthTail, NO_BODY_TAIL } from '../../protocol/http1/request-encoder.ts'
import { expectsPayload } from '../../request/body-length.ts'
import type { Request } from '../../request/request.ts'
import { BodyWriter } from '../body-writer.ts'
import type { ConnectionSettings } from '../connection.ts'

/** The connection, as far as a body writer needs it. */
export interface BodyWriterHost {
  readonly congested: boolean
  /** The head without its framing line. */
  writeHead(request: Request, head: string, tail: string): void
  /** Pieces that belong together. Bytes are done with when this returns: their owner may use the memory again. */
  writeBody(pieces: readonly (string | Uint8Array)[]): void
  /** The body turns out to have something in it, which is about to be written. */
  onBodyBegins(request: Request): void
  /** The body is out. */
  onBodyWritten(request: Request): void
  /** The body is not what its length says: the request cannot be completed. */
  onBodyBroken(request: Request, error: Error): void
}

export class Http1BodyWriter extends BodyWriter {
  readonly #host: BodyWriterHost
  readonly #head: string
  readonly #chunked: boolean

  constructor(
    request: Request,
    host: BodyWriterHost,
    head: string,
    length: number | null,
    settings: ConnectionSettings,
  ) {
    super(request, length, settings)
    this.#host = host
    this.#head = head
    // Trailers can only follow the last chunk.
    this.#chunked = length === null || request.trailers !== null
  }

  protected override write(bytes: Uint8Array): boolean {
    const host = this.#host
    if (this.written === 0) {
      host.onBodyBegins(this.request)
      this.#writeHead(this.#chunked ? CHUNKED_TAIL : contentLengthTail(this.length!))
    }
    host.writeBody(this.#chunked ? [chunkPrefix(bytes.byteLength), bytes, CHUNK_SUFFIX] : [bytes])
    return !host.congested
  }

  protected override writeEnd(): void {
    if (this.written === 0) {
      this.#writeHead(expectsPayload(this.request.method) ? contentLengthTail(0) : NO_BODY_TAIL)
    } else if (this.#chunked) {
      this.#host.writeBody([LAST_CHUNK])
    }
    this.#host.onBodyWritten(this.request)
  }

  protected override onTrailersAwaited(): void {
    if (this.written === 0) this.#writeHead(CHUNKED_TAIL)
  }

  protected override writeTrailers(fields: readonly string[]): void {
    this.#host.writeBody([lastChunkWith(fields)])
    this.#host.onBodyWritten(this.request)
  }

  protected override onBroken(error: Error): void {
    this.#host.onBodyBroken(this.request, error)
  }

  #writeHead(tail: string): void {
    this.#host.writeHead(this.request, this.#head, tail)
  }
}
