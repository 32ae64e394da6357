/**
 * What comes with a head that is not the received one: a copy for one caller, a changed one, or one of the
 * cache.
 */
import type { Timings } from '../errors.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'
import { flatFields, type RawFields, rawList } from '../request/received-fields.ts'
import type { Received } from './response-source.ts'

export abstract class DerivedReceived implements Received {
  readonly #of: Pick<Received, 'timings' | 'maxResponseSize'>
  #rawHeaders: RawFields | undefined

  /** @param of What knows how the response came. */
  constructor(of: Pick<Received, 'timings' | 'maxResponseSize'>) {
    this.#of = of
  }

  /** Called when they are read. */
  protected abstract makeRawHeaders(): RawFields

  get rawHeaders(): RawFields {
    if (this.#rawHeaders === undefined) this.#rawHeaders = this.makeRawHeaders()
    return this.#rawHeaders
  }

  set rawHeaders(value: RawFields) {
    this.#rawHeaders = value
  }

  get timings(): Timings {
    return this.#of.timings as Timings
  }

  get maxResponseSize(): number {
    return this.#of.maxResponseSize as number
  }
}

export class OwnReceived extends DerivedReceived {
  readonly #headers: HeaderObject
  readonly #raw: Received | null
  #rawTrailers: RawFields = null

  /** @param raw Has the fields as received, if they are the caller's. */
  constructor(
    headers: HeaderObject,
    of: Pick<Received, 'timings' | 'maxResponseSize'>,
    raw: Received | null,
  ) {
    super(of)
    this.#headers = headers
    this.#raw = raw
  }

  protected override makeRawHeaders(): RawFields {
    return copyOf(this.#raw?.rawHeaders) ?? toBuffers(flatFields(this.#headers))
  }

  get rawTrailers(): RawFields {
    this.#rawTrailers ??= copyOf(this.#raw?.rawTrailers)
    return this.#rawTrailers
  }

  set rawTrailers(value: RawFields) {
    this.#rawTrailers = value
  }
}

function copyOf(fields: RawFields | undefined): Buffer[] | null {
  return rawList(fields)?.map((part) => Buffer.from(part)) ?? null
}
