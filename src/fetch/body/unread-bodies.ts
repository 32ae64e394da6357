/**
 * Bodies whose response was delivered and that have no reader yet. Most are read at once. From the next turn
 * of the event loop on, only their caller keeps the others alive, so that dropping the response gives up its
 * exchange.
 */
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'

/** The run of a fetch whose body may be unread. */
export interface Unread {
  /** Whether the body still has no reader, now that its caller could have begun to read. */
  isUnread(): boolean
  /** From now on only the caller keeps the body alive. */
  loosen(): void
}

const RESOLVED = Promise.resolve()

let fresh: Unread[] = []
let unread: Unread[] = []

/** The caller gets the response with the next microtasks. */
export function watchFresh(run: Unread): void {
  // Unlike a promise, `queueMicrotask` creates an AsyncResource per call. The second `then` leaves time for
  // callers whose responses are delivered after this one.
  if (fresh.push(run) === 1) void RESOLVED.then(null).then(lookAtFresh)
}

/** Loosens it in the next turn of the event loop. */
export function loosenLater(run: Unread): void {
  if (unread.push(run) === 1) runtimeSetImmediate(loosenUnread)
}

/**
 * An immediate costs more than the rest of a small response, so it is scheduled only for bodies that are
 * still unread.
 */
function lookAtFresh(): void {
  const runs = fresh
  fresh = []
  for (const run of runs) if (run.isUnread()) loosenLater(run)
}

function loosenUnread(): void {
  const runs = unread
  unread = []
  for (const run of runs) run.loosen()
}
