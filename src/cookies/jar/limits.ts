/** Ceilings of RFC 6265bis, and the words that a cookie may consist of. */

/** §5.6: bytes of name and value together. */
export const MAX_NAME_AND_VALUE = 4096
/** §5.5: no cookie lives longer, whatever its server wants. */
export const MAX_AGE: number = 400 * 24 * 60 * 60 * 1000
/** §6.1: what servers may count on. */
export const MAX_COOKIES = 3000
export const MAX_COOKIES_PER_DOMAIN = 50

const TAB = 0x09
const SPACE = 0x20
const SEMICOLON = 0x3b
const DELETE = 0x7f

/**
 * Text that a `Cookie` header can carry and that its reader finds unchanged: bytes (a character above U+00FF is none) without
 * control characters, without a semicolon, and without whitespace around it.
 */
export function isCookieText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code < SPACE && code !== TAB) || code === SEMICOLON || code === DELETE || code > 0xff) return false
  }
  return text === '' || !(isSpace(text.charCodeAt(0)) || isSpace(text.charCodeAt(text.length - 1)))
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB
}
