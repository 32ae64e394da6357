/** Request headers in any shape, read into an object with lower-case names; matchers for them. */
import { setOwn } from '../../base/object/own-record.ts'
import { headerPairs, isPairIterable } from '../../request/headers-input.ts'
import { matchesText, type TextMatcher } from './text-matcher.ts'

/**
 * Matchers by header name in any case, or one function for all headers. Headers not listed may have any
 * value.
 */
export type HeadersMatcher = Record<string, TextMatcher> | ((headers: Record<string, string>) => boolean)

/** Each field, with its name as given. Values that are not headers are rejected later, by `Request`. */
export function* eachField(headers: unknown): Generator<[name: string, value: unknown]> {
  for (const [name, value] of headerPairs(headers)) if (name !== undefined) yield [String(name), value]
}

/** Names in lower case; repeated and array values are joined by a comma. */
export function readFields(headers: unknown): Record<string, string> {
  const fields = Object.create(null) as Record<string, string>
  for (const [name, value] of eachField(headers)) {
    if (value === undefined) continue
    const lower = name.toLowerCase()
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    fields[lower] = fields[lower] === undefined ? text : `${fields[lower]}, ${text}`
  }
  return fields
}

/** Headers as an object for reply functions, names as given. A plain object is returned itself. */
export function fieldsObject(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers
  if (!Array.isArray(headers) && !isPairIterable(headers)) return headers
  const fields: Record<string, unknown> = {}
  for (const [name, value] of eachField(headers)) setOwn(fields, name, value)
  return fields
}

export function matchesFields(matcher: unknown, fields: Record<string, string>): boolean {
  if (matcher === undefined || matcher === null) return true
  if (typeof matcher === 'function') {
    return Boolean((matcher as (headers: Record<string, string>) => unknown)({ ...fields }))
  }
  if (typeof matcher !== 'object') return false
  return Object.entries(matcher).every(([name, wanted]) => matchesField(wanted, fields[name.toLowerCase()]))
}

/** A field that is absent never matches. */
export function matchesField(matcher: unknown, value: string | undefined): boolean {
  return value !== undefined && matchesText(matcher, value)
}
