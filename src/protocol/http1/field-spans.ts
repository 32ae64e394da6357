/**
 * The fields of a head under way: names in lower case, and where the values are, so that one string is
 * decoded for all of them.
 */
import { addField, HeaderBlock, type HeaderObject } from '../header-block.ts'

/** Grows up to MAX_FIELDS. */
const FIRST_FIELDS = 32

export class FieldSpans {
  /** Bytes of names and values. */
  size = 0
  /** A value goes on in the next line, which is not in its span. */
  isFolded = false
  count = 0
  readonly #names: string[] = []
  #spans = new Int32Array(FIRST_FIELDS * 2)

  /** Null before the first. */
  get lastName(): string | null {
    return this.count === 0 ? null : this.#names[this.count - 1]!
  }

  clear(): void {
    this.size = 0
    this.isFolded = false
    this.count = 0
  }

  /** A value between these positions. */
  add(name: string, start: number, end: number): void {
    const count = this.count
    if (count * 2 === this.#spans.length) {
      const grown = new Int32Array(count * 4)
      grown.set(this.#spans)
      this.#spans = grown
    }
    this.#names[count] = name
    this.#spans[count * 2] = start
    this.#spans[count * 2 + 1] = end
    this.count = count + 1
  }

  /** `text` is the head from position `base` on; its field lines begin at position `from`. */
  toBlock(text: string, base: number, from: number): HeaderBlock {
    const object: HeaderObject = {}
    for (let i = 0; i < this.count; i++) {
      addField(
        object,
        this.#names[i]!,
        text.slice(this.#spans[i * 2]! - base, this.#spans[i * 2 + 1]! - base),
      )
    }
    return HeaderBlock.ofText(text, from - base, object)
  }
}
