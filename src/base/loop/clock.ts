/**
 * The clock of `performance.now()`: milliseconds, steady. The global is a getter that costs more than reading
 * the clock, so it is read once; at the first use, because the runtime loads the module for it then.
 */
let clock: typeof performance | null = null

export function now(): number {
  clock ??= globalThis.performance
  return clock.now()
}
