/**
 * The errors of connections and requests through a proxy, and their field `proxy`. None contains credentials:
 * the URL of a proxy is passed in without its user info.
 */
import { ownMembers } from '../base/object/own-options.ts'
import {
  InformationalError,
  ProxyConnectionError,
  type ProxyErrorInfo,
  type ProxyPhase,
  SecureProxyConnectionError,
  SocketError,
} from '../errors.ts'
import { codeOf } from '../relay/error-facts.ts'
import type { KeptResponse } from '../relay/kept-response.ts'

/** The response of a proxy that refused. */
export interface Refusal {
  readonly statusCode: number
  readonly headers: Record<string, string | string[] | undefined>
  /** The beginning. */
  readonly body: string
}

/** An error keeps this much, enough for a page that gives the reason. */
export const KEPT_BYTES = 4096

/** A refusal that came as a response. It counts, complete or not. */
export function endOf(response: KeptResponse): Refusal {
  const { statusCode, headers } = response.head
  return { statusCode, headers, body: response.end().toString() }
}

/** What the proxy has answered, if it has. */
type Answer = Partial<Refusal> & { readonly reply?: number | null }

/** Adds the field `proxy`, unless an earlier step has done so. A frozen error stays as it is. */
export function withProxy<E extends Error>(error: E, uri: string, phase: ProxyPhase, answer: Answer = {}): E {
  const { statusCode = null, headers = null, body = null, reply = null } = ownMembers(answer)
  const info: ProxyErrorInfo = { uri, phase, statusCode, headers, body, reply }
  try {
    if (!Object.hasOwn(error, 'proxy')) Object.assign(error, { proxy: info })
  } catch {
    // A value of the caller's connect function.
  }
  return error
}

/** The proxy could not be reached. `hasReached`: the TCP connection was up, so TLS is at fault. */
export function dialError(error: Error, uri: string, hasReached: boolean): Error {
  const code = codeOf(error)
  const isLate = code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_DESTROYED'
  if (!hasReached) return withProxy(error, uri, 'proxy-dial')
  return withProxy(isLate ? error : new SecureProxyConnectionError(error), uri, 'proxy-tls')
}

/** The connection to the proxy was lost, or the response to CONNECT was invalid. */
export function connectError(error: Error, uri: string): Error {
  if (Object.hasOwn(error, 'proxy')) return error
  const { phase } = error as { phase?: unknown }
  if (phase === 'connecting') return withProxy(error, uri, 'proxy-dial')
  return withProxy(isLoss(error) ? new ProxyConnectionError(error) : error, uri, 'proxy-connect')
}

/** A reset stream has its HTTP/2 code, an error of the system its `syscall`. */
function isLoss(error: Error): boolean {
  return (
    error instanceof SocketError ||
    error instanceof InformationalError ||
    Object.hasOwn(error, 'syscall') ||
    Object.hasOwn(error, 'http2ErrorCode')
  )
}

export function refusedTunnel(uri: string, refusal: Refusal): ProxyConnectionError {
  const message = `Proxy response (${refusal.statusCode}) !== 200 when HTTP Tunneling`
  return withProxy(new ProxyConnectionError(undefined, message), uri, 'proxy-connect', refusal)
}

export function refusedForward(uri: string, refusal: Refusal): ProxyConnectionError {
  const message = `Proxy Authentication Required (${refusal.statusCode})`
  return withProxy(new ProxyConnectionError(undefined, message), uri, 'forward', refusal)
}
