/**
 * Counts frames that a peer can send endlessly without making progress, per span of time. Owns the counters
 * and their ceilings; the caller of `spend` decides about a spent budget. `limits.ts` has the reasons.
 */
import {
  BUDGET_WINDOW_MS,
  MAX_EMPTY_FRAMES,
  MAX_IDLE_WINDOW_UPDATES,
  MAX_IGNORED_FRAMES,
  MAX_LATE_FRAMES,
  MAX_PEER_RESETS,
  MAX_PINGS,
  MAX_PROVOKED_RESETS,
  MAX_SETTINGS,
  UPDATES_EARNED_BY_DATA,
} from './limits.ts'

export const PINGS = 0
export const SETTINGS_FRAMES = 1
export const EMPTY_FRAMES = 2
export const IGNORED_FRAMES = 3
export const PEER_RESETS = 4
export const PROVOKED_RESETS = 5
export const LATE_FRAMES = 6
export const IDLE_WINDOW_UPDATES = 7

export type Budget = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7

/** By budget: its name among the limits, its ceiling per {@link BUDGET_WINDOW_MS}, and what it counts. */
const BUDGETS: readonly (readonly [name: string, ceiling: number, counted: string])[] = [
  ['pings', MAX_PINGS, 'PING frames'],
  ['settings', MAX_SETTINGS, 'SETTINGS and GOAWAY frames'],
  ['emptyFrames', MAX_EMPTY_FRAMES, 'empty frames'],
  ['ignoredFrames', MAX_IGNORED_FRAMES, 'ignored frames'],
  ['peerResets', MAX_PEER_RESETS, 'streams reset by the peer'],
  ['provokedResets', MAX_PROVOKED_RESETS, 'stream errors caused by the peer'],
  ['lateFrames', MAX_LATE_FRAMES, 'frames on closed streams'],
  ['idleWindowUpdates', MAX_IDLE_WINDOW_UPDATES, 'WINDOW_UPDATE frames without progress'],
]

/** Ceilings that differ from these, by name. */
export type AbuseLimits = Readonly<Record<string, number>>

export class AbuseMeter {
  readonly #ceilings: Int32Array
  readonly #counts = new Int32Array(BUDGETS.length)
  /** When the present window began. */
  since = 0

  constructor(limits: AbuseLimits) {
    this.#ceilings = Int32Array.from(BUDGETS, ([name, ceiling]) => limits[name] ?? ceiling)
  }

  /** Sets the time; once per read is enough. */
  tick(now: number): void {
    if (now - this.since < BUDGET_WINDOW_MS) return
    this.since = now
    this.#counts.fill(0)
  }

  /** Counts one; false when the ceiling is passed. */
  spend(budget: Budget): boolean {
    return ++this.#counts[budget]! <= this.#ceilings[budget]!
  }

  /** A DATA frame of ours went out that was worth sending: it explains the updates that answer it. */
  earnWindowUpdates(): void {
    this.#counts[IDLE_WINDOW_UPDATES] = Math.max(
      0,
      this.#counts[IDLE_WINDOW_UPDATES]! - UPDATES_EARNED_BY_DATA,
    )
  }

  describe(budget: Budget): string {
    return `more than ${this.#ceilings[budget]!} ${BUDGETS[budget]![2]} within ${BUDGET_WINDOW_MS / 1000} s`
  }
}
