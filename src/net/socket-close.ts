/**
 * How sockets end: pending writes leave first, and a callback waits for `close`. A peer that does not read,
 * or a caller's Duplex, may take long for either, or never finish.
 */

import type { Duplex } from 'node:stream'
import { destroyQuietly } from '../base/error/ignore-error.ts'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { clearTimer, startTimer } from '../base/loop/timer.ts'
import { loadNet } from '../base/node/lazy-modules.ts'

/** Milliseconds after which a destroyed socket counts as closed. */
const LONGEST_CLOSE = 1000

/** Milliseconds for pending writes to leave. Shorter than the other, which starts at the same time. */
const LONGEST_FLUSH = 500

/** Destroys a socket once its pending writes have left. */
export function destroyWhenSent(socket: Duplex, error: Error | null): void {
  if (socket.writableLength === 0 || socket.destroyed) {
    destroyQuietly(socket, error)
    return
  }
  const finish = (): void => {
    clearTimer(timer)
    destroyQuietly(socket, error)
  }
  const timer = startTimer(finish, LONGEST_FLUSH)
  try {
    socket.once('close', finish).end(finish)
  } catch {
    finish()
  }
}

/** Calls once, never within this call. */
export function whenClosed(socket: Duplex, done: () => void): void {
  if (socket.closed && !(socket instanceof loadNet().Socket)) {
    // The event has come or is about to. Sockets of `node:net` set `closed` before they are.
    runtimeSetImmediate(done)
    return
  }
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    clearTimer(timer)
    done()
  }
  const timer = startTimer(finish, LONGEST_CLOSE)
  try {
    socket.once('close', finish)
  } catch {
    // The timer decides.
  }
}
