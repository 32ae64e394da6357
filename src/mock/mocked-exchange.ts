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
import { destroyStream, isStream, settleLength } from '../request/body-source.ts'
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
import { isBodiless, type MockedResponse } from './reply/reply.ts'
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
  httpVersion: null,
  reused: false,
  times: { connect: null, secured: null },
  socketInfo: () => null,
}

export class MockedExchange extends Exchange implements RequestHost, DeadlineOwner {
  readonly origin: string
  readonly #call: MockCall
  readonly #interception: Pick<Interception, 'reply' | 'delay'>
  readonly #owner: ExchangeOwner
  readonly #request: Request
  #response: MockedResponse | null = null
  /** The response of a function that was asked before the start. */
  #prepared: MockedResponse | Promise<MockedResponse> | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  /** What to do when the handler takes data again. */
  #goOn: (() => void) | null = null

  /** Throws for invalid request options. */
  constructor(call: MockCall, interception: Pick<Interception, 'reply' | 'delay'>, owner: ExchangeOwner) {
    super(owner.settings.client, new Deadline(null))
    this.deadline.owner = this
    this.origin = call.origin
    this.#call = call
    this.#interception = interception
    this.#owner = owner
    const handler = completeHandler(call.handler)
    this.#request = new Request(call.options, handler, mockContext(call.origin, owner), this)
  }

  run(): void {
    const request = this.#request
    const { reply } = this.#interception
    const { observesBody, hasUnreadBody, isPiecemeal, pieces: collected } = this.#call
    // A whole reply is made before the request starts, unless that takes a body that is not read yet: what is
    // wrong with it is a mistake in the test, which `dispatch()` throws.
    if (reply.kind === 'function' && reply.isWhole && !hasUnreadBody) {
      this.#prepared = reply.ask(this.#call)
      ignoreRejection(this.#prepared)
    }
    request.announceQueued()
    if (request.settled || !request.start()) return
    request.attach(this, NO_CONNECTION)
    const { source, contentLength } = request
    const isChecked = this.settings.strictContentLength && contentLength !== null
    if (isChecked && lengthMismatch(settleLength(source), contentLength)) {
      this.end(endReason('unsendable', new RequestContentLengthMismatchError()))
      return
    }
    if (source.kind === 'bytes') {
      // A collected stream is reported in its original pieces.
      if (isPiecemeal) for (const piece of collected) request.onBodySent(piece as Uint8Array)
      else request.onWholeBodySent(source)
    }
    const pieces = observesBody ? piecesOf(source) : null
    if (pieces === null) this.#sent()
    else void this.#send(pieces)
    if (!request.settled) this.#owner.running.add(this)
  }

  async #send(pieces: Pieces): Promise<void> {
    try {
      this.#request.onBodyRead()
      const keeps = this.#call.isPiecemeal && this.#interception.reply.kind === 'function'
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
    const { delay } = this.#interception
    if (delay === 0) {
      this.#answer()
      return
    }
    this.awaitHead(request)
    // Not unreferenced: the caller waits for it, and nothing else keeps the process alive.
    this.#timer = startTimer(() => this.#answer(), delay)
  }

  #answer(): void {
    const { reply } = this.#interception
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
    const chunk = hasBody ? copyBytes(content as Buffer, 0, (content as Buffer).length) : null
    this.#whenTaken(() => {
      if (chunk !== null) this.#give(chunk)
      this.#whenTaken(() => this.#complete())
    })
  }

  async #stream(content: ReplyContent): Promise<void> {
    const request = this.#request
    this.awaitBody(request)
    try {
      for await (const bytes of contentPieces(content)) {
        const chunk = copyBytes(bytes, 0, bytes.length)
        if (request.paused) await new Promise<void>((resolve) => this.#whenTaken(resolve))
        this.#give(chunk)
        if (request.settled) return
        this.awaitBody(request)
      }
    } catch (error) {
      this.#break(error)
      return
    }
    this.#whenTaken(() => this.#complete())
  }

  /** Goes on at once, or when the handler takes data again or the request has settled. */
  #whenTaken(goOn: () => void): void {
    if (this.#request.paused && !this.#request.settled) this.#goOn = () => this.#whenTaken(goOn)
    else goOn()
  }

  #give(chunk: Buffer): void {
    if (this.#request.settled) return
    if (this.countBody(this.#request, chunk.length) !== null) this.#finish()
    else this.#request.onData(chunk, 0, chunk.length)
  }

  #complete(): void {
    if (this.#request.settled) return
    const { trailers } = this.#response!
    // Its stream has ended, and is not to be destroyed.
    this.#response = null
    this.#finish()
    this.#request.onEnd(trailers)
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
    const goOn = this.#goOn
    this.#goOn = null
    // Nothing waits for the handler, so it is the handler that waits.
    if (goOn === null) this.awaitBody(this.#request)
    else goOn()
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
    if (isStream(content)) destroyStream(content, null)
    this.#goOn?.()
    if (this.#owner.running.delete(this)) this.#owner.onIdle()
  }
}
