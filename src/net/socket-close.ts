/**
 * How sockets come to their end: the last that was written to them leaves before, and somebody waits for their `close`. A
 * peer that does not read, and a Duplex of a caller, may take their time for either, or never come to it.
 */
import type { Duplex } from 'node:stream'
import { loadNet } from '../base/lazy-modules.ts'

/** Milliseconds after which a destroyed socket counts as closed. */
const LONGEST_CLOSE = 1000

/** Milliseconds that what was written has to leave. Shorter than the other, which begins at the same time. */
const LONGEST_FLUSH = 500

/** Destroys a socket at once if nothing waits in it, else when that has left. */
export function destroyWhenSent(socket: Duplex, error: Error | null): void {
  if (socket.writableLength === 0 || socket.destroyed) {
    destroyQuietly(socket, error)
    return
  }
  const finish = (): void => {
    globalThis.clearTimeout(timer)
    destroyQuietly(socket, error)
  }
  const timer = globalThis.setTimeout(finish, LONGEST_FLUSH)
  try {
    socket.once('close', finish).end(finish)
  } catch {
    finish()
  }
}

/** What it throws is nobody's any more. */
function destroyQuietly(socket: Duplex, error: Error | null): void {
  try {
    socket.destroy(error ?? undefined)
  } catch {
    // It counts as closed in time.
  }
}

/** Calls once, never within this call. */
export function whenClosed(socket: Duplex, done: () => void): void {
  if (socket.closed && !(socket instanceof loadNet().Socket)) {
    // The event was, or is about to be. Those of `node:net` say that they are closed before they are.
    globalThis.setImmediate(done)
    return
  }
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    globalThis.clearTimeout(timer)
    done()
  }
  const timer = globalThis.setTimeout(finish, LONGEST_CLOSE)
  try {
    socket.once('close', finish)
  } catch {
    // Then time has to tell.
  }
}
