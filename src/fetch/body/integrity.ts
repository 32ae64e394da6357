/** Subresource Integrity: checks a body against the hashes that the caller gave. */
import { loadCrypto } from '../../base/node/lazy-modules.ts'

/** The hashes of the strongest algorithm in a list. */
export interface IntegrityMetadata {
  readonly algorithm: string
  /** In base64, normalised to one alphabet and without padding. */
  readonly hashes: readonly string[]
}

/** An expression with a known algorithm; its options are ignored. */
const EXPRESSION = /^(sha256|sha384|sha512)(?:-([^?]*))?(?:\?.*)?$/is

/** In either alphabet. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Null if the list has no known algorithm. */
export function parseIntegrity(metadata: string): IntegrityMetadata | null {
  let strongest: IntegrityMetadata | null = null
  for (const item of metadata.split(/[\t\n\f\r ]+/)) {
    const match = EXPRESSION.exec(item)
    if (match === null) continue
    const algorithm = match[1]!.toLowerCase()
    // A malformed hash counts, too, and matches nothing: a typing error must not disable the check.
    const value = match[2] ?? ''
    const hash = BASE64.test(value) ? plain(value) : ''
    // The names sort by strength.
    if (strongest === null || algorithm > strongest.algorithm) {
      strongest = { algorithm, hashes: [hash] }
    } else if (algorithm === strongest.algorithm) {
      strongest = { algorithm, hashes: [...strongest.hashes, hash] }
    }
  }
  return strongest
}

/** Without a known hash, every body matches. */
export function matchesIntegrity(bytes: Uint8Array, metadata: IntegrityMetadata | null): boolean {
  if (metadata === null) return true
  const hash = loadCrypto().createHash(metadata.algorithm).update(bytes).digest('base64')
  return metadata.hashes.includes(plain(hash))
}

/** Maps both base64 alphabets to one, and drops the padding. */
function plain(hash: string): string {
  return hash.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '')
}
