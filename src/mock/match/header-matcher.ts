/**
 * Headers of requests in all their shapes, as an object with lower-case names, and the matchers for them.
 */
import { setOwn } from '../../base/own-record.ts'
import { headerPairs, isPairIterable } from '../../request/headers-input.ts'
import { matchesText, type TextMatcher } from './text-matcher.ts'

/** By name, in any letter case, or one function for all headers. Headers that are not listed may have any value. */
export type HeadersMatcher = Record<string, TextMatcher> | ((headers: Record<string, string>) => boolean)

/** Calls back for each field, with the name as it was given. Anything but headers is left to the checks of a request. */
export function eachField(headers: unknown, visit: (name: string, value: unknown) => void): void {
  if (headers === null || headers === undefined) return
  for (const [name, value] of headerPairs(headers)) if (name !== undefined) visit(String(name), value)
}

/** Names in lower case; repeated and array values are joined by a comma. */
export function readFields(headers: unknown): Record<string, string> {
  const fields = Object.create(null) as Record<string, string>
  eachField(headers, (name, value) => {
    if (value === undefined) return
    const lower = name.toLowerCase()
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    fields[lower] = fields[lower] === undefined ? text : `${fields[lower]}, ${text}`
  })
  return fields
}

/** An object with the names as given, for functions of callers. A plain object is passed as it is. */
export function fieldsObject(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers
  if (!Array.isArray(headers) && !isPairIterable(headers)) return headers
  const fields: Record<string, unknown> = {}
  eachField(headers, (name, value) => setOwn(fields, name, value))
  return fields
}

export function matchesFields(matcher: unknown, fields: Record<string, string>): boolean {
  if (matcher === undefined || matcher === null) return true
  if (typeof matcher === 'function') {
    return Boolean((matcher as (headers: Record<string, string>) => unknown)({ ...fields }))
  }
  if (typeof matcher !== 'object') return false
  for (const name of Object.keys(matcher)) {
    if (!matchesField((matcher as Record<string, unknown>)[name], fields[name.toLowerCase()])) return false
  }
  return true
}

/** A field that is absent never matches. */
export function matchesField(matcher: unknown, value: string | undefined): boolean {
  return value !== undefined && matchesText(matcher, value)
}
