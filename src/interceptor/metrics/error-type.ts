/**
 * The attribute `error.type`: a word of a closed set, whatever the error is. An error of a caller may have
 * any code, and an endless number of them.
 */
import { codeOf, ERROR_FACTS } from '../../relay/error-facts.ts'

export const OTHER = '_OTHER'

/** What has failed in the handshake of TLS, or in the certificate. */
const OF_TLS =
  'EPROTO CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED DEPTH_ZERO_SELF_SIGNED_CERT ' +
  'SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT ' +
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY ERR_TLS_CERT_ALTNAME_INVALID'

const CODES: ReadonlySet<string> = new Set([...ERROR_FACTS.keys(), ...OF_TLS.split(' ')])

/** Families with too many members to name. */
const FAMILIES = ['UND_ERR_SOCKS5', 'UND_ERR', 'HPE_', 'ERR_HTTP2_', 'ERR_SSL_', 'ERR_TLS_', 'Z_', 'ZSTD_']

/** What signals abort with. */
const NAMES: ReadonlySet<unknown> = new Set(['AbortError', 'TimeoutError'])

/** A known code, a family as `HPE_*`, the name of an abort, or `_OTHER`. */
export function errorType(error: unknown): string {
  const code = codeOf(error)
  if (code === null) return nameOf(error)
  if (CODES.has(code)) return code
  const family = FAMILIES.find((prefix) => code.startsWith(prefix))
  return family === undefined ? OTHER : `${family}*`
}

function nameOf(error: unknown): string {
  try {
    const { name } = error as { name?: unknown }
    return NAMES.has(name) ? (name as string) : OTHER
  } catch {
    return OTHER
  }
}
