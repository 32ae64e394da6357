/** The limits of a throttle: one for each key, which take turns, and are forgotten when they are idle. */

import { LinkedList } from '../../base/collection/linked-list.ts'
import { RingQueue } from '../../base/collection/ring-queue.ts'
import { now } from '../../base/loop/clock.ts'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import type { Call } from '../../relay/relayed-request.ts'
import { Limit, type LimitHost } from './limit.ts'
import type { ThrottleSettings } from './options.ts'
import { ThrottledRequest } from './throttled-request.ts'

/**
 * Idle keys that are remembered, with what is left of their burst, the rate that was found and the wait that
 * the server asked for. The one that was idle longest is forgotten: there may be a key for each of a million
 * users.
 */
const MAX_IDLE = 10_000

export class Throttle implements LimitHost {
  readonly #settings: ThrottleSettings
  readonly #limits = new Map<string, Limit>()
  readonly #idle: LinkedList<Limit> = new LinkedList()
  /** Limits with a request that could go, in turn. */
  readonly #queue: RingQueue<Limit> = new RingQueue()
  running = 0
  /** `run()` is on the stack: a request that it sends may end at once, and call it again. */
  #isRunningQueue = false
  #name: string | null = null
  #latestAlarm = 0

  constructor(settings: ThrottleSettings) {
    this.#settings = settings
  }

  /** Throws what the dispatcher throws, if the request is sent at once. */
  dispatch(call: Call, key: string, priority: number): boolean {
    const limit = this.#limitOf(key)
    const request = new ThrottledRequest(call, limit, priority)
    if (this.#hasRoom && limit.isFree) return request.sendAtOnce()
    try {
      const closedFor = limit.closedFor
      if (closedFor !== null) return request.refuse(closedFor)
      return limit.isFull ? request.refuse(null) : request.wait()
    } finally {
      this.onQuiet(limit)
    }
  }

  #limitOf(key: string): Limit {
    const known = this.#limits.get(key)
    if (known !== undefined) {
      known.listedIn?.remove(known)
      return known
    }
    const limit = new Limit(key, this, this.#settings)
    this.#limits.set(key, limit)
    return limit
  }

  /** Whether a request may go without overtaking another key. */
  get #hasRoom(): boolean {
    return this.running < this.#settings.totalConcurrency && this.#queue.size === 0
  }

  time(): number {
    return Math.max(now(), this.#latestAlarm)
  }

  /** Random, because process ids repeat from one machine to the next. */
  get name(): string {
    this.#name ??= loadCrypto().randomUUID()
    return this.#name
  }

  onDue(at: number): void {
    this.#latestAlarm = Math.max(at, this.#latestAlarm)
  }

  enqueue(limit: Limit): void {
    this.#queue.push(limit)
  }

  /** Not from within itself: a dispatcher may fail a request at once, and the next one, and so on. */
  run(): void {
    if (this.#isRunningQueue) return
    this.#isRunningQueue = true
    try {
      while (this.running < this.#settings.totalConcurrency) {
        const limit = this.#queue.shift()
        if (limit === null) break
        limit.takeTurn()
      }
    } finally {
      this.#isRunningQueue = false
    }
  }

  onQuiet(limit: Limit): void {
    if (limit.listedIn !== null || !limit.isIdle) return
    this.#idle.push(limit)
    if (this.#idle.size > MAX_IDLE) this.#limits.delete(this.#idle.shift()!.key)
  }
}
