/**
 * Reads the three forms of HTTP-date (RFC 9110 §5.6.7), in any letter case, and in GMT alone (RFC 9111 §4.2). `Date.parse`
 * accepts much more, and some of it in the local time zone.
 */

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const TIME = '([0-9]{2}):([0-9]{2}):([0-9]{2})'
const IMF = new RegExp(`^[a-z]{3}, ([0-9]{2}) ([a-z]{3}) ([0-9]{4}) ${TIME} gmt$`)
const RFC850 = new RegExp(`^[a-z]{6,9}, ([0-9]{2})-([a-z]{3})-([0-9]{2}) ${TIME} gmt$`)
const ASCTIME = new RegExp(`^[a-z]{3} ([a-z]{3}) ([0-9 ][0-9]) ${TIME} ([0-9]{4})$`)

/** Milliseconds since 1970, or null. `now` decides the century of a year with two digits. */
export function parseHttpDate(text: string, now: number): number | null {
  const lower = text.toLowerCase()
  const imf = IMF.exec(lower)
  if (imf !== null) return timeOf(Number(imf[3]), imf[2]!, imf[1]!, imf[4]!, imf[5]!, imf[6]!)
  const old = RFC850.exec(lower)
  if (old !== null) {
    return timeOf(fullYear(Number(old[3]), now), old[2]!, old[1]!, old[4]!, old[5]!, old[6]!)
  }
  const ansi = ASCTIME.exec(lower)
  if (ansi !== null) return timeOf(Number(ansi[6]), ansi[1]!, ansi[2]!, ansi[3]!, ansi[4]!, ansi[5]!)
  return null
}

/** More than 50 years ahead means the century before (RFC 9110 §5.6.7). */
function fullYear(year: number, now: number): number {
  const current = new Date(now).getUTCFullYear()
  const full = current - (current % 100) + year
  return full > current + 50 ? full - 100 : full
}

function timeOf(
  year: number,
  monthName: string,
  day: string,
  hour: string,
  minute: string,
  second: string,
): number | null {
  const month = MONTHS.indexOf(monthName)
  const [d, h, m, s] = [Number(day), Number(hour), Number(minute), Number(second)]
  if (month === -1 || h > 23 || m > 59 || s > 60) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month, d)
  if (date.getUTCDate() !== d) return null
  // A leap second is the last one of its minute.
  date.setUTCHours(h, m, Math.min(s, 59))
  return date.getTime()
}
