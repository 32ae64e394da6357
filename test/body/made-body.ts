/** Response bodies without a request, and the events that their listeners see. */

import { Readable } from 'node:stream'
import type { BodySource } from '../../src/body/incoming.ts'
import { BodyReadable } from '../../src/body/readable.ts'
import type { HeaderObject } from '../../src/protocol/header-block.ts'

export class RecordedSource implements BodySource {
  readonly log: string[] = []
  readonly aborts: unknown[] = []
  onResume: (() => void) | null = null

  pause(): void {
    this.log.push('pause')
  }

  resume(): void {
    this.log.push('resume')
    this.onResume?.()
  }

  cancel(error: unknown): void {
    this.log.push('abort', 'closed')
    this.aborts.push(error)
  }

  spent(): void {
    this.log.push('closed')
  }
}

export interface BodyOptions {
  headers?: HeaderObject
  highWaterMark?: number
  isHead?: boolean
}

export function makeBody(options: BodyOptions = {}): { body: BodyReadable; source: RecordedSource } {
  const source = new RecordedSource()
  const { headers = {}, highWaterMark = 65_536, isHead = false } = options
  return { body: new BodyReadable(source, headers, highWaterMark, isHead), source }
}

/** So long that it is handed out alone. */
export function piece(letter: string): string {
  return letter.repeat(16_384)
}

/** A body that has arrived completely. */
export function arrived(chunks: (string | Buffer)[], options: BodyOptions = {}): BodyReadable {
  const { body } = makeBody(options)
  for (const chunk of chunks) body.receive(Buffer.from(chunk))
  body.complete()
  return body
}

/** The same chunks in a Readable of the runtime. */
export function plain(chunks: readonly string[]): Readable {
  const stream = new Readable({ highWaterMark: 65_536, read() {} })
  for (const chunk of chunks) stream.push(chunk)
  stream.push(null)
  return stream
}

/** The events a listener sees, in order. */
export function record(body: BodyReadable): string[] {
  const events: string[] = []
  for (const name of ['end', 'close']) body.on(name, () => events.push(name))
  body.on('error', (error: Error) => events.push(`error ${error.name}`))
  return events
}

/** Unlike `once`, does not reject with an `error` event. */
export function closed(body: BodyReadable): Promise<void> {
  return new Promise((resolve) => body.once('close', resolve))
}
