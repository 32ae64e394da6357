/** Turns an error into an exit code, its code and message, and advice for the user. */
import { errors, type ProxyErrorInfo, type RequestErrorContext } from '../index.ts'
import { UsageError } from './option-values.ts'

export const EXIT = {
  ok: 0,
  usage: 1,
  connect: 2,
  timeout: 3,
  protocol: 4,
  expectation: 5,
  status: 22,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What the command was doing when an error occurred. */
export type Stage = 'connecting' | 'waiting for the response' | 'receiving the body'

export type Failure = Readonly<ReturnType<typeof failureOf>>

/** A failure that the command itself detects. */
export function exchangeError(code: 'TIMEOUT' | 'WRONG_PROTOCOL', message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** Ends a request after a time limit. The timer keeps the process alive until it is cleared. */
export function deadline(milliseconds: number, abort: (reason: Error) => void): { clear(): void } {
  const message = `no complete response within ${milliseconds / 1000} s`
  const timer = setTimeout(() => abort(exchangeError('TIMEOUT', message)), milliseconds)
  return { clear: () => clearTimeout(timer) }
}

const NO_ROUTE = 'There is no route to the host: check the network.'
const UNKNOWN_AUTHORITY =
  'No trusted authority signed its certificate: name one with --cacert FILE, or skip the check with --insecure.'

const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing listens there: check the port, and whether the server is running.',
  ECONNRESET: 'The server ended the connection: its log may say why.',
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ENOTFOUND: 'The name has no address: check its spelling.',
  EAI_AGAIN: 'The resolver did not answer: check the network and try again.',
  ENOENT: 'There is no such socket: check the path.',
  EACCES: 'You may not use that socket: check its permissions.',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'Its certificate is no longer valid: renew it, or skip the check with --insecure.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another name: check the host, or use --insecure.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The server does not speak TLS on this port: try http://.',
  ERR_OSSL_PEM_NO_START_LINE: 'A file given with --cert or --key is not in PEM format.',
  EPROTO: 'The TLS handshake failed: does the server want a certificate (--cert)?',
  WRONG_PROTOCOL: 'Leave --http2 out to accept HTTP/1.1.',
  TIMEOUT: 'Give it longer with --timeout, or look at what the server is doing.',
  UND_ERR_CONNECT_TIMEOUT: 'Check host and port; a firewall may drop the packets. --timeout sets the limit.',
  UND_ERR_HEADERS_TIMEOUT: 'The server is silent. --timeout sets another limit.',
  UND_ERR_BODY_TIMEOUT: 'The server stopped in the middle of the body. --timeout sets another limit.',
  UND_ERR_HEADERS_OVERFLOW: 'Raise the limit: NODE_OPTIONS=--max-http-header-size=65536.',
  UND_ERR_SOCKET: 'Does the server speak this protocol on this port? Its log may say more.',
  UND_ERR_PRX_CONN: 'The proxy refused: with 407 it wants credentials, in the URL of --proxy.',
  UND_ERR_PRX_TLS: 'TLS to the proxy failed: check its name, and who signed its certificate.',
  UND_ERR_SOCKS5_VERSION: 'There is no SOCKS 5 proxy on this port: is it an http proxy?',
  UND_ERR_SOCKS5_AUTH_REJECTED: 'The proxy wants a name and a password: socks5://name:password@host.',
  UND_ERR_SOCKS5_AUTH_FAILED: 'Check the name and the password in the URL of the proxy.',
  USAGE: 'ventuno --help lists the options.',
}

/** A server that does not know HTTP/2 takes its preface for a request, and answers or hangs up. */
const NOT_H2C = 'Does this port speak HTTP/1.1 alone? Then leave --h2c out.'
const WITHOUT_H2C: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

export function failureOf(error: unknown, stage: Stage, isCleartextH2 = false) {
  const { code, retrySafety } = Object(error) as Record<string, string | undefined>
  const name = code ?? 'ERROR'
  const isNotH2c =
    isCleartextH2 &&
    stage !== 'receiving the body' &&
    (WITHOUT_H2C.has(name) || /^UND_ERR_(HTTP2|H2)/.test(name))
  return {
    exitCode: exitCodeOf(error, name, stage),
    code: name,
    message: `${wordsOf(error)}${placeOf(error, name, stage)}`,
    // Advice; empty if there is none.
    hint: isNotH2c
      ? NOT_H2C
      : (HINTS[name] ?? (name.startsWith('HPE_') ? 'This is not HTTP/1.1: try https://, or --h2c.' : '')),
    // Whether the same request may be sent again; null if the error does not say.
    retrySafety: retrySafety ?? null,
  }
}

function wordsOf(error: unknown): string {
  // Errors of OpenSSL have the readable part of their message in `reason`.
  const { message, reason, errors: members } = Object(error) as Partial<AggregateError> & { reason?: string }
  if (message === '' && Array.isArray(members)) return members.map((member) => member.message).join(', ')
  return reason ?? message ?? String(error)
}

/** The message alone does not name the phase; a failed system call `connect` does. */
function placeOf(error: unknown, code: string, stage: Stage): string {
  if (code === 'TIMEOUT') return ` while ${stage}`
  if (code === 'WRONG_PROTOCOL') return ''
  const { phase, socket, proxy } = Object(error) as Partial<RequestErrorContext> & { proxy?: ProxyErrorInfo }
  if (proxy !== undefined) return ` (${proxy.phase} at the proxy ${proxy.uri})`
  if (phase === undefined || stage === 'connecting') return ''
  const counts = socket
    ? `, ${socket.bytesWritten ?? 0} bytes sent and ${socket.bytesRead ?? 0} received`
    : ''
  return ` while ${stage}${counts}`
}

function exitCodeOf(error: unknown, code: string, stage: Stage): ExitCode {
  const isOurs = error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError
  if (isOurs || error instanceof UsageError) return EXIT.usage
  if (/(^|_)TIMEOUT$|^ETIMEDOUT$/.test(code)) return EXIT.timeout
  const isSystemError = /^E(AI_)?[A-Z0-9]+$/.test(code) && code !== 'EPROTO' && code !== 'ERROR'
  return stage === 'connecting' && isSystemError ? EXIT.connect : EXIT.protocol
}
