/**
 * Whether a function of a caller answers later: with a promise, or with anything that is awaited like one.
 */
export function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null | undefined)?.then === 'function'
}

/** Goes on with a value at once, with a promise later. */
export function whenReady<T, R>(value: T | Promise<T>, then: (value: T) => R): R | Promise<Awaited<R>> {
  return isThenable(value) ? (Promise.resolve(value).then(then as never) as Promise<Awaited<R>>) : then(value)
}

/**
 * For a function of a caller that is told to call back, and may be an async function, or return anything that is
 * awaited like a promise: what it rejects with counts as thrown.
 */
export function onRejection(answer: unknown, act: (reason: unknown) => void): void {
  if (isThenable(answer)) Promise.resolve(answer).then(undefined, act)
}

export interface Abortable {
  abort(reason?: unknown): void
}

/**
 * What a method of a handler has returned. Whoever gets it next may not hand on the promise of an async
 * function, so its rejection aborts the request here: it must not end the process.
 */
export function watched<T>(answer: T, request: Abortable | null): T {
  if (isThenable(answer)) answer.then(undefined, (error: unknown) => request?.abort(error))
  return answer
}
