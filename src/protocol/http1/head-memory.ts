/**
 * The last response head of an origin with its bytes: a head that repeats them is not parsed again.
 */

import { Repetition } from '../../base/collection/repetition.ts'
import type { HeaderBlock } from '../header-block.ts'
import { LastBytes } from '../last-bytes.ts'
import type { FramingFields } from './framing.ts'

/** A response head as it was written, before its request gives it a meaning. */
export interface ParsedHead {
  framing: FramingFields
  /** 10 or 11. */
  version: number
  status: number
  /** The reason phrase, `''` when there is none. */
  reason: string
  fields: HeaderBlock
}

export class HeadMemory {
  /** The last head, to be filled again with the next one: it is not stored. */
  spare: ParsedHead | null = null
  readonly #bytes = new LastBytes()
  readonly #repetition = new Repetition()
  #head: ParsedHead | null = null
  /** The present head was compared; if it was not, it is not stored either. */
  #isCompared = true

  /** Bytes of the head that is stored. */
  get length(): number {
    return this.#bytes.length
  }

  /** The stored head, if bytes[start, end) begins with it. */
  find(bytes: Buffer, start: number, end: number): ParsedHead | null {
    this.#isCompared = this.#repetition.count()
    const head = this.#head
    if (head === null || !this.#isCompared) return null
    if (this.#bytes.length > end - start || !this.#bytes.matches(bytes, start)) {
      this.#repetition.onDifferent()
      return null
    }
    this.#repetition.onSame()
    head.fields.prepareForReuse()
    return head
  }

  /** Replaces the stored head; one that is too long leaves none. */
  store(bytes: Buffer, start: number, end: number, head: ParsedHead): void {
    if (!this.#isCompared) return
    this.#head = this.#bytes.store(bytes, start, end) ? head : null
    if (this.#head !== null) this.spare = null
  }
}
