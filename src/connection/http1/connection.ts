/**
 * One HTTP/1.1 connection: what may be written when (RFC 9112 §9.3), the pipeline of requests that were, and
 * what becomes of them when the connection ends. The responses are received in exchange.ts.
 *
 * Long because it is where the parts of a connection meet: most of its methods are their callbacks.
 */

import { copyBytes, ownBytes, restOf } from '../../base/bytes/own-bytes.ts'
import { RingQueue } from '../../base/collection/ring-queue.ts'
import { invariant } from '../../base/error/invariant.ts'
import { now } from '../../base/loop/clock.ts'
import { Deadline, type DeadlineOwner } from '../../base/loop/deadline.ts'
import type { SocketInfo } from '../../errors.ts'
import type { Transport, TransportSink } from '../../net/stream-transport.ts'
import type { ProtocolFailure } from '../../protocol/failure.ts'
import type { HeaderBlock } from '../../protocol/header-block.ts'
import { HeadParsers } from '../../protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../protocol/http1/response-parser.ts'
import type { ConnectTimes, HttpVersion } from '../../request/connection-facts.ts'
import { END_RULES, type EndReason, endReason } from '../../request/end-reason.ts'
import type { Request, RequestHost } from '../../request/request.ts'
import type { Connection, ConnectionLoad, ConnectionOwner, ConnectionSettings } from '../connection.ts'
import { advance, type Closing, type ConnectionState, endOf, OPEN } from '../connection-state.ts'
import * as ends from '../ends.ts'
import { http1Error } from '../failure-to-error.ts'
import { isUnbounded } from '../outgoing-body.ts'
import { Http1Exchange, type Http1ExchangeHost } from './exchange.ts'
import { closeInTurn } from './expired-connections.ts'
import { type PreparedRequest, prepareRequest } from './head.ts'
import { Http1Idleness, type IdlenessHost } from './idle.ts'
import { Http1Sender, type SenderHost } from './sender.ts'

/**
 * Milliseconds to send the rest of a request that is already answered; after that the connection is closed.
 */
const LONGEST_UNSENT = 1000

/**
 * Milliseconds after its idle time in which a connection that waits to be closed still takes a request. Many
 * wait together, and a new one for each request of that moment would delay all the others.
 */
const LONGEST_EXPIRED = 100

/** Shared by the connections to one origin. */
export { HeadParsers }

