/** Limits of RFC 6265bis, and the text that a cookie may consist of. */
import { trimmed } from '../../base/text/trimmed.ts'

/** §5.5: no cookie lives longer, whatever its server wants. */
export const MAX_AGE: number = 400 * 24 * 60 * 60 * 1000
/** §6.1: what servers may count on. */
export const MAX_COOKIES = 3000
export const MAX_COOKIES_PER_DOMAIN = 50

/** Control characters, a semicolon, and characters that are not a byte. */
const NOT_IN_TEXT = /[^\t\x20-\x3a\x3c-\x7e\x80-\xff]/

/**
 * Text that a `Cookie` header can carry, and that its reader gets unchanged: no control characters, no
 * semicolon, nothing above U+00FF, and no whitespace around it.
 */
export function isCookieText(text: string): boolean {
  return !NOT_IN_TEXT.test(text) && trimmed(text) === text
}
