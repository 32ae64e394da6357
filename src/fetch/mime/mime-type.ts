/** MIME types, parsed and serialised as the WHATWG MIME Sniffing standard says. */

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

const TOKEN = /^[!#$%&'*+\-.^_`|~A-Za-z0-9]+$/
/** The characters allowed in a quoted string, and so in the value of a parameter. */
const QUOTED = /^[\t\x20-\x7e\x80-\xff]*$/
const QUOTED_STRING = /"([^"\\]*(?:\\.[^"\\]*)*\\?)"?/sy
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
  if (!TOKEN.test(type) || !TOKEN.test(subtype)) return null
  const lowerType = type.toLowerCase()
  const lowerSubtype = subtype.toLowerCase()
  return {
    type: lowerType,
    subtype: lowerSubtype,
    essence: `${lowerType}/${lowerSubtype}`,
    parameters: parseParameters(input, end),
  }
}

/** Starts at the first semicolon. If a name occurs more than once, its first value counts. */
function parseParameters(input: string, start: number): Map<string, string> {
  const parameters = new Map<string, string>()
  let at = start
  while (at < input.length) {
    at++
    const nameEnd = firstOf(input, ';=', at)
    const name = input.slice(at, nameEnd).replace(SPACE_BEFORE, '').toLowerCase()
    at = nameEnd
    if (at >= input.length) break
    if (input[at] === ';') continue
    at++
    let value: string
    if (input[at] === '"') {
      const quoted = readQuoted(input, at)
      value = quoted.value
      // Anything after the closing quote is ignored.
      at = firstOf(input, ';', quoted.end)
    } else {
      const valueEnd = firstOf(input, ';', at)
      value = input.slice(at, valueEnd).replace(SPACE_BEHIND, '')
      at = valueEnd
      if (value === '') continue
    }
    if (TOKEN.test(name) && QUOTED.test(value) && !parameters.has(name)) parameters.set(name, value)
  }
  return parameters
}

/** The position of the first of these characters; the length of the text if there is none. */
function firstOf(text: string, characters: string, from: number): number {
  let at = from
  while (at < text.length && !characters.includes(text[at]!)) at++
  return at
}

/**
 * Reads the quoted string that starts at `start`, and returns where it ends. The closing quote may be
 * missing.
 */
function readQuoted(text: string, start: number): { value: string; end: number } {
  QUOTED_STRING.lastIndex = start
  const [whole, content] = QUOTED_STRING.exec(text) as unknown as [string, string]
  // A trailing backslash is literal.
  return { value: content.replace(/\\(.)/gs, '$1'), end: start + whole.length }
}

export function serializeMimeType({ essence, parameters }: MimeType): string {
  let text = essence
  for (const [name, value] of parameters) {
    text += `;${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`
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
  for (const value of splitValues(contentTypeValues.join(', '))) {
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

/** Splits at commas outside quotes. */
function splitValues(text: string): string[] {
  const values: string[] = []
  let start = 0
  let at = 0
  while (at < text.length) {
    if (text[at] === '"') {
      at = readQuoted(text, at).end
    } else if (text[at] === ',') {
      values.push(text.slice(start, at))
      at++
      start = at
    } else {
      at++
    }
  }
  values.push(text.slice(start))
  return values
}
