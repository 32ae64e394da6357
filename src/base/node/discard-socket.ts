/** Gets rid of a socket that was handed over and is not wanted. */
import type { Duplex } from 'node:stream'
import { ignoreError } from '../error/ignore-error.ts'

export function discardSocket(socket: Duplex): void {
  socket.on('error', ignoreError)
  socket.destroy()
}
