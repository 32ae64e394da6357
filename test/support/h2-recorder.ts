/** An EngineSink that records its callbacks, one line for each. */
import type { ProtocolFailure } from '../../src/protocol/failure.ts'
import type { HeaderBlock } from '../../src/protocol/header-block.ts'
import { errorCodeName } from '../../src/protocol/http2/constants.ts'
import type { EngineSink } from '../../src/protocol/http2/engine-sink.ts'
import type { RemoteSettings } from '../../src/protocol/http2/settings.ts'
import type { Stream } from '../../src/protocol/http2/stream.ts'

export type RecordedStream = Stream<string>

function codeText(code: number | string): string {
  return typeof code === 'number' ? errorCodeName(code) : code
}

function fieldsText(head: HeaderBlock | null): string {
  if (head === null) return ''
  let text = ''
  for (let i = 0; i < head.flat.length; i += 2) text += ` ${head.flat[i]}=${head.flat[i + 1]}`
  return text
}

export class Recorder implements EngineSink<string> {
  readonly lines: string[] = []
  /** The complete failures, in order, for tests that check messages. */
  readonly failures: ProtocolFailure[] = []
  /** Called after each line about a stream: the place to call back into the engine. */
  react: (line: string, stream: RecordedStream) => void = () => {}
  /** If set, DATA is recorded by its number of bytes instead of as text. */
  countsData = false

  /** The callbacks since the last call. */
  take(): string[] {
    return this.lines.splice(0)
  }

  onInformational(stream: RecordedStream, status: number, head: HeaderBlock): void {
    this.#note(stream, `interim ${stream.id} ${status}${fieldsText(head)}`)
  }

  onHead(stream: RecordedStream, status: number, head: HeaderBlock, endStream: boolean): void {
    this.#note(stream, `head ${stream.id} ${status}${fieldsText(head)}${endStream ? ' (last)' : ''}`)
  }

  onData(stream: RecordedStream, buf: Buffer, start: number, end: number): void {
    const text = this.countsData ? String(end - start) : buf.toString('latin1', start, end)
    this.#note(stream, `data ${stream.id} ${text}`)
  }

  onEnd(stream: RecordedStream, trailers: HeaderBlock | null): void {
    this.#note(stream, `end ${stream.id}${fieldsText(trailers)}`)
  }

  onReset(stream: RecordedStream, failure: ProtocolFailure, unprocessed: boolean): void {
    this.failures.push(failure)
    const verdict = unprocessed ? ' (unprocessed)' : ''
    this.#note(
      stream,
      `reset ${stream.id} ${failure.scope} ${failure.blame} ${codeText(failure.code)}${verdict}`,
    )
  }

  onSpoiled(stream: RecordedStream): void {
    this.#note(stream, `spoiled ${stream.id}`)
  }

  onWritable(stream: RecordedStream): void {
    this.#note(stream, `writable ${stream.id}`)
  }

  onClosed(stream: RecordedStream): void {
    this.#note(stream, `closed ${stream.id}`)
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

  #note(stream: RecordedStream, line: string): void {
    this.lines.push(line)
    this.react(line, stream)
  }
}
