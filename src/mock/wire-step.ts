/**
 * What the other end of a connection in memory does: bytes to write, and actions in between.
 */
import { InvalidArgumentError } from '../errors.ts'

/** Something other than writing bytes. Made by `mockWire`. */
export type WireAction =
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'stall' }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset'; readonly code: string }
  | { readonly kind: 'split'; readonly bytes: number }

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
export const mockWire: {
  /** Sends nothing for so many milliseconds. */
  wait(milliseconds: number): WireAction
  /** Sends nothing more; the connection stays open. */
  stall(): WireAction
  /** Closes the connection in an orderly way. */
  end(): WireAction
  /** Breaks the connection, with the error of the system that has this code. Default: `ECONNRESET`. */
  reset(code?: string): WireAction
  /** Sends what follows in pieces of so many bytes; 0 for as it comes. */
  split(bytes: number): WireAction
} = {
  wait: (milliseconds) => ({ kind: 'wait', milliseconds: count(milliseconds, 'milliseconds') }),
  stall: () => ({ kind: 'stall' }),
  end: () => ({ kind: 'end' }),
  reset: (code = 'ECONNRESET') => ({ kind: 'reset', code }),
  split: (bytes) => ({ kind: 'split', bytes: count(bytes, 'bytes') }),
}

function count(value: unknown, name: string): number {
  if (!Number.isInteger(value) || (value as number) < 0) {
    throw new InvalidArgumentError(`${name} must be a valid integer >= 0`)
  }
  return value as number
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

const PART = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly a part'
const RESET = mockWire.reset()

/** The steps of faults that come after the connection is up. */
const SCRIPTS: Readonly<
  Record<Exclude<WireFault, 'connect-refused' | 'connect-timeout'>, readonly WireStep[]>
> = {
  'reset-before-head': [RESET],
  'reset-in-head': ['HTTP/1.1 200 OK\r\ncontent-le', RESET],
  'reset-in-body': [PART, mockWire.wait(1), RESET],
  'truncated-body': [PART, mockWire.end()],
  'bad-chunk': ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n'],
  'stall-head': [mockWire.stall()],
  'stall-body': [PART, mockWire.stall()],
}

export function faultScript(fault: WireFault): readonly WireStep[] | null {
  if (fault === 'connect-refused' || fault === 'connect-timeout') return null
  if (!Object.hasOwn(SCRIPTS, fault)) throw new InvalidArgumentError(`unknown fault: ${String(fault)}`)
  return SCRIPTS[fault]
}
