/**
 * The `cookies.txt` format of curl, wget and browser extensions: a line for each cookie, with seven fields
 * between tabs. It has no field for SameSite and for the time of creation.
 */
import { withoutBrackets } from '../../base/address/server-name.ts'
import { isAddress } from './host.ts'
import type { StoredCookie } from './stored-cookie.ts'

const HEAD = '# Netscape HTTP Cookie File\n# https://curl.se/docs/http-cookies.html\n\n'

/** Makes a comment of the line for older readers, which would show such cookies to scripts. */
const HTTP_ONLY = '#HttpOnly_'

/** Some writers add a fraction. */
const SECONDS = /^-?\d{1,15}(?:\.\d{1,15})?$/

export function writeNetscape(cookies: readonly StoredCookie[]): string {
  return HEAD + cookies.map(lineOf).join('')
}

/** Empty for a cookie that contains a tab, which the format cannot hold. */
function lineOf({ name, value, domain, hostOnly, path, secure, httpOnly, expires }: StoredCookie): string {
  const fields = [
    // curl writes IPv6 addresses without brackets.
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

/** The cookies of a file, oldest first. Null for comments and lines that are not cookies. */
export function readNetscape(text: string, now: number): (StoredCookie | null)[] {
  // Editors of Windows write a byte order mark.
  const lines = text.replace(/^\ufeff/, '').split('\n')
  return lines.map((line) => readLine(line.replace(/\r$/, ''), now))
}

function readLine(line: string, now: number): StoredCookie | null {
  const httpOnly = line.startsWith(HTTP_ONLY)
  if (line.startsWith('#') && !httpOnly) return null
  const fields = (httpOnly ? line.slice(HTTP_ONLY.length) : line).split('\t')
  // Editors cut the tab before an empty value.
  if (fields.length !== 6 && fields.length !== 7) return null
  const [host = '', wide = '', path = '', secure = '', expires = '', name = '', value = ''] = fields
  if (!SECONDS.test(expires)) return null
  const plain = host.replace(/^\./, '').toLowerCase()
  const domain = plain.includes(':') ? `[${plain}]` : plain
  return {
    name,
    value,
    domain,
    hostOnly: wide.toUpperCase() !== 'TRUE' || isAddress(domain),
    path,
    secure: secure.toUpperCase() === 'TRUE',
    httpOnly,
    sameSite: null,
    expires: Number(expires) === 0 ? null : Number(expires) * 1000,
    creationTime: now,
    lastAccessTime: now,
    order: 0,
  }
}
