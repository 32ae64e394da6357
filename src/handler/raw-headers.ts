/** `util`: raw header lists, as handlers get them, in other forms. */
import { ownValue, setOwn } from '../base/object/own-record.ts'
import { lowerCaseName } from '../protocol/header-names.ts'

/** A name, or a value. Buffers are Latin-1. */
type RawPart = string | Uint8Array

/** Header fields by lower-case name. */
type ParsedHeaders = Record<string, string | string[]>

function textOf(part: unknown): string {
  return part instanceof Uint8Array ? Buffer.from(part).toString('latin1') : String(part)
}

/** The name in lower case. */
export function headerNameToString(name: RawPart): string {
  return lowerCaseName(textOf(name))
}

/**
 * The fields of a flat list (name, value, name, value …), added to `obj`, which is returned: names in lower
 * case, an array where a name comes repeatedly.
 */
export function parseHeaders(
  list: readonly (RawPart | readonly RawPart[])[],
  obj: ParsedHeaders = {},
): ParsedHeaders {
  if (!Array.isArray(list)) throw new TypeError('headers must be an array')
  if (list.length % 2 !== 0) throw new TypeError('headers array must be even')
  for (let i = 0; i < list.length; i += 2) {
    const name = headerNameToString(list[i] as RawPart)
    const given: unknown = list[i + 1]
    const value = Array.isArray(given) ? given.map(textOf) : textOf(given)
    const before = ownValue(obj, name)
    setOwn(obj, name, before === undefined ? value : [before, value].flat())
  }
  return obj
}
