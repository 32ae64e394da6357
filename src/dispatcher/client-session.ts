/**
 * What a client does behind its public face: requests wait in a queue, one connection at a time is opened
 * when there is something to send, and each request is given to it as soon as it can be taken
 * (contract: client.md 2, 5, 6, 7; connect.md 7). Everything about a protocol is behind `Connection`.
 */
import type { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { now } from '../base/clock.ts'
import type { Connection, ConnectionOwner } from '../connection/connection.ts'
import { serverNameChanged } from '../connection/ends.ts'
import { Http1Connection } from '../connection/http1-connection.ts'
import { Http2Connection } from '../connection/http2-connection.ts'
import { channels } from '../diagnostics.ts'
import { ClientDestroyedError, SocketError } from '../errors.ts'
import { whenClosed } from '../net/socket-close.ts'
import { StreamTransport } from '../net/stream-transport.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { callersReason, END_RULES, type EndReason, endReason } from '../request/end-reason.ts'
import { connectEnd } from '../request/foreign-error.ts'
import { Request, type RequestHost } from '../request/request.ts'
import type { ClientCommons } from './client-commons.ts'
import { connectTarget } from './client-connector.ts'
import {
  abandon,
  type ConnectAttempt,
  discard,
  isSocketLike,
  problemWith,
  timesOf,
} from './connect-attempt.ts'
import { Pump } from './pump.ts'
import { RequestQueue } from './request-queue.ts'
import { announceVacancy } from './vacancy.ts'

type State =
  | { readonly at: 'idle' }
  | { readonly at: 'connecting'; readonly attempt: ConnectAttempt }
  | { readonly at: 'open'; readonly connection: Connection; readonly servername: string }

/**
 * A connector may report an error that means "try again" (`UND_ERR_SOCKET`, `UND_ERR_INFO`), and a server may
 * close each connection before anything could be sent on it. If they do so for ever, they must not keep the
 * client busy for ever.
 */
const MAX_CONNECT_RETRIES = 16

const IDLE: State = { at: 'idle' }

/** Whoever gives requests to several clients. */
export interface RequestGiver {
  /** No connection comes about. Returns those that are to fail; it has the others. */
  takeBack(requests: readonly Request[]): readonly Request[]
  /** It turned out how many requests the connection carries at a time. */
  onLimitKnown(): void
}

export class ClientSession extends Pump implements ConnectionOwner, RequestHost {
  giver: RequestGiver | null = null
  /** What `drain` says, for the pool that the client is in: it wants to know with each response. */
  onRoom: (() => void) | null = null
  readonly #commons: ClientCommons
  #pipelining: number
  #maxConcurrentStreams: number
  readonly #queue = new RequestQueue()
  #state: State = IDLE
  /** Connections that take nothing more and finish what runs on them. */
  #draining: Set<Connection> | null = null
  /** Sockets that have not closed yet, also those of connections that are gone. */
  #sockets = 0
  readonly #onSocketGone = (): void => {
    this.#sockets--
    this.#checkClosed()
    if (this.#state.at === 'idle') this.pump()
  }
  #connectRetries = 0
  #accepting = 0
  #limitKnown = false
  #needDrain = false
  /** Why the client was destroyed. */
  #ended: EndReason | null = null
  #whenEmpty: (() => void) | null = null
  #whenClosed: (() => void) | null = null

  constructor(client: EventEmitter, commons: ClientCommons) {
    super(client)
    this.#commons = commons
    this.#pipelining = commons.settings.pipelining
    this.#maxConcurrentStreams = commons.settings.maxConcurrentStreams
  }

  get origin(): string {
    return this.#commons.origin.origin
  }

  get pipelining(): number {
    return this.#pipelining
  }

  set pipelining(value: number) {
    this.#pipelining = value
    this.pump()
  }

  get maxConcurrentStreams(): number {
    return this.#maxConcurrentStreams
  }

  set maxConcurrentStreams(limit: number) {
    this.#maxConcurrentStreams = limit
    const state = this.#state
    if (state.at === 'open') state.connection.onLimitsChanged()
    this.pump()
  }

  get connected(): boolean {
    return this.#state.at === 'open'
  }

  get connecting(): boolean {
    return this.#state.at === 'connecting'
  }

  /** The connection carries many requests at a time. */
  get multiplexes(): boolean {
    return this.#state.at === 'open' && this.#state.connection.multiplexes
  }

  /** It is known how many. */
  get isLimitKnown(): boolean {
    return this.#limitKnown
  }

  get pending(): number {
    return this.#queue.size
  }

  get running(): number {
    let running = this.#state.at === 'open' ? this.#state.connection.running : 0
    if (this.#draining !== null) for (const connection of this.#draining) running += connection.running
    return running
  }

  #isBusy(): boolean {
    return this.#queue.size > 0 || (this.#state.at === 'open' && this.#state.connection.busy)
  }

  accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    const request = new Request(options, handler, this.#commons.requestSetting, this)
    // A diagnostics subscriber, or a getter of the options, may have destroyed the client meanwhile.
    if (this.#ended !== null) {
      request.fail(endReason('destroyed', new ClientDestroyedError()))
      return false
    }
    if (request.settled) return this.#hasRoom()
    this.#queue.push(request)
    this.#accepting++
    try {
      request.announceQueued()
      this.#pumpFor(request)
    } finally {
      this.#accepting--
    }
    return this.#hasRoom()
  }

  /** Takes a request that has waited elsewhere. Returns what `dispatch` would. */
  adopt(request: Request): boolean {
    request.moveTo(this)
    this.#queue.push(request)
    this.#accepting++
    try {
      this.#pumpFor(request)
    } finally {
      this.#accepting--
    }
    return this.#hasRoom()
  }

  /** `drain` follows when it can take more. */
  get needsDrain(): boolean {
    return this.#needDrain
  }

  #hasRoom(): boolean {
    if (!this.#isBusy()) return true
    this.#needDrain = true
    return false
  }

  #pumpFor(request: Request): void {
    // A stream that is about to end becomes one of known length if it gets the chance.
    if (request.source.kind === 'stream' || request.source.kind === 'iterable') {
      this.pumpLater()
    } else {
      this.pump()
    }
  }

  finish(done: () => void): void {
    this.#whenEmpty = done
    this.pump()
  }

  terminate(reason: EndReason, done: () => void): void {
    const state = this.#state
    this.#ended = reason
    for (const request of this.#queue.drain()) request.fail(reason)
    if (state.at === 'connecting') {
      this.#state = IDLE
      for (const socket of abandon(state.attempt)) {
        this.#sockets++
        whenClosed(socket, this.#onSocketGone)
      }
    }
    const connections = [...(this.#draining ?? []), ...(state.at === 'open' ? [state.connection] : [])]
    if (connections.length === 0 && this.#sockets === 0) {
      queueMicrotask(done)
      return
    }
    this.#whenClosed = done
    for (const connection of connections) {
      try {
        connection.destroy(reason)
      } catch (error) {
        connection.onBroken(error as Error)
      }
    }
  }

  onCapacity(): void {
    this.pump()
    if (!this.#limitKnown) this.#checkLimit()
  }

  #checkLimit(): void {
    if (this.#state.at !== 'open') return
    this.#limitKnown = this.#state.connection.isLimitKnown
    if (this.#limitKnown) this.giver?.onLimitKnown()
  }

  onRequestAborted(request: Request): void {
    this.#queue.onSettled(request)
    this.pump()
  }

  /** A waiting request has nothing to resume. */
  onRequestResumed(): void {}

  onHandlerError(error: unknown): void {
    this.emit('error', error)
  }

  onState(connection: Connection): void {
    const { state } = connection
    if (state.at === 'open') return
    if (this.#state.at === 'open' && this.#state.connection === connection) this.#state = IDLE
    if (state.at !== 'ended') {
      this.#onDraining(connection, state.reason)
      return
    }
    if (!this.#endDraining(connection)) {
      if (state.wasIdle && this.#ended === null) this.#onLostIdle(state.reason)
      this.#emitDisconnect(state.reason)
    }
    this.#checkClosed()
  }

  /** It finishes what runs on it; whatever else there is goes to another connection. */
  #onDraining(connection: Connection, reason: EndReason): void {
    this.#draining ??= new Set()
    if (this.#draining.has(connection)) return
    this.#draining.add(connection)
    this.#emitDisconnect(reason)
    this.pump()
  }

  #endDraining(connection: Connection): boolean {
    const wasDraining = this.#draining?.delete(connection) ?? false
    if (this.#draining?.size === 0) this.#draining = null
    return wasDraining
  }

  #emitDisconnect({ error }: EndReason): void {
    this.emit('disconnect', this.#commons.origin.url, [this.speaker], error)
  }

  onPing(milliseconds: number): void {
    this.emit('ping', milliseconds)
  }

  /** They go in front of those that wait. */
  onReturned(requests: readonly Request[]): void {
    if (this.#ended !== null) {
      for (const request of requests) request.fail(this.#ended)
      return
    }
    for (const request of requests) request.requeue(this)
    this.#queue.putBack(requests)
  }

  #checkClosed(): void {
    if (this.#state.at === 'open' || this.#draining !== null || this.#sockets > 0) return
    const done = this.#whenClosed
    this.#whenClosed = null
    done?.()
  }

  protected override step(): void {
    for (let request = this.#queue.peek(); request !== null; request = this.#queue.peek()) {
      const state = this.#state
      if (state.at === 'connecting') return
      if (state.at === 'idle') {
        this.#connect(request.servername)
        return
      }
      const { connection } = state
      if (
        this.#commons.origin.protocol === 'https:' &&
        this.#serverName(request.servername) !== state.servername
      ) {
        if (connection.running === 0) connection.closeIdle(serverNameChanged())
        return
      }
      if (!this.#offer(connection, request)) return
      this.#connectRetries = 0
    }
  }

  /** Offers the first request of the queue, which must not be in there when its handler is called. */
  #offer(connection: Connection, request: Request): boolean {
    this.#queue.shift()
    try {
      if (connection.offer(request)) return true
      this.#queue.unshift(request)
    } catch (error) {
      // How far it came is unknown, unless it has not even begun.
      if (request.isQueued) this.#queue.unshift(request)
      else request.fail(endReason('broken', error as Error))
      connection.onBroken(error as Error)
    }
    return false
  }

  /** With a connection it is that one's fault, whatever it is; else nothing that waits would get any further. */
  protected override onBroken(error: Error): void {
    if (this.#state.at === 'open') {
      this.#state.connection.onBroken(error)
      return
    }
    if (this.#state.at === 'idle') {
      for (const request of this.#queue.drain()) request.fail(endReason('broken', error))
    }
    if (this.#queue.size === 0 && this.running === 0) this.#tellEmpty()
  }

  protected override afterPump(): void {
    if (this.#needDrain && !this.#isBusy() && this.#ended === null) {
      if (this.#accepting > 0) {
        this.afterPumpLater()
        return
      }
      this.#needDrain = false
      this.onRoom?.()
      if (this.isHeard('drain')) this.emit('drain', this.#commons.origin.url, [this.speaker])
    }
    if (this.#queue.size > 0 || this.running > 0) return
    if (this.#state.at === 'open') this.#state.connection.becomeIdle()
    else if (this.#state.at === 'idle' && this.#sockets === 0) announceVacancy(this.speaker)
    this.#tellEmpty()
  }

  #tellEmpty(): void {
    const done = this.#whenEmpty
    this.#whenEmpty = null
    done?.()
  }

  #serverName(given: string | null): string {
    return given ?? this.#commons.serverName
  }

  #connect(servername: string | null): void {
    const target = connectTarget(this.#commons.origin, servername, this.#commons.settings.localAddress)
    const attempt: ConnectAttempt = {
      servername,
      target,
      socket: null,
      delivered: null,
      connectedAt: null,
      answered: false,
    }
    this.#state = { at: 'connecting', attempt }
    if (channels.beforeConnect.hasSubscribers) {
      channels.beforeConnect.publish({
        connectParams: { ...target, version: this.#knownVersion },
        connector: this.#commons.connector,
      })
      if (this.#ended !== null) return
    }
    try {
      const socket = this.#commons.connector(target, (error, connected) => {
        this.#onConnectorAnswer(attempt, error, connected)
      })
      if (!attempt.answered && isSocketLike(socket)) {
        attempt.socket = socket
        socket.once('connect', () => {
          attempt.connectedAt = now()
        })
      }
    } catch (error) {
      this.#onConnectorAnswer(attempt, error as Error, null)
    }
  }

  #onConnectorAnswer(
    attempt: ConnectAttempt,
    error: Error | null | undefined,
    socket: Duplex | null | undefined,
  ): void {
    const { answered } = attempt
    attempt.answered = true
    if (answered || this.#ended !== null) {
      if (!error && isSocketLike(socket) && socket !== attempt.delivered) discard(socket)
      return
    }
    if (error || !isSocketLike(socket)) {
      this.#onConnectFailed(attempt, error || new SocketError('the connector delivered no socket'))
      return
    }
    let connection: Connection
    try {
      const problem = problemWith(socket)
      if (problem !== null) {
        this.#onConnectFailed(attempt, problem)
        return
      }
      attempt.delivered = socket
      connection = this.#open(attempt, socket)
    } catch (thrown) {
      // It calls itself a socket, and is none.
      discard(socket)
      this.#onConnectFailed(attempt, thrown as Error)
      return
    }
    this.#onConnected(attempt, socket, connection)
  }

  #open(attempt: ConnectAttempt, socket: Duplex): Connection {
    const times = timesOf(attempt, socket)
    const transport = new StreamTransport(socket, this.#onSocketGone)
    const { settings, headParsers } = this.#commons
    const connection = this.#speaksHttp2(socket)
      ? new Http2Connection(transport, this, settings, times)
      : new Http1Connection(transport, this, settings, times, headParsers)
    this.#sockets++
    return connection
  }

  #onConnected(attempt: ConnectAttempt, socket: Duplex, connection: Connection): void {
    const version = connection.multiplexes ? 'h2' : 'h1'
    this.#state = { at: 'open', connection, servername: this.#serverName(attempt.servername) }
    this.#limitKnown = connection.isLimitKnown
    if (channels.connected.hasSubscribers) {
      channels.connected.publish({
        connectParams: { ...attempt.target, version },
        connector: this.#commons.connector,
        socket,
      })
    }
    this.emit('connect', this.#commons.origin.url, [this.speaker])
    this.pump()
  }

  /** What is spoken before anything was negotiated, where that is certain. */
  get #knownVersion(): 'h2' | undefined {
    return this.#commons.settings.useH2c && this.#commons.origin.protocol === 'http:' ? 'h2' : undefined
  }

  #speaksHttp2(socket: Duplex): boolean {
    const { alpnProtocol } = socket as { alpnProtocol?: unknown }
    return alpnProtocol === 'h2' || this.#knownVersion === 'h2'
  }

  #onConnectFailed(attempt: ConnectAttempt, error: Error): void {
    this.#state = IDLE
    if (channels.connectError.hasSubscribers) {
      channels.connectError.publish({
        connectParams: { ...attempt.target, version: this.#knownVersion },
        connector: this.#commons.connector,
        error,
      })
    }
    const kind = connectEnd(error)
    if (kind === 'try-again' && this.#connectRetries < MAX_CONNECT_RETRIES) {
      this.#connectRetries++
    } else {
      this.#connectRetries = 0
      this.#failPending(attempt, { kind, error, isCallers: this.#commons.isForeign })
    }
    this.emit('connectionError', this.#commons.origin.url, [this.speaker], error)
    this.pump()
  }

  #failPending(attempt: ConnectAttempt, reason: EndReason): void {
    const failed =
      reason.kind === 'wrong-name'
        ? this.#queue.drainWhile(({ servername }) => servername === attempt.servername)
        : this.#queue.drain()
    for (const request of this.giver?.takeBack(failed) ?? failed) request.fail(reason)
  }

  /**
   * An idle connection ended. Waiting requests go to the next one, unless the reason is meant for them or the
   * connections before ended the same way.
   */
  #onLostIdle(reason: EndReason): void {
    const fruitless = this.#queue.size > 0 && ++this.#connectRetries > MAX_CONNECT_RETRIES
    if (!fruitless && !END_RULES[reason.kind].failsWaiting) return
    this.#connectRetries = 0
    // An error of the socket's owner was meant for all requests alike: none of them changes it.
    const told = reason.kind === 'foreign' ? callersReason('foreign', reason.error) : reason
    for (const request of this.#queue.drain()) request.fail(told)
  }
}
