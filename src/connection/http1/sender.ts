/**
 * Writes the requests of one HTTP/1.1 connection, each in one piece or, where its body comes from a source, piece by
 * piece. Whether a request may be written is decided by the connection.
 */
import type { Deadline } from '../../base/loop/deadline.ts'
import { channels } from '../../diagnostics.ts'
import type { Transport } from '../../net/transport.ts'
import type { Reuse } from '../../protocol/http1/reuse.ts'
import { lostMemory } from '../../request/body-source.ts'
import type { Request } from '../../request/request.ts'
import type { ConnectionSettings } from '../connection.ts'
import { type BodyWriterHost, Http1BodyWriter } from './body-writer.ts'
import { leavesDoubt, type PreparedRequest } from './head.ts'

/** The connection. */
export interface SenderHost {
  /** A body that was written piece by piece is out. */
  onBodyWritten(request: Request): void
  /** The body is not what its head announced: the request cannot be completed. */
  onBodyBroken(request: Request, error: Error): void
}

export class Http1Sender implements BodyWriterHost {
  readonly #host: SenderHost
  readonly #transport: Transport
  /** The peer has time for the response from the last byte that was written. */
  readonly #deadline: Deadline
  readonly #reuse: Reuse
  #writer: Http1BodyWriter | null = null
  /** Nothing is written after it until its response head has come. */
  #blocking: Request | null = null
  /** All that was written is answered, and the socket has not taken all of it: the server may have stopped reading. */
  isClogged = false

  constructor(host: SenderHost, transport: Transport, deadline: Deadline, reuse: Reuse) {
    this.#host = host
    this.#transport = transport
    this.#deadline = deadline
    this.#reuse = reuse
  }

  /** No request may be written now. */
  get isBusy(): boolean {
    return this.#writer !== null || this.#blocking !== null || this.isClogged
  }

  /** A body is being written piece by piece. */
  get isWriting(): boolean {
    return this.#writer !== null
  }

  /** All that was written is answered. What would be written next must not stand behind bytes that nobody reads. */
  onAllAnswered(): void {
    this.isClogged = this.#transport.congested
  }

  get congested(): boolean {
    return this.#transport.congested
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
    const bytes = body?.bytes ?? null
    this.#announceHead(request, text, headLength)
    if (body?.isIntact === false) {
      this.#host.onBodyBroken(request, lostMemory())
      return
    }
    if (joins) transport.writeAll(bytes === null ? [text] : [text, bytes])
    else if (bytes === null) transport.writeNow(text)
    else transport.writeAllNow([text, bytes])
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
    this.#transport.write(head + tail)
    request.onWritten()
  }

  writeBody(pieces: readonly (string | Uint8Array)[]): void {
    this.#transport.writeAll(pieces)
    this.#deadline.refresh()
  }

  onBodyBegins(request: Request): void {
    if (leavesDoubt(request)) this.#reuse.doubted()
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
