/**
 * One request of a chain of redirects: waiting → delivering, or waiting → draining → over. The next request of the chain
 * is another hop with the same caller, so a late call of a request that is over reaches no one.
 */
import type { Duplex } from 'node:stream'
import { ignoreRejection } from '../../base/stray-promise.ts'
import type { Dispatch, OwnOrigin } from '../../dispatcher/compose.ts'
import { InvalidArgumentError, MaxRedirectsError, RequestAbortedError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { RelayController } from '../../relay/relay-controller.ts'
import { replayOf } from '../../relay/replay.ts'
import {
  type Followed,
  type FollowedRedirect,
  followedRedirects,
  NONE_FOLLOWED,
  responseFacts,
  stateFacts,
  withFollowed,
} from '../../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { redirectContext, VisitedUrls } from './context.ts'
import { dropsBody, locationOf, nextRequest, targetOf } from './next-request.ts'
import type { RedirectSettings } from './options.ts'

/** The request that follows, and the response that asks for it. */
interface Next {
  readonly opts: DispatchOptions
  readonly after: FollowedRedirect
}

type State =
  | { readonly at: 'waiting' }
  | { readonly at: 'delivering' }
  | { readonly at: 'draining'; readonly next: Next; readonly body: DiscardedBody }
  | { readonly at: 'over' }

const WAITING: State = { at: 'waiting' }
const DELIVERING: State = { at: 'delivering' }
const OVER: State = { at: 'over' }

export class RedirectHop extends ForwardingHandler {
  readonly #dispatch: Dispatch
  readonly #settings: RedirectSettings
  readonly #opts: DispatchOptions
  readonly #own: OwnOrigin
  readonly #urls: VisitedUrls
  readonly #relay: RelayController
  readonly #followed: readonly FollowedRedirect[]
  /** Of the dispatcher below. */
  #context: unknown = null
  #state: State = WAITING

  constructor(
    dispatch: Dispatch,
    settings: RedirectSettings,
    opts: DispatchOptions,
    handler: DispatchHandler,
    own: OwnOrigin,
    previous: RedirectHop | null = null,
    after: FollowedRedirect | null = null,
  ) {
    super(handler)
    this.#dispatch = dispatch
    this.#settings = settings
    this.#opts = opts
    this.#own = own
    this.#relay = previous === null ? new RelayController() : previous.#relay
    this.#followed = previous === null || after === null ? NONE_FOLLOWED : [...previous.#followed, after]
    this.#urls = new VisitedUrls(opts, own, previous === null ? null : previous.#urls)
  }

  override get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    if (this.#followed.length > 0) return this.#waitAgain
    return this.inner.onRequestQueued === undefined ? undefined : this.forwardQueued
  }

  protected override forwardQueued(abort: (reason?: unknown) => void): void {
    this.#relay.wait(abort)
    super.forwardQueued((reason) => this.#relay.abort(reason))
  }

  #waitAgain(abort: (reason?: unknown) => void): void {
    this.#relay.wait(abort)
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#relay.follow(controller)
    if (this.#state === OVER || this.#relay.aborted) return
    this.#context = context
    super.onRequestStart(this.#relay, redirectContext(context, this.#urls))
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (this.#state === OVER || this.#state.at === 'draining') return
    const next = statusCode < 200 ? null : this.#nextAfter(statusCode, headers)
    if (next === null) {
      if (statusCode >= 200) {
        this.#state = DELIVERING
        this.#show(controller)
      }
      super.onResponseStart(this.#relay, statusCode, headers, statusText)
      return
    }
    const body = new DiscardedBody(() => this.#leave(controller, next))
    this.#state = { at: 'draining', next, body }
    body.begin(headers, this.#opts.method !== 'HEAD')
  }

  /** The handler gets this response, and whoever is further out the redirects that led to it. */
  #show(controller: DispatchController): void {
    this.#relay.show(controller)
    const below = followedRedirects(controller, this.#context)
    stateFacts(this.#relay, withFollowed(responseFacts(controller), joined(this.#followed, below)))
  }

  /** Null if the caller gets this response. What it throws fails the request. */
  #nextAfter(statusCode: number, headers: HeaderObject): Next | null {
    const location = locationOf(statusCode, headers)
    const from = location === null ? null : this.#urls.last
    if (location === null || from === null) return null
    const opts = this.#opts
    if (!dropsBody(statusCode, opts.method) && replayOf(opts.body) !== 'always') return null
    const { maxRedirections, throwOnMaxRedirect } = this.#settings
    if (this.#followed.length >= maxRedirections) {
      if (throwOnMaxRedirect) throw new MaxRedirectsError()
      return null
    }
    const to = targetOf(location, from)
    if (this.#own !== undefined && to.origin !== from.origin) throw elsewhere(to.origin)
    if (!this.#allows(to, from, statusCode)) return null
    const after: FollowedRedirect = { statusCode, headers, responseTime: Date.now(), to }
    return { opts: nextRequest(opts, statusCode, from, to, this.#settings), after }
  }

  #allows(to: URL, from: URL, statusCode: number): boolean {
    const { allow } = this.#settings
    if (allow === null) return true
    const allowed: unknown = allow(new URL(to), { from: new URL(from), statusCode })
    // A promise is true in a condition: a check that has become asynchronous would allow everything.
    ignoreRejection(allowed)
    if (typeof allowed !== 'boolean') throw new InvalidArgumentError('allow must return a boolean')
    return allowed
  }

  override onResponseData(_controller: DispatchController, chunk: Buffer): void {
    const state = this.#state
    if (state.at === 'draining') state.body.take(chunk.length)
    else if (state !== OVER) super.onResponseData(this.#relay, chunk)
  }

  override onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    const state = this.#finish()
    if (state === OVER) return
    if (state.at === 'draining') {
      this.#relay.release()
      // The connection is free when this call has returned: a pool would open another one.
      queueMicrotask(() => this.#follow(state.next))
      return
    }
    this.#relay.settle()
    this.forwardEnd(this.#relay, trailers)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#finish()
    this.#show(controller)
    this.#relay.settle()
    super.onRequestUpgrade(this.#relay, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    const state = this.#finish()
    if (state === OVER) return
    // The redirect is known: that its body broke off does no harm.
    if (state.at === 'draining' && !this.#relay.aborted) this.#follow(state.next)
    else this.#fail(controller ? this.#relay : controller, error)
  }

  #fail(controller: DispatchController | null | undefined, error: Error): void {
    this.#relay.settle()
    super.onResponseError(controller, error)
  }

  /** Returns the state before. */
  #finish(): State {
    const state = this.#state
    this.#state = OVER
    if (state.at === 'draining') state.body.stop()
    return state
  }

  /** Gives up the rest of the body. */
  #leave(controller: DispatchController, next: Next): void {
    this.#finish()
    controller.abort()
    this.#follow(next)
  }

  #follow({ opts, after }: Next): void {
    const relay = this.#relay
    relay.release()
    if (relay.aborted) {
      contain(() => this.#fail(relay, relay.reason ?? new RequestAbortedError()))
      return
    }
    const hop = new RedirectHop(this.#dispatch, this.#settings, opts, this.inner, this.#own, this, after)
    try {
      this.#dispatch(opts, hop)
    } catch (error) {
      contain(() => hop.onResponseError(null, error as Error))
    }
  }
}

function joined(ours: readonly FollowedRedirect[], below: Followed): Followed {
  if (ours.length === 0 || below === 'unknown') return below
  return below.length === 0 ? ours : [...ours, ...below]
}

/** Outside of any call of a dispatcher, none of which is left to report an exception of the handler. */
function contain(finalCall: () => void): void {
  try {
    finalCall()
  } catch {
    // The request is over.
  }
}

/** The words are those of undici, which notices the mistake only when the redirect leads in a circle. */
function elsewhere(origin: string): Error {
  return new InvalidArgumentError(
    `Redirect loop detected. Cannot redirect to ${origin}. This typically happens when using a Client or Pool with cross-origin redirects. Use an Agent for cross-origin redirects.`,
  )
}
