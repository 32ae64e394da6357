/** The fields about the coding of a body, which a caller of the decoded one does not get. */
import type { Timings } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Received } from '../../relay/response-source.ts'
import { type RawFields, rawList } from '../../request/received-fields.ts'

export function withoutCodedFields(headers: HeaderObject): HeaderObject {
  const { 'content-encoding': _coding, 'content-length': _length, ...shown } = headers
  return shown
}

/** What came with a coded response, without the raw form of these fields. */
export class DecodedHead implements Received {
  readonly #coded: Received
  /** Undefined until somebody asks for them. */
  #rawHeaders: RawFields | undefined

  constructor(coded: Received) {
    this.#coded = coded
  }

  get rawHeaders(): RawFields {
    if (this.#rawHeaders === undefined) this.#rawHeaders = withoutCoding(this.#coded.rawHeaders)
    return this.#rawHeaders
  }

  set rawHeaders(value: RawFields) {
    this.#rawHeaders = value
  }

  get timings(): Timings {
    return this.#coded.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#coded.maxResponseSize as number
  }
}

function withoutCoding(fields: RawFields | undefined): Buffer[] | null {
  const received = rawList(fields)
  if (received === null) return null
  const shown: Buffer[] = []
  for (let i = 0; i + 1 < received.length; i += 2) {
    const name = received[i]!.toString('latin1').toLowerCase()
    if (name !== 'content-encoding' && name !== 'content-length') shown.push(received[i]!, received[i + 1]!)
  }
  return shown
}
