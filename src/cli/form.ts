/** A form with parts, as `--form` describes it (RFC 7578), in the bytes that curl sends. */
import { basename, extname } from 'node:path'
import { UsageError } from './option-values.ts'

/** As curl guesses them. */
const TYPES: Readonly<Record<string, string>> = {
  '.gif': 'image/gif',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.pdf': 'application/pdf',
  '.xml': 'application/xml',
}

/** What follows a value: `;type=text/html;filename=a.html`. */
const PARAMETERS = /;\s*(type|filename)=("(?:[^"\\]|\\.)*"|.*?)\s*(?=;\s*(?:type|filename)=|$)/gs

export interface Form {
  readonly type: string
  readonly body: Buffer
}

/** `read` gets the name of a file, `-` for standard input. */
export async function formOf(
  parts: readonly string[],
  boundary: string,
  read: (name: string) => Promise<Buffer>,
): Promise<Form> {
  const pieces: (string | Buffer)[] = []
  for (const part of parts) {
    const [, name, sign, given] = /^([^=]+)=([@<]?)(.*)$/s.exec(part) ?? []
    if (name === undefined) throw new UsageError("--form is written 'name=value' or 'name=@FILE'")
    const [, quoted, rest = given!] = /^("(?:[^"\\]|\\.)*")(.*)$/s.exec(given!) ?? []
    const parameters = Object.fromEntries([...rest.matchAll(PARAMETERS)].map(([, key, text]) => [key, text]))
    const value = unquoted(quoted ?? rest.replace(PARAMETERS, ''))
    const content = sign === '' ? value : await read(value)
    const known = parameters['filename'] === undefined ? null : unquoted(parameters['filename'])
    const file = known ?? (sign === '@' ? basename(value) : null)
    const guessed = TYPES[extname(file ?? '').toLowerCase()] ?? 'application/octet-stream'
    const type = parameters['type'] ?? (file === null ? null : guessed)
    pieces.push(
      `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`,
      file === null ? '' : `; filename="${escaped(file)}"`,
      type === null ? '' : `\r\nContent-Type: ${type}`,
      '\r\n\r\n',
      content,
      '\r\n',
    )
  }
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string)))
  return { type: `multipart/form-data; boundary=${boundary}`, body }
}

function unquoted(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1).replace(/\\(["\\])/g, '$1') : text
}

/** As in HTML: a name can neither end its parameter nor the line. */
function escaped(name: string): string {
  return name.replace(
    /["\r\n]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
