/**
 * Errors that were made elsewhere, by the system, a connector, a socket of the caller or another dispatcher,
 * read once where they come in. This is the only file that looks at a `code` or `syscall`: from here on an
 * `EndKind` decides.
 */
import type { EndKind } from './end-reason.ts'

/** How a socket ended, by the error that it closed with. */
export function socketEnd(error: Error): EndKind {
  const { code, syscall } = fieldsOf(error)
  if (code === 'ECONNRESET') return 'torn-down'
  if (code === 'UND_ERR_INFO') return 'finished'
  // The errors of the system name a `syscall`; they only say that the connection is lost.
  if (syscall !== undefined || code === 'UND_ERR_SOCKET' || code === 'UND_ERR_DESTROYED') return 'lost'
  return 'foreign'
}

/**
 * The codes of certificates that were not accepted, as OpenSSL and the runtime name them. A server may
 * present another one for each name.
 */
const CERTIFICATE =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|CRL_\w+|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|ERROR_IN_C\w+|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/

/** The codes of the system (`ENOTFOUND`), and of TLS. */
const OF_RUNTIME = /^(?:E[A-Z0-9]+|ERR_(?:SSL|TLS|OSSL)_\w+)$/

/** As far as the code tells: a `lookup` function of the caller, for example, may fail with anything. */
export function isOfRuntime(error: Error): boolean {
  const { code } = fieldsOf(error)
  return typeof code === 'string' && (OF_RUNTIME.test(code) || CERTIFICATE.test(code))
}

/** Why a connector delivered no socket. With these two codes it asks for another attempt. */
export function connectEnd(error: Error): EndKind {
  const { code, proxy } = fieldsOf(error)
  if (code === 'UND_ERR_MAX_CONNECTIONS_REACHED') return 'no-place'
  // A tunnel that failed once fails its requests: a proxy that refuses would be asked again and again.
  if (proxy !== undefined) return 'unreachable'
  if (code === 'UND_ERR_SOCKET' || code === 'UND_ERR_INFO') return 'try-again'
  return typeof code === 'string' && CERTIFICATE.test(code) ? 'wrong-name' : 'unreachable'
}

/**
 * What a `disconnect` event reports. A caller's dispatcher has no other way to say it than the code of its
 * error.
 */
export function reportedEnd(error: unknown): EndKind {
  return fieldsOf(error).code === 'UND_ERR_SOCKET' ? 'lost' : 'finished'
}

/**
 * The value may be anything that a caller destroys a socket with, also something that throws when it is read.
 */
function fieldsOf(error: unknown): {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly proxy?: unknown
} {
  try {
    const { code, syscall, proxy } = error as NodeJS.ErrnoException & { readonly proxy?: unknown }
    return { code, syscall, proxy }
  } catch {
    return {}
  }
}
