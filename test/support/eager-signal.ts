/** A signal that fires while the listener is added, as an AbortSignal cannot. */
import type { AbortEventTarget } from '../../src/base/abort/signal.ts'

/** The same, but it fires before it has the listener, which is never called. */
export class HastySignal extends EventTarget implements AbortEventTarget {
  aborted = false
  reason: unknown = undefined
  readonly #reason: unknown

  constructor(reason: unknown) {
    super()
    this.#reason = reason
  }

  override addEventListener(type: 'abort', listener: () => void): void {
    this.aborted = true
    this.reason = this.#reason
    this.dispatchEvent(new Event('abort'))
    super.addEventListener(type, listener)
  }
}

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
