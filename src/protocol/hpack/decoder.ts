/**
 * Header blocks → fields (RFC 7541 §3, §6) for one direction of one connection. It owns the dynamic table and
 * the caps on what a block may expand to; it does not know frames, streams or the rules for messages.
 */
import { DEFAULT_TABLE_SIZE, DynamicTable, ENTRY_OVERHEAD } from './dynamic-table.ts'
import { huffmanDecode, maxDecodedLength } from './huffman.ts'
import { LiteralCache, MAX_CACHED_OCTETS } from './literal-cache.ts'
import { STATIC_ENTRIES, STATIC_NAMES, STATIC_VALUES } from './static-table.ts'

/** The block was decoded and its fields were appended. */
export const HPACK_OK = 0
/** The table no longer agrees with the peer's: the connection must end with COMPRESSION_ERROR. */
export const HPACK_COMPRESSION_ERROR = 1
/** The list was over a cap; the table is in step, so that only the stream needs to end. */
export const HPACK_LIST_TOO_LARGE = 2

export type HpackResult = typeof HPACK_OK | typeof HPACK_COMPRESSION_ERROR | typeof HPACK_LIST_TOO_LARGE

export interface HpackDecoderOptions {
  /** The SETTINGS_HEADER_TABLE_SIZE that we advertise. */
  readonly maxTableSize: number
  /**
   * Octets that one list may have, each field counted as name + value + 32 (RFC 9113 §6.5.2), checked while
   * decoding: a one-octet reference may stand for kilobytes (CVE-2016-6581).
   */
  readonly maxListSize: number
  /** Fields that one list may have: many tiny fields cost memory per field (CVE-2026-49975). */
  readonly maxFields: number
  /**
   * The table size that the peer's encoder starts from before any update. Default 4096, as in HTTP/2
   * (RFC 9113 §6.5.2); other users of HPACK may agree on another.
   */
  readonly initialTableSize?: number
}

/** No revision of the table. */
export const UNREPEATABLE = -1

/** Nothing must be signalled before the next field. */
const NO_UPDATE_DUE = -1

/**
 * The largest integer taken from a peer: no index, length or table size that we can honour comes near it, and
 * it keeps all arithmetic in small integers (RFC 7541 §5.1 asks for such a limit).
 */
const MAX_INTEGER = 0x7fff_ffff

/** Octets after the prefix of an integer: five carry 35 bits. More could only pad with zeros, without end. */
const MAX_CONTINUATION = 5

/** Huffman strings that decode to no more than this share one scratch buffer. */
const SCRATCH_OCTETS = 4096

const scratch = Buffer.allocUnsafeSlow(SCRATCH_OCTETS + 1)

export class HpackDecoder {
  readonly #table: DynamicTable
  readonly #maxListSize: number
  readonly #maxFields: number
  readonly #literals: LiteralCache = new LiteralCache()
  /** The largest table size that the peer may choose. */
  #maxTableSize: number
  /** The size that the next block must begin by going down to, or `NO_UPDATE_DUE`. */
  #updateDue: number = NO_UPDATE_DUE
  /** Where reading goes on in the block. */
  #position = 0
  /** Why the last block was not `HPACK_OK`; holds nothing that the peer sent but numbers. */
  message = ''
  #broken = false
  /** The last block had a field that the peer marked as never indexed (RFC 7541 §7.1.3). */
  hadSecret = false

  constructor(options: HpackDecoderOptions) {
    const initial = options.initialTableSize ?? DEFAULT_TABLE_SIZE
    this.#table = new DynamicTable(initial, null)
    this.#maxTableSize = initial
    this.#maxListSize = options.maxListSize
    this.#maxFields = options.maxFields
    this.setMaxTableSize(options.maxTableSize)
  }

  /** Octets that the dynamic table counts now (RFC 7541 §4.1). */
  get tableSize(): number {
    return this.#table.size
  }

  /**
   * The state of the table. A block that left it as it was means the same as long as it is the same;
   * `UNREPEATABLE` when the next block must be decoded in any case.
   */
  get revision(): number {
    return this.#broken || this.#updateDue !== NO_UPDATE_DUE ? UNREPEATABLE : this.#table.revision
  }

