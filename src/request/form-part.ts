/** The parts of a multipart/form-data body (RFC 7578; WHATWG HTML, multipart/form-data encoding). */
import { loadCrypto } from '../base/node/lazy-modules.ts'

export interface FilePart {
  readonly name?: unknown
  readonly type?: unknown
  readonly size?: unknown
  stream(): AsyncIterable<Uint8Array>
}

/** Drawn from the crypto generator: a predictable boundary lets content forge parts (CVE-2025-22150). */
export function newBoundary(): string {
  return `----formdata-undici-0${String(loadCrypto().randomInt(0, 10 ** 11)).padStart(11, '0')}`
}

export function isFile(value: unknown): value is FilePart {
  return typeof value === 'object' && value !== null && typeof (value as FilePart).stream === 'function'
}

/**
 * What stands before the content of a part: the delimiter and its fields. `file` is null for a text value.
 */
export function headOfPart(boundary: string, name: string, file: FilePart | null): string {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(withCrLf(name))}"`
  if (file === null) return `${disposition}\r\n\r\n`
  const fileName = escaped(typeof file.name === 'string' ? file.name : 'blob')
  return `${disposition}; filename="${fileName}"\r\nContent-Type: ${typeOf(file)}\r\n\r\n`
}

/** Line ends of names and text values, not of file names, are CRLF in a form submission. */
export function withCrLf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

/** The escapes that browsers use inside of quoted names. */
function escaped(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
}

/** The type comes from outside: anything but printable ASCII could add lines to the head of the part. */
function typeOf({ type }: FilePart): string {
  return typeof type === 'string' && /^[\x20-\x7e]+$/.test(type) ? type : 'application/octet-stream'
}

export async function* chunksOf(pieces: readonly (Uint8Array | FilePart)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) yield piece
    else yield* piece.stream()
  }
}
