/**
 * What a client and a pool do alike: whenever something may have changed they give out what waits, and then look
 * whether they are done. A pump that is entered from its own doing runs once more instead.
 */
import type { EventEmitter } from 'node:events'

export abstract class Pump {
  /** Whose events these are. */
  protected readonly speaker: EventEmitter
  #running: 'no' | 'yes' | 'again' = 'no'

  constructor(speaker: EventEmitter) {
    this.speaker = speaker
  }

  /** Gives out what can be given out now. */
  protected abstract step(): void
  protected abstract afterPump(): void

  protected pump(): void {
    if (this.#running !== 'no') {
      this.#running = 'again'
      return
    }
    do {
      this.#running = 'yes'
      this.step()
    } while (this.#running === ('again' as string))
    this.#running = 'no'
    this.afterPump()
  }

  // A function made in a method that all requests pass costs each of them, also where it is not made.

  protected pumpLater(): void {
    queueMicrotask(() => this.pump())
  }

  protected afterPumpLater(): void {
    queueMicrotask(() => this.afterPump())
  }

  protected isHeard(event: string): boolean {
    return this.speaker.listenerCount(event) > 0
  }

  /** A listener that throws is its owner's trouble: it must not stop what is going on. */
  protected emit(event: string, ...args: unknown[]): void {
    try {
      this.speaker.emit(event, ...args)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
