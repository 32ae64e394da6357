/** Whether a function of a caller answers later: with a promise, or with anything that is awaited like one. */
export function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as Promise<unknown> | null | undefined)?.then === 'function'
}
