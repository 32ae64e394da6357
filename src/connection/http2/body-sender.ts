/**
 * Sends one streamed request body, and the trailers after it, on an HTTP/2 stream.
 */
import { NO_BYTES } from '../../base/empty.ts'
import { lowerCaseName } from '../../protocol/header-names.ts'
import type { Request } from '../../request/request.ts'
import { BodyPump, type BodyPumpSink, type PumpedSource } from '../body-pump.ts'
import type { ConnectionSettings } from '../connection.ts'
import { LengthAccount } from '../length-account.ts'

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

export class Http2BodySender implements BodyPumpSink {
  readonly request: Request
  readonly #host: BodySenderHost
  readonly #account: LengthAccount
  readonly #pump: BodyPump
  #state: 'pumping' | 'blocked' | 'stopped' = 'pumping'

  /** `length`: null when the head names none. */
  constructor(request: Request, host: BodySenderHost, length: number | null, settings: ConnectionSettings) {
    this.request = request
    this.#host = host
    this.#account = new LengthAccount(length, settings.strictContentLength)
    this.#pump = new BodyPump(this, request.requestBodyTimeout ?? settings.requestBodyTimeout)
  }

  /** The stream takes nothing more for now. */
  get isBlocked(): boolean {
    return this.#state === 'blocked'
  }

  start(source: PumpedSource): void {
    this.request.onBodyRead()
    this.#pump.start(source)
  }

  /** The stream takes more. */
  unblock(): void {
    if (this.#state !== 'blocked') return
    this.#state = 'pumping'
    this.#pump.resume()
  }

  stop(): void {
    this.#state = 'stopped'
    this.#pump.stop()
  }

  onChunk(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!this.#isRight(this.#account.add(bytes.byteLength))) return false
    const room = this.#host.sendBody(bytes, false)
    // Sending may have ended the exchange.
    if (!room && this.#state === 'pumping') this.#state = 'blocked'
    this.request.onBodySent(chunk)
    return room
  }

  onSourceEnd(): void {
    if (!this.#isRight(this.#account.end())) return
    const { trailers } = this.request
    if (trailers === null) {
      this.#host.sendBody(NO_BYTES, true)
      this.#host.onBodySent()
      return
    }
    this.#pump.gather(trailers, (fields) => this.#endWith(fields))
  }

  #endWith(trailers: readonly string[]): void {
    if (trailers.length === 0) this.#host.sendBody(NO_BYTES, true)
    else this.#host.sendTrailers(lowerCaseNames(trailers))
    this.#host.onBodySent()
  }

  onSourceError(error: Error): void {
    // Its caller has the response already: only the server is told.
    if (this.request.settled) this.#host.onBodyBroken(error)
    else this.request.abort(error)
  }

  onSourceLate(error: Error): void {
    this.#host.onBodyBroken(error)
  }

  /** Ends the request where its length is not what was announced. */
  #isRight(error: Error | null): boolean {
    if (error === null) return true
    this.#host.onBodyBroken(error)
    return false
  }
}

/** RFC 9113 §8.2: names have no upper case. */
function lowerCaseNames(fields: readonly string[]): string[] {
  return fields.map((part, i) => (i % 2 === 0 ? lowerCaseName(part) : part))
}
