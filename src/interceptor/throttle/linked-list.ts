/** A list whose items hold their own links: adding, removing any item and counting cost the same however long it is. */

/** An item, which is in one list at most. The links belong to the list. */
export interface Linked<T> {
  previous: T | null
  next: T | null
}

export class LinkedList<T extends Linked<T>> {
  #first: T | null = null
  #last: T | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  get first(): T | null {
    return this.#first
  }

  push(item: T): void {
    item.previous = this.#last
    if (this.#last === null) this.#first = item
    else this.#last.next = item
    this.#last = item
    this.#size++
  }

  /** The item must be in this list. */
  remove(item: T): void {
    const { previous, next } = item
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    // An item that is kept must not keep its former neighbours.
    item.previous = null
    item.next = null
    this.#size--
  }

  shift(): T | null {
    const first = this.#first
    if (first !== null) this.remove(first)
    return first
  }
}
