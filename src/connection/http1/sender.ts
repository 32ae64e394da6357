/**
 * Writes the requests of one HTTP/1.1 connection, each in one piece or, where its body comes from a source,
 * piece by piece. Whether a request may be written is decided by the connection.
 */
import type { Deadline } from '../../base/loop/deadline.ts'
import { channels } from '../../diagnostics.ts'
import type { Transport } from '../../net/stream-transport.ts'
import { CHUNK_SUFFIX, chunkPrefix, LAST_CHUNK, lastChunkWith } from '../../protocol/http1/body-encoder.ts'
import { CHUNKED_TAIL, contentLengthTail, NO_BODY_TAIL } from '../../protocol/http1/request-encoder.ts'
import { expectsPayload } from '../../request/body-length.ts'
import { lostMemory, type WholeSource } from '../../request/body-source.ts'
import type { Request } from '../../request/request.ts'
import type { PumpedSource } from '../body-pump.ts'
import { BodyWriter } from '../body-writer.ts'
import type { ConnectionSettings } from '../connection.ts'
import { Expectation, type ExpectationHost } from '../expectation.ts'
import type { OutgoingBody } from '../outgoing-body.ts'
import { leavesDoubt, type PreparedRequest } from './head.ts'

/** The connection. */
export interface SenderHost {
  /** Something of the newest request is written that no other should follow. */
  onLastRequest(): void
  /** A body that was written piece by piece is out. */
  onBodyWritten(request: Request): void
  /** The body is not what its head announced: the request cannot be completed. */
  onBodyBroken(request: Request, error: Error): void
  onBroken(error: Error): void
}

export class Http1Sender implements ExpectationHost {
  readonly #host: SenderHost
  readonly #transport: Transport
  /** The peer has time for the response from the last byte that was written. */
  readonly #deadline: Deadline
  #writer: Http1BodyWriter | null = null
  /** The body of the writer is held back. */
  #expectation: Expectation | null = null
  /** Nothing is written after it until its response head has come. */
  #blocking: Request | null = null
  /**
   * All that was written is answered, and the socket has not taken all of it: the server may have stopped
   * reading.
   */
  isClogged = false

  constructor(host: SenderHost, transport: Transport, deadline: Deadline) {
    this.#host = host
    this.#transport = transport
    this.#deadline = deadline
  }

  /** No request may be written now. */
  get isBusy(): boolean {
    return this.#writer !== null || this.#blocking !== null || this.isClogged
  }

  /**
   * All that was written is answered. What would be written next must not stand behind bytes that nobody
   * reads.
   */
  onAllAnswered(): void {
    this.isClogged = this.#transport.congested
  }

  /** The body of this request is not out yet. */
  isSending(request: Request): boolean {
    return this.#writer?.request === request
  }

  /** `joins`: others of the same tick may leave in the same write. */
  sendWhole(request: Request, { text, headLength }: PreparedRequest, joins: boolean): void {
    const transport = this.#transport
    if (request.blocking) this.#blocking = request
    const body = request.source.kind === 'bytes' ? request.source : null
    const latin1 = body === null ? '' : body.latin1
    this.#announceHead(request, text, headLength)
    if (body?.isIntact === false) {
      this.#host.onBodyBroken(request, lostMemory())
      return
    }
    if (latin1 === null) {
      transport.readAnswerFirst()
      transport[joins ? 'writeAll' : 'writeAllNow']([text, body!.bytes])
    } else if (joins) transport.writeAll([text + latin1])
    else transport.writeNow(text + latin1)
    request.onWritten()
  }

  /** Of a body that the server is asked about, only the head for now. */
  sendStreamed(request: Request, { text, body }: PreparedRequest, settings: ConnectionSettings): void {
    if (request.blocking || body.expects) this.#blocking = request
    this.#transport.readAnswerFirst()
    this.#writer = new Http1BodyWriter(request, this, text, body, settings)
    if (body.expects) {
      this.#expectation = new Expectation(this, request, settings)
      this.#writer.announce()
    } else this.#writer.send()
  }

  onContinue(request: Request): void {
    if (this.isSending(request)) this.#expectation?.meet()
  }

  /** Of the request that was blocking. */
  onFinalHead(status: number): void {
    this.#expectation?.onFinalHead(status)
  }

  onExpected(): void {
    this.#expectation = null
    this.#deadline.refresh()
    this.#writer?.send()
  }

