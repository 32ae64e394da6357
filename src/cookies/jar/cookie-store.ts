/**
 * The cookies of a jar: finds those of a host without looking at the others, and evicts when there are too
 * many (RFC 6265bis §5.7). They are in Maps, where no name or domain that a server chooses is special.
 */
import { EvictionOrder } from './eviction-order.ts'
import { domainMatches, isAddress } from './host.ts'
import type { JarSettings } from './options.ts'
import { pathMatches } from './path.ts'
import { byAge, byWorth, isExpired, keyOf, type StoredCookie } from './stored-cookie.ts'

type Bucket = Map<string, StoredCookie>

export class CookieStore {
  readonly #limits: JarSettings
  readonly #buckets = new Map<string, Bucket>()
  /** The cookies that are Secure, by name. */
  readonly #secure = new Map<string, Set<StoredCookie>>()
  #evictions = new EvictionOrder()
  #order = 0

  constructor(limits: JarSettings) {
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
  delete(cookie: StoredCookie): void {
    const bucket = this.#buckets.get(cookie.domain)
    const key = keyOf(cookie)
    const known = bucket?.get(key)
    if (bucket === undefined || known === undefined) return
    bucket.delete(key)
    this.#evictions.remove(known)
    if (bucket.size === 0) this.#buckets.delete(cookie.domain)
    const sameName = known.secure ? this.#secure.get(known.name) : undefined
    sameName?.delete(known)
    if (sameName?.size === 0) this.#secure.delete(known.name)
  }

  clear(): void {
    this.#buckets.clear()
    this.#secure.clear()
    this.#evictions = new EvictionOrder()
  }

  /** Those that a host gets, in no order, whatever their path. Expired ones are removed on the way. */
  of(host: string, now: number): StoredCookie[] {
    const found: StoredCookie[] = []
    for (let domain = host; domain !== ''; domain = parentOf(domain)) {
      for (const cookie of this.#buckets.get(domain)?.values() ?? []) {
        if (isExpired(cookie, now)) this.delete(cookie)
        else if (domain === host || !cookie.hostOnly) found.push(cookie)
      }
    }
    return found
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
    const all = [...this.#buckets.values()].flatMap((bucket) => [...bucket.values()])
    for (const cookie of all) if (isExpired(cookie, now)) this.delete(cookie)
    return all.filter((cookie) => !isExpired(cookie, now)).sort(byAge)
  }

  /** Removes those that a test accepts, of one domain or of all, and returns how many had not expired. */
  deleteWhere(domain: string | undefined, now: number, isMeant: (cookie: StoredCookie) => boolean): number {
    const cookies = domain === undefined ? this.all(now) : (this.#buckets.get(domain)?.values() ?? [])
    const meant = [...cookies].filter(isMeant)
    for (const cookie of meant) this.delete(cookie)
    return meant.filter((cookie) => !isExpired(cookie, now)).length
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

/** Empty at the top, where addresses are. */
function parentOf(domain: string): string {
  const dot = isAddress(domain) ? -1 : domain.indexOf('.')
  return dot === -1 ? '' : domain.slice(dot + 1)
}
