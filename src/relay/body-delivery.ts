/** Gives a body to a caller piece by piece, as fast as the caller takes it. */
import type { BodyReader, BodyWaiter } from './body-log.ts'
import type { Caller } from './caller.ts'

/** What becomes of the request after the last piece. */
export interface BodyOutlet {
  onBodyEnd(): void
  /** The body has failed, or the handler has thrown. */
  onBodyError(error: Error): void
}

export class BodyDelivery implements BodyWaiter {
  readonly #caller: Caller
  readonly #reader: BodyReader | null
  readonly #outlet: BodyOutlet
  /** While a callback of the handler runs, what it changes is seen when it returns. */
  #state: 'idle' | 'running' | 'closed' = 'idle'

  constructor(caller: Caller, reader: BodyReader | null, outlet: BodyOutlet) {
    this.#caller = caller
    this.#reader = reader
    this.#outlet = outlet
  }

  onBodyProgress(): void {
    this.run()
  }

  run(): void {
    if (this.#state !== 'idle') return
    this.#state = 'running'
    try {
      const isAtEnd = this.#deliver()
      if (isAtEnd) this.#outlet.onBodyEnd()
    } catch (error) {
      this.#outlet.onBodyError(error as Error)
    }
    this.#rest()
  }

  /** Nothing more is delivered. */
  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#reader?.close()
  }

  #deliver(): boolean {
    const caller = this.#caller
    while (!caller.settled && !caller.paused) {
      const chunk = this.#reader === null ? null : this.#reader.read(this)
      if (chunk === undefined) return false
      if (chunk === null) return true
      caller.data(chunk)
    }
    return false
  }

  #rest(): void {
    if (this.#state === 'running') this.#state = 'idle'
  }
}

/** There is no dispatcher whose `error` event could report what `onResponseError` throws. */
export function contain(call: () => void): void {
  try {
    call()
  } catch {
    // The request is over.
  }
}
