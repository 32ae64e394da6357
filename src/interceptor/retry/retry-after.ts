/** The `Retry-After` field of a response (RFC 9110 §10.2.3). */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldLines } from '../../relay/fields.ts'

/** Longer than any date: a peer cannot make us look for one in megabytes. */
const MAX_DATE_LENGTH = 40

/** Begins with the name of a day, as all three forms of an HTTP date do. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /

/**
 * Milliseconds to wait; null if the field is absent or unreadable. Of several lines, the longest wait counts.
 */
export function retryAfterOf(headers: HeaderObject): number | null {
  const waits = [fieldLines(headers, 'retry-after') ?? []].flat().map(readOne)
  const readable = waits.filter((wait) => wait !== null)
  return readable.length === 0 ? null : Math.max(...readable)
}

function readOne(text: string): number | null {
  const trimmed = text.trim()
  // Fractions are not in the RFC, but servers send them. Too many digits are Infinity: longer than any limit.
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000
  if (trimmed.length > MAX_DATE_LENGTH || !DATE.test(trimmed)) return null
  const date = Date.parse(trimmed)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}
