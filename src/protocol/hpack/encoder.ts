/**
 * Fields → header blocks (RFC 7541 §2.4, §6) for one direction of one connection. It owns the dynamic table
 * of the sending side and the choice of representation; it does not know frames, streams or message rules.
 */
import { invariant } from '../../base/error/invariant.ts'
import { DEFAULT_TABLE_SIZE, DynamicTable, ENTRY_OVERHEAD } from './dynamic-table.ts'
import { huffmanEncode, huffmanLength } from './huffman.ts'
import { type IndexingPolicy, policyOf } from './indexing-policy.ts'
import { MAX_INTEGER_BYTES, writeInteger } from './integer.ts'
import { STATIC_ENTRIES, STATIC_INDEX, STATIC_NAMES, STATIC_VALUES } from './static-table.ts'

export interface HpackEncoderOptions {
  /**
   * The largest table that we keep whatever the peer allows; it is our memory. Default 4096, which is also
   * what HTTP/2 starts from, so that most connections need no update.
   */
  readonly maxTableSize?: number
}

/** Representations (RFC 7541 §6): bit pattern and largest prefix value. */
const INDEXED = 0x80
const INDEXED_MAX = 0x7f
const WITH_INDEXING = 0x40
const WITH_INDEXING_MAX = 0x3f
const WITHOUT_INDEXING = 0x00
const NEVER_INDEXED = 0x10
const LITERAL_MAX = 0x0f
const SIZE_UPDATE = 0x20
const SIZE_UPDATE_MAX = 0x1f
const HUFFMAN = 0x80
const LENGTH_MAX = 0x7f

/** Octets around a field's name and value: the index and two lengths. */
const FIELD_OVERHEAD = 3 * MAX_INTEGER_BYTES

/** Octets before the first field: two table size updates. */
const BLOCK_OVERHEAD = 2 * MAX_INTEGER_BYTES

/** An entry may take this part of the table; a larger one would push out more than it can save. */
const ENTRY_SHARE = 4

/** Entries of one name that were inserted and not used before the next of that name must repeat first. */
const MAX_UNUSED_INSERTIONS = 4

/** Names remembered beyond those in the table; a client uses a few dozen, a proxy of others perhaps more. */
const MAX_SPARE_NAMES = 256

/** Longer values that must not be indexed are encoded again each time, so that their copies stay small. */
const MAX_REPEATED_LENGTH = 1024

/** Fingerprints of values that were sent without indexing; a power of two. */
const FINGERPRINTS = 64

/** Cutting such a character down to an octet could make a line end out of it. */
const NOT_LATIN1 = 'field with a character outside latin1'

const NO_ROOM = 'no room for a header block'

/** Nothing to signal. */
const NO_UPDATE = -1

/** The encoded form of the empty string. */
const NO_OCTETS: Uint8Array = Uint8Array.of(0)

/** What is known about a field name. */
class NameState {
  /** Its first static index, or 0. */
  readonly staticIndex: number
  readonly policy: IndexingPolicy
  readonly name: string
  /** value → id of the entry with that value: a static index, or `FIRST_DYNAMIC` plus the sequence number. */
  readonly entries: Map<string, number> = new Map()
  /** The id of the youngest dynamic entry, perhaps gone; 0 when there was none. */
  youngest = 0
  /** Entries in the dynamic table. */
  live = 0
  /** Insertions since an entry of this name was last used. */
  unused = 0
  // A credential repeats on every request and no table may hold it, so its encoded form is kept here: the
  // last value that came twice in a row, and the fingerprint by which the second time is known.
  repeatedValue = ''
  repeatedOctets: Uint8Array = NO_OCTETS
  lastFingerprint = 0

  constructor(name: string) {
    this.staticIndex = STATIC_INDEX.get(name) ?? 0
    this.policy = policyOf(name)
    if (this.staticIndex === 0) {
      this.name = ownCopy(name)
      return
    }
    this.name = STATIC_NAMES[this.staticIndex]!
    for (let index = this.staticIndex; STATIC_NAMES[index] === name; index++) {
      this.entries.set(STATIC_VALUES[index]!, index)
    }
  }
}

const FIRST_DYNAMIC: number = STATIC_ENTRIES + 1

