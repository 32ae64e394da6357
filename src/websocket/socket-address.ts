/** Where a WebSocket connects to and what it asks for, read from the constructor's arguments. */
import { getGlobalOrigin } from '../base/global-origin.ts'
import { isFieldValue, isToken } from '../protocol/ascii.ts'
import { checkSubprotocols } from '../protocol/websocket/subprotocol.ts'
import { asString, isIterableObject } from '../web/idl.ts'

/** Header fields in any of the forms that `Headers` is made from. */
export type HeadersInit =
  | Iterable<readonly [string, string]>
  | { readonly [Symbol.iterator]: () => Iterator<[string, string]> }
  | Readonly<Record<string, string | undefined>>

/** A relative URL is relative to the global origin. @throws {DOMException} `SyntaxError` if it is no WebSocket URL. */
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

/** Flat, in the caller's letter case. @throws {TypeError} */
export function readHeaders(input: unknown): string[] {
  if (input === null || input === undefined) return []
  if (typeof input !== 'object') {
    throw new TypeError(
      'Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.',
    )
  }
  const flat: string[] = []
  if (isIterableObject(input)) {
    for (const pair of input) {
      if (!isIterableObject(pair)) throw new TypeError('headers: a pair is not iterable')
      const items = Array.from(pair, asString)
      if (items.length !== 2) {
        throw new TypeError(
          `Headers constructor: expected name/value pair to be length 2, found ${items.length}.`,
        )
      }
      flat.push(items[0]!, items[1]!.trim())
    }
  } else {
    for (const [name, value] of Object.entries(input)) flat.push(name, asString(value).trim())
  }
  for (let i = 0; i < flat.length; i += 2) {
    if (!isToken(flat[i]!)) throw new TypeError(`Headers.append: "${flat[i]}" is an invalid header name.`)
    // The value may be a secret.
    if (!isFieldValue(flat[i + 1]!))
      throw new TypeError(`Headers.append: the value of "${flat[i]}" is invalid.`)
  }
  return flat
}

/** The origin under which the dispatcher knows the server. */
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
