/** Where a WebSocket connects to and what it asks for, read from the constructor's arguments. */
import { isFieldValue, isToken } from '../protocol/ascii.ts'
import { checkSubprotocols } from '../protocol/websocket/subprotocol.ts'

/** Header fields in any of the forms that `Headers` is made from. */
export type HeadersInit =
  | Iterable<readonly [string, string]>
  | { readonly [Symbol.iterator]: () => Iterator<[string, string]> }
  | Readonly<Record<string, string>>

/** @throws {DOMException} `SyntaxError` for what is no WebSocket URL. */
export function parseSocketUrl(input: unknown): URL {
  const text = String(input)
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) throw syntaxError('TypeError: Invalid URL')
  if (url.protocol === 'http:') url.protocol = 'ws:'
  else if (url.protocol === 'https:') url.protocol = 'wss:'
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') {
    throw syntaxError('expected a ws: or wss: url')
  }
  if (url.hash !== '' || url.href.endsWith('#')) throw syntaxError('hash')
  return url
}

/** @throws {DOMException} `SyntaxError` for a name that is none, or twice there. */
export function readProtocols(input: unknown): readonly string[] {
  const names = isIterableObject(input) ? Array.from(input, toText) : [toText(input)]
  const checked = checkSubprotocols(names)
  if (checked === null) throw syntaxError('Invalid Sec-WebSocket-Protocol value')
  return checked
}

/** Flat, in the caller's letter case. @throws {TypeError} */
export function readHeaders(input: unknown): string[] {
  if (input === null || input === undefined) return []
  if (typeof input !== 'object') throw new TypeError('headers must be an object')
  const flat: string[] = []
  if (isIterableObject(input)) {
    for (const pair of input) {
      if (!isIterableObject(pair)) throw new TypeError('headers: a pair is not iterable')
      const [name, value, ...rest] = Array.from(pair, toText)
      if (value === undefined || rest.length > 0) throw new TypeError('headers: a pair has not two items')
      flat.push(name!, value.trim())
    }
  } else {
    for (const [name, value] of Object.entries(input)) flat.push(name, toText(value).trim())
  }
  const legal = flat.every((part, at) => (at % 2 === 0 ? isToken(part) : isFieldValue(part)))
  if (!legal) throw new TypeError('headers: invalid name or value')
  return flat
}

/** The origin that the dispatcher knows the server by. */
export function httpOrigin(url: URL): string {
  return `${url.protocol === 'ws:' ? 'http:' : 'https:'}//${url.host}`
}

/** As Web IDL makes a string: a symbol throws. */
export function toText(value: unknown): string {
  return `${value as string}`
}

export function isIterableObject(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function syntaxError(message: string): DOMException {
  return new DOMException(message, 'SyntaxError')
}
