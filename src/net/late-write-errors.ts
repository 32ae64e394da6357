/**
 * A server that answers an upload before it has all of it, and closes, makes the next write fail. A failed
 * write destroys the socket, and with it the answer, which still lies in the kernel. So the socket learns of
 * the failure when all of that has been read, which ends the socket by itself.
 */
import type { Duplex } from 'node:stream'
import { clearTimer, startTimer } from '../base/loop/timer.ts'

/** Milliseconds for the rest; nobody may want to read it. */
const LONGEST_REST = 1000

type Done = (error?: Error | null) => void

interface Writes {
  _write(chunk: unknown, encoding: BufferEncoding, done: Done): void
  _writev(chunks: unknown, done: Done): void
}

/** For a socket of the runtime, from its next write on. `isOurs`: it has not been handed over. */
export function reportLate(socket: Duplex, isOurs: () => boolean): void {
  const { _write, _writev } = socket as unknown as Writes
  const late = (done: Done): Done => {
    return (error) => {
      if (error && isOurs() && isLoss(error) && !socket.destroyed && !socket.readableEnded)
        wait(socket, done, error)
      else done(error)
    }
  }
  const writes: Writes = {
    _write: (chunk, encoding, done) => _write.call(socket, chunk, encoding, late(done)),
    _writev: (chunks, done) => _writev.call(socket, chunks, late(done)),
  }
  Object.assign(socket, writes)
}

/** The peer takes nothing more. */
function isLoss({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET'
}

function wait(socket: Duplex, done: Done, error: Error): void {
  const timer = startTimer(() => done(error), LONGEST_REST)
  timer.unref?.()
  socket.once('close', () => {
    clearTimer(timer)
    done(error)
  })
}
