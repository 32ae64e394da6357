/**
 * A growable double-ended FIFO in a ring: push, shift and unshift cost the same however long the queue is.
 */

/** A power of two, because positions wrap with a mask. */
const INITIAL_CAPACITY = 8

/** A queue that once held a burst gives its memory back when it runs empty. */
const SHRINK_ABOVE = 4096

export class RingQueue<T extends NonNullable<unknown>> {
  #slots: (T | null)[] = new Array<T | null>(INITIAL_CAPACITY).fill(null)
  #head = 0
  size = 0

  push(item: T): void {
    if (this.size === this.#slots.length) this.#resize(this.#slots.length * 2)
    this.#slots[(this.#head + this.size) & (this.#slots.length - 1)] = item
    this.size++
  }

  unshift(item: T): void {
    if (this.size === this.#slots.length) this.#resize(this.#slots.length * 2)
    this.#head = (this.#head - 1) & (this.#slots.length - 1)
    this.#slots[this.#head] = item
    this.size++
  }

  peek(): T | null {
    return this.size === 0 ? null : this.#slots[this.#head]!
  }

  shift(): T | null {
    if (this.size === 0) return null
    const item = this.#slots[this.#head]!
    this.#slots[this.#head] = null
    this.#head = (this.#head + 1) & (this.#slots.length - 1)
    this.size--
    if (this.size === 0 && this.#slots.length > SHRINK_ABOVE) this.#resize(INITIAL_CAPACITY)
    return item
  }

  /** The item `index` places after the head. */
  at(index: number): T | null {
    return index < this.size ? this.#slots[(this.#head + index) & (this.#slots.length - 1)]! : null
  }

  #resize(capacity: number): void {
    const next = new Array<T | null>(capacity).fill(null)
    for (let i = 0; i < this.size; i++) next[i] = this.at(i)
    this.#slots = next
    this.#head = 0
  }
}
