/**
 * One request that a proxy forwards: sent with the whole URL and the fields for the proxy. A 407 is the proxy's, not the
 * target's, and fails the request, unless the agent has an answer to it.
 */

import { RequestAbortedError } from '../errors.ts'
import { dispatchOn } from '../handler/either-handler.ts'
import { ForwardingHandler } from '../handler/forwarding-handler.ts'
import type { TargetCheckSettings } from '../net/target-check.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { DiscardedBody } from '../relay/discarded-body.ts'
import { replayOf } from '../relay/replay.ts'
import { destroyBodyOf } from '../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions, HeadersInput } from '../request/dispatch-options.ts'
import { describeError, shownPath } from '../request/error-context.ts'
import { type FlatHeaders, flatHeaders } from '../request/headers-input.ts'
import { describeUnsent } from '../request/unsent-error.ts'
import { watchBody } from '../request/waiting-body.ts'
import type { AskingRequests } from './asking-requests.ts'
import { checkForward } from './forward-check.ts'
import { type Refusal, refusedForward, withProxy } from './proxy-error.ts'
import type { ProxyHop } from './proxy-hop.ts'
import { KEPT_BYTES } from './refusal-reader.ts'
import { MOST_TRIES } from './tunnel-attempt.ts'

/** Where it goes. */
export interface ForwardTarget {
  readonly origin: string
  readonly host: string
}

type State =
  | { readonly at: 'running' }
  /** A function of the caller is asked, which answers later. */
  | { readonly at: 'asking'; readonly unwatch: (() => void) | null }
  | { readonly at: 'refused'; readonly refusal: CollectedRefusal }
  | { readonly at: 'settled' }

interface CollectedRefusal {
  readonly statusCode: number
  readonly headers: HeaderObject
  readonly limits: DiscardedBody
  readonly controller: DispatchController
  body: Buffer
}

const RUNNING: State = { at: 'running' }

export class ForwardedRequest extends ForwardingHandler {
  readonly #hops: readonly ProxyHop[]
  readonly #target: ForwardTarget
  readonly #options: DispatchOptions
  readonly #asking: AskingRequests
  #state: State = RUNNING
  #next = 0
  #tries = 0
  #hasAskedAgain = false

  constructor(
    hops: readonly ProxyHop[],
    target: ForwardTarget,
    options: DispatchOptions,
    handler: DispatchHandler,
    asking: AskingRequests,
  ) {
    super(handler)
    this.#hops = hops
    this.#target = target
    this.#options = options
    this.#asking = asking
  }

