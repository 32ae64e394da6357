/**
 * Bytes of a `text/event-stream` → events (HTML §9.2.6). Every split of the same bytes gives the same events.
 * Lines are found in the bytes, and only the values that count become strings. It never throws for what
 * comes: an event over the limit goes to the sink as a failure, and nothing after it.
 */
import { COLON, LF, SP } from '../ascii.ts'
import { CarriedBytes } from '../carried-bytes.ts'
import type { ProtocolFailure } from '../failure.ts'
import { EVENT_TOO_LARGE, type EventLimits } from './limits.ts'
import { ValueReader } from './value-reader.ts'

export interface EventSink {
  /** `type` is `message` unless the event names another; `lastEventId` is the latest id of the stream. */
  onEvent(type: string, data: string, lastEventId: string): void
  /** The server asks for this reconnection time, in milliseconds. */
  onRetry(milliseconds: number): void
  /** A comment without its colon and one space after it. Comments are not decoded for a sink without this. */
  onComment?(text: string): void
  onFailure(failure: ProtocolFailure): void
}

const DATA = Buffer.from('data')
const EVENT = Buffer.from('event')
const ID = Buffer.from('id')
const RETRY = Buffer.from('retry')

/** Memory of an unfinished line up to this size is kept for the next one. */
const MOST_KEPT_BYTES = 16_384

const MESSAGE = 'message'
const DIGITS = /^[0-9]+$/

/** `afterCr`: a line has just ended with CR, and an LF that follows belongs to it. */
type State = 'reading' | 'afterCr' | 'stopped'

/** The event whose lines are arriving. */
class PendingEvent {
  type: string = MESSAGE
  /** Null until there is a line of data. */
  data: string | null = null
  dataLines = 0
  dataBytes = 0
  typeBytes = 0
  idBytes = 0
  retryBytes = 0

  get bytes(): number {
    return this.dataBytes + this.typeBytes + this.idBytes + this.retryBytes
  }
}

export class EventStreamParser {
  readonly #sink: EventSink
  readonly #limits: EventLimits
  #state: State = 'reading'
  /** No line has ended yet, so the next may start with a byte order mark. */
  #isFirstLine = true
  readonly #partial = new CarriedBytes(MOST_KEPT_BYTES)
  readonly #values = new ValueReader()
  #event = new PendingEvent()
  /** Counts once its event has ended: a stream cut off within an event must be resumed before it. */
  #pendingId: string
  /** The id to resume after. */
  lastEventId: string

  constructor(sink: EventSink, limits: EventLimits, lastEventId = '') {
    this.#sink = sink
    this.#limits = limits
    this.#pendingId = lastEventId
    this.lastEventId = lastEventId
  }

  /** Nothing more is reported, not even the rest of the chunk that is being read. */
  stop(): void {
    this.#state = 'stopped'
    this.#partial.clear()
    this.#event = new PendingEvent()
  }

