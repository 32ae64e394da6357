/**
 * Strings already made from the same wire octets. Servers repeat a literal that they chose not to index on
 * each response (a date within its second, a length, a name); a hit costs one comparison of octets instead of
 * a Huffman decoding and a new string, and equal fields stay the same string object.
 *
 * Direct-mapped with storage that grows once: a peer can only make it miss.
 */

/**
 * Distinct short literals of one connection that are worth remembering: at first, and at most; powers of two.
 */
const FIRST_SLOTS = 16
const MOST_SLOTS = 128

/** Longer literals are mostly unique (cookies, policies, URLs). */
export const MAX_CACHED_OCTETS = 48

export class LiteralCache {
  #slots!: number
  #octets!: Uint8Array
  /** Octet count and Huffman flag of the slot's key; 0 for a slot that is free. */
  #keys!: Uint8Array
  #texts!: string[]
  /** How often one literal took the place of another. */
  #displaced = 0
  /** The slot of the last `find`, where `put` stores. */
  #slot = 0

  constructor() {
    this.#clear(FIRST_SLOTS)
  }

  /** The string made earlier from buf[start, end), 1 to `MAX_CACHED_OCTETS` octets, or null. */
  find(buf: Uint8Array, start: number, end: number, huffman: boolean): string | null {
    const length = end - start
    let hash = length
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + buf[i]!) | 0
    const slot = (hash ^ (hash >>> 15)) & (this.#slots - 1)
    this.#slot = slot
    if (this.#keys[slot] !== key(length, huffman)) return null
    const octets = this.#octets
    const base = slot * MAX_CACHED_OCTETS - start
    for (let i = start; i < end; i++) {
      if (octets[base + i] !== buf[i]) return null
    }
    return this.#texts[slot]!
  }

  /** Remembers `text` for the octets that the last `find` did not know. */
  put(buf: Uint8Array, start: number, end: number, huffman: boolean, text: string): void {
    if (this.#keys[this.#slot] !== 0 && ++this.#displaced === FIRST_SLOTS) {
      // Many collide. The cache is cleared, and fills again soon.
      this.#clear(MOST_SLOTS)
      this.find(buf, start, end, huffman)
    }
    const slot = this.#slot
    const base = slot * MAX_CACHED_OCTETS - start
    for (let i = start; i < end; i++) this.#octets[base + i] = buf[i]!
    this.#keys[slot] = key(end - start, huffman)
    this.#texts[slot] = text
  }

  #clear(slots: number): void {
    this.#slots = slots
    this.#octets = new Uint8Array(slots * MAX_CACHED_OCTETS)
    this.#keys = new Uint8Array(slots)
    this.#texts = new Array<string>(slots).fill('')
  }
}

function key(length: number, huffman: boolean): number {
  return huffman ? length | 0x80 : length
}
