/** A signal that fires while the listener is added, as an AbortSignal cannot. */
import type { AbortEventTarget } from '../../src/base/signal.ts'

export class EagerSignal implements AbortEventTarget {
  aborted = false
  reason: unknown = undefined
  readonly #reason: unknown

  constructor(reason: unknown) {
    this.#reason = reason
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.aborted = true
    this.reason = this.#reason
    listener()
  }

  removeEventListener(): void {}
}
