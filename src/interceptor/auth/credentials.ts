/** What the schemes of authentication have in common: they prove to one origin who asks. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'

/** What one attempt is sent with. Two are the same only if they are the same object. */
export interface Proof {
  /** The value of `authorization`; null: the attempt has none. */
  readonly field: string | null
}

export const NO_PROOF: Proof = Object.freeze({ field: null })

/** Is called once, never within `prove()`, with a proof or with what has failed. */
export type ProofWaiter = (proof: Proof | null, error: unknown) => void

export interface Credentials {
  /** The proof for the next attempt; null if the waiter gets it later. May throw what a caller's function throws. */
  prove(opts: DispatchOptions, waiter: ProofWaiter): Proof | null
  /** The waiter wants no proof any more. */
  leave(waiter: ProofWaiter): void
  /**
   * The origin has answered 401. Returns whether another attempt may end otherwise. `repeats`: how often this
   * request was sent again before.
   */
  onRefused(proof: Proof, headers: HeaderObject, repeats: number): boolean
  /** The origin has answered with any other status. */
  onAnswered(proof: Proof, headers: HeaderObject): void
}