  /**
   * Applies a SETTINGS_HEADER_TABLE_SIZE that the peer has acknowledged. One below the size in use obliges
   * the peer to begin its next block with an update (RFC 9113 §4.3.1), to the smallest value that was in
   * force in between (RFC 7541 §4.2).
   */
  setMaxTableSize(size: number): void {
    this.#maxTableSize = size
    const inUse = this.#updateDue === NO_UPDATE_DUE ? this.#table.maxSize : this.#updateDue
    if (size < inUse) this.#updateDue = size
  }

  /**
   * Decodes one whole block, buf[start, end), and appends name, value, name, value … as latin1 strings to
   * `out`. With any result but `HPACK_OK`, `out` is unchanged and `message` has the reason.
   */
  decode(buf: Buffer, start: number, end: number, out: string[]): HpackResult {
    if (this.#broken) return HPACK_COMPRESSION_ERROR
    const before = out.length
    const result = this.#decodeFields(buf, start, end, out)
    if (result !== HPACK_OK) out.length = before
    return result
  }

  #decodeFields(buf: Buffer, start: number, end: number, out: string[]): HpackResult {
    const table = this.#table
    const maxListSize = this.#maxListSize
    const maxLength = out.length + this.#maxFields * 2
    let listSize = 0
    let overLimit = false

    this.#position = start
    this.hadSecret = false
    if (!this.#readUpdates(buf, end)) return this.#fail()

    while (this.#position < end) {
      const first = buf[this.#position++]!
      let name: string
      let value: string
      if (first >= 0x80) {
        const index = this.#readInteger(buf, end, first & 0x7f, 0x7f)
        if (index < 0) return this.#fail()
        if (index > STATIC_ENTRIES + table.count) return this.#failPastEnd(index)
        if (index <= STATIC_ENTRIES) {
          if (index === 0) return this.#failWith('index 0 in an indexed field')
          name = STATIC_NAMES[index]!
          value = STATIC_VALUES[index]!
        } else {
          const age = index - STATIC_ENTRIES - 1
          name = table.nameAt(age)
          value = table.valueAt(age)
        }
      } else {
        const indexing = first >= 0x40
        if (!indexing && first >= 0x20) return this.#failWith('table size update after a field')
        const prefixMax = indexing ? 0x3f : 0x0f
        const index = this.#readInteger(buf, end, first & prefixMax, prefixMax)
        if (index < 0) return this.#fail()
        if (index > STATIC_ENTRIES + table.count) return this.#failPastEnd(index)
        // A dropped field that does not enter the table needs no strings: only its end must be found.
        if (overLimit && !indexing) {
          if (!this.#skipLiteral(buf, end, index)) return this.#fail()
          continue
        }
        const literalName = this.#readName(buf, end, index)
        if (literalName === null) return this.#fail()
        const neverIndexed = (first & 0xf0) === 0x10
        if (neverIndexed) this.hadSecret = true
        const literalValue = this.#readString(buf, end, !neverIndexed)
        if (literalValue === null) return this.#fail()
        name = literalName
        value = literalValue
        if (indexing) table.insert(name, value)
      }
      if (overLimit) continue
      listSize += name.length + value.length + ENTRY_OVERHEAD
      if (listSize > maxListSize) {
        this.message = `header list larger than ${maxListSize} octets`
        overLimit = true
      } else if (out.length >= maxLength) {
        this.message = `header list longer than ${this.#maxFields} fields`
        overLimit = true
      } else {
        out.push(name, value)
      }
    }
    return overLimit ? HPACK_LIST_TOO_LARGE : HPACK_OK
  }

  /** Table size updates stand before the first field only (RFC 7541 §4.2). */
  #readUpdates(buf: Buffer, end: number): boolean {
    while (this.#position < end) {
      const first = buf[this.#position]!
      if (first < 0x20 || first >= 0x40) break
      this.#position++
      const size = this.#readInteger(buf, end, first & 0x1f, 0x1f)
      if (size < 0) return false
      if (size > this.#maxTableSize) {
        this.message = `table size update to ${size} where ${this.#maxTableSize} is the maximum`
        return false
      }
      if (this.#updateDue !== NO_UPDATE_DUE) {
        if (size > this.#updateDue) {
          this.message = `table size update to ${size} where ${this.#updateDue} or less was due`
          return false
        }
        this.#updateDue = NO_UPDATE_DUE
      }
      this.#table.resize(size)
    }
    if (this.#updateDue !== NO_UPDATE_DUE) {
      this.message = `no table size update to ${this.#updateDue} or less at the start of the block`
      return false
    }
    return true
  }

  /** The integer whose prefix has just been read (RFC 7541 §5.1), or a negative number with `message` set. */
  #readInteger(buf: Buffer, end: number, prefix: number, prefixMax: number): number {
    if (prefix < prefixMax) return prefix
    let value = prefixMax
    const limit = this.#position + MAX_CONTINUATION
    for (let factor = 1; this.#position < end; factor *= 128) {
      const octet = buf[this.#position++]!
      value += (octet & 0x7f) * factor
      if (value > MAX_INTEGER || this.#position > limit) {
        this.message = 'integer too large'
        return -1
      }
      if (octet < 0x80) return value
    }
    this.message = 'block ends within an integer'
    return -1
  }

  /** `index` is not past the end of the table. */
  #readName(buf: Buffer, end: number, index: number): string | null {
    if (index === 0) return this.#readString(buf, end, true)
    if (index <= STATIC_ENTRIES) return STATIC_NAMES[index]!
    return this.#table.nameAt(index - STATIC_ENTRIES - 1)
  }

  /**
   * `cacheable` is false for what the peer marked as never indexed: secrets are not kept (RFC 7541 §7.1.3).
   */
  #readString(buf: Buffer, end: number, cacheable: boolean): string | null {
    const start = this.#position
    const length = this.#readLength(buf, end)
    if (length < 0) return null
    const huffman = buf[start]! >= 0x80
    const from = this.#position
    const to = from + length
    this.#position = to
    if (length === 0) return ''
    if (!cacheable || length > MAX_CACHED_OCTETS) return this.#makeString(buf, from, to, huffman)
    const known = this.#literals.find(buf, from, to, huffman)
    if (known !== null) return known
    const text = this.#makeString(buf, from, to, huffman)
    if (text !== null) this.#literals.put(buf, from, to, huffman, text)
    return text
  }

  /**
   * The length of the string at `position`, which then stands on its first octet; negative if it is wrong.
   */
  #readLength(buf: Buffer, end: number): number {
    if (this.#position >= end) {
      this.message = 'block ends before a string'
      return -1
    }
    const length = this.#readInteger(buf, end, buf[this.#position++]! & 0x7f, 0x7f)
    if (length > end - this.#position) {
      this.message = 'block ends within a string'
      return -1
    }
    return length
  }

  #makeString(buf: Buffer, from: number, to: number, huffman: boolean): string | null {
    if (!huffman) return buf.toString('latin1', from, to)
    const room = maxDecodedLength(to - from)
    const target = room <= SCRATCH_OCTETS ? scratch : Buffer.allocUnsafe(room + 1)
    const decoded = huffmanDecode(buf, from, to, target)
    if (decoded >= 0) return target.toString('latin1', 0, decoded)
    this.message = 'Huffman string with EOS or wrong padding'
    return null
  }

  /** Steps over a literal that is dropped; its Huffman code is not looked at, which bounds the work. */
  #skipLiteral(buf: Buffer, end: number, index: number): boolean {
    for (let strings = index === 0 ? 2 : 1; strings > 0; strings--) {
      const length = this.#readLength(buf, end)
      if (length < 0) return false
      this.#position += length
    }
    return true
  }

  #failPastEnd(index: number): HpackResult {
    return this.#failWith(`index ${index} where the table ends at ${STATIC_ENTRIES + this.#table.count}`)
  }

  #failWith(message: string): HpackResult {
    this.message = message
    return this.#fail()
  }

  #fail(): HpackResult {
    this.#broken = true
    return HPACK_COMPRESSION_ERROR
  }
}
