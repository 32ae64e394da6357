/**
 * Frames → output memory (RFC 9113 §6). Owns the bytes that wait for the transport. Frames are written one
 * after the other into a slab; a slab is taken piece by piece and replaced when it is full, never rewritten,
 * because the transport may still hold its pieces. Large body pieces are only referenced.
 */
import { HpackEncoder } from '../hpack/encoder.ts'
import {
  CONTINUATION,
  DATA,
  FLAG_ACK,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FRAME_HEADER_BYTES,
  GOAWAY,
  HEADERS,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  SETTINGS_ENTRY_BYTES,
  WINDOW_UPDATE,
} from './constants.ts'
import { COPY_LIMIT, FIRST_SLAB_BYTES, OUTPUT_SLAB_BYTES } from './limits.ts'

/** A new slab has room for this many times the recent output. */
const SLAB_TURNS = 8

/** Of a frame's header. */
const FLAGS_OFFSET = 4

export class FrameWriter {
  #slab: Buffer = Buffer.allocUnsafeSlow(FIRST_SLAB_BYTES)
  /** Start of the bytes that were not taken, and end of those that were written. */
  #mark = 0
  #at = 0
  #parts: Uint8Array[] = []
  /** Bytes of waiting control frames, which a peer can provoke. */
  controlBytes = 0
  /** Positions of the flags of HEADERS that were not taken and did not end their stream. */
  readonly #headSlabs: Buffer[] = []
  readonly #headFlags: number[] = []
  /** Number of such HEADERS that were taken. */
  #headsGiven = 0
  /** Bytes that went through slabs: since the last `take`, and between the two before. */
  #recent = 0
  #before = 0

  get isEmpty(): boolean {
    return this.#at === this.#mark && this.#parts.length === 0
  }

  preface(): void {
    this.#reserve(PREFACE.length)
    this.#at += this.#slab.write(PREFACE, this.#at, 'latin1')
  }

  /** Pairs of identifier and value. */
  settings(entries: readonly (readonly [number, number])[]): void {
    this.#control(entries.length * SETTINGS_ENTRY_BYTES, SETTINGS, 0, 0)
    for (const [id, value] of entries) {
      this.#at = this.#slab.writeUInt16BE(id, this.#at)
      this.#at = this.#slab.writeUInt32BE(value, this.#at)
    }
  }

  settingsAck(): void {
    this.#control(0, SETTINGS, FLAG_ACK, 0)
  }

  ping(ack: boolean, opaque: Uint8Array, start: number): void {
    this.#control(8, PING, ack ? FLAG_ACK : 0, 0)
    for (let i = 0; i < 8; i++) this.#slab[this.#at++] = opaque[start + i]!
  }

  rstStream(streamId: number, code: number): void {
    this.#control(4, RST_STREAM, 0, streamId)
    this.#at = this.#slab.writeUInt32BE(code, this.#at)
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#control(4, WINDOW_UPDATE, 0, streamId)
    this.#at = this.#slab.writeUInt32BE(increment, this.#at)
  }

  goaway(lastStreamId: number, code: number, debug: Uint8Array): void {
    this.#control(8 + debug.length, GOAWAY, 0, 0)
    this.#at = this.#slab.writeUInt32BE(lastStreamId, this.#at)
    this.#at = this.#slab.writeUInt32BE(code, this.#at)
    this.#copy(debug, 0, debug.length)
  }

