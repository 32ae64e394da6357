/** Decodes a body to text, or finds that it is binary, and prints its beginning. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { field, type Incoming } from './exchange.ts'
import { clean, type TextLayout, wrap } from './text-layout.ts'

/** A page of a terminal; `-o` has the rest. */
const PREVIEW_LINES = 40
const HEX_ROWS = 12
/** A few bytes of compressed zeros must not fill the memory. */
const MOST_DECODED = 64 * 1024 * 1024
/** A megabyte of opening brackets must not become a triangle of spaces. */
const DEEPEST = 20

// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has them
const NOT_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

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
  return { mimeType, bytes, text: textOf(bytes, mimeType, isWhole), isWhole }
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
export function textOf(data: Buffer, mimeType: string, isWhole: boolean): string | null {
  const charset = /;\s*charset="?([\w.:-]+)/i.exec(mimeType)?.[1] ?? 'utf-8'
  for (const label of [charset, 'utf-8']) {
    try {
      // A character cut in two at the end of the kept bytes is left out.
      const text = new TextDecoder(label, { fatal: true }).decode(data, { stream: !isWhole })
      return NOT_TEXT.test(text) ? null : text
    } catch {}
  }
  return null
}

/** The beginning of a body, laid out for reading, with a note when there is more. */
export function preview(content: ReturnType<typeof contentOf>, layout: TextLayout): string[] {
  const { bytes: data, text, isWhole, mimeType } = content
  const isJson = isWhole && /[/+]json\b/i.test(mimeType)
  const lines = text === null ? hexRows(data, layout) : textLines(isJson ? prettyJson(text) : text, layout)
  const most = text === null ? HEX_ROWS : PREVIEW_LINES
  const note = '  … cut here; -o FILE saves it'
  const isCut = lines.length > most || !isWhole
  return [...lines.slice(0, most), ...(isCut ? [layout.paint('dim', note)] : [])]
}

function textLines(text: string, layout: TextLayout): string[] {
  if (text === '') return []
  const end = text.replaceAll('\r\n', '\n').replace(/\n$/, '')
  const lines = end.split('\n', PREVIEW_LINES + 1)
  return lines.flatMap((line) => wrap(clean(line), layout.columns - 2)).map((line) => `  ${line}`.trimEnd())
}

function hexRows(data: Buffer, layout: TextLayout): string[] {
  // Offset, hexadecimal and characters of 16 bytes take 75 cells.
  const perRow = layout.columns >= 75 ? 16 : 8
  const rows = Math.min(HEX_ROWS + 1, Math.ceil(data.length / perRow))
  return Array.from({ length: rows }, (_, i) => {
    const row = [...data.subarray(i * perRow, (i + 1) * perRow)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const signs = row.map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : '·')).join('')
    const offset = (i * perRow).toString(16).padStart(6, '0')
    return `  ${layout.paint('dim', offset)}  ${hex.padEnd(perRow * 3 - 1)}  ${signs}`
  })
}

/**
 * The same JSON with line breaks and indentation. Tokens are copied, not evaluated: numbers beyond the
 * precision of the runtime stay unchanged. Anything but JSON is returned unchanged.
 */
export function prettyJson(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let depth = 0
  const line = (change: number): string => {
    depth += change
    return `\n${'  '.repeat(Math.min(depth, DEEPEST))}`
  }
  return text.replace(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|\s+/g, (token) => {
    if (token[0] === '"') return token
    if (/^[[{].*[\]}]$/s.test(token)) return token[0]! + token.at(-1)
    if (token === '{' || token === '[') return token + line(1)
    if (token === '}' || token === ']') return line(-1) + token
    if (token === ',') return token + line(0)
    return token === ':' ? ': ' : ''
  })
}
