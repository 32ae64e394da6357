/** The fields about the coding of a body, which a caller of the decoded one does not get. */
import { DerivedReceived } from '../../relay/own-received.ts'
import type { Received } from '../../relay/response-source.ts'
import { type RawFields, rawList } from '../../request/received-fields.ts'

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
