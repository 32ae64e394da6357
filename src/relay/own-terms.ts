/**
 * How a caller wants its request sent, beside the request itself. Callers that share one request get a
 * response that came under the terms of the first: those with other terms do not share.
 */
import type { DispatchOptions } from '../request/dispatch-options.ts'

/**
 * Limits of the caller, the server that is meant, and what interceptors further inside do with the response.
 */
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

/** Options are no deeper than that; what is deeper is only equal to itself. */
const DEEPEST = 3

export class OwnTerms {
  readonly #identities = new WeakMap<object, number>()
  #lastIdentity = 0

  /** The same for equal terms, and empty if there are none. */
  of(opts: DispatchOptions): string {
    let terms = ''
    for (const name of TERMS) {
      const value: unknown = opts[name]
      if (value !== null && value !== undefined) terms += `${name}=${this.#textOf(value)};`
    }
    return terms
  }

  /** JSON, so that no text looks like two values. Nothing has checked the value so far. */
  #textOf(value: unknown, depth = 0): string {
    if (typeof value === 'string') return JSON.stringify(value)
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return String(value)
    if (typeof value === 'function' || depth === DEEPEST) return `#${this.#identityOf(value)}`
    if (Array.isArray(value)) return `[${value.map((one) => this.#textOf(one, depth + 1)).join()}]`
    const members = Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${this.#textOf((value as never)[name], depth + 1)}`)
    return `{${members.join()}}`
  }

  #identityOf(value: object): number {
    const identity = this.#identities.get(value) ?? ++this.#lastIdentity
    this.#identities.set(value, identity)
    return identity
  }
}
