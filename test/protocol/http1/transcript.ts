/**
 * Feeds bytes to a ResponseParser and writes down what came out, one line for each event. Adjacent pieces of
 * body are joined, so that the same bytes give the same transcript however they were cut.
 */
import type { HeaderBlock } from '../../../src/protocol/header-block.ts'
import { type Framing, keepsAlive } from '../../../src/protocol/http1/framing.ts'
import type { ParsedHead } from '../../../src/protocol/http1/head-parser.ts'
import { HeadParsers } from '../../../src/protocol/http1/head-parsers.ts'
import { ResponseParser } from '../../../src/protocol/http1/response-parser.ts'
import type { ResponseSink } from '../../../src/protocol/http1/response-sink.ts'

export interface Conversation {
  /** `GET`, `HEAD`, `CONNECT`, `GET upgrade` …, in the order written. */
  readonly requests: readonly string[]
  /** The peer closes after its last byte. */
  readonly close?: boolean
  readonly maxHeaderSize?: number
}

export type Callback = 'begin' | 'informational' | 'head' | 'body' | 'end' | 'upgrade'

export class Recorder implements ResponseSink {
  readonly lines: string[] = []
  /** Runs inside each callback, after the recording. */
  react: (callback: Callback) => void = () => {}
  #body = ''

  onMessageBegin(): void {
    this.#note('begin')
    this.react('begin')
  }

  onInformational(head: ParsedHead): void {
    this.#noteHead('informational', head, 'interim')
    this.react('informational')
  }

  onHead(head: ParsedHead, isKeptAlive: boolean, body: Framing): void {
    this.#noteHead('head', head, body, isKeptAlive)
    this.react('head')
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (start >= end) throw new Error('empty piece of body')
    this.#body += bytes.toString('latin1', start, end)
    this.react('body')
  }

  onEnd(trailers: HeaderBlock | null): void {
    this.#note('end')
    if (trailers !== null) this.#noteFields('trailer', trailers)
    this.react('end')
  }

  onUpgrade(head: ParsedHead): void {
    this.#noteHead('upgrade', head, 'tunnel')
    this.react('upgrade')
  }

  flush(): string[] {
    if (this.#body !== '') {
      this.lines.push(`body ${JSON.stringify(this.#body)}`)
      this.#body = ''
    }
    return this.lines
  }

  #note(line: string): void {
    this.flush().push(line)
  }

  #noteHead(
    kind: string,
    { version, status, reason, framing, fields }: ParsedHead,
    body: Framing,
    isKeptAlive = keepsAlive(version, body, framing),
  ): void {
    let line = `${kind} ${status} ${JSON.stringify(reason)}`
    if (framing.contentLength !== -1) line += ` length=${framing.contentLength}`
    if (body === 'until-close') line += ' until-close'
    line += isKeptAlive ? ' keep-alive' : ' close'
    if (framing.keepAliveHint !== null) line += ` hint=${framing.keepAliveHint}`
    this.#note(line)
    this.#noteFields('field', fields)
  }

  #noteFields(kind: string, fields: HeaderBlock): void {
    for (let i = 0; i < fields.flat.length; i += 2) {
      this.#note(`${kind} ${fields.flat[i]}: ${JSON.stringify(fields.flat[i + 1])}`)
    }
  }
}

/** The transcript of a conversation whose bytes arrive in these pieces. */
export function transcript(pieces: readonly Buffer[], conversation: Conversation): string[] {
  const recorder = new Recorder()
  const parser = new ResponseParser(
    recorder,
    new HeadParsers({ maxHeaderSize: conversation.maxHeaderSize ?? 16_384 }),
  )
  for (const request of conversation.requests) {
    const [method = '', upgrade] = request.split(' ')
    parser.expect(method, upgrade === 'upgrade')
  }
  let rest = ''
  for (const piece of pieces) {
    // A moving offset reveals code that mistakes an offset in the buffer for one in the stream.
    const shifted = Buffer.concat([Buffer.from('###'), piece, Buffer.from('###')])
    const stop = parser.execute(shifted, 3, 3 + piece.length)
    rest += shifted.toString('latin1', stop, 3 + piece.length)
  }
  if (conversation.close === true) parser.finish()
  const lines = recorder.flush()
  if (parser.failure !== null) lines.push(`failure ${parser.failure.code}`)
  else if (rest !== '') lines.push(`rest ${JSON.stringify(rest)}`)
  return lines
}

export function whole(bytes: Buffer): Buffer[] {
  return [bytes]
}

export function singleBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))
}

export function* everySplit(bytes: Buffer): Generator<Buffer[]> {
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)]
}
