/** `data:` URLs, processed as the Fetch standard says. */
import { parseMimeType, serializeMimeType } from '../mime/mime-type.ts'

/** The content of a `data:` URL. */
export interface DataUrl {
  readonly mimeType: string
  readonly body: Uint8Array<ArrayBuffer>
}

const DEFAULT_TYPE = 'text/plain;charset=US-ASCII'
const BASE64_AT_END = /; *base64$/i
const BASE64 = /^[A-Za-z0-9+/]*$/

/** Null for a malformed URL. */
export function parseDataUrl(url: URL): DataUrl | null {
  const { href } = url
  const hash = href.indexOf('#')
  const input = href.slice('data:'.length, hash === -1 ? href.length : hash)
  const comma = input.indexOf(',')
  if (comma === -1) return null
  let type = input.slice(0, comma).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
  let body = percentDecode(input.slice(comma + 1))
  if (BASE64_AT_END.test(type)) {
    const decoded = decodeBase64(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1'),
    )
    if (decoded === null) return null
    body = decoded
    type = type.replace(BASE64_AT_END, '')
  }
  const parsed = parseMimeType(type.startsWith(';') ? `text/plain${type}` : type)
  return { mimeType: parsed === null ? DEFAULT_TYPE : serializeMimeType(parsed), body }
}

/** A serialised URL is ASCII: each character is a byte. */
function percentDecode(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const high = text[i] === '%' ? hexValue(text.charCodeAt(i + 1)) : -1
    const low = high === -1 ? -1 : hexValue(text.charCodeAt(i + 2))
    if (low === -1) {
      bytes[length++] = text.charCodeAt(i)
    } else {
      bytes[length++] = high * 16 + low
      i += 2
    }
  }
  return bytes.slice(0, length)
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** The forgiving decoding of the WHATWG Infra standard: white space is skipped and padding may be missing. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  let data = text.replace(/[\t\n\f\r ]/g, '')
  if (data.length % 4 === 0) data = data.replace(/={1,2}$/, '')
  if (data.length % 4 === 1 || !BASE64.test(data)) return null
  return new Uint8Array(Buffer.from(data, 'base64'))
}
