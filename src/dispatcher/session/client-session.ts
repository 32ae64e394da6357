/**
 * The requests of one client, and the connection they go to: requests wait in a queue, one connection at a
 * time is opened when there is something to send, and each request is offered to it in turn. Protocols are
 * hidden by `Connection`.
 *
 * Long because the queue, the connections and the owner meet here: most of its methods are their callbacks.
 */
import type { Duplex } from 'node:stream'
import type { Connection, ConnectionOwner } from '../../connection/connection.ts'
import { informational } from '../../connection/ends.ts'
import { channels } from '../../diagnostics.ts'
import { ClientDestroyedError } from '../../errors.ts'
import type { SlabInlet } from '../../net/slab-inlet.ts'
import type { OnGone } from '../../net/stream-transport.ts'
import type { ConnectTimes } from '../../request/connection-facts.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { callersReason, END_RULES, type EndReason, endReason } from '../../request/end-reason.ts'
import { connectEnd } from '../../request/foreign-error.ts'
import { Request, type RequestHost } from '../../request/request.ts'
import type { ConnectionSnapshot } from '../connection-snapshot.ts'
import { DrainGate } from '../drain-gate.ts'
import type { Place } from '../places/place.ts'
import { RunLoop } from '../run-loop.ts'
import { Connecting, type ConnectingOwner } from './connecting.ts'
import { CurrentConnection } from './current-connection.ts'
import { lastEndOf } from './last-end.ts'
import { openConnection } from './open-connection.ts'
import { OpenConnections } from './open-connections.ts'
import type { OriginContext } from './origin-context.ts'
import { RequestQueue } from './request-queue.ts'
import type { SessionOwner } from './session-owner.ts'
import { VerifiedName } from './verified-name.ts'

type State =
  | { readonly at: 'idle' }
  | { readonly at: 'connecting'; readonly attempt: Connecting }
  | CurrentConnection

/**
 * A connector may report an error that means "try again" (`UND_ERR_SOCKET`, `UND_ERR_INFO`), and a server may
 * close each connection before anything could be sent on it. If they never stop, they must not keep the
 * client busy forever.
 */
const MAX_CONNECT_RETRIES = 16

/**
 * Connections that finish their requests while others are made for other TLS server names. A session has one
 * connection for new requests, so each change of the name makes another one.
 */
const MAX_OTHER_NAMES = 16
const IDLE: State = { at: 'idle' }

export class ClientSession extends RunLoop implements ConnectionOwner, ConnectingOwner, RequestHost {
  readonly #context: OriginContext
  #owner: SessionOwner
  #pipelining: number
  #maxConcurrentStreams: number
  readonly #queue = new RequestQueue()
  #state: State = IDLE
  /** They take no more requests, and finish those that run on them. */
  readonly #draining = new Set<Connection>()
  readonly #connections: OpenConnections
  #connectRetries = 0
  readonly #gate = new DrainGate()
  /** It is known how many requests the connection takes at a time. */
  isLimitKnown = false
  /** Why the client was destroyed. */
  #ended: EndReason | null = null
  #whenEmpty: (() => void) | null = null
  #whenClosed: (() => void) | null = null

