/**
 * What a caller asks of the way its request is sent, beside the request itself. Callers that share one request get a response
 * that came under the terms of the first: those with other terms do not share.
 */
import type { DispatchOptions } from '../request/dispatch-options.ts'

/** Limits of the caller, the server that is meant, and what interceptors further inside do with the response. */
const TERMS = [
  'headersTimeout',
  'bodyTimeout',
  'servername',
  'maxRedirections',
  'throwOnMaxRedirect',
  'stripHeadersOnRedirect',
  'stripHeadersOnCrossOriginRedirect',
  'dumpMaxSize',
] as const satisfies readonly (keyof DispatchOptions)[]

/** The same for equal terms, and empty if there are none. */
export function ownTerms(opts: DispatchOptions): string {
  let terms = ''
  for (const name of TERMS) {
    const value: unknown = opts[name]
    if (value !== null && value !== undefined) terms += `${name}=${textOf(value)};`
  }
  return terms
}

/** JSON: no text looks like two. Nothing has checked the value so far. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  if (typeof value === 'string') return JSON.stringify(value)
  return typeof value === 'object' || typeof value === 'function' ? typeof value : String(value)
}
