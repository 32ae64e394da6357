/**
 * One request and its response on an HTTP/2 stream: the body on its way out, the data on its way in and the
 * part of it that a paused consumer does not want yet, the time limits, and the end of both directions.
 *
 * Long because both directions share one stream and one deadline, and the end of either decides about the
 * other.
 */
import { BodyBytes } from '../../base/bytes/body-bytes.ts'
import { MAX_SHARED } from '../../base/bytes/held-bytes.ts'
import { ownBytes } from '../../base/bytes/own-bytes.ts'
import { now } from '../../base/loop/clock.ts'
import type { Deadline, DeadlineOwner } from '../../base/loop/deadline.ts'
import { loadNet } from '../../base/node/lazy-modules.ts'
import type { SocketInfo } from '../../errors.ts'
import type { ProtocolFailure } from '../../protocol/failure.ts'
import { HeaderBlock } from '../../protocol/header-block.ts'
import { CANCEL } from '../../protocol/http2/constants.ts'
import type { Stream } from '../../protocol/http2/stream.ts'
import type { StreamSink } from '../../protocol/http2/stream-sink.ts'
import { lostMemory, withFixedLength } from '../../request/body-source.ts'
import { type EndReason, endReason } from '../../request/end-reason.ts'
import type { Request, RequestHost } from '../../request/request.ts'
import type { ConnectionSettings } from '../connection.ts'
import { bodyLate, headLate, informational } from '../ends.ts'
import { Exchange, type ExchangeRegister, PROCESSING } from '../exchange.ts'
import { Expectation, type ExpectationHost } from '../expectation.ts'
import type { OutgoingBody } from '../outgoing-body.ts'
import { type BodySenderHost, Http2BodySender } from './body-sender.ts'
import type { Http2Output } from './output.ts'
import type { Http2Refusals } from './refusals.ts'
import { Http2Tunnel, type TunnelHost } from './tunnel.ts'

/** Why the request ends; or it goes to another stream; or `onLost` follows when it is known why. */
export type ResetVerdict = EndReason | 'moved' | 'undecided'

/** The connection, as far as one exchange needs it. */
export interface ExchangeHost {
  readonly settings: ConnectionSettings
  /** The time of the present read. */
  readonly readAt: number
  readonly output: Http2Output
  readonly refusals: Http2Refusals
  readonly exchanges: ExchangeRegister<Http2Exchange>
  socketInfo(): SocketInfo
  /** The stream was reset. */
  onStreamReset(exchange: Http2Exchange, failure: ProtocolFailure, unprocessed: boolean): ResetVerdict
  /** Both directions of the stream are done. Returns why, if they have not come to their end. */
  onStreamClosed(exchange: Http2Exchange, failure: ProtocolFailure | null): EndReason | null
  /** The request has settled, and nothing more comes from this exchange. */
  onSettled(exchange: Http2Exchange): void
  /** The response is overdue: does the peer still respond? */
  onOverdue(): void
  onMisdirected(): void
  onHandlerError(error: unknown): void
  onBroken(error: Error): void
}

/**
 * `held`: until the server wants it. `sent`: all of it was given to the stream, which may not have sent it
 * yet.
 */
type Sending = 'held' | 'sending' | 'sent'

/** `uploading`: the response is complete, and the rest of the request body is still on its way. */
type Life = 'running' | 'uploading' | 'ended'

/**
 * Milliseconds in which nothing of the rest of an upload may move when the response is complete. Many servers
 * answer 413 and no longer read, and a source may wait for what its program learns from the response. Such a
 * stream keeps its place, and the process, and its caller has the response: a time that is meant for callers who
 * wait would be far too long.
 */
const UPLOAD_PATIENCE = 5000

const BOTH_ENDS = 2
const MISDIRECTED = 421

/**
 * Many fields, because each request has one of these, and parts in separate objects would cost it an
 * allocation each.
 */
