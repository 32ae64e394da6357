/**
 * Reads the three forms of HTTP-date (RFC 9110 §5.6.7), in any letter case, and in GMT alone (RFC 9111 §4.2).
 * `Date.parse` accepts much more, and some of it in the local time zone.
 */

import type { HeaderObject } from '../../protocol/header-block.ts'
import { singleField, trimmed } from '../../relay/fields.ts'

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const TIME = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})'
const FORMS = [
  `[a-z]{3}, (?<day>[0-9]{2}) (?<month>[a-z]{3}) (?<year>[0-9]{4}) ${TIME} gmt`,
  `[a-z]{6,9}, (?<day>[0-9]{2})-(?<month>[a-z]{3})-(?<year>[0-9]{2}) ${TIME} gmt`,
  `[a-z]{3} (?<month>[a-z]{3}) (?<day>[0-9 ][0-9]) ${TIME} (?<year>[0-9]{4})`,
].map((form) => new RegExp(`^${form}$`))

/**
 * The date in a field as milliseconds since 1970; null if it is absent, repeated or unreadable. `now` decides
 * the century of a year with two digits.
 */
export function dateField(headers: HeaderObject, name: string, now: number = Date.now()): number | null {
  const text = singleField(headers, name)
  if (text === null) return null
  const lower = trimmed(text).toLowerCase()
  for (const form of FORMS) {
    const parts = form.exec(lower)?.groups
    if (parts !== undefined) return timeOf(parts, now)
  }
  return null
}

function timeOf(parts: Readonly<Record<string, string>>, now: number): number | null {
  const month = MONTHS.indexOf(parts['month']!)
  const [year, day, hour, minute, second] = ['year', 'day', 'hour', 'minute', 'second'].map((name) =>
    Number(parts[name]),
  ) as [number, number, number, number, number]
  if (month === -1 || hour > 23 || minute > 59 || second > 60) return null
  const date = new Date(0)
  const current = new Date(now).getUTCFullYear()
  let full = parts['year']!.length === 2 ? current - (current % 100) + year : year
  // More than 50 years ahead means the century before (RFC 9110 §5.6.7).
  if (full !== year && full > current + 50) full -= 100
  date.setUTCFullYear(full, month, day)
  if (date.getUTCDate() !== day) return null
  // A leap second is the last one of its minute.
  return date.setUTCHours(hour, minute, Math.min(second, 59))
}