  /** The bytes are read before it returns, and not kept. */
  push(bytes: Buffer): void {
    if (bytes.length === 0 || this.#state === 'stopped') return
    this.#values.open(bytes)
    this.#read(bytes)
    this.#values.close()
  }

  #read(bytes: Buffer): void {
    const end = bytes.length
    let at = this.#state === 'afterCr' && bytes[0] === LF ? 1 : 0
    this.#state = 'reading'
    // Each is searched for again only after it was passed: most streams have no CR, and some no LF.
    let cr = -1
    let lf = -1
    while (at < end) {
      // The line that ends an event is empty, so the search often ends where it starts.
      if (lf < at) lf = bytes[at] === LF ? at : this.#values.find('\n', at)
      if (cr < at) cr = this.#values.find('\r', at)
      const stop = Math.min(lf, cr)
      if (stop === end) break
      this.#endLine(bytes, at, stop)
      if (this.#isStopped) return
      at = stop + 1
      if (stop !== cr) continue
      if (at === end) this.#state = 'afterCr'
      else if (bytes[at] === LF) at++
    }
    if (at < end) this.#keep(bytes, at, end)
  }

  /** Read anew each time: a sink may stop the parser from within a call. */
  get #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    // The mark of a first line is not counted when the line is complete.
    const most = this.#limits.lineBytes + (this.#isFirstLine ? 3 : 0)
    if (this.#partial.length + end - start > most) this.#fail()
    else this.#partial.append(bytes, start, end)
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#partial.length === 0) {
      this.#readLine(bytes, start, end)
      return
    }
    this.#keep(bytes, start, end)
    if (this.#isStopped) return
    const line = this.#partial.bytes.subarray(0, this.#partial.length)
    this.#partial.clear()
    this.#values.open(line)
    this.#readLine(line, 0, line.length)
    this.#values.open(bytes)
  }

  #readLine(bytes: Buffer, lineStart: number, end: number): void {
    let start = lineStart
    if (this.#isFirstLine) {
      this.#isFirstLine = false
      if (startsWithMark(bytes, start, end)) start += 3
    }
    if (start === end) {
      this.#endEvent()
      return
    }
    if (end - start > this.#limits.lineBytes) {
      this.#fail()
      return
    }
    switch (bytes[start]) {
      case COLON:
        this.#sink.onComment?.(this.#values.read(afterSpace(bytes, start + 1, end), end))
        break
      case DATA[0]:
        if (isField(DATA, bytes, start, end)) this.#readData(valueStart(DATA, bytes, start, end), end)
        break
      case EVENT[0]:
        if (isField(EVENT, bytes, start, end)) this.#readType(valueStart(EVENT, bytes, start, end), end)
        break
      case ID[0]:
        if (isField(ID, bytes, start, end)) this.#readId(valueStart(ID, bytes, start, end), end)
        break
      case RETRY[0]:
        if (isField(RETRY, bytes, start, end)) {
          this.#readRetry(valueStart(RETRY, bytes, start, end), end)
        }
        break
    }
  }

  #readData(start: number, end: number): void {
    const event = this.#event
    event.dataLines++
    event.dataBytes += end - start
    if (event.data !== null) event.dataBytes++
    if (!this.#admits()) return
    const value = start === end ? '' : this.#values.read(start, end)
    event.data = event.data === null ? value : `${event.data}\n${value}`
  }

  #readType(start: number, end: number): void {
    const event = this.#event
    event.typeBytes = end - start
    if (!this.#admits()) return
    event.type = start === end ? MESSAGE : this.#values.read(start, end)
  }

  #readId(start: number, end: number): void {
    const id = this.#values.read(start, end)
    if (id.includes('\0')) return
    this.#event.idBytes = end - start
    if (!this.#admits()) return
    this.#pendingId = id
  }

  #readRetry(start: number, end: number): void {
    const digits = this.#values.read(start, end)
    if (!DIGITS.test(digits)) return
    this.#event.retryBytes = end - start
    if (!this.#admits()) return
    this.#sink.onRetry(Number(digits))
  }

  #endEvent(): void {
    const { type, data } = this.#event
    this.lastEventId = this.#pendingId
    this.#event = new PendingEvent()
    if (data !== null) this.#sink.onEvent(type, data, this.lastEventId)
  }

  /** Fails if the event has become too large. */
  #admits(): boolean {
    const { bytes, dataLines } = this.#event
    if (bytes <= this.#limits.eventBytes && dataLines <= this.#limits.dataLines) return true
    this.#fail()
    return false
  }

  #fail(): void {
    this.stop()
    this.#sink.onFailure(EVENT_TOO_LARGE)
  }
}

/** U+FEFF in UTF-8. */
function startsWithMark(bytes: Buffer, start: number, end: number): boolean {
  return end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
}

/** Whether the line is the field's name alone, or starts with the name and a colon. */
function isField(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  const nameEnd = start + name.length
  if (nameEnd > end || (nameEnd < end && bytes[nameEnd] !== COLON)) return false
  for (let i = 1; i < name.length; i++) if (bytes[start + i] !== name[i]) return false
  return true
}

function valueStart(name: Buffer, bytes: Buffer, start: number, end: number): number {
  const nameEnd = start + name.length
  return nameEnd === end ? end : afterSpace(bytes, nameEnd + 1, end)
}

function afterSpace(bytes: Buffer, start: number, end: number): number {
  return start < end && bytes[start] === SP ? start + 1 : start
}
