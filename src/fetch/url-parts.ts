/**
 * A URL taken apart once: programs fetch from the same few places again and again, and parsing costs more than
 * the rest of what happens before a request is given away.
 */
import { getGlobalOrigin } from './global-origin.ts'

/** Strings whose parts are kept, in two halves: the older half goes when the newer is full. */
const KEPT = 128

/** A longer one, such as a `data:` URL, is not worth the memory. */
const MAX_KEPT_LENGTH = 2048

/** Ports on which no HTTP server is, but others who might take a request for their own (WHATWG Fetch, "bad port"). */
const BAD_PORTS = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 ' +
    '123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 ' +
    '990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  ).split(' '),
)

export class UrlParts {
  readonly url: URL
  /** All of it. */
  readonly href: string
  /** Of http and https; otherwise what the URL says. */
  readonly origin: string
  readonly protocol: string
  /** With the query, a bare question mark included; without the fragment. */
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

  /** As a response tells it. */
  get withoutFragment(): string {
    return this.#hashAt === -1 ? this.href : this.href.slice(0, this.#hashAt)
  }

  get fragment(): string {
    return this.#hashAt === -1 ? '' : this.href.slice(this.#hashAt)
  }
}

let newer = new Map<string, UrlParts>()
let older = new Map<string, UrlParts>()

/** Throws the runtime's error for what is no URL. */
export function partsOf(text: string): UrlParts {
  const known = newer.get(text)
  if (known !== undefined) return known
  let parts = older.get(text)
  if (parts === undefined) {
    const base = getGlobalOrigin()
    parts = new UrlParts(new URL(text, base))
    // With a base the same text may mean something else tomorrow.
    if (base !== undefined || text.length > MAX_KEPT_LENGTH) return parts
  }
  if (newer.size === KEPT) {
    older = newer
    newer = new Map()
  }
  newer.set(text, parts)
  return parts
}
