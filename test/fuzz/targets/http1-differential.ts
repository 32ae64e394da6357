/** Our client sees in every response what the runtime's own client sees, but for the listed differences. */
import assert from 'node:assert/strict'
import type { Recording } from '../corpus.ts'
import { compare, describeComparison, isReviewedParser } from '../parser-comparison.ts'
import type { RequestShape } from '../parser-outcome.ts'
import type { Target } from '../target.ts'

async function check({ context, bytes }: Recording): Promise<void> {
  // The recordings were made with these shapes; POST differs from GET in nothing that a response depends on.
  const first = context.split(',', 1)[0] as RequestShape
  const { same, listed, comparison } = await compare(first, bytes)
  if (same || listed !== null || !isReviewedParser) return
  assert.fail(`not a listed difference:\n${describeComparison(comparison)}`)
}

export const http1Differential: Target = { name: 'http1-differential', corpus: 'http1', check }
