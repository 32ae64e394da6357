/**
 * Owns the cookies of a jar: finds those of a host without looking at the others, and evicts when there are
 * too many (RFC 6265bis §5.7). Keys are of a Map, so no name or domain that a server chooses means anything
 * else.
 */
import { EvictionOrder } from './eviction-order.ts'
import { domainMatches, isAddress } from './host.ts'
import { pathMatches } from './path.ts'
import { byAge, byWorth, isExpired, keyOf, type StoredCookie } from './stored-cookie.ts'

type Bucket = Map<string, StoredCookie>

export interface StoreLimits {
  readonly maxCookies: number
  readonly maxCookiesPerDomain: number
}

export class CookieStore {
  readonly #limits: StoreLimits
  readonly #buckets = new Map<string, Bucket>()
  /** The cookies that are Secure, by name. */
  readonly #secure = new Map<string, Set<StoredCookie>>()
  readonly #evictions = new EvictionOrder()
  #order = 0

  constructor(limits: StoreLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#evictions.size
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
    this.#evictions.add(cookie)
    if (cookie.secure) this.#secure.set(cookie.name, (this.#secure.get(cookie.name) ?? new Set()).add(cookie))
    this.#shrink(bucket, now)
    // No domain has more than its share here, so the order has two steps left: expired cookies, and all
    // cookies.
    while (this.size > this.#limits.maxCookies) this.delete(this.#evictions.first(now)!)
  }

  /** Notes that a cookie is sent. */
  use(cookie: StoredCookie, now: number): void {
    if (cookie.lastAccessTime === now) return
    cookie.lastAccessTime = now
    this.#evictions.moved(cookie)
  }

  /** Removes a cookie, or the one that it would have replaced. */
  delete(cookie: StoredCookie): boolean {
    const bucket = this.#buckets.get(cookie.domain)
    const key = keyOf(cookie)
    const known = bucket?.get(key)
    if (bucket === undefined || known === undefined) return false
    bucket.delete(key)
    this.#evictions.remove(known)
    if (bucket.size === 0) this.#buckets.delete(cookie.domain)
    const sameName = known.secure ? this.#secure.get(known.name) : undefined
    sameName?.delete(known)
    if (sameName?.size === 0) this.#secure.delete(known.name)
    return true
  }

  clear(): void {
    this.#buckets.clear()
    this.#secure.clear()
    this.#evictions.clear()
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
   * §5.7: whether a cookie from an insecure connection would hide or replace one that is for secure
   * connections, of the same domain or of one above or below it.
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
    for (let cookie = this.#evictions.expired(now); cookie !== null; cookie = this.#evictions.expired(now)) {
      this.delete(cookie)
    }
    return [...this.#buckets.values()].flatMap((bucket) => [...bucket.values()]).sort(byAge)
  }

  /** Removes those that a test accepts, of one domain or of all, and returns how many had not expired. */
  deleteWhere(domain: string | undefined, now: number, isMeant: (cookie: StoredCookie) => boolean): number {
    const only = domain === undefined ? undefined : this.#buckets.get(domain)
    if (domain !== undefined && only === undefined) return 0
    let count = 0
    for (const bucket of only === undefined ? this.#buckets.values() : [only]) {
      for (const cookie of bucket.values()) {
        if (!isMeant(cookie)) continue
        this.delete(cookie)
        if (!isExpired(cookie, now)) count++
      }
    }
    return count
  }

  /**
   * Expired cookies go first, then those that are not Secure, then any; among equals the one that was used
   * least recently.
   */
  #shrink(bucket: Bucket, now: number): void {
    const { maxCookiesPerDomain } = this.#limits
    if (bucket.size <= maxCookiesPerDomain) return
    for (const cookie of bucket.values()) if (isExpired(cookie, now)) this.delete(cookie)
    if (bucket.size <= maxCookiesPerDomain) return
    this.delete([...bucket.values()].reduce((first, cookie) => (byWorth(cookie, first) < 0 ? cookie : first)))
  }
}
