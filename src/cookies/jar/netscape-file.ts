/**
 * Owns the `cookies.txt` format that curl, wget and browser extensions write: a line for each cookie, with
 * seven fields between tabs. It has no place for SameSite and for the time of creation.
 */
import { isAddress } from './host.ts'
import type { StoredCookie } from './stored-cookie.ts'

const HEAD = '# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n'

/** Makes a comment of the line for older readers, which would show such cookies to scripts. */
const HTTP_ONLY = '#HttpOnly_'

export function writeNetscape(cookies: readonly StoredCookie[]): string {
  return HEAD + cookies.map(lineOf).join('')
}

/** Empty for a cookie that contains a tab, which the format cannot hold. */
function lineOf({ name, value, domain, hostOnly, path, secure, httpOnly, expires }: StoredCookie): string {
  const fields = [
    `${httpOnly ? HTTP_ONLY : ''}${hostOnly ? '' : '.'}${withoutBrackets(domain)}`,
    hostOnly ? 'FALSE' : 'TRUE',
    path,
    secure ? 'TRUE' : 'FALSE',
    // Zero means the end of the session; rounding up keeps a cookie of the first second of 1970 from that.
    expires === null ? '0' : String(Math.ceil(expires / 1000)),
    name,
    value,
  ]
  return fields.some((field) => field.includes('\t')) ? '' : `${fields.join('\t')}\n`
}

/** curl writes IPv6 addresses as they are. */
function withoutBrackets(domain: string): string {
  return domain.startsWith('[') ? domain.slice(1, -1) : domain
}

/** The cookies of a file, oldest first. Comments and lines that are not cookies are skipped, as curl does. */
export function readNetscape(text: string, now: number): StoredCookie[] {
  const cookies: StoredCookie[] = []
  // Editors of Windows write a byte order mark.
  for (const line of text.replace(/^\ufeff/, '').split('\n')) {
    const cookie = readLine(line.endsWith('\r') ? line.slice(0, -1) : line, now)
    if (cookie !== null) cookies.push(cookie)
  }
  return cookies
}

function readLine(line: string, now: number): StoredCookie | null {
  const httpOnly = line.startsWith(HTTP_ONLY)
  if (line.startsWith('#') && !httpOnly) return null
  const fields = (httpOnly ? line.slice(HTTP_ONLY.length) : line).split('\t')
  // Editors cut the tab before an empty value.
  if (fields.length !== 6 && fields.length !== 7) return null
  const [host = '', wide = '', path = '', secure = '', expires = '', name = '', value = ''] = fields
  const expiry = readExpiry(expires)
  if (expiry === undefined) return null
  const domain = withBrackets((host.startsWith('.') ? host.slice(1) : host).toLowerCase())
  return {
    name,
    value,
    domain,
    hostOnly: wide.toUpperCase() !== 'TRUE' || isAddress(domain),
    path,
    secure: secure.toUpperCase() === 'TRUE',
    httpOnly,
    sameSite: null,
    expires: expiry,
    creationTime: now,
    lastAccessTime: now,
    order: 0,
  }
}

function withBrackets(domain: string): string {
  return domain.includes(':') ? `[${domain}]` : domain
}

/** Some writers add a fraction. Undefined if it is not a number. */
function readExpiry(text: string): number | null | undefined {
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return undefined
  const seconds = Number(text)
  return seconds === 0 ? null : seconds * 1000
}
