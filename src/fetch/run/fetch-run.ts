/**
 * One fetch over HTTP, from `dispatch` to the end of the response body: waiting → responding → ended, failed
 * or aborted. Following a redirect starts a new run, which takes over the promise. The previous run drains
 * its body so that the connection can be reused.
 *
 * Long because one run answers its dispatcher, its body, its caller and its signal, and each may end it.
 */

import type { Duplex } from 'node:stream'
import { orAbortError } from '../../base/abort/abort-error.ts'
import { AbortLink, type AbortTarget } from '../../base/abort/abort-link.ts'
import { ownBytes } from '../../base/bytes/own-bytes.ts'
import { addCallSite } from '../../base/error/public-call.ts'
import { announcedLength } from '../../body/collect.ts'
import { type ContentDecoding, limitOf, openDecoding } from '../../content-coding/content-decoding.ts'
import { ResponseExceededMaxSizeError } from '../../errors.ts'
import { getGlobalDispatcher } from '../../global/global-dispatcher.ts'
import { answerOlderCalls } from '../../handler/older-calls.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { whenRefused } from '../../request/dispatching.ts'
import { Body } from '../body/body.ts'
import { type BodyFeed, type BodySink, toBytes } from '../body/feed.ts'
import { SinkLink } from '../body/sink-link.ts'
import { StreamChunks } from '../body/streams.ts'
import { loosenLater, type Unread, watchFresh } from '../body/unread-bodies.ts'
import { verifiedBody } from '../body/verified-body.ts'
import { HeaderList } from '../headers/header-list.ts'
import type { RequestRecord } from '../init.ts'
import { makeResponse, NULL_BODY_STATUSES, opaqueResponse, type ResponseRecord } from '../response.ts'
import type { Answering, Caller } from './caller.ts'
import { type NextHop, nextHop, REDIRECT_STATUSES, Trail } from './redirect.ts'
import { isAborted, type RunState } from './run-state.ts'
import { sendRequest } from './sent-request.ts'
import { Transfer } from './transfer.ts'

export class FetchRun implements DispatchHandler, BodyFeed, Unread, AbortTarget, Answering {
  readonly #record: RequestRecord
  readonly #trail: Trail | null
  /** Null once another run has taken it over, or the run has failed. */
  #caller: Caller | null
  #state: RunState = 'waiting'
  #controller: DispatchController | null = null
  #abortQueued: ((reason?: unknown) => void) | null = null
  #abortLink: AbortLink | null = null
  /** The body, as the dispatcher got it; undefined before the request is sent. */
  #sent: DispatchOptions['body']
  readonly #sinkLink = new SinkLink()
  #decoding: ContentDecoding | null = null
  /** The caller has had no chance to read the body yet. */
  #isFresh = false
  readonly #transfer = new Transfer()
  #discarded: DiscardedBody | null = null

  constructor(record: RequestRecord, caller: Caller, trail: Trail | null) {
    this.#record = record
    this.#caller = caller
    this.#trail = trail
  }

