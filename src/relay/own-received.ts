/**
 * What a handler gets with a head that is not the received one: a copy for one caller, a changed one, or one
 * that the cache made.
 */
import type { Timings } from '../errors.ts'
import { type HeaderObject, toBuffers } from '../protocol/header-block.ts'
import type { HttpVersion } from '../request/connection-facts.ts'
import { flatFields, type RawFields, rawList } from '../request/received-fields.ts'
import type { Received } from './response-source.ts'

type Facts = Pick<Received, 'timings' | 'maxResponseSize' | 'httpVersion'>

export class OwnReceived implements Received {
  readonly #of: Facts
  readonly #headers: HeaderObject
  readonly #raw: Received | null
  #rawHeaders: RawFields | undefined
  #rawTrailers: RawFields = null

  /**
   * @param of What knows how the response came.
   * @param raw Has the fields as received. The caller gets those that are in `headers`.
   */
  constructor(headers: HeaderObject, of: Facts, raw: Received | null) {
    this.#of = of
    this.#headers = headers
    this.#raw = raw
  }

  /** Made when they are read. */
  get rawHeaders(): RawFields {
    const isShown = (name: Buffer): boolean =>
      Object.hasOwn(this.#headers, name.toString('latin1').toLowerCase())
    if (this.#rawHeaders === undefined) {
      const copy = copyOf(this.#raw?.rawHeaders)
      this.#rawHeaders =
        copy?.filter((_, i) => isShown(copy[i - (i % 2)]!)) ?? toBuffers(flatFields(this.#headers))
    }
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

  get httpVersion(): HttpVersion | null {
    return this.#of.httpVersion ?? null
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
