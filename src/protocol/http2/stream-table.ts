/**
 * Streams by id, in an open-addressing table. A Map would do, but a connection that keeps opening and closing
 * streams makes it rebuild its inner table again and again, and each discarded one points to its successor:
 * once the garbage collector has promoted one of them, all later ones, and the streams in them, survive every
 * minor collection.
 */
import type { Stream } from './stream.ts'

/** The table starts with 2 to this power of places: few idle connections need more, and it grows with use. */
const INITIAL_BITS = 4

export class StreamTable {
  #places: (Stream | null)[] = emptyPlaces(INITIAL_BITS)
  /** Number of the highest bits of a hash that select the place. */
  #bits = INITIAL_BITS
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: number): Stream | undefined {
    const places = this.#places
    const mask = places.length - 1
    for (let at = homeOf(id, this.#bits); ; at = (at + 1) & mask) {
      const stream = places[at]!
      if (stream === null) return undefined
      if (stream.id === id) return stream
    }
  }

  /** The id is not in the table. */
  add(stream: Stream): void {
    // At most half full, so that a search ends soon.
    if (this.#size * 2 >= this.#places.length) this.#grow()
    this.#place(stream)
    this.#size++
  }

  /** Moves later streams into the gap, so that searches need no marks for removed streams. */
  remove(stream: Stream): void {
    const places = this.#places
    const mask = places.length - 1
    let gap = homeOf(stream.id, this.#bits)
    while (places[gap] !== stream) {
      if (places[gap] === null) return
      gap = (gap + 1) & mask
    }
    for (let at = (gap + 1) & mask; places[at] !== null; at = (at + 1) & mask) {
      const home = homeOf(places[at]!.id, this.#bits)
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        places[gap] = places[at]!
        gap = at
      }
    }
    places[gap] = null
    this.#size--
  }

  /**
   * In the order they were opened. A copy, because the caller may open and close streams while it iterates.
   */
  all(): Stream[] {
    return this.#places.filter((stream) => stream !== null).sort((a, b) => a.id - b.id)
  }

  /** Without copying and in no order; `visit` must not touch the table. */
  forEach(visit: (stream: Stream) => void): void {
    for (const stream of this.#places) {
      if (stream !== null) visit(stream)
    }
  }

  #place(stream: Stream): void {
    const places = this.#places
    const mask = places.length - 1
    let at = homeOf(stream.id, this.#bits)
    while (places[at] !== null) at = (at + 1) & mask
    places[at] = stream
  }

  #grow(): void {
    const old = this.#places
    this.#bits++
    this.#places = emptyPlaces(this.#bits)
    for (const stream of old) {
      if (stream !== null) this.#place(stream)
    }
  }
}

function emptyPlaces(bits: number): (Stream | null)[] {
  return new Array<Stream | null>(2 ** bits).fill(null)
}

/**
 * Ids are consecutive, and consecutive places would make each removal look at all streams. Multiples of the
 * golden ratio spread them as far apart as possible.
 */
function homeOf(id: number, bits: number): number {
  return Math.imul(id >>> 1, 0x9e3779b1) >>> (32 - bits)
}
