/**
 * One call of the connector, from the call to the socket or the error that it answers with; before it, the
 * wait for a place where connections are limited over all origins. A connector may be the caller's, and so
 * may its sockets: nothing that one of them throws goes any further than this attempt.
 */

import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { asError, readableError } from '../../base/error/as-error.ts'
import { ignoreError } from '../../base/error/ignore-error.ts'
import { now } from '../../base/loop/clock.ts'
import { runtimeSetImmediate } from '../../base/loop/runtime-turns.ts'
import { onRejection } from '../../base/loop/thenable.ts'
import type { Connection } from '../../connection/connection.ts'
import { channels } from '../../diagnostics.ts'
import { ClientDestroyedError, SocketError } from '../../errors.ts'
import { ConnectDetails } from '../../net/connect-details.ts'
import type { SlabInlet } from '../../net/slab-inlet.ts'
import type { ConnectTimes } from '../../request/connection-facts.ts'
import { connectTarget } from '../client-connector.ts'
import type { Claim, Claimant } from '../places/origin-places.ts'
import type { Place } from '../places/place.ts'
import type { Opening } from './open-connections.ts'
import type { OriginContext } from './origin-context.ts'

/** For what a caller's function throws, or answers with, that is no error. */
const FAILED = 'connect failed'

/** The session. */
export interface ConnectingOwner {
  /** It was destroyed: a socket that comes now is of no use. */
  readonly isDestroyed: boolean
  /** Makes a connection on the socket. What it throws counts as a failure to connect. */
  open(attempt: Connecting, socket: Duplex, inlet: SlabInlet | null, times: ConnectTimes): Connection
  /** It had to wait for a place, and has got one. */
  onPlaced(): void
  onConnected(attempt: Connecting, socket: Duplex, connection: Connection): void
  onConnectError(attempt: Connecting, error: Error): void
}

/** `begun`: the connector was called. `over`: it never was. */
type State =
  | { readonly at: 'waiting'; readonly claim: Claim | null }
  | { readonly at: 'begun'; readonly place: Place | null }
  | { readonly at: 'over' }

/** Of the attempt before, in the whole process. */
let lastId = 0

export class Connecting implements Opening, Claimant {
  readonly id: number = ++lastId
  /** When the connector was called. */
  startedAt = 0
  /** As the request asked for it. */
  readonly servername: string | null
  /** Its connection is to serve only what waits for it. */
  isRetired = false
  readonly #context: OriginContext
  readonly #owner: ConnectingOwner
  readonly #target: ReturnType<typeof connectTarget>
  /** Returned by the connector, before it has answered. */
  #pending: Duplex | null = null
  /** What it answered with. */
  #delivered: Duplex | null = null
  /** When the TCP connection under a TLS one was up. */
  #reachedAt: number | null = null
  readonly #details = new ConnectDetails()
  #isAnswered = false
  #state: State = { at: 'waiting', claim: null }

  constructor(context: OriginContext, servername: string | null, owner: ConnectingOwner) {
    this.servername = servername
    this.#context = context
    this.#owner = owner
    this.#target = connectTarget(context.origin, servername, context.settings.localAddress)
  }

  get proxy(): string | null {
    return this.#details.proxy
  }

  start(): void {
    const { places } = this.#context
    if (places === null) {
      this.#begin(null)
      return
    }
    const claim = places.ask(this)
    if (claim !== null) this.#state = { at: 'waiting', claim }
  }

  /** The connector was not called yet. */
  get awaitsPlace(): boolean {
    return this.#state.at === 'waiting'
  }

  /** Where its connection counts; null if there is no limit, or no place yet. */
  get place(): Place | null {
    return this.#state.at === 'begun' ? this.#state.place : null
  }

