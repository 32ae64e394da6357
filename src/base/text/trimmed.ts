/**
 * Without the spaces and tabs around it, which are the whitespace of HTTP (RFC 9110 §5.6.3) and of cookies
 * (RFC 6265bis §5.6). `String.prototype.trim` would also remove U+00A0, the last byte of a UTF-8 "à" that a
 * header shows as Latin-1. A regular expression would need quadratic time for spaces in the middle.
 */
export function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
