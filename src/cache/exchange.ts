/**
 * One request to the origin on behalf of a caller of the cache: passes the response on and stores it, or confirms a stored
 * one, or falls back to it when the origin fails. Requests for the same URL may follow it (`followers.ts`).
 *
 * Long because each call of the dispatcher means something else in each mode, and the modes share all of its state.
 */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { BodyReader } from '../relay/body-log.ts'
import { Caller, type ResponseSource, SILENT } from '../relay/caller.ts'
import { DiscardedBody } from '../relay/discarded-body.ts'
import { isUpstreamFault } from '../relay/error-facts.ts'
import { announcedLength, fieldLines } from '../relay/fields.ts'
import type { RequestView } from '../relay/request-view.ts'
import {
  type Followed,
  factsBelow,
  NONE_FOLLOWED,
  responseFacts,
  stateFacts,
} from '../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { rawList } from '../request/received-fields.ts'
import type { CacheHost } from './cache-host.ts'
import { confirmed, factsOf, type Rewriting, RewritingReader } from './confirming.ts'
import { Followers } from './followers.ts'
import type { Flight, Plan } from './plan.ts'
import { type Handling, ttlOf } from './rules/cache-status.ts'
import { entryOf } from './rules/entry.ts'
import type { ResponseFacts } from './rules/freshness.ts'
import { entryAfterRedirects } from './rules/redirected.ts'
import { isServerFailure, servesOnError } from './rules/serving-rules.ts'
import { dropsStored, type Refusal, replaces, storingRefusal } from './rules/storability.ts'
import { conditionalHeaders, conditionsOf, confirms, describesSame } from './rules/validation.ts'
import { blocksOf, discardBody } from './store/body-readers.ts'
import type { CacheGetResult, CacheValue } from './store/cache-store.ts'
import { Storing } from './store/storing.ts'

/**
 * - `waiting`: no final head yet.
 * - `passing`: the response goes to the caller.
 * - `sharing`: it goes into memory, and all callers read it there.
 * - `confirmed`, `refuted`: a 304 came, and is about the stored response or not.
 * - `discarding`: the stored response has answered the caller; what still comes is of no use.
 */
type Mode =
  | 'waiting'
  | 'passing'
  | 'sharing'
  | 'refuted'
  | 'discarding'
  | { readonly confirmed: ResponseFacts }

export class Exchange implements DispatchHandler, ResponseSource, Flight, Rewriting {
  readonly plan: Plan
  readonly #host: CacheHost
  #caller: Caller
  /** Null if no request may follow this one. */
  readonly #followers: Followers | null
  upstream: DispatchController | null = null
  /** Absent if the handler has none: bytes are made of a string only for a handler that wants them. */
  onBodySent?: (chunk: string | Uint8Array) => void
  #abortQueued: ((reason?: unknown) => void) | null = null
  #mode: Mode = 'waiting'
  #context: unknown = null
  #isConditional = false
  /** Before the first request. */
  readonly #askedAt: number
  /** Of the last request, if redirects were followed. */
  #requestTime: number
  #storing: Storing | null = null
  #discarded: DiscardedBody | null = null
  /** The URL was invalidated after this was asked: the response may be older than the change. */
  #invalidated = false

  constructor(host: CacheHost, caller: Caller, plan: Plan) {
    this.#host = host
    this.#caller = caller
    this.plan = plan
    this.#askedAt = Date.now()
    this.#requestTime = this.#askedAt
    this.#followers = plan.shared ? new Followers(host, this) : null
    caller.source = this
    if (caller.handler.onBodySent !== undefined)
      this.onBodySent = (chunk) => this.#caller.call('onBodySent', chunk)
  }

  send(): boolean {
    const { view, entry } = this.plan
    const conditions = entry === null ? null : conditionsOf(entry, view.headers)
    this.#isConditional = conditions !== null
    const opts =
      conditions === null
        ? view.opts
        : { ...view.opts, headers: conditionalHeaders(view.headers, conditions) as Record<string, string> }
    this.#host.inFlight.add(this)
    try {
      return this.#host.dispatch(opts, this)
    } catch (error) {
      this.#leave()
      this.#followers?.release(false)
      this.#caller.fail(error as Error)
      return true
    }
  }

  get settled(): boolean {
    return this.#caller.settled
  }

  get isInvalidated(): boolean {
    return this.#invalidated
  }

  onRewritten(): void {
    this.#leave()
  }

  /** The URL was invalidated. */
  invalidate(): void {
    this.#invalidated = true
    this.#storing?.forbid()
  }

  /** The caller gives up. If others wait for the response, it goes on for them. */
  abort(reason: unknown): void {
    if (this.#mode === 'waiting' && this.#followers?.outlive()) {
      // Not one of them: what is stored answers each only if it fits, and what is not stored answers none.
      this.#caller = new Caller(SILENT)
      this.#caller.source = this
      if (this.upstream !== null) this.#caller.start(this.#context)
      return
    }
    this.#followers?.release(false)
    this.giveUp(reason)
  }