export class HpackEncoder {
  readonly #ceiling: number
  readonly #maxNames: number
  readonly #table: DynamicTable
  readonly #names: Map<string, NameState> = new Map()
  readonly #fingerprints: Int32Array = new Int32Array(FINGERPRINTS)
  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  #peerLimit: number = DEFAULT_TABLE_SIZE
  /** The smallest size since the last block that must be signalled, or `NO_UPDATE`. */
  #smallestUpdate: number = NO_UPDATE
  /** A block was left half-made by a caller's error: the peer's table can no longer be known. */
  #broken = false

  constructor(options?: HpackEncoderOptions) {
    this.#ceiling = options?.maxTableSize ?? DEFAULT_TABLE_SIZE
    this.#maxNames = MAX_SPARE_NAMES + Math.floor(this.#ceiling / ENTRY_OVERHEAD)
    this.#table = new DynamicTable(DEFAULT_TABLE_SIZE, (name, value) => {
      this.#forget(name, value)
    })
    if (this.#ceiling < DEFAULT_TABLE_SIZE) this.#smallestUpdate = this.#ceiling
  }

  /** Octets that the dynamic table counts now (RFC 7541 §4.1). */
  get tableSize(): number {
    return this.#table.size
  }

  /**
   * Applies the peer's SETTINGS_HEADER_TABLE_SIZE. The next block begins with the update that this makes
   * necessary, and with two when the size went down and up again in between (RFC 7541 §4.2).
   */
  setMaxTableSize(size: number): void {
    const reduced = size < this.#peerLimit
    this.#peerLimit = size
    const target = Math.min(size, this.#ceiling)
    // A reduction is answered even where our table was small enough before: RFC 9113 §4.3.1 lets the peer
    // insist on an update, and one too many does no harm.
    if (!reduced && target === this.#table.maxSize && this.#smallestUpdate === NO_UPDATE) return
    this.#smallestUpdate =
      this.#smallestUpdate === NO_UPDATE ? target : Math.min(this.#smallestUpdate, target)
  }

  /** Octets that `encode` may write for these fields, at most. */
  static maxEncodedSize(fields: readonly string[]): number {
    let size = BLOCK_OVERHEAD + (fields.length >>> 1) * FIELD_OVERHEAD
    for (let i = 0; i < fields.length; i++) size += fields[i]!.length
    return size
  }

  /**
   * Writes the block for `fields` (flat name, value …; names in lower case, latin1) into `out` at `offset`,
   * where there is room for `maxEncodedSize(fields)` octets. Returns the offset after the block.
   */
  encode(fields: readonly string[], out: Uint8Array, offset: number): number {
    invariant(!this.#broken, 'header block after one that could not be encoded')
    // Cleared at the end: an exception on the way leaves it set.
    this.#broken = true
    let at = this.#smallestUpdate === NO_UPDATE ? offset : this.#writeUpdates(out, offset)
    for (let i = 0; i < fields.length; i += 2) {
      at = this.#writeField(fields[i]!, fields[i + 1]!, out, at)
    }
    invariant(at <= out.length, NO_ROOM)
    this.#broken = false
    return at
  }

  #writeUpdates(out: Uint8Array, offset: number): number {
    const final = Math.min(this.#peerLimit, this.#ceiling)
    const smallest = this.#smallestUpdate
    this.#smallestUpdate = NO_UPDATE
    let at = offset
    if (smallest < final) {
      this.#table.resize(smallest)
      at = writeInteger(out, at, SIZE_UPDATE, SIZE_UPDATE_MAX, smallest)
    }
    this.#table.resize(final)
    return writeInteger(out, at, SIZE_UPDATE, SIZE_UPDATE_MAX, final)
  }

  #writeIndexed(id: number, out: Uint8Array, offset: number): number {
    return writeInteger(out, offset, INDEXED, INDEXED_MAX, this.#indexOf(id))
  }

  /** The wire index of a live entry: dynamic ones count from the newest (RFC 7541 §2.3.3). */
  #indexOf(id: number): number {
    return id < FIRST_DYNAMIC ? id : FIRST_DYNAMIC * 2 + this.#table.inserted - 1 - id
  }

  #writeField(name: string, value: string, out: Uint8Array, offset: number): number {
    const state = this.#names.get(name) ?? this.#addName(name)
    if (state.policy === 'never') {
      return this.#writeSecret(
        state,
        value,
        out,
        this.#writeName(state, NEVER_INDEXED, LITERAL_MAX, out, offset),
      )
    }
    const id = state.entries.get(value)
    if (id !== undefined) {
      state.unused = 0
      return this.#writeIndexed(id, out, offset)
    }
    if (!this.#wantsIndex(state, value)) {
      return writePlain(value, out, this.#writeName(state, WITHOUT_INDEXING, LITERAL_MAX, out, offset))
    }
    // The name is written first: it may refer to an entry that the insertion evicts (RFC 7541 §4.4).
    const at = writeString(value, out, this.#writeName(state, WITH_INDEXING, WITH_INDEXING_MAX, out, offset))
    this.#insert(state, value)
    return at
  }

  #writeSecret(state: NameState, value: string, out: Uint8Array, offset: number): number {
    if (state.repeatedValue === value) {
      const octets = state.repeatedOctets
      invariant(offset + octets.length <= out.length, NO_ROOM)
      out.set(octets, offset)
      return offset + octets.length
    }
    if (value.length > MAX_REPEATED_LENGTH) return writeString(value, out, offset)
    const fingerprint = fingerprintOf(value)
    if (state.lastFingerprint !== fingerprint) {
      state.lastFingerprint = fingerprint
      return writePlain(value, out, offset)
    }
    const at = writeString(value, out, offset)
    state.repeatedValue = ownCopy(value)
    state.repeatedOctets = out.slice(offset, at)
    return at
  }

  #wantsIndex(state: NameState, value: string): boolean {
    if (state.policy === 'plain') return false
    const size = state.name.length + value.length + ENTRY_OVERHEAD
    if (size > this.#table.maxSize / ENTRY_SHARE) return false
    if (state.policy === 'at-once' && state.unused < MAX_UNUSED_INSERTIONS) return true
    const fingerprint = fingerprintOf(value)
    const slot = (fingerprint ^ (fingerprint >>> 16)) & (FINGERPRINTS - 1)
    if (this.#fingerprints[slot] === fingerprint) return true
    this.#fingerprints[slot] = fingerprint
    return false
  }

  #insert(state: NameState, value: string): void {
    const kept = ownCopy(value)
    const id = FIRST_DYNAMIC + this.#table.inserted
    this.#table.insert(state.name, kept)
    state.entries.set(kept, id)
    state.youngest = id
    state.live++
    state.unused++
  }

  #forget(name: string, value: string): void {
    const state = this.#names.get(name)!
    state.entries.delete(value)
    state.live--
  }

  #writeName(state: NameState, pattern: number, prefixMax: number, out: Uint8Array, offset: number): number {
    if (state.staticIndex !== 0) return writeInteger(out, offset, pattern, prefixMax, state.staticIndex)
    if (state.live > 0) return writeInteger(out, offset, pattern, prefixMax, this.#indexOf(state.youngest))
    out[offset] = pattern
    return writeString(state.name, out, offset + 1)
  }

  #addName(name: string): NameState {
    if (this.#names.size >= this.#maxNames) this.#forgetNames()
    const state = new NameState(name)
    this.#names.set(state.name, state)
    return state
  }

  /** Drops every name that the table does not have, which makes room for `MAX_SPARE_NAMES` at least. */
  #forgetNames(): void {
    for (const state of this.#names.values()) {
      if (state.live === 0) this.#names.delete(state.name)
    }
  }
}

