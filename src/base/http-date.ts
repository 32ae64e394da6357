// Owns dates as header text: written as IMF-fixdate (RFC 9110 §5.6.7), read with the runtime's own parser,
// which also takes the RFC 850 form and the dashed one old servers put into Set-Cookie. Knows no header.

/**
 * 0100-01-01. Readers take a year below 100 for a two-digit one (RFC 6265 §5.1.1: `0030` means 2030) and
 * cannot read the sign of a year before 0, so an earlier date would come back as another one, or as none.
 */
const EARLIEST_WRITABLE_MS = -59_011_459_200_000

/**
 * The date as `Fri, 07 Jan 1983 15:32:00 GMT`, or null where that text would not be read back as this second.
 */
export function formatHttpDate(date: Date): string | null {
  return date.getTime() >= EARLIEST_WRITABLE_MS ? date.toUTCString() : null
}

/**
 * The date a text means, or null when it means none. A text without a zone, as the asctime form is, counts as
 * local time: that is how the runtime, and so undici, reads it.
 */
export function parseHttpDate(text: string): Date | null {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? null : date
}
