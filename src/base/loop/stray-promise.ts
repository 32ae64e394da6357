/** Promises from functions of a caller that must answer at once. */

/**
 * A rejection that is not handled would end the process. The function is refused by the type of its answer.
 */
export function ignoreRejection(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => {})
}

/** The answer itself, if it may be passed on to code that refuses it. */
export function withoutRejection<T>(answer: T): T {
  ignoreRejection(answer)
  return answer
}
