/**
 * Bytes of a connection → responses (RFC 9112). It owns the order of things: which request the next head
 * answers, where each message ends, pausing, upgrades and what an end of the stream means. Syntax lives in
 * `head-parser` and `chunked`, meaning in `framing`. It does no I/O and keeps no clock.
 *
 * A sink callback may pause, stop, announce a request or finish the parser: state is changed first, the sink
 * is told last, and everything is looked at again afterwards. It must not call `execute` (see `executing`).
 */
import { invariant } from '../../base/invariant.ts'
import type { ProtocolFailure } from '../failure.ts'
import type { HeaderBlock } from '../header-block.ts'
import { ChunkedDecoder } from './chunked.ts'
import {
  BAD_INTERIM,
  BAD_UPGRADE,
  CONTENT_LENGTH_MISMATCH,
  EOF_BEFORE_HEAD,
  EOF_IN_BODY,
  HPE_CR_EXPECTED,
  HPE_INVALID_CONSTANT,
  HPE_INVALID_EOF_STATE,
  HPE_INVALID_TRANSFER_ENCODING,
  HPE_STRICT,
  HPE_UNEXPECTED_CONTENT_LENGTH,
  peerFailure,
  TOO_MANY_INTERIM,
  UNSOLICITED,
} from './failures.ts'
import {
  BODY_UNTIL_CLOSE,
  CHUNKED_BODY,
  COUNTED_BODY,
  type Framing,
  INTERIM,
  INTERIM_WITH_BODY,
  keepsAlive,
  NO_BODY,
  type RequestKind,
  requestKind,
  responseFraming,
  TUNNEL,
  UNWANTED_CONTINUE,
} from './framing.ts'
import type { HeadParser } from './head-parser.ts'
import type { HeadParsers } from './head-parsers.ts'
import { MAX_INTERIM_HEADS, MAX_LEADING_EMPTY_LINES } from './limits.ts'

export interface ResponseHead {
  readonly status: number
  /** The reason phrase, `''` when there is none. */
  readonly reason: string
  readonly fields: HeaderBlock
  /** The peer lets the connection live on after this response. */
  readonly keepAlive: boolean
  /** Seconds of the peer's `keep-alive: timeout=` hint. */
  readonly keepAliveHint: number | null
  readonly contentLength: number | null
  /** The body has no other end than the end of the connection. */
  readonly untilClose: boolean
}

export interface ResponseSink {
  /** The first byte of a response, interim ones included. */
  onMessageBegin(): void
  /** A 1xx other than 100 and 101; the final response is still to come. */
  onInformational(head: ResponseHead): void
  onHead(head: ResponseHead): void
  /** A piece of the body. The bytes are borrowed: consume or copy them now. */
  onBody(bytes: Buffer, start: number, end: number): void
  /** The message is complete. Trailers are null unless the body was chunked. */
  onEnd(trailers: HeaderBlock | null): void
  /** HTTP is over: all bytes from the offset that `execute` returns belong to the caller. */
  onUpgrade(head: ResponseHead): void
}

/**
 * - `more`: waiting for bytes
 * - `paused`: the sink asked for silence; unconsumed bytes are to be fed again after `resume()`
 * - `upgraded`, `failed`, `ended` (EOF or `stop()`): nothing more will be read
 */
export type ParseStatus = 'more' | 'paused' | 'upgraded' | 'failed' | 'ended'

const LF = 0x0a
const CR = 0x0d

const NO_BYTES: Buffer = Buffer.alloc(0)

// Phases of a connection. From UPGRADED on nothing is read any more.
const BETWEEN = 0
const EMPTY_LINE_LF = 1
const HEAD = 2
const COUNTED = 3
const CHUNKED = 4
const TRAILERS = 5
const UNTIL_CLOSE = 6
/** All bytes of the message are read, the sink does not know yet. */
const COMPLETE = 7
/** The peer announced that this was its last response. */
const DRAINED = 8
const UPGRADED = 9
const FAILED = 10
const ENDED = 11

