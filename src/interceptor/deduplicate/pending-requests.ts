/** The shared exchanges of one dispatcher that are under way. */
import { channels } from '../../diagnostics.ts'

export class PendingRequests<T> {
  /** Those that others may join. */
  readonly #open = new Map<string, T>()
  #size = 0

  get(key: string): T | undefined {
    return this.#open.get(key)
  }

  add(key: string, exchange: T): void {
    this.#open.set(key, exchange)
    this.#size++
    this.#publish(key, 'added')
  }

  /** None joins it from now on. */
  close(key: string, exchange: T): void {
    if (this.#open.get(key) === exchange) this.#open.delete(key)
  }

  /** It is over. */
  remove(key: string, exchange: T): void {
    this.close(key, exchange)
    this.#size--
    this.#publish(key, 'removed')
  }

  #publish(key: string, type: 'added' | 'removed'): void {
    if (!channels.pendingRequests.hasSubscribers) return
    channels.pendingRequests.publish({ size: this.#size, key, type })
  }
}
