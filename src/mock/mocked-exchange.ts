/**
 * One mocked request, from its start to its final call. It is a `Request` like those on connections, so
 * options are checked, the handler is called and failures are reported in the same way. Without a delay, a
 * promise, a stream or a pause, all of this happens inside `dispatch()`.
 */

import { copyBytes } from '../base/bytes/own-bytes.ts'
import { invariant } from '../base/error/invariant.ts'
import { now } from '../base/loop/clock.ts'
import { Deadline, type DeadlineOwner } from '../base/loop/deadline.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { clearTimer, startTimer } from '../base/loop/timer.ts'
import { bodyLate, headLate } from '../connection/ends.ts'
import { Exchange } from '../connection/exchange.ts'
import { RequestContentLengthMismatchError } from '../errors.ts'
import { lengthMismatch } from '../request/body-length.ts'
import { destroyStream, isStream, settleLength, type WholeSource } from '../request/body-source.ts'
import type { ConnectionFacts } from '../request/connection-facts.ts'
import { callersReason, type EndReason, endReason } from '../request/end-reason.ts'
import { Request, type RequestHost } from '../request/request.ts'
import type { FieldsMemory } from '../request/request-fields.ts'
import type { RequestContext } from '../request/request-spec.ts'
import { completeHandler } from './complete-handler.ts'
import type { Interception } from './match/interception.ts'
import type { MockAgentSettings } from './mock-agent-options.ts'
import { type Pieces, piecesOf } from './mock-body.ts'
import type { MockCall } from './mock-call.ts'
import { isBodiless, type MockedResponse, type Reply } from './reply/reply.ts'
import { contentPieces, type ReplyContent } from './reply/reply-content.ts'
import { statusText } from './reply/status-text.ts'

/** A request that has not settled. */
export interface RunningMock {
  readonly origin: string
  end(reason: EndReason): void
}

/** Keeps the exchanges that outlast their `dispatch()`. */
export interface ExchangeOwner {
  readonly settings: MockAgentSettings
  readonly fields: FieldsMemory
  readonly running: Set<RunningMock>
  onIdle(): void
  onHandlerError(error: unknown): void
}

export function mockContext(origin: string, { settings, fields }: ExchangeOwner): RequestContext {
  const protocol = origin.startsWith('https:') ? 'https:' : 'http:'
  return { origin, protocol, fields, maxResponseSize: settings.client.maxResponseSize }
}

/** No socket carries a mocked request. */
const NO_CONNECTION: ConnectionFacts = {
  reused: false,
  times: { connect: null, secured: null },
  socketInfo: () => null,
}

export class MockedExchange extends Exchange implements RequestHost, DeadlineOwner {
  readonly origin: string
  readonly #call: MockCall
  readonly #reply: Reply
  readonly #delay: number
  readonly #owner: ExchangeOwner
  readonly #request: Request
  #response: MockedResponse | null = null
  /** The response of a function that was asked before the start. */
  #prepared: MockedResponse | Promise<MockedResponse> | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  /** The part of the body that waits for the handler. */
  #chunk: Buffer | null = null
  #isSourceAtEnd = false
  #isDelivering = false
  /** Lets the stream of the reply go on. */
  #wake: (() => void) | null = null

