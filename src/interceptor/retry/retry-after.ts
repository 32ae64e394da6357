/** How long a server asks to be left alone: `Retry-After` (RFC 9110 §10.2.3), or when its quota is renewed. */
import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldLines } from '../../relay/fields.ts'
import { quotaOf } from '../quota-fields.ts'

/** Longer than any date: a peer cannot make us look for one in megabytes. */
const MAX_DATE_LENGTH = 40

/** Begins with the name of a day, as all three forms of an HTTP date do. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /

/** Milliseconds to wait after a refusal; null if the response does not say. */
export function askedWaitOf(headers: HeaderObject, quotaFields = true): number | null {
  const wait = waitIn(headers, 'retry-after-ms', 1) ?? waitIn(headers, 'retry-after', 1000)
  if (wait !== null) return wait
  const quota = quotaFields ? quotaOf(headers) : null
  // A quota that is renewed in this second, or that is not used up, does not say how long to wait.
  return quota === null || quota.reset === 0 || (quota.remaining ?? 0) > 0 ? null : quota.reset
}

/** Null if the field is absent or unreadable. Of several lines, the longest wait counts. */
function waitIn(headers: HeaderObject, name: string, unit: number): number | null {
  const waits = [fieldLines(headers, name) ?? []].flat().map((text) => readOne(text, unit))
  const readable = waits.filter((wait) => wait !== null)
  return readable.length === 0 ? null : Math.max(...readable)
}

function readOne(text: string, unit: number): number | null {
  const trimmed = text.trim()
  // Fractions are not in the RFC, but servers send them. Too many digits are Infinity: longer than any limit.
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * unit
  if (trimmed.length > MAX_DATE_LENGTH || !DATE.test(trimmed)) return null
  const date = Date.parse(trimmed)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}
