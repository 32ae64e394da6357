/**
 * One request to the origin on behalf of a caller of the cache: passes the response on and stores it, or
 * confirms a stored one, or falls back to it when the origin fails. Requests for the same URL may follow it
 * (`followers.ts`).
 */
import type { Duplex } from 'node:stream'
import { RequestAbortedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { Attempt } from '../relay/attempt.ts'
import type { BodyReader } from '../relay/body-log.ts'
import { DiscardedBody } from '../relay/discarded-body.ts'
import type { Downstream } from '../relay/downstream.ts'
import { isUpstreamFault } from '../relay/error-facts.ts'
import { announcedLength, hasField } from '../relay/fields.ts'
import { OwnReceived } from '../relay/own-received.ts'
import { RelayedRequest } from '../relay/relayed-request.ts'
import type { RequestView } from '../relay/request-view.ts'
import { watcherOf } from '../relay/request-watcher.ts'
import {
  type Followed,
  followedRedirects,
  NO_FACTS,
  NONE_FOLLOWED,
  type ResponseFacts as RelayedFacts,
  withFollowed,
} from '../relay/response-facts.ts'
import type { Head } from '../relay/response-source.ts'
import type { CacheHost, Plan } from './cache-host.ts'
import { confirmed, rewriting } from './confirming.ts'
import type { UnderWay } from './exchanges.ts'
import { Followers } from './followers.ts'
import { type Handling, ttlOf } from './rules/cache-status.ts'
import { entryOf } from './rules/entry.ts'
import type { ResponseFacts } from './rules/freshness.ts'
import { entryAfterRedirects } from './rules/redirected.ts'
import { SERVER_FAILURES, servesOnError } from './rules/serving-rules.ts'
import { DROPPING, type Refusal, replaces, storingRefusal } from './rules/storability.ts'
import { controlOf } from './rules/targeted-control.ts'
import { conditionalHeaders, conditionsOf, confirms, describesSame } from './rules/validation.ts'
import type { CacheValue } from './store/cache-store.ts'
import { discardBody } from './store/found.ts'
import { StoredStream } from './store/stored-stream.ts'
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

export class Exchange extends RelayedRequest implements UnderWay {
  readonly view: RequestView
  readonly #plan: Plan
  readonly #host: CacheHost
  /** Null if no request may follow this one. */
  readonly #followers: Followers | null
  #mode: Mode = 'waiting'
  #context: unknown = null
  /** What the layers below say about the response. */
  #facts: RelayedFacts = NO_FACTS
  /** Otherwise a 304 answers a condition of the caller. */
  #isConditional = false
  /** When the first request was made. */
  readonly #askedAt: number = Date.now()
  /** Of the last request, if redirects were followed. */
  #requestTime: number = this.#askedAt
  #storing: Storing | null = null
  #discarded: DiscardedBody | null = null
  /** The URL was invalidated after this was asked: the response may be older than the change. */
  #invalidated = false

  /** @param adopted Those who wait for the response, of a request that is sent again. */
  constructor(host: CacheHost, downstream: Downstream, plan: Plan, adopted: Followers | null = null) {
    const call = { opts: plan.view.opts, handler: downstream.handler, dispatch: host.below.dispatch }
    super(call, undefined, downstream)
    this.view = plan.view
    this.#host = host
    this.#plan = plan
    this.#followers =
      plan.sharedId === null ? null : new Followers(host, plan, (reason) => this.attempt.abort(reason))
    if (adopted !== null) this.#followers?.adopt(adopted)
  }

  override send(): boolean {
    const { entry, view } = this.#plan
    const conditions = entry === null ? null : conditionsOf(entry, view.headers)
    this.#isConditional = conditions !== null
    if (conditions !== null) {
      const headers = conditionalHeaders(view.headers, conditions) as Record<string, string>
      this.opts = { ...this.opts, headers }
    }
    this.#host.exchanges.add(this)
    try {
      // Those who follow may have to give it up in its queue.
      return this.begin(this.downstream, true).send(this.call.dispatch!, this.opts)
    } catch (error) {
      this.#leave()
      this.#followers?.release(false)
      this.downstream.fail(error as Error)
      return true
    }
  }

  join(downstream: Downstream, view: RequestView, id: string): boolean {
    return this.#followers?.join(downstream, view, id) ?? false
  }

  invalidate(): void {
    this.#invalidated = true
    this.#storing?.forbid()
    this.#followers?.close()
  }

  /** The caller gives up. If others wait for the response, it goes on for them. */
  override abort(reason: unknown): void {
    if (this.#mode === 'waiting' && this.#followers?.outlive()) return
    this.#followers?.release(false)
    super.abort(reason)
  }

  override pause(): void {
    if (this.#mode !== 'passing') return
    // Those who wait for the end of the body must not wait for a caller that does not read.
    this.#followers?.release(true)
    super.pause()
  }

  override onStarted({ controller }: Attempt, context: unknown): void {
    this.#context = context
    this.#requestTime = Date.now()
    this.#host.presenter.maxResponseSize = controller!.maxResponseSize
    if (!this.downstream.started) this.downstream.start(context, controller)
  }

  override onHead(attempt: Attempt, head: Head): void {
    const { statusCode, headers } = head
    const { settings } = this.#host
    if (statusCode < 200) {
      super.onHead(attempt, head)
      return
    }
    // What follows would be stored as one response with what came before.
    if (this.#mode !== 'waiting') throw new RequestAbortedError('Request aborted: the response has two heads')
    const controller = attempt.controller!
    this.#facts = withFollowed(attempt.facts, followedRedirects(controller, this.#context))
    const { entry, view } = this.#plan
    this.#host.hidden.add(view.key.origin, this.#facts.written)
    const control = controlOf(headers, settings.targets)
    const facts = { ...head, ...control, requestTime: this.#requestTime, responseTime: Date.now() }
    if (entry !== null && statusCode === 304 && this.#isConditional) {
      const isAnswer = this.#isPlainAnswer && confirms(entry, facts, settings.type)
      this.#mode = isAnswer ? { confirmed: facts } : 'refuted'
      this.#followers?.close()
      // It has no content. An HTTP/2 server may leave the stream open, and the caller would wait for its end.
      this.#discard(null)
    } else if (SERVER_FAILURES.has(statusCode) && this.#mayFallBack) {
      this.#fallBack(statusCode)
      this.#discard(view.key.method === 'HEAD' ? null : headers)
    } else {
      this.#host.onResponse(view, facts, this.#context)
      this.#pass(attempt, facts, head)
    }
  }

  /** Nobody gets the body of the response with these headers; null if it has none. */
  #discard(headers: HeaderObject | null): void {
    this.#discarded = new DiscardedBody(() => this.attempt.abort())
    this.#discarded.begin(headers, headers !== null)
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    this.#discarded?.take(chunk.length)
    this.#storing?.write(chunk)
    if (this.#mode !== 'passing') return
    this.#endSilent(null)
    if (this.#storing?.active === false) this.#followers?.release(true)
    super.onData(attempt, chunk)
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    const mode = this.#mode
    const body = this.#storing?.finish(this.view.key.method === 'HEAD') ?? null
    this.#leave()
    if (mode === 'passing') {
      if (body === null) this.#followers?.release(false)
      else this.#followers?.serve({ ...this.#storing!.value, body }, this.#facts)
      super.onEnd(attempt, trailers)
    } else this.#onDiscarded()
  }

  override onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void {
    this.#leave()
    this.#followers?.release(false)
    super.onUpgrade(attempt, head, socket)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    const mode = this.#mode
    this.#leave()
    this.#storing?.abandon(error)
    const isWanted = this.downstream.isWanted || this.#followers?.isFirstGone === true
    if (mode === 'discarding' || mode === 'sharing') return
    if (mode !== 'waiting' && mode !== 'passing' && isWanted) {
      this.#onDiscarded()
      return
    }
    if (mode === 'waiting') {
      this.#host.onResponse(this.view, null, this.#context)
      // Requests fail with the argument of `destroy()`, which may look like any failure.
      const isDestroyed = this.#host.below.life() === 'destroyed'
      const mayServe = isWanted && !isDestroyed && isUpstreamFault(error)
      if (mayServe && this.#mayFallBack) {
        this.#fallBack(null)
        return
      }
    }
    discardBody(this.#plan.entry?.body)
    this.#followers?.release(false)
    super.onFailed(attempt, error)
  }

  /** The response that nobody gets has ended, or was given up. */
  #onDiscarded(): void {
    const plan = this.#plan
    if (typeof this.#mode === 'object') this.#serveConfirmed(this.#mode.confirmed)
    else if (this.#mode === 'refuted') {
      // The 304 was about another response: what is stored is of no use.
      this.#host.access.delete(plan.entryKey)
      discardBody(plan.entry?.body)
      new Exchange(this.#host, this.downstream, { ...plan, entry: null }, this.#followers).send()
    }
  }

  /** The stored response is right, and answers the caller and those who wait. */
  #serveConfirmed(facts: ResponseFacts): void {
    const { access, exchanges, presenter } = this.#host
    const { view, entry, entryKey } = this.#plan
    watcherOf(this.opts)?.onCacheResult('revalidated')
    const { value, lacksBody } = confirmed(this.#host, this.#plan, facts, !this.#invalidated)
    const { body } = entry!
    // The cookies of a confirmation are new.
    if (!hasField(facts.headers, 'set-cookie')) this.#facts = { ...this.#facts, isStored: true }
    if (body instanceof StoredStream) this.#followers?.release(false)
    else this.#followers?.serve({ ...value, body }, this.#facts)
    const handling = this.#handling({ status: 304, ttl: ttlOf(value, Date.now()), stored: true })
    const wrap = (reader: BodyReader): BodyReader => {
      this.#storing = new Storing(access, entryKey, value, true)
      exchanges.add(this)
      return rewriting(reader, this.#storing, () => this.#leave())
    }
    const answering = { handling, facts: this.#facts, wrap: lacksBody ? wrap : null }
    presenter.present(view, this.downstream, { ...value, body }, answering).start()
  }

  get #followed(): Followed {
    return this.#facts.followed ?? NONE_FOLLOWED
  }

  /** Whether the response says something about what is stored for the URL. */
  get #isPlainAnswer(): boolean {
    return this.#followed.length === 0 && !this.#invalidated
  }

  get #mayFallBack(): boolean {
    const { view, entry } = this.#plan
    return entry !== null && servesOnError(entry, view, this.#host.settings)
  }

  #fallBack(status: number | null): void {
    const { view, entry } = this.#plan
    this.#mode = 'discarding'
    watcherOf(this.opts)?.onCacheResult('stale')
    this.#leave()
    const handling = this.#handling(status === null ? {} : { status })
    const facts = { ...this.#facts, isStored: true }
    this.#host.presenter.present(view, this.downstream, entry!, { handling, facts, isStale: true }).start()
    this.#followers?.release(false)
  }

  #pass({ controller }: Attempt, facts: ResponseFacts, head: Head): void {
    const { view, entry } = this.#plan
    const shared = this.#followers !== null
    const { access, presenter } = this.#host
    const { method } = view.key
    if (view.storable) watcherOf(this.opts)?.onCacheResult('miss')
    const value = this.#entryFor(facts)
    const refusal = typeof value === 'string' ? value : null
    if (typeof value !== 'string') {
      this.#storing = new Storing(access, view.key, value, shared)
    } else if (DROPPING.has(refusal as Refusal) || (entry !== null && replaces(facts.statusCode))) {
      if (view.storable) access.delete(view.key)
    }
    if (method === 'HEAD' && entry !== null && this.#isPlainAnswer) this.#compareHead(entry, facts)
    discardBody(entry?.body)
    const stored = this.#storing?.active === true
    if (!stored) this.#followers?.release(refusal !== 'invalidated')
    const handling = this.#handling({
      stored,
      ...(stored ? { ttl: ttlOf(this.#storing!.value, facts.responseTime) } : null),
      ...(stored || !view.storable ? null : { detail: refusal ?? 'size' }),
    })
    const headers = presenter.withStatus(head.headers, handling)
    const shown = { ...head, headers }
    if (stored && shared && announcedLength(value as CacheValue) !== null && method !== 'HEAD') {
      this.#mode = 'sharing'
      const arriving = { value: value as CacheValue, body: this.#storing!.read(), facts: this.#facts }
      this.#followers!.share(this.downstream, shown, arriving)
      return
    }
    this.#mode = 'passing'
    const received = headers === head.headers ? controller : new OwnReceived(headers, controller!, null)
    this.downstream.head(shown, received, this.#facts)
    if (this.downstream.paused) this.pause()
    this.#endSilent(method === 'HEAD' ? null : headers)
  }

  /** Without a caller, a response is of no use once it is not stored. */
  #endSilent(headers: HeaderObject | null): void {
    const isUseless = this.#plan.isSilent === true && this.#storing?.active !== true
    if (isUseless && this.#discarded === null) this.#discard(headers)
  }

  /** What to store, or why nothing is stored. */
  #entryFor(facts: ResponseFacts): CacheValue | Refusal | 'redirect' | 'invalidated' | 'bypass' {
    const { view } = this.#plan
    const { settings } = this.#host
    if (!view.storable) return 'bypass'
    if (this.#invalidated) return 'invalidated'
    const hidden = this.#host.hidden.of(view.key.origin)
    const refusal = storingRefusal(facts, view, settings, hidden)
    if (refusal !== null) return refusal
    const value = entryOf(facts, view.headers, settings)
    const followed = this.#followed
    if (followed.length === 0) return value
    return entryAfterRedirects(value, followed, this.#askedAt, view, settings, hidden) ?? 'redirect'
  }

  /** A HEAD response shows whether the response to GET that is stored is still right (RFC 9111 §4.3.5). */
  #compareHead(entry: CacheValue, facts: ResponseFacts): void {
    const { entryKey } = this.#plan
    if (facts.statusCode !== 200 || entry.statusCode !== 200 || entryKey.method !== 'GET') return
    const isSame = describesSame(entry, facts.headers)
    if (isSame === false) this.#host.access.delete(entryKey)
    else if (isSame === true) confirmed(this.#host, this.#plan, facts, true)
  }

  #handling(more: Partial<Extract<Handling, { kind: 'forwarded' }>>): Handling {
    return { kind: 'forwarded', reason: this.#plan.reason, ...more } as Handling
  }

  /** The response is complete, or none comes. */
  #leave(): void {
    this.#discarded?.stop()
    this.#host.exchanges.delete(this)
  }
}
