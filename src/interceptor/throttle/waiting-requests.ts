/**
 * The requests of one key that wait: those of a higher priority leave first, those of the same priority in
 * the order in which they came. So that none waits without end, every eighth that leaves is the one that has
 * waited longest.
 */
import { type Linked, LinkedList } from '../../base/collection/linked-list.ts'

export interface Waiting<T extends Waiting<T>> extends Linked<T> {
  readonly priority: number
  /** The place among all that ever waited here. */
  order: number
}

/** One departure out of so many goes to the longest wait, whatever its priority. */
const OLDEST_EVERY = 8

export class WaitingRequests<T extends Waiting<T>> {
  /** Highest priority first. As few as there are priorities; they stay when they run empty. */
  readonly #classes: { readonly priority: number; readonly list: LinkedList<T> }[] = []
  size = 0
  #arrivals = 0
  /** Departures at which one priority went before another. */
  #preferences = 0

  add(request: T): void {
    request.order = this.#arrivals++
    this.#listOf(request.priority).push(request)
    this.size++
  }

  remove(request: T): void {
    this.#listOf(request.priority).remove(request)
    this.size--
  }

  /** All of them, those that leave first in front. */
  takeAll(): T[] {
    const all: T[] = []
    for (let next = this.take(); next !== null; next = this.take()) all.push(next)
    return all
  }

  take(): T | null {
    const list = this.#next()
    if (list === null) return null
    this.size--
    return list.shift()
  }

  #next(): LinkedList<T> | null {
    let highest: LinkedList<T> | null = null
    let oldest: LinkedList<T> | null = null
    for (const { list } of this.#classes) {
      if (list.first === null) continue
      highest ??= list
      if (oldest === null || list.first.order < oldest.first!.order) oldest = list
    }
    if (highest !== oldest && ++this.#preferences % OLDEST_EVERY === 0) return oldest
    return highest
  }

  #listOf(priority: number): LinkedList<T> {
    let index = 0
    for (; index < this.#classes.length; index++) {
      const known = this.#classes[index]!
      if (known.priority === priority) return known.list
      if (known.priority < priority) break
    }
    const list = new LinkedList<T>()
    this.#classes.splice(index, 0, { priority, list })
    return list
  }
}