const BODY_PHASE: Readonly<Record<number, number>> = {
  [NO_BODY]: COMPLETE,
  [COUNTED_BODY]: COUNTED,
  [CHUNKED_BODY]: CHUNKED,
  [BODY_UNTIL_CLOSE]: UNTIL_CLOSE,
}

export class ResponseParser {
  readonly #sink: ResponseSink
  readonly #heads: HeadParsers
  /** Borrowed while a head or trailers come. */
  #head: HeadParser | null = null
  /** Made with the first body that needs it. */
  #chunked: ChunkedDecoder | null = null
  /** What the responses to come answer, oldest first, from `#firstExpected` on. */
  #expected: RequestKind[] = []
  #firstExpected = 0
  #phase = BETWEEN
  /** Not phases: the sink pauses, and the peer closes, in any of them. */
  #paused = false
  #eof = false
  #executing = false
  #failure: ProtocolFailure | null = null
  #failureOffset = 0
  #emptyLines = 0
  #interims = 0
  #keepAlive = true
  #contentLength = -1
  #bodyBytes = 0
  #trailers: HeaderBlock | null = null

  constructor(sink: ResponseSink, heads: HeadParsers) {
    this.#sink = sink
    this.#heads = heads
  }

  get status(): ParseStatus {
    if (this.#phase === FAILED) return 'failed'
    if (this.#phase === UPGRADED) return 'upgraded'
    if (this.#phase === ENDED) return 'ended'
    return this.#paused ? 'paused' : 'more'
  }

  get failure(): ProtocolFailure | null {
    return this.#failure
  }

  /** Where in the buffer last given to `execute` the failure was found. */
  get failureOffset(): number {
    return this.#failureOffset
  }

  /** Responses still owed, the one in progress included. */
  get expecting(): number {
    return this.#expected.length - this.#firstExpected
  }

  /** `execute` is on the stack: after `resume()` it goes on by itself and must not be called again. */
  get executing(): boolean {
    return this.#executing
  }

  /** A request has been written. To be called before its response can arrive, once for each. */
  expect(method: string, wantsUpgrade: boolean): void {
    invariant(this.#phase < UPGRADED, 'request announced to a parser that has ended')
    this.#expected.push(requestKind(method, wantsUpgrade))
  }

  /**
   * Reads bytes and returns the offset of the first one not consumed, which is `end` unless the parser is
   * paused, upgraded, failed or stopped. After `resume()` the rest must be fed again, even if it is empty:
   * the end of a message may still have to be reported.
   */
  execute(bytes: Buffer, start: number, end: number): number {
    invariant(!this.#executing, 'the parser was entered from its own callback')
    this.#executing = true
    try {
      const stop = this.#run(bytes, start, end)
      if (this.#eof && stop === end && !this.#paused) this.#atEof()
      return stop
    } finally {
      this.#executing = false
    }
  }

  /** The peer will send nothing more. While paused this takes effect when the rest has been fed again. */
  finish(): void {
    this.#eof = true
    if (!this.#executing) this.execute(NO_BYTES, 0, 0)
  }

  /** Silence after the running callback. */
  pause(): void {
    this.#paused = true
  }

  /** Ends the silence; the caller feeds the unconsumed rest to `execute` unless `executing`. */
  resume(): void {
    this.#paused = false
  }

  /** The connection is gone or not wanted: no callback from now on. */
  stop(): void {
    if (this.#phase < UPGRADED) this.#phase = ENDED
  }

  #run(bytes: Buffer, start: number, end: number): number {
    let at = start
    while (!this.#paused) {
      if (this.#phase === COMPLETE) {
        this.#complete(at, end)
        continue
      }
      if (at === end) return at
      switch (this.#phase) {
        case BETWEEN:
        case EMPTY_LINE_LF:
          at = this.#between(bytes[at]!, at)
          break
        case HEAD:
          at = this.#readHead(bytes, at, end)
          break
        case COUNTED:
          at = this.#readCounted(bytes, at, end)
          break
        case CHUNKED:
          at = this.#readChunked(bytes, at, end)
          break
        case TRAILERS:
          at = this.#readTrailers(bytes, at, end)
          break
        case UNTIL_CLOSE:
          this.#bodyBytes += end - at
          this.#sink.onBody(bytes, at, end)
          return end
        case DRAINED:
          this.#fail(UNSOLICITED, 'bytes after the last response of the connection', at)
          return at
        default:
          return at
      }
    }
    return at
  }

  /** Between messages: nothing but empty lines, and the first byte of a response that is owed. */
  #between(byte: number, at: number): number {
    if (this.expecting === 0) {
      this.#fail(UNSOLICITED, 'bytes that answer no request', at)
      return at
    }
    if (this.#phase === EMPTY_LINE_LF) {
      if (byte !== LF) {
        this.#fail(HPE_STRICT, 'Expected LF after CR', at)
        return at
      }
      this.#phase = BETWEEN
      return at + 1
    }
    if (byte === CR) {
      if (this.#emptyLines === MAX_LEADING_EMPTY_LINES) {
        this.#fail(HPE_INVALID_CONSTANT, 'too many empty lines before the status line', at)
        return at
      }
      this.#emptyLines++
      this.#phase = EMPTY_LINE_LF
      return at + 1
    }
    if (byte === LF) {
      this.#fail(HPE_CR_EXPECTED, 'Missing expected CR before the status line', at)
      return at
    }
    this.#phase = HEAD
    this.#emptyLines = 0
    this.#bodyBytes = 0
    this.#contentLength = -1
    this.#beginFields(false)
    this.#sink.onMessageBegin()
    return at
  }

  #beginFields(trailers: boolean): void {
    this.#head = this.#heads.lend()
    this.#head.begin(trailers)
  }

  #endFields(parser: HeadParser): void {
    this.#head = null
    this.#heads.takeBack(parser)
  }

  #readHead(bytes: Buffer, start: number, end: number): number {
    const parser = this.#head!
    const at = parser.consume(bytes, start, end)
    if (parser.failure !== null) {
      this.#adopt(parser.failure, at)
    } else if (parser.done) {
      this.#finishHead(at)
    }
    return at
  }

  #finishHead(at: number): void {
    const parser = this.#head!
    const fields = parser.framing
    const framing = responseFraming(this.#expected[this.#firstExpected]!, parser.status, fields)
    this.#keepAlive = keepsAlive(parser.version, framing, fields)
    const head: ResponseHead = {
      status: parser.status,
      reason: parser.reason,
      fields: parser.fields,
      keepAlive: this.#keepAlive,
      keepAliveHint: fields.keepAliveHint === -1 ? null : fields.keepAliveHint,
      contentLength: fields.contentLength === -1 ? null : fields.contentLength,
      untilClose: framing === BODY_UNTIL_CLOSE,
    }
    // A length on a response without a body (HEAD, 204, 304) promises nothing.
    this.#contentLength = framing === COUNTED_BODY ? fields.contentLength : -1
    this.#endFields(parser)
    if (framing >= TUNNEL) {
      this.#finishSpecialHead(head, framing, at)
      return
    }
    this.#interims = 0
    this.#trailers = null
    if (framing === CHUNKED_BODY) this.#beginChunked()
    this.#phase = BODY_PHASE[framing]!
    this.#sink.onHead(head)
  }

  #beginChunked(): void {
    this.#chunked ??= new ChunkedDecoder()
    this.#chunked.begin()
  }

  #finishSpecialHead(head: ResponseHead, framing: Framing, at: number): void {
    switch (framing) {
      case TUNNEL:
        this.#shiftExpected()
        this.#phase = UPGRADED
        this.#sink.onUpgrade(head)
        break
      case INTERIM:
        this.#interims++
        if (this.#interims > MAX_INTERIM_HEADS) {
          this.#fail(TOO_MANY_INTERIM, `more than ${MAX_INTERIM_HEADS} interim responses to one request`, at)
          break
        }
        this.#phase = BETWEEN
        this.#sink.onInformational(head)
        break
      case INTERIM_WITH_BODY:
        if (head.contentLength === null) {
          this.#fail(HPE_INVALID_TRANSFER_ENCODING, 'Transfer-Encoding in an interim response', at)
        } else {
          this.#fail(HPE_UNEXPECTED_CONTENT_LENGTH, 'Content-Length in an interim response', at)
        }
        break
      case UNWANTED_CONTINUE:
        this.#fail(BAD_INTERIM, '100 Continue that was not asked for', at)
        break
      default:
        this.#fail(BAD_UPGRADE, '101 that was not asked for or does not name its protocol', at)
    }
  }

  #readCounted(bytes: Buffer, start: number, end: number): number {
    const missing = this.#contentLength - this.#bodyBytes
    const stop = end - start < missing ? end : start + missing
    this.#bodyBytes += stop - start
    if (stop - start === missing) this.#phase = COMPLETE
    this.#sink.onBody(bytes, start, stop)
    return stop
  }

