/**
 * A queue of streams, first in, first out, linked through the streams themselves: adding, taking and removing
 * one costs the same however many wait, and a reset stream leaves nothing behind. A stream is in one list at
 * most.
 */
import type { Stream } from './stream.ts'

export class StreamList<T> {
  #first: Stream<T> | null = null
  #last: Stream<T> | null = null

  get isEmpty(): boolean {
    return this.#first === null
  }

  push(stream: Stream<T>): void {
    stream.scheduledIn = this
    stream.previousScheduled = this.#last
    if (this.#last === null) this.#first = stream
    else this.#last.nextScheduled = stream
    this.#last = stream
  }

  shift(): Stream<T> | null {
    const stream = this.#first
    if (stream !== null) this.remove(stream)
    return stream
  }

  /** The stream is in this list. */
  remove(stream: Stream<T>): void {
    const next = stream.nextScheduled
    const previous = stream.previousScheduled
    if (previous === null) this.#first = next
    else previous.nextScheduled = next
    if (next === null) this.#last = previous
    else next.previousScheduled = previous
    stream.scheduledIn = null
    stream.nextScheduled = null
    stream.previousScheduled = null
  }
}
