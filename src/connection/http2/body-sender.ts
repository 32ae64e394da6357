/**
 * Sends one streamed request body, and the trailers after it, on an HTTP/2 stream.
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'
import type { Request } from '../../request/request.ts'
import { BodyWriter } from '../body-writer.ts'
import type { ConnectionSettings } from '../connection.ts'

/** The exchange. */
export interface BodySenderHost {
  /** False: the stream takes more when `onWritable` says so; the bytes are taken in any case. */
  sendBody(bytes: Uint8Array, end: boolean): boolean
  /** Instead of the end. */
  sendTrailers(fields: readonly string[]): void
  onBodySent(): void
  /** The body is not what its head announced: the request cannot be completed. */
  onBodyBroken(error: Error): void
}

export class Http2BodySender extends BodyWriter {
  readonly #host: BodySenderHost

  constructor(request: Request, host: BodySenderHost, length: number | null, settings: ConnectionSettings) {
    super(request, length, settings)
    this.#host = host
  }

  protected override write(bytes: Uint8Array): boolean {
    return this.#host.sendBody(bytes, false)
  }

  protected override writeEnd(): void {
    this.#host.sendBody(NO_BYTES, true)
    this.#host.onBodySent()
  }

  protected override writeTrailers(fields: readonly string[]): void {
    if (fields.length === 0) {
      this.writeEnd()
      return
    }
    // RFC 9113 §8.2: names have no upper case.
    this.#host.sendTrailers(fields.map((part, i) => (i % 2 === 0 ? lowerCaseName(part) : part)))
    this.#host.onBodySent()
  }

  protected override onSourceError(error: Error): void {
    // Its caller has the response already: only the server is told.
    if (this.request.settled) this.#host.onBodyBroken(error)
    else super.onSourceError(error)
  }

  protected override onUnsendable(error: Error): void {
    this.#host.onBodyBroken(error)
  }
}
