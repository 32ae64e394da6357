/**
 * Everything that ends a negotiation with a SOCKS 5 proxy: the code of the error that callers get, and its
 * words. Both are part of the interface.
 */
import type { ProtocolFailure } from '../failure.ts'

export interface Socks5Failure extends ProtocolFailure {
  /** The code of the public error. */
  readonly code: string
  /** The reply of the proxy (RFC 1928 §6); null if it did not come to that. */
  readonly reply: number | null
}

/** RFC 1928 §6. */
const REPLIES: Readonly<Record<number, string>> = {
  1: 'General SOCKS server failure',
  2: 'Connection not allowed by ruleset',
  3: 'Network unreachable',
  4: 'Host unreachable',
  5: 'Connection refused',
  6: 'TTL expired',
  7: 'Command not supported',
  8: 'Address type not supported',
}

/** What speaks on the port of the proxy instead, by the first byte of its answer. */
const OTHER_PROTOCOLS: Readonly<Record<number, string>> = {
  // RFC 8446 §6: a record with an alert.
  21: ', the answer is TLS',
  // The beginning of `HTTP/1.1`.
  72: ', the answer is HTTP',
}

export function failure(code: string, message: string): Socks5Failure {
  return { scope: 'connection', blame: 'peer', code, message, reply: null }
}

export const AUTH_REJECTED: Socks5Failure = failure(
  'UND_ERR_SOCKS5_AUTH_REJECTED',
  'No acceptable authentication method',
)
export const AUTH_FAILED: Socks5Failure = failure('UND_ERR_SOCKS5_AUTH_FAILED', 'Authentication failed')
/** The proxy wants what it was not offered. */
export const NO_CREDENTIALS: Socks5Failure = {
  ...failure('UND_ERR_INVALID_ARG', 'Username and password required for authentication'),
  blame: 'caller',
}

export function invalidVersion(version: number): Socks5Failure {
  const hint = OTHER_PROTOCOLS[version] ?? ''
  return failure('UND_ERR_SOCKS5_VERSION', `Invalid SOCKS version: ${version}${hint}`)
}

/** The proxy did not connect to the destination. */
export function refusal(reply: number): Socks5Failure {
  const meaning = REPLIES[reply] ?? `Unknown error code: ${reply}`
  return { ...failure(`UND_ERR_SOCKS5_REPLY_${reply}`, `SOCKS5 connection failed: ${meaning}`), reply }
}
