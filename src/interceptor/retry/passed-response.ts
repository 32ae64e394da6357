/**
 * The response that the caller's handler gets: how much of it has been passed on, and, if it broke off, the
 * range to ask for and whether an answer continues the same representation (RFC 9110 §14, §15.3.7). A server
 * that answers with anything else must not get its bytes joined to those that the caller has.
 */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { announcedLength, fieldText } from '../../relay/fields.ts'
import type { ResponseFacts } from '../../relay/response-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import type { RetrySettings } from './options.ts'

/** The range of a response in the representation: its first and its last byte, if that is known. */
interface PassedRange {
  readonly first: number
  last: number | null
  total: number | null
  /** The response is the whole representation, not a part that the caller asked for. */
  readonly isWhole: boolean
}

/** Nothing of the answer can be used. */
const NO_RANGE = 'server does not support the range header and the payload was partially consumed'
const RANGE_MISMATCH = 'Content-Range mismatch'
const LENGTH_MISMATCH = 'Content-Length mismatch'

/**
 * Another representation has another value in one of these. Servers leave some of them out of a partial
 * response, but not the tag that they compared, and a coding that is missing is another one: an answer may
 * lack what the first response has, or have what that one lacks.
 */
const IDENTITY = [
  { name: 'etag', message: 'ETag mismatch', mayLack: false, mayGain: true },
  { name: 'last-modified', message: 'Last-Modified mismatch', mayLack: true, mayGain: true },
  { name: 'content-type', message: 'Content-Type mismatch', mayLack: true, mayGain: true },
  { name: 'content-encoding', message: 'Content-Encoding mismatch', mayLack: false, mayGain: false },
]

/**
 * Why a response cannot be passed on as the first one: it contradicts itself, and its bytes could not be
 * counted.
 */
export function firstRefusal(method: string, head: Head, { resume }: RetrySettings): string | null {
  const { statusCode, headers } = head
  if (method !== 'GET' || resume === false || statusCode !== 206) return null
  return contradictsItself(readContentRange(headers), headers) ? LENGTH_MISMATCH : null
}

export class PassedResponse {
  readonly head: Head
  #received = 0
  /** Null as long as it has not broken off, or if it cannot be completed. */
  #range: PassedRange | null = null

  constructor(head: Head) {
    this.head = head
  }

  /** Whether another attempt can complete a response that broke off. `facts`: of the attempt that did. */
  canGoOn(method: string, { isStored, isTransformed }: ResponseFacts, { resume }: RetrySettings): boolean {
    // RFC 9110 §14.2: ranges are defined for GET alone. Bytes that were changed, or are older, are not the
    // origin's.
    if (method !== 'GET' || isStored || isTransformed) return false
    this.#range ??= rangeOf(this.head, resume)
    // All bytes may have come, and yet the response failed.
    return this.#range !== null && (this.#range.last === null || this.#next <= this.#range.last)
  }

  /** The first byte that is missing. */
  get #next(): number {
    return (this.#range?.first ?? 0) + this.#received
  }

  /**
   * The fields of the attempt that is to complete it. Without a byte to keep, the whole is as good as a range
   * of it.
   */
  fields(): Record<string, string | null> {
    const { last, isWhole } = this.#range!
    const fields: Record<string, string | null> = {}
    if (this.#received > 0 || !isWhole) {
      fields['range'] = `bytes=${this.#next}-${last ?? ''}`
      // With a condition of the caller's, the server may answer with the whole instead.
      fields['if-range'] = null
    }
    const tag = strongTag(this.head.headers)
    if (tag !== null) fields['if-match'] = tag
    return fields
  }

  /** Why this head does not continue it; null if it does. */
  refusal({ statusCode, headers }: Head): string | null {
    const known = this.#range!
    if (statusCode === 200 && this.#received === 0 && known.isWhole) {
      const length = announcedLength({ headers })
      if (known.total !== null && length !== null && length !== known.total) return LENGTH_MISMATCH
      return this.#otherIdentity(headers)
    }
    if (statusCode !== 206) return NO_RANGE
    const range = readContentRange(headers)
    if (range === null || range.first !== this.#next) return RANGE_MISMATCH
    const { last, total } = range
    if (known.last !== null && last !== known.last) return RANGE_MISMATCH
    if (known.total !== null && total !== null && total !== known.total) return RANGE_MISMATCH
    if (known.isWhole && total !== null && last !== total - 1) return RANGE_MISMATCH
    if (contradictsItself(range, headers)) return LENGTH_MISMATCH
    const other = this.#otherIdentity(headers)
    if (other !== null) return other
    known.last = last
    known.total ??= total
    return null
  }

  /** So many more bytes of the body. Returns why these bytes cannot belong to it, or null. */
  take(length: number): string | null {
    this.#received += length
    const last = this.#range?.last ?? null
    return last !== null && this.#next - 1 > last ? RANGE_MISMATCH : null
  }

  /** Why it cannot end here; null if it can. */
  refusalOfEnd(): string | null {
    const last = this.#range?.last ?? null
    return last !== null && this.#next - 1 !== last ? RANGE_MISMATCH : null
  }

  #otherIdentity(headers: HeaderObject): string | null {
    for (const { name, message, mayLack, mayGain } of IDENTITY) {
      const before = fieldText(this.head.headers, name)
      const after = fieldText(headers, name)
      if (before === after || (after === null && mayLack) || (before === null && mayGain)) continue
      return message
    }
    return null
  }
}

/** Null for a response that cannot be completed. */
function rangeOf({ statusCode, headers }: Head, resume: 'any' | 'strong' | false): PassedRange | null {
  if (resume === false || (resume === 'strong' && strongTag(headers) === null)) return null
  if (fieldText(headers, 'accept-ranges') === 'none') return null
  if (statusCode === 200) {
    const length = announcedLength({ headers })
    return { first: 0, last: length === null ? null : length - 1, total: length, isWhole: true }
  }
  // Without `content-range` it has several parts, each with a range of its own.
  return statusCode === 206 ? readContentRange(headers) : null
}

function contradictsItself(range: PassedRange | null, headers: HeaderObject): boolean {
  const length = announcedLength({ headers })
  return range !== null && length !== null && length !== range.last! - range.first + 1
}

/** Weak tags are for representations that are only equivalent; their bytes must not be joined. */
function strongTag(headers: HeaderObject): string | null {
  const tag = fieldText(headers, 'etag')
  if (tag === null || tag.startsWith('W/')) return null
  // Servers leave the quotes out, and then expect the tag without them.
  return /^(?:"[\x21\x23-\x7e\x80-\xff]*"|[\x21\x23-\x7e\x80-\xff]+)$/.test(tag) ? tag : null
}

function readContentRange(headers: HeaderObject): PassedRange | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(fieldText(headers, 'content-range') ?? '')
  if (match === null) return null
  const [first, last] = [Number(match[1]), Number(match[2])]
  const total = match[3] === '*' ? null : Number(match[3])
  return last < first || (total !== null && last >= total) ? null : { first, last, total, isWhole: false }
}
