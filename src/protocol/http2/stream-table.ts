/**
 * Streams by id, in an open-addressing table of our own. A Map would do, but for a connection that opens and
 * closes streams for ever it rebuilds its inner table again and again, and each discarded one points to its
 * successor: once one of them is promoted by the garbage collector, all later ones, and the streams in them,
 * survive every minor collection.
 */
import type { Stream } from './stream.ts'

/** A power of two, because places wrap with a mask; holds the usual 100 streams without growing. */
const INITIAL_PLACES = 256

export class StreamTable<T> {
  #places: (Stream<T> | null)[] = new Array<Stream<T> | null>(INITIAL_PLACES).fill(null)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(id: number): Stream<T> | undefined {
    const places = this.#places
    const mask = places.length - 1
    for (let at = homeOf(id) & mask; ; at = (at + 1) & mask) {
      const stream = places[at]!
      if (stream === null) return undefined
      if (stream.id === id) return stream
    }
  }

  /** The id is not in the table. */
  add(stream: Stream<T>): void {
    // At most half full, so that a search ends soon.
    if (this.#size * 2 >= this.#places.length) this.#grow()
    this.#place(stream)
    this.#size++
  }

  /** Closes the gap with what stands behind it, so that searches need no marks for removed streams. */
  remove(stream: Stream<T>): void {
    const places = this.#places
    const mask = places.length - 1
    let gap = homeOf(stream.id) & mask
    while (places[gap] !== stream) {
      if (places[gap] === null) return
      gap = (gap + 1) & mask
    }
    for (let at = (gap + 1) & mask; places[at] !== null; at = (at + 1) & mask) {
      const home = homeOf(places[at]!.id) & mask
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        places[gap] = places[at]!
        gap = at
      }
    }
    places[gap] = null
    this.#size--
  }

  /** In the order they were opened. A copy, because what is done with the streams may open and close others. */
  all(): Stream<T>[] {
    return this.#places.filter((stream) => stream !== null).sort((a, b) => a.id - b.id)
  }

  /** Without copying and in no order; `visit` must not touch the table. */
  forEach(visit: (stream: Stream<T>) => void): void {
    for (const stream of this.#places) {
      if (stream !== null) visit(stream)
    }
  }

  #place(stream: Stream<T>): void {
    const places = this.#places
    const mask = places.length - 1
    let at = homeOf(stream.id) & mask
    while (places[at] !== null) at = (at + 1) & mask
    places[at] = stream
  }

  #grow(): void {
    const old = this.#places
    this.#places = new Array<Stream<T> | null>(old.length * 2).fill(null)
    for (const stream of old) {
      if (stream !== null) this.#place(stream)
    }
  }
}

/** A client's ids are odd and come in a row, so without their lowest bit they fill the table evenly. */
function homeOf(id: number): number {
  return id >>> 1
}
