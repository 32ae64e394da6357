/** Promises from functions of a caller that must answer at once. */

/** A rejection that is not handled would end the process. The function is refused by the type of its answer. */
export function ignoreRejection(answer: unknown): void {
  if (answer instanceof Promise) answer.catch(() => {})
}
