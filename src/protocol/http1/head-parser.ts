/**
 * The syntax of heads and trailers: status line and fields (RFC 9112 §4, §5), byte by byte and strictly.
 * CRLF is the only line end, nothing folds, no space stands before a colon. It knows nothing of bodies.
 *
 * A head that lies in one buffer is judged in place. Only what is left of an unfinished one is copied, once,
 * and the judging goes on where it stopped, so feeding single bytes costs the same as feeding all at once.
 * Every verdict falls at a fixed byte of the stream, however that stream was cut.
 */
import { FIELD_VALUE_BYTE, TOKEN_BYTE } from '../ascii.ts'
import type { ProtocolFailure } from '../failure.ts'
import { HeaderBlock } from '../header-block.ts'
import { nameFromBytes } from '../header-names.ts'
import { KnownBytes } from '../known-bytes.ts'
import {
  HEADERS_OVERFLOW,
  HPE_CR_EXPECTED,
  HPE_INVALID_CONSTANT,
  HPE_INVALID_HEADER_TOKEN,
  HPE_INVALID_STATUS,
  HPE_INVALID_VERSION,
  HPE_LF_EXPECTED,
  HPE_STRICT,
  peerFailure,
} from './failures.ts'
import { FramingFields, framingReason } from './framing.ts'
import { type Http1Limits, MAX_FIELDS, maxHeadBytes } from './limits.ts'

const HTAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SP = 0x20
const DOT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const DELETE = 0x7f

/** `HTTP/1.1 200` and the byte behind it. */
const STATUS_CODE_END = 12
const PROTOCOL = [0x48, 0x54, 0x54, 0x50, 0x2f] as const

// Places in the grammar. DONE and FAILED are final.
const STATUS_LINE = 0
const REASON = 1
const STATUS_LF = 2
const LINE_START = 3
const NAME = 4
const VALUE_START = 5
const VALUE = 6
const VALUE_LF = 7
const LAST_LF = 8
const DONE = 9
const FAILED = 10
type Place =
  | typeof STATUS_LINE
  | typeof REASON
  | typeof STATUS_LF
  | typeof LINE_START
  | typeof NAME
  | typeof VALUE_START
  | typeof VALUE
  | typeof VALUE_LF
  | typeof LAST_LF
  | typeof DONE
  | typeof FAILED

/** First size of the buffer for an unfinished head, and the largest that is kept for the next one. */
const SMALL_CARRY = 1024
const LARGEST_KEPT_CARRY = 4096

/** More than most heads, so that one step finds the end. */
const CARRY_STEP = 1024

/** Spans of the fields at the start; grows up to MAX_FIELDS. */
const INITIAL_FIELDS = 32

/** What the head that came last says. */
interface KnownHead {
  readonly framing: FramingFields
  readonly version: number
  readonly status: number
  readonly reason: string
  readonly fields: HeaderBlock
}

export class HeadParser {
  /** Of the present head. */
  framing: FramingFields = new FramingFields()
  /** 9, 10, 11 or 20. */
  version = 0
  status = 0
  reason = ''
  fields: HeaderBlock = HeaderBlock.EMPTY
  failure: ProtocolFailure | null = null

  readonly #maxHeaderSize: number
  readonly #maxBytes: number
  #trailers = false
  #place: Place = DONE
  /** Bytes of this head judged so far; all positions below count from its first byte. */
  #judged = 0
  #lineStart = 0
  #reasonEnd = 0
  #nameEnd = 0
  #valueStart = 0
  /** Bytes of names and values. */
  #size = 0
  #count = 0
  readonly #names: string[] = []
  #spans = new Int32Array(INITIAL_FIELDS * 2)
  #carry: Buffer | null = null
  #carried = 0
  readonly #knownBytes = new KnownBytes()
  #known: KnownHead | null = null
  /** To be filled from the next head, unless that is the known one. */
  #blankFraming: FramingFields = this.framing

  constructor(limits: Http1Limits) {
    this.#maxHeaderSize = limits.maxHeaderSize
    this.#maxBytes = maxHeadBytes(limits)
  }

  get done(): boolean {
    return this.#place === DONE
  }

  /** Starts a response head, or the trailer section of a chunked body. */
  begin(trailers: boolean): void {
    this.#trailers = trailers
    this.#place = trailers ? LINE_START : STATUS_LINE
    this.#judged = 0
    this.#lineStart = 0
    this.#size = 0
    this.#count = 0
    if (trailers) return
    this.framing = this.#blankFraming
    this.framing.reset()
  }

