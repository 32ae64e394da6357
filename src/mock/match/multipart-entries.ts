/**
 * Parses multipart form data (RFC 7578) for comparison. Boundaries are random, so the bytes cannot be
 * compared.
 */
const CRLF = '\r\n'

/** The content of a file is not compared. */
export type FormEntry = readonly [name: string, fileName: string | null, content: string]

/** Null for a text that is not such an encoding. */
export function multipartEntries(text: string): FormEntry[] | null {
  if (!text.startsWith('--')) return null
  const boundary = text.slice(0, text.indexOf(CRLF))
  const entries: FormEntry[] = []
  const parts = `${CRLF}${text}`.split(`${CRLF}${boundary}`)
  for (const part of parts.slice(1)) {
    if (part.startsWith('--')) return entries
    const end = part.indexOf(CRLF + CRLF)
    if (end === -1) return null
    const disposition = /^content-disposition:.*$/im.exec(part.slice(0, end))?.[0] ?? ''
    const name = /\bname="([^"]*)"/.exec(disposition)?.[1]
    if (name === undefined) return null
    entries.push([name, /\bfilename="([^"]*)"/.exec(disposition)?.[1] ?? null, part.slice(end + 4)])
  }
  return null
}
