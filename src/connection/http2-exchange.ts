/**
 * One request and its response on an HTTP/2 stream: the body on its way out, the data on its way in and what
 * of it a paused consumer does not want yet, the time limits, and the end of all that
 * (contract: client.md 4, 8.3 to 8.5).
 */
import { now } from '../base/clock.ts'
import { Deadline, type DeadlineOwner } from '../base/deadline.ts'
import { loadNet } from '../base/lazy-modules.ts'
import { RequestContentLengthMismatchError, type SocketInfo } from '../errors.ts'
import { HeaderBlock } from '../protocol/header-block.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import { CANCEL } from '../protocol/http2/constants.ts'
import type { Stream } from '../protocol/http2/stream.ts'
import { lostMemory, withFixedLength } from '../request/body-source.ts'
import { type EndReason, endReason } from '../request/end-reason.ts'
import type { Request, RequestHost } from '../request/request.ts'
import { gatherTrailers } from '../request/request-trailers.ts'
import { BodyPump, type BodyPumpSink } from './body-pump.ts'
import { type ConnectionSettings, MAX_HEADERS_TIMEOUTS } from './connection.ts'
import { bodyLate, headLate, oversized, tunnelLate } from './ends.ts'
import { Http2Tunnel, type TunnelHost } from './http2-tunnel.ts'
import { hasContent, type OutgoingBody } from './outgoing-body.ts'

/** The connection, as far as one exchange needs it. */
export interface ExchangeHost {
  readonly settings: ConnectionSettings
  /** The time of the present read. */
  readonly readAt: number
  /** Something threw, and what has just been delivered may not have been looked at. */
  readonly isBroken: boolean
  send(exchange: Http2Exchange, bytes: Uint8Array, end: boolean): boolean
  /** Instead of the end: flat, names in lower case. */
  sendTrailers(exchange: Http2Exchange, fields: readonly string[]): void
  release(exchange: Http2Exchange, bytes: number): void
  socketInfo(): SocketInfo
  reset(exchange: Http2Exchange, code: number): void
  /** The request has settled, and nothing more comes from this exchange. */
  onSettled(exchange: Http2Exchange): void
  /** The stream has ended, and the consumer is pausing before the end of the response. */
  onHeldBack(exchange: Http2Exchange): void
  /** Something of the response came: `rearm` is called when all that came with it has been seen. */
  onActivity(exchange: Http2Exchange): void
  /** The response is overdue: is there anybody at the other end? */
  onOverdue(): void
  onHandlerError(error: unknown): void
  onBroken(error: Error): void
}

type Sending = 'held' | 'pumping' | 'blocked' | 'sent'

const NOTHING = new Uint8Array(0)
const BOTH_ENDS = 2

/** Most consumers keep up, and need no list of their own. */
const NO_BACKLOG: Buffer[] = []

export class Http2Exchange implements RequestHost, BodyPumpSink, TunnelHost, DeadlineOwner {
  readonly request: Request
  /** Set when the stream is opened, which is right after construction. */
  stream!: Stream<Http2Exchange>
  /** Kept by the connection, which counts those that have not ended. */
  ended = false
  /** Kept by the connection: something came with the present read. */
  active = false
  readonly #host: ExchangeHost
  readonly #body: OutgoingBody
  readonly #deadline: Deadline
  #sending: Sending = 'pumping'
  #pump: BodyPump | null = null
  #sent = 0
  #received = 0
  #tunnel: Http2Tunnel | null = null
  /** Directions of the tunnel that have come to their end. */
  #tunnelEnds = 0
  /** Arrived, and not wanted yet. */
  #backlog: Buffer[] = NO_BACKLOG
  /** Delivered to a handler that paused on it; given back to the peer's window when it goes on. */
  #unreleased = 0
  /** A handler may resume inside a delivery, which must not start another one within it. */
  #delivering = false
  /** The end of the response, held back behind the backlog. */
  #trailers: HeaderBlock | null = null

  /** `deadline`: one that served an exchange before. */
  constructor(request: Request, host: ExchangeHost, body: OutgoingBody, deadline: Deadline | null) {
    this.request = request
    this.#host = host
    this.#body = body
    this.#deadline = deadline ?? new Deadline(this)
    this.#deadline.owner = this
  }

  /** Whether the stream was to become a tunnel, and has not. */
  get awaitsTunnel(): boolean {
    return this.request.takesOver && this.#tunnel === null
  }

  /** For another exchange. */
  takeDeadline(): Deadline {
    this.#deadline.disarm()
    this.#deadline.owner = null
    return this.#deadline
  }

