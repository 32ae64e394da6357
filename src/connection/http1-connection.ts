/**
 * Requests and responses over one HTTP/1.1 connection: what may be written when, whose response comes next,
 * how long to wait for it, and what becomes of the requests when the connection ends
 * (contract: client.md 3 to 5).
 */
import { now } from '../base/clock.ts'
import { Deadline, type DeadlineOwner } from '../base/deadline.ts'
import { ownBytes, restOf } from '../base/own-bytes.ts'
import { RingQueue } from '../base/ring-queue.ts'
import { channels } from '../diagnostics.ts'
import type { SocketInfo } from '../errors.ts'
import type { Transport, TransportSink } from '../net/transport.ts'
import { HeaderBlock } from '../protocol/header-block.ts'
import { HeadParsers } from '../protocol/http1/head-parsers.ts'
import { contentLengthTail, NO_BODY_TAIL } from '../protocol/http1/request-encoder.ts'
import { ResponseParser } from '../protocol/http1/response-parser.ts'
import type { ResponseHead, ResponseSink } from '../protocol/http1/response-sink.ts'
import { idleTime, Reuse } from '../protocol/http1/reuse.ts'
import { lostMemory } from '../request/body-source.ts'
import { END_RULES, type EndReason, endReason } from '../request/end-reason.ts'
import type { Request, RequestHost } from '../request/request.ts'
import {
  type Connection,
  type ConnectionOwner,
  type ConnectionSettings,
  type ConnectTimes,
  MAX_HEADERS_TIMEOUTS,
} from './connection.ts'
import { advance, type Closing, type ConnectionState, endOf, OPEN } from './connection-state.ts'
import {
  bodyLate,
  closedUnder,
  finished,
  handedOver,
  headLate,
  http1Failure,
  idleTimeout,
  oversized,
  peerClosed,
  transportClosed,
} from './ends.ts'
import { type BodyWriterHost, Http1BodyWriter } from './http1-body-writer.ts'
import { Http1Idleness, type IdlenessHost } from './http1-idleness.ts'
import { type PreparedRequest, prepareRequest } from './http1-request-head.ts'
import { isUnbounded } from './outgoing-body.ts'

/** Shared by the connections to one origin. */
export { HeadParsers }

