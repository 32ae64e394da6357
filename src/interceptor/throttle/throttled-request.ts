/** One request that a throttle limits: waiting, if it has to → sent → over. */
import type { Duplex } from 'node:stream'
import type { LinkedList } from '../../base/collection/linked-list.ts'
import { ThrottledError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { errorFacts } from '../../relay/error-facts.ts'
import { HeldCall } from '../../relay/held-call.ts'
import { originKey } from '../../relay/origin-key.ts'
import { refuse } from '../../relay/refusal.ts'
import { type Call, RelayedRequest } from '../../relay/relayed-request.ts'
import { ownOptions } from '../../relay/request-headers.ts'
import type { Head } from '../../relay/response-source.ts'
import { destroyBodyOf } from '../../request/body-source.ts'
import { describeUnsent } from '../../request/unsent-error.ts'
import type { Limit, LimitedRequest } from './limit.ts'

export class ThrottledRequest extends RelayedRequest implements LimitedRequest {
  previous: LimitedRequest | null = null
  next: LimitedRequest | null = null
  listedIn: LinkedList<LimitedRequest> | null = null
  readonly priority: number
  order = 0
  sentAt = 0
  /** Beside the call: the head comes long before the request is over. */
  isAnswered = false
  readonly #limit: Limit
  /** Of one that has waited; kept when it is sent, for its body. */
  #call: HeldCall | null = null
  /** It counts in its limit. Beside the call: one that was sent at once has none. */
  #isRunning = false

  constructor(call: Call, limit: Limit, priority: number) {
    super(call, undefined)
    this.#limit = limit
    this.priority = priority
  }

  get hasWaited(): boolean {
    return this.#call !== null
  }

  /** Throws what the dispatcher throws. */
  sendAtOnce(): boolean {
    this.#limit.admit(this)
    try {
      return this.#send()
    } catch (error) {
      this.#leave(false, () => {})
      throw error
    }
  }

  /** Waits for its turn; false if the headers cannot be read. */
  wait(): boolean {
    try {
      this.opts = ownOptions(this.opts)
    } catch (error) {
      return refuse(this.opts, this.downstream.handler, error)
    }
    this.#call = new HeldCall(this.opts, this.downstream, this.call.held, () => this.#limit.abandon(this))
    this.#limit.waiting.add(this)
    this.downstream.announce()
    this.#limit.advance()
    return true
  }

  giveUp(retryAfter: number): void {
    this.#call!.fail(this.#call!.describe(tooLong(retryAfter)))
  }

  /**
   * The queue is full, or the wait would be too long. What the handler throws comes out of `dispatch()`, as
   * with a dispatcher that is closed.
   */
  refuse(retryAfter: number | null): true {
    const reason = retryAfter === null ? new ThrottledError() : tooLong(retryAfter)
    const error = describeUnsent(reason, this.opts, originKey(this.opts), 'queued')
    destroyBodyOf(this.opts, error)
    this.downstream.fail(error)
    return true
  }

  onTurn(): void {
    this.#call!.release()
    this.downstream.contain(() => {
      try {
        this.#send()
      } catch (error) {
        destroyBodyOf(this.opts, error)
        this.#leave(false, () => this.downstream.fail(error as Error))
      }
    })
  }

  #send(): boolean {
    this.#isRunning = true
    return this.send()
  }

  override onHead(attempt: Attempt, head: Head): void {
    if (head.statusCode >= 200) this.#limit.onHead(head.statusCode, head.headers, this)
    super.onHead(attempt, head)
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    this.#leave(true, () => super.onEnd(attempt, trailers))
  }

  /** A tunnel lasts as long as its owner wants: it holds no place. */
  override onUpgrade(attempt: Attempt, head: Head, socket: Duplex): void {
    this.#leave(true, () => super.onUpgrade(attempt, head, socket))
  }

  override onFailed(attempt: Attempt, error: Error): void {
    const isRefused = errorFacts(error).fault === 'dispatcher'
    // A dispatcher that is closed leaves the body to the caller, who has given it away when the request began
    // to wait.
    if (isRefused && this.#call !== null) destroyBodyOf(this.opts, error)
    this.#leave(!isRefused, () => super.onFailed(attempt, error))
  }

  /** Another request may take its place when the handler knows that this one is over. */
  #leave(wasSent: boolean, finalCall: () => void): void {
    if (!this.#isRunning) return
    this.#isRunning = false
    this.#limit.release(this, wasSent)
    try {
      finalCall()
    } finally {
      this.#limit.advance()
    }
  }
}

/** The server asks for a longer wait than the throttle allows. */
function tooLong(retryAfter: number): ThrottledError {
  const seconds = Math.ceil(retryAfter / 1000)
  return new ThrottledError(`The server asks for no requests for ${seconds} seconds`, { retryAfter })
}
