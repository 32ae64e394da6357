/**
 * The JSON form of a jar. What is read back may come from a file that others can write: entries are read
 * member by member, and one that is not a cookie is left out.
 */
import { InvalidArgumentError } from '../../errors.ts'
import { isBoolean, isString } from '../../options.ts'
import { SAME_SITES } from '../cookie.ts'
import type { PlainMembers, StoredCookie } from './stored-cookie.ts'

/** A cookie in the JSON form of a jar. Dates are in the form of ISO 8601. */
export interface SerializedCookie extends PlainMembers {
  /** Null if the server did not say. */
  sameSite: 'Strict' | 'Lax' | 'None' | null
  /** Null if the cookie ends with the session. */
  expires: string | null
  /** When the cookie was first set. */
  creationTime: string
  /** When it was last sent or set. */
  lastAccessTime: string
}

/** The JSON form of a jar. */
export interface SerializedCookieJar {
  /** The version of this form. */
  version: 1
  /** Oldest first. */
  cookies: SerializedCookie[]
}

export function serialize(cookies: readonly StoredCookie[]): SerializedCookieJar {
  return { version: 1, cookies: cookies.map(toEntry) }
}

function toEntry({ order: _, ...cookie }: StoredCookie): SerializedCookie {
  return {
    ...cookie,
    expires: cookie.expires === null ? null : toIso(cookie.expires),
    creationTime: toIso(cookie.creationTime),
    lastAccessTime: toIso(cookie.lastAccessTime),
  }
}

function toIso(time: number): string {
  return new Date(time).toISOString()
}

/** Null in place of an entry that is not a cookie. */
export function deserialize(data: unknown): (StoredCookie | null)[] {
  const { version, cookies } = membersOf(typeof data === 'string' ? parse(data) : data)
  if (version !== 1 || !Array.isArray(cookies)) {
    throw new InvalidArgumentError('data must be the JSON form of a CookieJar')
  }
  return cookies.map(toCookie)
}

function parse(text: string): unknown {
  try {
    // Editors of Windows write a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return null
  }
}

/** Only those that a value has itself. */
function membersOf(value: unknown): Record<string, unknown> {
  return { __proto__: null, ...(value as object) }
}

function toCookie(entry: unknown): StoredCookie | null {
  const members = membersOf(entry) as unknown as SerializedCookie
  const { name, value, domain, path, hostOnly, secure, httpOnly, sameSite } = members
  const expires = members.expires === null ? null : toTime(members.expires)
  const creationTime = toTime(members.creationTime)
  const lastAccessTime = toTime(members.lastAccessTime)
  const isCookie =
    [name, value, domain, path].every(isString) &&
    [hostOnly, secure, httpOnly].every(isBoolean) &&
    (sameSite === null || SAME_SITES.includes(sameSite)) &&
    ![expires, creationTime, lastAccessTime].some(Number.isNaN)
  if (!isCookie) return null
  const same = { name, value, domain, hostOnly, path, secure, httpOnly, sameSite }
  return { ...same, expires, creationTime, lastAccessTime, order: 0 }
}

function toTime(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}
