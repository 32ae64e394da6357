/**
 * What one process has of a limit that several share: times at which it may send, which it has reserved a
 * moment ahead, and leases for requests that run. It asks a few times a second, however many requests there
 * are. While the store is away, it goes by what the caller has chosen. Does not know requests.
 */
import { clearTimer, startTimer } from '../../base/loop/timer.ts'
import type { SharedStore } from '../../redis/shared-store.ts'
import { SHARE_SCRIPT } from './share-script.ts'
import { TokenBucket } from './token-bucket.ts'

/** What is shared, and with what. */
export interface SharedSettings {
  readonly store: SharedStore
  readonly rate: number
  readonly burst: number
  readonly concurrency: number
}

/** Whose limit it is. */
export interface SharedLimitHost {
  time(): number
  /** How many requests wait, and how many run. */
  readonly demand: { readonly waiting: number; readonly running: number }
  /** More may go than before. */
  onNews(): void
}

/** Milliseconds ahead for which times are reserved. */
const HORIZON = 500
/** A time that has passed this long ago is lost: used later, it would come on top of those of others. */
const MAX_LATENESS = 250
/** Between two questions, if the answer to the first one gave less than was wanted. */
const INTERVAL = 150
/** After this, the leases of a process that is gone are free. It renews them three times as often. */
const LEASE_MS = 3000
const LEAST_WANTED = 4

export class SharedLimit {
  readonly #key: string
  readonly #settings: SharedSettings
  readonly #host: SharedLimitHost
  readonly #id: string
  /** Reserved times, oldest first. */
  readonly #slots: { at: number; count: number }[] = []
  readonly #interval: number
  #leases = 0
  /** Processes that have asked of late. */
  #sharers = 1
  /** Requests since the last question. */
  #used = 0
  /** A question is under way: those who come meanwhile wait for its answer. */
  #isAsking = false
  #askAgainAt = 0
  #timer: { readonly at: number; readonly handle: ReturnType<typeof setTimeout> } | null = null
  /** The share of this process while the store is away; null while it answers. */
  #alone: { readonly bucket: TokenBucket; readonly concurrency: number } | null = null

  constructor(key: string, id: string, settings: SharedSettings, host: SharedLimitHost) {
    this.#key = key
    this.#id = id
    this.#settings = settings
    this.#host = host
    this.#interval = 1000 / settings.rate
  }