export class Http2Exchange
  extends Exchange
  implements StreamSink, RequestHost, BodySenderHost, TunnelHost, DeadlineOwner, ExpectationHost
{
  readonly request: Request
  /** Set when the stream is opened, which is right after construction. */
  stream!: Stream
  readonly #host: ExchangeHost
  readonly #body: OutgoingBody
  #sending: Sending = 'sending'
  #expectation: Expectation | null = null
  #bodySender: Http2BodySender | null = null
  #life: Life = 'running'
  /** What was left to send when the time limit of an upload began, and what its source has added since. */
  #unsent = 0
  /** Something came with the present read. */
  #isActive = false
  #tunnel: Http2Tunnel | null = null
  /** Directions of the tunnel that have come to their end. */
  #tunnelEnds = 0
  /** Arrived, and not wanted yet; null if nothing is. Most consumers keep up. */
  #backlog: BodyBytes | null = null
  /** Delivered to a handler that paused on it; given back to the peer's window when it goes on. */
  #unreleased = 0
  /** A handler may resume inside a delivery, which must not start another one within it. */
  #delivering = false
  /** The end of the response, held back until the backlog is taken. */
  #trailers: HeaderBlock | null = null

  /** `deadline`: it may have served an exchange before. */
  constructor(request: Request, host: ExchangeHost, body: OutgoingBody, deadline: Deadline) {
    super(host.settings, deadline)
    deadline.owner = this
    this.request = request
    this.#host = host
    this.#body = body
  }

  /** Whether the stream was to become a tunnel, and has not. */
  get awaitsTunnel(): boolean {
    return this.request.takesOver && this.#tunnel === null
  }

  /** For another exchange. */
  takeDeadline(): Deadline {
    this.deadline.disarm()
    this.deadline.owner = null
    return this.deadline
  }

  /** The head is written. */
  begin(): void {
    const { request } = this
    const at = now()
    request.onWritten()
    this.awaitHead(request, at)
    if (request.takesOver) {
      this.#sending = 'sent'
      request.onRequestSent(at)
    } else if (this.#body.expects) {
      this.#sending = 'held'
      this.#expectation = new Expectation(this, request, this.settings)
    } else {
      this.#sendBody(at)
    }
  }

  onExpected(): void {
    if (this.#life !== 'running' || this.#sending !== 'held') return
    this.deadline.refresh()
    this.#sendBody(now())
  }

  #sendBody(at: number): void {
    const { request } = this
    const { pumped } = this.#body
    if (pumped !== null) {
      this.#sending = 'sending'
      this.#bodySender = new Http2BodySender(request, this, this.#body.length, this.settings)
      this.#bodySender.start(pumped)
      return
    }
    this.#sending = 'sent'
    if (request.source.kind === 'bytes') {
      if (!request.source.isIntact) {
        this.onSpoiled()
        return
      }
      this.#host.output.send(this.stream, request.source.bytes, true)
      request.onWholeBodySent(request.source)
    }
    request.onRequestSent(at)
  }

  sendBody(bytes: Uint8Array, end: boolean): boolean {
    const room = this.#host.output.send(this.stream, bytes, end)
    if (this.#life === 'uploading') this.#onUploadAdded(bytes.length)
    else this.deadline.refresh()
    return room
  }

  sendTrailers(fields: readonly string[]): void {
    this.#host.output.sendTrailers(this.stream, fields)
  }

  onBodySent(): void {
    this.#sending = 'sent'
    this.deadline.refresh()
    this.request.onRequestSent()
  }

  onBodyBroken(error: Error): void {
    this.request.fail(endReason('unsendable', error))
    this.#giveUp()
  }

  /** The caller has transferred the memory that holds the rest of the body. */
  onSpoiled(): void {
    const error = lostMemory()
    if (this.#tunnel !== null) {
      this.request.inContext(this.#tunnel.destroy, this.#tunnel, error)
      return
    }
    this.onBodyBroken(error)
  }

  /** The stream takes more of the body. */
  onWritable(): void {
    this.deadline.refresh()
    if (this.#tunnel !== null) this.request.inContext(this.#tunnel.unblock, this.#tunnel)
    this.#bodySender?.resume()
  }

  onInformational(status: number, fields: HeaderBlock): void {
    if (status === PROCESSING) this.awaitHead(this.request)
    this.request.onResponseStarted(this.#host.readAt)
    if (this.request.settled) return
    if (status === 100) this.#expectation?.meet()
    else this.request.onInformational(status, fields, '')
  }

  onHead(status: number, fields: HeaderBlock): void {
    const { request } = this
    this.#host.refusals.onAnswered()
    request.onResponseStarted(this.#host.readAt)
    if (request.settled) return
    if (status === MISDIRECTED) this.#host.onMisdirected()
    if (request.takesOver && (request.upgrade === null || (status >= 200 && status < 300))) {
      this.deadline.disarm()
      this.#tunnel = new Http2Tunnel(this)
      request.onUpgrade(status, fields, this.#tunnel)
      return
    }
    this.#markActive()
    this.#expectation?.onFinalHead(status)
    // The body may have been sent just now, and a hook for that may have thrown.
    if (request.settled) return
    request.onHead(status, fields, '')
  }

  onData(buf: Buffer, start: number, end: number): void {
    if (this.#tunnel !== null) {
      this.request.inContext(this.#tunnel.deliver, this.#tunnel, buf, start, end)
      return
    }
    if (this.countBody(this.request, end - start) !== null) {
      this.#giveUp()
      return
    }
    this.#markActive()
    if (this.request.paused || this.#backlog !== null) this.#holdBack(buf, start, end)
    else this.#deliver(buf, start, end)
  }

  #holdBack(buf: Buffer, start: number, end: number): void {
    this.#backlog ??= BodyBytes.none()
    if (end - start > MAX_SHARED) this.#backlog.add(ownBytes(buf, start, end))
    else this.#backlog.addLent(buf, start, end)
  }

  /** Time for the next piece of the response starts now. */
  rearm(): void {
    this.#isActive = false
    if (this.#life === 'running' && this.#trailers === null) this.awaitBody(this.request)
  }

  #markActive(): void {
    if (this.#isActive) return
    this.#isActive = true
    this.#host.exchanges.active.push(this)
  }

  /** Nothing more comes from this exchange; its request has settled, or goes to another one. */
  settle(): void {
    if (this.#life === 'ended') return
    if (this.#life === 'uploading') this.request.onUploadEnd()
    this.#life = 'ended'
    this.#expectation?.stop()
    this.#host.onSettled(this)
  }

  #deliver(buf: Buffer, start: number, end: number): void {
    const { request } = this
    const length = end - start
    this.#delivering = true
    try {
      request.onData(buf, start, end)
    } finally {
      this.#delivering = false
    }
    if (request.settled) return
    if (request.paused) this.#unreleased += length
    else this.#host.output.release(this.stream, length)
  }

  onBroken(error: Error): void {
    this.#host.onBroken(error)
  }

  onRequestResumed(): void {
    this.awaitBody(this.request)
    if (this.#delivering) return
    try {
      this.#goOn()
    } catch (error) {
      // Must not be thrown at the consumer of the body.
      this.#host.onBroken(error as Error)
    }
  }

  #goOn(): void {
    if (this.#unreleased > 0) this.#host.output.release(this.stream, this.#unreleased)
    this.#unreleased = 0
    while (this.#backlog !== null && !this.request.paused && !this.request.settled) {
      const bytes = this.#backlog.shift()!
      if (this.#backlog.size === 0) this.#backlog = null
      this.#deliver(bytes, 0, bytes.length)
    }
    if (this.#trailers !== null) this.onEnd(this.#trailers, now())
  }

  onEnd(trailers: HeaderBlock | null, at: number = this.#host.readAt): void {
    const { request } = this
    if (this.#tunnel !== null) {
      this.#tunnelEnds++
      this.request.inContext(this.#tunnel.finish, this.#tunnel)
      return
    }
    if (request.settled) return
    if (request.paused || this.#backlog !== null) {
      this.#trailers = trailers ?? HeaderBlock.EMPTY
      this.deadline.disarm()
      this.#host.exchanges.heldBack.add(this)
      return
    }
    if (this.#sending !== 'held' && !this.stream.isClosed) {
      // The server has answered before it has the whole request. It may still want the rest (RFC 9113 §8.1:
      // it would reset the stream otherwise), so that is sent, but the caller does not wait for it.
      this.#life = 'uploading'
      this.#awaitUpload()
      request.onEnd(trailers ?? HeaderBlock.EMPTY, at, true)
      return
    }
    request.onEnd(trailers ?? HeaderBlock.EMPTY, at)
    if (this.#sending === 'held') this.#giveUp()
    else this.settle()
  }

  #awaitUpload(): void {
    this.#unsent = this.stream.queue.bytes
    const timeout = this.bodyTimeout(this.request)
    this.deadline.arm(timeout === 0 ? UPLOAD_PATIENCE : Math.min(timeout, UPLOAD_PATIENCE))
  }

  /** A server that had all of it has its time from now on; what else is added must not look as if it took nothing. */
  #onUploadAdded(length: number): void {
    if (this.stream.queue.bytes <= length) this.#awaitUpload()
    else this.#unsent += length
  }

  /** A server that takes nothing, and a source that brings nothing, must not keep a stream for ever. */
  #onUploadDeadline(): void {
    if (this.stream.queue.bytes >= this.#unsent) this.#giveUp()
    else this.#awaitUpload()
  }

  /**
   * The stream has ended under a body that is still being sent: nobody is told, the caller has the response.
   */
  #stopUpload(): void {
    if (this.#sending !== 'sending') return
    this.#sending = 'sent'
    this.#bodySender?.stop()
    this.request.destroySource(null)
  }

  onReset(failure: ProtocolFailure, unprocessed: boolean): void {
    try {
      const verdict = this.#host.onStreamReset(this, failure, unprocessed)
      this.#bodySender?.stop()
      if (verdict === 'moved') this.settle()
      else if (verdict !== 'undecided') this.onLost(verdict)
    } catch (error) {
      // Others may be lost with it, and must be informed as well.
      this.request.fail(endReason('broken', error as Error))
      this.settle()
    }
  }

  /** The stream is gone and the response not complete. */
  onLost(reason: EndReason): void {
    this.#bodySender?.stop()
    // If code of ours threw, what was just delivered may not have been read.
    if (this.#isActive || reason.kind === 'broken') this.request.reportLater()
    if (this.#tunnel !== null) this.request.inContext(this.#tunnel.destroy, this.#tunnel, reason.error)
    else this.request.fail(reason)
    this.settle()
  }

  /** A tunnel that still sends knows of the peer's end, but not of this. */
  onClosed(failure: ProtocolFailure | null): void {
    const reason = this.#host.onStreamClosed(this, failure)
    const tunnel = this.#tunnel
    if (tunnel !== null) this.request.inContext(tunnel.onStreamClosed, tunnel, reason?.error ?? null)
    if (this.#life === 'uploading' || this.#trailers !== null) this.#stopUpload()
    if (this.#life === 'uploading') this.settle()
  }

  onRequestAborted(): void {
    this.#giveUp()
  }

  onHandlerError(error: unknown): void {
    this.#host.onHandlerError(error)
  }

  sendTunnel(bytes: Uint8Array, end: boolean): boolean {
    if (end) this.#tunnelEnds++
    return this.#host.output.send(this.stream, withFixedLength(bytes), end)
  }

  releaseTunnel(bytes: number): void {
    this.#host.output.release(this.stream, bytes)
  }

  tunnelAddress(): object {
    const { localAddress, localPort } = this.#host.socketInfo()
    return localAddress === undefined
      ? {}
      : { address: localAddress, family: loadNet().isIPv6(localAddress) ? 'IPv6' : 'IPv4', port: localPort }
  }

  referTunnel(on: boolean): void {
    this.#host.exchanges.refer(this, on)
  }

  closeTunnel(): void {
    // Both ends were queued, and may not be written yet: a reset would cut them off.
    if (this.#tunnelEnds === BOTH_ENDS) this.settle()
    else this.#giveUp()
  }

  /** The request is settled; so is the stream, from our side. */
  #giveUp(): void {
    if (this.#life === 'uploading') this.#stopUpload()
    this.#bodySender?.stop()
    this.#backlog = null
    this.#trailers = null
    this.#host.output.reset(this.stream, CANCEL)
    this.settle()
  }

  onDeadline(): void {
    const { request } = this
    if (this.#life === 'uploading') {
      this.#onUploadDeadline()
      return
    }
    // A server that is asked for its word on the body may stay silent.
    const awaitsUs = this.#sending === 'sending' && this.#bodySender?.isWaiting !== true
    const late = this.late(request, awaitsUs || this.#sending === 'held')
    if (late === 'nothing') return
    if (late === 'body') {
      request.fail(bodyLate(`HTTP/2: "stream timeout after ${this.bodyTimeout(request)}"`))
    } else {
      const timeout = this.headersTimeout(request)
      if (request.takesOver)
        request.fail(informational('timeout', `HTTP/2: "stream timeout after ${timeout}"`))
      else request.fail(headLate(`HTTP/2: "headers timeout after ${timeout}"`))
      this.#host.onOverdue()
    }
    this.#giveUp()
  }
}
