/** The type of a cookie, and the whitespace around its parts. */

/** One cookie, as `Set-Cookie` describes it. */
export interface Cookie {
  /** May be empty. */
  name: string
  /** As received: not decoded, not unquoted. */
  value: string
  /** A number counts milliseconds since the Unix epoch; a cookie that was read has a `Date`. */
  expires?: Date | number
  /** Seconds. */
  maxAge?: number
  /** Hosts that get it. Default: the one that set it. */
  domain?: string
  /** Paths that get it. */
  path?: string
  /** Only over secure connections. */
  secure?: boolean
  /** Not for scripts. */
  httpOnly?: boolean
  /** Whether requests from other sites have it. */
  sameSite?: 'Strict' | 'Lax' | 'None'
  /** Attributes that have no field here, each as `name=value`. */
  unparsed?: string[]
}

export const SAME_SITES: readonly NonNullable<Cookie['sameSite']>[] = ['Strict', 'Lax', 'None']

/**
 * Without the spaces and tabs around it (RFC 6265bis §5.6, WSP). `String.prototype.trim` would also remove
 * U+00A0, the last byte of a UTF-8 "à" that a header shows as Latin-1. A regular expression would need
 * quadratic time for spaces in the middle.
 */
export function trimWhitespace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isWhitespace(text.charCodeAt(start))) start++
  while (end > start && isWhitespace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09
}
