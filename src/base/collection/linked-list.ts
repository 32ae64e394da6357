/**
 * A list whose items hold their own links: adding, removing any item and counting cost the same however long
 * it is.
 */

/** An item, which is in one list at most. Only the list writes these. */
export interface Linked<T extends Linked<T>> {
  previous: T | null
  next: T | null
  listedIn: LinkedList<T> | null
}

export class LinkedList<T extends Linked<T>> {
  first: T | null = null
  #last: T | null = null
  size = 0

  /** The item is in no list. */
  push(item: T): void {
    item.listedIn = this
    item.previous = this.#last
    if (this.#last === null) this.first = item
    else this.#last.next = item
    this.#last = item
    this.size++
  }

  /** The item must be in this list. */
  remove(item: T): void {
    const { previous, next } = item
    if (previous === null) this.first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    // An item that is kept must not keep its former neighbours.
    item.previous = null
    item.next = null
    item.listedIn = null
    this.size--
  }

  shift(): T | null {
    const first = this.first
    if (first !== null) this.remove(first)
    return first
  }
}