  /** Throws for invalid request options. */
  constructor(call: MockCall, { reply, delay }: Pick<Interception, 'reply' | 'delay'>, owner: ExchangeOwner) {
    super(owner.settings.client, new Deadline(null))
    this.deadline.owner = this
    this.origin = call.origin
    this.#call = call
    this.#reply = reply
    this.#delay = delay
    this.#owner = owner
    this.#request = new Request(
      call.options,
      completeHandler(call.handler),
      mockContext(call.origin, owner),
      this,
    )
  }

  run(): void {
    const request = this.#request
    request.announceQueued()
    if (request.settled || !request.start()) return
    request.attach(this, NO_CONNECTION)
    const { source } = request
    if (
      this.settings.strictContentLength &&
      request.contentLength !== null &&
      lengthMismatch(settleLength(source), request.contentLength)
    ) {
      this.end(endReason('unsendable', new RequestContentLengthMismatchError()))
      return
    }
    if (source.kind === 'bytes') this.#announceBody(source)
    const pieces = this.#call.observesBody ? piecesOf(source) : null
    if (pieces === null) this.#sent()
    else void this.#send(pieces)
    if (!request.settled) this.#owner.running.add(this)
  }

  /** A collected stream is reported in its original pieces. */
  #announceBody(source: WholeSource): void {
    const { body, given, isPiecemeal, pieces } = this.#call
    const wasCollected = body !== given.body
    if (!wasCollected || !isPiecemeal) this.#request.onWholeBodySent(source)
    else for (const piece of pieces) this.#request.onBodySent(piece as Uint8Array)
  }

  /**
   * Asks a function for the whole reply before the request starts, unless it needs a body that is not read
   * yet. Throws for an invalid reply: that is a mistake in the test, not a failure of the peer.
   */
  prepare(): void {
    const reply = this.#reply
    if (reply.kind !== 'function' || !reply.isWhole || this.#call.hasUnreadBody) return
    this.#prepared = reply.ask(this.#call)
    ignoreRejection(this.#prepared)
  }

  async #send(pieces: Pieces): Promise<void> {
    try {
      this.#request.onBodyRead()
      const keeps = this.#call.isPiecemeal && this.#reply.kind === 'function'
      if (keeps) this.#call.isRead = true
      for await (const piece of pieces) {
        if (this.#request.settled) return
        if (keeps) this.#call.pieces.push(piece)
        this.#request.onBodySent(piece as Uint8Array)
        // An aborted upload must not pull another piece.
        if (this.#request.settled) return
      }
    } catch (error) {
      this.#request.onBodyError(error)
      return
    }
    this.#sent()
  }

  #sent(): void {
    const request = this.#request
    if (request.settled) return
    request.onWritten()
    request.onRequestSent()
    if (request.settled) return
    if (this.#delay === 0) {
      this.#answer()
      return
    }
    this.awaitHead(request)
    // Not unreferenced: the caller waits for it, and nothing else keeps the process alive.
    this.#timer = startTimer(() => this.#answer(), this.#delay)
  }

  #answer(): void {
    const reply = this.#reply
    try {
      if (reply.kind === 'error') throw reply.error
      invariant('ask' in reply, 'a reply on a connection has no exchange')
      const response = this.#prepared ?? reply.ask(this.#call)
      if (response instanceof Promise) {
        if (!this.deadline.armed) this.awaitHead(this.#request)
        response.then(
          (made) => this.#respond(made),
          (error) => this.#break(error),
        )
      } else this.#respond(response)
    } catch (error) {
      this.#break(error)
    }
  }

  #respond(response: MockedResponse): void {
    const request = this.#request
    if (request.settled) return
    for (const { statusCode, fields } of response.informational) {
      request.onInformational(statusCode, fields, statusText(statusCode))
      if (request.settled) return
    }
    this.deadline.disarm()
    this.#response = response
    const { statusCode, fields, content } = response
    request.timings.firstByte ??= now()
    request.onHead(statusCode, fields, statusText(statusCode))
    if (request.settled) return
    const hasBody = !isBodiless(request.method, statusCode)
    if (hasBody && !Buffer.isBuffer(content)) {
      void this.#stream(content)
      return
    }
    // A copy: the caller may change it, or transfer it to another thread.
    if (hasBody) this.#chunk = copyBytes(content as Buffer, 0, (content as Buffer).length)
    this.#isSourceAtEnd = true
    this.#deliver()
  }

  async #stream(content: ReplyContent): Promise<void> {
    const request = this.#request
    this.awaitBody(request)
    try {
      for await (const bytes of contentPieces(content)) {
        if (request.settled) return
        this.#chunk = copyBytes(bytes, 0, bytes.length)
        this.#deliver()
        if (this.#chunk !== null) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
        if (request.settled) return
        this.awaitBody(request)
      }
    } catch (error) {
      this.#break(error)
      return
    }
    this.#isSourceAtEnd = true
    this.#deliver()
  }

  #deliver(): void {
    // A handler that resumes inside a call gets the rest when that call has returned.
    if (this.#isDelivering) return
    this.#isDelivering = true
    const request = this.#request
    while (!request.settled && !request.paused) {
      const chunk = this.#chunk
      if (chunk !== null) {
        this.#chunk = null
        const tooLarge = this.countBody(request, chunk.length)
        if (tooLarge === null) request.onData(chunk, 0, chunk.length)
        else this.#finish()
      } else if (this.#isSourceAtEnd) {
        this.#finish()
        request.onEnd(this.#response!.trailers)
      } else {
        break
      }
    }
    this.#isDelivering = false
    if (request.settled || this.#chunk === null) this.#wake?.()
  }

  onDeadline(): void {
    const late = this.late(this.#request, false)
    if (late !== 'nothing') this.end(late === 'head' ? headLate() : bodyLate())
  }

  onBroken(error: Error): void {
    this.end(endReason('broken', error))
  }

  onRequestResumed(): void {
    if (!this.#request.responding) return
    if (!this.#isSourceAtEnd && this.#chunk === null) this.awaitBody(this.#request)
    this.#deliver()
  }

  onRequestAborted(): void {
    this.#finish()
  }

  onHandlerError(error: unknown): void {
    this.#owner.onHandlerError(error)
  }

  /** For errors of the caller, which are passed on unchanged. */
  #break(error: unknown): void {
    this.end(callersReason('broken', error as Error))
  }

  /** Fails the request, unless it has settled. */
  end(reason: EndReason): void {
    if (this.#request.settled) return
    this.#request.fail(reason)
    this.#finish()
  }

  #finish(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.deadline.dispose()
    const content = this.#response?.content
    if (isStream(content) && !this.#isSourceAtEnd) destroyStream(content, null)
    this.#wake?.()
    if (this.#owner.running.delete(this)) this.#owner.onIdle()
  }
}
