/**
 * How much the HTTP/1.1 engine accepts from a peer before it gives up, each figure with its reason.
 * No honest server reaches them by accident; all of them bound memory or endless waiting.
 */

/** The limits a client may set. */
export interface Http1Limits {
  /**
   * Bytes of names and values in one block of fields. Reaching it is already an overflow; heads, interim
   * heads and trailers are each counted on their own.
   */
  readonly maxHeaderSize: number
}

/**
 * Fields in one block. Without it thousands of one-letter fields fit into `maxHeaderSize`, each costing far
 * more memory than its bytes. 2000 is what Node's own HTTP parser accepts by default.
 */
export const MAX_FIELDS = 2000

/**
 * Longest status line, and slack for optional whitespace: the same figure most servers use for request lines.
 */
export const STATUS_LINE_ALLOWANCE = 8192

/** Colon, space, CR and LF of a field, doubled so that servers which pad values for alignment still pass. */
export const FIELD_OVERHEAD = 8

/**
 * All bytes of one head, counted or not (curl CVE-2023-38039). `maxHeaderSize` sees only finished fields, so
 * this is what stops a line that never ends, a huge reason phrase and endless whitespace.
 */
export function maxHeadBytes(limits: Http1Limits): number {
  return limits.maxHeaderSize + MAX_FIELDS * FIELD_OVERHEAD + STATUS_LINE_ALLOWANCE
}

/**
 * Hexadecimal digits of a chunk size. 14 reach 2^53; two more leave room for servers that pad with zeros, and
 * no room for an endless line of zeros.
 */
export const MAX_CHUNK_SIZE_DIGITS = 16

/**
 * Bytes of blanks and extensions in one chunk-size line; they are read and dropped (Node CVE-2024-22019 had
 * no limit).
 */
export const MAX_CHUNK_EXTENSION_BYTES = 4096

/**
 * Interim responses to one request within `INTERIM_WINDOW_MS`. A server may report `102 Processing` every
 * second for hours; one that floods them is cut off.
 */
export const MAX_INTERIM_HEADS = 256
export const INTERIM_WINDOW_MS = 10_000

/** Empty lines skipped before a status line (RFC 9112 §2.2 asks for one; broken scripts print a few). */
export const MAX_LEADING_EMPTY_LINES = 8
