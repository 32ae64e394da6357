/**
 * FormData → multipart/form-data bytes (RFC 7578), for any object that behaves like FormData.
 */
import { loadCrypto } from '../base/lazy-modules.ts'
import type { IterableForm } from './body-source.ts'

export interface FormBody {
  readonly contentType: string
  /** Null when the size of a part is unknown. */
  readonly length: number | null
  chunks(): AsyncIterable<Uint8Array>
}

interface FilePart {
  readonly name?: unknown
  readonly type?: unknown
  readonly size?: unknown
  stream(): AsyncIterable<Uint8Array>
}

/** Drawn from the crypto generator: a predictable boundary lets content forge parts (CVE-2025-22150). */
function newBoundary(): string {
  return `----formdata-undici-0${String(loadCrypto().randomInt(0, 10 ** 11)).padStart(11, '0')}`
}

export function encodeForm(form: IterableForm): FormBody {
  const boundary = newBoundary()
  const pieces: (Uint8Array | FilePart)[] = []
  let length: number | null = 0

  const add = (piece: Uint8Array | FilePart, size: unknown): void => {
    pieces.push(piece)
    length = length !== null && typeof size === 'number' && Number.isSafeInteger(size) ? length + size : null
  }
  const addText = (text: string): void => {
    const bytes = Buffer.from(text)
    add(bytes, bytes.byteLength)
  }

  for (const [name, value] of form) {
    const disposition = `--${boundary}\r\ncontent-disposition: form-data; name="${quote(normalise(name))}"`
    if (isFile(value)) {
      const fileName = quote(typeof value.name === 'string' ? value.name : 'blob')
      addText(`${disposition}; filename="${fileName}"\r\ncontent-type: ${contentTypeOf(value)}\r\n\r\n`)
      add(value, value.size)
      addText('\r\n')
    } else {
      addText(`${disposition}\r\n\r\n${normalise(String(value))}\r\n`)
    }
  }
  addText(`--${boundary}--\r\n`)

  return { contentType: `multipart/form-data; boundary=${boundary}`, length, chunks: () => chunksOf(pieces) }
}

async function* chunksOf(pieces: readonly (Uint8Array | FilePart)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) yield piece
    else yield* piece.stream()
  }
}

function isFile(value: unknown): value is FilePart {
  return typeof value === 'object' && value !== null && typeof (value as FilePart).stream === 'function'
}

/** The type comes from outside: anything but printable ASCII could add lines to the part's head. */
function contentTypeOf(file: FilePart): string {
  return typeof file.type === 'string' && /^[\x20-\x7e]+$/.test(file.type)
    ? file.type
    : 'application/octet-stream'
}

/** Line ends of names and text values are CRLF in a form submission. */
function normalise(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

/** The escapes browsers use inside quoted names (WHATWG HTML, multipart/form-data encoding). */
function quote(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
}
