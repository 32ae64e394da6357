/**
 * The syntax of heads and trailers: status line and fields (RFC 9112 §4, §5), byte by byte and strictly. CRLF
 * is the only line end, and no space may precede a colon. It knows nothing of bodies.
 *
 * Old servers fold a long value over several lines. A user agent replaces the folds by spaces (RFC 9112
 * §5.2): a head that has any is judged as it is, then rewritten without them, and read again. A folded length
 * is refused: whoever takes the second line for a field of its own sees another end of the message
 * (CVE-2024-27982).
 *
 * A head that lies in one buffer is judged in place. Only an unfinished one is copied, once, and judging
 * resumes where it stopped, so feeding single bytes costs the same as feeding all at once. Every verdict
 * falls at a fixed byte of the stream, however that stream was cut.
 */
import { COLON, CR, DELETE, HTAB, LF, SP, TOKEN_BYTE } from '../ascii.ts'
import { CarriedBytes } from '../carried-bytes.ts'
import type { ProtocolFailure } from '../failure.ts'
import { HeadMemory } from '../head-memory.ts'
import { HeaderBlock } from '../header-block.ts'
import { lowerNameFromBytes } from '../header-names.ts'
import {
  HEADERS_OVERFLOW,
  HPE_CR_EXPECTED,
  HPE_INVALID_HEADER_TOKEN,
  HPE_LF_EXPECTED,
  HPE_STRICT,
  peerFailure,
} from './failures.ts'
import { FieldSpans } from './field-spans.ts'
import { FramingFields, framingReason } from './framing.ts'
import { type Http1Limits, MAX_FIELDS, maxHeadBytes } from './limits.ts'
import { REASON_START, StatusLine } from './status-line.ts'

// Places in the grammar. DONE and FAILED are final.
const STATUS_LINE = 0
const LINE_START = 1
const NAME = 2
const VALUE_START = 3
const VALUE = 4
const VALUE_LF = 5
const LAST_LF = 6
const FOLD = 7
const FOLD_LF = 8
const DONE = 9
const FAILED = 10
type Place = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10

/** A line end that does not end the field. */
const FOLDS = /\r\n[\t ]+/g

/** Longer than most heads, so that one step finds the end. */
const CARRY_STEP = 1024
const LARGEST_KEPT_CARRY = 4096

/** A response head as it was written, before its request gives it a meaning. */
export interface ParsedHead {
  readonly framing: FramingFields
  /** 10 or 11. */
  readonly version: number
  readonly status: number
  /** The reason phrase, `''` when there is none. */
  readonly reason: string
  readonly fields: HeaderBlock
}

export class HeadParser {
  /** The last head that was completed. */
  head: ParsedHead | null = null
  /** The last trailers that were completed. */
  trailers: HeaderBlock = HeaderBlock.EMPTY
  failure: ProtocolFailure | null = null

  readonly #maxHeaderSize: number
  readonly #maxBytes: number
  readonly #statusLine = new StatusLine()
  readonly #fields = new FieldSpans()
  readonly #carry = new CarriedBytes(LARGEST_KEPT_CARRY)
  readonly #memory = new HeadMemory<ParsedHead>()
  /** Of the present head; null in trailers, which decide nothing about framing. */
  #framing: FramingFields | null = null
  #place: Place = DONE
  /** Bytes of this head judged so far; all positions below count from its first byte. */
  #judged = 0
  #lineStart = 0
  #nameEnd = 0
  #valueStart = 0

  constructor(limits: Http1Limits) {
    this.#maxHeaderSize = limits.maxHeaderSize
    this.#maxBytes = maxHeadBytes(limits)
  }

  get done(): boolean {
    return this.#place === DONE
  }

  beginHead(): void {
    this.#place = STATUS_LINE
    this.#judged = 0
  }

  /** The trailer section of a chunked body. */
  beginTrailers(): void {
    this.#place = LINE_START
    this.#judged = 0
    this.#framing = null
    this.#fields.clear()
  }

