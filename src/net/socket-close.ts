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
  const finish = (): void => {
    globalThis.clearTimeout(timer)
    socket.off('close', finish)
    done()
  }
  const timer = globalThis.setTimeout(finish, LONGEST_CLOSE)
  socket.on('close', finish)
}
