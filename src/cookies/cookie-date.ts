/**
 * The dates of `Set-Cookie` (RFC 6265 §5.1.1). Servers write them in so many ways that the order of the
 * parts, the names of the days and the zone do not count, and every date is UTC. `Date.parse` reads other
 * dates than browsers do, in local time where no zone is given.
 */

/** Text between delimiters. */
const TOKEN = /[^\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/g
/** In the order in which a token is tried. A number ends where something else than a digit follows. */
const PARTS = [
  ['time', /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/],
  ['day', /^\d{1,2}(?!\d)/],
  ['month', /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i],
  ['year', /^\d{2,4}(?!\d)/],
] as const
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'

/** RFC 6265 §5.1.1: an earlier date does not count. */
const FIRST_YEAR = 1601

/** Null for what is not a date. Of several tokens that can be a part, the first is. */
export function parseCookieDate(text: string): Date | null {
  const found = new Map<string, RegExpExecArray>()
  for (const [token] of text.matchAll(TOKEN)) {
    for (const [name, pattern] of PARTS) {
      const match = found.has(name) ? null : pattern.exec(token)
      if (match === null) continue
      found.set(name, match)
      break
    }
  }
  if (found.size < PARTS.length) return null
  const [, hour, minute, second] = found.get('time')!.map(Number) as [number, number, number, number]
  const day = Number(found.get('day')![0])
  const month = MONTHS.indexOf(found.get('month')![0].toLowerCase()) / 'jan '.length
  const digits = Number(found.get('year')![0])
  // Two digits stand for the years from 1970 to 2069.
  const year = digits > 99 ? digits : digits + (digits >= 70 ? 1900 : 2000)
  if (year < FIRST_YEAR || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(Date.UTC(year, month, day, hour, minute, second))
  // `Date` would turn the 30th of February into a day of March.
  return date.getUTCDate() === day ? date : null
}
