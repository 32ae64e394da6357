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
  'retryOptions',
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

/** Options are no deeper than that; what is deeper is only equal to itself. */
const DEEPEST = 3

/** JSON: no text looks like two. Nothing has checked the value so far. */
function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return String(value)
  if (typeof value === 'function' || depth === DEEPEST) return `#${identityOf(value)}`
  if (Array.isArray(value)) return `[${value.map((one) => textOf(one, depth + 1)).join()}]`
  const names = Object.keys(value).sort()
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${textOf((value as Record<string, unknown>)[name], depth + 1)}`,
  )
  return `{${members.join()}}`
}

const identities = new WeakMap<object, number>()
let lastIdentity = 0

function identityOf(value: object): number {
  const known = identities.get(value)
  if (known !== undefined) return known
  identities.set(value, ++lastIdentity)
  return lastIdentity
}