  onBroken(error: Error): void {
    this.#host.onBroken(error)
  }

  /** The socket takes more. */
  resume(): void {
    this.isClogged = false
    this.#deadline.refresh()
    this.#writer?.resume()
  }

  stop(): void {
    this.#blocking = null
    this.#expectation?.stop()
    this.#expectation = null
    this.#writer?.stop()
    this.#writer = null
  }

  /** The response head of this request has come. Returns whether others had to wait for it. */
  unblock(request: Request): boolean {
    if (this.#blocking !== request) return false
    this.#blocking = null
    return true
  }

  writeHead(request: Request, head: string, tail: string): void {
    this.#announceHead(request, head, head.length)
    this.#transport.writeAll([head + tail])
    request.onWritten()
  }

  /** Returns whether the socket takes more. */
  writeBody(pieces: readonly (string | Uint8Array)[]): boolean {
    this.#transport.writeAll(pieces)
    this.#deadline.refresh()
    return !this.#transport.congested
  }

  onBodyBegins(request: Request): void {
    if (leavesDoubt(request)) this.#host.onLastRequest()
  }

  onBodyWritten(request: Request): void {
    this.#writer = null
    this.#deadline.refresh()
    this.#host.onBodyWritten(request)
  }

  onBodyBroken(request: Request, error: Error): void {
    this.#writer = null
    this.#host.onBodyBroken(request, error)
  }

  #announceHead(request: Request, text: string, length: number): void {
    if (!channels.sendHeaders.hasSubscribers) return
    request.publish(channels.sendHeaders, {
      request,
      headers: text.slice(0, length),
      socket: this.#transport.socket,
    })
  }
}

/**
 * One body from a source. The head waits for the first piece: only then is it known whether there is a body,
 * and how it is framed. Unless the server is asked about the body before.
 */
class Http1BodyWriter extends BodyWriter {
  readonly #host: Http1Sender
  readonly #head: string
  readonly #chunked: boolean
  /** Null for bytes. */
  readonly #pumped: PumpedSource | null
  #isHeadOut = false

  constructor(
    request: Request,
    host: Http1Sender,
    head: string,
    { length, pumped }: OutgoingBody,
    settings: ConnectionSettings,
  ) {
    super(request, length, settings)
    this.#host = host
    this.#head = head
    this.#pumped = pumped
    // Trailers can only follow the last chunk.
    this.#chunked = length === null || request.trailers !== null
  }

  /** The head alone. */
  announce(): void {
    this.#host.onBodyBegins(this.request)
    this.#writeHead(this.#chunked ? CHUNKED_TAIL : contentLengthTail(this.length!))
  }

  send(): void {
    if (this.#pumped !== null) this.start(this.#pumped)
    else this.#sendBytes(this.request.source as WholeSource)
  }

  /** At once: the response may be complete in the same turn, and the connection live on. */
  #sendBytes({ isIntact, given }: WholeSource): void {
    if (!isIntact) {
      this.onUnsendable(lostMemory())
      return
    }
    this.onChunk(given)
    // A hook may have thrown.
    if (!this.request.settled) this.onSourceEnd()
  }

  protected override write(bytes: Uint8Array): boolean {
    if (!this.#isHeadOut) this.announce()
    const host = this.#host
    return host.writeBody(this.#chunked ? [chunkPrefix(bytes.byteLength), bytes, CHUNK_SUFFIX] : [bytes])
  }

  protected override writeEnd(): void {
    if (!this.#isHeadOut) {
      this.#writeHead(expectsPayload(this.request.method) ? contentLengthTail(0) : NO_BODY_TAIL)
    } else if (this.#chunked) {
      this.#host.writeBody([LAST_CHUNK])
    }
    this.#host.onBodyWritten(this.request)
  }

  protected override onTrailersAwaited(): void {
    if (!this.#isHeadOut) this.#writeHead(CHUNKED_TAIL)
  }

  protected override writeTrailers(fields: readonly string[]): void {
    this.#host.writeBody([lastChunkWith(fields)])
    this.#host.onBodyWritten(this.request)
  }

  protected override onUnsendable(error: Error): void {
    this.#host.onBodyBroken(this.request, error)
  }

  #writeHead(tail: string): void {
    this.#isHeadOut = true
    this.#host.writeHead(this.request, this.#head, tail)
  }
}
