/**
 * One request that a proxy forwards: sent with the whole URL and the fields for the proxy. A 407 is the
 * proxy's, not the target's, and fails the request, unless the agent has other credentials.
 */

import { shownPath } from '../base/address/shown-path.ts'
import { isThenable } from '../base/loop/thenable.ts'
import type { TargetCheckSettings } from '../net/target-check.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { Attempt } from '../relay/attempt.ts'
import { HeldCall } from '../relay/held-call.ts'
import { KeptResponse } from '../relay/kept-response.ts'
import type { PendingSet } from '../relay/pending-set.ts'
import { type Call, RelayedRequest } from '../relay/relayed-request.ts'
import { replayOf } from '../relay/replay.ts'
import type { Head } from '../relay/response-source.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchOptions, HeadersInput } from '../request/dispatch-options.ts'
import { describeError } from '../request/error-context.ts'
import { type FlatHeaders, flatHeaders } from '../request/headers-input.ts'
import { describeUnsent } from '../request/unsent-error.ts'
import { checkForward } from './forward-check.ts'
import { endOf, KEPT_BYTES, type Refusal, refusedForward, withProxy } from './proxy-error.ts'
import type { ProxyHop } from './proxy-hop.ts'
import { MOST_TRIES } from './tunnel-attempt.ts'

/** Where it goes. */
export interface ForwardTarget {
  readonly origin: string
  readonly host: string
}

/** How a route forwards. */
export interface Forwarding {
  readonly hops: readonly ProxyHop[]
  /** Requests that no dispatcher has: a function of the caller has not answered yet. */
  readonly held: PendingSet<HeldCall>
  /** Null if nothing guards the targets. */
  readonly check: TargetCheckSettings | null
}

export class ForwardedRequest extends RelayedRequest<Forwarding> {
  readonly #target: ForwardTarget
  /** Of the attempt that runs. */
  #refused: KeptResponse | null = null
  #next = 0
  #tries = 0
  /** The proxy refused the token, and another one was asked for: that happens once. */
  #hasNewToken = false

  constructor(call: Call, forwarding: Forwarding, target: ForwardTarget) {
    super(call, forwarding)
    this.#target = target
  }

  get #hop(): ProxyHop {
    return this.settings.hops[this.#next]!
  }

