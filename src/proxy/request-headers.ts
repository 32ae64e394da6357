/** The headers of a request in all their shapes, as far as a proxy is concerned with them. */
import { InvalidArgumentError } from '../errors.ts'
import { lowerCaseName } from '../protocol/header-names.ts'
import type { HeadersInput } from '../request/dispatch-options.ts'
import { isPairIterable } from '../request/request-fields.ts'

export const PROXY_AUTHORIZATION = 'proxy-authorization'

/** name, value, name, value …; what is wrong with them shows when the request is made. */
export type FlatHeaders = unknown[]

/**
 * Credentials for a proxy belong to the agent: as a header of a request they would reach the target inside a tunnel. Returns
 * the headers to go on with: an iterator that can be read only once is a list afterwards.
 */
export function guardHeaders(headers: HeadersInput | null | undefined): HeadersInput | null | undefined {
  if (typeof headers !== 'object' || headers === null) return headers
  if (Array.isArray(headers)) {
    for (let i = 0; i < headers.length; i += 2) guardName(headers[i])
    return headers
  }
  if (isPairIterable(headers)) {
    const flat = flatten(headers)
    for (let i = 0; i < flat.length; i += 2) guardName(flat[i])
    return flat as HeadersInput
  }
  for (const name of Object.keys(headers)) guardName(name)
  return headers
}

function guardName(name: unknown): void {
  if (typeof name !== 'string' || name.length !== PROXY_AUTHORIZATION.length) return
  if (lowerCaseName(name) !== PROXY_AUTHORIZATION) return
  throw new InvalidArgumentError('Proxy-Authorization should be sent in ProxyAgent constructor')
}

export function flatHeaders(headers: unknown): FlatHeaders {
  if (headers === null || headers === undefined) return []
  if (typeof headers !== 'object') throw new InvalidArgumentError('headers must be an object or an array')
  if (Array.isArray(headers)) {
    if (headers.length % 2 !== 0) throw new InvalidArgumentError('headers array must be even')
    return [...headers]
  }
  if (isPairIterable(headers)) return flatten(headers)
  const flat: FlatHeaders = []
  for (const name of Object.keys(headers)) flat.push(name, (headers as Record<string, unknown>)[name])
  return flat
}

function flatten(pairs: Iterable<unknown>): FlatHeaders {
  const flat: FlatHeaders = []
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new InvalidArgumentError('headers must be in key-value pair format')
    }
    flat.push(pair[0], pair[1])
  }
  return flat
}
