/** The arguments of the constructors of `WebSocket` and `WebSocketStream`. */
import type { Dispatching } from '../request/dispatching.ts'
import { asString, isIterableObject } from '../web/idl.ts'
import { dispatcherOf } from './dispatcher-limits.ts'
import type { OpeningRequest } from './opening-handshake.ts'
import { type HeadersInit, parseSocketUrl, readHeaders, readProtocols } from './socket-address.ts'

/** Options of `WebSocket`. */
export interface WebSocketInit {
  /** Subprotocols to ask for, the preferred one first. Default: none. */
  protocols?: string | Iterable<string> | undefined
  /** Makes the connection, and its `webSocketOptions` limit what is received. Default: the global one. */
  dispatcher?: Dispatching | undefined
  /** Sent with the handshake. */
  headers?: HeadersInit | null | undefined
}

/** Accepts subprotocols alone, or an object with options. */
export function readInit(options: unknown): WebSocketInit {
  if (options === undefined || options === null) return { protocols: [] }
  if (typeof options !== 'object') return { protocols: asString(options) }
  if (isIterableObject(options)) return { protocols: options as Iterable<string> }
  // A polluted `Object.prototype` must not choose where the connection goes.
  const { protocols, dispatcher, headers } = { __proto__: null, ...options } as WebSocketInit
  return { protocols: protocols ?? [], dispatcher, headers }
}

/** What a connection is opened with. @throws {DOMException | TypeError} */
export function readOpening(url: unknown, { protocols, headers, dispatcher }: WebSocketInit): OpeningRequest {
  return {
    url: parseSocketUrl(url),
    protocols: readProtocols(protocols),
    headers: readHeaders(headers),
    dispatcher: dispatcherOf(dispatcher),
  }
}
