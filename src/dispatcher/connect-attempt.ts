/**
 * One call of the connector, and what it delivers. A connector may be a caller's own, and so may its sockets: nothing
 * that one of them throws goes any further than this attempt.
 */
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { now } from '../base/clock.ts'
import type { ConnectTimes } from '../connection/connection.ts'
import { ClientDestroyedError, SocketError } from '../errors.ts'
import { abandonConnect, reachedAt } from '../net/connector.ts'
import type { connectTarget } from './client-connector.ts'

export interface ConnectAttempt {
  readonly servername: string | null
  readonly target: ReturnType<typeof connectTarget>
  socket: Duplex | null
  /** What the connector called back with, if it did. */
  delivered: Duplex | null
  /** When the TCP connection under a TLS one was up. */
  connectedAt: number | null
  answered: boolean
}

/** When the connection came about. */
export function timesOf({ connectedAt }: ConnectAttempt, socket: Duplex): ConnectTimes {
  const at = now()
  const secured = (socket as Partial<TLSSocket>).encrypted === true ? at : null
  return { connect: reachedAt(socket) ?? connectedAt ?? at, secured }
}

export function isSocketLike(value: unknown): value is Duplex {
  try {
    return typeof (value as Duplex | null | undefined)?.once === 'function'
  } catch {
    return false
  }
}

/** Why a socket that was delivered cannot be used, if so. */
export function problemWith(socket: Duplex): Error | null {
  if (!socket.destroyed && !socket.errored && !socket.readableEnded) return null
  // The requests are told; the event, which may still come, must not end the process.
  socket.on('error', () => {})
  if (socket.errored || socket.destroyed) return socket.errored ?? new SocketError('destroyed')
  // Its end has come and gone: what is asked on it is never answered, and time alone would tell.
  socket.destroy()
  return new SocketError('other side closed')
}

/** Nobody waits for the connection any more. Returns the sockets that close now. */
export function abandon({ socket }: ConnectAttempt): Iterable<Duplex> {
  if (socket === null) return []
  try {
    // One of the caller's own connect function may have nobody who listens yet.
    socket.on('error', () => {})
    return abandonConnect(socket as TLSSocket, new ClientDestroyedError())
  } catch {
    // Nothing was sent on it, and nobody waits for it.
    return []
  }
}

/** A socket came that nobody can use. */
export function discard(socket: Duplex): void {
  try {
    socket.on('error', () => {})
    socket.destroy(new ClientDestroyedError())
  } catch {
    // Nothing was sent on it, and how to be rid of it is its owner's business.
  }
}
