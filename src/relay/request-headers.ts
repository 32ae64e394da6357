/**
 * The headers of a request as a caller gave them, in any of the accepted shapes: looking for a name,
 * replacing some.
 */
import { withoutPollution } from '../base/object/own-options.ts'
import type { DispatchOptions, HeadersInput, HeaderValueInput } from '../request/dispatch-options.ts'
import { headerPairs, isPairIterable } from '../request/headers-input.ts'

/** By name in lower case; null for a field that is only left out. */
export type Replacements = Readonly<Record<string, string | null>>

type GivenHeaders = HeadersInput | null | undefined

function isNamed(name: unknown, wanted: string): boolean {
  return typeof name === 'string' && name.length === wanted.length && name.toLowerCase() === wanted
}

/** `name` in lower case. */
export function hasHeader(headers: GivenHeaders, name: string): boolean {
  for (const [given, value] of headerPairs(headers)) {
    if (value !== undefined && isNamed(given, name)) return true
  }
  return false
}

/** The values of all fields of this name, which is in lower case. */
export function headerValues(headers: GivenHeaders, name: string): string[] {
  const values: string[] = []
  for (const [given, value] of headerPairs(headers)) {
    if (value === undefined || !isNamed(given, name)) continue
    for (const one of Array.isArray(value) ? value : [value]) values.push(one === null ? '' : String(one))
  }
  return values
}

/** A flat copy without the fields of these names, which are in lower case, and with the new ones. */
export function withHeaders(headers: GivenHeaders, replacements: Replacements): HeaderValueInput[] {
  const flat = keepHeaders(headers, (name) => !Object.hasOwn(replacements, name))
  for (const [name, value] of Object.entries(replacements)) if (value !== null) flat.push(name, value)
  return flat
}

/** A flat copy of the fields whose lower-case name passes. Other dispatchers take names that are Buffers. */
export function keepHeaders(headers: GivenHeaders, keeps: (name: string) => boolean): HeaderValueInput[] {
  const flat: HeaderValueInput[] = []
  for (const [name, value] of headerPairs(headers)) {
    const text = Buffer.isBuffer(name) ? name.toString('latin1') : String(name)
    if (keeps(text.toLowerCase())) flat.push(name as string, value as HeaderValueInput)
  }
  return flat
}

/** What can be read only once is copied, so that every attempt has the same headers. */
export function readableAgain(headers: GivenHeaders): GivenHeaders {
  const isIterator = typeof (headers as { next?: unknown } | null | undefined)?.next === 'function'
  return isIterator && isPairIterable(headers as object) ? withHeaders(headers, {}) : headers
}

/** The same options, or a copy whose headers can be read again. */
export function withReadableHeaders(opts: DispatchOptions): DispatchOptions {
  const headers = readableAgain(opts.headers)
  return headers === opts.headers ? opts : withoutPollution({ ...opts, headers })
}

/** A copy that later changes of the caller do not reach, and that can be sent repeatedly. */
export function ownOptions(opts: DispatchOptions): DispatchOptions {
  const copy = withoutPollution({ ...opts })
  if (copy.headers) copy.headers = readableAgain(copy.headers)
  return copy
}
