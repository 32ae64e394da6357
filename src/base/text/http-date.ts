// Owns dates as header text, written as IMF-fixdate (RFC 9110 §5.6.7). Knows no header.

/**
 * 0100-01-01. Readers take a year below 100 for a two-digit one (RFC 6265 §5.1.1: `0030` means 2030) and
 * cannot read the sign of a year before 0, so an earlier date would come back as another one.
 */
const EARLIEST_WRITABLE_MS = -59_011_459_200_000

/** The date as `Fri, 07 Jan 1983 15:32:00 GMT`, or null where that text would be read back as another one. */
export function formatHttpDate(date: Date): string | null {
  return date.getTime() >= EARLIEST_WRITABLE_MS ? date.toUTCString() : null
}
