/** A server that ends the connection of a request without an answer. */
import type http from 'node:http'

export function loseConnection(request: http.IncomingMessage): void {
  const { session } = (request as unknown as { stream?: { session?: { destroy(): void } } }).stream ?? {}
  // Node.js 20 may crash if a session ends while it hands out a stream.
  if (session) setImmediate(() => session.destroy())
  else request.socket.destroy()
}
