/**
 * One key of a throttle: how many of its requests run, which wait, and when the next one may go. A request
 * that waits does so for one of three things: a response (`concurrency`), the time (`rate`, `retry-after`),
 * or its turn among the keys.
 */

import type { Linked, LinkedList } from '../../base/collection/linked-list.ts'
import { LONGEST_DELAY } from '../../base/loop/deadline.ts'
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { type Quota, quotaOf } from '../quota-fields.ts'
import { askedWaitOf } from '../retry/retry-after.ts'
import { AdaptiveRate } from './adaptive-rate.ts'
import type { ThrottleSettings } from './options.ts'
import { SharedLimit, type SharedLimitHost } from './shared-limit.ts'
import { TokenBucket } from './token-bucket.ts'
import { type Waiting, WaitingRequests } from './waiting-requests.ts'

/** A request as its limit sees it. */
export interface LimitedRequest extends Waiting<LimitedRequest> {
  /** It was held up. */
  readonly hasWaited: boolean
  /** By the clock of the host; only if the rate is adaptive. */
  sentAt: number
  /** The limit has seen the head of its response. */
  isAnswered: boolean
  /** Never throws. */
  onTurn(): void
  /** The server has asked for a wait of so many milliseconds, which is too long. Never throws. */
  giveUp(retryAfter: number): void
}

/** What a limit needs of its throttle. */
export interface LimitHost {
  /** Tells it from others that share a store. */
  readonly name: string
  /** Never earlier than the time of a timer that has fired. */
  time(): number
  /** The timer for this time has fired. */
  onDue(at: number): void
  /** A request of the limit could go. */
  enqueue(limit: Limit): void
  /** Sends what can go. */
  run(): void
  /** Requests of all limits that run. */
  running: number
  /** The limit may have become idle. */
  onQuiet(limit: Limit): void
}

/**
 * `open`: nothing waits, or what waits does so for a response. `enqueued`: for the limit's turn. A timer:
 * for the time.
 */
type State = 'open' | 'enqueued' | ReturnType<typeof setTimeout>

export class Limit implements Linked<Limit>, SharedLimitHost {
  previous: Limit | null = null
  next: Limit | null = null
  /** Null unless the host has it among those that it may forget. */
  listedIn: LinkedList<Limit> | null = null
  readonly key: string
  readonly #host: LimitHost
  readonly #settings: ThrottleSettings
  readonly #bucket: TokenBucket
  readonly #rate: AdaptiveRate | null
  /** Null unless other processes share it. */
  readonly #shared: SharedLimit | null
  /** After one was added, `advance()` may send it. */
  readonly waiting: WaitingRequests<LimitedRequest> = new WaitingRequests()
  #running = 0
  /** Of those, the ones that the server may not have counted yet. */
  #unanswered = 0
  /** How many requests the server still accepts before a time. */
  #quota: { left: number; readonly resetsAt: number } | null = null
  #state: State = 'open'
  /**
   * The server has asked for a longer wait than is allowed: until `askedFor`. Until `opensAt` requests fail
   * at once, then one may try again.
   */
  #closure: { readonly opensAt: number; readonly askedFor: number } | null = null