/** Many fields, because its parts are separate objects, each in one. */
export class Http1Connection
  implements
    Connection,
    TransportSink,
    RequestHost,
    SenderHost,
    Http1ExchangeHost,
    IdlenessHost,
    DeadlineOwner
{
  readonly #transport: Transport
  readonly #owner: ConnectionOwner
  readonly #settings: ConnectionSettings
  readonly times: ConnectTimes
  readonly multiplexes = false
  readonly isLimitKnown = true
  readonly #parser: ResponseParser
  /** Another request may follow those that were written (RFC 9112 §9.3). */
  #mayFollow = true
  /** Written and not answered, in the order of their responses. */
  readonly #pipeline = new RingQueue<Request>()
  /** For the response or, while the connection is idle, for its idle time. */
  readonly #deadline = new Deadline(this)
  readonly #exchange: Http1Exchange
  readonly #sender: Http1Sender
  readonly #idleness = new Http1Idleness(this)
  #served = 0
  /** Read from the socket, but the consumer does not want it yet. */
  #backlog: Buffer | null = null
  state: ConnectionState = OPEN

  constructor(
    transport: Transport,
    owner: ConnectionOwner,
    settings: ConnectionSettings,
    times: ConnectTimes,
    parsers: HeadParsers,
  ) {
    this.#transport = transport
    this.#owner = owner
    this.#settings = settings
    this.times = times
    this.#exchange = new Http1Exchange(this, this.#pipeline, settings, this.#deadline)
    this.#sender = new Http1Sender(this, transport, this.#deadline)
    this.#parser = new ResponseParser(this.#exchange, parsers)
    transport.attach(this)
  }

  get running(): number {
    return this.#pipeline.size
  }

  get httpVersion(): HttpVersion {
    return '1.1'
  }

  get reused(): boolean {
    return this.#served > 1
  }

  get busy(): boolean {
    return (
      !this.#mayFollow ||
      this.#sender.isBusy ||
      this.#idleness.isInspecting ||
      this.#pipeline.size >= Math.max(this.#owner.pipelining, 1)
    )
  }

  socketInfo(): SocketInfo {
    return this.#transport.info()
  }

  load(): ConnectionLoad {
    return {
      requests: this.#served,
      idleSince: this.#idleness.isIdle ? this.#deadline.armedAt : null,
      streams: null,
      maxStreams: null,
      takesMore: this.#mayFollow,
    }
  }

  offer(request: Request): boolean {
    if (!this.#canTake(request)) return false
    this.#take(request)
    return true
  }

  #canTake(request: Request): boolean {
    if (this.busy) return false
    if (this.#pipeline.size > 0) {
      // The 100 that a held body waits for must not be taken for that of another request.
      return request.idempotent && !request.takesOver && !isUnbounded(request) && !request.expectContinue
    }
    if (this.#idleness.isIdle && this.idleFor > this.#exchange.idleTime + LONGEST_EXPIRED) {
      // It need not wait for its turn any more, nor for a timer that is late because the process was busy.
      this.destroy(ends.idleTimeout())
      return false
    }
    return this.#idleness.inspect(request)
  }

  get idleFor(): number {
    return now() - this.#deadline.armedAt
  }

  get isExpired(): boolean {
    return this.#idleness.isIdle && !this.#deadline.armed
  }

  get isInspecting(): boolean {
    return this.#idleness.isInspecting
  }

  canRepeat({ idempotent, takesOver, source }: Request): boolean {
    const isKept = source.kind === 'none' || source.kind === 'bytes'
    return idempotent && !takesOver && isKept && this.#transport.isPolled && !this.isLost
  }

  get isLost(): boolean {
    return this.#transport.socket.destroyed
  }

  onLost(): void {
    this.destroy(ends.transportClosed(null, this.socketInfo()))
  }

  onInspected(): void {
    this.#owner.onCapacity()
  }

  #take(request: Request): void {
    if (!request.start()) return
    this.#idleness.end()
    const reason = endOf(this.state)
    if (reason !== null) {
      this.#fail(request, reason)
      return
    }
    const prepared = prepareRequest(request, this.#settings, this.#isLast())
    if (prepared instanceof Error) {
      request.fail(endReason('unsendable', prepared))
      return
    }
    const at = now()
    this.#admit(request, prepared, at)

    if (!prepared.isJoined) {
      this.#sender.sendStreamed(request, prepared, this.#settings)
      return
    }
    this.#sender.sendWhole(request, prepared, this.#owner.pipelining > 1)
    if (request.source.kind === 'bytes') request.onWholeBodySent(request.source)
    request.onRequestSent(at)
  }

  /** No request is to follow the next one. */
  #isLast(): boolean {
    const { maxRequestsPerClient } = this.#settings
    if (this.#owner.pipelining === 0) return true
    return maxRequestsPerClient > 0 && this.#served + 1 >= maxRequestsPerClient
  }

  #admit(request: Request, { last }: PreparedRequest, at: number): void {
    this.#served++
    invariant(this.#mayFollow, 'a request was written on a connection that takes none')
    this.#mayFollow = !last
    this.#pipeline.push(request)
    this.#parser.expect(request.method, request.upgrade !== null)
    if (request.typeOfService !== undefined) this.#transport.setTypeOfService(request.typeOfService)
    if (this.#pipeline.size === 1) this.#exchange.begin(request, at)
    request.attach(this, this)
  }

  onLastRequest(): void {
    this.#mayFollow = false
  }

  onBodyWritten(request: Request): void {
    request.onRequestSent()
    this.#owner.onCapacity()
  }

  onBodyBroken(request: Request, error: Error): void {
    request.fail(endReason('unsendable', error))
    this.destroy(endReason('lost', error))
  }

  onDrain(): void {
    const wasClogged = this.#sender.isClogged
    this.#sender.resume()
    if (!wasClogged || this.isOver) return
    if (this.#idleness.isIdle) this.onIdle()
    else this.#deadline.disarm()
    this.#owner.onCapacity()
  }

  becomeIdle(): void {
    if (!this.isOver) this.#idleness.begin()
  }

  /** `pipelining` is read whenever a request is offered. */
  onLimitsChanged(): void {}

  onIdle(): void {
    // The response may have ended within this read: its time limit does, before another one begins.
    this.#exchange.endRead()
    this.#transport.setReferenced(false)
    const { idleTime } = this.#exchange
    this.#deadline.arm(this.#sender.isClogged ? Math.min(idleTime, LONGEST_UNSENT) : idleTime)
  }

  onIdleEnd(): void {
    this.#deadline.disarm()
    this.#transport.setReferenced(true)
  }

  retire(reason: EndReason): void {
    if (this.#pipeline.size === 0) this.destroy(reason)
    else this.#mayFollow = false
  }

  onRequestAborted(_request: Request, reason: EndReason): void {
    this.destroy(reason)
  }

  onRequestResumed(request: Request): void {
    if (this.isOver || request !== this.#pipeline.peek()) return
    this.#exchange.onResumed(request, now())
    if (this.#parser.status !== 'paused') return
    try {
      this.#goOn()
    } catch (error) {
      // Must not be thrown at the consumer of the body.
      this.onBroken(error as Error)
    }
  }

  #goOn(): void {
    this.#parser.resume()
    if (this.#parser.executing) return
    const backlog = this.#backlog
    this.#backlog = null
    if (backlog !== null) this.#execute(backlog, backlog.length)
    if (this.#backlog === null && !this.isOver) this.#transport.setReading(true)
  }

  onHandlerError(error: unknown): void {
    this.#owner.onHandlerError(error)
  }

  onBytes(memory: Buffer, length: number): void {
    if (this.isOver || this.#isUnasked()) return
    if (this.#backlog !== null) {
      this.#backlog = Buffer.concat([this.#backlog, memory.subarray(0, length)])
      return
    }
    this.#execute(memory, length)
    // The rest lies in memory that is lent only until this call returns.
    const rest = this.#backlog as Buffer | null
    if (rest !== null) this.#backlog = copyBytes(rest, 0, rest.length)
  }

  /** Ends the connection if what arrives cannot concern the request on it, which then goes to another one. */
  #isUnasked(): boolean {
    if (!this.#idleness.wasEarlier()) return false
    this.destroy(ends.unasked(this.socketInfo()))
    return true
  }

  #execute(bytes: Buffer, length: number): void {
    const parser = this.#parser
    this.#exchange.readAt = now()
    const consumed = parser.execute(bytes, 0, length)
    this.#exchange.endRead()
    if (this.#sender.isClogged && !this.isOver) this.#deadline.arm(LONGEST_UNSENT)
    switch (parser.status) {
      case 'paused':
        this.#backlog = restOf(bytes, consumed, length)
        this.#transport.setReading(false)
        return
      case 'upgraded':
        this.#handOver(ownBytes(bytes, consumed, length))
        return
      case 'failed':
        this.refuse(parser.failure!, ownBytes(bytes, parser.failureOffset, length))
        return
      case 'ended':
        // The end had come while the consumer was pausing.
        if (!this.isOver) this.destroy(ends.peerClosed(this.socketInfo()))
    }
  }

  /** `rest`: the bytes from the offending place on. */
  refuse(failure: ProtocolFailure, rest: Buffer | null = null): void {
    this.destroy(endReason('protocol', http1Error(failure, rest, this.socketInfo())))
  }

  get awaitsSource(): boolean {
    if (this.#pipeline.size !== 1 || this.#transport.congested) return false
    return this.#sender.isSending(this.#pipeline.peek()!)
  }

  pauseParser(): void {
    this.#parser.pause()
  }

  unblock(request: Request): boolean {
    return this.#sender.unblock(request)
  }

  onContinue(request: Request): void {
    this.#sender.onContinue(request)
  }

  onUnblocked(status: number): void {
    this.#sender.onFinalHead(status)
    if (this.#owner.pipelining > 1) this.#owner.onCapacity()
  }

  onResponseEnd(request: Request, keepsAlive: boolean, trailers: HeaderBlock, at: number): void {
    // A server that answers before it has the whole request may not read the rest, which would then stand
    // where it expects the next one.
    const unfinished = this.#sender.isSending(request)
    if (!keepsAlive || unfinished) this.#mayFollow = false
    const isLast = !keepsAlive || unfinished || (!this.#mayFollow && this.#pipeline.size === 0)
    if (unfinished) this.#sender.stop()
    else if (this.#pipeline.size === 0) this.#sender.onAllAnswered()

    request.onEnd(trailers, at)
    if (isLast) this.destroy(ends.finished())
    else this.#owner.onCapacity()
  }

  #handOver(unread: Buffer): void {
    const head = this.#exchange.head!
    const reason = ends.informational('handed-over', 'upgrade')
    const socket = this.#transport.detach(unread)
    this.#end(reason)
    const request = this.#pipeline.shift()!
    this.#enter({ at: 'ended', reason, wasIdle: false })
    this.#owner.onState(this)
    request.onUpgrade(head.status, head.fields, socket)
    this.#owner.onCapacity()
  }

  get isHolding(): boolean {
    return !this.isOver && this.#parser.status === 'paused'
  }

  onEof(): void {
    if (this.isOver || this.#isUnasked()) return
    const parser = this.#parser
    parser.finish()
    if (parser.status === 'failed') this.refuse(parser.failure!)
    else if (parser.status !== 'paused') this.destroy(ends.peerClosed(this.socketInfo()))
  }

  onTransportClosed(error: Error | null): void {
    const early = this.#idleness.wasEarlier() ? ends.unasked(this.socketInfo()) : null
    const closed = endOf(this.state) ?? early ?? ends.transportClosed(error, this.socketInfo())
    const { reason, wasIdle } = this.#end(closed)
    const unanswered = this.#settlePipeline(reason)
    this.#enter({ at: 'ended', reason, wasIdle })
    if (unanswered.length > 0) this.#owner.onReturned(unanswered)
    this.#owner.onState(this)
    this.#owner.onCapacity()
  }

  /** Fails what cannot be sent again, and returns the rest. */
  #settlePipeline(reason: EndReason): Request[] {
    const unanswered: Request[] = []
    const { blames, resends } = END_RULES[reason.kind]
    let blamed = blames
    for (let request = this.#pipeline.shift(); request !== null; request = this.#pipeline.shift()) {
      if (!request.settled) {
        if (blamed || !request.idempotent || !request.resendable) this.#fail(request, reason)
        else unanswered.push(request)
      }
      blamed = !resends
    }
    return unanswered
  }

  #fail(request: Request, reason: EndReason): void {
    request.fail(END_RULES[reason.kind].blames ? reason : ends.closedUnder(reason, this.socketInfo()))
  }

  get isOver(): boolean {
    return this.state.at !== 'open'
  }

  #enter(state: ConnectionState): void {
    this.state = advance(this.state, state)
  }

  /** Nothing is taken or delivered from now on; `onState` follows when the transport has closed. */
  destroy(reason: EndReason): void {
    if (this.isOver) return
    try {
      this.#end(reason)
    } finally {
      this.#transport.destroy(reason.error)
    }
  }

  onBroken(error: Error): void {
    this.destroy(endReason('broken', error))
  }

  /** Returns how it ends, which may have been settled before. */
  #end(reason: EndReason): Closing {
    const state = this.state
    if (state.at === 'closing') return state
    const closing: Closing = { at: 'closing', reason, wasIdle: this.#pipeline.size === 0 }
    this.#enter(closing)
    this.#mayFollow = false
    this.#parser.stop()
    this.#deadline.dispose()
    this.#idleness.stop()
    this.#backlog = null
    this.#sender.stop()
    return closing
  }

  onDeadline(): void {
    if (this.#sender.isClogged) this.destroy(ends.finished())
    else if (this.#idleness.isIdle) closeInTurn(this)
    else this.#exchange.onLate()
  }
}
