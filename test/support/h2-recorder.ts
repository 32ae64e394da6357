/** The sinks of an engine, which record their callbacks: one line for each. */
import type { ProtocolFailure } from '../../src/protocol/failure.ts'
import type { HeaderBlock } from '../../src/protocol/header-block.ts'
import type { ConnectionSink } from '../../src/protocol/http2/connection-sink.ts'
import { errorCodeName } from '../../src/protocol/http2/constants.ts'
import type { RemoteSettings } from '../../src/protocol/http2/settings.ts'
import type { Stream } from '../../src/protocol/http2/stream.ts'
import type { StreamSink } from '../../src/protocol/http2/stream-sink.ts'

export type RecordedStream = Stream

function codeText(code: number | string): string {
  return typeof code === 'number' ? errorCodeName(code) : code
}

function fieldsText(head: HeaderBlock | null): string {
  if (head === null) return ''
  let text = ''
  for (let i = 0; i < head.flat.length; i += 2) text += ` ${head.flat[i]}=${head.flat[i + 1]}`
  return text
}

export class Recorder implements ConnectionSink {
  readonly lines: string[] = []
  /** The complete failures, in order, for tests that check messages. */
  readonly failures: ProtocolFailure[] = []
  /** The final heads, in order. */
  readonly heads: HeaderBlock[] = []
  /** Called after each line about a stream: the place to call back into the engine. */
  react: (line: string, stream: RecordedStream) => void = () => {}
  /** If set, DATA is recorded by its number of bytes instead of as text. */
  countsData = false

  /** The callbacks since the last call. */
  take(): string[] {
    return this.lines.splice(0)
  }

  onSettings(remote: RemoteSettings): void {
    this.lines.push(
      `settings ${remote.maxConcurrentStreams} ${remote.initialWindowSize} ${remote.maxFrameSize}`,
    )
  }

  onGoaway(lastStreamId: number, code: number, debug: Uint8Array): void {
    const text = debug.length === 0 ? '' : ` ${Buffer.from(debug).toString('latin1')}`
    this.lines.push(`goaway ${lastStreamId} ${errorCodeName(code)}${text}`)
  }

  onPong(opaque: Uint8Array): void {
    this.lines.push(`pong ${Buffer.from(opaque).toString('latin1')}`)
  }

  onFailure(failure: ProtocolFailure): void {
    this.failures.push(failure)
    this.lines.push(`failure ${failure.blame} ${codeText(failure.code)}`)
  }

  note(stream: RecordedStream, line: string): void {
    this.lines.push(line)
    this.react(line, stream)
  }
}

/** Records what the engine reports about one stream, which is set as soon as it is open. */
export class StreamRecorder implements StreamSink {
  stream!: RecordedStream
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  onInformational(status: number, head: HeaderBlock): void {
    this.#recorder.note(this.stream, `interim ${this.stream.id} ${status}${fieldsText(head)}`)
  }

  onHead(status: number, head: HeaderBlock, endStream: boolean): void {
    this.#recorder.heads.push(head)
    this.#recorder.note(
      this.stream,
      `head ${this.stream.id} ${status}${fieldsText(head)}${endStream ? ' (last)' : ''}`,
    )
  }

  onData(buf: Buffer, start: number, end: number): void {
    const text = this.#recorder.countsData ? String(end - start) : buf.toString('latin1', start, end)
    this.#recorder.note(this.stream, `data ${this.stream.id} ${text}`)
  }

  onEnd(trailers: HeaderBlock | null): void {
    this.#recorder.note(this.stream, `end ${this.stream.id}${fieldsText(trailers)}`)
  }

  onReset(failure: ProtocolFailure, unprocessed: boolean): void {
    this.#recorder.failures.push(failure)
    const verdict = unprocessed ? ' (unprocessed)' : ''
    this.#recorder.note(
      this.stream,
      `reset ${this.stream.id} ${failure.scope} ${failure.blame} ${codeText(failure.code)}${verdict}`,
    )
  }

  onSpoiled(): void {
    this.#recorder.note(this.stream, `spoiled ${this.stream.id}`)
  }

  onWritable(): void {
    this.#recorder.note(this.stream, `writable ${this.stream.id}`)
  }

  onClosed(): void {
    this.#recorder.note(this.stream, `closed ${this.stream.id}`)
  }
}
