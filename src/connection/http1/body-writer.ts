/**
 * Writes one streamed request body over HTTP/1.1. The head waits for the first piece: only then is it known
 * whether there is a body at all, and how it is framed.
 */
import { CHUNK_SUFFIX, chunkPrefix, LAST_CHUNK, lastChunkWith } from '../../protocol/http1/body-encoder.ts'
import { CHUNKED_TAIL, contentLengthTail, NO_BODY_TAIL } from '../../protocol/http1/request-encoder.ts'
import { expectsPayload } from '../../request/body-length.ts'
import type { Request } from '../../request/request.ts'
import { BodyPump, type BodyPumpSink, type PumpedSource } from '../body-pump.ts'
import type { ConnectionSettings } from '../connection.ts'
import { LengthAccount } from '../length-account.ts'

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

export class Http1BodyWriter implements BodyPumpSink {
  readonly request: Request
  readonly #host: BodyWriterHost
  readonly #head: string
  readonly #length: number | null
  readonly #account: LengthAccount
  readonly #chunked: boolean
  readonly #pump: BodyPump

  constructor(
    request: Request,
    host: BodyWriterHost,
    head: string,
    length: number | null,
    settings: ConnectionSettings,
  ) {
    this.request = request
    this.#host = host
    this.#head = head
    this.#length = length
    this.#account = new LengthAccount(length, settings.strictContentLength)
    this.#pump = new BodyPump(this, request.requestBodyTimeout ?? settings.requestBodyTimeout)
    // Trailers can only follow the last chunk.
    this.#chunked = length === null || request.trailers !== null
  }

  start(source: PumpedSource): void {
    this.request.onBodyRead()
    this.#pump.start(source)
  }

  resume(): void {
    this.#pump.resume()
  }

  stop(): void {
    this.#pump.stop()
  }

  onChunk(chunk: string | Uint8Array): boolean {
    const host = this.#host
    const isFirst = this.#account.isEmpty
    // A string travels as UTF-8; the transport writes strings as latin1.
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!this.#isRight(this.#account.add(bytes.byteLength))) return false

    if (isFirst) {
      const tail = this.#chunked ? CHUNKED_TAIL : contentLengthTail(this.#length!)
      host.onBodyBegins(this.request)
      host.writeHead(this.request, this.#head, tail)
    }
    host.writeBody(this.#chunked ? [chunkPrefix(bytes.byteLength), bytes, CHUNK_SUFFIX] : [bytes])
    this.request.onBodySent(chunk)
    return !host.congested
  }

  onSourceEnd(): void {
    const host = this.#host
    if (!this.#isRight(this.#account.end())) return
    const { trailers } = this.request
    if (trailers !== null) {
      if (this.#account.isEmpty) host.writeHead(this.request, this.#head, CHUNKED_TAIL)
      this.#pump.gather(trailers, (fields) => this.#endWith(fields))
      return
    }
    if (this.#account.isEmpty) {
      const tail = expectsPayload(this.request.method) ? contentLengthTail(0) : NO_BODY_TAIL
      host.writeHead(this.request, this.#head, tail)
    } else if (this.#chunked) {
      host.writeBody([LAST_CHUNK])
    }
    host.onBodyWritten(this.request)
  }

  #endWith(trailers: readonly string[]): void {
    this.#host.writeBody([lastChunkWith(trailers)])
    this.#host.onBodyWritten(this.request)
  }

  onSourceError(error: Error): void {
    this.request.abort(error)
  }

  onSourceLate(error: Error): void {
    this.stop()
    this.#host.onBodyBroken(this.request, error)
  }

  /** Ends the request where its length is not what was announced. */
  #isRight(error: Error | null): boolean {
    if (error === null) return true
    this.stop()
    this.#host.onBodyBroken(this.request, error)
    return false
  }
}
