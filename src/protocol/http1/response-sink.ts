/** The results of the parser and the interface that gets them. */
import type { HeaderBlock } from '../header-block.ts'
import type { Framing } from './framing.ts'
import type { ParsedHead } from './head-parser.ts'

export interface ResponseHead {
  readonly status: number
  /** The reason phrase, `''` when there is none. */
  readonly reason: string
  readonly fields: HeaderBlock
  /** The peer lets the connection live on after this response. */
  readonly keepAlive: boolean
  /** Seconds of the peer's `keep-alive: timeout=` hint. */
  readonly keepAliveHint: number | null
  readonly contentLength: number | null
  /** The body ends with the connection. */
  readonly untilClose: boolean
}

export interface ResponseSink {
  /** The first byte of a response, interim ones included. */
  onMessageBegin(): void
  /** A 1xx other than 101; the final response is still to come. */
  onInformational(head: ResponseHead): void
  onHead(head: ResponseHead): void
  /** A piece of the body. The bytes are borrowed: consume or copy them now. */
  onBody(bytes: Buffer, start: number, end: number): void
  /** The message is complete. Trailers are null unless the body was chunked. */
  onEnd(trailers: HeaderBlock | null): void
  /** HTTP is over: all bytes from the offset that `execute` returns belong to the caller. */
  onUpgrade(head: ResponseHead): void
}

export function responseHead(parsed: ParsedHead, framing: Framing, keepAlive: boolean): ResponseHead {
  const { keepAliveHint, contentLength } = parsed.framing
  return {
    status: parsed.status,
    reason: parsed.reason,
    fields: parsed.fields,
    keepAlive,
    keepAliveHint: keepAliveHint === -1 ? null : keepAliveHint,
    contentLength: contentLength === -1 ? null : contentLength,
    untilClose: framing === 'until-close',
  }
}
