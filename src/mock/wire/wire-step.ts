/** The steps of a script for the server side of an in-memory connection: bytes to write, and actions. */
import { NO_BYTES } from '../../base/bytes/empty.ts'
import { InvalidArgumentError } from '../../errors.ts'
import { integerFrom } from '../../options.ts'
import { DATA, FLAG_END_STREAM, SETTINGS } from '../../protocol/http2/constants.ts'

/** Which engine reads the replies. */
export type WireProtocol = 'h1' | 'h2'

/** Something other than writing bytes. Made by `mockWire`. */
export type WireAction =
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'stall' }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset'; readonly code: string }
  | { readonly kind: 'split'; readonly bytes: number }
  | WireFrame

/** A frame of HTTP/2, on the stream of the request. */
export type WireFrame =
  | { readonly kind: 'headers'; readonly fields: readonly string[]; readonly endStream: boolean }
  | { readonly kind: 'frame'; readonly type: number; readonly flags: number; readonly payload: Uint8Array }

/** A piece of what the server sends, or an action. Strings are sent as UTF-8. */
export type WireStep = string | Uint8Array | WireAction

/** Steps, in order. A function makes them for each request. */
export type WireScript = Iterable<WireStep> | AsyncIterable<WireStep>

/**
 * Actions for `replyRaw()`.
 *
 * @example
 * interceptor.replyRaw(['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n', mockWire.wait(100), 'ok'])
 */
export const mockWire = {
  /** Sends nothing for so many milliseconds. */
  wait: (milliseconds: number): WireAction => ({
    kind: 'wait',
    milliseconds: count(milliseconds, 'milliseconds'),
  }),
  /** Sends nothing more; the connection stays open. */
  stall: (): WireAction => ({ kind: 'stall' }),
  /** Closes the connection in an orderly way. */
  end: (): WireAction => ({ kind: 'end' }),
  /** Breaks the connection, with the error of the system that has this code. Default: `ECONNRESET`. */
  reset: (code: string = 'ECONNRESET'): WireAction => ({ kind: 'reset', code }),
  /** Sends what follows in pieces of so many bytes; 0 for as it comes. */
  split: (bytes: number): WireAction => ({ kind: 'split', bytes: count(bytes, 'bytes') }),
  /** HTTP/2: a HEADERS frame; `:status` is one of the fields. */
  headers: (fields: Readonly<Record<string, string>>, endStream: boolean = false): WireAction => ({
    kind: 'headers',
    fields: Object.entries(fields).flat(),
    endStream,
  }),
  /** HTTP/2: a DATA frame. */
  data: (content: string | Uint8Array, endStream: boolean = false): WireAction =>
    dataFrame(Buffer.from(content as string), endStream),
  /** HTTP/2: any frame, by the number of its type. */
  frame: (type: number, payload: Uint8Array = NO_BYTES, flags: number = 0): WireAction => ({
    kind: 'frame',
    type,
    flags,
    payload,
  }),
}

export function count(value: unknown, name: string, least: '>= 0' | '> 0' = '>= 0'): number {
  if (integerFrom(least === '> 0' ? 1 : 0)(value)) return value as number
  throw new InvalidArgumentError(`${name} must be a valid integer ${least}`)
}

export function dataFrame(payload: Uint8Array, endStream: boolean): WireFrame {
  return { kind: 'frame', type: DATA, flags: endStream ? FLAG_END_STREAM : 0, payload }
}

/** How a server can fail. */
export type WireFault =
  | 'connect-refused'
  | 'connect-timeout'
  | 'reset-before-head'
  | 'reset-in-head'
  | 'reset-in-body'
  | 'truncated-body'
  | 'bad-chunk'
  | 'stall-head'
  | 'stall-body'

/** Faults on an open connection. */
export type ReplyFault = Exclude<WireFault, 'connect-refused' | 'connect-timeout'>

const PART = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly a part'
const H2_PART = [
  mockWire.headers({ ':status': '200', 'content-length': '100' }),
  mockWire.data('only a part'),
]
const RESET = mockWire.reset()
const STALL = mockWire.stall()
/** The first half of a frame header. */
const HALF_FRAME = Buffer.from([0, 0, 20, 1])
/** RFC 9113 §6.5.1: a SETTINGS frame whose length is not a multiple of six. */
const BAD_FRAME = mockWire.frame(SETTINGS, Buffer.alloc(5))
const BAD_CHUNK = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n'

/** The script of each fault, by protocol. */
export const FAULTS: Readonly<Record<ReplyFault, Readonly<Record<WireProtocol, readonly WireStep[]>>>> = {
  'reset-before-head': { h1: [RESET], h2: [RESET] },
  'reset-in-head': { h1: ['HTTP/1.1 200 OK\r\ncontent-le', RESET], h2: [HALF_FRAME, RESET] },
  'reset-in-body': { h1: [PART, mockWire.wait(1), RESET], h2: [...H2_PART, mockWire.wait(1), RESET] },
  'truncated-body': { h1: [PART, mockWire.end()], h2: [...H2_PART, mockWire.data('', true)] },
  'bad-chunk': { h1: [BAD_CHUNK], h2: [...H2_PART, BAD_FRAME] },
  'stall-head': { h1: [STALL], h2: [STALL] },
  'stall-body': { h1: [PART, STALL], h2: [...H2_PART, STALL] },
}
