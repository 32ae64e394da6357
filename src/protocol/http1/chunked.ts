/**
 * The chunked coding up to its last chunk (RFC 9112 §7.1), resumable at any byte. It finds the data and its
 * length; the response parser hands it out and reads the trailers. Extensions are checked against their
 * grammar and dropped, since their meaning is private to the two ends.
 */
import {
  BACKSLASH,
  CR,
  DELETE,
  EQUALS,
  HEX_VALUE,
  HTAB,
  LF,
  QUOTE,
  SEMICOLON,
  SP,
  TOKEN_BYTE,
} from '../ascii.ts'
import type { ProtocolFailure } from '../failure.ts'
import {
  HPE_CHUNK_EXTENSIONS_OVERFLOW,
  HPE_CR_EXPECTED,
  HPE_INVALID_CHUNK_SIZE,
  HPE_STRICT,
  peerFailure,
} from './failures.ts'
import { MAX_CHUNK_EXTENSION_BYTES, MAX_CHUNK_SIZE_DIGITS } from './limits.ts'

// Places in the grammar. The last three end a call of `advance`.
const SIZE = 0
const SIZE_END = 1
const SIZE_LF = 2
const EXTENSION_NAME = 3
const EXTENSION_VALUE = 4
const EXTENSION_QUOTED = 5
const EXTENSION_ESCAPED = 6
const EXTENSION_CLOSED = 7
const DATA_CR = 8
const DATA_LF = 9
const DATA = 10
const LAST = 11
const FAILED = 12

export class ChunkedDecoder {
  failure: ProtocolFailure | null = null
  /** Bytes of the current chunk's data that have not been taken; meaningful while `inData`. */
  remaining = 0
  #place = SIZE
  #digits = 0
  #extensionBytes = 0
  /** Whether the current extension name or value has a character yet. */
  #begun = false

  /** Starts a body. All else is as the last chunk of the body before left it: empty. */
  begin(): void {
    this.#place = SIZE
  }

  /** Data of a chunk comes next. */
  get inData(): boolean {
    return this.#place === DATA
  }

  /** The last chunk's line has been read: trailers follow. */
  get last(): boolean {
    return this.#place === LAST
  }

  /** The caller has taken `count` bytes of data. */
  take(count: number): void {
    this.remaining -= count
    if (this.remaining === 0) this.#place = DATA_CR
  }

  /**
   * Reads framing and stops where data begins (`inData`), after the last chunk's line (`last`), at an
   * offending byte (`failure`), or at `end`.
   */
  advance(bytes: Buffer, start: number, end: number): number {
    let at = start
    while (at < end && this.#place < DATA) {
      if (!this.#step(bytes[at]!)) return at
      at++
    }
    return at
  }

  #step(byte: number): boolean {
    switch (this.#place) {
      case SIZE:
        return this.#size(byte)
      case SIZE_END:
        return this.#sizeEnd(byte)
      case SIZE_LF:
        if (byte !== LF) return this.#fail(HPE_STRICT, 'Expected LF after chunk size')
        this.#digits = 0
        this.#place = this.remaining === 0 ? LAST : DATA
        return true
      case DATA_CR:
        if (byte === CR) return this.#move(DATA_LF)
        if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Missing expected CR after chunk data')
        return this.#fail(HPE_STRICT, 'Expected LF after chunk data')
      case DATA_LF:
        if (byte !== LF) return this.#fail(HPE_STRICT, 'Expected LF after chunk data')
        return this.#move(SIZE)
      default:
        return this.#extension(byte)
    }
  }

  #size(byte: number): boolean {
    const value = HEX_VALUE[byte]!
    if (value !== 255) {
      const size = this.remaining * 16 + value
      this.#digits++
      if (size > Number.MAX_SAFE_INTEGER || this.#digits > MAX_CHUNK_SIZE_DIGITS) {
        return this.#fail(HPE_INVALID_CHUNK_SIZE, 'Chunk size overflow')
      }
      this.remaining = size
      return true
    }
    if (this.#digits === 0) return this.#fail(HPE_INVALID_CHUNK_SIZE, 'Invalid character in chunk size')
    this.#extensionBytes = 0
    return this.#sizeEnd(byte)
  }