  /**
   * Reads on. Returns the first byte that does not belong to the head: behind it when `done`, the offending
   * byte when `failure` is set, else `end`.
   */
  consume(bytes: Buffer, start: number, end: number): number {
    const before = this.#carried
    const room = this.#maxBytes - before
    const upTo = end - start > room ? start + room : end
    let base = start
    if (this.#place === STATUS_LINE && this.#judged === 0 && this.#recall(bytes, start, upTo)) {
      return start + this.#judged
    }
    if (before > 0) {
      this.#judgeCarried(bytes, start, upTo)
      base = start - before
    } else {
      this.#judge(bytes, start, upTo)
    }
    const stop = base + this.#judged

    switch (this.#place) {
      case DONE:
        if (before > 0) {
          this.#build(this.#carry!, 0)
        } else {
          this.#build(bytes, start)
          if (!this.#trailers) this.#remember(bytes, start, stop)
        }
        this.#release()
        return stop
      case FAILED:
        this.#release()
        return stop
      default:
        if (stop - base >= this.#maxBytes) {
          this.#fail(HEADERS_OVERFLOW, `head is longer than ${this.#maxBytes} bytes`)
          this.#release()
        } else if (before === 0) {
          this.#keep(bytes, start, upTo)
        }
        return stop
    }
  }

  /** Takes over the last head if the bytes begin with it. */
  #recall(bytes: Buffer, start: number, end: number): boolean {
    const known = this.#known
    const length = this.#knownBytes.length
    if (known === null || length > end - start || !this.#knownBytes.standAt(bytes, start)) return false
    this.framing = known.framing
    this.version = known.version
    this.status = known.status
    this.reason = known.reason
    this.fields = known.fields
    this.fields.prepareToRepeat()
    this.#judged = length
    this.#place = DONE
    return true
  }

  #remember(bytes: Buffer, start: number, end: number): void {
    this.#known = null
    if (!this.#knownBytes.keep(bytes, start, end)) return
    const { framing, version, status, reason, fields } = this
    this.#known = { framing, version, status, reason, fields }
    this.#blankFraming = new FramingFields()
  }

  /** In steps, lest the body behind the head is copied too. */
  #judgeCarried(bytes: Buffer, start: number, end: number): void {
    for (let from = start; from < end && this.#place < DONE; from += CARRY_STEP) {
      this.#keep(bytes, from, Math.min(from + CARRY_STEP, end))
      this.#judge(this.#carry!, 0, this.#carried)
    }
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    const wanted = this.#carried + end - start
    if (this.#carry === null || this.#carry.length < wanted) {
      const grown = Buffer.allocUnsafeSlow(Math.max(SMALL_CARRY, wanted * 2))
      if (this.#carry !== null) this.#carry.copy(grown, 0, 0, this.#carried)
      this.#carry = grown
    }
    bytes.copy(this.#carry, this.#carried, start, end)
    this.#carried = wanted
  }

  #release(): void {
    this.#carried = 0
    if (this.#carry !== null && this.#carry.length > LARGEST_KEPT_CARRY) this.#carry = null
  }

  #fail(code: string, message: string): Place {
    this.#place = FAILED
    this.failure = peerFailure(code, message)
    return FAILED
  }

  /** The places in the order of the grammar, so that a whole line passes in one round. */
  #judge(bytes: Buffer, base: number, end: number): void {
    let at = base + this.#judged
    if (this.#place < LINE_START) at = this.#judgeStatusLine(bytes, base, at, end)
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
          place = this.#failLineStart(byte)
          break
        }
        lineStart = at
        place = NAME
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
      if (place === VALUE) {
        // FIELD_VALUE_BYTE as comparisons, a fifth quicker than the table: most bytes of a head pass here.
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
        place = VALUE_LF
        if (at === end) break
      }
      if (bytes[at] !== LF) {
        place = this.#failLineEnd(place)
      } else if (place === VALUE_LF) {
        place = this.#finishField(bytes, base, lineStart, nameEnd, valueStart, at - 1)
        at++
      } else {
        place = DONE
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
    let at = from
    if (this.#place === STATUS_LINE) {
      at = this.#judgeStatusCode(bytes, base, at, end)
    }
    if (this.#place === REASON) {
      while (at < end && FIELD_VALUE_BYTE[bytes[at]!] === 1) at++
      if (at === end) return at
      this.#reasonEnd = at - base
      if (bytes[at] === LF)
        return this.#refuse(at, HPE_CR_EXPECTED, 'Missing expected CR after response line')
      if (bytes[at] !== CR) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid character in reason phrase')
      this.#place = STATUS_LF
      at++
    }
    if (this.#place === STATUS_LF && at < end) {
      if (bytes[at] !== LF) return this.#refuse(at, HPE_STRICT, 'Expected LF after CR')
      this.#place = LINE_START
      at++
    }
    return at
  }

  /** The part of fixed width: the place of each byte says what it must be. */
  #judgeStatusCode(bytes: Buffer, base: number, from: number, end: number): number {
    let at = from
    for (; at < end; at++) {
      const byte = bytes[at]!
      const index = at - base
      if (index < 5) {
        if (byte !== PROTOCOL[index]) {
          // The wording is the one users know; the other two protocols are not spoken here.
          return this.#refuse(at, HPE_INVALID_CONSTANT, 'Expected HTTP/, RTSP/ or ICE/')
        }
        continue
      }
      const digit = byte - ZERO
      const isDigit = digit >= 0 && digit <= 9
      switch (index) {
        case 5:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid major version')
          this.version = digit * 10
          break
        case 6:
          if (byte !== DOT) return this.#refuse(at, HPE_INVALID_VERSION, 'Expected dot')
          break
        case 7:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid minor version')
          this.version += digit
          break
        case 8:
          if (this.version !== 11 && this.version !== 10 && this.version !== 9 && this.version !== 20) {
            return this.#refuse(at, HPE_INVALID_VERSION, 'Invalid HTTP version')
          }
          if (byte !== SP) return this.#refuse(at, HPE_INVALID_VERSION, 'Expected space after version')
          this.status = 0
          break
        case STATUS_CODE_END:
          if (this.status < 100) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid status code')
          if (byte === SP) {
            this.#place = REASON
            return at + 1
          }
          if (byte !== CR && byte !== LF) {
            return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid response status')
          }
          // No reason phrase and no space before it: REASON finds the line end.
          this.#place = REASON
          return at
        default:
          if (!isDigit) return this.#refuse(at, HPE_INVALID_STATUS, 'Invalid status code')
          this.status = this.status * 10 + digit
      }
    }
    return at
  }

