/** Decodes the bodies of forms: multipart/form-data (RFC 7578) and application/x-www-form-urlencoded. */

import { asBuffer } from '../../base/bytes/source-bytes.ts'
import { isToken } from '../../protocol/ascii.ts'

/** A field of a form: text or a file. */
export type FormEntry =
  | { readonly name: string; readonly value: string }
  | {
      readonly name: string
      readonly filename: string
      readonly contentType: string
      readonly bytes: Uint8Array
    }

const CRLF = Buffer.from('\r\n')

/** @throws {TypeError} that says what is wrong with the bytes. */
export function decodeMultipart(input: Uint8Array, boundary: string): readonly FormEntry[] {
  const bytes = asBuffer(input)
  const delimiter = Buffer.from(`--${boundary}`, 'latin1')
  // Even an empty part needs this line break, in addition to the one that ends its head.
  const partEnd = Buffer.concat([CRLF, delimiter])
  const entries: FormEntry[] = []
  // The text before the first boundary is for readers that do not understand multipart (RFC 2046 §5.1.1).
  let at = bytes.indexOf(delimiter)
  if (at === -1 || (at > 0 && !isCrLf(bytes, at - 2))) {
    throw new TypeError('no boundary found in multipart body')
  }
  for (;;) {
    at += delimiter.length
    if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) return entries
    while (bytes[at] === 0x20 || bytes[at] === 0x09) at++
    if (!isCrLf(bytes, at)) throw new TypeError('a boundary is not followed by a line break')
    const { name, filename, contentType, end: start } = readHead(bytes, at + 2)
    const end = bytes.indexOf(partEnd, start)
    if (end === -1) throw new TypeError('a part has no boundary behind it')
    const content = bytes.subarray(start, end)
    // A byte order mark is part of the value.
    if (filename === null) entries.push({ name, value: content.toString() })
    else entries.push({ name, filename, contentType: contentType ?? 'text/plain', bytes: content })
    at = end + 2
  }
}

/** The relevant fields in the head of a part, and where it ends. */
function readHead(bytes: Buffer, start: number) {
  let name: string | null = null
  let filename: string | null = null
  let contentType: string | null = null
  let at = start
  for (;;) {
    if (isCrLf(bytes, at)) {
      if (name === null) throw new TypeError('a part has no name')
      return { name, filename, contentType, end: at + 2 }
    }
    const end = bytes.indexOf(CRLF, at)
    if (end === -1) throw new TypeError('the head of a part does not end')
    const line = bytes.subarray(at, end)
    const colon = line.indexOf(0x3a)
    const field = line.toString('latin1', 0, Math.max(colon, 0))
    if (!isToken(field)) throw new TypeError('a line in the head of a part is no field')
    const value = line.subarray(colon + 1)
    const lower = field.toLowerCase()
    if (lower === 'content-disposition') ({ name, filename } = readDisposition(value))
    else if (lower === 'content-type') contentType = value.toString('latin1').trim()
    at = end + 2
  }
}

/**
 * Parameters are decoded as UTF-8, regardless of the other charsets in RFC 7578 §5.1: all browsers write
 * UTF-8.
 */
function readDisposition(value: Buffer): { name: string | null; filename: string | null } {
  const text = value.toString()
  const kind = /^[\t ]*form-data[\t ]*(?=;|$)/i.exec(text)
  if (kind === null) throw new TypeError('the content-disposition of a part is not form-data')
  let name: string | null = null
  let filename: string | null = null
  let encoded: string | null = null
  let rest = text.slice(kind[0].length)
  while (rest.trim() !== '') {
    const match = /^;[\t ]*([^=;"\t ]+)[\t ]*=[\t ]*(?:"([^"]*)"|([^;"\t ]*))[\t ]*(?=;|$)/.exec(rest)
    if (match === null) throw new TypeError('the content-disposition of a part cannot be read')
    const content = unescaped(match[2] ?? match[3] ?? '')
    const key = match[1]!.toLowerCase()
    if (key === 'name') name ??= content
    else if (key === 'filename') filename ??= content
    else if (key === 'filename*') {
      const decoded = decodeExtended(match[3] ?? '')
      encoded ??= decoded
    }
    rest = rest.slice(match[0].length)
  }
  // If both are present, `filename` is a fallback for readers that do not know `filename*` (RFC 6266 §4.3).
  return { name, filename: encoded ?? filename }
}

/** The value of a parameter with a charset (RFC 8187 §3.2.1). Throws if it is malformed, or not in UTF-8. */
function decodeExtended(value: string): string {
  const match = /^utf-8'[^']*'(.*)$/i.exec(value)
  try {
    if (match !== null) return decodeURIComponent(match[1]!)
  } catch {
    // Not in UTF-8.
  }
  throw new TypeError('the filename* of a part is not in UTF-8')
}

function unescaped(text: string): string {
  return text.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"')
}

function isCrLf(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x0d && bytes[at + 1] === 0x0a
}

export function decodeUrlEncoded(bytes: Uint8Array): URLSearchParams {
  // A leading question mark belongs to the first name here; without the ampersand it would be dropped.
  return new URLSearchParams(`&${asBuffer(bytes).toString()}`)
}
