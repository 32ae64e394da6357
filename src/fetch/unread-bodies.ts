/**
 * Bodies whose response is out and that have no reader yet. Most are read at once; the others are held by their caller
 * alone from the next turn of the event loop on, so that a dropped response gives up its exchange.
 */

/** The run of a fetch, as far as its body may be unread. */
export interface Unread {
  /** Whether the body still has no reader, now that its caller could have begun to read. */
  isUnread(): boolean
  /** From now on the caller alone decides how long the body lives. */
  loosen(): void
}

const RESOLVED = Promise.resolve()

let fresh: Unread[] = []
let unread: Unread[] = []

/** The caller gets the response with the next microtasks. */
export function watchFresh(run: Unread): void {
  // `queueMicrotask` makes an AsyncResource for each.
  if (fresh.push(run) === 1) void RESOLVED.then(lookAtFresh)
}

/** Loosens it in the next turn of the event loop. */
export function loosenLater(run: Unread): void {
  if (unread.push(run) === 1) setImmediate(loosenUnread)
}

/** A turn costs more than the rest of a small response: only for bodies that are still unread one is asked for. */
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
