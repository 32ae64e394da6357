/** `data:` URLs, processed as the Fetch standard says. */
import { parseMimeType, serializeMimeType } from '../mime/mime-type.ts'

const DEFAULT_TYPE = 'text/plain;charset=US-ASCII'
const BASE64_AT_END = /; *base64$/i
const BASE64 = /^[A-Za-z0-9+/]*$/

/** Null for a malformed URL. */
export function parseDataUrl(url: URL): { mimeType: string; body: Uint8Array<ArrayBuffer> } | null {
  const { href } = url
  const hash = href.indexOf('#')
  const input = href.slice('data:'.length, hash === -1 ? href.length : hash)
  const comma = input.indexOf(',')
  if (comma === -1) return null
  let type = input.slice(0, comma).replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
  const data = percentDecode(input.slice(comma + 1))
  const isBase64 = BASE64_AT_END.test(type)
  const body = isBase64 ? decodeBase64(data) : new Uint8Array(Buffer.from(data, 'latin1'))
  if (body === null) return null
  if (isBase64) type = type.replace(BASE64_AT_END, '')
  const parsed = parseMimeType(type.startsWith(';') ? `text/plain${type}` : type)
  return { mimeType: parsed === null ? DEFAULT_TYPE : serializeMimeType(parsed), body }
}

/** Each character of the result is a byte. So is each of a serialised URL, which is ASCII. */
function percentDecode(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The forgiving decoding of the WHATWG Infra standard: white space is skipped and padding may be missing. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  let data = text.replace(/[\t\n\f\r ]/g, '')
  if (data.length % 4 === 0) data = data.replace(/={1,2}$/, '')
  if (data.length % 4 === 1 || !BASE64.test(data)) return null
  return new Uint8Array(Buffer.from(data, 'base64'))
}
