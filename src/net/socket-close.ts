/**
 * Waits for the `close` of sockets that were destroyed. A Duplex of a caller may take its time for that, or never come to
 * it, and somebody waits.
 */
import type { Duplex } from 'node:stream'
import { loadNet } from '../base/lazy-modules.ts'

/** Milliseconds after which a destroyed socket counts as closed. */
const LONGEST_CLOSE = 1000

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
