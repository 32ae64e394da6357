/**
 * The requests that wait for a connection, in order. A request that is given up while it waits stays in its
 * place until it is passed over or swept out, so giving up costs the same however long the queue is.
 */
import { RingQueue } from '../../base/collection/ring-queue.ts'
import type { Request } from '../../request/request.ts'

/** What may wait in a queue. */
export interface Waiting {
  /** It has ended, and needs nothing more. */
  readonly settled: boolean
}

/**
 * Settled requests are swept out when there are more than this, and more than half of all: each sweep is paid
 * for by what it frees.
 */
const SWEEP_ABOVE = 64

export class RequestQueue<T extends Waiting & object = Request> {
  readonly #ring = new RingQueue<T>()
  /** Taken out all together, to be failed: one that is given up meanwhile does not shorten the queue. */
  #drained: WeakSet<T> | null = null
  #settled = 0

  get size(): number {
    return this.#ring.size - this.#settled
  }

  push(request: T): void {
    this.#ring.push(request)
  }

  /** Puts requests back in front of all others, in their order. */
  putBack(requests: readonly T[]): void {
    for (let i = requests.length - 1; i >= 0; i--) this.#ring.unshift(requests[i]!)
  }

  unshift(request: T): void {
    this.#ring.unshift(request)
  }

  peek(): T | null {
    for (let head = this.#ring.peek(); head !== null; head = this.#ring.peek()) {
      if (!head.settled) return head
      this.#ring.shift()
      this.#settled--
    }
    return null
  }

  shift(): T | null {
    return this.peek() === null ? null : this.#ring.shift()
  }

  /** A request in the queue has settled. */
  onSettled(request: T): void {
    if (this.#drained?.has(request)) return
    this.#settled++
    if (this.#settled > SWEEP_ABOVE && this.#settled > this.#ring.size / 2) this.drain(() => false)
  }

  /**
   * Takes out all requests, or those of which the predicate holds; the others keep their order. Settled ones
   * are swept out.
   */
  drain(holds: (request: T) => boolean = () => true): T[] {
    const requests: T[] = []
    for (let left = this.#ring.size; left > 0; left--) {
      const request = this.#ring.shift()!
      if (request.settled) {
        this.#settled--
      } else if (holds(request)) {
        this.#drained ??= new WeakSet()
        this.#drained.add(request)
        requests.push(request)
      } else {
        this.#ring.push(request)
      }
    }
    return requests
  }
}