  /** Throws nothing, whatever the caller's signal, body and dispatcher throw. */
  start(): void {
    const record = this.#record
    try {
      if (record.signal !== null) this.#abortLink = AbortLink.to(record.signal, this)
      if (isAborted(this.#state)) return
      if (record.url.hasBadPort) throw new Error('bad port')
      if (record.cache === 'only-if-cached') throw new Error('no cached response')
      const dispatcher = record.dispatcher ?? getGlobalDispatcher()
      if (typeof dispatcher.dispatch !== 'function') throw new TypeError('agent.dispatch is not a function')
      const options = sendRequest(record, this.#trail)
      this.#sent = options.body
      whenRefused(dispatcher.dispatch(options, this as DispatchHandler), this)
    } catch (error) {
      this.onResponseError(null, error as Error)
    }
  }

  onAbort(given: unknown): void {
    const reason = orAbortError(given)
    const body = this.#sinkLink.sink
    this.#stop(reason)
    this.#caller?.reject(reason)
    body?.fail(reason)
  }

  /** Gives up the exchange without settling the promise or failing the body. */
  #stop(reason: unknown): void {
    const state = this.#state
    this.#endLink()
    if (state === 'failed' || isAborted(state)) return
    this.#end({ reason }, reason)
    if (state === 'ended') return
    try {
      if (this.#controller !== null) this.#controller.abort(reason)
      else this.#abortQueued?.(reason)
    } catch {
      // Even if the dispatcher fails to abort, the caller must get its error.
    }
  }

  #end(state: RunState, reason: unknown): void {
    this.#state = state
    this.#endLink()
    this.#discarded?.stop()
    this.#decoding?.destroy()
    // A body that is no stream ends with its request.
    if (this.#sent === undefined) this.#record.body?.cancel(reason)
    else if (this.#sent instanceof StreamChunks) this.#sent.cancel(reason)
  }

  /**
   * Undefined without a signal: dispatchers create an abort function for each handler that has this method.
   */
  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    return this.#abortLink !== null ? this.#onQueued : undefined
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    if (isAborted(this.#state)) {
      abort(this.#state.reason)
      return
    }
    this.#controller = null
    this.#abortQueued = abort
  }

  onRequestStart(controller: DispatchController): void {
    if (isAborted(this.#state)) controller.abort(this.#state.reason)
    else this.#controller = controller
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    if (this.#state !== 'waiting' || statusCode < 200) return
    this.#controller = controller
    this.#transfer.status = statusCode
    if (REDIRECT_STATUSES.has(statusCode)) {
      if (this.#redirect(controller, statusCode, headers)) return
    } else if (statusCode === 407) {
      this.#refuse(new Error('proxy authentication required'))
      return
    } else if (statusCode === 421 && this.#sendAgain()) {
      return
    }
    this.#respond(headers, statusText)
  }

  #respond(headers: HeaderObject, statusText: string): void {
    const record = this.#record
    const { status } = this.#transfer
    const trail = this.#trail
    this.#state = 'responding'
    const type = trail?.isForeign === true ? 'cors' : 'basic'
    if (type === 'cors' && record.mode === 'no-cors') {
      this.#caller?.answer(opaqueResponse(), this)
      this.#dump(headers)
      return
    }
    const list = new HeaderList(headers)
    let body: Body | null = null
    if (record.method !== 'HEAD' && !NULL_BODY_STATUSES.has(status)) {
      const decoding = openDecoding(list.get('content-encoding'), this, this.#controller!)
      if (decoding !== null && 'problem' in decoding) {
        this.#refuse(new Error(decoding.problem))
        return
      }
      this.#decoding = decoding
      if (decoding !== null) this.#transfer.maxBytes = limitOf(this.#controller!)
      body = new Body(null, this, decoding === null ? (announcedLength(headers, false) ?? 0) : 0)
      this.#sinkLink.hold(body)
      this.#isFresh = true
    }
    const answer: ResponseRecord = {
      type,
      status,
      statusText,
      headers: list,
      body,
      guard: 'immutable',
      url: record.url.withoutFragment,
      redirected: trail !== null && trail.count > 0,
    }
    if (record.integrity === '') {
      this.#caller?.answer(makeResponse(answer), this)
      return
    }
    // Resolves the promise only after the body has matched its integrity metadata.
    verifiedBody(body, record.integrity).then(
      (verified) => this.#caller?.answer(makeResponse({ ...answer, body: verified }), this),
      (error) => this.#refuse(error),
    )
  }

  /** True if the caller does not get this response. */
  #redirect(controller: DispatchController, status: number, headers: HeaderObject): boolean {
    let next: NextHop | null
    try {
      next = nextHop(this.#record, this.#trail, status, new HeaderList(headers))
    } catch (error) {
      this.#refuse(error)
      return true
    }
    if (next === null) return false
    next.trail.time(controller.timings)
    // This run keeps sending the rest of its request body.
    new FetchRun(next.record, this.#takeCaller()!, next.trail).start()
    this.#dump(headers)
    return true
  }

  /**
   * Retries on another connection (RFC 9110 §15.5.20): the abort closes this one; over HTTP/2 the 421 retired
   * it.
   */
  #sendAgain(): boolean {
    const { body } = this.#record
    const origin = body?.origin ?? null
    if (this.#trail?.isSecondTry === true || (body !== null && origin === null)) return false
    const record = { ...this.#record, body: origin === null ? null : new Body(origin) }
    const trail = this.#trail ?? new Trail(record.url)
    trail.isSecondTry = true
    const caller = this.#takeCaller()!
    this.#stop(undefined)
    new FetchRun(record, caller, trail).start()
    return true
  }

  /**
   * Drains the body so that the connection can be reused. An abort still ends a request body that is being
   * sent.
   */
  #dump(headers: HeaderObject): void {
    if (isAborted(this.#state) || this.#state === 'failed') return
    this.#state = 'dumping'
    this.#controller?.resume()
    this.#discard(headers)
  }

  /** Nobody wants the body: it is read only as long as that is cheaper than a new connection. */
  #discard(headers: HeaderObject | null): void {
    if (this.#discarded !== null) return
    this.#discarded = new DiscardedBody(() => this.#stop(undefined))
    this.#discarded.begin(headers, this.#record.method !== 'HEAD')
  }

  /** The unwanted body has ended. */
  #endDump(): void {
    this.#state = 'ended'
    this.#unfollow()
  }

  onResponseData(_controller: DispatchController, data: Buffer | string): void {
    // An interceptor may replace the content with text, or with bytes that are not in a Buffer.
    const chunk = toBytes(data)
    if (chunk === null) {
      this.onDecodeError(new TypeError('Received non-Uint8Array chunk'))
      return
    }
    this.#transfer.encodedBodySize += chunk.length
    if (this.#state === 'dumping') this.#discarded?.take(chunk.length)
    if (this.#state !== 'responding') return
    if (this.#decoding === null) this.onDecoded(chunk)
    else this.#decoding.write(chunk)
  }

  onResponseBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    if (this.#state !== 'responding' || this.#decoding !== null) {
      this.onResponseData(controller, ownBytes(memory, start, end))
    } else {
      this.#transfer.encodedBodySize += end - start
      if (this.#admits(end - start)) this.#sinkLink.sink?.receiveLent(memory, start, end)
    }
  }

  onDecoded(chunk: Buffer): void {
    if (this.#admits(chunk.byteLength)) this.#sinkLink.sink?.receive(chunk)
  }

  /** Whether the body may get this many more bytes. If not, ends the exchange. */
  #admits(bytes: number): boolean {
    if (!this.#transfer.admit(bytes)) {
      this.onDecodeError(new ResponseExceededMaxSizeError())
      return false
    }
    if (this.#sinkLink.sink !== null) return true
    // Dropped by the caller, or sent with a status that has no body.
    if (this.#sinkLink.isWeak) this.#stop(undefined)
    this.#discard(null)
    this.#discarded?.take(bytes)
    return false
  }

  /**
   * A fetch never requests an upgrade, but a dispatcher of another library or an interceptor may.
   */
  onRequestUpgrade(
    controller: DispatchController,
    _statusCode: number,
    _headers: HeaderObject,
    socket: Duplex,
  ): void {
    socket.destroy()
    this.onResponseError(controller, new Error('unexpected upgrade'))
  }

  onResponseEnd(controller: DispatchController, _trailers: HeaderObject): void {
    this.#transfer.timings = controller?.timings ?? null
    this.#controller = null
    this.#discarded?.stop()
    if (this.#state === 'dumping') this.#endDump()
    if (this.#state === 'waiting') this.onResponseError(controller, new Error('the response has no head'))
    if (this.#state !== 'responding') return
    if (this.#decoding === null) this.onDecodedEnd()
    else this.#decoding.end()
  }

  onDecodedEnd(): void {
    if (this.#state !== 'responding') return
    this.#state = 'ended'
    const { sink } = this.#sinkLink
    this.#transfer.report(this.#record.url, this.#trail)
    if (sink === null) {
      this.spent()
      return
    }
    sink.complete()
    if (this.#abortLink !== null && !this.#isFresh) loosenLater(this)
  }

  /** The bytes are not valid in their coding, or decode to more than the limit. */
  onDecodeError(error: Error): void {
    const controller = this.#controller
    this.onResponseError(controller, error)
    controller?.abort(error)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    this.#discarded?.stop()
    if (this.#state === 'dumping') this.#endDump()
    if (this.#state !== 'waiting' && this.#state !== 'responding') return
    const { sink } = this.#sinkLink
    this.#end('failed', error)
    if (this.#caller?.isWaiting) this.#caller.reject(new TypeError('fetch failed', { cause: error }))
    // With integrity metadata, the promise is still pending although there is a body.
    const terminated = new TypeError('terminated', { cause: error })
    addCallSite(terminated, this.#caller?.callSite)
    sink?.fail(terminated)
  }

  /** Called for a dispatcher that returned a promise, if it rejects. */
  refuse(error: unknown): void {
    if (this.#state === 'waiting' || this.#state === 'responding') this.#refuse(error)
  }

  /** Fails the fetch because the fetch algorithm does not allow it to continue. */
  #refuse(error: unknown): void {
    const caller = this.#takeCaller()
    const { sink } = this.#sinkLink
    this.#stop(error)
    caller?.reject(new TypeError('fetch failed', { cause: error }))
    sink?.fail(new TypeError('terminated', { cause: error }))
  }

  onDelivered(): void {
    if (this.#isFresh) watchFresh(this)
    if (this.#state === 'ended' && this.#sinkLink.sink === null) this.#endLink()
  }

  /** Nothing is left that an abort could stop. Until the promise is settled, an abort still rejects it. */
  #unfollow(): void {
    if (this.#caller === null || this.#caller.isSettled) this.#endLink()
  }

  #endLink(): void {
    this.#abortLink?.end()
    this.#abortLink = null
  }

  #takeCaller(): Caller | null {
    const caller = this.#caller
    this.#caller = null
    return caller
  }

  // Called by the body.

  get isAbortable(): boolean {
    return this.#abortLink !== null
  }

  resume(): void {
    this.#sinkLink.tighten()
    this.#decoding?.resume()
    this.#controller?.resume()
  }

  pause(): void {
    if (this.#decoding === null) this.#controller?.pause()
    else this.#decoding.pause()
    this.#sinkLink.loosen(this)
  }

  cancel(reason: unknown): void {
    this.#sinkLink.hold(null)
    this.#stop(orAbortError(reason))
  }

  spent(): void {
    this.#sinkLink.hold(null)
    this.#unfollow()
  }

  deliverTo(sink: BodySink): void {
    const { isWeak } = this.#sinkLink
    this.#sinkLink.hold(sink)
    if (isWeak) this.#sinkLink.loosen(this)
  }

  isUnread(): boolean {
    this.#isFresh = false
    const { sink, isWeak } = this.#sinkLink
    return sink !== null && !isWeak && !sink.awaited
  }

  /** Called after the turn in which the head or the end of the response arrived. */
  loosen(): void {
    if (this.#state === 'responding') this.#sinkLink.loosen(this)
    else if (this.#state === 'ended') this.#abortLink?.loosen(this)
  }
}

answerOlderCalls(FetchRun)
