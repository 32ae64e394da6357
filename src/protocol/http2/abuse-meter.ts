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

/** By budget: its ceiling per {@link BUDGET_WINDOW_MS}, and what it counts. */
const BUDGETS = {
  pings: { ceiling: MAX_PINGS as number, counted: 'PING frames' },
  settings: { ceiling: MAX_SETTINGS as number, counted: 'SETTINGS and GOAWAY frames' },
  emptyFrames: { ceiling: MAX_EMPTY_FRAMES as number, counted: 'empty frames' },
  ignoredFrames: { ceiling: MAX_IGNORED_FRAMES as number, counted: 'ignored frames' },
  peerResets: { ceiling: MAX_PEER_RESETS as number, counted: 'streams reset by the peer' },
  provokedResets: { ceiling: MAX_PROVOKED_RESETS as number, counted: 'stream errors caused by the peer' },
  lateFrames: { ceiling: MAX_LATE_FRAMES as number, counted: 'frames on closed streams' },
  idleWindowUpdates: {
    ceiling: MAX_IDLE_WINDOW_UPDATES as number,
    counted: 'WINDOW_UPDATE frames without progress',
  },
}

export type Budget = keyof typeof BUDGETS

/** Ceilings that differ from these. */
export type AbuseLimits = Readonly<Partial<Record<Budget, number>>>

const NO_COUNTS = Object.fromEntries(Object.keys(BUDGETS).map((name) => [name, 0])) as Record<Budget, number>

export class AbuseMeter {
  readonly #limits: AbuseLimits
  #counts = { ...NO_COUNTS }
  /** When the present window began. */
  since = 0

  constructor(limits: AbuseLimits) {
    this.#limits = limits
  }

  /** Sets the time; once per read is enough. */
  tick(now: number): void {
    if (now - this.since < BUDGET_WINDOW_MS) return
    this.since = now
    this.#counts = { ...NO_COUNTS }
  }

  /** Counts one; false when the ceiling is passed. */
  spend(budget: Budget): boolean {
    return ++this.#counts[budget] <= this.#ceiling(budget)
  }

  /** A DATA frame of ours went out that was worth sending: it explains the updates that answer it. */
  earnWindowUpdates(): void {
    this.#counts.idleWindowUpdates = Math.max(0, this.#counts.idleWindowUpdates - UPDATES_EARNED_BY_DATA)
  }

  describe(budget: Budget): string {
    return `more than ${this.#ceiling(budget)} ${BUDGETS[budget].counted} within ${BUDGET_WINDOW_MS / 1000} s`
  }

  #ceiling(budget: Budget): number {
    return this.#limits[budget] ?? BUDGETS[budget].ceiling
  }
}
