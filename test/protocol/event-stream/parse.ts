/** Feeds a parser and records what it reports. */
import { eventLimits, LONGEST_EVENT } from '../../../src/protocol/event-stream/limits.ts'
import { type EventSink, EventStreamParser } from '../../../src/protocol/event-stream/parser.ts'

export class Recorder implements EventSink {
  readonly reports: string[] = []
  readonly parser: EventStreamParser

  constructor(maxEventSize: number = LONGEST_EVENT, lastEventId = '') {
    this.parser = new EventStreamParser(this, eventLimits(maxEventSize), lastEventId)
  }

  onEvent(type: string, data: string, lastEventId: string): void {
    this.reports.push(`${type} ${JSON.stringify(data)} id=${lastEventId}`)
  }

  onRetry(milliseconds: number): void {
    this.reports.push(`retry ${milliseconds}`)
  }

  onComment(text: string): void {
    this.reports.push(`comment ${text}`)
  }

  onFailure({ message }: { message: string }): void {
    this.reports.push(`failure ${message}`)
  }
}

/** The reports for a stream that arrives in these chunks. */
export function parse(chunks: readonly (string | Uint8Array)[], maxEventSize?: number): string[] {
  const recorder = new Recorder(maxEventSize)
  for (const chunk of chunks) recorder.parser.push(Buffer.from(chunk as string))
  return recorder.reports
}
