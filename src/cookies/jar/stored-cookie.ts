/** A cookie in the jar, as it is kept and as callers get it. */
import type { Cookie } from '../cookie.ts'

/** The members that are the same in all forms of a cookie. */
export type PlainMembers = Pick<
  JarCookie,
  'name' | 'value' | 'domain' | 'hostOnly' | 'path' | 'secure' | 'httpOnly'
>

/** A cookie as the jar keeps it. Times are milliseconds since the Unix epoch. */
export interface StoredCookie extends Readonly<PlainMembers> {
  /** Null if the server did not say. */
  readonly sameSite: NonNullable<Cookie['sameSite']> | null
  /** Null for a cookie of this session. */
  readonly expires: number | null
  creationTime: number
  lastAccessTime: number
  /** Orders cookies that were created or used within one millisecond; no two of a jar have the same. */
  order: number
}

/** A cookie of a jar. A copy: a change of it does not reach the jar. */
export interface JarCookie extends Cookie {
  /** Absent if the cookie ends with the session. */
  expires?: Date
  /** The host that set the cookie, or the domain that the server named. */
  domain: string
  /** Whether only that host gets it, and not the hosts below it. */
  hostOnly: boolean
  path: string
  secure: boolean
  httpOnly: boolean
  /** When the cookie was first set. */
  creationTime: Date
  /** When it was last sent or set. */
  lastAccessTime: Date
}

export function toJarCookie(cookie: StoredCookie): JarCookie {
  // Each member by name: a rest property takes ten times as long.
  const { name, value, domain, hostOnly, path, secure, httpOnly, sameSite, expires } = cookie
  const shown: JarCookie = {
    name,
    value,
    domain,
    hostOnly,
    path,
    secure,
    httpOnly,
    creationTime: new Date(cookie.creationTime),
    lastAccessTime: new Date(cookie.lastAccessTime),
  }
  if (sameSite !== null) shown.sameSite = sameSite
  if (expires !== null) shown.expires = new Date(expires)
  return shown
}

/** Unique within a domain: a name never contains a semicolon, so keys of two cookies never collide. */
export function keyOf({ name, hostOnly, path }: StoredCookie): string {
  return `${name};${hostOnly ? 1 : 0}${path}`
}

export function isExpired(cookie: StoredCookie, now: number): boolean {
  return cookie.expires !== null && cookie.expires <= now
}

/** RFC 6265bis §5.8.3: longer paths first, then older cookies. */
export function byPathAndAge(a: StoredCookie, b: StoredCookie): number {
  return b.path.length - a.path.length || byAge(a, b)
}

export function byAge(a: StoredCookie, b: StoredCookie): number {
  return a.creationTime - b.creationTime || a.order - b.order
}

/**
 * The order in which cookies of one domain leave a full jar: those that are not Secure, then those that were
 * used least recently.
 */
export function byWorth(a: StoredCookie, b: StoredCookie): number {
  return Number(a.secure) - Number(b.secure) || a.lastAccessTime - b.lastAccessTime || a.order - b.order
}
