/**
 * Gives a body that is in memory or in a store to a caller, piece by piece, as fast as the caller takes it.
 */
import type { BodyReader, BodyWaiter } from './body-log.ts'
import type { Downstream } from './downstream.ts'
import type { ResponseSource } from './response-source.ts'

export class BodyDelivery implements ResponseSource, BodyWaiter {
  readonly downstream: Downstream
  #reader: BodyReader | null
  #end: (() => void) | null = null
  /** `running`: a callback of the handler may run, and what it changes is seen when it returns. */
  #state: 'waiting' | 'idle' | 'running' | 'closed' = 'waiting'

  constructor(downstream: Downstream, reader: BodyReader | null = null) {
    this.downstream = downstream
    this.#reader = reader
  }

  /** The handler has the head. `end` makes the last call after the body. */
  begin(end: () => void, reader: BodyReader | null = this.#reader): void {
    if (this.#state !== 'waiting') return
    this.#state = 'idle'
    this.#reader = reader
    this.#end = end
    this.onBodyProgress()
  }

  onBodyProgress(): void {
    if (this.#state !== 'idle') return
    this.#state = 'running'
    this.downstream.contain(() => this.#deliver())
    if (this.#state === 'running') this.#state = 'idle'
  }

  #deliver(): void {
    const { downstream } = this
    while (this.#state === 'running' && !downstream.paused) {
      const chunk = this.#reader === null ? null : this.#reader.read(this)
      if (chunk === undefined) return
      if (chunk !== null) downstream.data(chunk)
      else {
        this.close()
        this.#end!()
      }
    }
  }

  /** Nothing more is delivered. */
  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#reader?.close()
  }

  abort(_reason: unknown): void {
    this.close()
  }

  pause(): void {}

  resume(): void {
    this.onBodyProgress()
  }
}
