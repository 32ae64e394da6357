/**
 * One request that is sent again when it fails. It owns which attempt runs, what of its response the caller's
 * handler has got, and the wait between two attempts. Whether there is another attempt is decided in
 * policy.ts, or by the caller's function.
 */
import { now } from '../../base/loop/clock.ts'
import { isThenable } from '../../base/loop/thenable.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import { HeldCall } from '../../relay/held-call.ts'
import { HeldResponse } from '../../relay/held-response.ts'
import { originKey } from '../../relay/origin-key.ts'
import { type Call, RelayedRequest } from '../../relay/relayed-request.ts'
import { replayOf } from '../../relay/replay.ts'
import type { Head } from '../../relay/response-source.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import type { Refusable } from '../../request/dispatching.ts'
import { AttemptLimit } from './attempt-limit.ts'
import { FailedAttempts, statusError } from './failed-attempts.ts'
import type { RetrySettings } from './options.ts'
import { firstRefusal, PassedResponse } from './passed-response.ts'
import { askPolicy, decide, GIVE_UP, isUnsent } from './policy.ts'
import { isRepeatable, optionsOfAttempt } from './repeat.ts'

/** Those of a dispatcher that waits for them. Each leaves when no further attempt follows. */
export type RetriedRequests = Set<RetriedRequest>

type State =
  /** An attempt waits in a queue, or runs without a final head. */
  | { readonly at: 'running' }
  /** A response is passed on. */
  | { readonly at: 'responding' }
  /** An attempt has failed with a status; what follows is known when its body was read. */
  | { readonly at: 'discarding'; readonly body: DiscardedBody; readonly then: () => void }
  | Pausing
  | { readonly at: 'settled' }

type Pausing =
  /** A response waits for the caller's policy. */
  | { readonly at: 'held'; readonly response: HeldResponse; timer: unknown }
  /**
   * No attempt runs, and the caller's policy has not answered; or the time until the next attempt is not
   * over.
   */
  | { readonly at: 'waiting'; readonly call: HeldCall; timer: unknown }

const RUNNING: State = { at: 'running' }
const RESPONDING: State = { at: 'responding' }
const SETTLED: State = { at: 'settled' }

export class RetriedRequest extends RelayedRequest<RetrySettings> implements Refusable {
  readonly #open: RetriedRequests | undefined
  /** Only if there is a deadline. */
  readonly #startedAt = this.settings.deadline === null ? 0 : now()
  readonly #failed = new FailedAttempts()
  readonly #limit =
    this.settings.attemptTimeout === null ? null : new AttemptLimit(this.settings.attemptTimeout)
  #state: State = RUNNING
  /** Null until a final head was passed on. */
  #response: PassedResponse | null = null

  constructor(call: Call, settings: RetrySettings, open?: RetriedRequests) {
    super(call, settings)
    this.#open = open
    this.begin(this.downstream, settings.attemptTimeout === null ? undefined : true)
    settings.budget?.onRequest(originKey(call.opts, settings.ownOrigin))
  }

  /** Dispatches the first attempt. Throws what the dispatcher throws. */
  start(): boolean {
    const opts = optionsOfAttempt(this.opts, null)
    this.#beginLimit()
    try {
      return this.attempt.send(this.call.dispatch!, opts)
    } catch (error) {
      this.#limit?.end()
      throw error
    }
  }

