/** The public functions for MIME types, under the names that programs written for undici use. */
import { type MimeType as MIMEType, parseMimeType, serializeMimeType } from './mime-type.ts'

export type { MimeType as MIMEType } from './mime-type.ts'

/**
 * Parses a MIME type as the WHATWG MIME Sniffing standard says. Returns `'failure'` for anything else, also
 * for a value that is not a string.
 *
 * @example
 * parseMIMEType('Text/HTML; charset=utf-8').essence // 'text/html'
 */
export function parseMIMEType(input: string): MIMEType | 'failure' {
  return (typeof input === 'string' ? parseMimeType(input) : null) ?? 'failure'
}

/**
 * The text of a MIME type. Values of parameters that are not tokens are quoted.
 *
 * @throws {TypeError} for anything but a record as `parseMIMEType` returns it
 */
export function serializeAMimeType(mimeType: MIMEType): string {
  if (!isRecord(mimeType)) throw new TypeError('mimeType must be a MIME type record')
  return serializeMimeType(mimeType)
}

/** Callers may pass on `'failure'` unchecked. */
function isRecord(value: unknown): value is MIMEType {
  if (typeof value !== 'object' || value === null) return false
  const { essence, parameters } = value as Partial<MIMEType>
  if (typeof essence !== 'string' || !(parameters instanceof Map)) return false
  return [...parameters].every((pair) => pair.every((item) => typeof item === 'string'))
}
