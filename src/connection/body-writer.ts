/**
 * Writes one streamed request body, and the trailers after it: what both protocols share. The length is
 * compared with the one that the head announced. With `strictContentLength` a difference ends the request;
 * otherwise the caller vouches for the source, and gets a warning.
 */
import { RequestContentLengthMismatchError } from '../errors.ts'
import type { Request } from '../request/request.ts'
import { BodyPump } from './body-pump.ts'
import type { ConnectionSettings } from './connection.ts'

/** The error that ends the request; null where a warning is enough. */
export function lengthDiffers(strict: boolean): Error | null {
  const error = new RequestContentLengthMismatchError()
  if (strict) return error
  process.emitWarning(error)
  return null
}

export abstract class BodyWriter extends BodyPump {
  /** Null when the head names no length. */
  protected readonly length: number | null
  /** Bytes so far. */
  protected written = 0
  readonly #isStrict: boolean

  constructor(request: Request, length: number | null, settings: ConnectionSettings) {
    super(request, request.requestBodyTimeout ?? settings.requestBodyTimeout)
    this.length = length
    this.#isStrict = settings.strictContentLength
  }

  /** False: nothing more is taken until `resume`. The bytes are done with when this returns. */
  protected abstract write(bytes: Uint8Array): boolean
  protected abstract writeEnd(): void
  protected abstract writeTrailers(fields: readonly string[]): void
  /** The body is complete. */
  protected onTrailersAwaited(): void {}

  protected override onChunk(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const total = this.written + bytes.byteLength
    if (this.length !== null && total > this.length && this.#differs()) return false
    const hasRoom = this.write(bytes)
    this.written = total
    this.request.onBodySent(chunk)
    return hasRoom
  }

  protected override onSourceEnd(): void {
    if (this.length !== null && this.written !== this.length && this.#differs()) return
    const { trailers } = this.request
    if (trailers === null) {
      this.writeEnd()
      return
    }
    this.onTrailersAwaited()
    this.gather(trailers, (fields) => this.writeTrailers(fields))
  }

  protected override onSourceError(error: Error): void {
    this.request.onBodyError(error)
  }

  /** Ends the request where its length is not what was announced. */
  #differs(): boolean {
    const error = lengthDiffers(this.#isStrict)
    if (error === null) return false
    this.stop()
    this.onUnsendable(error)
    return true
  }
}
