/**
 * The static table of RFC 7541 Appendix A. Index 0 is a placeholder, for the wire counts from 1. The decoder
 * hands out these very strings, so that a well-known field costs no allocation.
 */

/** The rows in their order: the name and, after a blank, the value. */
const ROWS: readonly string[] = (
  ':authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|' +
  ':status 200|:status 204|:status 206|:status 304|:status 400|:status 404|:status 500|' +
  'accept-charset|accept-encoding gzip, deflate|accept-language|accept-ranges|accept|' +
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|' +
  'content-encoding|content-language|content-length|content-location|content-range|content-type|' +
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|' +
  'if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|' +
  'proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|strict-transport-security|' +
  'transfer-encoding|user-agent|vary|via|www-authenticate'
).split('|')

/** The highest static index; dynamic entries follow at the next one (RFC 7541 §2.3.3). */
export const STATIC_ENTRIES = 61

export const STATIC_NAMES: readonly string[] = ['', ...ROWS.map((row) => row.replace(/ .*/, ''))]

export const STATIC_VALUES: readonly string[] = ['', ...ROWS.map((row) => row.replace(/^\S* ?/, ''))]

/** The first index of each name; further entries of the same name follow it directly. */
export const STATIC_INDEX: ReadonlyMap<string, number> = new Map(
  STATIC_NAMES.map((name, index) => [name, index] as const)
    .slice(1)
    .reverse(),
)