  constructor(key: string, host: LimitHost, settings: ThrottleSettings) {
    this.key = key
    this.#host = host
    this.#settings = settings
    this.#rate = settings.adaptive ? new AdaptiveRate(settings.rate) : null
    const { store } = settings
    this.#shared = store && new SharedLimit(key, host.name, { ...settings, store }, this)
    const rate = store === null ? (this.#rate?.value ?? settings.rate) : Number.POSITIVE_INFINITY
    this.#bucket = new TokenBucket(rate, settings.burst, rate === Number.POSITIVE_INFINITY ? 0 : host.time())
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.waiting.size === 0
  }

  time(): number {
    return this.#host.time()
  }

  get demand(): { readonly waiting: number; readonly running: number } {
    return { waiting: this.waiting.size, running: this.#running }
  }

  onNews(): void {
    if (this.waiting.size === 0) return
    this.#stopAlarm()
    this.advance()
  }

  get isFull(): boolean {
    return this.waiting.size >= this.#settings.maxQueue
  }

  /**
   * The milliseconds that the server wants to be left alone for, if that is too long to wait; null if it is
   * not.
   */
  get closedFor(): number | null {
    if (this.#closure === null) return null
    const at = this.#host.time()
    if (at < this.#closure.opensAt) return this.#closure.askedFor - at
    this.#closure = null
    return null
  }

  /** Whether a request that has just come need not wait. */
  get isFree(): boolean {
    return this.waiting.size === 0 && this.#hasRoom && this.#delay() === 0
  }

  /** A request is about to be sent. */
  admit(request: LimitedRequest): void {
    this.#running++
    this.#unanswered++
    this.#bucket.take()
    this.#shared?.take()
    if (this.#quota !== null) this.#quota.left--
    if (this.#rate !== null) request.sentAt = this.#host.time()
    this.#host.running++
  }

  /** A request is given up while it waits. */
  abandon(request: LimitedRequest): void {
    this.waiting.remove(request)
    if (this.waiting.size === 0) this.#stopAlarm()
    this.#host.onQuiet(this)
  }

  /** Finds out what the next request waits for. */
  #offer(): void {
    if (this.#state !== 'open' || this.waiting.size === 0 || !this.#hasRoom) return
    const delay = this.#delay()
    if (delay === 0) {
      this.#state = 'enqueued'
      this.#host.enqueue(this)
    } else this.#setAlarm(delay)
  }

  /** Its turn has come. Meanwhile the request may have been given up, or a limit may have been reached. */
  takeTurn(): void {
    this.#state = 'open'
    if (this.waiting.size > 0 && this.#hasRoom && this.#delay() === 0) {
      const request = this.waiting.take()!
      this.admit(request)
      request.onTurn()
    }
    this.#offer()
  }

  get #hasRoom(): boolean {
    return this.#running < this.#settings.concurrency && this.#shared?.hasRoom(this.#running) !== false
  }

  #delay(): number {
    const shared = this.#shared?.delay() ?? 0
    if (this.#quota === null && this.#bucket.isUnlimited) return shared
    const at = this.#host.time()
    return Math.max(shared, this.#untilReset(at), this.#bucket.delay(at))
  }

  #untilReset(at: number): number {
    if (this.#quota === null) return 0
    if (at >= this.#quota.resetsAt) this.#quota = null
    return this.#quota === null || this.#quota.left > 0 ? 0 : this.#quota.resetsAt - at
  }

  #setAlarm(delay: number): void {
    // Rounded up, because the runtime rounds down, and the timer would have to be set again.
    const wait = Math.min(Math.ceil(delay), LONGEST_DELAY)
    const due = this.#host.time() + wait
    // Keeps the process alive: a request waits.
    this.#state = startTimer(() => this.#onAlarm(due), wait)
  }

  #onAlarm(due: number): void {
    this.#state = 'open'
    this.#host.onDue(due)
    this.#bucket.catchUp(this.#host.time())
    this.#offer()
    this.#host.run()
  }

  #stopAlarm(): void {
    if (typeof this.#state === 'string') return
    clearTimer(this.#state)
    this.#state = 'open'
  }

  /** The head of a response shows whether the server accepts the rate, and how many requests more. */
  onHead(statusCode: number, headers: HeaderObject, request: LimitedRequest): void {
    if (!request.isAnswered) this.#unanswered--
    request.isAnswered = true
    const { quotaFields } = this.#settings
    const isRefusal = statusCode === 429 || statusCode === 503
    const quota = quotaFields && !isRefusal ? quotaOf(headers) : null
    if (quota !== null) this.#keep(quota)
    if (!isRefusal && (this.#rate === null || statusCode >= 500)) return
    const at = this.#host.time()
    if (!isRefusal) this.#rate!.onAccepted(at, request.hasWaited)
    else {
      this.#rate?.onRefused(at, request.sentAt)
      const asked = askedWaitOf(headers, quotaFields)
      if (asked !== null) this.#pause(asked, at)
    }
    if (this.#rate !== null) this.#bucket.changeRate(this.#rate.value, at)
  }

  #keep({ remaining, reset }: Quota): void {
    if (remaining === null || reset === 0) return
    const at = this.#host.time()
    if (remaining === 0) {
      this.#quota = null
      this.#pause(reset, at)
      return
    }
    // Requests that are under way may be those that use up the rest. Their responses say so.
    const left = remaining - this.#unanswered
    this.#quota = { left, resetsAt: at + Math.min(reset, this.#settings.maxRetryAfter) }
    if (this.waiting.size === 0) return
    // There may be more left than was known.
    this.#stopAlarm()
    queueMicrotask(() => this.advance())
  }

  #pause(asked: number, at: number): void {
    const { maxRetryAfter } = this.#settings
    this.#bucket.pause(at + Math.min(asked, maxRetryAfter))
    if (asked <= maxRetryAfter) return
    this.#closure = { opensAt: at + maxRetryAfter, askedFor: at + asked }
    this.#stopAlarm()
    for (const request of this.waiting.takeAll()) request.giveUp(asked)
    this.#host.onQuiet(this)
  }

  /** A request is over, or has become a tunnel. `wasSent` is false if it cannot have reached the server. */
  release(request: LimitedRequest, wasSent: boolean): void {
    this.#running--
    this.#shared?.onReleased()
    if (!request.isAnswered) this.#unanswered--
    if (!wasSent) {
      this.#bucket.giveBack()
      if (this.#quota !== null) {
        this.#quota.left++
        this.#stopAlarm()
      }
    }
    this.#host.running--
  }

  /** After a release, when the handler knows of it: the next request may go. */
  advance(): void {
    this.#offer()
    this.#host.run()
    this.#host.onQuiet(this)
  }
}
