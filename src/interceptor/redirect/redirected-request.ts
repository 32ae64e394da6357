/**
 * One request and the redirects that it follows: an attempt for each, one after the other. The body of a
 * redirect is read before the next request, as long as that is cheaper than a new connection.
 */
import type { Duplex } from 'node:stream'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { InvalidArgumentError, MaxRedirectsError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import { replayOf } from '../../relay/replay.ts'
import {
  type Followed,
  type FollowedRedirect,
  followedRedirects,
  NONE_FOLLOWED,
  type ResponseFacts,
  withFollowed,
} from '../../relay/response-facts.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { redirectContext, urlOf, type Visited, visited } from './context.ts'
import { dropsBody, locationOf, nextRequest, targetOf } from './next-request.ts'
import type { RedirectSettings } from './options.ts'

/** The request that follows, and the response that asks for it. */
interface Next {
  readonly opts: DispatchOptions
  readonly after: FollowedRedirect
}

export class RedirectedRequest extends RelayedRequest<RedirectSettings> {
  /** All requests so far. */
  #requests: readonly Visited[] = [visited(this.opts, this.call.own)]
  #followed: readonly FollowedRedirect[] = NONE_FOLLOWED
  /** Of the dispatcher below. */
  #context: unknown = null
  /** The attempt was answered with a redirect, and this is left to read of its body. */
  #redirect: { readonly next: Next; readonly body: DiscardedBody } | null = null

  override onStarted({ controller }: Attempt, context: unknown): void {
    this.#context = context
    this.downstream.start(redirectContext(context, this.#requests), controller)
  }

  override onHead(attempt: Attempt, head: Head): void {
    if (this.#redirect !== null) return
    const next = head.statusCode < 200 ? null : this.#nextAfter(head)
    if (next === null) {
      this.downstream.head(head, attempt.controller, this.#factsOf(attempt))
      return
    }
    const body = new DiscardedBody(() => attempt.abort())
    this.#redirect = { next, body }
    body.begin(head.headers, this.opts.method !== 'HEAD')
  }

  /** For whoever is further out: the redirects that led to the response. */
  #factsOf({ controller, facts }: Attempt): ResponseFacts {
    return withFollowed(facts, joined(this.#followed, followedRedirects(controller!, this.#context)))
  }

  /** Null if the caller gets this response. What it throws fails the request. */
  #nextAfter({ statusCode, headers }: Head): Next | null {
    const location = locationOf(statusCode, headers)
    const from = location === null ? null : urlOf(this.#requests.at(-1)!)
    if (location === null || from === null) return null
    const opts = this.opts
    if (!dropsBody(statusCode, opts.method) && replayOf(opts.body) !== 'always') return null
    const { maxRedirections, throwOnMaxRedirect } = this.settings
    if (this.#followed.length >= maxRedirections) {
      if (throwOnMaxRedirect) throw new MaxRedirectsError()
      return null
    }
    const to = targetOf(location, from)
    if (this.call.own !== undefined && to.origin !== from.origin) throw elsewhere(to.origin)
    if (!this.#allows(to, from, statusCode)) return null
    const after: FollowedRedirect = { statusCode, headers, responseTime: Date.now(), to }
    return { opts: nextRequest(opts, statusCode, from, to, this.settings), after }
  }

  #allows(to: URL, from: URL, statusCode: number): boolean {
    const { allow } = this.settings
    if (allow === null) return true
    const allowed: unknown = allow(new URL(to), { from: new URL(from), statusCode })
    // A promise is true in a condition: a check that has become asynchronous would allow everything.
    ignoreRejection(allowed)
    if (typeof allowed !== 'boolean') throw new InvalidArgumentError('allow must return a boolean')
    return allowed
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (this.#redirect !== null) this.#redirect.body.take(chunk.length)
    else super.onData(attempt, chunk)
  }

  protected override passesBytes(): boolean {
    return this.#redirect === null
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    // The connection is free when this call has returned: a pool would open another one.
    if (this.#redirect !== null) queueMicrotask(() => this.#follow())
    else super.onEnd(attempt, trailers)
    this.#redirect?.body.stop()
  }

  override onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void {
    this.downstream.upgrade(head, socket, attempt.controller, this.#factsOf(attempt))
  }

  override onFailed(attempt: Attempt, error: Error): void {
    this.#redirect?.body.stop()
    // The redirect is known: that its body broke off does no harm.
    if (this.#redirect !== null && !this.downstream.aborted) this.#follow()
    else super.onFailed(attempt, error)
  }

  #follow(): void {
    if (this.#redirect === null || this.downstream.settled) return
    const { opts, after } = this.#redirect.next
    this.#redirect = null
    this.opts = opts
    this.#followed = [...this.#followed, after]
    this.#requests = [...this.#requests, visited(opts, this.call.own)]
    try {
      this.begin(this.downstream, true).send(this.call.dispatch!, opts)
    } catch (error) {
      this.downstream.contain(() => this.downstream.fail(error as Error))
    }
  }
}

function joined(ours: readonly FollowedRedirect[], below: Followed): Followed {
  if (ours.length === 0 || below === 'unknown') return below
  return below.length === 0 ? ours : [...ours, ...below]
}

/** The message is undici's, which notices the mistake only when the redirect leads in a circle. */
function elsewhere(origin: string): Error {
  return new InvalidArgumentError(
    `Redirect loop detected. Cannot redirect to ${origin}. This typically happens when using a Client or Pool with cross-origin redirects. Use an Agent for cross-origin redirects.`,
  )
}
