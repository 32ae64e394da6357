/**
 * The `setImmediate` and `nextTick` of the runtime, for work that waits for the event loop and not for time
 * to pass. A fake clock replaces the global ones: with those, requests would stand still until somebody
 * advances the clock, and for ever if it is removed before.
 */
import { setImmediate } from 'node:timers'

// Assigned here: a CommonJS build reads an imported name from its module anew each time, and fake clocks
// change that, too.
export const runtimeSetImmediate: typeof setImmediate = setImmediate
export const runtimeNextTick: typeof process.nextTick = process.nextTick
