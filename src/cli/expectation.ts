/** Whether a measurement is what `--expect` says. */

import type { Expectation } from './option-values.ts'
import { summarise } from './percentiles.ts'

export interface Verdict {
  readonly text: string
  /** Null when there was nothing to measure. */
  readonly actual: number | null
  readonly isMet: boolean
}

export interface Facts {
  /** Sorted. */
  readonly latencies: Float64Array
  readonly perSecond: number
  readonly errors: number
  /** Requests that were sent, or should have been. */
  readonly due: number
}

/** What could not be measured is not met. */
export function verdictOf(expectation: Expectation, facts: Facts): Verdict {
  const { text, limit, isBelow, includesLimit } = expectation
  const actual = actualOf(expectation, facts)
  const isWithin = actual !== null && (isBelow ? actual < limit : actual > limit)
  return { text, actual, isMet: isWithin || (includesLimit && actual === limit) }
}

function actualOf({ measure, isShare }: Expectation, facts: Facts): number | null {
  const { latencies, perSecond, errors, due } = facts
  if (measure === 'rate') return perSecond
  if (measure === 'errors') return isShare ? errors / Math.max(1, due) : errors
  return summarise(latencies)?.[measure.replace('.', '') as 'p999'] ?? null
}
