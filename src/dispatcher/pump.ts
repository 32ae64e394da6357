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
  /** Something of ours threw where nobody else is to blame: ends what cannot go on, so that the rest can. */
  protected abstract onBroken(error: Error): void

  /** Throws nothing: whoever it is called by has nothing to do with what it comes upon. */
  protected pump(): void {
    if (this.#running !== 'no') {
      this.#running = 'again'
      return
    }
    try {
      do {
        this.#running = 'yes'
        this.step()
      } while (this.#running === ('again' as string))
    } catch (error) {
      this.onBroken(error as Error)
    }
    this.#running = 'no'
    this.settle()
  }

  /** Looks whether it is done, without giving anything out. Throws nothing. */
  protected settle(): void {
    try {
      this.afterPump()
    } catch (error) {
      this.onBroken(error as Error)
    }
  }

  // A function made in a method that all requests pass costs each of them, also where it is not made.

  protected pumpLater(): void {
    queueMicrotask(() => this.pump())
  }

  protected afterPumpLater(): void {
    queueMicrotask(() => this.settle())
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
