/**
 * One fetch over HTTP, from `dispatch` to the end of the response's body: waiting → responding → ended, failed
 * or aborted. A redirect that is followed is a run of its own, which the promise passes to; the one before it
 * reads its body away, so that the connection can be used again.
 */
import { type AbortSource, abortedReason, SignalHub } from '../base/signal.ts'
import { getGlobalDispatcher } from '../dispatcher/global.ts'
import { ResponseExceededMaxSizeError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { BodyInput, DispatchOptions } from '../request/dispatch-options.ts'
import { Body } from './body.ts'
import type { BodyFeed, BodySink } from './body-feed.ts'
import { type ContentDecoding, limitOf, openDecoding } from './content-decoding.ts'
import { FetchHandler } from './fetch-handler.ts'
import { HeaderList } from './header-list.ts'
import type { RequestRecord } from './init.ts'
import { nextHop, REDIRECT_STATUSES, Trail } from './redirect.ts'
import { reportTiming } from './resource-timing.ts'
import {
  makeResponse,
  NULL_BODY_STATUSES,
  type Response,
  type ResponseRecord,
  type ResponseType,
} from './response.ts'
import { type SentBody, sendBody } from './sent-body.ts'
import { verifiedBody } from './verified-body.ts'
import { wireHeaders } from './wire-headers.ts'

/** Bytes of a redirect's body that are read to save the connection; beyond, a new connection is cheaper. */
const DUMP_LIMIT = 131_072

/** One listener on each signal, however many fetches share it. */
const hub = new SignalHub()

/** Bodies that nobody holds any more: the exchange is given up. */
const abandoned = new FinalizationRegistry<FetchRun>((run) => run.cancel(undefined))

const RESOLVED = Promise.resolve()

/** Runs whose head has just come. */
let fresh: FetchRun[] = []
/** Those of them whose body nobody has read as soon as he could. */
let unread: FetchRun[] = []

/**
 * Most bodies have come by now, or somebody waits for them: only for the others the event loop is asked for a turn,
 * which costs more than all the rest of a small response.
 */
function lookAtFresh(): void {
  const runs = fresh
  fresh = []
  for (const run of runs) {
    if (run.look() && unread.push(run) === 1) setImmediate(loosenUnread)
  }
}

/** Bodies that are held by the caller alone from now on, and given up when he drops them. */
function loosenUnread(): void {
  const runs = unread
  unread = []
  for (const run of runs) run.loosen()
}

/** What settles the promise of `fetch`. */
export interface Ends {
  readonly resolve: (response: Response) => void
  readonly reject: (reason: unknown) => void
}

/** `dumping`: a redirect was followed, and the body of this response is read away. */
type State = 'waiting' | 'responding' | 'dumping' | 'ended' | 'failed' | 'aborted'

export class FetchRun extends FetchHandler implements BodyFeed {
  readonly #record: RequestRecord
  readonly #trail: Trail | null
  /** Until the promise is settled: its functions hold the response. */
  #ends: Ends | null
  #state: State = 'waiting'
  #reason: unknown = null
  #controller: DispatchController | null = null
  #abortQueued: ((reason?: unknown) => void) | null = null
  #endSubscription: (() => void) | null = null
  #sent: SentBody | null = null
  #sink: BodySink | null = null
  /** Instead of `#sink` while nobody waits for what comes. */
  #weakSink: WeakRef<BodySink> | null = null
  #decoding: ContentDecoding | null = null
  /** Nobody could have read the body yet. */
  #isFresh = false
  #timings: Timings | null = null
  #status = 0
  /** Of the response, as they came. */
  #bytes = 0
  #decodedBytes = 0
  /** Of what the body unpacks to; the dispatcher counts only what comes. */
  #maxBytes = Number.POSITIVE_INFINITY

  constructor(record: RequestRecord, ends: Ends, trail: Trail | null) {
    super()
    this.#record = record
    this.#ends = ends
    this.#trail = trail
  }

  start(): void {
    const { signal } = this.#record
    if (signal !== null && !this.#follow(signal)) return
    const { url } = this.#record
    if (url.hasBadPort) {
      this.#refuse(new Error('bad port'))
      return
    }
    if (this.#record.cache === 'only-if-cached') {
      this.#refuse(new Error('no cached response'))
      return
    }
    const dispatcher = this.#record.dispatcher ?? getGlobalDispatcher()
    try {
      if (typeof dispatcher.dispatch !== 'function') {
        throw new TypeError('agent.dispatch is not a function')
      }
      dispatcher.dispatch(this.#options(), this as DispatchHandler)
    } catch (error) {
      this.onResponseError(null, error as Error)
    }
  }

  #options(): DispatchOptions {
    const record = this.#record
    const { method, body, headersTimeout, bodyTimeout, url } = record
    const headers = wireHeaders(record, this.#trail)
    let content: BodyInput | null = null
    if (body !== null) {
      this.#sent = sendBody(body, headers)
      content = this.#sent.content
    }
    const options: { -readonly [K in keyof DispatchOptions]: DispatchOptions[K] } = {
      origin: url.origin,
      path: url.path,
      method,
      headers,
      body: content,
    }
    if (headersTimeout !== null) options.headersTimeout = headersTimeout
    if (bodyTimeout !== null) options.bodyTimeout = bodyTimeout
    return options
  }

  /** False when the signal has ended the fetch before it began. */
  #follow(signal: AbortSource): boolean {
    const aborted = abortedReason(signal)
    if (aborted !== null) {
      this.#onAbort(aborted.reason)
      return false
    }
    this.#endSubscription = hub.subscribe(signal, (reason) => this.#onAbort(reason))
    return true
  }

  #onAbort(reason: unknown): void {
    const body = this.#sink ?? this.#weakSink?.deref()
    this.#stop(reason)
    this.#reject(reason)
    body?.fail(reason)
  }

  /** Gives up what is under way, and tells nobody on this side. */
  #stop(reason: unknown): void {
    const state = this.#state
    this.#endSubscription?.()
    this.#endSubscription = null
    if (state === 'failed' || state === 'aborted') return
    this.#state = 'aborted'
    this.#reason = reason
    this.#decoding?.destroy()
    if (this.#sent === null) this.#record.body?.cancel(reason)
    else this.#sent.cancel(reason)
    if (state === 'ended') return
    if (this.#controller !== null) this.#controller.abort(reason)
    else this.#abortQueued?.(reason)
  }

  /** Missing where nobody can give the request up while it waits: the way to do so is a function for each. */
  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    return this.#endSubscription === null ? undefined : this.#onQueued
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    if (this.#state === 'aborted') {
      abort(this.#reason)
      return
    }
    this.#controller = null
    this.#abortQueued = abort
  }

  onRequestStart(controller: DispatchController): void {
    if (this.#state === 'aborted') controller.abort(this.#reason)
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
    this.#status = statusCode
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
    const status = this.#status
    const trail = this.#trail
    this.#state = 'responding'
    const type: ResponseType = trail?.isForeign === true ? 'cors' : 'basic'
    if (type === 'cors' && record.mode === 'no-cors') {
      this.#respondOpaquely()
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
      if (decoding !== null) this.#maxBytes = limitOf(this.#controller!)
      body = new Body(null, this, decoding === null ? lengthOf(headers) : 0)
      this.#sink = body
      this.#isFresh = true
      // `queueMicrotask` makes an AsyncResource for each.
      if (fresh.push(this) === 1) void RESOLVED.then(lookAtFresh)
    }
    const answer: ResponseRecord = {
      type,
      status,
      statusText,
      headers: list,
      guard: 'immutable',
      url: record.url.withoutFragment,
      redirected: trail !== null && trail.count > 0,
    }
    if (record.integrity === '') this.#resolve(makeResponse(answer, body))
    else this.#verify(answer, body)
  }

  /** Nothing of it may be known: status 0, no fields, no body. */
  #respondOpaquely(): void {
    const opaque = { type: 'opaque', status: 0, statusText: '', url: '', redirected: false } as const
    this.#resolve(makeResponse({ ...opaque, headers: new HeaderList(), guard: 'immutable' }, null))
    this.#dump()
  }

  /** The response is told only when its body is known to be the one that was meant. */
  #verify(answer: ResponseRecord, body: Body | null): void {
    verifiedBody(body, this.#record.integrity).then(
      (verified) => this.#resolve(makeResponse(answer, verified)),
      (error) => this.#refuse(error),
    )
  }

  /** True when this response is not the one to tell of. */
  #redirect(controller: DispatchController, status: number, headers: HeaderObject): boolean {
    const { redirect } = this.#record
    if (redirect === 'manual') return false
    if (redirect === 'error') {
      this.#refuse(new Error('unexpected redirect'))
      return true
    }
    const origin = this.#sent?.origin ?? null
    const next = nextHop(this.#record, this.#trail, origin, status, new HeaderList(headers))
    if (next === null) return false
    if ('problem' in next) {
      this.#refuse(next.problem)
      return true
    }
    next.trail.time(controller.timings)
    // What is left of this request's body goes its way with this run.
    new FetchRun(next.record, this.#letGo(), next.trail).start()
    this.#dump()
    return true
  }

  /** On another connection: RFC 9110 §15.5.20. An HTTP/1.1 connection does not survive the abort. */
  #sendAgain(): boolean {
    const { body } = this.#record
    const origin = this.#sent?.origin ?? null
    if (this.#trail?.isSecondTry === true || (body !== null && origin === null)) return false
    const record = { ...this.#record, body: origin === null ? null : new Body(origin) }
    const trail = Trail.after(this.#trail, record)
    trail.isSecondTry = true
    const ends = this.#letGo()
    this.#stop(undefined)
    new FetchRun(record, ends, trail).start()
    return true
  }

  /** The promise is another one's business from now on. */
  #letGo(): Ends {
    const ends = this.#ends!
    this.#ends = null
    return ends
  }

  /** Reads the body away, so that the connection can be used again. */
  #dump(): void {
    if (this.#state === 'aborted' || this.#state === 'failed') return
    this.#state = 'dumping'
    this.#endSubscription?.()
    this.#endSubscription = null
    this.#controller?.resume()
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#state === 'dumping') {
      if (this.#bytes > DUMP_LIMIT) this.#stop(undefined)
      return
    }
    if (this.#state !== 'responding') return
    if (this.#decoding === null) this.onDecoded(chunk)
    else this.#decoding.write(chunk)
  }

  onDecoded(chunk: Buffer): void {
    const sink = this.#sink ?? this.#weakSink?.deref()
    this.#decodedBytes += chunk.byteLength
    if (this.#decodedBytes > this.#maxBytes) {
      this.onDecodeError(new ResponseExceededMaxSizeError())
      return
    }
    if (sink !== undefined) sink.receive(chunk)
    else if (this.#weakSink !== null) this.#stop(undefined)
  }

  onResponseEnd(controller: DispatchController, _trailers: HeaderObject): void {
    this.#timings = controller?.timings ?? null
    this.#controller = null
    if (this.#state === 'dumping') this.#state = 'ended'
    if (this.#state !== 'responding') return
    if (this.#decoding === null) this.onDecodedEnd()
    else this.#decoding.end()
  }

  onDecodedEnd(): void {
    if (this.#state !== 'responding') return
    this.#state = 'ended'
    const sink = this.#sink ?? this.#weakSink?.deref() ?? null
    reportTiming(this.#record, this.#trail, this.#timings, this.#status, this.#bytes, this.#decodedBytes)
    if (sink === null) {
      this.spent()
      return
    }
    sink.complete()
    if (this.#endSubscription === null || this.#isFresh) return
    if (unread.push(this) === 1) setImmediate(loosenUnread)
  }

  /** The bytes are not what their coding says. */
  onDecodeError(error: Error): void {
    const controller = this.#controller
    this.onResponseError(controller, error)
    controller?.abort(error)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    if (this.#state !== 'waiting' && this.#state !== 'responding') return
    const sink = this.#sink ?? this.#weakSink?.deref()
    this.#state = 'failed'
    this.#endSubscription?.()
    this.#endSubscription = null
    this.#decoding?.destroy()
    if (this.#sent === null) this.#record.body?.cancel(error)
    else this.#sent.cancel(error)
    if (this.#ends !== null) this.#reject(new TypeError('fetch failed', { cause: error }))
    // Whoever verifies the body has the promise.
    sink?.fail(new TypeError('terminated', { cause: error }))
  }

  /** Fails on this side, for what the algorithm does not allow. */
  #refuse(error: Error): void {
    const ends = this.#ends
    this.#ends = null
    this.#stop(error)
    this.#state = 'failed'
    ends?.reject(new TypeError('fetch failed', { cause: error }))
  }

  #resolve(response: Response): void {
    const ends = this.#ends
    this.#ends = null
    ends?.resolve(response)
  }

  #reject(reason: unknown): void {
    const ends = this.#ends
    this.#ends = null
    ends?.reject(reason)
  }

  // What the body calls.

  resume(): void {
    this.#tighten()
    this.#decoding?.resume()
    this.#controller?.resume()
  }

  pause(): void {
    if (this.#decoding === null) this.#controller?.pause()
    else this.#decoding.pause()
    this.#loosenSink()
  }

  cancel(reason: unknown): void {
    this.#sink = null
    this.#weakSink = null
    this.#stop(reason)
  }

  spent(): void {
    const sink = this.#weakSink?.deref()
    if (sink !== undefined) abandoned.unregister(sink)
    this.#sink = null
    this.#weakSink = null
    this.#endSubscription?.()
    this.#endSubscription = null
  }

  deliverTo(sink: BodySink): void {
    const isWeak = this.#weakSink !== null
    this.#tighten()
    this.#sink = sink
    if (isWeak) this.#loosenSink()
  }

  /** Whoever got the response could have begun to read it: whether he has not. */
  look(): boolean {
    this.#isFresh = false
    return this.#sink !== null && !this.#sink.awaited
  }

  /** The turn in which its head or its end came is over. */
  loosen(): void {
    if (this.#state === 'responding') this.#loosenSink()
    else if (this.#state === 'ended') this.#loosenSubscription()
  }

  /** Nobody waits: whoever holds the body decides how long it lives. */
  #loosenSink(): void {
    const sink = this.#sink
    if (sink === null || sink.awaited) return
    this.#sink = null
    this.#weakSink = new WeakRef(sink)
    abandoned.register(sink, this, sink)
  }

  #tighten(): void {
    if (this.#weakSink === null) return
    const sink = this.#weakSink.deref() ?? null
    this.#weakSink = null
    this.#sink = sink
    if (sink !== null) abandoned.unregister(sink)
  }

  /** All has arrived. The signal still works, but does not keep an unread body alive. */
  #loosenSubscription(): void {
    const { signal } = this.#record
    const end = this.#endSubscription
    if (end === null || signal === null) return
    this.#endSubscription = hub.subscribeWeakly(signal, this as FetchRun, (run, reason) =>
      run.#onAbort(reason),
    )
    end()
  }
}

/** What the head announces; 0 for nothing. */
function lengthOf(headers: HeaderObject): number {
  const value = headers['content-length']
  const length = typeof value === 'string' ? Number(value) : 0
  return Number.isSafeInteger(length) ? length : 0
}
