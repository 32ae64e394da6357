/**
 * Names of subprotocols: what may be asked for and what may be answered (RFC 6455 §4.1, WHATWG WebSockets).
 */
import { isToken } from '../ascii.ts'

/** Null when one of them is not a valid name, or two differ in letter case at most. */
export function checkSubprotocols(names: readonly string[]): readonly string[] | null {
  const seen = new Set<string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    if (!isToken(name) || seen.has(lower)) return null
    seen.add(lower)
  }
  return names
}

/** The items of a comma-separated list, trimmed, without empty ones. */
export function listItems(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