  #readChunked(bytes: Buffer, start: number, end: number): number {
    const chunked = this.#chunked!
    const from = chunked.advance(bytes, start, end)
    if (chunked.failure !== null) {
      this.#adopt(chunked.failure, from)
      return from
    }
    if (chunked.last) {
      this.#phase = TRAILERS
      this.#beginFields(true)
      return from
    }
    if (!chunked.inData || from === end) return from
    const stop = end - from < chunked.remaining ? end : from + chunked.remaining
    chunked.take(stop - from)
    this.#bodyBytes += stop - from
    this.#sink.onBody(bytes, from, stop)
    return stop
  }

  #readTrailers(bytes: Buffer, start: number, end: number): number {
    const parser = this.#head!
    const at = parser.consume(bytes, start, end)
    if (parser.failure !== null) {
      this.#adopt(parser.failure, at)
    } else if (parser.done) {
      this.#trailers = parser.fields
      this.#endFields(parser)
      this.#phase = COMPLETE
    }
    return at
  }

  #complete(at: number, end: number): void {
    this.#shiftExpected()
    this.#phase = this.#keepAlive ? BETWEEN : DRAINED
    // Bytes that are here already cannot answer a request that the sink is about to announce: taking them
    // for its response is how a response queue is poisoned (CVE-2026-6733).
    const surplus = at < end && this.expecting === 0
    this.#sink.onEnd(this.#trailers)
    if (surplus && this.#phase < UPGRADED) this.#fail(UNSOLICITED, 'bytes that answer no request', at)
  }

  #atEof(): void {
    switch (this.#phase) {
      case BETWEEN:
      case EMPTY_LINE_LF:
      case HEAD:
        if (this.expecting === 0) this.#phase = ENDED
        else this.#fail(EOF_BEFORE_HEAD, 'other side closed', 0)
        break
      case COUNTED:
        if (this.#keepAlive) this.#fail(EOF_IN_BODY, 'other side closed', 0)
        else this.#fail(CONTENT_LENGTH_MISMATCH, 'body is shorter than its Content-Length', 0)
        break
      case CHUNKED:
      case TRAILERS:
        if (this.#keepAlive) this.#fail(EOF_IN_BODY, 'other side closed', 0)
        else this.#fail(HPE_INVALID_EOF_STATE, 'Invalid EOF state', 0)
        break
      case UNTIL_CLOSE:
        this.#shiftExpected()
        this.#phase = ENDED
        this.#sink.onEnd(null)
        break
      case DRAINED:
        this.#phase = ENDED
        break
    }
  }

  #shiftExpected(): void {
    this.#firstExpected++
    if (this.#firstExpected === this.#expected.length) {
      // Not each time: one request after the other would make a list for each.
      if (this.#firstExpected < EXPECTED_LEFT) return
      this.#expected = []
      this.#firstExpected = 0
    } else if (this.#firstExpected === EXPECTED_SLACK) {
      this.#expected.splice(0, EXPECTED_SLACK)
      this.#firstExpected = 0
    }
  }

  #fail(code: string, message: string, offset: number): void {
    this.#adopt(peerFailure(code, message), offset)
  }

  #adopt(failure: ProtocolFailure, offset: number): void {
    this.#phase = FAILED
    this.#failure = failure
    this.#failureOffset = offset
  }
}

/** Answered requests that may stay in the list when no others are. */
const EXPECTED_LEFT = 16

/** Answered requests are cut off the front of the list in pieces of this size, so a long pipeline stays linear. */
const EXPECTED_SLACK = 1024
