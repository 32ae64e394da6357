/** The requests of an agent that no dispatcher has, because a function of the caller has not answered yet. */
import type { HeldCall } from '../relay/held-call.ts'

export class HeldCalls {
  readonly #calls = new Set<HeldCall>()
  #whenEmpty: (() => void) | null = null

  add(call: HeldCall): void {
    this.#calls.add(call)
  }

  delete(call: HeldCall): void {
    if (!this.#calls.delete(call) || this.#calls.size > 0) return
    this.#whenEmpty?.()
    this.#whenEmpty = null
  }

  whenEmpty(done: () => void): void {
    if (this.#calls.size === 0) done()
    else this.#whenEmpty = done
  }

  fail(error: Error): void {
    for (const call of [...this.#calls]) {
      call.fail(error)
      this.delete(call)
    }
  }
}
