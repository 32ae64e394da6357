/** Our client sees the same in every response as the runtime's own client, except for the listed differences. */
import assert from 'node:assert/strict'
import type { Recording } from '../corpus.ts'
import { compare, describeComparison, isReviewedParser } from '../parser-comparison.ts'
import type { RequestShape } from '../parser-outcome.ts'
import type { Target } from '../target.ts'

async function check({ context, bytes }: Recording): Promise<void> {
  // The recordings were made with these shapes; a response does not depend on the difference between POST and GET.
  const first = context.split(',', 1)[0] as RequestShape
  const { same, listed, comparison } = await compare(first, bytes)
  if (same || listed !== null || !isReviewedParser) return
  assert.fail(`not a listed difference:\n${describeComparison(comparison)}`)
}

export const http1Differential: Target = { name: 'http1-differential', corpus: 'http1', check }
