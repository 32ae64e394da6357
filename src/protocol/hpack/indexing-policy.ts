/**
 * Which fields the encoder may put into the dynamic table. A table of 4096 octets holds some sixty fields, so
 * each entry that is never used again pushes out one that would have been.
 */

/**
 * - `never`: in no table, on this hop or a later one, and marked so on the wire (RFC 7541 §6.2.3, §7.1.3)
 * - `plain`: a literal without indexing
 * - `on-repeat`: indexed once the same value came twice within a short time
 * - `at-once`: indexed at first sight
 */
export type IndexingPolicy = 'never' | 'plain' | 'on-repeat' | 'at-once'

const POLICIES: ReadonlyMap<string, IndexingPolicy> = new Map<string, IndexingPolicy>([
  // Credentials: an entry in a table can be guessed at by watching sizes (RFC 7541 §7.1).
  ...all('never', 'authorization cookie proxy-authorization set-cookie'),
  // Digits that differ each time (an entry saves two or three octets and takes fifty of the table), times
  // that hold for a second, or what is bound to one resource and seldom sent twice.
  ...all('plain', 'content-length age date expires last-modified etag content-range'),
  // Most are unique, yet a client that polls sends the same few over and over.
  ...all('on-repeat', ':path if-match if-modified-since if-none-match if-range if-unmodified-since'),
  ...all('on-repeat', 'location range referer'),
])

function all(policy: IndexingPolicy, names: string): [string, IndexingPolicy][] {
  return names.split(' ').map((name) => [name, policy])
}

export function policyOf(name: string): IndexingPolicy {
  return POLICIES.get(name) ?? 'at-once'
}
