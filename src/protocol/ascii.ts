/**
 * The character classes of RFC 9110 §5.6 and RFC 9112, for bytes (tables) and for strings (expressions).
 * Every string that goes to the wire and every byte of a head that comes from it is judged by these.
 */

export const HTAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SP = 0x20
export const QUOTE = 0x22
export const COMMA = 0x2c
export const DOT = 0x2e
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const SEMICOLON = 0x3b
export const EQUALS = 0x3d
export const BACKSLASH = 0x5c
export const DELETE = 0x7f

const TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

function byteTable(includes: (byte: number) => boolean): Uint8Array {
  const table = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) table[byte] = includes(byte) ? 1 : 0
  return table
}

/** 1 for a byte of a token (RFC 9110 §5.6.2). */
export const TOKEN_BYTE: Uint8Array = byteTable((byte) =>
  TOKEN_CHARACTERS.includes(String.fromCharCode(byte)),
)

/** 1 for a byte of a field value: HTAB, SP, VCHAR, obs-text (RFC 9110 §5.5). */
export const FIELD_VALUE_BYTE: Uint8Array = byteTable(
  (byte) => byte === HTAB || (byte >= SP && byte !== DELETE),
)

/** The value of a hexadecimal digit, 255 for any other byte. */
export const HEX_VALUE: Uint8Array = byteTable(() => true).fill(255)
for (let digit = 0; digit < 16; digit++) {
  HEX_VALUE[digit.toString(16).charCodeAt(0)] = digit
  HEX_VALUE[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const NOT_FIELD_VALUE = /[^\t\x20-\x7e\x80-\xff]/
const NOT_TARGET = /[^\x21-\xff]/

/** Up to here a loop is faster than to begin with a regular expression. */
const SHORT_TARGET = 128

/** A method, a field name, a connection option … */
export function isToken(text: string): boolean {
  return TOKEN.test(text)
}

/** Only characters that latin1 can carry and that cannot end or fold a header line. */
export function isFieldValue(text: string): boolean {
  return !NOT_FIELD_VALUE.test(text)
}

/** No space and no control character: nothing that could end the request line. */
export function isRequestTarget(text: string): boolean {
  if (text.length > SHORT_TARGET) return !NOT_TARGET.test(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x21 || code > 0xff) return false
  }
  return true
}

/** Whether `bytes[start, end)` spells `lower` (given in lower case) in any letter case. */
export function equalsIgnoringCase(bytes: Uint8Array, start: number, end: number, lower: string): boolean {
  if (end - start !== lower.length) return false
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!
    const folded = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    if (folded !== lower.charCodeAt(i - start)) return false
  }
  return true
}
