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
import { lostMemory } from '../../request/body-source.ts'
import type { Request } from '../../request/request.ts'
import { BodyWriter } from '../body-writer.ts'
import type { ConnectionSettings } from '../connection.ts'
import { leavesDoubt, type PreparedRequest } from './head.ts'

/** The connection. */
export interface SenderHost {
  /** Something of the newest request is written that no other should follow. */
  onLastRequest(): void
  /** A body that was written piece by piece is out. */
  onBodyWritten(request: Request): void
  /** The body is not what its head announced: the request cannot be completed. */
  onBodyBroken(request: Request, error: Error): void
}

export class Http1Sender {
  readonly #host: SenderHost
  readonly #transport: Transport
  /** The peer has time for the response from the last byte that was written. */
  readonly #deadline: Deadline
  #writer: Http1BodyWriter | null = null
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
    if (latin1 === null) transport[joins ? 'writeAll' : 'writeAllNow']([text, body!.bytes])
    else if (joins) transport.writeAll([text + latin1])
    else transport.writeNow(text + latin1)
    request.onWritten()
  }

  sendStreamed(
    request: Request,
    { text, body: { length, pumped } }: PreparedRequest,
    settings: ConnectionSettings,
  ): void {
    if (request.blocking) this.#blocking = request
    this.#writer = new Http1BodyWriter(request, this, text, length, settings)
    this.#writer.start(pumped!)
  }

  /** The socket takes more. */
  resume(): void {
    this.isClogged = false
    this.#deadline.refresh()
    this.#writer?.resume()
  }

  stop(): void {
    this.#blocking = null
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
 * and how it is framed.
 */
class Http1BodyWriter extends BodyWriter {
  readonly #host: Http1Sender
  readonly #head: string
  readonly #chunked: boolean

  constructor(
    request: Request,
    host: Http1Sender,
    head: string,
    length: number | null,
    settings: ConnectionSettings,
  ) {
    super(request, length, settings)
    this.#host = host
    this.#head = head
    // Trailers can only follow the last chunk.
    this.#chunked = length === null || request.trailers !== null
  }

  protected override write(bytes: Uint8Array): boolean {
    const host = this.#host
    if (this.written === 0) {
      host.onBodyBegins(this.request)
      this.#writeHead(this.#chunked ? CHUNKED_TAIL : contentLengthTail(this.length!))
    }
    return host.writeBody(this.#chunked ? [chunkPrefix(bytes.byteLength), bytes, CHUNK_SUFFIX] : [bytes])
  }

  protected override writeEnd(): void {
    if (this.written === 0) {
      this.#writeHead(expectsPayload(this.request.method) ? contentLengthTail(0) : NO_BODY_TAIL)
    } else if (this.#chunked) {
      this.#host.writeBody([LAST_CHUNK])
    }
    this.#host.onBodyWritten(this.request)
  }

  protected override onTrailersAwaited(): void {
    if (this.written === 0) this.#writeHead(CHUNKED_TAIL)
  }

  protected override writeTrailers(fields: readonly string[]): void {
    this.#host.writeBody([lastChunkWith(fields)])
    this.#host.onBodyWritten(this.request)
  }

  protected override onUnsendable(error: Error): void {
    this.#host.onBodyBroken(this.request, error)
  }

  #writeHead(tail: string): void {
    this.#host.writeHead(this.request, this.#head, tail)
  }
}
