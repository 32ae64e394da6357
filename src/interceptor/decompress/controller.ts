/** The controller of a response that is decoded: what the caller pauses is the decoder, which pauses the connection. */
import type { ContentDecoding } from '../../content-coding/content-decoding.ts'
import { RelayController } from '../../handler/relay-controller.ts'

/** Fields about the coded body, which the caller does not get. */
const CODED_FIELDS: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

export function isCodedField(name: string): boolean {
  return CODED_FIELDS.has(name)
}

export class DecodingController extends RelayController {
  #decoding: ContentDecoding | null = null
  /** Null until the response turns out to be coded. */
  #rawHeaders: Buffer[] | null = null

  override get rawHeaders(): Buffer[] | null {
    return this.#rawHeaders ?? super.rawHeaders
  }

  override set rawHeaders(value: Buffer[] | null) {
    if (this.#rawHeaders === null) super.rawHeaders = value
    else this.#rawHeaders = value
  }

  /** The response is coded: hides the fields about that. */
  hideCoding(): void {
    const received = super.rawHeaders
    if (received === null) return
    this.#rawHeaders = []
    for (let i = 0; i + 1 < received.length; i += 2) {
      const name = received[i]!.toString('latin1').toLowerCase()
      if (!isCodedField(name)) this.#rawHeaders.push(received[i]!, received[i + 1]!)
    }
  }

  /** From now on pauses are the decoder's. */
  decodeWith(decoding: ContentDecoding): void {
    this.#decoding = decoding
  }

  override pause(): void {
    if (this.#decoding === null) {
      super.pause()
      return
    }
    this.note(true)
    this.#decoding.pause()
  }

  override resume(): void {
    if (this.#decoding === null) {
      super.resume()
      return
    }
    if (!this.paused) return
    this.note(false)
    this.#decoding.resume()
  }
}