  /** The proxy has answered, so it may have begun to read the body. */
  get #canRepeat(): boolean {
    return replayOf(this.opts.body) === 'always'
  }

  /** Returns what `dispatch` does. */
  start(): boolean {
    const { check } = this.settings
    const target = this.#targetOf(this.opts)
    // A path that is not text is for the dispatcher to refuse.
    if (check === null || typeof target !== 'string') return this.#authorize([])
    const refuse = (error: Error): never => {
      const described = describeUnsent(error, this.opts, this.#target.origin, 'connecting')
      destroyBodyOf(this.opts, described)
      throw described
    }
    try {
      return this.#when(checkForward(check, target)?.catch(refuse), () => this.#authorize([]))
    } catch (error) {
      return refuse(error as Error)
    }
  }

  #authorize(extra: FlatHeaders): boolean {
    return this.#when(this.#hop.fields.authorization(), (value) => this.#send(value, extra))
  }

  /** Continues at once with a value, later with a promise: until then no dispatcher has the request. */
  #when<T>(answer: T | Promise<T>, then: (value: T) => boolean): boolean {
    if (!isThenable(answer)) return then(answer)
    const call = new HeldCall(this.opts, this.downstream, undefined, () => this.settings.held.delete(call))
    this.settings.held.add(call)
    answer.then(
      (value) => {
        if (!call.release()) return
        this.downstream.contain(() => this.#try(() => then(value as T)))
        // Last: the agent may be waiting to close what the request was sent with.
        this.settings.held.delete(call)
      },
      (error: Error) => {
        call.fail(error)
        this.settings.held.delete(call)
      },
    )
    this.downstream.announce()
    return true
  }

  #try(send: () => boolean): void {
    try {
      send()
    } catch (error) {
      destroyBodyOf(this.opts, error)
      this.downstream.fail(error as Error)
    }
  }

  #send(authorization: string | null, extra: FlatHeaders): boolean {
    const { forwarding, fields, uri, servername } = this.#hop
    this.#tries++
    const { downstream } = this
    const attempt = this.begin(downstream, downstream.started || downstream.wantsQueued)
    return attempt.send((opts, handler) => forwarding.dispatch(opts, handler), {
      ...this.opts,
      origin: uri,
      path: this.#targetOf(this.opts),
      headers: fields.for(this.#target.host, authorization, extra, this.opts.headers) as HeadersInput,
      servername,
    })
  }

  /** RFC 9112 §3.2.2; an asterisk becomes an empty path (§3.2.4). */
  #targetOf({ path }: DispatchOptions): string {
    if (path === '*' && this.opts.method === 'OPTIONS') return this.#target.origin
    return typeof path === 'string' && path.startsWith('/') ? this.#target.origin + path : path
  }

  override onHead(attempt: Attempt, head: Head): void {
    if (head.statusCode !== 407) super.onHead(attempt, head)
    else if (this.#refused === null) {
      const giveUp = (): void => this.downstream.contain(() => attempt.abort())
      this.#refused = new KeptResponse(head, KEPT_BYTES, giveUp)
      attempt.resume()
    }
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (this.#refused === null) super.onData(attempt, chunk)
    else this.#refused.take(chunk)
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    if (this.#refused === null) super.onEnd(attempt, trailers)
    else this.#onRefused(attempt, endOf(this.#refused))
  }

  #onRefused(attempt: Attempt, refusal: Refusal): void {
    this.#refused = null
    const { fields, settings } = this.#hop
    const { onProxyResponse } = settings
    const mayRepeat = this.#canRepeat && this.#tries < MOST_TRIES
    if (mayRepeat && fields.isRotating && !this.#hasNewToken) {
      this.#hasNewToken = true
      this.#try(() => this.#authorize([]))
    } else if (!mayRepeat || onProxyResponse === null) {
      this.#refuse(attempt, refusal)
    } else {
      this.#try(() =>
        this.#when(Promise.resolve(onProxyResponse(refusal)), (headers) =>
          headers === null || headers === undefined
            ? this.#refuse(attempt, refusal)
            : this.#authorize(flatHeaders(headers)),
        ),
      )
    }
  }

  #refuse({ controller }: Attempt, refusal: Refusal): true {
    const { method, path } = this.opts
    const error = describeError(refusedForward(this.#hop.uri, refusal), {
      method,
      origin: this.#target.origin,
      path: shownPath(String(path)),
      phase: 'headers',
      reusedSocket: false,
      retrySafety: this.#canRepeat ? 'idempotent-only' : 'no',
      timings: controller!.timings!,
      socket: null,
    })
    this.downstream.fail(error)
    return true
  }

  override onFailed(attempt: Attempt, error: Error): void {
    const refusal = this.#refused === null ? null : endOf(this.#refused)
    const { aborted } = this.downstream
    if (refusal !== null && !aborted) {
      this.#onRefused(attempt, refusal)
      return
    }
    const described = this.#describe(error)
    // A dispatcher of the caller may fail with any value.
    const isSafe = described?.retrySafety === 'safe' && described.proxy !== undefined
    const hasAnother = this.#next + 1 < this.settings.hops.length && replayOf(this.opts.body) !== 'spent'
    if (isSafe && hasAnother && !aborted) {
      this.#next++
      this.#try(() => this.#authorize([]))
    } else super.onFailed(attempt, described)
  }

  /** An error without `retrySafety` is a value of the caller's, and stays as it is. */
  #describe(error: Error): Error & { retrySafety?: unknown; proxy?: unknown } {
    if (typeof error !== 'object' || error === null || !Object.hasOwn(error, 'retrySafety')) return error
    const path = shownPath(String(this.opts.path))
    return withProxy(Object.assign(error, { origin: this.#target.origin, path }), this.#hop.uri, 'forward')
  }
}
