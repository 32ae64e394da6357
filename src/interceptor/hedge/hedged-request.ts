/**
 * One request with several attempts at a time: the first good response head wins, and the other attempts are
 * aborted. A bad head is kept while others may still bring a better one.
 */
import type { Duplex } from 'node:stream'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { Attempt } from '../../relay/attempt.ts'
import { HeldResponse } from '../../relay/held-response.ts'
import { originKey } from '../../relay/origin-key.ts'
import { type Call, RelayedRequest } from '../../relay/relayed-request.ts'
import type { Head } from '../../relay/response-source.ts'
import { optionsOfAttempt } from '../retry/repeat.ts'
import type { HedgeSettings } from './options.ts'

/**
 * Bytes of a bad response that are kept. One that is longer wins: it may hold up the connection that others
 * wait for.
 */
const MAX_HELD = 65_536

export class HedgedRequest extends RelayedRequest<HedgeSettings> {
  /**
   * Those that have not failed, in the order in which they began; each with its bad response, if it has
   * brought one.
   */
  readonly #attempts = new Map<Attempt, HeldResponse | null>()
  /** The attempt whose progress the handler sees until there is a head. */
  #first: Attempt | null = null
  /** Null while they race. */
  #winner: Attempt | null = null
  #timer: ReturnType<typeof setTimeout> | null = null
  #sent = 0

  constructor(call: Call, settings: HedgeSettings) {
    super(call, settings)
    this.downstream.source = this
    settings.budget?.onRequest(originKey(call.opts, call.own))
  }

  /** Dispatches the first attempt. Throws what the dispatcher throws. */
  start(): boolean {
    const accepted = this.send()
    this.#schedule()
    return accepted
  }

  override send(): boolean {
    // Any attempt may have to be given up in its queue.
    const attempt = new Attempt(this, this.#first === null ? this.downstream : null, true)
    this.#first ??= attempt
    this.#attempts.set(attempt, null)
    this.#sent++
    try {
      return attempt.send(this.call.dispatch!, optionsOfAttempt(this.opts, null))
    } catch (error) {
      this.#attempts.delete(attempt)
      throw error
    }
  }

  #schedule(): void {
    const isOver = this.#winner !== null || this.downstream.settled
    if (isOver || this.#sent >= this.settings.maxAttempts) return
    this.#timer = startTimer(() => this.#onDelay(), this.settings.delay)
    // The attempts that run keep the process alive.
    this.#timer.unref?.()
  }

  #onDelay(): void {
    const { budget } = this.settings
    if (budget !== null && !budget.withdraw(originKey(this.opts, this.call.own))) return
    try {
      this.send()
    } catch {
      // The attempts that run go on.
    }
    this.#schedule()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimer(this.#timer)
    this.#timer = null
  }

  override onStarted(attempt: Attempt, context: unknown): void {
    if (attempt === this.#first || !this.downstream.started) {
      this.downstream.start(context, attempt.controller)
    }
  }

  override onHead(attempt: Attempt, head: Head): void {
    const { statusCode, headers } = head
    if (this.#winner === null && statusCode >= 200) {
      const isBad = statusCode >= 500 || statusCode === 429
      // The server asks to be left alone.
      if (isBad && Object.hasOwn(headers, 'retry-after')) this.#stopTimer()
      if (isBad && this.#mayImprove(attempt)) {
        // Not paused: the other attempt may wait for this one's connection.
        this.#attempts.set(attempt, new HeldResponse(head))
        return
      }
      this.#win(attempt)
    }
    if (attempt === (this.#winner ?? this.#first)) this.downstream.head(head, attempt.controller)
  }

  /** Whether another attempt may still bring a good response. */
  #mayImprove(except: Attempt | null): boolean {
    return [...this.#attempts].some(([attempt, held]) => attempt !== except && held === null)
  }

  #win(winner: Attempt): void {
    this.#winner = winner
    this.#stopTimer()
    if (this.downstream.paused) winner.pause()
    for (const attempt of [...this.#attempts.keys()]) if (attempt !== winner) attempt.abort()
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (attempt === this.#winner) {
      super.onData(attempt, chunk)
      return
    }
    const held = this.#attempts.get(attempt)
    held?.body.add(chunk)
    if (held && held.body.size > MAX_HELD) this.#release(attempt, held)
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    const held = this.#attempts.get(attempt)
    if (attempt === this.#winner) this.downstream.end(trailers, attempt.controller)
    else if (held) held.outcome = { trailers }
  }

  override onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void {
    this.#win(attempt)
    this.downstream.upgrade(head, socket, attempt.controller)
  }

  override onFailed(attempt: Attempt, error: Error): void {
    this.#attempts.delete(attempt)
    if (attempt === this.#winner) this.downstream.fail(error)
    if (this.#winner !== null || this.downstream.aborted || this.#mayImprove(null)) return
    for (const [kept, held] of this.#attempts) {
      this.#release(kept, held!)
      return
    }
    this.#stopTimer()
    this.downstream.fail(error)
  }

  /** No better response came than this one, or it is too long to wait for one. */
  #release(attempt: Attempt, held: HeldResponse): void {
    this.downstream.contain(() => {
      this.#win(attempt)
      held.passTo(this.downstream, attempt.controller)
    })
  }

  override abort(reason: unknown): void {
    this.#stopTimer()
    for (const attempt of [...this.#attempts.keys()]) attempt.abort(reason)
  }

  override pause(): void {
    this.#winner?.pause()
  }

  override resume(): void {
    this.#winner?.resume()
  }
}
