/**
 * The link from a signal to what it ends: strong at first, weak once only the caller's interest keeps the
 * target alive.
 */
import { type AbortSource, abortedReason, SignalHub } from './signal.ts'

/** One listener on each signal, however many targets share it. */
const hub = new SignalHub()

export interface AbortTarget {
  onAbort(reason: unknown): void
}

export class AbortLink {
  readonly #signal: AbortSource
  #end: () => void
  /** How often the target has begun what the signal may end. Kept by the target, which has it only with a signal. */
  starts = 0

  private constructor(signal: AbortSource, target: AbortTarget) {
    this.#signal = signal
    this.#end = hub.subscribe(signal, (reason) => target.onAbort(reason))
  }

  /**
   * Calls `onAbort` at once, and returns null, if the signal is aborted. It may also fire while it is
   * followed.
   */
  static to(signal: AbortSource, target: AbortTarget): AbortLink | null {
    const aborted = abortedReason(signal)
    if (aborted === null) return new AbortLink(signal, target)
    target.onAbort(aborted.reason)
    return null
  }

  /** Keeps following the signal, but the signal no longer keeps the target alive. */
  loosen(target: AbortTarget): void {
    const end = this.#end
    this.#end = hub.subscribeWeakly(this.#signal, target, (weak, reason) => weak.onAbort(reason))
    end()
  }

  end(): void {
    this.#end()
  }
}
