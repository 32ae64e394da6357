/**
 * Owns the dates of `Set-Cookie` (RFC 6265 §5.1.1): servers write them in so many ways that the order of the
 * parts, the names of the days and the zone count for nothing, and every date is UTC. A parser of ordinary
 * dates reads other dates than browsers do, in local time where no zone is given.
 */

/** Text between delimiters. */
const TOKEN = /[^\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/g
/** Each ends where something else than a digit follows. */
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/
const DAY = /^\d{1,2}(?!\d)/
const YEAR = /^\d{2,4}(?!\d)/
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** The calendar that dates are in began in 1582; the first year that counts. */
const FIRST_YEAR = 1601

/** The date a text means, or null when it means none. Of each part the first that can be it counts. */
export function parseCookieDate(text: string): Date | null {
  let time: readonly [hour: number, minute: number, second: number] | null = null
  let day: number | null = null
  let month: number | null = null
  let year: number | null = null
  for (const [token] of text.matchAll(TOKEN)) {
    const clock: RegExpExecArray | null = time === null ? TIME.exec(token) : null
    if (clock !== null) {
      time = [Number(clock[1]), Number(clock[2]), Number(clock[3])]
    } else if (day === null && DAY.test(token)) {
      day = Number.parseInt(token, 10)
    } else if (month === null && MONTHS.includes(token.slice(0, 3).toLowerCase())) {
      month = MONTHS.indexOf(token.slice(0, 3).toLowerCase())
    } else if (year === null && YEAR.test(token)) {
      year = fullYear(Number.parseInt(token, 10))
    }
  }
  if (time === null || day === null || month === null || year === null) return null
  const [hour, minute, second] = time
  if (year < FIRST_YEAR || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(Date.UTC(year, month, day, hour, minute, second))
  // `Date` would turn the 30th of February into a day of March.
  return date.getUTCDate() === day ? date : null
}

/** Two digits: the years from 1970 to 2069. */
function fullYear(year: number): number {
  if (year > 99) return year
  return year >= 70 ? year + 1900 : year + 2000
}
