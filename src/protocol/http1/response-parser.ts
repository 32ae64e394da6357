/**
 * Bytes of a connection → responses (RFC 9112). It owns the order of messages: which request the next head
 * answers, where each message ends, pausing, upgrades and the meaning of EOF. Syntax lives in `head-parser`
 * and `chunked`, meaning in `framing`. It does no I/O and keeps no clock.
 *
 * A sink callback may pause, stop, announce a request or finish the parser: state changes first, the callback
 * comes last, and everything is read again after it. It must not call `execute` (see `executing`).
 */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { RingQueue } from '../../base/collection/ring-queue.ts'
import { invariant } from '../../base/error/invariant.ts'
import { CR, LF } from '../ascii.ts'
import type { ProtocolFailure } from '../failure.ts'
import type { HeaderBlock } from '../header-block.ts'
import { ChunkedDecoder } from './chunked.ts'
import {
  BAD_UPGRADE,
  CONTENT_LENGTH_MISMATCH,
  EOF_BEFORE_HEAD,
  EOF_IN_BODY,
  HPE_CR_EXPECTED,
  HPE_INVALID_CONSTANT,
  HPE_INVALID_EOF_STATE,
  HPE_STRICT,
  peerFailure,
  UNSOLICITED,
} from './failures.ts'
import { type Body, keepsAlive, type RequestKind, requestKind, responseFraming } from './framing.ts'
import type { HeadParser, ParsedHead } from './head-parser.ts'
import type { HeadParsers } from './head-parsers.ts'
import { MAX_LEADING_EMPTY_LINES } from './limits.ts'
import type { ResponseSink } from './response-sink.ts'

/**
 * - `more`: waiting for bytes
 * - `paused`: the sink called `pause()`; unconsumed bytes are to be fed again after `resume()`
 * - `upgraded`, `failed`, `ended` (EOF or `stop()`): no more bytes are read
 */
export type ParseStatus = 'more' | 'paused' | 'upgraded' | 'failed' | 'ended'

// Phases of a connection. From UPGRADED on no more bytes are read.
const BETWEEN = 0
const EMPTY_LINE_LF = 1
const HEAD = 2
const COUNTED = 3
const CHUNKED = 4
const TRAILERS = 5
const UNTIL_CLOSE = 6
/** All bytes of the message are read; `onEnd` is still to come. */
const COMPLETE = 7
/** The peer announced that this was its last response. */
const DRAINED = 8
const UPGRADED = 9
const FAILED = 10
const ENDED = 11

const BODY_PHASE: Readonly<Record<Body, number>> = {
  none: COMPLETE,
  counted: COUNTED,
  chunked: CHUNKED,
  'until-close': UNTIL_CLOSE,
}

export class ResponseParser {
  readonly #sink: ResponseSink
  readonly #heads: HeadParsers
  /** Borrowed while a head or trailers arrive. */
  #head: HeadParser | null = null
  /** Made with the first body that needs it. */
  #chunked: ChunkedDecoder | null = null
  /** The requests whose responses are owed, oldest first. */
  readonly #expected = new RingQueue<RequestKind>()
  #phase = BETWEEN
  /** Not phases: the sink pauses, and the peer closes, in any of them. */
  #paused = false
  #eof = false
  /** `execute` is on the stack: after `resume()` it continues by itself and must not be called again. */
  executing = false
  failure: ProtocolFailure | null = null
  /** Where in the buffer last given to `execute` the failure was found. */
  failureOffset = 0
  #emptyLines = 0
  #keepAlive = true
  /** Bytes that are missing from a counted body; of no meaning for others. */
  #bodyLeft = 0
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

