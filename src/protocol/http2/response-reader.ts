/**
 * Header blocks and the end of streams → responses (RFC 9113 §8.1). Owns the HPACK decoder, which must see
 * every block whatever becomes of its stream (§4.3). Everything malformed costs its stream only.
 */

import { HeadMemory } from '../head-memory.ts'
import { HeaderBlock } from '../header-block.ts'
import { HPACK_COMPRESSION_ERROR, HPACK_LIST_TOO_LARGE, HpackDecoder } from '../hpack/decoder.ts'
import {
  CANCEL,
  COMPRESSION_ERROR,
  DEFAULT_HEADER_TABLE_SIZE,
  ENHANCE_YOUR_CALM,
  HEADERS_TOO_LARGE,
  LENGTH_MISMATCH,
  PROTOCOL_ERROR,
} from './constants.ts'
import type { EngineState } from './engine-state.ts'
import { BUDGET_WINDOW_MS, MAX_HEADER_FIELDS, MAX_INTERIM_RESPONSES } from './limits.ts'
import {
  BAD_LENGTH,
  contentLength,
  fieldBytes,
  fieldFault,
  hasNoContent,
  NO_LENGTH,
  responseStatus,
} from './message.ts'
import type { Stream } from './stream.ts'
import { RECV_END, RECV_HEADERS } from './stream-state.ts'

/**
 * SETTINGS_MAX_HEADER_LIST_SIZE that belongs to a `maxHeaderSize`: the setting counts 32 bytes for each field
 * (RFC 9113 §6.5.2), the option does not.
 */
export function headerListSize(maxHeaderSize: number): number {
  return maxHeaderSize + 32 * MAX_HEADER_FIELDS
}

/** A block as the head of a response. */
class Head {
  /** Why it is not a valid head, or null. */
  readonly fault: string | null
  readonly status: number
  /** `maxHeaderSize` counts these. */
  readonly bytes: number
  readonly length: number
  readonly fields: HeaderBlock
  /** The state of the compression table in which the same bytes mean the same. */
  readonly revision: number

  constructor(fields: readonly string[], revision: number) {
    this.revision = revision
    this.status = responseStatus(fields)
    this.fault = this.status === 0 ? 'head without a valid :status first' : fieldFault(fields, 2)
    this.bytes = fieldBytes(fields, 2)
    this.length = contentLength(fields)
    this.fields = new HeaderBlock(fields, 2)
  }
}

export class ResponseReader {
  readonly #state: EngineState
  readonly #decoder: HpackDecoder
  readonly #maxHeaderSize: number
  readonly #memory = new HeadMemory<Head>()

