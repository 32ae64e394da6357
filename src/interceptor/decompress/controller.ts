/** The controller of a response that is decoded: what the caller pauses is the decoder, which pauses the connection. */
import type { ContentDecoding } from '../../content-coding/content-decoding.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { RelayController } from '../../relay/relay-controller.ts'
import { type RawFields, rawList } from '../../request/received-fields.ts'

/** The fields without those about the coded body, which the caller does not get. */
export function withoutCodedFields(headers: HeaderObject): HeaderObject {
  const { 'content-encoding': _coding, 'content-length': _length, ...shown } = headers
  return shown
}

export class DecodingController extends RelayController {
  #decoding: ContentDecoding | null = null
  #isCoded = false
  /** Those of a coded response without the fields about its coding; undefined until somebody asks for them. */
  #rawHeaders: RawFields | undefined

  override get rawHeaders(): RawFields {
    if (!this.#isCoded) return super.rawHeaders
    if (this.#rawHeaders === undefined) this.#rawHeaders = withoutCoding(super.rawHeaders)
    return this.#rawHeaders
  }

  override set rawHeaders(value: RawFields) {
    if (this.#isCoded) this.#rawHeaders = value
    else super.rawHeaders = value
  }

  /** The response is coded: hides the fields about that. */
  hideCoding(): void {
    this.#isCoded = true
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
    const decoding = this.#decoding
    this.inContext(() => {
      decoding.resume()
      this.reportResume()
    })
  }
}

function withoutCoding(fields: RawFields): Buffer[] | null {
  const received = rawList(fields)
  if (received === null) return null
  const shown: Buffer[] = []
  for (let i = 0; i + 1 < received.length; i += 2) {
    const name = received[i]!.toString('latin1').toLowerCase()
    if (name !== 'content-encoding' && name !== 'content-length') shown.push(received[i]!, received[i + 1]!)
  }
  return shown
}
