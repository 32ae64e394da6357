/**
 * Checks the options of one `dispatch()` call, in a fixed order: the first invalid option decides the error.
 * When a check fails, nothing has been queued or opened yet.
 */
import { stringify } from 'node:querystring'
import { InvalidArgumentError } from '../errors.ts'
import { isFieldValue, isRequestTarget, isToken } from '../protocol/ascii.ts'
import type { DispatchOptions } from './dispatch-options.ts'

export function checkPath(path: unknown, method: unknown): string {
  if (typeof path !== 'string') throw new InvalidArgumentError('path must be a string')
  const absolute = path.startsWith('/') || path.startsWith('http://') || path.startsWith('https://')
  if (!absolute && method !== 'CONNECT') {
    throw new InvalidArgumentError('path must be an absolute URL or start with a slash')
  }
  if (path === '' || !isRequestTarget(path)) throw new InvalidArgumentError('invalid request path')
  return path
}

export function checkMethod(method: unknown): string {
  if (typeof method !== 'string') throw new InvalidArgumentError('method must be a string')
  // Most requests have one of these two, which need no look at each character.
  if (method !== 'GET' && method !== 'POST' && !isToken(method))
    throw new InvalidArgumentError('invalid request method')
  return method
}

export function checkUpgrade(upgrade: unknown): string | null {
  if (!upgrade) return null
  if (typeof upgrade !== 'string') throw new InvalidArgumentError('upgrade must be a string')
  if (!isFieldValue(upgrade)) throw new InvalidArgumentError('invalid upgrade header')
  return upgrade
}

/** Options of earlier generations that would be ignored silently otherwise. */
export function refuseRetired(options: DispatchOptions): void {
  const { throwOnError, maxRedirections } = options as { throwOnError?: unknown; maxRedirections?: unknown }
  if (throwOnError !== null && throwOnError !== undefined) {
    throw new InvalidArgumentError('invalid throwOnError')
  }
  if (maxRedirections !== null && maxRedirections !== undefined && maxRedirections !== 0) {
    throw new InvalidArgumentError('maxRedirections is not supported, use the redirect interceptor')
  }
}

export function withQuery(path: string, query: unknown): string {
  if (!query) return path
  if (path.includes('?') || path.includes('#')) {
    throw new Error('Query params cannot be passed when url already contains "?" or "#".')
  }
  const text = stringify(query as Record<string, string>)
  return text === '' ? path : `${path}?${text}`
}

export function isIdempotent(method: string, given: unknown): boolean {
  if (given !== null && given !== undefined) return Boolean(given)
  return method === 'GET' || method === 'HEAD' || method === 'QUERY'
}
