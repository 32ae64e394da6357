/**
 * Owns the cookies of a jar: finds those of a host without looking at the others, and evicts when there are too many
 * (RFC 6265bis §5.7). Keys are of a Map, so no name or domain that a server chooses means anything else.
 */
import { domainMatches, isAddress } from './host.ts'
import { pathMatches } from './path.ts'
import { byAge, isExpired, type StoredCookie } from './stored-cookie.ts'

type Bucket = Map<string, StoredCookie>

export interface StoreLimits {
  readonly maxCookies: number
  readonly maxCookiesPerDomain: number
}

/** No name has a semicolon, so no two cookies of a domain have the same text by accident. */
function keyOf({ name, hostOnly, path }: StoredCookie): string {
  return `${name};${hostOnly ? 1 : 0}${path}`
}

export class CookieStore {
  readonly #limits: StoreLimits
  readonly #buckets = new Map<string, Bucket>()
  /** The cookies that are Secure, by name. */
  readonly #secure = new Map<string, Set<StoredCookie>>()
  #size = 0
  #order = 0

  constructor(limits: StoreLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** The cookie that this one would replace. */
  counterpart(cookie: StoredCookie): StoredCookie | undefined {
    return this.#buckets.get(cookie.domain)?.get(keyOf(cookie))
  }

  /** In place of its counterpart, whose age it takes over. */
  put(cookie: StoredCookie, now: number): void {
    const old = this.counterpart(cookie)
    if (old !== undefined && !isExpired(old, now)) {
      cookie.creationTime = old.creationTime
      cookie.order = old.order
    } else {
      cookie.order = this.#order++
    }
    if (old !== undefined) this.delete(old)
    const bucket: Bucket = this.#buckets.get(cookie.domain) ?? new Map()
    this.#buckets.set(cookie.domain, bucket)
    bucket.set(keyOf(cookie), cookie)
    this.#size++
    if (cookie.secure) this.#noteSecure(cookie)
    if (bucket.size > this.#limits.maxCookiesPerDomain) this.#shrink(bucket, now)
    if (this.#size > this.#limits.maxCookies) this.#shrinkAll(now)
  }

  #noteSecure(cookie: StoredCookie): void {
    const sameName = this.#secure.get(cookie.name)
    if (sameName === undefined) this.#secure.set(cookie.name, new Set([cookie]))
    else sameName.add(cookie)
  }

  /** Removes a cookie, or the one that it would have replaced. */
  delete(cookie: StoredCookie): boolean {
    const bucket = this.#buckets.get(cookie.domain)
    const key = keyOf(cookie)
    const known = bucket?.get(key)
    if (bucket === undefined || known === undefined) return false
    bucket.delete(key)
    this.#size--
    if (bucket.size === 0) this.#buckets.delete(cookie.domain)
    const sameName = known.secure ? this.#secure.get(known.name) : undefined
    sameName?.delete(known)
    if (sameName?.size === 0) this.#secure.delete(known.name)
    return true
  }

  clear(): void {
    this.#buckets.clear()
    this.#secure.clear()
    this.#size = 0
  }

  /** Those that a host gets, in no order, whatever their path. Expired ones are removed on the way. */
  of(host: string, now: number): StoredCookie[] {
    const found: StoredCookie[] = []
    this.#collect(host, true, now, found)
    if (isAddress(host)) return found
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      this.#collect(host.slice(dot + 1), false, now, found)
    }
    return found
  }

  #collect(domain: string, withHostOnly: boolean, now: number, found: StoredCookie[]): void {
    const bucket = this.#buckets.get(domain)
    if (bucket === undefined) return
    for (const cookie of bucket.values()) {
      if (isExpired(cookie, now)) this.delete(cookie)
      else if (withHostOnly || !cookie.hostOnly) found.push(cookie)
    }
  }

  /**
   * §5.7: whether a cookie from an insecure connection would hide or replace one that is for secure connections, of the same
   * domain or of one above or below it.
   */
  shadowsSecure({ name, domain, path }: StoredCookie, now: number): boolean {
    for (const other of this.#secure.get(name) ?? []) {
      const isRelated = domainMatches(other.domain, domain) || domainMatches(domain, other.domain)
      if (isRelated && pathMatches(path, other.path) && !isExpired(other, now)) return true
    }
    return false
  }

  /** Oldest first. Expired ones are removed on the way. */
  all(now: number): StoredCookie[] {
    this.#dropExpired(now)
    return [...this.#cookies()].sort(byAge)
  }

  *#cookies(): Generator<StoredCookie> {
    for (const bucket of this.#buckets.values()) yield* bucket.values()
  }

  #dropExpired(now: number): void {
    for (const bucket of this.#buckets.values()) this.#dropExpiredOf(bucket, now)
  }

  #dropExpiredOf(bucket: Bucket, now: number): void {
    for (const cookie of bucket.values()) if (isExpired(cookie, now)) this.delete(cookie)
  }

  /** Expired cookies go first, then those that are not Secure, then any; among equals the one that was used least recently. */
  #shrink(bucket: Bucket, now: number): void {
    this.#dropExpiredOf(bucket, now)
    while (bucket.size > this.#limits.maxCookiesPerDomain) {
      const insecure = [...bucket.values()].filter(({ secure }) => !secure)
      this.delete(leastRecent(insecure.length > 0 ? insecure : bucket.values())!)
    }
  }

  /** No domain has more than its share here, so the order has two steps left: expired cookies, and all cookies. */
  #shrinkAll(now: number): void {
    this.#dropExpired(now)
    while (this.#size > this.#limits.maxCookies) this.delete(leastRecent(this.#cookies())!)
  }
}

function leastRecent(cookies: Iterable<StoredCookie>): StoredCookie | null {
  let least: StoredCookie | null = null
  for (const cookie of cookies) if (least === null || isLessRecent(cookie, least)) least = cookie
  return least
}

function isLessRecent(a: StoredCookie, b: StoredCookie): boolean {
  return (a.lastAccessTime - b.lastAccessTime || byAge(a, b)) < 0
}
