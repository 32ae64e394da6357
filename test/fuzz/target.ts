/** A component that is fed damaged traffic, and its invariants. */
import type { CorpusKind, Recording } from './corpus.ts'
import type { Random } from './random.ts'

export interface Target {
  readonly name: string
  readonly corpus: CorpusKind
  /**
   * Throws, or rejects, if an invariant is violated. All choices come from `random`, so that the same input and the same
   * seed reproduce the same fault.
   */
  check(input: Recording, random: Random): void | Promise<void>
}
