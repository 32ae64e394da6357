/**
 * One request on its way through a throttle: waiting, if it has to → sent → over. While it waits, its body is not read, and
 * its caller can give it up.
 */
import type { Duplex } from 'node:stream'
import { type CallContext, captureContext, runIn } from '../../base/call-context.ts'
import { now } from '../../base/clock.ts'
import { withoutPollution } from '../../base/own-options.ts'
import { shownUrl } from '../../base/parse-url.ts'
import type { Dispatch } from '../../dispatcher/compose.ts'
import { RequestAbortedError, type RetrySafety, ThrottledError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { errorFacts } from '../../relay/error-facts.ts'
import { refuse } from '../../relay/refusal.ts'
import { readableAgain } from '../../relay/request-headers.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { describeError, shownPath } from '../../request/error-context.ts'
import { newTimings } from '../../request/timings.ts'
import { watchBody } from '../../request/waiting-body.ts'
import { originKey } from '../origin-key.ts'
import type { Lane, LaneRequest } from './lane.ts'

type AbortFunction = (reason?: unknown) => void

/** A request that waits, with what is needed to send it. */
interface Held {
  readonly opts: DispatchOptions
  readonly dispatch: Dispatch
  readonly since: number
  readonly context: CallContext | null
  /** Ends listening to the body. */
  readonly unwatch: (() => void) | null
}

type State = Held | 'sent' | 'over'

export class ThrottledRequest extends ForwardingHandler implements LaneRequest {
  previous: LaneRequest | null = null
  next: LaneRequest | null = null
  readonly priority: number
  order = 0
  hasWaited = false
  sentAt = 0
  readonly #lane: Lane
  #state: State = 'sent'
  /** Of one that has waited, until it is over. */
  #waited: DispatchOptions | null = null
  /** Gives the request up below. Only of one that has waited: others have been given the way themselves. */
  #abortSent: AbortFunction | null = null
  #abortion: { readonly reason: unknown } | null = null

  constructor(handler: DispatchHandler, lane: Lane, priority: number) {
    super(handler)
    this.#lane = lane
    this.priority = priority
  }

  /** Throws what the dispatcher throws. */
  sendAtOnce(opts: DispatchOptions, dispatch: Dispatch): boolean {
    this.#lane.admit(this)
    try {
      return dispatch(opts, this)
    } catch (error) {
      if (this.#release(false)) this.#lane.advance()
      throw error
    }
  }

  /** Waits for its turn; false if the headers cannot be read. */
  wait(opts: DispatchOptions, dispatch: Dispatch): boolean {
    let copy: DispatchOptions
    try {
      // The caller may change its options meanwhile.
      copy = withoutPollution({ ...opts })
      if (copy.headers) copy.headers = readableAgain(copy.headers)
    } catch (error) {
      return refuse(opts, this.inner, error)
    }
    const unwatch = watchBody(copy.body, (error) => this.#abort(error))
    this.#state = { opts: copy, dispatch, since: now(), context: captureContext(), unwatch }
    this.hasWaited = true
    this.#lane.add(this)
    try {
      this.inner.onRequestQueued?.((reason) => this.#abort(reason))
    } catch (error) {
      this.#abort(error)
    }
    this.#lane.advance()
    return true
  }

  giveUp(retryAfter: number): void {
    const held = this.#leaveQueue(this.#state as Held)
    this.#state = 'over'
    this.#failUnsent(held, described(tooLong(retryAfter), held.opts, held.since, 'safe'))
  }

  /** The queue is full, or the wait would be too long. What the handler throws comes out of `dispatch()`, as with a dispatcher that is closed. */
  refuse(opts: DispatchOptions, retryAfter: number | null): true {
    const reason = retryAfter === null ? new ThrottledError() : tooLong(retryAfter)
    const error = described(reason, opts, now(), 'safe')
    destroyBodyOf(opts, error)
    this.inner.onResponseError?.(null, error)
    return true
  }

  send(): void {
    const held = this.#leaveQueue(this.#state as Held)
    this.#state = 'sent'
    this.#waited = held.opts
    try {
      runIn(held.context, held.dispatch, null, held.opts, this)
    } catch (error) {
      if (!this.#release(false)) return
      this.#failUnsent(held, error as Error)
      this.#lane.advance()
    }
  }

  /** The final call of a request that has waited, outside of any call that could report what the handler throws. */
  #failUnsent({ opts, context }: Held, error: Error): void {
    runIn(
      context,
      () => {
        destroyBodyOf(opts, error)
        try {
          this.inner.onResponseError?.(null, error)
        } catch {
          // It was the last call.
        }
      },
      null,
    )
  }

  #leaveQueue(held: Held): Held {
    held.unwatch?.()
    return held
  }

  #abort(reason: unknown): void {
    if (this.#state === 'over') return
    if (this.#state === 'sent') {
      this.#abortion ??= { reason }
      this.#abortSent?.(reason)
      return
    }
    const held = this.#leaveQueue(this.#state)
    this.#state = 'over'
    this.#lane.abandon(this)
    const error = reason || described(new RequestAbortedError(), held.opts, held.since, 'no')
    this.#failUnsent(held, error as Error)
  }

  /** False if that was done before. */
  #release(wasSent: boolean): boolean {
    if (this.#state === 'over') return false
    this.#state = 'over'
    this.#abortSent = null
    this.#waited = null
    this.#lane.release(wasSent)
    return true
  }

  protected override forwardQueued(abort: AbortFunction): void {
    if (!this.hasWaited) super.forwardQueued(abort)
    else if (this.#abortion !== null) abort(this.#abortion.reason)
    else this.#abortSent = abort
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    if (this.#abortion !== null) controller.abort(this.#abortion.reason)
    else super.onRequestStart(controller, context)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode >= 200) this.#lane.onHead(statusCode, headers, this)
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    const isFirst = this.#release(true)
    try {
      super.onResponseEnd(controller, trailers)
    } finally {
      if (isFirst) this.#lane.advance()
    }
  }

  /** A tunnel lasts as long as its owner wants: it holds no place. */
  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    const isFirst = this.#release(true)
    try {
      super.onRequestUpgrade(controller, statusCode, headers, socket)
    } finally {
      if (isFirst) this.#lane.advance()
    }
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    const isRefused = errorFacts(error).fault === 'dispatcher'
    const waited = this.#waited
    const isFirst = this.#release(!isRefused)
    // A dispatcher that is closed leaves the body to the caller, who has given it away when the request began to wait.
    if (isRefused) destroyBodyOf(waited, error)
    try {
      super.onResponseError(controller, error)
    } finally {
      if (isFirst) this.#lane.advance()
    }
  }
}

/** The server asks for a longer wait than the throttle allows. */
function tooLong(retryAfter: number): ThrottledError {
  const seconds = Math.ceil(retryAfter / 1000)
  return new ThrottledError(`The server asks for no requests for ${seconds} seconds`, { retryAfter })
}

/** With the fields that errors of a request have. */
function described(error: Error, opts: DispatchOptions, since: number, retrySafety: RetrySafety): Error {
  const { method, path } = opts
  return describeError(error, {
    method,
    origin: shownUrl(originKey(opts)),
    path: shownPath(String(path)),
    phase: 'queued',
    reusedSocket: false,
    retrySafety,
    timings: { ...newTimings(since), end: now() },
    socket: null,
  })
}
