/** A FrameHandler that records its calls; the pieces of a DATA frame are joined. */
import type { FrameHandler } from '../../src/protocol/http2/frame-reader.ts'

export class FrameLog implements FrameHandler {
  readonly lines: string[] = []
  isStopped = false
  /** Content of the current DATA frame. */
  content = ''
  lastBuffer: Buffer | null = null
  /** Error codes of faults, in order. */
  readonly faults: number[] = []
  react: () => void = () => {}
  #dataLine = ''

  /** Stops at the first frame. */
  refuses = false

  onFrame(): void {
    if (this.refuses) this.isStopped = true
  }

  onDataStart(streamId: number, flags: number, length: number, dataLength: number): void {
    this.#dataLine = `data ${streamId} ${flags} ${length} ${dataLength}`
    this.content = ''
  }

  onDataBytes(buf: Buffer, start: number, end: number): void {
    this.lastBuffer = buf
    this.content += buf.toString('latin1', start, end)
  }

  onDataEnd(): void {
    this.#note(`${this.#dataLine} ${this.content}`)
  }

  onHeaders(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    this.#note(`headers ${streamId} ${flags} ${buf.toString('latin1', start, end)}`)
  }

  onContinuation(streamId: number, flags: number, buf: Buffer, start: number, end: number): void {
    this.#note(`continuation ${streamId} ${flags} ${buf.toString('latin1', start, end)}`)
  }

  onRstStream(streamId: number, code: number): void {
    this.#note(`rst ${streamId} ${code}`)
  }

  onSettings(buf: Buffer, start: number, end: number): void {
    this.#note(`settings ${buf.toString('hex', start, end)}`)
  }

  onSettingsAck(): void {
    this.#note('settings ack')
  }

  onPushPromise(streamId: number): void {
    this.#note(`push ${streamId}`)
  }

  onPing(ack: boolean, buf: Buffer, start: number): void {
    this.#note(`ping ${ack} ${buf.toString('latin1', start, start + 8)}`)
  }

  onGoaway(lastStreamId: number, code: number, buf: Buffer, start: number, end: number): void {
    this.#note(`goaway ${lastStreamId} ${code} ${buf.toString('latin1', start, end)}`)
  }

  onWindowUpdate(streamId: number, increment: number): void {
    this.#note(`window ${streamId} ${increment}`)
  }

  onIgnored(): void {
    this.#note('ignored')
  }

  onStreamFault(streamId: number, code: number): void {
    this.faults.push(code)
    this.#note(`stream fault ${streamId} ${code}`)
  }

  onConnectionFault(code: number): void {
    this.faults.push(code)
    this.#note(`connection fault ${code}`)
  }

  #note(line: string): void {
    this.lines.push(line)
    this.react()
  }
}
