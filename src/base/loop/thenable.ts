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
