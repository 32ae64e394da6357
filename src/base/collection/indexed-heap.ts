/**
 * A binary heap whose items know their place, so that any of them can be moved or removed in O(log n): the
 * members of a pool that can take work, the cookies of a jar that are the next to go.
 */

export interface Ranked {
  /** The lowest comes first. */
  rank: number
  /** Decides between equal ranks; no two have the same. */
  readonly order: number
  /** Its place in the heap, which keeps it up to date. */
  heapIndex: number
}

/** The index of an item that is in no heap. */
export const NOT_IN_HEAP = -1

export class IndexedHeap<T extends Ranked> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  peek(): T | null {
    return this.#items[0] ?? null
  }

  /** Puts an item in, or where it belongs now that its rank has changed. */
  place(item: T): void {
    if (item.heapIndex === NOT_IN_HEAP) item.heapIndex = this.#items.push(item) - 1
    this.#sift(item)
  }

  remove(item: T): void {
    const { heapIndex } = item
    if (heapIndex === NOT_IN_HEAP) return
    item.heapIndex = NOT_IN_HEAP
    const last = this.#items.pop()!
    if (last === item) return
    this.#put(last, heapIndex)
    this.#sift(last)
  }

  #sift(item: T): void {
    const items = this.#items
    for (let up = (item.heapIndex - 1) >> 1; item.heapIndex > 0 && precedes(item, items[up]!); ) {
      this.#put(items[up]!, item.heapIndex)
      this.#put(item, up)
      up = (up - 1) >> 1
    }
    for (let down = this.#lesserChild(item.heapIndex); down !== null && precedes(down, item); ) {
      const { heapIndex } = down
      this.#put(down, item.heapIndex)
      this.#put(item, heapIndex)
      down = this.#lesserChild(heapIndex)
    }
  }

  #lesserChild(heapIndex: number): T | null {
    const left = this.#items[2 * heapIndex + 1]
    const right = this.#items[2 * heapIndex + 2]
    if (left === undefined) return null
    return right !== undefined && precedes(right, left) ? right : left
  }

  #put(item: T, heapIndex: number): void {
    this.#items[heapIndex] = item
    item.heapIndex = heapIndex
  }
}

function precedes(a: Ranked, b: Ranked): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.order < b.order)
}
