/**
 * What `connections()` shows of a connection, and the list of any dispatcher. It knows neither sockets nor
 * clients: a snapshot is plain data.
 */

/**
 * - `connecting`: it is being opened
 * - `idle`: it is open, and nothing runs on it
 * - `active`: requests run on it
 * - `draining`: it takes no more requests, and finishes those that run
 * - `closing`: nothing is sent or received any more, and its socket is about to close
 * - `lingering`: its socket has closed, and consumers that pause have not read all of their responses (HTTP/2)
 */
export type ConnectionSnapshotState = 'connecting' | 'idle' | 'active' | 'draining' | 'closing' | 'lingering'

/** A connection as it was when `connections()` was called: plain data, null for what is not known. */
export interface ConnectionSnapshot {
  /** A number of its own in the process, from the moment when it is being opened. */
  id: number
  /** Whom HTTP is spoken with: the server, or the proxy of forwarded requests. */
  origin: string
  /** What it is doing. */
  state: ConnectionSnapshotState
  /** `h1` or `h2`, once it is known. */
  protocol: 'h1' | 'h2' | null
  /** Whether it is encrypted. */
  tls: boolean
  /** The proxy that it goes through, without credentials. */
  proxy: string | null
  /** Of the peer; that is the proxy if there is one. */
  remoteAddress: string | null
  /** Of the peer, too. */
  remotePort: number | null
  /** Ours. */
  localAddress: string | null
  /** Ours. */
  localPort: number | null
  /** `IPv4` or `IPv6`. */
  family: string | null
  /** When it was open, as an ISO date. */
  openedAt: string | null
  /** Milliseconds since then; while it is connecting, since that began. */
  age: number
  /** Milliseconds for which it has been idle. */
  idleTime: number | null
  /** Written on it so far, those that run included. */
  requests: number
  /** Those that have not ended. */
  running: number
  /** HTTP/2: open streams. */
  streams: number | null
  /** HTTP/2: how many there may be. */
  maxStreams: number | null
  /** Received since it was opened; over TLS without encryption. */
  bytesRead: number | null
  /** Sent since it was opened; over TLS without encryption. */
  bytesWritten: number | null
  /** Milliseconds until the TCP connection, or the tunnel, was there. */
  connectTime: number | null
  /** Milliseconds of the TLS handshake after that. */
  tlsTime: number | null
  /** Until when the certificate of the peer is valid, as an ISO date. */
  certificateValidTo: string | null
  /** How the connection before it ended, or could not be opened, of the same client or pool. */
  lastEndCode: string | null
  /** Left out for errors of callers. */
  lastEndMessage: string | null
  /** As an ISO date. */
  lastEndAt: string | null
}

/** The end of a connection, as it is published. */
export interface ConnectionEnd {
  /** As it was then. */
  connection: ConnectionSnapshot
  /** Milliseconds for which it was open. */
  duration: number
  /** Why it has ended. */
  error: Error
  /** Whose connection it was: the last of the `targets` of its events. */
  client: object
}

/** The connections of any dispatcher; none if it has no such method, or one that does not work. */
export function connectionsOf(dispatcher: object): ConnectionSnapshot[] {
  try {
    const { connections } = dispatcher as { connections?: unknown }
    const rows: unknown = typeof connections === 'function' ? connections.call(dispatcher) : null
    return Array.isArray(rows) ? rows : []
  } catch {
    // It must not keep those of the others.
    return []
  }
}

/** Those of several dispatchers. */
export function connectionsOfAll(dispatchers: Iterable<object>): ConnectionSnapshot[] {
  return [...dispatchers].flatMap(connectionsOf)
}
