/**
 * The dynamic table (RFC 7541 §2.3.2, §4), the same for both directions: a ring that counts entries from the
 * newest. It knows nothing of representations or of the wire.
 */

/** What an entry counts beyond its octets (RFC 7541 §4.1). */
export const ENTRY_OVERHEAD = 32

/** What both sides start from in HTTP/2 (RFC 9113 §6.5.2). */
export const DEFAULT_TABLE_SIZE = 4096

/** Slots to begin with: what an ordinary request fills. Grows by doubling up to size / 32. */
const INITIAL_SLOTS = 8

/** Called for each evicted entry; `sequence` counts insertions from 0. */
export type EvictionListener = (name: string, value: string, sequence: number) => void

export class DynamicTable {
  #names: string[] = new Array<string>(INITIAL_SLOTS).fill('')
  #values: string[] = new Array<string>(INITIAL_SLOTS).fill('')
  #mask: number = INITIAL_SLOTS - 1
  /** Entries held now. */
  count = 0
  /** Entries ever inserted: the sequence number of the next one. */
  inserted = 0
  /** Sum of the sizes of the entries (RFC 7541 §4.1). */
  size = 0
  maxSize: number
  /** Grows with every change: as long as it is the same, an index means the same. */
  revision = 0
  readonly #onEvict: EvictionListener | null

  constructor(maxSize: number, onEvict: EvictionListener | null) {
    this.maxSize = maxSize
    this.#onEvict = onEvict
  }

  /** `age` 0 is the newest entry; the caller has checked it against `count`. */
  nameAt(age: number): string {
    return this.#names[(this.inserted - 1 - age) & this.#mask]!
  }

  valueAt(age: number): string {
    return this.#values[(this.inserted - 1 - age) & this.#mask]!
  }

  /** RFC 7541 §4.3 */
  resize(maxSize: number): void {
    if (maxSize !== this.maxSize) this.revision++
    this.maxSize = maxSize
    this.#evictDownTo(maxSize)
  }

  /**
   * RFC 7541 §4.4: an entry larger than the whole table empties it and is not kept, which is not an error.
   * Returns whether the entry is in the table now.
   */
  insert(name: string, value: string): boolean {
    const size = name.length + value.length + ENTRY_OVERHEAD
    if (size > this.maxSize) {
      this.#evictDownTo(0)
      return false
    }
    this.#evictDownTo(this.maxSize - size)
    if (this.count > this.#mask) this.#grow()
    const slot = this.inserted & this.#mask
    this.#names[slot] = name
    this.#values[slot] = value
    this.inserted++
    this.count++
    this.revision++
    this.size += size
    return true
  }

  #evictDownTo(size: number): void {
    while (this.size > size) {
      const sequence = this.inserted - this.count
      const slot = sequence & this.#mask
      const name = this.#names[slot]!
      const value = this.#values[slot]!
      // The slot lets go of the strings: a table that was shrunk must not keep what it no longer counts.
      this.#names[slot] = ''
      this.#values[slot] = ''
      this.count--
      this.revision++
      this.size -= name.length + value.length + ENTRY_OVERHEAD
      if (this.#onEvict !== null) this.#onEvict(name, value, sequence)
    }
  }

  #grow(): void {
    const slots = (this.#mask + 1) * 2
    const names = new Array<string>(slots).fill('')
    const values = new Array<string>(slots).fill('')
    for (let sequence = this.inserted - this.count; sequence < this.inserted; sequence++) {
      names[sequence & (slots - 1)] = this.#names[sequence & this.#mask]!
      values[sequence & (slots - 1)] = this.#values[sequence & this.#mask]!
    }
    this.#names = names
    this.#values = values
    this.#mask = slots - 1
  }
}
