/**
 * Owns which cookies of a file a jar keeps: those that would be left if they had come one by one. A file may
 * have many times as many as a jar, so they are cut to its limits before any of them is stored.
 */
import type { StoreLimits } from './cookie-store.ts'
import { byWorth, isExpired, keyOf, type StoredCookie } from './stored-cookie.ts'

/** In the order of the file. */
export function fitting(cookies: readonly StoredCookie[], limits: StoreLimits, now: number): StoredCookie[] {
  const distinct = lastOfEach(cookies, now)
  return leastRecentCut(domainsCut(distinct, limits.maxCookiesPerDomain), limits.maxCookies)
}

/** One that comes later replaces another and takes over its age, or deletes it if it has expired. */
function lastOfEach(cookies: readonly StoredCookie[], now: number): StoredCookie[] {
  const known = new Map<string, StoredCookie>()
  for (const cookie of cookies) {
    // No domain has a semicolon.
    const key = `${cookie.domain};${keyOf(cookie)}`
    if (isExpired(cookie, now)) {
      known.delete(key)
      continue
    }
    const old = known.get(key)
    if (old !== undefined) cookie.creationTime = old.creationTime
    known.set(key, cookie)
  }
  let order = 0
  for (const cookie of known.values()) cookie.order = order++
  return [...known.values()]
}

function domainsCut(cookies: StoredCookie[], limit: number): StoredCookie[] {
  if (cookies.length <= limit) return cookies
  const counts = new Map<string, number>()
  for (const { domain } of cookies) counts.set(domain, (counts.get(domain) ?? 0) + 1)
  const crowds = new Map<string, StoredCookie[]>()
  for (const [domain, count] of counts) if (count > limit) crowds.set(domain, [])
  if (crowds.size === 0) return cookies
  for (const cookie of cookies) crowds.get(cookie.domain)?.push(cookie)
  const kept = new Set<StoredCookie>()
  for (const crowd of crowds.values())
    for (const cookie of crowd.sort(byWorth).slice(-limit)) kept.add(cookie)
  return cookies.filter((cookie) => !crowds.has(cookie.domain) || kept.has(cookie))
}

function leastRecentCut(cookies: StoredCookie[], limit: number): StoredCookie[] {
  const excess = cookies.length - limit
  if (excess <= 0) return cookies
  const times = Float64Array.from(cookies, ({ lastAccessTime }) => lastAccessTime).sort()
  // All before this time go, and of those that were used at this time, the first in the file.
  const time = times[excess]!
  let atTime = excess - times.indexOf(time)
  return cookies.filter(
    ({ lastAccessTime }) => lastAccessTime > time || (lastAccessTime === time && atTime-- <= 0),
  )
}
