/**
 * The connections of one client from the answer of the connector until nothing is left of them: how many
 * sockets there are, and what `connections()` shows. It changes nothing about a connection.
 */
import type { Duplex } from 'node:stream'
import { now } from '../../base/loop/clock.ts'
import type { Connection, ConnectionLoad } from '../../connection/connection.ts'
import { channels } from '../../diagnostics.ts'
import type { SocketInfo } from '../../errors.ts'
import { certificateExpiry } from '../../net/tls-session-cache.ts'
import type { ConnectTimes } from '../../request/connection-facts.ts'
import type { EndReason } from '../../request/end-reason.ts'
import type { ConnectionEnd, ConnectionSnapshot, ConnectionSnapshotState } from '../connection-snapshot.ts'
import type { LastEnd } from './last-end.ts'
import type { OriginContext } from './origin-context.ts'

/** An attempt to connect. */
export interface Opening {
  readonly id: number
  /** When it began, on the clock of `now()`. */
  readonly startedAt: number
  /** Without credentials; null for none. */
  readonly proxy: string | null
}

const NO_INFO: SocketInfo = {}
const NO_LOAD: ConnectionLoad = {
  requests: 0,
  idleSince: null,
  streams: null,
  maxStreams: null,
  takesMore: false,
}

/** One connection with a socket. */
class OpenConnection {
  readonly opening: Opening
  readonly socket: Duplex
  readonly times: ConnectTimes
  readonly openedAt = now()
  /** The same, in milliseconds since 1970. */
  readonly openedOn = Date.now()
  connection: Connection | null = null
  /** The addresses, and how many bytes had passed before: a tunnel was the connection of a CONNECT. */
  info: SocketInfo = NO_INFO
  hasSocket = true
  /** Its end was published, if anybody wanted to know. */
  isReported = false

  constructor(opening: Opening, socket: Duplex, times: ConnectTimes) {
    this.opening = opening
    this.socket = socket
    this.times = times
  }
}

export class OpenConnections {
  readonly #context: OriginContext
  /** Few: one takes requests, and others finish. */
  readonly #all: OpenConnection[] = []
  readonly #onSocketGone: () => void
  /** Sockets that have not closed yet, including those of connections that have ended. */
  sockets = 0

  constructor(context: OriginContext, onSocketGone: () => void) {
    this.#context = context
    this.#onSocketGone = onSocketGone
  }