  /** Milliseconds until a request may go; Infinity if only the store can tell. */
  delay(): number {
    if (this.#interval === 0) return 0
    const at = this.#host.time()
    const next = this.#next(at)
    if (next !== null) return Math.max(0, next.at - at)
    this.#ask(true)
    const { without } = this.#settings.store
    if (this.#alone === null || without === 'closed') return Number.POSITIVE_INFINITY
    if (without === 'open') return 0
    if (this.#host.demand.waiting > 0) this.#alone.bucket.catchUp(at)
    return this.#alone.bucket.delay(at)
  }

  /** Whether one more may run. */
  hasRoom(running: number): boolean {
    if (running < this.#leases || this.#settings.concurrency === Number.POSITIVE_INFINITY) return true
    this.#ask(true)
    const { without } = this.#settings.store
    if (this.#alone === null || without === 'closed') return false
    return without === 'open' || running < this.#alone.concurrency
  }

  /** A request is sent. */
  take(): void {
    this.#used++
    if (this.#interval === 0) return
    const at = this.#host.time()
    const next = this.#next(at)
    if (next === null) {
      this.#alone?.bucket.take()
      return
    }
    next.at += this.#interval
    next.count--
    const last = this.#slots.at(-1)!
    if (last.at + last.count * this.#interval - at < HORIZON / 2) this.#ask(true)
  }

  /** A request is over. */
  onReleased(): void {
    // Leases that are not used are given back, but not for each request.
    if (this.#host.demand.running < this.#leases) this.#askAt(this.#host.time() + INTERVAL, false)
  }

  #next(at: number): { at: number; count: number } | null {
    for (let first = this.#slots[0]; first !== undefined; first = this.#slots[0]) {
      const lost = Math.ceil((at - MAX_LATENESS - first.at) / this.#interval)
      if (lost > 0) {
        first.at += lost * this.#interval
        first.count -= lost
      }
      if (first.count > 0) return first
      this.#slots.shift()
    }
    return null
  }

  /** `isMore`: for one request more than run and wait. */
  #ask(isMore: boolean): void {
    if (this.#isAsking) return
    const at = this.#host.time()
    if (at < this.#askAgainAt || this.#settings.store.isResting) {
      this.#askAt(Math.max(this.#askAgainAt, at + INTERVAL / 2), this.#host.demand.waiting > 0)
      return
    }
    this.#stopTimer()
    this.#isAsking = true
    // The other requests of this turn count as well.
    queueMicrotask(() => this.#send(isMore))
  }

  #send(isMore: boolean): void {
    const { rate, burst, concurrency, store } = this.#settings
    const { waiting, running } = this.#host.demand
    const hasRate = this.#interval > 0
    const hasLeases = concurrency !== Number.POSITIVE_INFINITY
    const times = hasRate ? Math.max(waiting, 2 * this.#used, LEAST_WANTED) : 0
    const leases = hasLeases ? Math.min(concurrency, running + Math.max(waiting, Number(isMore))) : 0
    this.#used = 0
    const limits = [hasRate ? rate : 1, burst, hasLeases ? concurrency : 0, times, leases, running]
    const args = [...limits, HORIZON, LEASE_MS, this.#id, waiting > 0 ? 1 : 0]
    const onAnswer = (answer: unknown): void => this.#onAnswer(answer, times, leases)
    // What was reserved for a question that took too long is still reserved.
    const onLate = (answer: unknown): void => {
      try {
        onAnswer(answer)
        this.#host.onNews()
      } catch {
        // As before: the store is away.
      }
    }
    store
      .run(SHARE_SCRIPT, `throttle:${this.#key}`, args, onLate)
      .then(onAnswer)
      .catch(() => this.#onAway())
      .finally(() => {
        this.#isAsking = false
        this.#host.onNews()
        this.#keepLeases()
      })
  }

  /** Throws for what no script of ours answers. */
  #onAnswer(answer: unknown, wantedTimes: number, wantedLeases: number): void {
    const numbers = Array.isArray(answer) ? answer.map(Number) : []
    if (numbers.length !== 5 || !numbers.every(Number.isFinite))
      throw new TypeError('the script has no such answer')
    const [count, delay, leases, sharers, wait] = numbers as [number, number, number, number, number]
    const at = this.#host.time()
    this.#alone = null
    this.#leases = leases
    this.#sharers = sharers
    if (count > 0) {
      const last = this.#slots.at(-1)
      const after = last === undefined ? 0 : last.at + last.count * this.#interval
      this.#slots.push({ at: Math.max(at + delay, after), count })
    }
    const isShort = count < wantedTimes || leases < wantedLeases
    this.#askAgainAt = isShort ? at + Math.max(INTERVAL, wait) : at
  }

  #onAway(): void {
    const { rate, concurrency } = this.#settings
    const share = Math.max(1, Math.floor(concurrency / this.#sharers))
    this.#alone ??= {
      bucket: new TokenBucket(rate / this.#sharers, 1, this.#host.time()),
      concurrency: share,
    }
  }

  /** They expire when they are not renewed. */
  #keepLeases(): void {
    const { running } = this.#host.demand
    if (this.#leases > running) this.#askAt(this.#host.time() + INTERVAL, false)
    else if (this.#leases > 0) this.#askAt(this.#host.time() + LEASE_MS / 3, false)
  }

  /** At this time, or before. Keeps the process alive if a request waits for the answer. */
  #askAt(at: number, isAwaited: boolean): void {
    if (this.#timer === null || at < this.#timer.at) {
      this.#stopTimer()
      const wait = Math.max(1, Math.ceil(at - this.#host.time()))
      const handle = startTimer(() => {
        this.#timer = null
        this.#ask(false)
      }, wait)
      this.#timer = { at, handle }
      if (!isAwaited) handle.unref?.()
    } else if (isAwaited) this.#timer.handle.ref?.()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimer(this.#timer.handle)
    this.#timer = null
  }
}