  /** Responses still owed, the one in progress included. */
  get expecting(): number {
    return this.#expected.size
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
    invariant(!this.executing, 'the parser was entered from its own callback')
    this.executing = true
    try {
      const stop = this.#run(bytes, start, end)
      if (this.#eof && stop === end && !this.#paused) this.#atEof()
      return stop
    } finally {
      this.executing = false
    }
  }

  /** EOF. While paused it takes effect when the rest has been fed again. */
  finish(): void {
    this.#eof = true
    if (!this.executing) this.execute(NO_BYTES, 0, 0)
  }

  /** No more callbacks after the running one. */
  pause(): void {
    this.#paused = true
  }

  /** The caller then feeds the unconsumed rest to `execute`, unless `executing`. */
  resume(): void {
    this.#paused = false
  }

  /** The connection is gone or not wanted: no more callbacks. */
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
        case TRAILERS:
          at = this.#readFields(bytes, at, end)
          break
        case COUNTED:
          at = this.#readCounted(bytes, at, end)
          break
        case CHUNKED:
          at = this.#readChunked(bytes, at, end)
          break
        case UNTIL_CLOSE:
          this.#sink.onBody(bytes, at, end)
          return end
        case DRAINED:
          return this.#fail(UNSOLICITED, 'bytes after the last response of the connection', at)
        default:
          return at
      }
    }
    return at
  }

  /** Between messages only empty lines may come, and the first byte of a response that is owed. */
  #between(byte: number, at: number): number {
    if (this.expecting === 0) {
      return this.#fail(UNSOLICITED, 'bytes that answer no request', at)
    }
    if (this.#phase === EMPTY_LINE_LF) {
      if (byte !== LF) {
        return this.#fail(HPE_STRICT, 'Expected LF after CR', at)
      }
      this.#phase = BETWEEN
      return at + 1
    }
    if (byte === CR) {
      if (this.#emptyLines === MAX_LEADING_EMPTY_LINES) {
        return this.#fail(HPE_INVALID_CONSTANT, 'too many empty lines before the status line', at)
      }
      this.#emptyLines++
      this.#phase = EMPTY_LINE_LF
      return at + 1
    }
    if (byte === LF) {
      return this.#fail(HPE_CR_EXPECTED, 'Missing expected CR before the status line', at)
    }
    this.#phase = HEAD
    this.#emptyLines = 0
    this.#head = this.#heads.lend()
    this.#head.beginHead()
    this.#sink.onMessageBegin()
    return at
  }

  /** Goes on with a head or with trailers. */
  #readFields(bytes: Buffer, start: number, end: number): number {
    const parser = this.#head!
    const at = parser.consume(bytes, start, end)
    if (parser.failure !== null) return this.#adopt(parser.failure, at)
    if (!parser.done) return at
    this.#head = null
    this.#heads.takeBack(parser)
    if (this.#phase === HEAD) {
      this.#finishHead(parser.head!, at)
    } else {
      this.#trailers = parser.trailers
      this.#phase = COMPLETE
    }
    return at
  }

  #finishHead(head: ParsedHead, at: number): void {
    const framing = responseFraming(this.#expected.peek()!, head.status, head.framing)
    this.#keepAlive = keepsAlive(head.version, framing, head.framing)
    switch (framing) {
      case 'tunnel':
        this.#expected.shift()
        this.#phase = UPGRADED
        this.#sink.onUpgrade(head)
        return
      case 'interim':
        this.#phase = BETWEEN
        this.#sink.onInformational(head)
        return
      case 'unwanted-upgrade':
        this.#fail(BAD_UPGRADE, '101 that was not asked for or does not name its protocol', at)
        return
      case 'chunked':
        this.#chunked ??= new ChunkedDecoder()
        this.#chunked.begin()
    }
    this.#trailers = null
    this.#bodyLeft = head.framing.contentLength
    this.#phase = BODY_PHASE[framing]
    this.#sink.onHead(head, this.#keepAlive, framing)
  }

  #readCounted(bytes: Buffer, start: number, end: number): number {
    const stop = end - start < this.#bodyLeft ? end : start + this.#bodyLeft
    this.#bodyLeft -= stop - start
    if (this.#bodyLeft === 0) this.#phase = COMPLETE
    this.#sink.onBody(bytes, start, stop)
    return stop
  }

  #readChunked(bytes: Buffer, start: number, end: number): number {
    const chunked = this.#chunked!
    const from = chunked.advance(bytes, start, end)
    if (chunked.failure !== null) {
      return this.#adopt(chunked.failure, from)
    }
    if (chunked.last) {
      this.#phase = TRAILERS
      this.#head = this.#heads.lend()
      this.#head.beginTrailers()
      return from
    }
    if (!chunked.inData || from === end) return from
    const stop = end - from < chunked.remaining ? end : from + chunked.remaining
    chunked.take(stop - from)
    this.#sink.onBody(bytes, from, stop)
    return stop
  }

  #complete(at: number, end: number): void {
    this.#expected.shift()
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
        this.#expected.shift()
        this.#phase = ENDED
        this.#sink.onEnd(null)
        break
      case DRAINED:
        this.#phase = ENDED
        break
    }
  }

  #fail(code: string, message: string, offset: number): number {
    return this.#adopt(peerFailure(code, message), offset)
  }

  #adopt(failure: ProtocolFailure, offset: number): number {
    this.#phase = FAILED
    this.failure = failure
    this.failureOffset = offset
    return offset
  }
}
