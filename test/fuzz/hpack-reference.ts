/**
 * A second HPACK decoder (RFC 7541), written only to be obviously correct: arrays, one bit of Huffman code at a time, no
 * caches. The decoder under test must agree with it on every block.
 */
import { HUFFMAN_CODES, HUFFMAN_EOS, HUFFMAN_LENGTHS } from '../../src/protocol/hpack/huffman-table.ts'
import { STATIC_ENTRIES, STATIC_NAMES, STATIC_VALUES } from '../../src/protocol/hpack/static-table.ts'

/** Thrown for a decoding error as defined by RFC 7541. */
export class CompressionError extends Error {}

const LARGEST_INTEGER = 2 ** 31 - 1
const MOST_CONTINUATION_OCTETS = 5

/** A code with its length as prefix → symbol */
const SYMBOLS = new Map<number, number>()
for (let symbol = 0; symbol <= HUFFMAN_EOS; symbol++) {
  SYMBOLS.set(key(HUFFMAN_LENGTHS[symbol]!, HUFFMAN_CODES[symbol]!), symbol)
}

export class ReferenceDecoder {
  /** Newest first. */
  #table: [name: string, value: string][] = []
  /** The current size of the table, RFC 7541 §4.1. */
  tableSize = 0
  #size: number
  readonly #maxSize: number
  #at = 0
  #block: Buffer = Buffer.alloc(0)

  constructor(maxSize: number) {
    this.#maxSize = maxSize
    this.#size = maxSize
  }

  decode(block: Buffer): string[] {
    this.#block = block
    this.#at = 0
    const fields: string[] = []
    let isFirst = true
    while (this.#at < block.length) {
      const first = block[this.#at]!
      if ((first & 0x80) !== 0) {
        fields.push(...this.#entry(this.#integer(7)))
      } else if ((first & 0xc0) === 0x40) {
        const field = this.#literal(6)
        this.#table.unshift(field)
        this.tableSize += sizeOf(field)
        this.#evict()
        fields.push(...field)
      } else if ((first & 0xe0) === 0x20) {
        if (!isFirst) throw new CompressionError('update after a field')
        const size = this.#integer(5)
        if (size > this.#maxSize) throw new CompressionError('update above the maximum')
        this.#size = size
        this.#evict()
        continue
      } else {
        fields.push(...this.#literal(4))
      }
      isFirst = false
    }
    return fields
  }

  /** RFC 7541 §4.4: an entry larger than the table empties it. */
  #evict(): void {
    while (this.tableSize > this.#size) this.tableSize -= sizeOf(this.#table.pop()!)
  }

  #octet(): number {
    const octet = this.#block[this.#at]
    if (octet === undefined) throw new CompressionError('the block ends too early')
    this.#at++
    return octet
  }

  #integer(bits: number): number {
    const mask = 2 ** bits - 1
    let value = this.#octet() & mask
    if (value < mask) return value
    for (let i = 0; ; i++) {
      if (this.#at < this.#block.length && i === MOST_CONTINUATION_OCTETS) {
        throw new CompressionError('integer too long')
      }
      const octet = this.#octet()
      value += (octet & 0x7f) * 2 ** (7 * i)
      if (value > LARGEST_INTEGER) throw new CompressionError('integer too large')
      if (octet < 0x80) return value
    }
  }

  #entry(index: number): [name: string, value: string] {
    if (index === 0) throw new CompressionError('index 0')
    if (index <= STATIC_ENTRIES) return [STATIC_NAMES[index]!, STATIC_VALUES[index]!]
    const entry = this.#table[index - STATIC_ENTRIES - 1]
    if (entry === undefined) throw new CompressionError('index past the end')
    return entry
  }

  #literal(bits: number): [name: string, value: string] {
    const index = this.#integer(bits)
    const name = index === 0 ? this.#string() : this.#entry(index)[0]
    return [name, this.#string()]
  }

  #string(): string {
    if (this.#at >= this.#block.length) throw new CompressionError('no string')
    const huffman = this.#block[this.#at]! >= 0x80
    const length = this.#integer(7)
    if (this.#at + length > this.#block.length) throw new CompressionError('string past the end')
    const octets = this.#block.subarray(this.#at, this.#at + length)
    this.#at += length
    return huffman ? plain(octets) : octets.toString('latin1')
  }
}

function sizeOf([name, value]: readonly [name: string, value: string]): number {
  return name.length + value.length + 32
}

function key(length: number, code: number): number {
  return length * 2 ** 32 + code
}

function plain(octets: Buffer): string {
  let text = ''
  let code = 0
  let length = 0
  for (let bit = 0; bit < octets.length * 8; bit++) {
    code = code * 2 + ((octets[bit >> 3]! >> (7 - (bit & 7))) & 1)
    length++
    const symbol = SYMBOLS.get(key(length, code))
    if (symbol === undefined) continue
    if (symbol === HUFFMAN_EOS) throw new CompressionError('EOS')
    text += String.fromCharCode(symbol)
    code = 0
    length = 0
  }
  // RFC 7541 §5.2: padding is the beginning of EOS, all ones, and shorter than an octet.
  if (length > 7 || code !== 2 ** length - 1) throw new CompressionError('padding')
  return text
}
