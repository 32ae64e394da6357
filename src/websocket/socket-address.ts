/** Where a WebSocket connects to and what it asks for, read from the constructor's arguments. */
import { getGlobalOrigin } from '../base/address/global-origin.ts'
import { HeaderList } from '../fetch/headers/header-list.ts'
import { fillHeaders } from '../fetch/headers/headers.ts'
import { isFieldValue } from '../protocol/ascii.ts'
import { checkSubprotocols } from '../protocol/websocket/subprotocol.ts'
import { asString, isIterableObject } from '../web/idl.ts'

/** Header fields in any of the forms that `Headers` is made from. */
export type HeadersInit =
  | Iterable<readonly [string, string]>
  | { readonly [Symbol.iterator]: () => Iterator<[string, string]> }
  | Readonly<Record<string, string | undefined>>

/**
 * A relative URL is resolved against the global origin. @throws {DOMException} `SyntaxError` if it is not a
 * WebSocket URL.
 */
export function parseSocketUrl(input: unknown): URL {
  const text = String(input)
  const base = getGlobalOrigin()
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : null
  if (url === null) throw syntaxError('TypeError: Invalid URL')
  if (url.protocol === 'http:') url.protocol = 'ws:'
  else if (url.protocol === 'https:') url.protocol = 'wss:'
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') {
    throw syntaxError('expected a ws: or wss: url')
  }
  if (url.hash !== '' || url.href.endsWith('#')) throw syntaxError('hash')
  return url
}

/** @throws {DOMException} `SyntaxError` for an invalid or duplicate name. */
export function readProtocols(input: unknown): readonly string[] {
  const names = isIterableObject(input) ? Array.from(input, asString) : [asString(input)]
  const checked = checkSubprotocols(names)
  if (checked === null) throw syntaxError('Invalid Sec-WebSocket-Protocol value')
  return checked
}

/** In the caller's letter case. @throws {TypeError} */
export function readHeaders(input: unknown): HeaderList {
  const list = new HeaderList()
  if (input === null || input === undefined) return list
  fillHeaders(list, input)
  for (const [name, value] of list.sorted()) {
    // `Headers` accepts values that cannot be sent. The message leaves the value out, as it may be a secret.
    if (!isFieldValue(value)) throw new TypeError(`Headers.append: the value of "${name}" is invalid.`)
  }
  return list
}

/** The origin that the dispatcher gets. */
export function httpOrigin(url: URL): string {
  return `${url.protocol === 'ws:' ? 'http:' : 'https:'}//${url.host}`
}

/** Keeps a trailing `?`, which `search` leaves out. */
export function httpPath(url: URL): string {
  return url.pathname + (url.search || (url.href.endsWith('?') ? '?' : ''))
}

function syntaxError(message: string): DOMException {
  return new DOMException(message, 'SyntaxError')
}
