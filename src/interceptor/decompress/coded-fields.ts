/** The fields about the coding of a body, which a caller of the decoded one does not get. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DerivedReceived } from '../../relay/own-received.ts'
import type { Received } from '../../relay/response-source.ts'
import { type RawFields, rawList } from '../../request/received-fields.ts'

export function withoutCodedFields(headers: HeaderObject): HeaderObject {
  const { 'content-encoding': _coding, 'content-length': _length, ...shown } = headers
  return shown
}

/** What came with a coded response, without the raw form of these fields. */
export class DecodedHead extends DerivedReceived {
  readonly #coded: Received

  constructor(coded: Received) {
    super(coded)
    this.#coded = coded
  }

  protected override makeRawHeaders(): RawFields {
    const received = rawList(this.#coded.rawHeaders)
    if (received === null) return null
    const shown: Buffer[] = []
    for (let i = 0; i + 1 < received.length; i += 2) {
      const name = received[i]!.toString('latin1').toLowerCase()
      if (name !== 'content-encoding' && name !== 'content-length') shown.push(received[i]!, received[i + 1]!)
    }
    return shown
  }
}
