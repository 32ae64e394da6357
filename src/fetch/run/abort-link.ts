/**
 * The link from the signal of a fetch to its run: strong while the exchange runs, weak once the response is complete.
 */
import { type AbortSource, SignalHub } from '../../base/signal.ts'

/** One listener on each signal, however many fetches share it. */
const hub = new SignalHub()

/** The run of a fetch. */
export interface AbortTarget {
  onAbort(reason: unknown): void
}

export class AbortLink {
  #signal: AbortSource | null = null
  #end: (() => void) | null = null

  get isFollowing(): boolean {
    return this.#end !== null
  }

  follow(signal: AbortSource, target: AbortTarget): void {
    this.#signal = signal
    this.#end = hub.subscribe(signal, (reason) => target.onAbort(reason))
  }

  /** Keeps following the signal, but the signal no longer keeps an unread body alive. */
  loosen(target: AbortTarget): void {
    const end = this.#end
    if (end === null) return
    this.#end = hub.subscribeWeakly(this.#signal!, target, (run, reason) => run.onAbort(reason))
    end()
  }

  end(): void {
    this.#end?.()
    this.#end = null
  }
}
