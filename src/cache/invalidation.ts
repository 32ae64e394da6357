/** Drops what an unsafe request has made wrong (RFC 9111 §4.4). */
import type { HeaderObject } from '../protocol/header-block.ts'
import { fieldLines } from './fields.ts'

/** Safe methods (RFC 9110 §9.2.1, the registry of methods): they change nothing. */
const SAFE_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PROPFIND',
  'REPORT',
  'SEARCH',
])

export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method)
}

/** The paths of the request's own origin that a response to an unsafe method makes wrong. */
export function invalidatedPaths(
  origin: string,
  path: string,
  statusCode: number,
  headers: HeaderObject,
): string[] {
  if (statusCode < 200 || statusCode > 399) return []
  const paths = new Set([path])
  for (const name of ['location', 'content-location']) {
    const value = fieldLines(headers, name)
    if (typeof value !== 'string' || !URL.canParse(value, origin + path)) continue
    const url = new URL(value, origin + path)
    // Another origin must not be able to empty this one's part of the cache.
    if (url.origin === origin) paths.add(url.pathname + url.search)
  }
  return [...paths]
}