  /**
   * Reads on. Returns the first byte that does not belong to the head: the one after it when `done`, the
   * offending byte when `failure` is set, else `end`.
   */
  consume(bytes: Buffer, start: number, end: number): number {
    const before = this.#carry.length
    const room = this.#maxBytes - before
    const upTo = end - start > room ? start + room : end
    if (this.#place === STATUS_LINE && this.#judged === 0) {
      const known = this.#memory.find(bytes, start, upTo)
      if (known !== null) {
        this.head = known
        this.#place = DONE
        return start + this.#memory.length
      }
      this.#statusLine.begin()
      this.#framing = new FramingFields()
      this.#fields.clear()
    }
    if (before > 0) this.#judgeCarried(bytes, start, upTo)
    else this.#judge(bytes, start, upTo)
    const stop = start - before + this.#judged

    switch (this.#place) {
      case DONE:
        if (this.#fields.isFolded) {
          if (before > 0) this.#buildUnfolded(this.#carry.bytes, 0)
          else this.#buildUnfolded(bytes, start)
        } else if (before > 0) {
          this.#build(this.#carry.bytes, 0)
        } else {
          this.#build(bytes, start)
          if (this.#framing !== null) this.#memory.store(bytes, start, stop, this.head!)
        }
        this.#carry.clear()
        return stop
      case FAILED:
        this.#carry.clear()
        return stop
      default:
        if (this.#judged >= this.#maxBytes) {
          this.#fail(HEADERS_OVERFLOW, `head is longer than ${this.#maxBytes} bytes`)
          this.#carry.clear()
        } else if (before === 0) {
          this.#carry.append(bytes, start, upTo)
        }
        return stop
    }
  }

  /** In steps, so that the body that may follow is not copied as well. */
  #judgeCarried(bytes: Buffer, start: number, end: number): void {
    for (let from = start; from < end && this.#place < DONE; from += CARRY_STEP) {
      this.#carry.append(bytes, from, Math.min(from + CARRY_STEP, end))
      this.#judge(this.#carry.bytes, 0, this.#carry.length)
    }
  }

