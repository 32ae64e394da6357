/** Text that would end a line, a field or a name if it reached the wire unchanged. */

/** The line that an attacker tries to inject. */
export const INJECTED = 'x-injected: yes'

/** Appended to an innocent value. The wide ones become CR and LF when a string is truncated to latin1. */
export const LINE_BREAKS: readonly string[] = [
  `\r\n${INJECTED}`,
  `\n${INJECTED}`,
  `\r${INJECTED}`,
  `\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a`,
  `\u010d\u010a${INJECTED}`,
  `\u{1f60d}\u{1f60a}${INJECTED}`,
  '\0',
  '\x7f',
]

/** An object that looks harmless and is hostile as a string. */
export function disguised(text: string): { toString(): string } {
  return { toString: () => text }
}

/** Returns something else each time. */
export function turncoat(first: string, later: string): { readonly value: string; readonly reads: number } {
  let reads = 0
  return {
    get value() {
      return reads++ === 0 ? first : later
    },
    get reads() {
      return reads
    },
  }
}