  /** `make` gets the callback for when the socket has closed, or was handed over. */
  open(
    opening: Opening,
    socket: Duplex,
    times: ConnectTimes,
    make: (onGone: () => void) => Connection,
  ): Connection {
    const open = new OpenConnection(opening, socket, times)
    const connection = make(() => this.#onGone(open))
    open.connection = connection
    open.info = guarded(() => connection.socketInfo()) ?? NO_INFO
    this.#all.push(open)
    this.sockets++
    return connection
  }

  /** It is lingering, or has ended. Returns what is to be published about that; null if nobody wants to know. */
  onOver(connection: Connection, { error }: EndReason, client: object): ConnectionEnd | null {
    const open = this.#all.find((one) => one.connection === connection)
    if (open === undefined) return null
    const isWanted = !open.isReported && channels.disconnected.hasSubscribers
    open.isReported = true
    if (connection.state.at === 'ended' && !open.hasSocket) this.#remove(open)
    if (!isWanted) return null
    const duration = now() - open.openedAt
    return { connection: rowOf(open, connection, this.#context), duration, error, client }
  }

  /** `attempt`: the one that runs. */
  snapshots(attempt: Opening | null): ConnectionSnapshot[] {
    const rows = this.#all.map((open) => rowOf(open, open.connection!, this.#context))
    if (attempt !== null) rows.push(attemptRow(attempt, this.#context))
    return rows
  }

  #onGone(open: OpenConnection): void {
    open.hasSocket = false
    this.sockets--
    if (open.connection?.state.at === 'ended') this.#remove(open)
    this.#onSocketGone()
  }

  #remove(open: OpenConnection): void {
    const index = this.#all.indexOf(open)
    if (index !== -1) this.#all.splice(index, 1)
  }
}

function rowOf(open: OpenConnection, connection: Connection, context: OriginContext): ConnectionSnapshot {
  const { opening, socket, times, info, openedAt } = open
  const at = now()
  const load = guarded(() => connection.load()) ?? NO_LOAD
  const { running, multiplexes } = connection
  const { connect, secured } = times
  const isEncrypted = guarded(() => (socket as { encrypted?: unknown }).encrypted === true) ?? false
  // TLS to a proxy ends there.
  const isSecure = isEncrypted && (opening.proxy === null || context.origin.protocol === 'https:')
  const { idleSince } = load
  return {
    id: opening.id,
    origin: context.origin.origin,
    state: stateOf(connection, load),
    protocol: multiplexes ? 'h2' : 'h1',
    tls: isSecure,
    proxy: opening.proxy,
    remoteAddress: textOf(info.remoteAddress),
    remotePort: numberOf(info.remotePort),
    localAddress: textOf(info.localAddress),
    localPort: numberOf(info.localPort),
    family: textOf(info.remoteFamily),
    openedAt: new Date(open.openedOn).toISOString(),
    age: Math.round(at - openedAt),
    idleTime: running > 0 || idleSince === null ? null : Math.round(at - idleSince),
    requests: load.requests,
    running,
    streams: load.streams,
    maxStreams: load.maxStreams,
    bytesRead: bytesSince(info.bytesRead, () => (socket as { bytesRead?: unknown }).bytesRead),
    bytesWritten: bytesSince(info.bytesWritten, () => (socket as { bytesWritten?: unknown }).bytesWritten),
    connectTime: connect === null ? null : tenths(connect - opening.startedAt),
    tlsTime: connect === null || secured === null ? null : tenths(secured - connect),
    certificateValidTo: isSecure ? expiryOf(socket) : null,
    ...lastEnd(context.lastEnd),
  }
}

function attemptRow({ id, startedAt, proxy }: Opening, context: OriginContext): ConnectionSnapshot {
  return {
    id,
    origin: context.origin.origin,
    state: 'connecting',
    protocol: context.knownVersion ?? null,
    tls: context.origin.protocol === 'https:',
    proxy,
    remoteAddress: null,
    remotePort: null,
    localAddress: null,
    localPort: null,
    family: null,
    openedAt: null,
    age: Math.round(now() - startedAt),
    idleTime: null,
    requests: 0,
    running: 0,
    streams: null,
    maxStreams: null,
    bytesRead: null,
    bytesWritten: null,
    connectTime: null,
    tlsTime: null,
    certificateValidTo: null,
    ...lastEnd(context.lastEnd),
  }
}

function lastEnd(
  end: LastEnd | null,
): Pick<ConnectionSnapshot, 'lastEndCode' | 'lastEndMessage' | 'lastEndAt'> {
  return {
    lastEndCode: end?.code ?? null,
    lastEndMessage: end?.message ?? null,
    lastEndAt: end === null ? null : new Date(end.at).toISOString(),
  }
}

function stateOf({ state, running }: Connection, { takesMore }: ConnectionLoad): ConnectionSnapshotState {
  if (state.at === 'ended') return 'closing'
  if (state.at !== 'open') return state.at
  if (running === 0) return 'idle'
  return takesMore ? 'active' : 'draining'
}

function bytesSince(start: unknown, read: () => unknown): number | null {
  const bytes = numberOf(guarded(read))
  return bytes === null ? null : bytes - (numberOf(start) ?? 0)
}

// The socket may be of the caller's connect function, and say anything of itself.

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function expiryOf(socket: Duplex): string | null {
  return guarded(() => {
    const validTo = certificateExpiry(socket)
    return validTo === null ? null : new Date(validTo).toISOString()
  })
}

function tenths(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}

/** What it throws is not known. */
function guarded<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