  /**
   * Blanks may follow: old servers pad the size to a fixed width. They count as an extension, or they would
   * have no end.
   */
  #sizeEnd(byte: number): boolean {
    if (byte === SP || byte === HTAB) return this.#countExtension() && this.#move(SIZE_END)
    if (this.#endsPart(byte)) return true
    if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Missing expected CR after chunk size')
    return this.#fail(HPE_INVALID_CHUNK_SIZE, 'Invalid character in chunk size')
  }

  /** The line ends, or the next extension begins. */
  #endsPart(byte: number): boolean {
    if (byte === CR) return this.#move(SIZE_LF)
    if (byte !== SEMICOLON) return false
    this.#begun = false
    return this.#move(EXTENSION_NAME)
  }

  /** chunk-ext-name [ "=" ( token / quoted-string ) ], without the whitespace no sender may generate. */
  #extension(byte: number): boolean {
    if (!this.#countExtension()) return false
    switch (this.#place) {
      case EXTENSION_NAME:
      case EXTENSION_VALUE:
        if (TOKEN_BYTE[byte] === 1) {
          this.#begun = true
          return true
        }
        if (this.#begun) {
          if (byte === EQUALS && this.#place === EXTENSION_NAME) {
            this.#begun = false
            return this.#move(EXTENSION_VALUE)
          }
          return this.#endsPart(byte) || this.#failExtension(byte)
        }
        if (byte === QUOTE && this.#place === EXTENSION_VALUE) return this.#move(EXTENSION_QUOTED)
        return this.#failExtension(byte)
      case EXTENSION_QUOTED:
        if (byte === QUOTE) return this.#move(EXTENSION_CLOSED)
        if (byte === BACKSLASH) return this.#move(EXTENSION_ESCAPED)
        return isQuotable(byte) || this.#failExtension(byte)
      case EXTENSION_ESCAPED:
        return isQuotable(byte) ? this.#move(EXTENSION_QUOTED) : this.#failExtension(byte)
      default:
        return this.#endsPart(byte) || this.#failExtension(byte)
    }
  }

  #countExtension(): boolean {
    this.#extensionBytes++
    if (this.#extensionBytes <= MAX_CHUNK_EXTENSION_BYTES) return true
    return this.#fail(
      HPE_CHUNK_EXTENSIONS_OVERFLOW,
      `chunk extensions are longer than ${MAX_CHUNK_EXTENSION_BYTES} bytes`,
    )
  }

  #failExtension(byte: number): boolean {
    const part = this.#place === EXTENSION_NAME ? 'name' : 'value'
    if (byte === LF && this.#place !== EXTENSION_QUOTED && this.#place !== EXTENSION_ESCAPED) {
      return this.#fail(HPE_CR_EXPECTED, `Missing expected CR after chunk extension ${part}`)
    }
    return this.#fail(
      HPE_STRICT,
      EXTENSION_REASONS[this.#place] ?? `Invalid character in chunk extensions ${part}`,
    )
  }

  #move(place: number): boolean {
    this.#place = place
    return true
  }

  #fail(code: string, message: string): boolean {
    this.#place = FAILED
    this.failure = peerFailure(code, message)
    return false
  }
}

const EXTENSION_REASONS: Readonly<Record<number, string>> = {
  [EXTENSION_QUOTED]: 'Invalid character in chunk extensions quoted value',
  [EXTENSION_ESCAPED]: 'Invalid quoted-pair in chunk extensions quoted value',
  [EXTENSION_CLOSED]: 'Invalid character in chunk extensions quote value',
}

function isQuotable(byte: number): boolean {
  return byte === HTAB || (byte >= SP && byte !== DELETE)
}
