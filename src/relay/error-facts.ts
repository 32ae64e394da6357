/**
 * What the code of an error says: whose fault it is, whether another attempt can end otherwise, and whether
 * anything can have been sent. This is the only such table above `dispatch`. The engines have their own
 * (`request/end-reason.ts`), and what they know about a request (`retrySafety`) goes before it.
 */

import { isBodyError } from '../request/body-errors.ts'

/**
 * - `caller`: the request, its limits, or a decision of whoever made it.
 * - `dispatcher`: something between the caller and the network does not send it.
 * - `connection`: no connection came about, or it was lost.
 * - `origin`: the server has answered wrongly, or not in time.
 */
export type Fault = 'caller' | 'dispatcher' | 'connection' | 'origin'

export interface ErrorFacts {
  readonly fault: Fault
  /** Another attempt ends in the same way. */
  readonly isFinal: boolean
  /** Nothing of the request has left. */
  readonly isUnsent: boolean
}

const CALLER: ErrorFacts = { fault: 'caller', isFinal: true, isUnsent: false }
const CALLER_UNSENT: ErrorFacts = { ...CALLER, isUnsent: true }
const REFUSED: ErrorFacts = { fault: 'dispatcher', isFinal: false, isUnsent: true }
const REFUSED_FOR_GOOD: ErrorFacts = { ...REFUSED, isFinal: true }
const LOST: ErrorFacts = { fault: 'connection', isFinal: false, isUnsent: false }
const UNREACHED: ErrorFacts = { ...LOST, isUnsent: true }
const ORIGIN: ErrorFacts = { fault: 'origin', isFinal: false, isUnsent: false }

/** The codes of each kind of error. */
const CODES: readonly (readonly [ErrorFacts, string])[] = [
  [CALLER, 'UND_ERR_ABORT UND_ERR_ABORTED ABORT_ERR'],
  [CALLER_UNSENT, 'UND_ERR_INVALID_ARG UND_ERR_NOT_SUPPORTED'],
  [CALLER, 'UND_ERR_INVALID_RETURN_VALUE UND_ERR_REQ_CONTENT_LENGTH_MISMATCH UND_ERR_REQ_BODY_TIMEOUT'],
  [CALLER, 'UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_WS_MESSAGE_SIZE_EXCEEDED'],
  // A request that is under way when its dispatcher is destroyed has it as well.
  [{ ...REFUSED_FOR_GOOD, isUnsent: false }, 'UND_ERR_DESTROYED'],
  [REFUSED_FOR_GOOD, 'UND_ERR_CLOSED UND_ERR_BLOCKED_ADDRESS'],
  [REFUSED, 'UND_ERR_MAX_ORIGINS_REACHED UND_ERR_MAX_CONNECTIONS_REACHED UND_ERR_BPL_MISSING_UPSTREAM'],
  [REFUSED, 'UND_ERR_THROTTLED'],
  [{ ...ORIGIN, isUnsent: true }, 'UND_ERR_CIRCUIT_OPEN'],
  [UNREACHED, 'UND_ERR_CONNECT_TIMEOUT UND_ERR_PRX_TLS UND_ERR_PRX_CONN ECONNREFUSED ENOTFOUND EAI_AGAIN'],
  // A connection that is up can end with these as well, if a router says so.
  [LOST, 'ENETDOWN ENETUNREACH EHOSTDOWN EHOSTUNREACH'],
  [LOST, 'ECONNRESET EPIPE ETIMEDOUT UND_ERR_SOCKET UND_ERR_INFO'],
  [ORIGIN, 'UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_HEADERS_OVERFLOW'],
  [ORIGIN, 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_REQ_RETRY UND_ERR_RESPONSE'],
  [{ ...ORIGIN, isFinal: true }, 'UND_ERR_REDIRECT_MAX'],
]

export const ERROR_FACTS: ReadonlyMap<string, ErrorFacts> = new Map(
  CODES.flatMap(([facts, codes]) => codes.split(' ').map((code) => [code, facts] as const)),
)

/** Families of codes that are too many to name: the parser's, the runtime's HTTP/2 codes, the decoders'. */
const OF_THE_ORIGIN = /^(?:HPE_|ERR_HTTP2_|Z_|ZSTD_|ERR__ERROR_)/
/** A body of the caller that failed, or a wrong argument. */
const OF_THE_CALLER = /^ERR_(?:INVALID_|STREAM_|MISSING_|OUT_OF_RANGE)/

/**
 * A value without a code is the caller's: an abort reason, an exception of a handler, the argument of
 * `destroy()`. What a handler throws may also have any code: `Downstream.isWanted` tells.
 */
export function errorFacts(error: unknown): ErrorFacts {
  if (isBodyError(error)) return CALLER
  const code = codeOf(error)
  if (code === null) return CALLER
  const known = ERROR_FACTS.get(code)
  if (known !== undefined) return code === 'UND_ERR_INFO' && isUnsendable(error) ? CALLER_UNSENT : known
  if (code.startsWith('UND_ERR_SOCKS5')) return UNREACHED
  if (OF_THE_ORIGIN.test(code)) return ORIGIN
  // TLS has a hundred codes, and a connector of the caller may have its own.
  return OF_THE_CALLER.test(code) ? CALLER : LOST
}

/** Over HTTP/2, a field that only HTTP/1.1 has: undici reports it with the code of lost connections. */
function isUnsendable(error: unknown): boolean {
  return ownField(error, 'phase') === 'sending' && ownField(error, 'retrySafety') === 'no'
}

/** The request failed because of the server or the connection to it. */
export function isUpstreamFault(error: unknown): boolean {
  const { fault } = errorFacts(error)
  return fault === 'origin' || fault === 'connection'
}

export function codeOf(error: unknown): string | null {
  const code = ownField(error, 'code')
  return typeof code === 'string' ? code : null
}

/**
 * Null if there is none. Only an own one counts: a polluted prototype must not repeat a POST. The value may
 * be anything, also one that throws.
 */
export function ownField(error: unknown, name: string): unknown {
  if (typeof error !== 'object' || error === null) return null
  try {
    return Object.hasOwn(error, name) ? (error as Record<string, unknown>)[name] : null
  } catch {
    return null
  }
}

/** The server did not send the head of the response in time. */
export const isHeadTimeout = (error: unknown): boolean => codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT'

/** The name has no address. */
export const isUnknownName = (error: unknown): boolean => codeOf(error) === 'ENOTFOUND'

/** A circuit breaker has not sent the request. */
export const isOpenCircuit = (error: unknown): boolean => codeOf(error) === 'UND_ERR_CIRCUIT_OPEN'

/** An interceptor made it of a response, whose `statusCode` and `headers` it has. */
export const isOfStatus = (error: unknown): boolean =>
  ['UND_ERR_REQ_RETRY', 'UND_ERR_RESPONSE'].includes(codeOf(error) ?? '')
