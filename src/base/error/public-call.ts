/**
 * The public function that the caller is in, for the stacks of errors: a bad argument is a mistake in the
 * caller's line, which ten frames of ours would hide.
 */
import { DEBUG_FLAGS } from '../node/debug-flags.ts'

// biome-ignore lint/complexity/noBannedTypes: only its identity counts, and that of a class is a function, too
export type PublicFunction = Function

/** Null outside of all calls: what fails later has no frames of the caller. */
let running: PublicFunction | null = null

/** Returns what `leave` takes. The two are for calls that are made often; others use `inCall`. */
export function enter(called: PublicFunction): PublicFunction | null {
  const outer = running
  running = called
  return outer
}

export function leave(outer: PublicFunction | null): void {
  running = outer
}

/** Runs the part of a public function that reads its arguments. Its errors begin at the caller's line. */
export function inCall<T>(called: PublicFunction, run: () => T): T {
  const outer = enter(called)
  try {
    return run()
  } catch (error) {
    throw atCaller(error)
  } finally {
    leave(outer)
  }
}

/**
 * Lets the stack of a bad argument begin where the public function was called, which must be on the stack
 * now. `fallback` is for a call that comes from elsewhere.
 */
export function atCaller<E>(error: E, fallback: PublicFunction | null = null): E {
  const called = running ?? fallback
  if (called !== null && isBadArgument(error)) Error.captureStackTrace(error, called)
  return error
}

function isBadArgument(error: unknown): error is Error {
  try {
    return error instanceof Error && (error as { code?: unknown }).code === 'UND_ERR_INVALID_ARG'
  } catch {
    // A value of the caller that cannot be read is none of ours.
    return false
  }
}

/** Where a request was made; kept for `RUNTIME_DEBUG=stacks`, and null without it. */
export interface CallSite {
  readonly stack?: string
}

const KEEPS_CALL_SITES = DEBUG_FLAGS.has('stacks')

/** `called` is left out with all frames above it. */
export function callSite(called: PublicFunction | null = running): CallSite | null {
  if (!KEEPS_CALL_SITES || called === null) return null
  const site: CallSite = {}
  Error.captureStackTrace(site, called)
  return site
}

/** Adds the place of the call to the stack of an error that was made later. */
export function addCallSite(error: unknown, site: CallSite | null | undefined): void {
  if (!site || !(error instanceof Error)) return
  try {
    const frames = String(site.stack).split('\n').slice(1).join('\n')
    const { stack } = error
    // Several requests may end with one error, and a bad argument begins at the call.
    if (typeof stack !== 'string' || frames === '' || stack.includes(frames) || stack.includes(CALLED)) return
    const value = `${stack}\n    ${CALLED}\n${frames}`
    Object.defineProperty(error, 'stack', { value, configurable: true, writable: true })
  } catch {
    // It is frozen, or a value of the caller that cannot be read.
  }
}

const CALLED = '--- the call that failed:'
