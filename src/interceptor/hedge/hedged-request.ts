/**
 * One request with several attempts at a time: the first good response head wins, and the other attempts are aborted. A bad
 * head is kept while others may still bring a better one.
 */
import type { Duplex } from 'node:stream'
import { clearTimer, startTimer } from '../../base/timer.ts'
import type { Dispatch, OwnOrigin } from '../../dispatcher/compose.ts'
import { RequestAbortedError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { RelayController, type RelayOwner } from '../../relay/relay-controller.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { HeldResponse } from '../held-response.ts'
import { originKey } from '../origin-key.ts'
import { optionsOfAttempt } from '../retry/repeat.ts'
import { HedgeAttempt, type Race } from './attempt.ts'
import type { HedgeSettings } from './options.ts'

type State =
  | { readonly at: 'racing' }
  | { readonly at: 'won'; readonly winner: HedgeAttempt }
  | { readonly at: 'settled' }

/** Bytes of a bad response that are kept. One that is longer wins: it may hold up the connection that others wait for. */
const MAX_HELD = 65_536

const RACING: State = { at: 'racing' }
const SETTLED: State = { at: 'settled' }

export class HedgedRequest implements Race, RelayOwner {
  readonly #inner: DispatchHandler
  readonly #dispatch: Dispatch
  readonly #opts: DispatchOptions
  readonly #settings: HedgeSettings
  readonly #own: OwnOrigin
  readonly #controller = new RelayController(this)
  /** Those that have not ended; in the order in which they began. */
  readonly #attempts: HedgeAttempt[] = []
  #state: State = RACING
  #timer: ReturnType<typeof setTimeout> | null = null
  #sent = 0
  /** The attempt whose progress the handler sees until there is a head. */
  #first: HedgeAttempt | null = null
  #started = false
  #announced = false
  #draining = false

  constructor(
    opts: DispatchOptions,
    handler: DispatchHandler,
    dispatch: Dispatch,
    settings: HedgeSettings,
    own: OwnOrigin,
  ) {
    this.#opts = opts
    this.#inner = handler
    this.#dispatch = dispatch
    this.#settings = settings
    this.#own = own
    settings.budget?.onRequest(originKey(opts, own))
  }

  /** Dispatches the first attempt. Throws what the dispatcher throws. */
  start(): boolean {
    const accepted = this.#send()
    this.#schedule()
    return accepted
  }

  #send(): boolean {
    const attempt = new HedgeAttempt(this)
    this.#first ??= attempt
    this.#attempts.push(attempt)
    this.#sent++
    try {
      return this.#dispatch(optionsOfAttempt(this.#opts, null), attempt)
    } catch (error) {
      this.#forget(attempt)
      throw error
    }
  }

  #schedule(): void {
    if (this.#state !== RACING || this.#sent >= this.#settings.maxAttempts) return
    this.#timer = startTimer(() => this.#onDelay(), this.#settings.delay)
    // The attempts that run keep the process alive.
    this.#timer.unref?.()
  }

  #onDelay(): void {
    const { budget } = this.#settings
    if (budget !== null && !budget.withdraw(originKey(this.#opts, this.#own))) return
    try {
      this.#send()
    } catch {
      // The attempts that run go on.
    }
    this.#schedule()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
  }

  onQueued(): void {
    if (this.#announced) return
    this.#announced = true
    this.#inner.onRequestQueued?.((reason) => this.#controller.abort(reason))
  }

  onStart(attempt: HedgeAttempt, context: unknown): void {
    if (this.#started && attempt !== this.#first) return
    this.#started = true
    this.#controller.attach(attempt.controller!)
    this.#inner.onRequestStart?.(this.#controller, context)
  }

  onBodySent(attempt: HedgeAttempt, chunk: string | Uint8Array): void {
    if (attempt === this.#first) this.#inner.onBodySent?.(chunk)
  }

  onRequestSent(attempt: HedgeAttempt): void {
    if (attempt === this.#first) this.#inner.onRequestSent?.()
  }

  onResponseStarted(attempt: HedgeAttempt): void {
    if (attempt === this.#first) this.#inner.onResponseStarted?.()
  }

  onHead(
    attempt: HedgeAttempt,
    statusCode: number,
    headers: HeaderObject,
    statusText: string | undefined,
  ): void {
    if (this.#state !== RACING) {
      // What becomes of a second final head is the handler's decision.
      if (this.#hasWon(attempt)) {
        this.#inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
      }
      return
    }
    if (statusCode < 200) {
      if (attempt !== this.#first) return
      this.#inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
      return
    }
    const isBad = statusCode >= 500 || statusCode === 429
    // The server asks to be left alone.
    if (isBad && Object.hasOwn(headers, 'retry-after')) this.#stopTimer()
    if (isBad && this.#attempts.some((other) => other !== attempt && other.held === null)) {
      // Not paused: the other attempt may wait for this one's connection.
      attempt.held = new HeldResponse({ statusCode, headers, statusText })
      return
    }
    this.#win(attempt)
    this.#inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
  }

  #win(attempt: HedgeAttempt): void {
    this.#state = { at: 'won', winner: attempt }
    this.#stopTimer()
    const controller = attempt.controller!
    this.#controller.show(controller)
    if (this.#controller.paused) controller.pause()
    this.#abortOthers(attempt)
  }

  #hasWon(attempt: HedgeAttempt): boolean {
    return this.#state.at === 'won' && this.#state.winner === attempt
  }

  onData(attempt: HedgeAttempt, chunk: Buffer): void {
    const { held } = attempt
    const hasWon = this.#hasWon(attempt)
    if (hasWon && held === null) this.#inner.onResponseData?.(this.#controller, chunk)
    else if (held !== null && (hasWon || this.#state === RACING)) {
      held.body.add(chunk)
      attempt.heldBytes += chunk.length
      if (!hasWon && attempt.heldBytes > MAX_HELD) this.#release(attempt)
    }
  }

  onEnd(attempt: HedgeAttempt, trailers: HeaderObject): void {
    if (attempt.held !== null) attempt.held.outcome = { trailers }
    else if (this.#hasWon(attempt)) this.#end(trailers)
  }

  #end(trailers: HeaderObject): void {
    this.#finish()
    try {
      this.#inner.onResponseEnd?.(this.#controller, trailers)
    } catch (error) {
      this.#inner.onResponseError?.(this.#controller, error as Error)
    }
  }

  onUpgrade(attempt: HedgeAttempt, statusCode: number, headers: HeaderObject, socket: Duplex): void {
    if (this.#state !== RACING) {
      socket.destroy()
      return
    }
    this.#win(attempt)
    this.#finish()
    this.#inner.onRequestUpgrade?.(this.#controller, statusCode, headers, socket)
  }

  onError(attempt: HedgeAttempt, error: Error): void {
    this.#forget(attempt)
    if (this.#hasWon(attempt)) this.#settle(error)
    if (this.#state !== RACING || this.#attempts.some(({ held }) => held === null)) return
    const [kept] = this.#attempts
    if (kept === undefined) this.#settle(error)
    else this.#release(kept)
  }

  /** No better response came than this one, or it is too long to wait for one. */
  #release(attempt: HedgeAttempt): void {
    const { statusCode, headers, statusText } = attempt.held!.head
    this.#contain(attempt, () => {
      this.#win(attempt)
      this.#inner.onResponseStart?.(this.#controller, statusCode, headers, statusText)
    })
    this.#drain(attempt)
  }

  /** Hands over what was kept, as far as the handler takes it. */
  #drain(attempt: HedgeAttempt): void {
    const { held } = attempt
    if (held === null || this.#draining) return
    const takes = (): boolean => this.#hasWon(attempt) && !this.#controller.paused
    this.#draining = true
    this.#contain(attempt, () => {
      while (held.body.size > 0 && takes()) {
        this.#inner.onResponseData?.(this.#controller, held.body.shiftOwn()!)
      }
      if (!takes()) return
      attempt.held = null
      if (held.outcome !== null && 'trailers' in held.outcome) this.#end(held.outcome.trailers)
    })
    this.#draining = false
  }

  /** Runs calls to the handler. A dispatcher that reports another attempt would not know which request to fail. */
  #contain(attempt: HedgeAttempt, call: () => void): void {
    try {
      call()
    } catch (thrown) {
      this.#settle(thrown as Error)
      attempt.abort(thrown)
    }
  }

  onResume(): void {
    if (this.#state.at === 'won') this.#drain(this.#state.winner)
  }

  onAbort(reason: unknown): void {
    const settledWith = (reason ?? new RequestAbortedError()) as Error
    this.#settle(settledWith, reason)
  }

  #settle(error: Error, reason?: unknown): void {
    if (this.#state === SETTLED) return
    this.#finish()
    this.#stopTimer()
    try {
      this.#inner.onResponseError?.(this.#started ? this.#controller : null, error)
    } finally {
      this.#abortOthers(null, reason)
    }
  }

  /** The handler gets its final call. */
  #finish(): void {
    this.#state = SETTLED
    this.#controller.settle()
  }

  #abortOthers(kept: HedgeAttempt | null, reason?: unknown): void {
    for (const attempt of [...this.#attempts]) {
      if (attempt !== kept) attempt.abort(reason)
    }
  }

  #forget(attempt: HedgeAttempt): void {
    const index = this.#attempts.indexOf(attempt)
    if (index !== -1) this.#attempts.splice(index, 1)
  }
}
