/** Which stored responses an unsafe request invalidates (RFC 9111 §4.4). */
import { fieldLines } from '../../relay/fields.ts'
import type { RequestKey } from '../../relay/request-view.ts'
import type { Head } from '../../relay/response-source.ts'
import { sentOrigin, targetOrigin } from '../../relay/target-uri.ts'

/** Safe methods (RFC 9110 §9.2.1, the registry of methods): they change nothing. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(
  'GET HEAD OPTIONS TRACE QUERY PROPFIND REPORT SEARCH'.split(' '),
)

/** The part of a final response that counts here. */
export type OriginHead = Pick<Head, 'statusCode' | 'headers'>

/**
 * The paths of the request's own origin that a response to an unsafe method invalidates. `requested` are the
 * URLs of all requests, if redirects were followed: a redirect is not an error, and names a URL that was
 * changed. `response` is the last one; null if there was none.
 */
export function invalidatedPaths(
  key: RequestKey,
  requested: readonly URL[],
  response: OriginHead | null,
): Iterable<string> {
  const origin = sentOrigin(key.origin)
  // The origin that the server goes by, if `host` named another one.
  const target = targetOrigin(key.origin)
  const paths = new Set<string>()
  // Another origin must not be able to empty this one's part of the cache.
  const add = (url: URL): void => {
    if (url.origin === origin || url.origin === target) paths.add(url.pathname + url.search)
  }
  for (const url of requested) add(url)
  if (response === null || response.statusCode < 200 || response.statusCode > 399) return paths
  if (requested.length === 0) paths.add(key.path)
  const base = requested.at(-1)?.href ?? (target ?? origin) + key.path
  for (const name of ['location', 'content-location']) {
    const value = fieldLines(response.headers, name)
    if (typeof value === 'string' && URL.canParse(value, base)) add(new URL(value, base))
  }
  return paths
}
