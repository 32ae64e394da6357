/**
 * The last response head of an origin with its bytes: a head that repeats them is not parsed again.
 */
import type { HeaderBlock } from '../header-block.ts'
import { LastBytes } from '../last-bytes.ts'
import type { FramingFields } from './framing.ts'

/** A response head as it was written, before its request gives it a meaning. */
export interface ParsedHead {
  readonly framing: FramingFields
  /** 9, 10, 11 or 20. */
  readonly version: number
  readonly status: number
  /** The reason phrase, `''` when there is none. */
  readonly reason: string
  readonly fields: HeaderBlock
}

export class HeadMemory {
  readonly #bytes = new LastBytes()
  #head: ParsedHead | null = null

  /** Bytes of the head that is stored. */
  get length(): number {
    return this.#bytes.length
  }

  /** The stored head, if bytes[start, end) begins with it. */
  find(bytes: Buffer, start: number, end: number): ParsedHead | null {
    const head = this.#head
    if (head === null || this.#bytes.length > end - start || !this.#bytes.matches(bytes, start)) return null
    head.fields.prepareForReuse()
    return head
  }

  /** Replaces the stored head; one that is too long leaves none. */
  store(bytes: Buffer, start: number, end: number, head: ParsedHead): void {
    this.#head = this.#bytes.store(bytes, start, end) ? head : null
  }
}
