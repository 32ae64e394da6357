/** Collects uncaught errors, instead of the test runner, until it is stopped. */

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

type Listener = (error: unknown) => void

export class Uncaught {
  readonly #errors: unknown[] = []
  readonly #others: Listener[][]
  readonly #note: Listener = (error) => void this.#errors.push(error)

  constructor() {
    this.#others = EVENTS.map((event) => process.listeners(event as 'uncaughtException') as Listener[])
    for (const event of EVENTS) process.removeAllListeners(event).on(event, this.#note)
  }

  /** Restores the listeners and returns the collected errors. */
  stop(): readonly unknown[] {
    for (const [index, event] of EVENTS.entries()) {
      process.removeListener(event, this.#note)
      for (const listener of this.#others[index]!) process.on(event as 'uncaughtException', listener)
    }
    return this.#errors
  }
}
