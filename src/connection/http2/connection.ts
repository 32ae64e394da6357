/**
 * One HTTP/2 connection: exchanges on the engine's streams, its output on the transport, and what becomes of
 * the requests when streams are refused or the connection ends.
 *
 * Long because it is the sink of its transport and its engine and the host of its parts, each of which calls
 * back in a line or two.
 */
import { areAnswersDue } from '../../base/loop/answers.ts'
import { now } from '../../base/loop/clock.ts'
import { channels } from '../../diagnostics.ts'
import type { SocketInfo } from '../../errors.ts'
import type { Transport, TransportSink } from '../../net/stream-transport.ts'
import type { ProtocolFailure } from '../../protocol/failure.ts'
import { ClientEngine } from '../../protocol/http2/client-engine.ts'
import type { ConnectionSink } from '../../protocol/http2/connection-sink.ts'
import { NO_ERROR } from '../../protocol/http2/constants.ts'
import type { ConnectTimes, HttpVersion } from '../../request/connection-facts.ts'
import { END_RULES, type EndReason, endReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'
import type { Connection, ConnectionLoad, ConnectionOwner, Http2Settings } from '../connection.ts'
import { advance, type ConnectionState, endOf, OPEN } from '../connection-state.ts'
import * as ends from '../ends.ts'
import { http2ConnectionError, http2StreamError } from '../failure-to-error.ts'
import { Http2EarlyBodies } from './early-bodies.ts'
import { type ExchangeHost, Http2Exchange, type ResetVerdict } from './exchange.ts'
import { Http2Exchanges } from './exchanges.ts'
import { prepareHttp2Request, printFields } from './head.ts'
import type { Http2Host } from './host.ts'
import { Http2Idle } from './idle.ts'
import { Http2Liveness } from './liveness.ts'
import type { OriginStreams } from './origin-streams.ts'
import { Http2Output } from './output.ts'
import { Http2Refusals } from './refusals.ts'
import { UnexplainedResets } from './unexplained-resets.ts'

/** Reported to the streams of a connection that ends on this side, or without a GOAWAY of the peer. */
const TERMINATED: ProtocolFailure = {
  scope: 'connection',
  blame: 'library',
  code: NO_ERROR,
  message: 'the connection has ended',
}

/** Many fields, because its parts are separate objects, each in one. */
export class Http2Connection implements Connection, TransportSink, ConnectionSink, ExchangeHost, Http2Host {
  readonly settings: Http2Settings
  readAt = 0
  readonly #transport: Transport
  readonly #owner: ConnectionOwner
  readonly times: ConnectTimes
  readonly multiplexes = true
  readonly #engine: ClientEngine
  readonly #liveness: Http2Liveness
  readonly exchanges: Http2Exchanges
  readonly output: Http2Output
  readonly #idle = new Http2Idle(this)
  readonly refusals: Http2Refusals
  readonly #earlyBodies = new Http2EarlyBodies(this)
  readonly #unexplained = new UnexplainedResets(this)
  /** Room may have been made for a request that waits. */
  #roomMade = false
  state: ConnectionState = OPEN
  /** The state that was last reported to the owner, which happens at the end of a read or a turn. */
  #reported: ConnectionState['at'] = 'open'

  /** `origin`: what its other connections have learnt. */
  constructor(
    transport: Transport,
    owner: ConnectionOwner,
    settings: Http2Settings,
    times: ConnectTimes,
    origin: OriginStreams,
  ) {
    this.settings = settings
    this.#transport = transport
    this.#owner = owner
    this.times = times
    this.exchanges = new Http2Exchanges(transport)
    this.refusals = new Http2Refusals(this, origin)
    this.#engine = new ClientEngine(this, {
      initialWindowSize: settings.initialWindowSize,
      connectionWindowSize: settings.connectionWindowSize,
      maxConcurrentStreams: Math.floor(owner.maxConcurrentStreams),
      maxEarlyStreams: origin.maxEarlyStreams,
      maxHeaderSize: settings.maxHeaderSize,
    })
    this.output = new Http2Output(this, this.#engine, transport)
    this.#liveness = new Http2Liveness(this, settings.pingInterval)
    try {
      transport.attach(this)
    } catch (error) {
      // There is no connection, and nothing may be left running.
      this.#liveness.stop()
      throw error
    }
    this.output.schedule()
  }

  get running(): number {
    return this.exchanges.running
  }

  get httpVersion(): HttpVersion {
    return '2'
  }

  get reused(): boolean {
    return this.exchanges.begun > 1
  }

  get busy(): boolean {
    // A request may wait here until the server knows of the streams that were reset.
    return (
      (this.#engine.freeStreams === 0 && !this.#engine.awaitsProof) ||
      !this.#unexplained.isEmpty ||
      this.refusals.isFull(this.exchanges.running)
    )
  }

  onLimitsChanged(): void {
    this.#engine.maxConcurrentStreams = this.#owner.maxConcurrentStreams
  }

  get isLimitKnown(): boolean {
    const { isReceived, maxConcurrentStreams } = this.#engine.remoteSettings
    return isReceived && maxConcurrentStreams !== 0
  }

  socketInfo(): SocketInfo {
    return this.#transport.info()
  }

  load(): ConnectionLoad {
    return {
      requests: this.exchanges.begun,
      idleSince: this.#idle.since,
      streams: this.#engine.streams.size,
      maxStreams: this.#engine.streamLimit,
      takesMore: this.state.at === 'open',
    }
  }

  offer(request: Request): boolean {
    if (this.state.at !== 'open' || !this.#canTake(request)) return false
    this.#take(request)
    return true
  }

  #canTake(request: Request): boolean {
    const engine = this.#engine
    if (!this.#unexplained.isEmpty) return false
    const early = request.takesOver && !engine.remoteSettings.isReceived
    if (this.#earlyBodies.holds(request, engine.streams.size)) return false
    if (!early && engine.freeStreams > 0 && !this.refusals.isFull(this.exchanges.running)) return true
    if (engine.awaitsProof) {
      this.#idle.end()
      this.#transport.setReferenced(true)
    }
    if (engine.streams.size === 0 && engine.canOpen) {
      this.#idle.awaitStream(request.headersTimeout ?? this.settings.headersTimeout)
    }
    return false
  }

  #take(request: Request): void {
    if (!request.start() || this.#isSettled(request)) return
    const engine = this.#engine
    const prepared = prepareHttp2Request(request, this.settings, engine.remoteSettings)
    if (prepared instanceof Error) {
      request.fail(endReason('unsendable', prepared))
      return
    }
    const { fields, body } = prepared
    if (channels.sendHeaders.hasSubscribers) {
      request.publish(channels.sendHeaders, {
        request,
        headers: printFields(fields),
        socket: this.#transport.socket,
      })
      if (this.#isSettled(request)) return
    }
    this.#idle.onStream()
    this.#transport.setReferenced(true)
    if (this.#isSettled(request)) return
    const exchange = new Http2Exchange(request, this, body, this.exchanges.nextDeadline())
    const endStream = !request.takesOver && body.pumped === null && request.source.kind !== 'bytes'
    try {
      exchange.stream = engine.open(fields, endStream, exchange)
    } catch (error) {
      exchange.takeDeadline().dispose()
      throw error
    }
    if (!engine.canOpen) this.#drain(ends.informational('goaway', 'HTTP/2: all stream ids have been used'))
    this.exchanges.onBegun()
    request.attach(exchange, this)
    this.#liveness.onRequest()
    this.output.onRequest()
    exchange.begin()
  }

  /** The handler or a diagnostics subscriber may have ended the request or the connection just now. */
  #isSettled(request: Request): boolean {
    const reason = endOf(this.state)
    if (reason !== null) request.fail(reason)
    return request.settled
  }

  becomeIdle(): void {
    if (this.isOver) return
    this.#transport.setReferenced(false)
    this.#idle.begin(this.settings.keepAliveTimeout)
  }

  destroy(reason: EndReason): void {
    this.close(reason)
    for (const exchange of [...this.exchanges.heldBack]) exchange.onLost(reason)
  }

  retire(reason: EndReason): void {
    if (this.running === 0) {
      this.destroy(reason)
      return
    }
    this.#drain(reason)
    this.#reportState()
  }

  onSettled(exchange: Http2Exchange): void {
    if (exchange.request.completed) this.refusals.onCompleted()
    this.exchanges.onSettled(exchange, this.isOver)
    this.onRoom()
    if (this.state.at === 'lingering' && this.exchanges.heldBack.size === 0) {
      this.#enter({ ...this.state, at: 'ended' })
      this.#reportState()
      this.#owner.onCapacity()
    }
  }

  onOverdue(): void {
    // The handler of the overdue request may have destroyed the client just then.
    if (!this.isOver) this.#liveness.probe()
  }

  /** Of refusals and resets: what has waited because of them may be sent. */
  onRoom(): void {
    this.#roomMade = true
    this.output.schedule()
  }

  /**
   * The origin can be reached over another connection (RFC 9110 §15.5.20): one with other requests is not cut
   * off.
   */
  onMisdirected(): void {
    this.#drain(ends.informational('goaway', 'HTTP/2: misdirected request'))
  }

  onHandlerError(error: unknown): void {
    this.#owner.onHandlerError(error)
  }

  sendPing(opaque: Uint8Array): void {
    this.#engine.ping(opaque)
    this.output.schedule()
  }

  onRoundTrip(milliseconds: number): void {
    this.#engine.growth.addRoundTrip(milliseconds)
  }

  onPingAnswered(milliseconds: number): void {
    this.#owner.onPing(milliseconds)
  }

  onBytes(memory: Buffer, length: number): void {
    if (this.isOver) return
    const readAt = now()
    this.readAt = readAt
    this.#liveness.onReceived(readAt)
    const flushing = this.output.beginRead()
    const cancelled = this.#engine.cancels.size
    try {
      this.#engine.receive(memory, 0, length, readAt)
    } finally {
      this.output.endRead(flushing)
    }
    if (this.#engine.cancels.size < cancelled) this.#roomMade = true
    this.exchanges.endRead()
    if (this.#engine.areSettingsAcknowledged) this.#liveness.onSettingsAcknowledged(readAt)
    // RFC 9113 §5.4.1: a peer that names an error closes the connection, and some leave that to the client.
    if (this.#peerFault !== null) {
      this.close(this.#peerFault)
      return
    }
    this.#unexplained.endRead(this.#liveness)
    // Callers who get their responses at the end of this turn: what they send then leaves in it, too.
    if (areAnswersDue() || this.#engine.wantsOutput || this.#engine.wantsPing) this.output.schedule()
    this.onFlushed()
  }

  onDrain(): void {
    this.output.flush()
  }

  onEof(): void {
    this.close(this.#peerFault ?? ends.peerClosed(this.socketInfo()))
  }

  /** A peer that names an error in its GOAWAY and then ends the connection has said why. */
  get #peerFault(): EndReason | null {
    const state = this.state
    return state.at === 'draining' && state.reason.kind === 'goaway-error' ? state.reason : null
  }

  onTransportClosed(error: Error | null): void {
    if (!this.isOver) this.#end(this.#peerFault ?? ends.transportClosed(error, this.socketInfo()))
    if (this.state.at !== 'closing') return
    // Responses that are complete here are still wanted by consumers that pause.
    this.#enter({ ...this.state, at: this.exchanges.heldBack.size > 0 ? 'lingering' : 'ended' })
    this.#returnUnprocessed()
    this.#reportState()
    this.#owner.onCapacity()
  }

  onStreamReset(exchange: Http2Exchange, failure: ProtocolFailure, unprocessed: boolean): ResetVerdict {
    const { request, stream } = exchange
    const ended = endOf(this.state)
    const resends = ended === null || END_RULES[ended.kind].resends
    if (unprocessed && resends && this.refusals.resends(request, stream.id, failure, this.running))
      return 'moved'
    if (ended?.kind === 'goaway-error' && this.refusals.resendsSuspected(request)) return 'moved'
    const reason = this.#endOf(exchange, failure)
    if (unprocessed && !reason.isCallers) return endReason('unprocessed', reason.error)
    if (failure.scope === 'connection' || failure.code !== NO_ERROR || request.settled) return reason
    this.#unexplained.add(exchange, reason)
    return 'undecided'
  }

  onStreamClosed(exchange: Http2Exchange, failure: ProtocolFailure | null): EndReason | null {
    this.#roomMade = true
    const isReset = failure !== null && failure.code !== NO_ERROR
    return isReset ? this.#endOf(exchange, failure) : endOf(this.state)
  }

  #endOf({ stream, awaitsTunnel }: Http2Exchange, failure: ProtocolFailure): EndReason {
    if (failure.scope === 'stream') return endReason('protocol', http2StreamError(failure, awaitsTunnel))
    const { state } = this
    const isCovered = state.at === 'draining' && this.refusals.isCovered(stream.id)
    return state.at === 'open' || isCovered ? this.#protocolEnd(failure) : state.reason
  }

  #protocolEnd(failure: ProtocolFailure): EndReason {
    return this.#engine.remoteSettings.isReceived
      ? endReason('protocol', http2ConnectionError(failure, this.socketInfo()))
      : ends.peerClosed(this.socketInfo(), failure)
  }

  onSettings(): void {
    const { remoteSettings, streams } = this.#engine
    this.#earlyBodies.stop()
    this.refusals.onSettings(remoteSettings.maxConcurrentStreams, streams.size, streams.nextId)
    this.#roomMade = true
  }

  onGoaway(lastStreamId: number, code: number, debug: Uint8Array): void {
    this.refusals.onGoaway(lastStreamId)
    this.#drain(ends.goaway(code, debug, this.socketInfo()))
  }

  onPong(opaque: Uint8Array): void {
    this.#unexplained.onPong(this.#liveness.onPong(opaque))
  }

  onFailure(failure: ProtocolFailure): void {
    // The peer still reads, and must get the GOAWAY that says what it did wrong.
    this.close(this.#protocolEnd(failure), 'end')
  }

  onFlush(): void {
    // Only an answer of the server can make room. It is asked after everything that was reset meanwhile.
    if (this.#engine.wantsPing) this.#liveness.probe()
  }

  /** Reports what has changed to the owner, after a read or a turn. */
  onFlushed(): void {
    if (this.isOver) return
    this.#returnUnprocessed()
    this.#reportState()
    if (this.#roomMade) {
      this.#roomMade = false
      this.#owner.onCapacity()
    }
    // Read again: the owner, or a listener of its events, may have closed the connection.
    const { state } = this
    if (state.at === 'draining' && this.exchanges.running === 0) this.close(state.reason)
  }

  #reportState(): void {
    if (this.#reported === this.state.at) return
    this.#reported = this.state.at
    this.#owner.onState(this)
  }

  #returnUnprocessed(): void {
    const requests = this.refusals.takeReturned()
    if (requests.length > 0) this.#owner.onReturned(requests)
  }

  get isOver(): boolean {
    return this.state.at !== 'open' && this.state.at !== 'draining'
  }

  #enter(state: ConnectionState): void {
    this.state = advance(this.state, state)
  }

  /** No more streams are opened. */
  #drain(reason: EndReason): void {
    // A peer may announce its end first, and name an error in a second frame.
    const isWorse = this.state.at === 'draining' && reason.kind === 'goaway-error'
    if (this.state.at === 'open' || isWorse) this.#enter({ at: 'draining', reason })
  }

  /** Nothing is taken or delivered from now on; `onState` follows when the transport has closed. */
  close(reason: EndReason, how: 'end' | 'destroy' = 'destroy'): void {
    if (this.isOver) return
    if (reason.kind !== 'broken') this.output.sendGoaway()
    try {
      this.#end(reason)
    } finally {
      this.#transport[how](reason.error)
    }
  }

  onBroken(error: Error): void {
    this.close(endReason('broken', error))
  }

  #end(reason: EndReason): void {
    if (this.isOver) return
    this.#enter({ at: 'closing', reason, wasIdle: this.exchanges.running === 0 })
    this.#liveness.stop()
    this.refusals.stop()
    this.#earlyBodies.stop()
    this.#idle.stop()
    this.exchanges.stop()
    this.#engine.terminate(TERMINATED)
    this.#unexplained.onEnd(reason)
  }
}
