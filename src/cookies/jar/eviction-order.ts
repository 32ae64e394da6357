/**
 * The order in which cookies leave a full jar, whatever their domain: those that have expired, then the one
 * that was used least recently. It never walks through all of them: a server can send a cookie for every host
 * that it has a name for.
 */
import { IndexedHeap, NOT_IN_HEAP, type Ranked } from '../../base/collection/indexed-heap.ts'
import { isExpired, type StoredCookie } from './stored-cookie.ts'

interface Turn extends Ranked {
  readonly cookie: StoredCookie
}

function turnOf(cookie: StoredCookie, rank: number): Turn {
  return { cookie, rank, order: cookie.order, heapIndex: NOT_IN_HEAP }
}

export class EvictionOrder {
  readonly #turns = new Map<StoredCookie, { readonly byUse: Turn; readonly byExpiry: Turn | null }>()
  readonly #byUse = new IndexedHeap<Turn>()
  readonly #byExpiry = new IndexedHeap<Turn>()

  get size(): number {
    return this.#turns.size
  }

  add(cookie: StoredCookie): void {
    const byUse = turnOf(cookie, cookie.lastAccessTime)
    const byExpiry = cookie.expires === null ? null : turnOf(cookie, cookie.expires)
    this.#turns.set(cookie, { byUse, byExpiry })
    this.#byUse.place(byUse)
    if (byExpiry !== null) this.#byExpiry.place(byExpiry)
  }

  remove(cookie: StoredCookie): void {
    const { byUse, byExpiry } = this.#turns.get(cookie)!
    this.#turns.delete(cookie)
    this.#byUse.remove(byUse)
    if (byExpiry !== null) this.#byExpiry.remove(byExpiry)
  }

  /** The time of its last use has changed. */
  moved(cookie: StoredCookie): void {
    const { byUse } = this.#turns.get(cookie)!
    byUse.rank = cookie.lastAccessTime
    this.#byUse.place(byUse)
  }

  /** The one that goes first. Null if there is none. */
  first(now: number): StoredCookie | null {
    const expiring = this.#byExpiry.peek()?.cookie
    if (expiring !== undefined && isExpired(expiring, now)) return expiring
    return this.#byUse.peek()?.cookie ?? null
  }
}
