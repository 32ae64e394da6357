/**
 * A response that broke off after its head was passed on, and the part of it that is still to come: the range to ask for,
 * and whether an answer is a continuation of the same representation (RFC 9110 §14, §15.3.7). A server that answers with
 * anything else must not get its bytes joined to those that the caller has.
 */
import type { HeaderObject } from '../../protocol/header-block.ts'

interface ContentRange {
  readonly first: number
  readonly last: number
  readonly total: number | null
}

/** Nothing of the answer can be used. */
const NO_RANGE = 'server does not support the range header and the payload was partially consumed'
const RANGE_MISMATCH = 'Content-Range mismatch'
const LENGTH_MISMATCH = 'Content-Length mismatch'

interface IdentityField {
  readonly name: string
  readonly message: string
  /** Whether an answer may lack the field, if the first response has it; and the other way round. */
  readonly mayLack: boolean
  readonly mayGain: boolean
}

/**
 * Another representation has another value in one of these. Servers leave some of them out of a partial response, but
 * not the tag that they compared, and a coding that is missing is another one.
 */
const IDENTITY: readonly IdentityField[] = [
  { name: 'etag', message: 'ETag mismatch', mayLack: false, mayGain: true },
  { name: 'last-modified', message: 'Last-Modified mismatch', mayLack: true, mayGain: true },
  { name: 'content-type', message: 'Content-Type mismatch', mayLack: true, mayGain: true },
  { name: 'content-encoding', message: 'Content-Encoding mismatch', mayLack: false, mayGain: false },
]

export class Resumption {
  readonly #headers: HeaderObject
  /** The range of the response in the representation: its first and its last byte, if that is known. */
  readonly #first: number
  #last: number | null
  #total: number | null
  /** The response is the whole representation, not a part that the caller asked for. */
  readonly #isWhole: boolean

  private constructor(headers: HeaderObject, range: ContentRange | null) {
    this.#headers = headers
    const length = lengthOf(headers)
    this.#isWhole = range === null
    this.#first = range?.first ?? 0
    this.#last = range?.last ?? (length === null ? null : length - 1)
    this.#total = range === null ? length : range.total
  }

  /** Null for a response that cannot be completed. */
  static of(statusCode: number, headers: HeaderObject, resume: 'any' | 'strong' | false): Resumption | null {
    if (resume === false || (resume === 'strong' && strongTag(headers) === null)) return null
    if (fieldOf(headers, 'accept-ranges') === 'none') return null
    if (statusCode === 200) return new Resumption(headers, null)
    // Without `content-range` it has several parts, each with a range of its own.
    const range = statusCode === 206 ? readContentRange(headers) : null
    return range === null ? null : new Resumption(headers, range)
  }

  /** Why a first response contradicts itself; null if it does not. Its bytes could not be counted. */
  static refusalOfFirst(statusCode: number, headers: HeaderObject): string | null {
    const range = statusCode === 206 ? readContentRange(headers) : null
    const length = lengthOf(headers)
    if (range === null || length === null || length === range.last - range.first + 1) return null
    return LENGTH_MISMATCH
  }

  /** All bytes have come, and yet the response failed. */
  isComplete(received: number): boolean {
    return this.#last !== null && this.#first + received > this.#last
  }

  /** The fields of the next attempt. Without a byte to keep, the whole response is as good as a range of it. */
  fields(received: number): Record<string, string | null> {
    const next = this.#first + received
    const fields: Record<string, string | null> = {}
    if (received > 0 || !this.#isWhole) {
      fields['range'] = `bytes=${next}-${this.#last ?? ''}`
      // With a condition of the caller's, the server may answer with the whole instead.
      fields['if-range'] = null
    }
    const tag = strongTag(this.#headers)
    if (tag !== null) fields['if-match'] = tag
    return fields
  }

  /** Why this answer does not continue the response; null if it does. */
  refusal(statusCode: number, headers: HeaderObject, received: number): string | null {
    if (statusCode === 200 && received === 0 && this.#isWhole) return this.#refusalOfWhole(headers)
    if (statusCode !== 206) return NO_RANGE
    const range = readContentRange(headers)
    if (range === null || range.first !== this.#first + received) return RANGE_MISMATCH
    if (this.#last !== null && range.last !== this.#last) return RANGE_MISMATCH
    if (this.#total !== null && range.total !== null && range.total !== this.#total) return RANGE_MISMATCH
    if (this.#isWhole && range.total !== null && range.last !== range.total - 1) return RANGE_MISMATCH
    const length = lengthOf(headers)
    if (length !== null && length !== range.last - range.first + 1) return LENGTH_MISMATCH
    const other = this.#otherIdentity(headers)
    if (other !== null) return other
    this.#last = range.last
    this.#total ??= range.total
    return null
  }

  /** Why these bytes are too many; null if they fit. */
  refusalOfData(received: number): string | null {
    return this.#last !== null && this.#first + received - 1 > this.#last ? RANGE_MISMATCH : null
  }

  /** Why the response cannot end here; null if it can. */
  refusalOfEnd(received: number): string | null {
    return this.#last !== null && this.#first + received - 1 !== this.#last ? RANGE_MISMATCH : null
  }

  #refusalOfWhole(headers: HeaderObject): string | null {
    const length = lengthOf(headers)
    if (this.#total !== null && length !== null && length !== this.#total) return LENGTH_MISMATCH
    return this.#otherIdentity(headers)
  }

  #otherIdentity(headers: HeaderObject): string | null {
    for (const { name, message, mayLack, mayGain } of IDENTITY) {
      const before = fieldOf(this.#headers, name)
      const after = fieldOf(headers, name)
      if (before === after || (after === null && mayLack) || (before === null && mayGain)) continue
      return message
    }
    return null
  }
}

/** Several lines of one of these fields are joined, so that they are equal only as a whole. */
function fieldOf(headers: HeaderObject, name: string): string | null {
  if (!Object.hasOwn(headers, name)) return null
  const value = headers[name]
  return value === undefined ? null : String(value)
}

function lengthOf(headers: HeaderObject): number | null {
  const text = fieldOf(headers, 'content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : null
}

/** Weak tags are for representations that are only equivalent; their bytes must not be joined. */
function strongTag(headers: HeaderObject): string | null {
  const tag = fieldOf(headers, 'etag')
  if (tag === null || tag.startsWith('W/')) return null
  // Servers leave the quotes out, and then expect the tag without them.
  return /^(?:"[\x21\x23-\x7e\x80-\xff]*"|[\x21\x23-\x7e\x80-\xff]+)$/.test(tag) ? tag : null
}

function readContentRange(headers: HeaderObject): ContentRange | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(fieldOf(headers, 'content-range') ?? '')
  if (match === null) return null
  const [first, last] = [Number(match[1]), Number(match[2])]
  const total = match[3] === '*' ? null : Number(match[3])
  return last < first || (total !== null && last >= total) ? null : { first, last, total }
}
