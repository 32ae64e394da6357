/**
 * The members of a pool that can take work now, the one whose turn it is on top. A binary heap: what a pool
 * pays for choosing does not depend on how many members it has.
 */

export interface Ranked {
  /** The lowest comes first. */
  rank: number
  /** Decides between equal ranks; no two have the same. */
  readonly order: number
  /** Where it stands in the heap; owned by the heap. */
  slot: number
}

/** The slot of what is in no heap. */
export const NO_SLOT = -1

export class FreeHeap<T extends Ranked> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): T | null {
    return this.#items[0] ?? null
  }

  /** Puts an item in, or where it belongs now that its rank has changed. */
  place(item: T): void {
    if (item.slot === NO_SLOT) item.slot = this.#items.push(item) - 1
    this.#settle(item)
  }

  remove(item: T): void {
    const { slot } = item
    if (slot === NO_SLOT) return
    item.slot = NO_SLOT
    const last = this.#items.pop()!
    if (last === item) return
    this.#put(last, slot)
    this.#settle(last)
  }

  #settle(item: T): void {
    const items = this.#items
    for (let up = (item.slot - 1) >> 1; item.slot > 0 && precedes(item, items[up]!); ) {
      this.#put(items[up]!, item.slot)
      this.#put(item, up)
      up = (up - 1) >> 1
    }
    for (let down = this.#lesserChild(item.slot); down !== null && precedes(down, item); ) {
      const { slot } = down
      this.#put(down, item.slot)
      this.#put(item, slot)
      down = this.#lesserChild(slot)
    }
  }

  #lesserChild(slot: number): T | null {
    const left = this.#items[2 * slot + 1]
    const right = this.#items[2 * slot + 2]
    if (left === undefined) return null
    return right !== undefined && precedes(right, left) ? right : left
  }

  #put(item: T, slot: number): void {
    this.#items[slot] = item
    item.slot = slot
  }
}

function precedes(a: Ranked, b: Ranked): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.order < b.order)
}
