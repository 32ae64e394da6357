/**
 * A URL, parsed once. Programs fetch from the same few URLs again and again, and parsing costs more than everything
 * else that happens before the request is dispatched.
 */
import { getGlobalOrigin } from './global-origin.ts'

/** Entries in each of the two halves of the cache. When the newer half is full, the older one is dropped. */
const KEPT = 128

/** A longer URL, such as a `data:` URL, is not worth the memory. */
const MAX_KEPT_LENGTH = 2048

/** Ports of services other than HTTP, which might misread a request as their protocol (WHATWG Fetch, "bad port"). */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 ' +
    '990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
)

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

/** Throws the runtime's error for an invalid URL. */
export function partsOf(text: string): UrlParts {
  const known = newer.get(text)
  if (known !== undefined) return known
  let parts = older.get(text)
  if (parts === undefined) {
    const base = getGlobalOrigin()
    parts = new UrlParts(new URL(text, base))
    // Not cached with a base: if the base changes, the same text means another URL.
    if (base !== undefined || text.length > MAX_KEPT_LENGTH) return parts
  }
  if (newer.size === KEPT) {
    older = newer
    newer = new Map()
  }
  newer.set(text, parts)
  return parts
}