export class Http1Connection
  implements Connection, TransportSink, ResponseSink, RequestHost, BodyWriterHost, IdlenessHost, DeadlineOwner
{
  readonly #transport: Transport
  readonly #owner: ConnectionOwner
  readonly #settings: ConnectionSettings
  readonly #times: ConnectTimes
  readonly #parser: ResponseParser
  readonly #reuse = new Reuse()
  /** Written and not answered, in the order of their responses. */
  readonly #pipeline = new RingQueue<Request>()
  /** For the response or, while the connection rests, for its idle time. */
  readonly #deadline = new Deadline(this)
  readonly #idleness = new Http1Idleness(this)
  #served = 0
  /** The request whose body is still being written. */
  #writer: Http1BodyWriter | null = null
  /** Nothing is written behind it until its head has come. */
  #blocking: Request | null = null
  #head: ResponseHead | null = null
  #received = 0
  /** The time of the present read. */
  #readAt = 0
  /** What the time limit is for has changed with the present read. */
  #awaiting: 'same' | 'head' | 'interim' | 'body' | 'nothing' = 'same'
  #idleTime: number
  /** Read from the socket, but the consumer does not want it yet. */
  #backlog: Buffer | null = null
  #state: ConnectionState = OPEN

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
    this.#times = times
    this.#idleTime = settings.keepAliveTimeout
    this.#parser = new ResponseParser(this, parsers)
    transport.attach(this)
  }

  get state(): ConnectionState {
    return this.#state
  }

  get multiplexes(): boolean {
    return false
  }

  get isLimitKnown(): boolean {
    return true
  }

  get running(): number {
    return this.#pipeline.size
  }

  get reused(): boolean {
    return this.#served > 1
  }

  get busy(): boolean {
    return (
      !this.#reuse.canTake ||
      this.#writer !== null ||
      this.#blocking !== null ||
      this.#idleness.isInspecting ||
      this.#pipeline.size >= Math.max(this.#owner.pipelining, 1)
    )
  }

  get congested(): boolean {
    return this.#transport.congested
  }

  socketInfo(): SocketInfo {
    return this.#transport.info()
  }

  offer(request: Request): boolean {
    if (!this.#canTake(request)) return false
    this.#take(request)
    return true
  }

  #canTake(request: Request): boolean {
    if (this.busy) return false
    if (this.#pipeline.size > 0) return request.idempotent && !request.takesOver && !isUnbounded(request)
    return this.#idleness.inspect()
  }

  onInspected(): void {
    this.#owner.onCapacity()
  }

  #take(request: Request): void {
    if (!request.start()) return
    this.#idleness.end()
    const reason = endOf(this.#state)
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

    const { length, pumped } = prepared.body
    if (pumped !== null) {
      const strict = this.#settings.strictContentLength
      this.#writer = new Http1BodyWriter(request, this, prepared.head, length, strict)
      this.#writer.start(pumped)
      return
    }
    this.#writeWhole(request, prepared.head, length === null ? NO_BODY_TAIL : contentLengthTail(length))
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
    if (this.#served === 1) {
      request.timings.connect = this.#times.connect
      request.timings.secured = this.#times.secured
    }
    this.#reuse.wrote(last)
    this.#pipeline.push(request)
    this.#parser.expect(request.method, request.upgrade !== null)
    if (request.blocking) this.#blocking = request
    if (request.typeOfService !== undefined) this.#transport.setTypeOfService(request.typeOfService)
    if (this.#pipeline.size === 1) {
      this.#awaiting = 'same'
      this.#awaitHead(request, at)
    }
    request.attach(this, this)
  }

  #writeWhole(request: Request, head: string, tail: string): void {
    const transport = this.#transport
    const body = request.source.kind === 'bytes' ? request.source : null
    const ascii = body?.ascii ?? null
    const bytes = body !== null && ascii === null ? body.bytes() : null
    this.#announceHead(request, head)
    if (body?.isIntact === false) {
      this.onBodyBroken(request, lostMemory())
      return
    }
    const text = head + tail + (ascii ?? '')
    // With pipelining, others of the same tick may join it.
    if (this.#owner.pipelining > 1) transport.writeAll(bytes === null ? [text] : [text, bytes])
    else if (bytes === null) transport.writeNow(text)
    else transport.writeAllNow([text, bytes])
    request.onWritten()
  }

  writeHead(request: Request, head: string, tail: string): void {
    this.#announceHead(request, head)
    this.#transport.write(head + tail)
    request.onWritten()
  }

  #announceHead(request: Request, head: string): void {
    if (!channels.sendHeaders.hasSubscribers) return
    channels.sendHeaders.publish({ request, headers: head, socket: this.#transport.socket })
  }

  writeBody(pieces: readonly (string | Uint8Array)[]): void {
    this.#transport.writeAll(pieces)
    this.#deadline.refresh()
  }

  onBodyWritten(request: Request): void {
    this.#writer = null
    this.#deadline.refresh()
    request.onRequestSent()
    this.#owner.onCapacity()
  }

  onBodyBroken(request: Request, error: Error): void {
    this.#writer = null
    request.fail(endReason('unsendable', error))
    this.#close(endReason('lost', error))
  }

  onDrain(): void {
    this.#deadline.refresh()
    this.#writer?.resume()
  }

  becomeIdle(): void {
    if (!this.#isOver) this.#idleness.begin()
  }

  /** `pipelining` is read whenever a request is offered. */
  onLimitsChanged(): void {}

  onRestBegun(): void {
    this.#transport.setReferenced(false)
    this.#deadline.arm(this.#idleTime)
  }

  onRestEnded(): void {
    this.#deadline.disarm()
    this.#transport.setReferenced(true)
  }

  destroy(reason: EndReason): void {
    this.#close(reason)
  }

  closeIdle(reason: EndReason): void {
    this.#close(reason)
  }

  onRequestAborted(_request: Request, reason: EndReason): void {
    this.#close(reason)
  }

  onRequestResumed(request: Request): void {
    if (this.#isOver || request !== this.#pipeline.peek()) return
    // Also when no byte came while it paused: its time may have run out unheard.
    if (request.responding) this.#awaitBody(request, now())
    if (this.#parser.status !== 'paused') return
    try {
      this.#goOn()
    } catch (error) {
      // Whoever reads the body has nothing to do with it.
      this.onBroken(error as Error)
    }
  }

  #goOn(): void {
    this.#parser.resume()
    if (this.#parser.executing) return
    const backlog = this.#backlog
    this.#backlog = null
    if (backlog !== null) this.#execute(backlog)
    if (this.#backlog === null && !this.#isOver) this.#transport.resumeReading()
  }

  onHandlerError(error: unknown): void {
    this.#owner.onHandlerError(error)
  }

  onBytes(bytes: Buffer): void {
    if (this.#isOver) return
    if (this.#backlog === null) this.#execute(bytes)
    else this.#backlog = Buffer.concat([this.#backlog, bytes])
  }

  #execute(bytes: Buffer): void {
    const parser = this.#parser
    const { length } = bytes
    this.#readAt = now()
    const consumed = parser.execute(bytes, 0, length)
    this.#adjustDeadline()
    switch (parser.status) {
      case 'paused':
        this.#backlog = restOf(bytes, consumed, length)
        this.#transport.pauseReading()
        return
      case 'upgraded':
        this.#handOver(ownBytes(bytes, consumed, length))
        return
      case 'failed':
        this.#onParserFailure(restOf(bytes, parser.failureOffset, length))
        return
      case 'ended':
        // The end had come while the consumer was pausing.
        if (!this.#isOver) this.#close(peerClosed(this.socketInfo()))
    }
  }

  #onParserFailure(rest: Buffer | null): void {
    this.#close(http1Failure(this.#parser.failure!, rest, this.socketInfo()))
  }

  onMessageBegin(): void {
    this.#pipeline.peek()!.onResponseStarted(this.#readAt)
  }

  onInformational(head: ResponseHead): void {
    const request = this.#pipeline.peek()!
    if (this.#awaiting === 'same') this.#awaiting = 'interim'
    if (!request.settled) request.onInformational(head.status, head.fields, head.reason)
  }

  onHead(head: ResponseHead): void {
    const request = this.#pipeline.peek()!
    if (request.settled) return
    this.#head = head
    this.#received = 0
    const unblocked = this.#blocking === request
    if (unblocked) this.#blocking = null
    this.#awaiting = 'body'
    request.onHead(head.status, head.fields, head.reason)
    if (request.paused) this.#parser.pause()
    if (unblocked && this.#owner.pipelining > 1) this.#owner.onCapacity()
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const request = this.#pipeline.peek()!
    if (request.settled) return
    const { maxResponseSize } = this.#settings
    this.#received += end - start
    if (maxResponseSize >= 0 && this.#received > maxResponseSize) {
      const reason = oversized()
      request.tellLater()
      request.fail(reason)
      this.#close(endReason('lost', reason.error))
      return
    }
    this.#awaiting = 'body'
    request.onData(ownBytes(bytes, start, end))
    if (request.paused) this.#parser.pause()
  }

  onEnd(trailers: HeaderBlock | null): void {
    const request = this.#pipeline.shift()!
    const head = this.#head
    if (request.settled || head === null) return
    this.#head = null
    this.#idleTime = idleTime(head.keepAliveHint, this.#settings)
    // A server that answers before it has the whole request may not read the rest, which would then stand
    // where it expects the next one.
    const unfinished = this.#writer?.request === request
    this.#reuse.answered(head.keepAlive && this.#idleTime > 0 && !unfinished, this.#pipeline.size > 0)
    if (unfinished) this.#stopWriter()
    this.#awaiting = this.#pipeline.size === 0 ? 'nothing' : 'head'

    request.onEnd(trailers ?? HeaderBlock.EMPTY, this.#readAt)
    if (this.#reuse.state === 'over') this.#close(finished())
    else this.#owner.onCapacity()
  }

  onUpgrade(head: ResponseHead): void {
    this.#head = head
  }

  #handOver(unread: Buffer): void {
    const head = this.#head!
    const reason = handedOver()
    const socket = this.#transport.detach(unread)
    this.#end(reason)
    const request = this.#pipeline.shift()!
    this.#enter({ at: 'ended', reason, wasIdle: false })
    this.#owner.onState(this)
    request.onUpgrade(head.status, head.fields, socket)
    this.#owner.onCapacity()
  }

  onEof(): void {
    if (this.#isOver) return
    const parser = this.#parser
    parser.finish()
    if (parser.status === 'failed') this.#onParserFailure(null)
    else if (parser.status !== 'paused') this.#close(peerClosed(this.socketInfo()))
  }

  onTransportClosed(error: Error | null): void {
    const closed = endOf(this.#state) ?? transportClosed(error, this.socketInfo())
    // What the peer has sent so far is all there is; where only the end was missing, that is the end. Not
    // so while the consumer pauses (the parser stays as it is then): what it has not taken is lost.
    try {
      if (closed.kind === 'torn-down' && this.#endsWithConnection()) this.onEof()
    } catch (thrown) {
      this.onBroken(thrown as Error)
    }
    const { reason, wasIdle } = this.#end(closed)
    const unanswered = this.#settlePipeline(reason)
    this.#enter({ at: 'ended', reason, wasIdle })
    if (unanswered.length > 0) this.#owner.onReturned(unanswered)
    this.#owner.onState(this)
    this.#owner.onCapacity()
  }

  #endsWithConnection(): boolean {
    return this.#head !== null && (this.#head.untilClose || !this.#head.keepAlive)
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
    request.fail(END_RULES[reason.kind].blames ? reason : closedUnder(reason, this.socketInfo()))
  }

  get #isOver(): boolean {
    return this.#state.at !== 'open'
  }

  #enter(state: ConnectionState): void {
    this.#state = advance(this.#state, state)
  }

  /** Nothing is taken or delivered from now on; `onState` follows when the transport has closed. */
  #close(reason: EndReason): void {
    if (this.#isOver) return
    try {
      this.#end(reason)
    } finally {
      this.#transport.destroy(reason.error)
    }
  }

  onBroken(error: Error): void {
    this.#close(endReason('broken', error))
  }

  /** Returns how it ends, which may have been settled before. */
  #end(reason: EndReason): Closing {
    const state = this.#state
    if (state.at === 'closing') return state
    const closing: Closing = { at: 'closing', reason, wasIdle: this.#pipeline.size === 0 }
    this.#enter(closing)
    this.#reuse.lost()
    this.#parser.stop()
    this.#deadline.dispose()
    this.#idleness.stop()
    this.#blocking = null
    this.#backlog = null
    this.#stopWriter()
    return closing
  }

  #stopWriter(): void {
    this.#writer?.stop()
    this.#writer = null
  }

  /** Once for all that came with a read: most responses begin and end within one. */
  #adjustDeadline(): void {
    const awaiting = this.#awaiting
    const request = this.#pipeline.peek()
    this.#awaiting = 'same'
    if (awaiting === 'same' || this.#isOver) return
    if (request === null || awaiting === 'nothing') this.#deadline.disarm()
    else if (awaiting === 'head') this.#awaitHead(request, this.#readAt)
    else if (awaiting === 'interim') this.#deadline.extend(MAX_HEADERS_TIMEOUTS, this.#readAt)
    else this.#awaitBody(request, this.#readAt)
  }

  #awaitHead(request: Request, at: number): void {
    this.#deadline.arm(request.headersTimeout ?? this.#settings.headersTimeout, at)
  }

  #awaitBody(request: Request, at: number): void {
    this.#deadline.arm(request.bodyTimeout ?? this.#settings.bodyTimeout, at)
  }

  onDeadline(): void {
    if (this.#idleness.isResting) this.#close(idleTimeout())
    else this.#onResponseLate()
  }

  #onResponseLate(): void {
    const request = this.#pipeline.peek()!
    if (request.responding) {
      // A consumer that wants nothing cannot be kept waiting; `resume` starts the time anew.
      if (!request.paused) this.#close(bodyLate())
    } else if (this.#writer !== null && !this.#transport.congested && this.#pipeline.size === 1) {
      // The caller's own source is slow, not the server.
      this.#awaitHead(request, now())
    } else {
      this.#close(headLate())
    }
  }
}