  onPlace(place: Place): void {
    const hasWaited = this.#state.at === 'waiting' && this.#state.claim !== null
    this.#begin(place)
    if (hasWaited && !this.#owner.isDestroyed) this.#owner.onPlaced()
  }

  onNoPlace(error: Error): void {
    this.#state = { at: 'over' }
    this.#owner.onConnectError(this, error)
  }

  /** No request waits for it any more. Returns whether that ends it. */
  withdraw(): boolean {
    const state = this.#state
    if (state.at !== 'waiting' || state.claim === null) return false
    this.#context.places!.withdraw(state.claim)
    this.#state = { at: 'over' }
    return true
  }

  #begin(place: Place | null): void {
    this.#state = { at: 'begun', place }
    this.startedAt = now()
    const { connector } = this.#context
    if (channels.beforeConnect.hasSubscribers) {
      channels.beforeConnect.publish(this.#message())
      // It was abandoned.
      if (this.#owner.isDestroyed) return
    }
    try {
      const socket = connector(
        this.#target,
        (error, connected) => this.#onAnswer(error, connected),
        this.#details,
      )
      onRejection(socket, (reason) => this.#onAnswer(asError(reason, FAILED), null))
      if (this.#isAnswered || !isSocketLike(socket)) return
      this.#pending = socket
      socket.once('connect', () => {
        this.#reachedAt = now()
      })
    } catch (error) {
      this.#onAnswer(asError(error, FAILED), null)
    }
  }

  /** The connection is not wanted any more. */
  abandon(): void {
    if (this.withdraw()) return
    try {
      this.#details.pending?.abandon(new ClientDestroyedError())
    } catch {
      // Nothing was sent on its sockets, and nothing waits for them.
    }
    // A tunnel has a socket only when the proxy has opened it.
    if (this.#pending !== null) discard(this.#pending)
    // Those that wait for a place are destroyed in the same turn, as a rule, and are not to connect before.
    if (this.place !== null) runtimeSetImmediate(() => this.#release())
  }

  /** There is no socket. */
  #release(): void {
    this.place?.release()
  }

  /** No request waits for the connection any more. */
  onUnwanted(): void {
    this.#details.onUnwanted?.()
  }

  publishConnected(version: 'h1' | 'h2', socket: Duplex): void {
    if (channels.connected.hasSubscribers) channels.connected.publish({ ...this.#message(version), socket })
  }

  publishError(error: Error): void {
    if (this.#state.at === 'over') return
    if (channels.connectError.hasSubscribers)
      channels.connectError.publish({ ...this.#message(), error: readableError(error) })
  }

  /** What the messages to diagnostics channels have in common. */
  #message(version: 'h1' | 'h2' | undefined = this.#context.knownVersion): object {
    const { connector } = this.#context
    return { connectParams: { ...this.#target, version }, connector }
  }

  #onAnswer(error: Error | null | undefined, socket: Duplex | null | undefined): void {
    const isRepeated = this.#isAnswered
    this.#isAnswered = true
    if (isRepeated || this.#owner.isDestroyed) {
      if (!error && isSocketLike(socket) && socket !== this.#delivered) discard(socket)
      return
    }
    if (error || !isSocketLike(socket)) {
      const reason = error ? asError(error, FAILED) : new SocketError('the connector delivered no socket')
      this.#release()
      this.#owner.onConnectError(this, reason)
      return
    }
    let connection: Connection
    try {
      const problem = problemWith(socket)
      if (problem !== null) {
        this.#release()
        this.#owner.onConnectError(this, problem)
        return
      }
      this.#delivered = socket
      connection = this.#owner.open(this, socket, this.#details.inlet, this.#times(socket))
    } catch (thrown) {
      // It looks like a socket, and does not behave like one.
      discard(socket)
      this.#release()
      this.#owner.onConnectError(this, thrown as Error)
      return
    }
    this.#owner.onConnected(this, socket, connection)
  }

  #times(socket: Duplex): ConnectTimes {
    const at = now()
    const secured = (socket as Partial<TLSSocket>).encrypted === true ? at : null
    return { connect: this.#details.reachedAt ?? this.#reachedAt ?? at, secured }
  }
}

function isSocketLike(value: unknown): value is Duplex {
  try {
    return typeof (value as Duplex | null | undefined)?.once === 'function'
  } catch {
    return false
  }
}

/** Why a socket that was delivered cannot be used, if so. */
function problemWith(socket: Duplex): Error | null {
  if (!socket.destroyed && !socket.errored && !socket.readableEnded) return null
  // The requests get the error; the event, which may still come, must not end the process.
  socket.on('error', ignoreError)
  if (socket.errored || socket.destroyed) return socket.errored ?? new SocketError('destroyed')
  // Its end has already passed: requests on it would never be answered, and only their timeout would end
  // them.
  socket.destroy()
  return new SocketError('other side closed')
}

/** A socket is of no use. It may be of the caller's connect function, and have no listener yet. */
function discard(socket: Duplex): void {
  try {
    socket.on('error', ignoreError)
    socket.destroy(new ClientDestroyedError())
  } catch {
    // Nothing was sent on it, and nothing waits for it.
  }
}
