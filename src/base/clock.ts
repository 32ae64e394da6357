/**
 * The clock of `performance.now()`: milliseconds, steady. The global is a getter that costs more than reading the
 * clock, so it is asked once; at the first use, for the runtime loads what is behind it then.
 */
let clock: typeof performance | null = null

export function now(): number {
  clock ??= globalThis.performance
  return clock.now()
}
