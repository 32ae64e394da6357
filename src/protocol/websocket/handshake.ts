/**
 * The answer to an opening handshake, judged (RFC 6455 §4.1; over HTTP/2 RFC 8441 §5). Nothing in it is
 * trusted: each field is compared with what was asked for.
 */
import type { ProtocolFailure } from '../failure.ts'
import type { HeaderObject } from '../header-block.ts'
import { type DeflateParameters, readAgreement } from './extension.ts'
import { listItems } from './subprotocol.ts'

/** Appended to the key before it is hashed (RFC 6455 §1.3). */
export const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

export const SWITCHING_PROTOCOLS = 101
/** How an extended CONNECT is granted. */
const CONNECTED = 200

/** A server that speaks HTTP/2 and takes no WebSockets over it (RFC 8441 §3): worth a try over HTTP/1.1. */
export const NO_EXTENDED_CONNECT: ProtocolFailure = {
  scope: 'stream',
  blame: 'peer',
  code: 'H2_NO_EXTENDED_CONNECT',
  message: 'Extended CONNECT protocol not supported by server',
}

export interface Handshake {
  readonly protocols: readonly string[]
  /** What `Sec-WebSocket-Accept` must be. */
  readonly accept: string
}

export interface Agreement {
  /** Empty when none was asked for. */
  readonly protocol: string
  /** The field as the server sent it. */
  readonly extensions: string
  readonly deflate: DeflateParameters | null
}

/** What was agreed on, or why the handshake has failed. */
export function judgeAnswer(asked: Handshake, status: number, headers: HeaderObject): Agreement | string {
  if (status === SWITCHING_PROTOCOLS) {
    if (fieldOf(headers, 'upgrade')?.toLowerCase() !== 'websocket')
      return 'Server did not set Upgrade header to "websocket".'
    const options = listItems((fieldOf(headers, 'connection') ?? '').toLowerCase())
    if (!options.includes('upgrade')) return 'Server did not set Connection header to "upgrade".'
    if (fieldOf(headers, 'sec-websocket-accept') !== asked.accept) {
      return 'Incorrect hash received in Sec-WebSocket-Accept header.'
    }
  } else if (status !== CONNECTED) {
    return 'Received network error or non-101 status code.'
  }
  const protocol = fieldOf(headers, 'sec-websocket-protocol')
  if (protocol === null ? asked.protocols.length > 0 : !asked.protocols.includes(protocol)) {
    return 'Protocol was not set in the opening handshake.'
  }
  const extensions = fieldOf(headers, 'sec-websocket-extensions')
  const deflate = extensions === null ? null : readAgreement(extensions)
  if (typeof deflate === 'string') return deflate
  return { protocol: protocol ?? '', extensions: extensions ?? '', deflate }
}

/** A repeated field is one list (RFC 9110 §5.3), which most of these fields must not be. */
function fieldOf(headers: HeaderObject, name: string): string | null {
  // A server may as well name a field `constructor`; what is not its own was not sent.
  const value = Object.hasOwn(headers, name) ? headers[name]! : null
  return Array.isArray(value) ? value.join(', ') : value
}
