/**
 * One request that is sent again when it fails: the handler of all its attempts. It owns which attempt runs, what of its
 * response the caller's handler has got, and the wait between two attempts. Whether there is another attempt is decided in
 * policy.ts, or by the caller's function.
 */
import type { Duplex } from 'node:stream'
import { now } from '../../base/clock.ts'
import { startTimer } from '../../base/timer.ts'
import type { Dispatch } from '../../dispatcher/compose.ts'
import { RequestAbortedError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { HeldResponse } from '../../relay/held-response.ts'
import { RelayController, type RelayOwner } from '../../relay/relay-controller.ts'
import { replayOf } from '../../relay/replay.ts'
import type { Head } from '../../relay/response-source.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { originKey } from '../origin-key.ts'
import { Attempts, statusError } from './attempts.ts'
import type { RetrySettings } from './options.ts'
import { firstRefusal, PassedResponse } from './passed-response.ts'
import { decide, GIVE_UP, isUnsent } from './policy.ts'
import { askPolicy } from './policy-call.ts'
import { mayAnswerAgain, optionsOfAttempt } from './repeat.ts'
import { abandon, RESPONDING, type RetryPhase, RUNNING, SETTLED, waiting } from './retry-phase.ts'

/** For a dispatcher that waits for its requests. */
export interface RetryOwner {
  /** Called when the request is over: no further attempt follows. */
  onSettled(request: RetriedRequest): void
}

export class RetriedRequest extends ForwardingHandler implements RelayOwner {
  readonly #dispatch: Dispatch
  readonly #opts: DispatchOptions
  readonly #settings: RetrySettings
  readonly #owner: RetryOwner | null
  readonly #controller = new RelayController(this)
  /** Only if there is a deadline. */
  readonly #startedAt: number
  #state: RetryPhase = RUNNING
  /** The handler got `onRequestStart`, and with it the controller. */
  #started = false
  /** The handler can give the request up while it waits. */
  #announced = false
  /** Gives the current attempt up while it waits in a queue. */
  #abortQueued: ((reason?: unknown) => void) | null = null
  #attempts: Attempts | null = null
  /** Null until a final head was passed on. */
  #response: PassedResponse | null = null

  constructor(
    opts: DispatchOptions,
    handler: DispatchHandler,
    dispatch: Dispatch,
    settings: RetrySettings,
    owner: RetryOwner | null,
  ) {
    super(handler)
    this.#opts = opts
    this.#dispatch = dispatch
    this.#settings = settings
    this.#owner = owner
    this.#startedAt = settings.deadline === null ? 0 : now()
    settings.budget?.onRequest(originKey(opts, settings.ownOrigin))
  }

  get settled(): boolean {
    return this.#state.at === 'settled'
  }

  /** Dispatches the first attempt. Throws what the dispatcher throws. */
  start(): boolean {
    return this.#dispatch(optionsOfAttempt(this.#opts, null), this)
  }

  /** Ends a request that waits for its next attempt. One that runs is ended by its dispatcher. */
  endWaiting(error: Error): void {
    if (this.#state.at === 'waiting') this.#contain(() => this.#settle(error))
  }

  /** Absent if the handler has no use for it and this is the first attempt: a dispatcher makes a function for it. */
  override get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    const isFixed = this.#attempts === null && this.inner.onRequestQueued === undefined
    return isFixed ? undefined : this.#onQueued
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    this.#abortQueued = abort
    if (this.#controller.aborted || this.settled) abort(this.#controller.reason)
    else this.#announce()
  }

  #announce(): void {
    if (this.#announced) return
    this.#announced = true
    this.inner.onRequestQueued?.((reason) => this.#controller.abort(reason))
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#abortQueued = null
    if (this.settled) {
      controller.abort(this.#controller.reason)
      return
    }
    this.#controller.attach(controller)
    if (this.#response !== null) return
    this.#started = true
    this.inner.onRequestStart?.(this.#controller, context)
  }

  override onRequestSent(): void {
    if (this.#response === null) this.inner.onRequestSent?.()
  }

  override onResponseStarted(): void {
    if (this.#response === null) this.inner.onResponseStarted?.()
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (this.settled || (statusCode < 200 && this.#response !== null)) return
    if (this.#response !== null && this.#state.at === 'running') {
      this.#goOn(controller, { statusCode, headers, statusText })
    } else if (statusCode < 200 || this.#response !== null) {
      // What becomes of a second final head is the handler's decision.
      this.inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
    } else if (this.#settings.statusCodes.has(statusCode) && mayAnswerAgain(this.#opts, this.#settings)) {
      this.#onBadStatus(controller, { statusCode, headers, statusText })
    } else {
      const refusal = firstRefusal(this.#opts.method, statusCode, headers, this.#settings)
      if (refusal === null) this.#pass(controller, { statusCode, headers, statusText })
      else this.#refuse(refusal, { statusCode, headers, statusText })
    }
  }

  /** The handler gets this response. */
  #pass(controller: DispatchController, { statusCode, headers, statusText }: Head): void {
    this.#state = RESPONDING
    this.#response = new PassedResponse(statusCode, headers)
    this.#controller.show(controller)
    this.inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
  }

  override onResponseData(_controller: DispatchController, chunk: Buffer): void {
    const state = this.#state
    if (state.at === 'responding') {
      if (this.#admits(chunk.length)) this.inner.onResponseData?.(this.#controller, chunk)
    } else if (state.at === 'discarding') state.body.take(chunk.length)
    else if (state.at === 'held') state.response.body.add(chunk)
  }

  /** Whether so many more bytes can belong to the response. */
  #admits(length: number): boolean {
    const refusal = this.#response!.take(length)
    if (refusal !== null) this.#refuse(refusal)
    return refusal === null
  }

  override onResponseEnd(_controller: DispatchController, trailers: HeaderObject): void {
    const state = this.#state
    if (state.at === 'responding') {
      const refusal = this.#response!.refusalOfEnd()
      if (refusal !== null) {
        this.#refuse(refusal)
        return
      }
      this.#end(trailers)
    } else if (state.at === 'held') state.response.outcome = { trailers }
    else this.#onAttemptOver()
  }

  #end(trailers: HeaderObject): void {
    this.#release()
    this.forwardEnd(this.#controller, trailers)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#controller.show(controller)
    this.#release()
    this.inner.onRequestUpgrade?.(this.#controller, statusCode, headers, socket)
  }

  override onResponseError(_controller: DispatchController | null | undefined, error: Error): void {
    const state = this.#state
    if (state.at === 'held') state.response.outcome = { error }
    else if (state.at === 'running' || state.at === 'responding') {
      if (this.#controller.aborted || !this.#canBeginAgain(error)) this.#settle(error)
      else this.#decide(error)
    } else this.#onAttemptOver()
  }

  /** The response of a failed attempt has ended, or was dropped. */
  #onAttemptOver(): void {
    const state = this.#state
    if (state.at !== 'discarding') return
    state.body.stop()
    state.then()
  }

  /** Whether another attempt is possible at all: the body is there, and the handler has got nothing that cannot go on. */
  #canBeginAgain(error: Error | null | undefined): boolean {
    // A handler threw it. A policy could not hand it back: for its callback it means another attempt.
    if (error === null || error === undefined) return false
    const replay = replayOf(this.#opts.body)
    if (replay === 'spent' || (replay === 'unread' && !isUnsent(error))) return false
    const { attempt } = this.#controller
    return this.#response === null || this.#response.canGoOn(this.#opts.method, attempt, this.#settings)
  }

  #onBadStatus(controller: DispatchController, head: Head): void {
    const error = statusError('Request failed', head, this.#attempts)
    if (this.#settings.throwOnError) {
      this.#discard(controller, head, () => this.#decide(error))
    } else if (this.#settings.retry !== null) {
      this.#controller.attach(controller)
      controller.pause()
      this.#fail(error)
      this.#ask(error, { at: 'held', response: new HeldResponse(head), timer: null })
    } else {
      this.#fail(error)
      const delay = this.#delayAfter(error)
      if (delay === GIVE_UP) this.#pass(controller, head)
      else this.#discard(controller, head, () => this.#wait(error, delay))
    }
  }

  #discard(controller: DispatchController, { headers }: Head, then: () => void): void {
    const body = new DiscardedBody(() => controller.abort())
    this.#state = { at: 'discarding', body, then }
    body.begin(headers, this.#opts.method !== 'HEAD')
  }

  /** A head after that of the response: its body continues the response, or the request fails. */
  #goOn(controller: DispatchController, head: Head): void {
    const refusal = this.#response!.refusal(head)
    if (refusal === null) {
      this.#state = RESPONDING
      if (this.#controller.paused) controller.pause()
    } else if (this.#settings.statusCodes.has(head.statusCode)) {
      const error = statusError(refusal, head, this.#attempts)
      this.#discard(controller, head, () => this.#decide(error))
    } else this.#refuse(refusal, head)
  }

  /** The peer's continuation is not one: nothing of it may reach the handler. */
  #refuse(message: string, head: Head = this.#response!.partial): void {
    const error = statusError(message, head, this.#attempts)
    const { attempt } = this.#controller
    this.#fail(error)
    this.#settle(error)
    attempt?.abort(error)
  }

  /** An attempt has failed, and the policy says what follows. */
  #decide(error: Error): void {
    this.#fail(error)
    if (this.#settings.retry !== null) {
      this.#controller.release()
      this.#ask(error, this.#waiting(null))
      return
    }
    const delay = this.#delayAfter(error)
    if (delay === GIVE_UP) this.#settle(error)
    else this.#wait(error, delay)
  }

  #fail(error: Error): void {
    this.#attempts ??= new Attempts()
    this.#attempts.add(error)
  }

  #delayAfter(error: Error): number {
    const { count } = this.#attempts!
    return decide(error, count, this.#opts, this.#startedAt, this.#settings)
  }

  /** `asking` is the state until the caller's policy answers; any other one makes the answer void. */
  #ask(error: Error, asking: RetryPhase & { timer: unknown }): void {
    this.#state = asking
    this.#announce()
    const { count } = this.#attempts!
    asking.timer = askPolicy(error, count, this.#opts, this.#settings, (result) => {
      if (this.#state !== asking) return
      this.#contain(() => {
        if (asking.at === 'held') this.#onVerdict(error, asking.response, result)
        else if (result === null) this.#again(error)
        else this.#settle(result)
      })
    })
  }

  /** The caller's policy has decided about a response that was held. */
  #onVerdict(error: Error, response: HeldResponse, result: Error | null): void {
    const { head, body, outcome } = response
    const attempt = this.#controller.attempt!
    if (result === null) {
      if (outcome !== null) this.#again(error)
      else {
        this.#discard(attempt, head, () => this.#again(error))
        attempt.resume()
      }
    } else if (outcome !== null && 'error' in outcome) this.#settle(outcome.error)
    else {
      this.#pass(attempt, head)
      while (body.size > 0) this.onResponseData(attempt, body.shiftOwn()!)
      if (outcome !== null) this.onResponseEnd(attempt, outcome.trailers)
      else if (!this.#controller.paused) attempt.resume()
    }
  }

  #wait(error: Error, delay: number): void {
    this.#attempts!.onRetry(error, delay, this.#opts)
    const timer: unknown = startTimer(() => this.#begin(), delay)
    this.#state = this.#waiting(timer)
    this.#controller.release()
    this.#announce()
  }

  #waiting(timer: unknown): RetryPhase & { at: 'waiting' } {
    return waiting(timer, this.#opts.body, (error) => this.#controller.abort(error))
  }

  #again(error: Error): void {
    this.#attempts!.onRetry(error, null, this.#opts)
    this.#begin()
  }

  #begin(): void {
    if (this.#state.at === 'waiting') this.#state.unwatch?.()
    this.#state = RUNNING
    this.#abortQueued = null
    this.#controller.release()
    try {
      const fields = this.#response === null ? null : this.#response.fields()
      this.#dispatch(optionsOfAttempt(this.#opts, fields), this)
    } catch (error) {
      this.#contain(() => this.#settle(error as Error))
    }
  }

  onAbort(reason: unknown): void {
    const { attempt } = this.#controller
    const state = this.#state
    const isOurs = state.at === 'running' || state.at === 'responding'
    if (isOurs && attempt !== null) attempt.abort(reason)
    else if (isOurs && this.#abortQueued !== null) this.#abortQueued(reason)
    else {
      this.#contain(() => this.#settle((reason ?? new RequestAbortedError()) as Error))
      attempt?.abort(reason)
    }
  }

  /** The final call with an error. */
  #settle(error: Error): void {
    if (this.settled) return
    if (!this.#controller.aborted) this.#attempts?.describe(error)
    this.#release()
    destroyBodyOf(this.#opts, error)
    this.inner.onResponseError?.(this.#started ? this.#controller : null, error)
  }

  #release(): void {
    abandon(this.#state)
    this.#state = SETTLED
    this.#controller.settle()
    this.#owner?.onSettled(this)
  }

  /** Runs calls to the handler that no dispatcher is around to catch. */
  #contain(call: () => void): void {
    try {
      call()
    } catch (error) {
      const { attempt } = this.#controller
      try {
        this.#settle(error as Error)
      } catch {
        // The handler had its final call, and threw in that.
      }
      attempt?.abort(error)
    }
  }
}
