/** Reads single fields of a received or sent header object. */
import { trimmed } from '../base/text/trimmed.ts'
import { isToken } from '../protocol/ascii.ts'
import type { HeaderObject } from '../protocol/header-block.ts'

export { trimmed }

/**
 * Own properties only: a peer does not choose the prototype, but it does choose names such as `constructor`.
 */
export function fieldLines(headers: HeaderObject, name: string): string | string[] | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

export function hasField(headers: HeaderObject, name: string): boolean {
  return fieldLines(headers, name) !== undefined
}

/** With lists of its own: a handler may change what it gets. */
export function copyHeaders(headers: HeaderObject): HeaderObject {
  const copy = { ...headers }
  for (const name of Object.keys(copy)) {
    const value = copy[name]
    if (Array.isArray(value)) copy[name] = [...value]
  }
  return copy
}

/** Whether one of the fields is there. */
export function hasAny(headers: HeaderObject, names: readonly string[]): boolean {
  return names.some((name) => hasField(headers, name))
}

/** All lines as one list; null if there is none. */
export function fieldText(headers: HeaderObject, name: string): string | null {
  const value = fieldLines(headers, name)
  return value === undefined ? null : joinedLines(name, value)
}

/** A comma is part of the value of a cookie, which a semicolon ends (RFC 9113 §8.2.3). */
export function joinedLines(name: string, value: string | readonly string[]): string {
  if (typeof value === 'string') return value
  return value.join(name === 'cookie' ? '; ' : ', ')
}

/** The value of a field that must come once; null if it is absent or repeated. */
export function singleField(headers: HeaderObject, name: string): string | null {
  const value = fieldLines(headers, name)
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.length === 1 ? value[0]! : null
}

/** The length of the body, as far as the head says it. */
export function announcedLength({ headers }: { readonly headers?: HeaderObject | null }): number | null {
  const text = headers ? singleField(headers, 'content-length') : null
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : null
}

/** A response that depends on more request fields is not stored: each lookup would compare them all. */
const MAX_VARY_NAMES = 64

/** The names in lower case; null if no request can ever match: `*`, a malformed name, or too many. */
export function varyNames(headers: HeaderObject): string[] | null {
  const text = fieldText(headers, 'vary')
  if (text === null) return []
  const names = new Set<string>()
  for (const part of text.split(',')) {
    const name = trimmed(part).toLowerCase()
    if (name === '') continue
    if (name === '*' || !isToken(name)) return null
    names.add(name)
    if (names.size > MAX_VARY_NAMES) return null
  }
  return [...names]
}
