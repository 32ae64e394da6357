/** Something that is fed damaged traffic, and what must be true of it whatever it is fed. */
import type { CorpusKind, Recording } from './corpus.ts'
import type { Random } from './random.ts'

export interface Target {
  readonly name: string
  readonly corpus: CorpusKind
  /**
   * Throws, or rejects, when something is not as it must be. All choices come from `random`, so that the same
   * input and the same seed show the same fault again.
   */
  check(input: Recording, random: Random): void | Promise<void>
}