  #beginLimit(): void {
    const { attempt, downstream } = this
    this.#limit?.begin(attempt, this.opts, (error) => downstream.contain(() => attempt.abort(error)))
  }

  /** While it is held. */
  refuse(error: unknown): void {
    this.downstream.contain(() => this.#settle(error as Error))
    this.attempt.abort(error)
  }

  override onStarted({ controller }: Attempt, context: unknown): void {
    // The first attempt of a `RetryHandler` is dispatched by its caller.
    if (this.#limit?.isRunning === false) this.#beginLimit()
    if (this.#response === null) this.downstream.start(context, controller)
  }

  override onHead({ controller }: Attempt, head: Head): void {
    const { at } = this.#state
    const isFinal = head.statusCode >= 200
    if (isFinal) this.#limit?.end()
    // What becomes of a second final head is the handler's decision.
    if (isFinal ? at === 'responding' : this.#response === null) this.downstream.head(head, controller)
    else if (!isFinal || at !== 'running') return
    else if (this.#response === null) this.#answer(head)
    else this.#goOn(this.#response, head)
  }

  /** The first final head. */
  #answer(head: Head): void {
    const { statusCodes, retry } = this.settings
    // If nothing can follow a bad status, it is an answer like any other.
    const mayRepeat = retry !== null || isRepeatable(this.opts, this.settings)
    const isBad = statusCodes.has(head.statusCode) && replayOf(this.opts.body) === 'always' && mayRepeat
    const refusal = isBad ? null : firstRefusal(this.opts.method, head, this.settings)
    if (isBad) this.#onBadStatus(head)
    else if (refusal === null) this.#pass(head)
    else this.#refuse(refusal, head)
  }

  /** The handler gets this response. */
  #pass(head: Head): void {
    this.#respond(new PassedResponse(head))
    this.downstream.head(head, this.attempt.controller)
  }

  #respond(response: PassedResponse): void {
    this.#state = RESPONDING
    this.#response = response
    if (this.downstream.paused) this.attempt.pause()
  }

  override onData(_attempt: Attempt, chunk: Buffer): void {
    const state = this.#state
    if (state.at === 'responding') {
      const refusal = this.#response!.take(chunk.length)
      if (refusal === null) this.downstream.data(chunk)
      else this.#refuse(refusal)
    } else if (state.at === 'discarding') state.body.take(chunk.length)
    else if (state.at === 'held') state.response.body.add(chunk)
  }

  protected override passesBytes(length: number): boolean {
    return this.#state.at === 'responding' && this.#response!.take(length) === null
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    const state = this.#state
    if (state.at === 'responding') {
      const refusal = this.#response!.refusalOfEnd()
      if (refusal === null) super.onEnd(attempt, trailers)
      else this.#refuse(refusal)
    } else if (state.at === 'held') state.response.outcome = { trailers }
    else this.#onDiscarded()
  }

  override onFailed(_attempt: Attempt, error: Error): void {
    this.#limit?.end()
    const state = this.#state
    if (state.at === 'held') state.response.outcome = { error }
    else if (state.at === 'running' || state.at === 'responding') {
      if (!this.downstream.isWanted || !this.#canBeginAgain(error)) this.#settle(error)
      else this.#decide(error, null)
    } else this.#onDiscarded()
  }

  /** The response of a failed attempt has ended, or was dropped. */
  #onDiscarded(): void {
    const state = this.#state
    if (state.at !== 'discarding') return
    state.body.stop()
    state.then()
  }

  /**
   * Whether another attempt is possible at all: the body is there, and the handler has got nothing that
   * cannot go on.
   */
  #canBeginAgain(error: Error | null | undefined): boolean {
    // A policy could not hand it back: for its callback it means another attempt.
    if (error === null || error === undefined) return false
    const replay = replayOf(this.opts.body)
    if (replay === 'spent' || (replay === 'unread' && !isUnsent(error))) return false
    return this.#response?.canGoOn(this.opts.method, this.attempt.facts, this.settings) ?? true
  }

  #onBadStatus(head: Head): void {
    const error = statusError('Request failed', head, this.#failed)
    if (this.settings.throwOnError) this.#discard(head, () => this.#decide(error, null))
    else this.#decide(error, new HeldResponse(head))
  }

  #discard({ headers }: Head, then: () => void): void {
    const body = new DiscardedBody(() => this.attempt.abort())
    this.#state = { at: 'discarding', body, then }
    this.attempt.resume()
    body.begin(headers, this.opts.method !== 'HEAD')
  }

  /** A head after that of the response: its body continues the response, or the request fails. */
  #goOn(response: PassedResponse, head: Head): void {
    const refusal = response.refusal(head)
    if (refusal === null) this.#respond(response)
    else if (this.settings.statusCodes.has(head.statusCode)) {
      const error = statusError(refusal, head, this.#failed)
      this.#discard(head, () => this.#decide(error, null))
    } else this.#refuse(refusal, head)
  }

  /** The answer does not continue the response: nothing of it may reach the handler. */
  #refuse(message: string, head: Head = { ...this.#response!.head, statusCode: 206 }): void {
    const error = statusError(message, head, this.#failed)
    this.#failed.add(error)
    this.#settle(error)
    this.attempt.abort(error)
  }

  /** An attempt has failed, and the policy says what follows. `held`: the response with a bad status. */
  #decide(error: Error, held: HeldResponse | null): void {
    this.#failed.add(error)
    if (this.settings.retry !== null) {
      this.#ask(error, held)
      return
    }
    const delay = decide(error, this.#failed.count, this.opts, this.#startedAt, this.settings)
    this.#onVerdict(error, held, delay === GIVE_UP ? error : null, delay)
  }

  /** Any other state makes the answer of the caller's policy void. */
  #ask(error: Error, held: HeldResponse | null): void {
    if (held !== null) this.attempt.pause()
    const asking = this.#enter(held === null ? this.#waiting() : { at: 'held', response: held, timer: null })
    asking.timer = askPolicy(error, this.#failed.count, this.opts, this.settings, (result) => {
      if (this.#state === asking) this.downstream.contain(() => this.#onVerdict(error, held, result, null))
    })
  }

  /** No dispatcher has the request until the next attempt. */
  #waiting(): Pausing {
    const call = new HeldCall(this.opts, this.downstream, undefined, () => this.#release())
    return { at: 'waiting', call, timer: null }
  }

  #enter(state: Pausing): Pausing {
    this.#state = state
    this.call.held?.add(this)
    this.downstream.announce()
    return state
  }

  /** `result`: null for another attempt, after `delay` or at once; or what the request ends with. */
  #onVerdict(error: Error, held: HeldResponse | null, result: Error | null, delay: number | null): void {
    const outcome = held?.outcome ?? null
    if (result === null) {
      if (held !== null && outcome === null) this.#discard(held.head, () => this.#wait(error, delay))
      else this.#wait(error, delay)
    } else if (held === null) this.#settle(result)
    else if (outcome !== null && 'error' in outcome) this.#settle(outcome.error)
    else {
      this.call.held?.delete(this)
      this.#pass(held.head)
      while (held.body.size > 0) this.onData(this.attempt, held.body.shiftOwn()!)
      if (outcome !== null) this.onEnd(this.attempt, outcome.trailers)
      else if (!this.downstream.paused) this.attempt.resume()
    }
  }

  #wait(error: Error, delay: number | null): void {
    const { onRetry } = this.settings
    let hook: Promise<unknown> | null
    try {
      const answer = this.#failed.onRetry(error, delay, this.opts, onRetry)
      hook = onRetry !== null && isThenable(answer) ? Promise.resolve(answer) : null
    } catch (thrown) {
      this.#settle(thrown as Error)
      return
    }
    if (hook !== null) this.#waitFor(hook, delay)
    else if (delay === null) this.#beginAgain()
    else this.#enter({ ...this.#waiting(), timer: startTimer(() => this.#beginAgain(), delay) })
  }

  /** The wait begins when the caller's hook is done. Any other state makes its end void. */
  #waitFor(hook: Promise<unknown>, delay: number | null): void {
    const waiting = this.#enter(this.#waiting())
    const next = (act: () => void): void => {
      if (this.#state === waiting) this.downstream.contain(act)
    }
    const begin = (): void => this.#beginAgain()
    const go = (): void => {
      if (delay === null) begin()
      else waiting.timer = startTimer(begin, delay)
    }
    hook.then(
      () => next(go),
      (error: Error) => next(() => this.#settle(error)),
    )
  }

  #beginAgain(): void {
    if (this.#state.at === 'waiting') this.#state.call.release()
    this.call.held?.delete(this)
    this.#state = RUNNING
    const attempt = this.begin(this.#response === null ? this.downstream : null, true)
    this.#beginLimit()
    try {
      attempt.send(this.call.dispatch!, optionsOfAttempt(this.opts, this.#response?.fields() ?? null))
    } catch (error) {
      this.downstream.contain(() => this.#settle(error as Error))
    }
  }

  override abort(reason: unknown): void {
    const isOurs = this.#state.at === 'running' || this.#state.at === 'responding'
    // The error that the attempt fails with ends the request.
    if (!isOurs) this.#release()
    super.abort(reason)
  }

  override pause(): void {
    if (this.#state.at === 'running' || this.#state.at === 'responding') this.attempt.pause()
  }

  override resume(): void {
    if (this.#state.at === 'running' || this.#state.at === 'responding') this.attempt.resume()
  }

  /** The final call with an error. */
  #settle(error: Error): void {
    if (this.#state.at === 'settled') return
    if (this.downstream.isWanted) this.#failed.describe(error)
    this.#release()
    destroyBodyOf(this.opts, error)
    this.downstream.fail(error)
  }

  protected override onOver(): void {
    this.#release()
  }

  /** Nothing follows any more. */
  #release(): void {
    const state = this.#state
    if (state.at === 'settled') return
    this.#state = SETTLED
    this.#limit?.end()
    if (state.at === 'discarding') state.body.stop()
    if (state.at === 'waiting') state.call.release()
    if (state.at === 'waiting' || state.at === 'held') clearTimer(state.timer as NodeJS.Timeout)
    this.call.held?.delete(this)
    this.#open?.delete(this)
  }
}
