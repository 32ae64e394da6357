/** The errors of a connect that tried one or more addresses, and which of them concern an address. */
import { AbortError, ConnectTimeoutError } from '../errors.ts'

/** Where the connect went, and how long it had. */
export interface ConnectGoal {
  readonly hostname: string
  readonly port: string | number
  /** Milliseconds. */
  readonly timeout: number
}

/** An error of one address, as found in {@link AddressesError.errors}. */
export interface AddressError extends Error {
  code?: string
  address?: string
  port?: number
  family?: number
  /** Milliseconds from the start of this attempt to its failure. */
  elapsed?: number
}

/** No address of the host could be reached. `code` is that of the first error. */
export class AddressesError extends AggregateError {
  declare readonly errors: AddressError[]
  readonly code: string | undefined

  // Without a message, like the runtime's own: `errors` has the details.
  constructor(errors: readonly AddressError[]) {
    super(errors)
    this.name = 'AggregateError'
    this.code = errors[0]?.code
  }
}

/** No answer came in time; `attempted` lists the addresses that were tried, if the host has several. */
export function timeoutError(
  { hostname, port, timeout }: ConnectGoal,
  attempted: readonly string[],
  cause?: Error,
): ConnectTimeoutError {
  const where =
    attempted.length === 0
      ? `attempted address: ${hostname}:${port}`
      : `attempted addresses: ${attempted.join(', ')}`
  const message = `Connect Timeout Error (${where}, timeout: ${timeout}ms)`
  return new ConnectTimeoutError(message, cause === undefined ? undefined : { cause })
}

/**
 * Whether another address may succeed: system errors (`ECONNREFUSED` …) and an answer of the resolver
 * that is not an address. Any other error was passed in from outside with `destroy(error)` or a signal.
 */
export function isAboutAddress(error: AddressError): boolean {
  return /^E[A-Z0-9]+$/.test(error.code ?? '') || error.code === 'ERR_INVALID_IP_ADDRESS'
}

/** The runtime tried several addresses by itself, and none answered in time. */
export function isTimedOutAggregate(error: AddressError & { errors?: unknown }): boolean {
  if (!Array.isArray(error.errors)) return false
  return error.code === 'ETIMEDOUT' || error.errors.some((member) => member?.code === 'ETIMEDOUT')
}

/** The socket that the caller holds was destroyed. */
export function aborted(): AbortError {
  return new AbortError('The connect was aborted: its socket was destroyed before it was connected')
}