/**
 * Without the Huffman code: for a value that is sent once, it would save a fifth of the octets and take
 * longer than all else about the field.
 */
function writePlain(text: string, out: Uint8Array, offset: number): number {
  const length = text.length
  const at = writeInteger(out, offset, 0, LENGTH_MAX, length)
  let seen = 0
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    seen |= code
    out[at + i] = code
  }
  invariant(seen <= 0xff, NOT_LATIN1)
  return at + length
}

function writeString(text: string, out: Uint8Array, offset: number): number {
  const length = text.length
  const coded = huffmanLength(text)
  invariant(coded >= 0, NOT_LATIN1)
  if (coded < length) {
    return huffmanEncode(text, out, writeInteger(out, offset, HUFFMAN, LENGTH_MAX, coded))
  }
  const at = writeInteger(out, offset, 0, LENGTH_MAX, length)
  for (let i = 0; i < length; i++) out[at + i] = text.charCodeAt(i)
  return at + length
}

/** Distinguishes values well enough to notice a repetition; a collision costs a table entry, nothing else. */
function fingerprintOf(text: string): number {
  let hash = text.length
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/**
 * The same text in memory of its own: a caller's string may be a slice that keeps a whole document alive, and
 * the table keeps it as long as the connection lives.
 */
function ownCopy(text: string): string {
  const copy = Buffer.from(text, 'latin1').toString('latin1')
  invariant(copy === text, NOT_LATIN1)
  return copy
}
