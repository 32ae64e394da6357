/**
 * Owns the JSON form of a jar. What is read back may come from a file that others can write: entries are read
 * member by member, and one that no server could have set is left out.
 */
import { InvalidArgumentError } from '../../errors.ts'
import type { StoredCookie } from './stored-cookie.ts'

/** A cookie in the JSON form of a jar. Dates are in the form of ISO 8601. */
export interface SerializedCookie {
  /** Empty for a cookie without a name. */
  name: string
  /** As the server wrote it. */
  value: string
  /** The host that set the cookie, or the domain that the server named. */
  domain: string
  /** Whether only that host gets it, and not the hosts below it. */
  hostOnly: boolean
  /** The path from which on it is sent. */
  path: string
  /** Whether it is sent over secure connections only. */
  secure: boolean
  /** Whether it is kept from interfaces other than HTTP. */
  httpOnly: boolean
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
  const { expires: expiry, ...read } = membersOf(entry)
  const { name, value, domain, path, hostOnly, secure, httpOnly, sameSite } = read
  const expires = expiry === null ? null : toTime(expiry)
  const creationTime = toTime(read['creationTime'])
  const lastAccessTime = toTime(read['lastAccessTime'])
  if (typeof name !== 'string' || typeof value !== 'string') return null
  if (typeof domain !== 'string' || typeof path !== 'string') return null
  if (typeof hostOnly !== 'boolean' || typeof secure !== 'boolean' || typeof httpOnly !== 'boolean')
    return null
  if (!isSameSite(sameSite)) return null
  if (Number.isNaN(expires) || Number.isNaN(creationTime) || Number.isNaN(lastAccessTime)) return null
  return {
    name,
    value,
    domain,
    hostOnly,
    path,
    secure,
    httpOnly,
    sameSite,
    expires,
    creationTime,
    lastAccessTime,
    order: 0,
  }
}

function toTime(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}

function isSameSite(value: unknown): value is StoredCookie['sameSite'] {
  return value === null || value === 'Strict' || value === 'Lax' || value === 'None'
}