  constructor(context: OriginContext, owner: SessionOwner) {
    super()
    this.#context = context
    this.#owner = owner
    this.#connections = new OpenConnections(context, () => {
      this.#checkClosed()
      if (this.#state.at === 'idle') this.run()
    })
    this.#pipelining = context.settings.pipelining
    this.#maxConcurrentStreams = context.settings.maxConcurrentStreams
  }

  /** Puts another owner before the present one. */
  wrapOwner(wrap: (owner: SessionOwner) => SessionOwner): void {
    this.#owner = wrap(this.#owner)
  }

  get origin(): string {
    return this.#context.origin.origin
  }

  get pipelining(): number {
    return this.#pipelining
  }

  set pipelining(value: number) {
    this.#pipelining = value
    this.run()
  }

  get maxConcurrentStreams(): number {
    return this.#maxConcurrentStreams
  }

  set maxConcurrentStreams(limit: number) {
    this.#maxConcurrentStreams = limit
    const state = this.#state
    if (state.at === 'open') state.connection.onLimitsChanged()
    this.run()
  }

  get connected(): boolean {
    return this.#state.at === 'open'
  }

  /** There is no connection, but one is on its way, or will be with the next round of the loop. */
  get isOpening(): boolean {
    return this.#state.at === 'connecting' || (this.#state.at === 'idle' && this.#queue.size > 0)
  }

  get isDestroyed(): boolean {
    return this.#ended !== null
  }

  /** The connection carries many requests at a time. */
  get multiplexes(): boolean {
    return this.#state.at === 'open' && this.#state.connection.multiplexes
  }

  get pending(): number {
    return this.#queue.size
  }

  get running(): number {
    let running = this.#state.at === 'open' ? this.#state.connection.running : 0
    if (this.#draining.size > 0) for (const { running: more } of this.#draining) running += more
    return running
  }

  /** With the one that is being opened. */
  get connections(): ConnectionSnapshot[] {
    const state = this.#state
    const isOpening = state.at === 'connecting' && !state.attempt.awaitsPlace
    return this.#connections.snapshots(isOpening ? state.attempt : null)
  }

  #isBusy(): boolean {
    return this.#queue.size > 0 || (this.#state.at === 'open' && this.#state.connection.busy)
  }

  accept(options: DispatchOptions, handler: DispatchHandler): boolean {
    const request = new Request(options, handler, this.#context.requestContext, this)
    // A diagnostics subscriber, or a getter of the options, may have destroyed the client by now.
    if (this.#ended !== null) {
      request.fail(endReason('destroyed', new ClientDestroyedError()))
      return false
    }
    if (request.settled) return this.#gate.answer(!this.#isBusy())
    return this.#enqueue(request, true)
  }

  /** Takes a request that has waited in a pool. Returns what `dispatch` would. */
  adopt(request: Request): boolean {
    request.moveTo(this)
    return this.#enqueue(request, false)
  }

  /** The connector was not called yet. */
  get awaitsPlace(): boolean {
    return this.#state.at === 'connecting' && this.#state.attempt.awaitsPlace
  }

  /** Gives up what waits for a place, for another member of the pool. */
  recall(): readonly Request[] {
    const requests: Request[] = []
    for (let next = this.#queue.shift(); next !== null; next = this.#queue.shift()) requests.push(next)
    this.runLater()
    return requests
  }

  #enqueue(request: Request, isNew: boolean): boolean {
    this.#queue.push(request)
    this.#gate.entered++
    try {
      if (isNew) request.announceQueued()
      // A stream that is about to end becomes one of known length if it gets the chance.
      const { kind } = request.source
      if (kind === 'stream' || kind === 'iterable') this.runLater()
      else this.run()
    } finally {
      this.#gate.entered--
    }
    return this.#gate.answer(!this.#isBusy())
  }

  /** `drain` follows when it can take more. */
  get needsDrain(): boolean {
    return this.#gate.needsDrain
  }

  finish(done: () => void): void {
    this.#whenEmpty = done
    this.run()
  }

  /** The connection finishes what runs on it; so does one that is on its way, with what waits for it. */
  retireConnection(): void {
    const state = this.#state
    if (state.at === 'connecting') state.attempt.isRetired = !state.attempt.awaitsPlace
    else if (state.at === 'open') state.retire('retired')
  }

  terminate(reason: EndReason, done: () => void): void {
    const state = this.#state
    this.#ended = reason
    for (const request of this.#queue.drain()) request.fail(reason)
    if (state.at === 'connecting') {
      // Nothing was sent there: it closes by itself.
      this.#state = IDLE
      state.attempt.abandon()
    }
    const connections = [...this.#draining, ...(state.at === 'open' ? [state.connection] : [])]
    if (connections.length === 0 && this.#connections.sockets === 0) {
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
    const state = this.#state
    if (state.at === 'open' && state.place?.mustYield(state.connection.running)) {
      state.retire('closed to let another origin connect')
    }
    this.run()
    if (this.isLimitKnown || this.#state.at !== 'open') return
    this.isLimitKnown = this.#state.connection.isLimitKnown
    if (this.isLimitKnown) this.#owner.onCapacityKnown()
  }

  onRequestAborted(request: Request): void {
    this.#queue.onSettled(request)
    this.run()
  }

  /** A waiting request has nothing to resume. */
  onRequestResumed(): void {}

  onHandlerError(error: unknown): void {
    this.#owner.onHandlerError(error)
  }

  onState(connection: Connection): void {
    const { state } = connection
    if (state.at === 'open') return
    if (this.#state.at === 'open' && this.#state.connection === connection) {
      this.#state.place?.onBusy()
      this.#state = IDLE
    }
    const isOver = state.at === 'lingering' || state.at === 'ended'
    const ended = isOver ? this.#connections.onOver(connection, state.reason, this.#owner.client) : null
    if (state.at !== 'ended') this.#onDraining(connection, state.reason)
    else {
      if (!this.#draining.delete(connection)) {
        if (state.wasIdle && this.#ended === null) this.#onLostIdle(state.reason)
        this.#onDisconnected(state.reason)
      }
      this.#checkClosed()
    }
    if (ended !== null) channels.disconnected.publish(ended)
  }

  /** It finishes what runs on it; whatever else there is goes to another connection. */
  #onDraining(connection: Connection, reason: EndReason): void {
    if (this.#draining.has(connection)) return
    this.#draining.add(connection)
    this.#onDisconnected(reason)
    this.run()
  }

  #onDisconnected(reason: EndReason): void {
    this.#context.lastEnd = lastEndOf(reason)
    this.#owner.onDisconnected(reason)
  }

  onPing(milliseconds: number): void {
    this.#owner.onPing(milliseconds)
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
    if (this.#state.at === 'open' || this.#draining.size > 0 || this.#connections.sockets > 0) return
    const done = this.#whenClosed
    this.#whenClosed = null
    done?.()
  }

  protected override dispatchQueued(): void {
    for (let request = this.#queue.peek(); request !== null; request = this.#queue.peek()) {
      const state = this.#state
      if (state.at === 'connecting') return
      if (state.at === 'idle') {
        // The end of another connection may have brought us here, in the context of the request that opened
        // it.
        request.inContext(this.#connect, this, request.servername)
        return
      }
      const { connection } = state
      if (this.#context.origin.protocol === 'https:' && !state.name.suits(request.servername)) {
        if (connection.running > 0 && this.#draining.size >= MAX_OTHER_NAMES) return
        const reason = informational('server-name', 'servername changed')
        if (connection.multiplexes || connection.running === 0) connection.retire(reason)
        return
      }
      state.place?.onBusy()
      if (!this.#offer(state, request)) return
      this.#connectRetries = 0
    }
  }

  /** Offers the first request of the queue, which must not be in there when its handler is called. */
  #offer(current: CurrentConnection, request: Request): boolean {
    this.#queue.shift()
    try {
      if (current.offer(request)) return true
      this.#queue.unshift(request)
    } catch (error) {
      // How far it came is unknown, unless it has not even begun.
      if (request.isQueued) this.#queue.unshift(request)
      else request.fail(endReason('broken', error as Error))
      current.connection.onBroken(error as Error)
    }
    return false
  }

  /** With a connection, that one is to blame; without one, nothing that waits would get any further. */
  protected override onBroken(error: Error): void {
    if (this.#state.at === 'open') {
      this.#state.connection.onBroken(error)
      return
    }
    if (this.#state.at === 'idle') {
      for (const request of this.#queue.drain()) request.fail(endReason('broken', error))
    }
    if (this.#queue.size === 0 && this.running === 0) this.#reportEmpty()
  }

  protected override onSettledDown(): void {
    const drain = this.#gate.check(this.#ended === null && !this.#isBusy())
    if (drain === 'later') {
      this.settleDownLater()
      return
    }
    if (drain === 'now') this.#owner.onRoom()
    if (this.#queue.size > 0 || this.running > 0) return
    this.#becomeIdle(this.#state)
    this.#reportEmpty()
  }

  #becomeIdle(state: State): void {
    if (state.at === 'open') {
      state.connection.becomeIdle()
      if (state.connection.state.at === 'open') state.place?.onIdle()
      return
    }
    if (state.at === 'connecting') {
      if (!state.attempt.withdraw()) {
        state.attempt.onUnwanted()
        return
      }
      this.#state = IDLE
    }
    if (this.#connections.sockets === 0) this.#owner.onIdle()
  }

  #reportEmpty(): void {
    const done = this.#whenEmpty
    if (done === null || this.#isClosingOne) return
    this.#whenEmpty = null
    done()
  }

  /** A connection that closes may return requests, which it does not count any more. */
  get #isClosingOne(): boolean {
    const all = this.#state.at === 'open' ? [this.#state.connection, ...this.#draining] : [...this.#draining]
    return all.some(({ state }) => state.at === 'closing')
  }

  #connect(servername: string | null): void {
    const attempt = new Connecting(this.#context, servername, this)
    this.#state = { at: 'connecting', attempt }
    attempt.start()
  }

  open(attempt: Connecting, socket: Duplex, inlet: SlabInlet | null, times: ConnectTimes): Connection {
    const { place } = attempt
    const connection = this.#connections.open(attempt, socket, times, (onGone) => {
      const onEnd: OnGone = (how) => {
        if (place !== null) leavePlace(place, socket, how)
        onGone()
      }
      return openConnection(socket, inlet, times, this, this.#context, place === null ? onGone : onEnd)
    })
    if (place !== null) place.connection = connection
    return connection
  }

  onPlaced(): void {
    this.#owner.onCapacityKnown()
  }

  onConnected(attempt: Connecting, socket: Duplex, connection: Connection): void {
    const name = new VerifiedName(this.#context, attempt.servername, socket)
    this.#state = new CurrentConnection(connection, name, attempt.place)
    this.isLimitKnown = connection.isLimitKnown
    attempt.publishConnected(connection.multiplexes ? 'h2' : 'h1', socket)
    this.#owner.onConnected()
    this.run()
    if (attempt.isRetired) this.retireConnection()
  }

  onConnectError(attempt: Connecting, error: Error): void {
    this.#state = IDLE
    attempt.publishError(error)
    const { servername } = attempt
    const kind = connectEnd(error)
    const isCallers = this.#context.isForeign && kind !== 'no-place'
    const reason: EndReason = { kind, error, isCallers, servername }
    this.#context.lastEnd = lastEndOf(reason)
    // What it was begun with may not hold any more.
    if ((attempt.isRetired || reason.kind === 'try-again') && this.#connectRetries < MAX_CONNECT_RETRIES) {
      this.#connectRetries++
    } else {
      this.#connectRetries = 0
      this.#failQueued(attempt, reason)
    }
    this.#owner.onConnectFailed(reason, this.#queue.size > 0)
    this.run()
  }

  #failQueued({ servername }: Connecting, reason: EndReason): void {
    const isForAll = reason.kind !== 'wrong-name'
    const requests = this.#queue.drain((request) => isForAll || request.servername === servername)
    for (const request of this.#owner.onUnreachable(requests)) request.fail(reason)
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
    const passed = reason.kind === 'foreign' ? callersReason('foreign', reason.error) : reason
    for (const request of this.#queue.drain()) request.fail(passed)
  }
}

/** A socket that was handed over stays in its place until it closes. */
function leavePlace(place: Place, socket: Duplex, how: 'closed' | 'handed-over'): void {
  if (how === 'closed' || socket.destroyed) place.release()
  else socket.once('close', () => place.release())
}
