/**
 * A URL, parsed once. Programs fetch from the same few URLs again and again, and parsing costs more than
 * everything else that happens before the request is dispatched.
 */

import { BAD_PORTS } from '../../base/address/bad-ports.ts'
import { getGlobalOrigin } from '../../base/address/global-origin.ts'
import { parseUrl, shownUrl } from '../../base/address/parse-url.ts'
import { isTrustworthy } from '../../base/address/trustworthy.ts'

/** Entries in each of the two halves of the cache. When the newer half is full, the older one is dropped. */
const KEPT = 128

/** A longer URL, such as a `data:` URL, is not worth the memory. */
const MAX_KEPT_LENGTH = 2048

export class UrlParts {
  readonly url: URL
  /** The full URL. */
  readonly href: string
  /** The origin of an http or https URL; for other schemes, the `origin` of the `URL`. */
  readonly origin: string
  readonly protocol: string
  /** With the query, even if it is a bare question mark; without the fragment. */
  readonly path: string
  readonly isHttp: boolean
  readonly hasBadPort: boolean
  readonly hasCredentials: boolean
  readonly isTrustworthy: boolean
  readonly #hashAt: number

  constructor(url: URL) {
    const { href, protocol } = url
    const hashAt = href.indexOf('#')
    this.url = url
    this.href = href
    this.protocol = protocol
    this.isHttp = protocol === 'http:' || protocol === 'https:'
    this.hasCredentials = url.username !== '' || url.password !== ''
    this.hasBadPort = this.isHttp && url.port !== '' && BAD_PORTS.has(url.port)
    this.isTrustworthy = isTrustworthy(url)
    this.#hashAt = hashAt
    this.origin = this.isHttp ? `${protocol}//${url.host}` : url.origin
    const end = hashAt === -1 ? href.length : hashAt
    this.path = this.isHttp ? href.slice(href.indexOf('/', protocol.length + 2), end) : ''
  }

  /** The form that `response.url` has. */
  get withoutFragment(): string {
    return this.#hashAt === -1 ? this.href : this.href.slice(0, this.#hashAt)
  }

  get fragment(): string {
    return this.#hashAt === -1 ? '' : this.href.slice(this.#hashAt)
  }
}

let newer = new Map<string, UrlParts>()
let older = new Map<string, UrlParts>()

/** @throws {TypeError} */
export function partsOf(text: string): UrlParts {
  const known = newer.get(text)
  if (known !== undefined) return known
  const parts = older.get(text) ?? parse(text)
  if (text.length > MAX_KEPT_LENGTH || dependsOnBase(text, parts)) return parts
  if (newer.size === KEPT) {
    older = newer
    newer = new Map()
  }
  newer.set(text, parts)
  return parts
}

function parse(text: string): UrlParts {
  try {
    return new UrlParts(parseUrl(text, getGlobalOrigin()))
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${shownUrl(text)}`, { cause })
  }
}

/**
 * Whether the text may mean another URL when the global origin changes. That includes `http:path`, which is
 * relative to a base with the same scheme. A base always has the scheme http or https.
 */
function dependsOnBase(text: string, parts: UrlParts): boolean {
  return parts.isHttp && !text.startsWith(`${parts.protocol}//`)
}