  /** The head is written. */
  begin(): void {
    const { request } = this
    const at = now()
    request.onWritten()
    this.#deadline.arm(this.#headersTimeout(), at)
    if (request.takesOver) {
      this.#sending = 'sent'
      request.onRequestSent(at)
    } else if (request.expectContinue && hasContent(request, this.#body)) {
      this.#sending = 'held'
    } else {
      this.#sendBody(at)
    }
  }

  #headersTimeout(): number {
    return this.request.headersTimeout ?? this.#host.settings.headersTimeout
  }

  #bodyTimeout(): number {
    return this.request.bodyTimeout ?? this.#host.settings.bodyTimeout
  }

  #sendBody(at: number): void {
    const { request } = this
    const { pumped } = this.#body
    if (pumped !== null) {
      this.#sending = 'pumping'
      this.#pump = new BodyPump(this)
      request.onBodyRead()
      this.#pump.start(pumped)
      return
    }
    this.#sending = 'sent'
    if (request.source.kind === 'bytes') {
      if (!request.source.isIntact) {
        this.onSpoiled()
        return
      }
      this.#host.send(this, request.source.bytes(), true)
      request.onWholeBodySent(request.source)
    }
    request.onRequestSent(at)
  }

  onChunk(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const { length } = this.#body
    this.#sent += bytes.byteLength
    if (length !== null && this.#sent > length && !this.#tolerate()) return false
    const room = this.#host.send(this, bytes, false)
    if (!room) this.#sending = 'blocked'
    this.#deadline.refresh()
    this.request.onBodySent(chunk)
    return room
  }

  onSourceEnd(): void {
    const { length } = this.#body
    if (length !== null && this.#sent !== length && !this.#tolerate()) return
    const { trailers } = this.request
    if (trailers === null) {
      this.#host.send(this, NOTHING, true)
      this.#onBodySent()
      return
    }
    gatherTrailers(
      trailers,
      (fields) => this.#endWith(fields),
      (error) => this.#onTrailersFailed(error as Error),
    )
  }

  /** Nobody waits for trailers any more when the request has ended, or gone elsewhere, before they were there. */
  #endWith(trailers: readonly string[]): void {
    if (this.ended) return
    if (trailers.length === 0) this.#host.send(this, NOTHING, true)
    else this.#host.sendTrailers(this, lowerCaseNames(trailers))
    this.#onBodySent()
  }

  #onTrailersFailed(error: Error): void {
    if (!this.ended) this.onSourceError(error)
  }

  #onBodySent(): void {
    this.#sending = 'sent'
    this.#deadline.refresh()
    this.request.onRequestSent()
  }

  onSourceError(error: Error): void {
    this.request.abort(error)
  }

  #tolerate(): boolean {
    const error = new RequestContentLengthMismatchError()
    if (!this.#host.settings.strictContentLength) {
      process.emitWarning(error)
      return true
    }
    this.request.fail(endReason('unsendable', error))
    this.#giveUp()
    return false
  }

  /** Its owner has given the memory away that the rest of the body is in. */
  onSpoiled(): void {
    const error = lostMemory()
    if (this.#tunnel !== null) {
      this.#tunnel.destroy(error)
      return
    }
    this.request.fail(endReason('unsendable', error))
    this.#giveUp()
  }

  /** The stream takes more of the body. */
  onWritable(): void {
    this.#deadline.refresh()
    this.#tunnel?.unblock()
    if (this.#sending !== 'blocked') return
    this.#sending = 'pumping'
    this.#pump?.resume()
  }

  onInformational(status: number, fields: HeaderBlock): void {
    this.#deadline.extend(MAX_HEADERS_TIMEOUTS)
    if (status === 100) {
      if (this.#sending === 'held') this.#sendBody(now())
      return
    }
    this.request.onResponseStarted(this.#host.readAt)
    if (!this.request.settled) this.request.onInformational(status, fields, '')
  }

  onHead(status: number, fields: HeaderBlock): void {
    const { request } = this
    request.onResponseStarted(this.#host.readAt)
    if (request.settled) return
    if (request.takesOver && (request.upgrade === null || (status >= 200 && status < 300))) {
      this.#deadline.disarm()
      this.#tunnel = new Http2Tunnel(this)
      request.onUpgrade(status, fields, this.#tunnel)
      return
    }
    this.#host.onActivity(this)
    request.onHead(status, fields, '')
  }

  onData(bytes: Buffer): void {
    if (this.#tunnel !== null) {
      this.#tunnel.deliver(bytes)
      return
    }
    const { maxResponseSize } = this.#host.settings
    this.#received += bytes.length
    if (maxResponseSize >= 0 && this.#received > maxResponseSize) {
      this.request.tellLater()
      this.request.fail(oversized())
      this.#giveUp()
      return
    }
    this.#host.onActivity(this)
    if (this.request.paused || this.#backlog.length > 0) this.#holdBack(bytes)
    else this.#deliver(bytes)
  }

  #holdBack(bytes: Buffer): void {
    if (this.#backlog === NO_BACKLOG) this.#backlog = []
    this.#backlog.push(bytes)
  }

  /** Time for the next piece of the response starts now. */
  rearm(): void {
    this.active = false
    if (!this.ended && this.#trailers === null) this.#deadline.arm(this.#bodyTimeout())
  }

  #deliver(bytes: Buffer): void {
    const { request } = this
    // Afterwards its memory may have gone to another thread.
    const { length } = bytes
    this.#delivering = true
    try {
      request.onData(bytes)
    } finally {
      this.#delivering = false
    }
    if (request.settled) return
    if (request.paused) this.#unreleased += length
    else this.#host.release(this, length)
  }

  onBroken(error: Error): void {
    this.#host.onBroken(error)
  }

  onRequestResumed(): void {
    this.#deadline.arm(this.#bodyTimeout())
    if (this.#delivering) return
    try {
      this.#goOn()
    } catch (error) {
      // Whoever reads the body has nothing to do with it.
      this.#host.onBroken(error as Error)
    }
  }

  #goOn(): void {
    if (this.#unreleased > 0) this.#host.release(this, this.#unreleased)
    this.#unreleased = 0
    while (!this.request.paused && !this.request.settled) {
      const bytes = this.#backlog.shift()
      if (bytes === undefined) break
      this.#deliver(bytes)
    }
    if (this.#trailers !== null) this.onEnd(this.#trailers, now())
  }

  onEnd(trailers: HeaderBlock | null, at: number = this.#host.readAt): void {
    const { request } = this
    if (this.#tunnel !== null) {
      this.#tunnelEnds++
      this.#tunnel.finish()
      return
    }
    if (request.settled) return
    if (request.paused || this.#backlog.length > 0) {
      this.#trailers = trailers ?? HeaderBlock.EMPTY
      this.#deadline.disarm()
      this.#host.onHeldBack(this)
      return
    }
    const unfinished = this.#sending !== 'sent'
    request.onEnd(trailers ?? HeaderBlock.EMPTY, at)
    if (unfinished) this.#giveUp()
    else this.#host.onSettled(this)
  }

  /** The stream is gone, and the request goes to another one. */
  onRefused(): void {
    this.#pump?.stop()
    this.#host.onSettled(this)
  }

  /** The stream is gone and the response not complete. */
  onLost(reason: EndReason): void {
    this.#pump?.stop()
    if (this.active || this.#host.isBroken) this.request.tellLater()
    if (this.#tunnel !== null) this.#tunnel.destroy(reason.error)
    else this.request.fail(reason)
    this.#host.onSettled(this)
  }

  /** The stream is gone. Whoever still sends through a tunnel has heard the peer's end, but not this. */
  onStreamClosed(reason: Error | null): void {
    this.#tunnel?.onStreamClosed(reason)
  }

  onRequestAborted(): void {
    this.#giveUp()
  }

  onHandlerError(error: unknown): void {
    this.#host.onHandlerError(error)
  }

  sendTunnel(bytes: Uint8Array, end: boolean): boolean {
    if (end) this.#tunnelEnds++
    return this.#host.send(this, withFixedLength(bytes), end)
  }

  releaseTunnel(bytes: number): void {
    this.#host.release(this, bytes)
  }

  tunnelAddress(): object {
    const { localAddress, localPort } = this.#host.socketInfo()
    return localAddress === undefined
      ? {}
      : { address: localAddress, family: loadNet().isIPv6(localAddress) ? 'IPv6' : 'IPv4', port: localPort }
  }

  closeTunnel(): void {
    // What was said to its end may still be on its way out, and must not be cut off.
    if (this.#tunnelEnds === BOTH_ENDS) this.#host.onSettled(this)
    else this.#giveUp()
  }

  /** The request is settled; so is the stream, from our side. */
  #giveUp(): void {
    this.#pump?.stop()
    this.#backlog = NO_BACKLOG
    this.#trailers = null
    this.#host.reset(this, CANCEL)
    this.#host.onSettled(this)
  }

  onDeadline(): void {
    const { request } = this
    if (request.responding) {
      if (request.paused) return
      request.fail(bodyLate(`HTTP/2: "stream timeout after ${this.#bodyTimeout()}"`))
    } else if (this.#sending === 'pumping') {
      // The caller's own source is slow, not the server.
      this.#deadline.arm(this.#headersTimeout())
      return
    } else {
      const timeout = this.#headersTimeout()
      request.fail(
        request.takesOver ? tunnelLate(timeout) : headLate(`HTTP/2: "headers timeout after ${timeout}"`),
      )
      this.#host.onOverdue()
    }
    this.#giveUp()
  }
}

/** RFC 9113 §8.2: names have no upper case. */
function lowerCaseNames(fields: readonly string[]): string[] {
  return fields.map((part, i) => (i % 2 === 0 ? lowerCaseName(part) : part))
}
