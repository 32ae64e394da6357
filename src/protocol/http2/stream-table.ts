/**
 * Live streams by id. A Map alone would do, but one that keeps gaining and losing streams replaces its inner
 * table again and again, and each discarded table points to its successor: once the garbage collector has
 * promoted one of them, all later ones, and the streams in them, survive every minor collection.
 */
import type { Stream } from './stream.ts'

/** A power of two, because ids wrap with a mask. Few idle connections need more. */
const FIRST_PLACES = 16

export class StreamTable {
  /** Direct-mapped: ids are consecutive, so streams of about the same age have places of their own. */
  #places: (Stream | null)[] = new Array<Stream | null>(FIRST_PLACES).fill(null)
  /** Streams that live so long that a younger one needed their place. */
  readonly #displaced = new Map<number, Stream>()
  size = 0

  get(id: number): Stream | undefined {
    const stream = this.#places[this.#placeOf(id)]!
    return stream !== null && stream.id === id ? stream : this.#displaced.get(id)
  }

  /** The id is not in the table, and higher than any before. */
  add(stream: Stream): void {
    if (this.size * 2 >= this.#places.length) this.#grow()
    this.#put(stream)
    this.size++
  }

  remove(stream: Stream): void {
    const place = this.#placeOf(stream.id)
    if (this.#places[place] === stream) this.#places[place] = null
    else if (!this.#displaced.delete(stream.id)) return
    this.size--
  }

  /** A copy, in the order they were opened. */
  all(): Stream[] {
    const placed = this.#places.filter((stream) => stream !== null)
    return [...this.#displaced.values(), ...placed].sort((one, other) => one.id - other.id)
  }

  #put(stream: Stream): void {
    const place = this.#placeOf(stream.id)
    const older = this.#places[place]!
    if (older !== null) this.#displaced.set(older.id, older)
    this.#places[place] = stream
  }

  #grow(): void {
    const streams = this.#places
    this.#places = new Array<Stream | null>(2 * streams.length).fill(null)
    for (const stream of streams) if (stream !== null) this.#put(stream)
  }

  #placeOf(id: number): number {
    return (id >>> 1) & (this.#places.length - 1)
  }
}
