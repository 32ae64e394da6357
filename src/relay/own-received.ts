/** What comes with a head that is for one caller alone: a copy, or made of a head that no peer has sent. */
import type { Timings } from '../errors.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'
import { flatFields, type RawFields, rawList } from '../request/received-fields.ts'
import type { Received } from './response-source.ts'

export class OwnReceived implements Received {
  readonly #headers: HeaderObject
  readonly #of: Pick<Received, 'timings' | 'maxResponseSize'>
  readonly #raw: Received | null
  #rawHeaders: RawFields = null
  #rawTrailers: RawFields = null

  /**
   * @param of What knows how the response came.
   * @param raw Has the fields as received, if they are the caller's.
   */
  constructor(
    headers: HeaderObject,
    of: Pick<Received, 'timings' | 'maxResponseSize'>,
    raw: Received | null,
  ) {
    this.#headers = headers
    this.#of = of
    this.#raw = raw
  }

  /** Made when it is read. */
  get rawHeaders(): RawFields {
    this.#rawHeaders ??= copyOf(this.#raw?.rawHeaders) ?? toBuffers(flatFields(this.#headers))
    return this.#rawHeaders
  }

  set rawHeaders(value: RawFields) {
    this.#rawHeaders = value
  }

  get rawTrailers(): RawFields {
    this.#rawTrailers ??= copyOf(this.#raw?.rawTrailers)
    return this.#rawTrailers
  }

  set rawTrailers(value: RawFields) {
    this.#rawTrailers = value
  }

  get timings(): Timings {
    return this.#of.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#of.maxResponseSize as number
  }
}

function copyOf(fields: RawFields | undefined): Buffer[] | null {
  return rawList(fields)?.map((part) => Buffer.from(part)) ?? null
}