  /** The response is not wanted any more. */
  giveUp(reason: unknown): void {
    if (this.upstream !== null) this.upstream.abort(reason)
    else this.#abortQueued?.(reason)
  }

  pause(): void {
    if (this.#mode !== 'passing') return
    // Those who wait for the end of the body must not wait for a caller that does not read.
    this.#followers?.release(true)
    this.upstream?.pause()
  }

  resume(): void {
    if (this.#mode === 'passing') this.upstream?.resume()
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#abortQueued = abort
    if (this.#caller.settled) abort(this.#caller.reason ?? undefined)
    else this.#caller.announce()
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.upstream = controller
    this.#context = context
    this.#requestTime = Date.now()
    this.#host.maxResponseSize = controller.maxResponseSize
    if (this.#caller.settled) controller.abort(this.#caller.reason ?? undefined)
    else this.#caller.start(context)
  }

  onRequestSent(): void {
    this.#caller.call('onRequestSent')
  }

  onResponseStarted(): void {
    this.#caller.call('onResponseStarted')
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusMessage?: string,
  ): void {
    if (statusCode < 200) {
      this.#caller.head(statusCode, headers, statusMessage, controller)
      return
    }
    stateFacts(this.#caller, factsBelow(controller, this.#context))
    for (const name of responseFacts(this.#caller).written) this.#host.settings.hidden.add(name)
    const { entry, view } = this.plan
    const facts = factsOf(statusCode, headers, this.#requestTime, this.#host.settings)
    if (entry !== null && statusCode === 304 && this.#isConditional) {
      const isAnswer = this.#followed.length === 0 && !this.#invalidated
      this.#mode =
        isAnswer && confirms(entry, facts, this.#host.settings.type) ? { confirmed: facts } : 'refuted'
      // It has no content. An HTTP/2 server may leave the stream open, and the caller would wait for its end.
      this.#discarded = new DiscardedBody(() => controller.abort())
      this.#discarded.begin(null, false)
      return
    }
    if (isServerFailure(statusCode) && this.#mayFallBack(facts.responseTime)) {
      this.#discarded = new DiscardedBody(() => controller.abort())
      this.#fallBack(statusCode)
      this.#discarded.begin(headers, view.key.method !== 'HEAD')
      return
    }
    this.#host.onResponse(view, facts, this.#context)
    this.#pass(controller, facts, statusMessage)
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    if (this.#mode === 'passing') {
      this.#storing?.write(chunk)
      if (this.#storing?.active === false) this.#followers?.release(true)
      this.#caller.data(chunk)
    } else if (this.#mode === 'sharing') {
      this.#storing!.write(chunk)
    } else this.#discarded?.take(chunk.length)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    const mode = this.#mode
    const body = this.#storing?.finish(this.plan.view.key.method === 'HEAD') ?? null
    this.#discarded?.stop()
    this.#leave()
    if (mode === 'passing') {
      if (body === null) this.#followers?.release(false)
      else this.#followers?.serve({ ...this.#storing!.value, body }, responseFacts(this.#caller))
      this.#caller.end(trailers, rawList(controller.rawTrailers))
    } else if (mode === 'refuted') {
      this.#sendAgain()
    } else if (typeof mode === 'object') {
      this.#serveConfirmed(mode.confirmed)
    }
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#leave()
    this.#followers?.release(false)
    this.#caller.upgrade(statusCode, headers, socket, controller)
  }

  onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    const mode = this.#mode
    this.#discarded?.stop()
    this.#leave()
    this.#storing?.abandon(error)
    if (typeof mode === 'object' && !this.#caller.aborted) {
      this.#serveConfirmed(mode.confirmed)
      return
    }
    if (mode === 'refuted' && !this.#caller.aborted) {
      this.#sendAgain()
      return
    }
    if (mode === 'discarding' || mode === 'sharing') return
    if (mode === 'waiting') this.#host.onResponse(this.plan.view, null, this.#context)
    const isWanted = mode === 'waiting' && !this.#caller.aborted && !this.#host.isDestroyed()
    if (isWanted && isUpstreamFault(error) && this.#mayFallBack(Date.now())) {
      this.#fallBack(null)
      return
    }
    discardBody(this.plan.entry?.body)
    this.#followers?.release(false)
    this.#caller.fail(error)
  }

  /** Whether the request waits for this one's response. */
  join(caller: Caller, view: RequestView): boolean {
    if (this.#mode === 'refuted' || this.#mode === 'discarding' || typeof this.#mode === 'object')
      return false
    return this.#followers?.join(caller, view) ?? false
  }

  /** The 304 was about another response: what is stored is of no use. */
  #sendAgain(): void {
    const { access, flights } = this.#host
    access.delete(this.plan.entryKey)
    discardBody(this.plan.entry?.body)
    const next = new Exchange(this.#host, this.#caller, { ...this.plan, entry: null })
    if (this.#followers !== null) {
      next.#followers!.adopt(this.#followers)
      flights.start(next)
    }
    next.send()
  }

  /** The stored response is right, and answers the caller and those who wait. */
  #serveConfirmed(facts: ResponseFacts): void {
    const { access, presenter, settings } = this.#host
    const { view, entry, entryKey } = this.plan
    const { value, left } = confirmed(
      this.#invalidated ? null : access,
      entryKey,
      entry!,
      facts,
      view.headers,
      settings,
    )
    const body = blocksOf(entry!.body)
    // The cookies of a confirmation are new.
    if (fieldLines(facts.headers, 'set-cookie') === undefined) this.#caller.fromStore()
    if (body === null) this.#followers?.release(false)
    else this.#followers?.serve({ ...value, body }, responseFacts(this.#caller))
    const handling = this.#handling({ status: 304, ttl: ttlOf(value, Date.now()), stored: true })
    const answer: CacheGetResult = { ...value, body: entry!.body }
    let wrap: ((reader: BodyReader) => BodyReader) | null = null
    if (left === 'body') {
      wrap = (reader) => {
        this.#host.inFlight.add(this)
        return new RewritingReader(this, reader, access, entryKey, value)
      }
    }
    presenter.present(view, this.#caller, answer, false, handling, wrap).start()
  }

  get #followed(): Followed {
    return responseFacts(this.#caller).followed ?? NONE_FOLLOWED
  }

  #mayFallBack(now: number): boolean {
    const { view, entry } = this.plan
    if (entry === null) return false
    const { type, staleIfError } = this.#host.settings
    return servesOnError(entry, view.control, now, type, staleIfError)
  }

  #fallBack(statusCode: number | null): void {
    const { view, entry } = this.plan
    this.#mode = 'discarding'
    this.#leave()
    this.#caller.fromStore()
    const handling = this.#handling(statusCode === null ? {} : { status: statusCode })
    this.#host.presenter.present(view, this.#caller, entry!, true, handling).start()
    this.#followers?.release(false)
  }

  #pass(controller: DispatchController, facts: ResponseFacts, statusMessage = ''): void {
    const { view, entry, shared } = this.plan
    const { access } = this.#host
    const { method } = view.key
    const value = this.#entryFor(facts, statusMessage)
    const refusal = typeof value === 'string' ? value : null
    if (typeof value !== 'string') {
      this.#storing = new Storing(access, view.key, value, shared)
    } else if (dropsStored(refusal as Refusal) || (entry !== null && replaces(facts.statusCode))) {
      if (view.storable) access.delete(view.key)
    }
    if (method === 'HEAD' && entry !== null && this.#followed.length === 0 && !this.#invalidated)
      this.#compareHead(facts)
    discardBody(entry?.body)
    const stored = this.#storing?.active === true
    if (!stored) this.#followers?.release(refusal !== 'invalidated')
    const handling = this.#handling({
      stored,
      ...(stored ? { ttl: ttlOf(this.#storing!.value, facts.responseTime) } : null),
      ...(stored || !view.storable ? null : { detail: refusal ?? 'size' }),
    })
    const head = { statusCode: facts.statusCode, statusMessage, headers: facts.headers }
    if (stored && shared && announcedLength(this.#storing!.value) !== null && method !== 'HEAD') {
      this.#mode = 'sharing'
      this.#followers?.share(this.#caller, this.#storing!, head, handling)
      return
    }
    this.#mode = 'passing'
    const headers = this.#host.presenter.withStatus(facts.headers, handling)
    this.#caller.head(facts.statusCode, headers, statusMessage, headers === facts.headers ? controller : null)
    if (this.#caller.paused) this.pause()
  }

  /** What to store, or why nothing is stored. */
  #entryFor(
    facts: ResponseFacts,
    statusMessage: string,
  ): CacheValue | Refusal | 'redirect' | 'invalidated' | 'bypass' {
    const { view } = this.plan
    const { settings } = this.#host
    if (!view.storable) return 'bypass'
    if (this.#invalidated) return 'invalidated'
    const refusal = storingRefusal(facts, view.headers, view.control, settings)
    if (refusal !== null) return refusal
    const value = entryOf(facts, statusMessage, view.headers, settings, settings.staleIfError)
    const followed = this.#followed
    if (followed.length === 0) return value
    return entryAfterRedirects(value, followed, this.#askedAt, view, settings) ?? 'redirect'
  }

  /** A HEAD response shows whether the response to GET that is stored is still right (RFC 9111 §4.3.5). */
  #compareHead(facts: ResponseFacts): void {
    const { entry, entryKey } = this.plan
    if (facts.statusCode !== 200 || entry!.statusCode !== 200 || entryKey.method !== 'GET') return
    const isSame = describesSame(entry!, facts.headers)
    if (isSame === false) this.#host.access.delete(entryKey)
    else if (isSame === true) {
      confirmed(this.#host.access, entryKey, entry!, facts, this.plan.view.headers, this.#host.settings)
    }
  }

  #handling(more: Partial<Extract<Handling, { kind: 'forwarded' }>>): Handling {
    return { kind: 'forwarded', reason: this.plan.reason, ...more } as Handling
  }

  /** The response is complete, or none comes. */
  #leave(): void {
    this.#host.inFlight.delete(this)
    if (this.#mode === 'sharing') this.#host.flights.end(this, false, Date.now())
  }
}
