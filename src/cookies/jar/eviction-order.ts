/**
 * Owns the order in which cookies leave a full jar, whatever their domain: those that have expired, then the
 * one that was used least recently. It never walks through them: a server can send a cookie for every host
 * that it has a name for.
 */
import { IndexedHeap, NOT_IN_HEAP, type Ranked } from '../../base/collection/indexed-heap.ts'
import type { StoredCookie } from './stored-cookie.ts'

interface Turn extends Ranked {
  readonly cookie: StoredCookie
}

interface Turns {
  readonly byUse: Turn
  /** Null for a cookie of this session. */
  readonly byExpiry: Turn | null
}

function turnOf(cookie: StoredCookie, rank: number): Turn {
  return { cookie, rank, order: cookie.order, heapIndex: NOT_IN_HEAP }
}

export class EvictionOrder {
  readonly #turns = new Map<StoredCookie, Turns>()
  #byUse = new IndexedHeap<Turn>()
  #byExpiry = new IndexedHeap<Turn>()

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
    const turns = this.#turns.get(cookie)
    if (turns === undefined) return
    this.#turns.delete(cookie)
    this.#byUse.remove(turns.byUse)
    if (turns.byExpiry !== null) this.#byExpiry.remove(turns.byExpiry)
  }

  /** The time of its last use has changed. */
  moved(cookie: StoredCookie): void {
    const turns = this.#turns.get(cookie)
    if (turns === undefined) return
    turns.byUse.rank = cookie.lastAccessTime
    this.#byUse.place(turns.byUse)
  }

  clear(): void {
    this.#turns.clear()
    this.#byUse = new IndexedHeap()
    this.#byExpiry = new IndexedHeap()
  }

  /** One that has expired. */
  expired(now: number): StoredCookie | null {
    const turn = this.#byExpiry.peek()
    return turn !== null && turn.rank <= now ? turn.cookie : null
  }

  /** The one that goes first. */
  first(now: number): StoredCookie | null {
    return this.expired(now) ?? this.#byUse.peek()?.cookie ?? null
  }
}