  #refuse(at: number, code: string, message: string): number {
    this.#fail(code, message)
    return at
  }

  #failLineStart(byte: number): Place {
    if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Invalid header field char')
    if (byte === SP || byte === HTAB) return this.#fail(HPE_INVALID_HEADER_TOKEN, this.#foldReason())
    return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Invalid header token')
  }

  #foldReason(): string {
    return this.#count === 0
      ? 'Unexpected space after start line'
      : 'Unexpected whitespace after header value'
  }

  #failValue(byte: number): Place {
    if (byte === LF) return this.#fail(HPE_CR_EXPECTED, 'Missing expected CR after header value')
    return this.#fail(HPE_INVALID_HEADER_TOKEN, 'Invalid header value char')
  }

  #failLineEnd(place: Place): Place {
    if (place === VALUE_LF) return this.#fail(HPE_LF_EXPECTED, 'Missing expected LF after header value')
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

    const count = this.#count
    this.#size += nameEnd - nameStart + valueEnd - valueStart
    if (this.#size >= this.#maxHeaderSize) {
      return this.#fail(
        HEADERS_OVERFLOW,
        `${this.#size} bytes of header fields, limit ${this.#maxHeaderSize}`,
      )
    }
    if (count === MAX_FIELDS) return this.#fail(HEADERS_OVERFLOW, `more than ${MAX_FIELDS} header fields`)

    const name = nameFromBytes(bytes, nameStart, nameEnd)
    if (!this.#trailers) {
      const code = this.framing.add(name, bytes, valueStart, valueEnd)
      if (code !== null)
        return this.#fail(code, framingReason(code, this.framing, bytes, valueStart, valueEnd))
    }
    if (count * 2 === this.#spans.length) {
      const grown = new Int32Array(count * 4)
      grown.set(this.#spans)
      this.#spans = grown
    }
    this.#names[count] = name
    this.#spans[count * 2] = valueStart - base
    this.#spans[count * 2 + 1] = valueEnd - base
    this.#count = count + 1
    return LINE_START
  }

  /** One decoded string for the whole head; every value is a part of it. */
  #build(bytes: Buffer, base: number): void {
    const count = this.#count
    if (this.#trailers && count === 0) {
      this.fields = HeaderBlock.EMPTY
      return
    }
    const from = this.#trailers ? 0 : STATUS_CODE_END + 1
    const text = bytes.toString('latin1', base + from, base + this.#judged)
    if (!this.#trailers) {
      this.reason = this.#reasonEnd > from ? text.slice(0, this.#reasonEnd - from) : ''
    }
    const flat = new Array<string>(count * 2)
    for (let i = 0; i < count; i++) {
      flat[i * 2] = this.#names[i]!
      flat[i * 2 + 1] = text.slice(this.#spans[i * 2]! - from, this.#spans[i * 2 + 1]! - from)
    }
    this.fields = new HeaderBlock(flat)
  }
}
