/** Compares our client with the runtime's, and the result with the list of differences. */
import {
  type Comparison,
  DIFFERENCES,
  type Difference,
  differs,
  REVIEWED_PARSERS,
} from './parser-differences.ts'
import { outcomeOfOurs, outcomeOfTheirs, type RequestShape } from './parser-outcome.ts'

export interface Verdict {
  readonly comparison: Comparison
  readonly same: boolean
  /** The entry that explains the difference. */
  readonly listed: Difference | null
}

export const isReviewedParser: boolean = REVIEWED_PARSERS.includes(process.versions['llhttp'] ?? '')

export async function compare(shape: RequestShape, bytes: Buffer): Promise<Verdict> {
  const ours = await outcomeOfOurs(bytes, shape)
  const theirs = await outcomeOfTheirs(bytes, shape)
  const comparison = { shape, text: bytes.toString('latin1'), ours, theirs }
  const same = !differs(ours, theirs)
  const listed = same ? null : (DIFFERENCES.find((difference) => difference.matches(comparison)) ?? null)
  return { comparison, same, listed }
}

export function describeComparison({ shape, text, ours, theirs }: Comparison): string {
  return `${shape} ${JSON.stringify(text)}\nours: ${JSON.stringify(ours)}\ntheirs: ${JSON.stringify(theirs)}`
}
