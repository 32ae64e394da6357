/**
 * Which fields the encoder may put into the dynamic table. A table of 4096 octets holds some sixty fields, so
 * each entry that is never used again pushes out one that would have been.
 */

/** Never in any table, on this hop or a later one, and marked so on the wire (RFC 7541 §6.2.3, §7.1.3). */
export const NEVER = 0
/** Literal without indexing. */
export const PLAIN = 1
/** Indexed once the same value came twice within a short time. */
export const ON_REPEAT = 2
/** Indexed at first sight. */
export const AT_ONCE = 3

export type IndexingPolicy = typeof NEVER | typeof PLAIN | typeof ON_REPEAT | typeof AT_ONCE

const POLICIES: ReadonlyMap<string, IndexingPolicy> = new Map<string, IndexingPolicy>([
  // Credentials: an entry in a table can be guessed at by watching sizes (RFC 7541 §7.1).
  ['authorization', NEVER],
  ['cookie', NEVER],
  ['proxy-authorization', NEVER],
  ['set-cookie', NEVER],
  // A few digits, different each time: an entry saves two or three octets and takes fifty of the table.
  ['content-length', PLAIN],
  ['age', PLAIN],
  // Never the same for longer than a second, or bound to one resource and seldom sent twice.
  ['date', PLAIN],
  ['expires', PLAIN],
  ['last-modified', PLAIN],
  ['etag', PLAIN],
  ['content-range', PLAIN],
  // Most are unique, yet a client that polls sends the same few over and over.
  [':path', ON_REPEAT],
  ['if-match', ON_REPEAT],
  ['if-modified-since', ON_REPEAT],
  ['if-none-match', ON_REPEAT],
  ['if-range', ON_REPEAT],
  ['if-unmodified-since', ON_REPEAT],
  ['location', ON_REPEAT],
  ['range', ON_REPEAT],
  ['referer', ON_REPEAT],
])

export function policyOf(name: string): IndexingPolicy {
  return POLICIES.get(name) ?? AT_ONCE
}