  constructor(state: EngineState, maxHeaderSize: number) {
    this.#state = state
    this.#maxHeaderSize = maxHeaderSize
    this.#decoder = new HpackDecoder({
      maxTableSize: DEFAULT_HEADER_TABLE_SIZE,
      maxListSize: headerListSize(maxHeaderSize),
      maxFields: MAX_HEADER_FIELDS,
    })
  }

  /** A complete header block. */
  onBlock(streamId: number, endStream: boolean, buf: Buffer, start: number, end: number): void {
    const decoder = this.#decoder
    const { revision } = decoder
    const known = this.#memory.find(buf, start, end)
    if (known?.revision === revision && this.#memory.length === end - start && this.#awaitsHead(streamId)) {
      const stream = this.#state.admit(streamId, RECV_HEADERS)
      if (stream !== null) this.#onHead(stream, known, endStream)
      return
    }
    const fields: string[] = []
    const result = decoder.decode(buf, start, end, fields)
    if (result === HPACK_COMPRESSION_ERROR) {
      this.#state.fail(COMPRESSION_ERROR, `header block: ${decoder.message}`)
      return
    }
    const stream = this.#state.admit(streamId, RECV_HEADERS)
    if (stream === null) return
    if (result === HPACK_LIST_TOO_LARGE) {
      this.#tooLarge(stream, decoder.message)
    } else if (stream.phase === 'head') {
      const head = new Head(fields, revision)
      if (revision === decoder.revision && !decoder.hadSecret) this.#memory.store(buf, start, end, head)
      this.#onHead(stream, head, endStream)
    } else {
      this.#onTrailers(stream, fields, endStream)
    }
  }

  #awaitsHead(streamId: number): boolean {
    return this.#state.streams.get(streamId)?.phase === 'head'
  }

  /** The content of a DATA frame is about to come; false when it must not, and the stream has failed. */
  admitContent(stream: Stream, length: number): boolean {
    if (stream.phase === 'head') {
      this.#malformed(stream, 'DATA before the head')
      return false
    }
    stream.receivedLength += length
    if (stream.expectedLength !== NO_LENGTH && stream.receivedLength > stream.expectedLength) {
      this.#wrongLength(stream, `more content than the ${stream.expectedLength} bytes announced`)
      return false
    }
    return true
  }

  /** END_STREAM on a DATA frame. */
  onEnd(stream: Stream): void {
    if (!this.#isComplete(stream)) return
    const isClosed = this.#end(stream)
    this.#notifyEnd(stream, null, isClosed)
  }

  /**
   * RST_STREAM with NO_ERROR. It may follow a complete response (§8.1), and to some servers one is complete
   * whose END_STREAM has not left. Nothing is missing if all content has come that the head announced.
   */
  onEndMissing(stream: Stream): void {
    const isWhole = stream.phase === 'content' && stream.receivedLength === stream.expectedLength
    if (isWhole) this.#notifyEnd(stream, null, false)
  }

  #onHead(stream: Stream, head: Head, endStream: boolean): void {
    const state = this.#state
    const { status, fields } = head
    if (head.fault !== null) {
      this.#malformed(stream, head.fault)
      return
    }
    if (this.#isTooLarge(stream, head.bytes)) return
    if (status < 200) {
      if (endStream) {
        this.#malformed(stream, 'interim head that ends the stream')
        return
      }
      if (!this.#countInterim(stream)) {
        const message = `more than ${MAX_INTERIM_RESPONSES} interim responses within ${BUDGET_WINDOW_MS / 1000} s`
        state.failStream(stream, ENHANCE_YOUR_CALM, message, ENHANCE_YOUR_CALM)
        return
      }
      stream.sink.onInformational(status, fields)
      return
    }
    const isTunnel = stream.method === 'CONNECT' && status < 300
    // RFC 9110 §9.3.6: a tunnel has no content-length, whatever the head says.
    const length = isTunnel ? NO_LENGTH : head.length
    if (length === BAD_LENGTH) {
      this.#malformed(stream, 'invalid content-length')
      return
    }
    stream.phase = isTunnel ? 'tunnel' : 'content'
    stream.expectedLength = !isTunnel && hasNoContent(stream.method, status) ? 0 : length
    if (!endStream) {
      stream.sink.onHead(status, fields, false)
      return
    }
    if (!this.#isComplete(stream)) return
    const isClosed = this.#end(stream)
    stream.sink.onHead(status, fields, true)
    this.#notifyEnd(stream, null, isClosed)
  }

  #countInterim(stream: Stream): boolean {
    const { since } = this.#state.meter
    if (stream.interimsSince !== since) {
      stream.interimsSince = since
      stream.interimHeads = 0
    }
    stream.interimHeads++
    return stream.interimHeads <= MAX_INTERIM_RESPONSES
  }

  #onTrailers(stream: Stream, fields: string[], endStream: boolean): void {
    if (!endStream || stream.phase === 'tunnel') {
      this.#malformed(
        stream,
        endStream ? 'HEADERS within a tunnel' : 'second head, or trailers without an end',
      )
      return
    }
    const fault = fieldFault(fields, 0)
    if (fault !== null) {
      this.#malformed(stream, `trailers: ${fault}`)
      return
    }
    if (this.#isTooLarge(stream, fieldBytes(fields, 0)) || !this.#isComplete(stream)) return
    const isClosed = this.#end(stream)
    this.#notifyEnd(stream, new HeaderBlock(fields), isClosed)
  }

  #isTooLarge(stream: Stream, bytes: number): boolean {
    if (bytes < this.#maxHeaderSize) return false
    this.#tooLarge(stream, `header fields of ${this.#maxHeaderSize} bytes or more`)
    return true
  }

  /** §8.1.1: content-length and the DATA received must agree. */
  #isComplete(stream: Stream): boolean {
    if (stream.expectedLength === NO_LENGTH || stream.receivedLength === stream.expectedLength) return true
    this.#wrongLength(
      stream,
      `${stream.receivedLength} of ${stream.expectedLength} bytes of content announced`,
    )
    return false
  }

  /** The peer's side is done. True when ours is too, so that the stream is closed. */
  #end(stream: Stream): boolean {
    stream.advance(RECV_END)
    if (!stream.isClosed) return false
    this.#state.remove(stream)
    return true
  }

  #notifyEnd(stream: Stream, trailers: HeaderBlock | null, isClosed: boolean): void {
    if (!stream.isSettled) {
      stream.isSettled = true
      stream.sink.onEnd(trailers)
    }
    if (isClosed) stream.sink.onClosed(null)
  }

  #malformed(stream: Stream, message: string): void {
    this.#state.failStream(stream, PROTOCOL_ERROR, message, PROTOCOL_ERROR)
  }

  #wrongLength(stream: Stream, message: string): void {
    this.#state.failStream(stream, PROTOCOL_ERROR, message, LENGTH_MISMATCH)
  }

  #tooLarge(stream: Stream, message: string): void {
    this.#state.failStream(stream, CANCEL, message, HEADERS_TOO_LARGE)
  }
}
