/**
 * FormData → multipart/form-data bytes (RFC 7578), for any object that behaves like FormData.
 */
import type { IterableForm } from './body-source.ts'
import { chunksOf, type FilePart, headOfPart, isFile, newBoundary, withCrLf } from './form-part.ts'

export interface FormBody {
  readonly contentType: string
  /** Null when the size of a part is unknown. */
  readonly length: number | null
  chunks(): AsyncIterable<Uint8Array>
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
    if (isFile(value)) {
      addText(headOfPart(boundary, name, value))
      add(value, value.size)
      addText('\r\n')
    } else {
      addText(`${headOfPart(boundary, name, null)}${withCrLf(String(value))}\r\n`)
    }
  }
  addText(`--${boundary}--\r\n`)

  return { contentType: `multipart/form-data; boundary=${boundary}`, length, chunks: () => chunksOf(pieces) }
}
