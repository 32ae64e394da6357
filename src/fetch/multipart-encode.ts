/** Encodes a form as multipart/form-data, as the WHATWG HTML standard says. */

interface FilePart {
  readonly name?: unknown
  readonly type?: unknown
  readonly size?: unknown
  stream(): AsyncIterable<Uint8Array>
}

export interface EncodedForm {
  readonly contentType: string
  /** Null if a part does not have a known size. */
  readonly length: number | null
  chunks(): AsyncIterable<Uint8Array>
  /** The whole body if the form contains no file, else null. */
  bytes(): Uint8Array | null
}

export function encodeMultipart(form: Iterable<readonly [string, unknown]>, boundary: string): EncodedForm {
  const pieces: (Buffer | FilePart)[] = []
  let length: number | null = 0
  let files = 0
  let text = ''
  const flush = (): void => {
    const bytes = Buffer.from(text)
    text = ''
    pieces.push(bytes)
    if (length !== null) length += bytes.length
  }
  for (const [name, value] of form) {
    text += `--${boundary}\r\ncontent-disposition: form-data; name="${escaped(withCrLf(String(name)))}"`
    if (isFile(value)) {
      const fileName = typeof value.name === 'string' ? value.name : 'blob'
      text += `; filename="${escaped(fileName)}"\r\ncontent-type: ${typeOf(value)}\r\n\r\n`
      flush()
      files++
      pieces.push(value)
      length = length !== null && Number.isSafeInteger(value.size) ? length + (value.size as number) : null
      text = '\r\n'
    } else {
      text += `\r\n\r\n${withCrLf(String(value))}\r\n`
    }
  }
  // A form without fields is an empty body.
  if (text !== '') text += `--${boundary}--\r\n`
  flush()
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length,
    chunks: () => chunksOf(pieces),
    bytes: () => (files === 0 ? (pieces[0] as Buffer) : null),
  }
}

async function* chunksOf(pieces: readonly (Buffer | FilePart)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece
    else yield* piece.stream()
  }
}

function isFile(value: unknown): value is FilePart {
  return typeof value === 'object' && value !== null && typeof (value as FilePart).stream === 'function'
}

/** The type comes from the caller: anything but printable ASCII could add lines to the head of the part. */
function typeOf(file: FilePart): string {
  const { type } = file
  return typeof type === 'string' && /^[\x20-\x7e]+$/.test(type) ? type : 'application/octet-stream'
}

/** Applies to names and text values, not to file names. */
function withCrLf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

function escaped(text: string): string {
  return text.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')
}