  get #hop(): ProxyHop {
    return this.#hops[this.#next]!
  }

  /** The proxy has answered, so it may have begun to read the body. */
  get #canRepeat(): boolean {
    return replayOf(this.#options.body) === 'always'
  }

  /** Returns what `dispatch` does. `check`: null if nothing guards the targets. */
  start(check: TargetCheckSettings | null): boolean {
    const target = this.#targetOf(this.#options)
    // A path that is not text is for the dispatcher to refuse.
    if (check === null || typeof target !== 'string') return this.#authorize([])
    try {
      const checked = checkForward(check, target)
      if (checked === null) return this.#authorize([])
      const described = checked.catch((error: Error) => {
        throw this.#unsent(error)
      })
      this.#ask(described, () => this.#authorize([]))
      return true
    } catch (error) {
      throw this.#unsent(error as Error)
    }
  }

  #unsent(error: Error): Error {
    const described = describeUnsent(error, this.#options, this.#target.origin, 'connecting')
    destroyBodyOf(this.#options, described)
    return described
  }

  #authorize(extra: FlatHeaders): boolean {
    const authorization = this.#hop.fields.authorization()
    if (typeof authorization === 'string' || authorization === null) return this.#send(authorization, extra)
    this.#ask(authorization, (value) => this.#send(value, extra))
    return true
  }

  /** Goes on when the caller has answered, unless the request was given up. */
  #ask<T>(answer: Promise<T>, then: (value: T) => unknown): void {
    const unwatch = watchBody(this.#options.body, (error) => this.giveUp(error as Error))
    this.#state = { at: 'asking', unwatch }
    this.#asking.add(this)
    answer.then(
      (value) => {
        if (this.#stopAsking()) this.#goOn(() => then(value))
      },
      (error: Error) => this.giveUp(error),
    )
    this.inner.onRequestQueued?.((reason) => this.giveUp((reason as Error) ?? new RequestAbortedError()))
  }

  /** Fails it as long as the caller has not answered; afterwards a dispatcher has it. */
  giveUp(error: Error): void {
    if (!this.#stopAsking()) return
    this.#asking.delete(this)
    destroyBodyOf(this.#options, error)
    this.#failAlone(error)
  }

  /** False if the request was not waiting any more. */
  #stopAsking(): boolean {
    if (this.#state.at !== 'asking') return false
    this.#state.unwatch?.()
    this.#state = RUNNING
    return true
  }

  #goOn(send: () => unknown): void {
    try {
      send()
    } catch (error) {
      this.#failAlone(error as Error)
    }
    // Last: the agent may be waiting to close what the request was sent with.
    if (this.#state.at !== 'asking') this.#asking.delete(this)
  }

  /** Outside of any call of a dispatcher, none of which is left to report an exception of the handler. */
  #failAlone(error: Error): void {
    try {
      this.#fail(null, error)
    } catch {
      // It was the last call.
    }
  }

  #send(authorization: string | null, extra: FlatHeaders): boolean {
    const hop = this.#hop
    this.#tries++
    const headers = hop.fields.forRequest(this.#target.host, authorization, extra, this.#options.headers)
    return dispatchOn(
      hop.forwarding,
      {
        ...this.#options,
        origin: hop.uri,
        path: this.#targetOf(this.#options),
        headers: headers as HeadersInput,
        servername: hop.servername,
      },
      this,
    )
  }

  /** RFC 9112 §3.2.2; an asterisk becomes an empty path (§3.2.4). */
  #targetOf({ path }: DispatchOptions): string {
    if (path === '*' && this.#options.method === 'OPTIONS') return this.#target.origin
    return typeof path === 'string' && path.startsWith('/') ? this.#target.origin + path : path
  }

  #fail(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#state.at === 'settled') return
    this.#state = { at: 'settled' }
    super.onResponseError(controller, error)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode === 407) this.#onRefusal(controller, statusCode, headers)
    else super.onResponseStart(controller, statusCode, headers, statusText)
  }

  #onRefusal(controller: DispatchController, statusCode: number, headers: HeaderObject): void {
    const limits = new DiscardedBody(() => {
      try {
        this.#cutOff()
      } catch {
        // The handler threw in its last call.
      }
    })
    this.#state = {
      at: 'refused',
      refusal: { statusCode, headers, limits, controller, body: Buffer.alloc(0) },
    }
    // The announced length is not asked: the beginning is wanted in any case.
    limits.begin(null, true)
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.#state.at !== 'refused') {
      super.onResponseData(controller, chunk)
      return
    }
    const { refusal } = this.#state
    const missing = KEPT_BYTES - refusal.body.length
    if (missing > 0) refusal.body = Buffer.concat([refusal.body, chunk.subarray(0, missing)])
    refusal.limits.take(chunk.length)
  }

  /** The refusal is too long to be read to its end, or comes too slowly. */
  #cutOff(): void {
    if (this.#state.at !== 'refused') return
    const { controller } = this.#state.refusal
    const refusal = this.#takeRefusal()
    // The error of the abort is not for the caller.
    this.#state = { at: 'settled' }
    controller.abort()
    this.#state = RUNNING
    this.#onRefused(controller, refusal)
  }

  #takeRefusal(): Refusal {
    const { statusCode, headers, limits, body } = (this.#state as State & { at: 'refused' }).refusal
    limits.stop()
    this.#state = RUNNING
    return { statusCode, headers, body: body.toString('utf8') }
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    if (this.#state.at === 'refused') this.#onRefused(controller, this.#takeRefusal())
    else if (this.#state.at !== 'settled') super.onResponseEnd(controller, trailers)
  }

  #onRefused(controller: DispatchController, refusal: Refusal): void {
    const { fields, onProxyResponse } = this.#hop
    if (!this.#canRepeat || this.#tries >= MOST_TRIES) {
      this.#refuse(controller, refusal)
    } else if (fields.isRotating && !this.#hasAskedAgain) {
      this.#hasAskedAgain = true
      this.#again(controller, () => this.#authorize([]))
    } else if (onProxyResponse === null) {
      this.#refuse(controller, refusal)
    } else {
      this.#again(controller, () => {
        this.#ask(Promise.resolve(onProxyResponse(refusal)), (headers) => {
          if (headers === null || headers === undefined) this.#refuse(controller, refusal)
          else this.#authorize(flatHeaders(headers))
        })
      })
    }
  }

  #again(controller: DispatchController, ask: () => void): void {
    try {
      ask()
    } catch (error) {
      this.#fail(controller, error as Error)
    }
  }

  #refuse(controller: DispatchController, refusal: Refusal): void {
    const { method, path } = this.#options
    const error = describeError(refusedForward(this.#hop.uri, refusal), {
      method,
      origin: this.#target.origin,
      path: shownPath(String(path)),
      phase: 'headers',
      reusedSocket: false,
      retrySafety: this.#canRepeat ? 'idempotent-only' : 'no',
      timings: controller.timings!,
      socket: null,
    })
    this.#fail(controller, error)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#state.at === 'refused' && !controller?.aborted) {
      // The refusal counts, complete or not.
      this.#onRefused(this.#state.refusal.controller, this.#takeRefusal())
      return
    }
    if (this.#state.at === 'refused') this.#takeRefusal()
    if (this.#state.at !== 'running') return
    const described = this.#describe(error)
    // A dispatcher of the caller may fail with any value.
    const isSafe = described?.retrySafety === 'safe' && described.proxy !== undefined
    if (isSafe && this.#next + 1 < this.#hops.length && replayOf(this.#options.body) !== 'spent') {
      this.#next++
      this.#again(controller!, () => this.#authorize([]))
      return
    }
    this.#fail(controller, described)
  }

  /** Errors of the library and the runtime are for this request alone by now; a caller's value stays as it is. */
  #describe(error: Error): Error & { retrySafety?: unknown; proxy?: unknown } {
    if (typeof error !== 'object' || error === null || !Object.hasOwn(error, 'retrySafety')) return error
    const path = shownPath(String(this.#options.path))
    return withProxy(Object.assign(error, { origin: this.#target.origin, path }), this.#hop.uri, 'forward')
  }
}
