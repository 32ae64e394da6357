/**
 * The exchange at the head of an HTTP/1.1 pipeline: the response that comes next, whose it is, and how long
 * to wait for it. One object serves all exchanges of a connection, because one response comes at a time.
 */

import type { RingQueue } from '../../base/collection/ring-queue.ts'
import type { Deadline } from '../../base/loop/deadline.ts'
import type { ProtocolFailure } from '../../protocol/failure.ts'
import { HeaderBlock } from '../../protocol/header-block.ts'
import { peerFailure, TOO_MANY_INTERIM } from '../../protocol/http1/failures.ts'
import type { ParsedHead } from '../../protocol/http1/head-parser.ts'
import { idleTime } from '../../protocol/http1/idle-time.ts'
import { INTERIM_WINDOW_MS, MAX_INTERIM_HEADS } from '../../protocol/http1/limits.ts'
import type { ResponseSink } from '../../protocol/http1/response-sink.ts'
import { type EndReason, endReason } from '../../request/end-reason.ts'
import type { Request } from '../../request/request.ts'
import type { ConnectionSettings } from '../connection.ts'
import { bodyLate, headLate } from '../ends.ts'
import { Exchange, PROCESSING } from '../exchange.ts'

/** The connection, as far as a response needs it. */
export interface Http1ExchangeHost {
  readonly isOver: boolean
  /** The request body comes from a source that has nothing to send at present, or is held back. */
  readonly awaitsSource: boolean
  /** The consumer wants nothing more for now. */
  pauseParser(): void
  /** The final head has come. Returns whether requests had to wait for it. */
  unblock(request: Request): boolean
  /** They need not wait any longer. */
  onUnblocked(status: number): void
  /** The server wants the body of this request, if that is held back. */
  onContinue(request: Request): void
  /**
   * The response is complete, and its request not in the pipeline any more. `keepsAlive`: others may follow.
   */
  onResponseEnd(request: Request, keepsAlive: boolean, trailers: HeaderBlock, at: number): void
  destroy(reason: EndReason): void
  /** The peer did what it must not. */
  refuse(failure: ProtocolFailure): void
}

const CONTINUE = 100

export class Http1Exchange extends Exchange implements ResponseSink {
  readonly #host: Http1ExchangeHost
  /** Requests that were written and not answered, in the order of their responses. */
  readonly #pipeline: RingQueue<Request>
  /** Of the present response. */
  head: ParsedHead | null = null
  /** Others may follow the present response. */
  #keepsAlive = true
  /** The time of the present read. */
  readAt = 0
  /** How the present read has changed what the time limit is for. */
  #awaiting: 'same' | 'head' | 'body' | 'nothing' = 'same'
  /** Interim responses to the present request since `#interimsSince`. */
  #interims = 0
  #interimsSince = 0

  /** Milliseconds for which the connection may be idle, by what the last response said. */
  idleTime: number

  constructor(
    host: Http1ExchangeHost,
    pipeline: RingQueue<Request>,
    settings: ConnectionSettings,
    deadline: Deadline,
  ) {
    super(settings, deadline)
    this.#host = host
    this.#pipeline = pipeline
    this.idleTime = settings.keepAliveTimeout
  }

  /** A request was written, and no other is before it. */
  begin(request: Request, at: number): void {
    this.#awaiting = 'same'
    this.awaitHead(request, at)
  }

  /** Once for all that came with a read: most responses begin and end within one. */
  endRead(): void {
    const awaiting = this.#awaiting
    const request = this.#pipeline.peek()
    this.#awaiting = 'same'
    if (awaiting === 'same' || this.#host.isOver) return
    if (request === null || awaiting === 'nothing') this.deadline.disarm()
    else if (awaiting === 'head') this.awaitHead(request, this.readAt)
    else this.awaitBody(request, this.readAt)
  }

  /** The consumer goes on. Its time may have run out unnoticed while it paused. */
  onResumed(request: Request, at: number): void {
    if (request.responding) this.awaitBody(request, at)
  }

  onMessageBegin(): void {
    this.#pipeline.peek()!.onResponseStarted(this.readAt)
  }

  onInformational(head: ParsedHead): void {
    const request = this.#pipeline.peek()!
    if (!this.#countInterim()) {
      const message = `more than ${MAX_INTERIM_HEADS} interim responses to one request within ${INTERIM_WINDOW_MS / 1000} s`
      this.#host.refuse(peerFailure(TOO_MANY_INTERIM, message))
      return
    }
    if (head.status === PROCESSING) this.#awaiting = 'head'
    if (head.status === CONTINUE) this.#host.onContinue(request)
    else if (!request.settled) {
      request.onInformational(head.status, head.fields, head.reason)
    }
  }

  #countInterim(): boolean {
    if (this.#interims === 0 || this.readAt - this.#interimsSince >= INTERIM_WINDOW_MS) {
      this.#interims = 0
      this.#interimsSince = this.readAt
    }
    this.#interims++
    return this.#interims <= MAX_INTERIM_HEADS
  }

  onHead(head: ParsedHead, keepsAlive: boolean): void {
    const request = this.#pipeline.peek()!
    if (request.settled) return
    this.head = head
    this.#keepsAlive = keepsAlive
    this.#interims = 0
    this.beginBody()
    this.#awaiting = 'body'
    const isUnblocked = this.#host.unblock(request)
    request.onHead(head.status, head.fields, head.reason)
    if (request.paused) this.#host.pauseParser()
    if (isUnblocked) this.#host.onUnblocked(head.status)
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    const request = this.#pipeline.peek()!
    if (request.settled) return
    const excess = this.countBody(request, end - start)
    if (excess !== null) {
      this.#host.destroy(endReason('lost', excess.error))
      return
    }
    this.#awaiting = 'body'
    request.onData(bytes, start, end)
    if (request.paused) this.#host.pauseParser()
  }

  onEnd(trailers: HeaderBlock | null): void {
    const request = this.#pipeline.shift()!
    const head = this.head
    if (request.settled || head === null) return
    this.head = null
    this.#awaiting = this.#pipeline.size === 0 ? 'nothing' : 'head'
    this.idleTime = idleTime(head.framing.keepAliveHint, this.settings)
    const keepsAlive = this.#keepsAlive && this.idleTime > 0
    this.#host.onResponseEnd(request, keepsAlive, trailers ?? HeaderBlock.EMPTY, this.readAt)
  }

  onUpgrade(head: ParsedHead): void {
    this.head = head
  }

  onLate(): void {
    const late = this.late(this.#pipeline.peek()!, this.#host.awaitsSource)
    if (late !== 'nothing') this.#host.destroy(late === 'body' ? bodyLate() : headLate())
  }
}
