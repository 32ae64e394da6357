/** An answer of a store, for which nothing waits longer than a time. */
import { clearTimer, startTimer } from '../../base/loop/timer.ts'

export class NoAnswerError extends Error {}

/** Rejects when the time is up; `onLate` gets the answer that comes after that. */
export function answerWithin<T>(
  answer: PromiseLike<T>,
  milliseconds: number,
  onLate: (value: T) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isLate = false
    const timer = startTimer(() => {
      isLate = true
      reject(new NoAnswerError(`the store did not answer within ${milliseconds} ms`))
    }, milliseconds)
    Promise.resolve(answer).then(
      (value) => {
        clearTimer(timer)
        if (isLate) onLate(value)
        else resolve(value)
      },
      (error: unknown) => {
        clearTimer(timer)
        reject(error)
      },
    )
  })
}
