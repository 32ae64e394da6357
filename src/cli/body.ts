/** A body that was kept: without its content coding, as text or as bytes. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { charsetOf, NOT_TEXT } from './body-text.ts'
import { field, type Incoming } from './message.ts'

/** A few bytes of compressed zeros must not fill the memory. */
const MOST_DECODED = 64 * 1024 * 1024

const DECODERS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}

/** A body without its content coding. The text of a binary one is null. */
export function contentOf({ headers, body, size }: Incoming) {
  const mimeType = field(headers, 'content-type') ?? ''
  const isWhole = body.length === size
  const bytes = isWhole ? decode(body, field(headers, 'content-encoding')) : body
  return { mimeType, bytes, text: textOf(bytes, mimeType), isWhole }
}

/** Returns the bytes unchanged if they cannot be decoded. */
function decode(body: Buffer, coding: string | null): Buffer {
  try {
    return DECODERS[coding?.toLowerCase() ?? '']?.(body, { maxOutputLength: MOST_DECODED }) ?? body
  } catch {
    return body
  }
}

/** Null when these bytes are not text in the charset they claim, nor in UTF-8. */
export function textOf(data: Buffer, mimeType: string): string | null {
  for (const label of [charsetOf(mimeType), 'utf-8']) {
    try {
      const text = new TextDecoder(label, { fatal: true }).decode(data)
      return NOT_TEXT.test(text) ? null : text
    } catch {}
  }
  return null
}
