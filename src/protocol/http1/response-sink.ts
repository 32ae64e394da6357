/** What the parser reports. */
import type { HeaderBlock } from '../header-block.ts'
import type { Body } from './framing.ts'
import type { ParsedHead } from './head-parser.ts'

export interface ResponseSink {
  /** The first byte of a response, interim ones included. */
  onMessageBegin(): void
  /** A 1xx other than 101; the final response is still to come. */
  onInformational(head: ParsedHead): void
  /** `keepsAlive`: the peer lets the connection live on after this response. `body`: how it ends. */
  onHead(head: ParsedHead, keepsAlive: boolean, body: Body): void
  /** A piece of the body. The bytes are borrowed: consume or copy them now. */
  onBody(bytes: Buffer, start: number, end: number): void
  /** The message is complete. Trailers are null unless the body was chunked. */
  onEnd(trailers: HeaderBlock | null): void
  /** HTTP is over: all bytes from the offset that `execute` returns belong to the caller. */
  onUpgrade(head: ParsedHead): void
}