  /**
   * Encodes and frames a whole header block: HEADERS and as many CONTINUATION as it takes, with nothing in
   * between. Encoding and writing are one step because the peer decodes in the order of the wire. Returns the
   * number that identifies the frame to `endAtHead`.
   */
  headers(
    streamId: number,
    endStream: boolean,
    encoder: HpackEncoder,
    fields: readonly string[],
    maxFrame: number,
  ): number {
    this.#reserve(FRAME_HEADER_BYTES + HpackEncoder.maxEncodedSize(fields))
    const endFlag = endStream ? FLAG_END_STREAM : 0
    const start = this.#at + FRAME_HEADER_BYTES
    const end = encoder.encode(fields, this.#slab, start)
    if (end - start <= maxFrame) {
      if (!endStream) this.#rememberHead()
      this.#header(end - start, HEADERS, endFlag | FLAG_END_HEADERS, streamId)
      this.#at = end
      return this.#lastHead()
    }
    const block = Buffer.from(this.#slab.subarray(start, end))
    let type = HEADERS
    let flags = endFlag
    for (let from = 0; from < block.length; from += maxFrame) {
      const to = Math.min(block.length, from + maxFrame)
      if (to === block.length) flags |= FLAG_END_HEADERS
      this.#reserve(FRAME_HEADER_BYTES + to - from)
      if (type === HEADERS && !endStream) this.#rememberHead()
      this.#header(to - from, type, flags, streamId)
      this.#copy(block, from, to)
      type = CONTINUATION
      flags = 0
    }
    return this.#lastHead()
  }

  /** Makes HEADERS end their stream after all; false when they were taken. */
  endAtHead(head: number): boolean {
    const index = head - this.#headsGiven
    if (index < 0) return false
    this.#headSlabs[index]![this.#headFlags[index]!]! |= FLAG_END_STREAM
    return true
  }

  /** The next frame is HEADERS. */
  #rememberHead(): void {
    this.#headSlabs.push(this.#slab)
    this.#headFlags.push(this.#at + FLAGS_OFFSET)
  }

  #lastHead(): number {
    return this.#headsGiven + this.#headSlabs.length - 1
  }

  /** The header of a DATA frame; exactly `length` bytes must follow through `body`. */
  dataHeader(streamId: number, length: number, endStream: boolean): void {
    this.#reserve(FRAME_HEADER_BYTES)
    this.#header(length, DATA, endStream ? FLAG_END_STREAM : 0, streamId)
  }

  body(chunk: Uint8Array, start: number, end: number): void {
    if (end - start <= COPY_LIMIT) {
      this.#reserve(end - start)
      this.#copy(chunk, start, end)
      return
    }
    this.#cut()
    this.#parts.push(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
  }

  /** Everything written so far, in order; null when there is nothing. */
  take(): Uint8Array[] | null {
    this.#cut()
    this.controlBytes = 0
    this.#before = this.#recent
    this.#recent = 0
    if (this.#headSlabs.length > 0) {
      this.#headsGiven += this.#headSlabs.length
      this.#headSlabs.length = 0
      this.#headFlags.length = 0
    }
    if (this.#parts.length === 0) return null
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  #control(length: number, type: number, flags: number, streamId: number): void {
    this.controlBytes += FRAME_HEADER_BYTES + length
    this.#reserve(FRAME_HEADER_BYTES + length)
    this.#header(length, type, flags, streamId)
  }

  #header(length: number, type: number, flags: number, streamId: number): void {
    const slab = this.#slab
    const at = this.#at
    slab[at] = length >>> 16
    slab[at + 1] = length >>> 8
    slab[at + 2] = length
    slab[at + 3] = type
    slab[at + 4] = flags
    slab[at + 5] = streamId >>> 24
    slab[at + 6] = streamId >>> 16
    slab[at + 7] = streamId >>> 8
    slab[at + 8] = streamId
    this.#at = at + FRAME_HEADER_BYTES
  }

  #copy(source: Uint8Array, start: number, end: number): void {
    const whole = start === 0 && end === source.length
    this.#slab.set(whole ? source : source.subarray(start, end), this.#at)
    this.#at += end - start
  }

  #reserve(bytes: number): void {
    if (this.#slab.length - this.#at >= bytes) return
    this.#cut()
    const wanted = SLAB_TURNS * Math.max(this.#recent, this.#before)
    const size = Math.min(Math.max(wanted, FIRST_SLAB_BYTES), OUTPUT_SLAB_BYTES)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(size, bytes))
    this.#mark = 0
    this.#at = 0
  }

  /** Adds the written bytes that were not taken to the list of parts. */
  #cut(): void {
    if (this.#at === this.#mark) return
    this.#parts.push(this.#slab.subarray(this.#mark, this.#at))
    this.#recent += this.#at - this.#mark
    this.#mark = this.#at
  }
}
