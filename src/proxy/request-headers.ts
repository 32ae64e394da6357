/** The headers of requests, as far as a proxy is concerned with them. */
import { InvalidArgumentError } from '../errors.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import { flatHeaders, headerNames, isPairIterable } from '../request/headers-input.ts'

export const PROXY_AUTHORIZATION = 'proxy-authorization'

/**
 * Credentials for a proxy belong to the agent: as a header of a request they would reach the target inside a tunnel. Returns
 * the headers to go on with: an iterator that can be read only once is a list afterwards.
 */
export function guardHeaders(headers: HeadersInput | null | undefined): HeadersInput | null | undefined {
  if (typeof headers !== 'object' || headers === null) return headers
  const isOneShot = !Array.isArray(headers) && isPairIterable(headers)
  const given = isOneShot ? (flatHeaders(headers) as HeadersInput) : headers
  for (const name of headerNames(given)) guardName(name)
  return given
}

function guardName(name: unknown): void {
  if (typeof name !== 'string' || name.length !== PROXY_AUTHORIZATION.length) return
  if (lowerCaseName(name) !== PROXY_AUTHORIZATION) return
  throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
}
