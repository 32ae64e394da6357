/**
 * The answers of a store that may be slow. Nothing waits longer than a time for one, and after a failure the
 * store is left alone for a while: every request would wait for it again.
 */
import { clearTimer, startTimer } from '../base/loop/timer.ts'

export class StoreAnswers {
  readonly #timeout: number
  readonly #rest: number
  readonly #restsAfterErrors: boolean
  #restsUntil = 0

  /**
   * @param restsAfterErrors Whether an error counts like no answer. If it does not, the store is asked again
   * as soon as an answer comes after all.
   */
  constructor(timeout: number, rest: number, restsAfterErrors: boolean) {
    this.#timeout = timeout
    this.#rest = rest
    this.#restsAfterErrors = restsAfterErrors
  }

  get isResting(): boolean {
    return Date.now() < this.#restsUntil
  }

  /** Rejects when the time is up; `onLate` gets the answer that comes after that. */
  within<T>(answer: PromiseLike<T>, onLate: (value: T) => void = () => {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isLate = false
      const fail = (error: unknown, rests: boolean): void => {
        clearTimer(timer)
        if (rests) this.#restsUntil = Date.now() + this.#rest
        reject(error)
      }
      const timer = startTimer(() => {
        isLate = true
        fail(new Error(`the store did not answer within ${this.#timeout} ms`), true)
      }, this.#timeout)
      Promise.resolve(answer).then(
        (value) => {
          clearTimer(timer)
          resolve(value)
          if (!isLate) return
          if (!this.#restsAfterErrors) this.#restsUntil = 0
          onLate(value)
        },
        (error: unknown) => fail(error, this.#restsAfterErrors && !isLate),
      )
    })
  }
}
