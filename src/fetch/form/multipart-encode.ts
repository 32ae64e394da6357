/** Encodes a form as multipart/form-data, as the WHATWG HTML standard says. */

import { chunksOf, type FilePart, headOfPart, isFile, withCrLf } from '../../request/form-part.ts'
import type { PulledOrigin } from '../body/origin.ts'

export interface EncodedForm extends PulledOrigin {
  readonly contentType: string
  /** The whole body if the form contains no file, else null. */
  bytes(): Uint8Array | null
}

export function encodeMultipart(form: Iterable<readonly [string, unknown]>, boundary: string): EncodedForm {
  const pieces: (Buffer | FilePart)[] = []
  let length: number | null = 0
  let text = ''
  const flush = (): void => {
    const bytes = Buffer.from(text)
    text = ''
    pieces.push(bytes)
    if (length !== null) length += bytes.length
  }
  for (const [name, value] of form) {
    if (isFile(value)) {
      text += headOfPart(boundary, String(name), value)
      flush()
      pieces.push(value)
      length = length !== null && Number.isSafeInteger(value.size) ? length + (value.size as number) : null
      text = '\r\n'
    } else {
      text += `${headOfPart(boundary, String(name), null)}${withCrLf(String(value))}\r\n`
    }
  }
  // Also without fields: most servers reject an empty body as multipart.
  text += `--${boundary}--\r\n`
  flush()
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length,
    chunks: () => chunksOf(pieces),
    bytes: () => (pieces.length === 1 ? (pieces[0] as Buffer) : null),
  }
}
