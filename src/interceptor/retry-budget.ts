/**
 * How many retries an origin gets: a share of its requests, and a few per second in any case. When a server
 * is in trouble, every client retrying every request multiplies its load; with a budget, the load grows by
 * the share at most.
 */
import { now } from '../base/loop/clock.ts'
import { InvalidArgumentError } from '../errors.ts'
import { finiteAbove, finiteFrom, option, readOptions } from '../options.ts'
import { OriginTable } from '../relay/origin-key.ts'
import { OutcomeWindow } from './outcome-window.ts'

/** Limits the retries for each origin. */
export interface RetryBudgetOptions {
  /** Retries per request. Default: 0.2. */
  ratio?: number | null | undefined
  /** Retries per second that are allowed in any case. Default: 10. */
  minPerSecond?: number | null | undefined
  /** Milliseconds over which requests and retries are counted. Default: 10 000. */
  ttl?: number | null | undefined
}

/** Makes up for sums of decimal shares, such as 0.2 × 5. */
const EPSILON = 1e-9

const OPTIONS = {
  ttl: option(10e3, finiteAbove(0), 'invalid budget.ttl'),
  ratio: option(0.2, finiteFrom(0), 'invalid budget.ratio'),
  minPerSecond: option(10, finiteFrom(0), 'invalid budget.minPerSecond'),
}

export class RetryBudget {
  readonly #ratio: number
  /** Retries within the window that need no requests. */
  readonly #reserve: number
  /** Requests, and the retries as those that are marked. */
  readonly #windows: OriginTable<OutcomeWindow>

  constructor(options: RetryBudgetOptions) {
    const { ttl, ratio, minPerSecond } = readOptions(OPTIONS, options)
    this.#ratio = ratio
    this.#reserve = (minPerSecond * ttl) / 1000
    this.#windows = new OriginTable(() => new OutcomeWindow(ttl))
  }

  onRequest(origin: string): void {
    this.#windows.get(origin).add(0, now())
  }

  /** Takes a retry out of the budget; false if it is empty. */
  withdraw(origin: string): boolean {
    const window = this.#windows.get(origin)
    const at = now()
    const { total, marked: retries } = window.count(at)
    const allowed = this.#ratio * (total - retries) + this.#reserve + EPSILON
    if (retries + 1 > allowed) return false
    window.add(1, at)
    return true
  }
}

/** `true` is a budget with the defaults; null, undefined and `false` are none. */
export function readBudget(value: unknown): RetryBudget | null {
  if (value === null || value === undefined || value === false) return null
  if (value === true) return new RetryBudget({})
  if (value instanceof RetryBudget) return value
  if (typeof value !== 'object') throw new InvalidArgumentError('invalid budget')
  return new RetryBudget(value)
}
