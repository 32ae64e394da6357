/** MIME types, parsed and serialised as the WHATWG MIME Sniffing standard says. */

import { isFieldValue, isToken } from '../../protocol/ascii.ts'

/** A parsed MIME type. */
export interface MimeType {
  /** The part before the slash, in lower case. */
  readonly type: string
  /** The part after the slash, in lower case. */
  readonly subtype: string
  /** `type/subtype`. */
  readonly essence: string
  /** In order, with names in lower case and values unchanged. */
  readonly parameters: Map<string, string>
}

/** What follows the closing quote is ignored, and the quote may be missing. */
const PARAMETER = /;([^;=]*)(?:=(?:"([^"\\]*(?:\\.[^"\\]*)*\\?)"?[^;]*|([^;]*)))?/gs
/** Up to a comma outside quotes. */
const LIST_ITEM = /[^",]*(?:"[^"\\]*(?:\\.[^"\\]*)*\\?"?[^",]*)*/gs
const SPACE_AROUND = /^[\t\n\r ]+|[\t\n\r ]+$/g
const SPACE_BEHIND = /[\t\n\r ]+$/
const SPACE_BEFORE = /^[\t\n\r ]+/

/** Null for anything but a MIME type. */
export function parseMimeType(text: string): MimeType | null {
  const input = text.replace(SPACE_AROUND, '')
  const slash = input.indexOf('/')
  if (slash === -1) return null
  const semicolon = input.indexOf(';', slash)
  const end = semicolon === -1 ? input.length : semicolon
  const type = input.slice(0, slash)
  const subtype = input.slice(slash + 1, end).replace(SPACE_BEHIND, '')
  if (!isToken(type) || !isToken(subtype)) return null
  const lowerType = type.toLowerCase()
  const lowerSubtype = subtype.toLowerCase()
  return {
    type: lowerType,
    subtype: lowerSubtype,
    essence: `${lowerType}/${lowerSubtype}`,
    parameters: parseParameters(input.slice(end)),
  }
}

/** If a name occurs more than once, its first value counts. */
function parseParameters(input: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const [, before, quoted, plain = ''] of input.matchAll(PARAMETER)) {
    const name = before!.replace(SPACE_BEFORE, '').toLowerCase()
    // A trailing backslash is literal.
    const value = quoted?.replace(/\\(.)/gs, '$1') ?? plain.replace(SPACE_BEHIND, '')
    if (quoted === undefined && value === '') continue
    if (isToken(name) && isFieldValue(value) && !parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

export function serializeMimeType({ essence, parameters }: MimeType): string {
  let text = essence
  for (const [name, value] of parameters) {
    text += `;${name}=${isToken(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
  }
  return text
}

/**
 * The MIME type of a header with these values: the last valid one. It can inherit the charset of an earlier
 * value with the same essence.
 */
export function extractMimeType(contentTypeValues: readonly string[]): MimeType | null {
  let charset: string | null = null
  let found: MimeType | null = null
  for (const [value] of contentTypeValues.join(', ').matchAll(LIST_ITEM)) {
    const type = parseMimeType(value)
    if (type === null || type.essence === '*/*') continue
    if (type.essence !== found?.essence) {
      charset = type.parameters.get('charset') ?? null
    } else if (charset !== null && !type.parameters.has('charset')) {
      type.parameters.set('charset', charset)
    }
    found = type
  }
  return found
}