  #fail(code: string, message: string): Place {
    return this.#failWith(peerFailure(code, message))
  }

  #failWith(failure: ProtocolFailure): Place {
    this.#place = FAILED
    this.failure = failure
    return FAILED
  }

  /** The places in the order of the grammar, so that a whole line passes in one round. */
  #judge(bytes: Buffer, base: number, end: number): void {
    let at = base + this.#judged
    if (this.#place === STATUS_LINE) at = this.#judgeStatusLine(bytes, base, at, end)
    let place = this.#place
    let lineStart = base + this.#lineStart
    let nameEnd = base + this.#nameEnd
    let valueStart = base + this.#valueStart
    while (at < end && place < DONE) {
      if (place === LINE_START) {
        const byte = bytes[at]!
        if (byte === CR) {
          place = LAST_LF
          at++
          continue
        }
        if (TOKEN_BYTE[byte] !== 1) {
          place = this.#beginFold(byte)
          if (place === FAILED) break
        } else {
          lineStart = at
          place = NAME
        }
      }
      if (place === NAME) {
        while (at < end && TOKEN_BYTE[bytes[at]!] === 1) at++
        if (at === end) break
        if (bytes[at] !== COLON) {
          place = this.#fail(HPE_INVALID_HEADER_TOKEN, 'Invalid header token')
          break
        }
        nameEnd = at
        at++
        place = VALUE_START
      }
      if (place === VALUE_START) {
        while (at < end && (bytes[at] === SP || bytes[at] === HTAB)) at++
        if (at === end) break
        valueStart = at
        place = VALUE
      }
      if (place === VALUE || place === FOLD) {
        // FIELD_VALUE_BYTE as comparisons, a fifth faster than the table: most bytes of a head come through
        // here.
        for (; at < end; at++) {
          const byte = bytes[at]!
          if (byte < SP ? byte !== HTAB : byte === DELETE) break
        }
        if (at === end) break
        if (bytes[at] !== CR) {
          place = this.#failValue(bytes[at]!)
          break
        }
        at++
        place = place === VALUE ? VALUE_LF : FOLD_LF
        if (at === end) break
      }
      if (bytes[at] !== LF) {
        place = this.#failLineEnd(place)
      } else if (place === VALUE_LF) {
        place = this.#finishField(bytes, base, lineStart, nameEnd, valueStart, at - 1)
        at++
      } else {
        place = place === FOLD_LF ? LINE_START : DONE
        at++
      }
    }
    this.#place = place
    this.#judged = at - base
    this.#lineStart = lineStart - base
    this.#nameEnd = nameEnd - base
    this.#valueStart = valueStart - base
  }

  #judgeStatusLine(bytes: Buffer, base: number, from: number, end: number): number {
    const line = this.#statusLine
    const at = line.consume(bytes, base, from, end)
    if (line.failure !== null) this.#failWith(line.failure)
    else if (line.done) this.#place = LINE_START
    return at
  }

  /**
   * A line that begins with a blank goes on with the value of the line before; with anything else it fails.
   */
  #beginFold(byte: number): Place {
    if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Invalid header field char')
    if (byte !== SP && byte !== HTAB) return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Invalid header token')
    const { lastName } = this.#fields
    if (lastName === null) return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Unexpected space after start line')
    if (lastName === 'content-length' || lastName === 'transfer-encoding') {
      return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Unexpected whitespace after header value')
    }
    this.#fields.isFolded = true
    return FOLD
  }

  #failValue(byte: number): Place {
    if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Missing expected CR after header value')
    return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Invalid header value char')
  }

  #failLineEnd(place: Place): Place {
    if (place !== LAST_LF) return this.#fail(HPE_LF_EXPECTED, 'Missing expected LF after header value')
    return this.#fail(HPE_STRICT, 'Expected LF after headers')
  }

  #finishField(
    bytes: Buffer,
    base: number,
    nameStart: number,
    nameEnd: number,
    valueStart: number,
    lineEnd: number,
  ): Place {
    let valueEnd = lineEnd
    while (valueEnd > valueStart && (bytes[valueEnd - 1] === SP || bytes[valueEnd - 1] === HTAB)) valueEnd--

    const fields = this.#fields
    fields.size += nameEnd - nameStart + valueEnd - valueStart
    if (fields.size >= this.#maxHeaderSize) {
      return this.#fail(
        HEADERS_OVERFLOW,
        `${fields.size} bytes of header fields, limit ${this.#maxHeaderSize}`,
      )
    }
    if (fields.count === MAX_FIELDS) {
      return this.#fail(HEADERS_OVERFLOW, `more than ${MAX_FIELDS} header fields`)
    }
    const name = lowerNameFromBytes(bytes, nameStart, nameEnd)
    if (this.#framing !== null) {
      const code = this.#framing.add(name, bytes, valueStart, valueEnd)
      if (code !== null) {
        return this.#fail(code, framingReason(code, this.#framing, bytes, valueStart, valueEnd))
      }
    }
    fields.add(name, valueStart - base, valueEnd - base)
    return LINE_START
  }

  /** Reads the head again, without its folds. */
  #buildUnfolded(bytes: Buffer, base: number): void {
    const text = bytes.toString('latin1', base, base + this.#judged).replace(FOLDS, ' ')
    const unfolded = Buffer.from(text, 'latin1')
    this.#judged = 0
    this.#fields.clear()
    if (this.#framing !== null) this.#framing = new FramingFields()
    this.#statusLine.begin()
    this.#place = this.#framing === null ? LINE_START : STATUS_LINE
    this.#judge(unfolded, 0, unfolded.length)
    if (this.done) this.#build(unfolded, 0)
  }

  /** One decoded string for the whole head; every value is a part of it. */
  #build(bytes: Buffer, base: number): void {
    const fields = this.#fields
    const end = base + this.#judged
    if (this.#framing === null) {
      this.trailers =
        fields.count === 0 ? HeaderBlock.EMPTY : fields.toBlock(bytes.toString('latin1', base, end), 0, 0)
      return
    }
    const { version, status, reasonEnd, end: from } = this.#statusLine
    const text = bytes.toString('latin1', base + REASON_START, end)
    this.head = {
      framing: this.#framing,
      version,
      status,
      reason: reasonEnd > REASON_START ? text.slice(0, reasonEnd - REASON_START) : '',
      fields: fields.toBlock(text, REASON_START, from),
    }
  }
}
