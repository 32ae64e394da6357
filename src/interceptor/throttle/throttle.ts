/** The lanes of a throttle: one for each key, which take turns, and are forgotten when they are idle. */
import { now } from '../../base/clock.ts'
import { LinkedList } from '../../base/linked-list.ts'
import { RingQueue } from '../../base/ring-queue.ts'
import type { Dispatch } from '../../dispatcher/compose.ts'
import type { DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { Lane, type LaneHost } from './lane.ts'
import type { ThrottleSettings } from './options.ts'
import { ThrottledRequest } from './throttled-request.ts'

/**
 * Idle keys that are remembered, with what is left of their burst, the rate that was found and the wait that the server
 * asked for. The one that was idle longest is forgotten: there may be a key for each of a million users.
 */
const MAX_IDLE = 10_000

export class Throttle implements LaneHost {
  readonly #settings: ThrottleSettings
  readonly #lanes = new Map<string, Lane>()
  readonly #idle: LinkedList<Lane> = new LinkedList()
  /** Lanes with a request that could go, in turn. */
  readonly #queue: RingQueue<Lane> = new RingQueue()
  #running = 0
  #isRunningQueue = false
  #latestAlarm = 0

  constructor(settings: ThrottleSettings) {
    this.#settings = settings
  }

  /** Throws what the dispatcher throws, if the request is sent at once. */
  dispatch(
    opts: DispatchOptions,
    handler: DispatchHandler,
    key: string,
    priority: number,
    dispatch: Dispatch,
  ): boolean {
    const lane = this.#laneOf(key)
    const request = new ThrottledRequest(handler, dispatch, lane, priority)
    if (this.#hasRoom && lane.isFree) return request.sendAtOnce(opts)
    try {
      const closedFor = lane.closedFor
      if (closedFor !== null) return request.refuse(opts, closedFor)
      return lane.isFull ? request.refuse(opts, null) : request.wait(opts)
    } finally {
      this.onQuiet(lane)
    }
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key)
    if (known !== undefined) {
      if (known.isResting) this.#idle.remove(known)
      known.isResting = false
      return known
    }
    const lane = new Lane(key, this, this.#settings)
    this.#lanes.set(key, lane)
    return lane
  }

  /** Whether a request may go without passing by another key. */
  get #hasRoom(): boolean {
    return this.#running < this.#settings.totalConcurrency && this.#queue.size === 0
  }

  time(): number {
    return Math.max(now(), this.#latestAlarm)
  }

  onDue(at: number): void {
    this.#latestAlarm = Math.max(at, this.#latestAlarm)
  }

  enqueue(lane: Lane): void {
    this.#queue.push(lane)
  }

  onSent(): void {
    this.#running++
  }

  onReleased(): void {
    this.#running--
  }

  /** Not from within itself: a dispatcher may fail a request at once, and the next one, and so on. */
  run(): void {
    if (this.#isRunningQueue) return
    this.#isRunningQueue = true
    try {
      while (this.#running < this.#settings.totalConcurrency) {
        const lane = this.#queue.shift()
        if (lane === null) break
        lane.takeTurn()
      }
    } finally {
      this.#isRunningQueue = false
    }
  }

  onQuiet(lane: Lane): void {
    if (lane.isResting || !lane.isIdle) return
    lane.isResting = true
    this.#idle.push(lane)
    if (this.#idle.size > MAX_IDLE) this.#lanes.delete(this.#idle.shift()!.key)
  }
}
