/** Which requests a stored response answers (RFC 9111 §4.1). */
import { setOwn } from '../../base/object/own-record.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldText, joinedLines } from '../../relay/fields.ts'

/** Request fields that a response depends on, with the value that they had; null for an absent one. */
export type VaryValues = Record<string, string | null>

/** Whether one of the names is of a field whose value the cache does not see. */
export function namesHidden(names: readonly string[], hidden: ReadonlySet<string>): boolean {
  return hidden.size > 0 && names.some((name) => hidden.has(name))
}

/** The values that the request had; undefined if there are no names. */
export function varyValues(names: readonly string[], request: HeaderObject): VaryValues | undefined {
  if (names.length === 0) return undefined
  const values: VaryValues = {}
  for (const name of names) setOwn(values, name, fieldText(request, name))
  return values
}

/** Exact comparison: a value in another spelling is another value, and absent matches absent alone. */
export function varyMatches(vary: VaryValues | undefined, request: HeaderObject | undefined): boolean {
  if (vary === undefined || vary === null) return true
  for (const name of Object.keys(vary)) {
    const value = request === undefined ? null : fieldText(request, name)
    if (normalised(name, vary[name]) !== value) return false
  }
  return true
}

/** Stores of others may keep a repeated field as a list. */
function normalised(name: string, value: string | readonly string[] | null | undefined): string | null {
  if (value === null || value === undefined) return null
  return joinedLines(name, value)
}

/** One text for one set of values, for stores that look variants up. */
export function varyText(vary: VaryValues | undefined): string {
  if (vary === undefined || vary === null) return ''
  return JSON.stringify(
    Object.keys(vary)
      .sort()
      .map((name) => [name, normalised(name, vary[name])]),
  )
}
