/** The origin of a request in one spelling, as a key of tables, and tables by origin that stay small. */
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { logicalOrigin, type OwnOrigin } from '../request/logical-origin.ts'

/**
 * Origins that are remembered at a time. A crawler, or a server that redirects to ever new names, must not
 * fill the memory; a program that talks to more origins than this at once loses the oldest entries.
 */
const MAX_ORIGINS = 1000

/** One value for each origin, made when it is first asked for. */
export class OriginTable<T> {
  readonly #entries = new Map<string, T>()
  readonly #make: (key: string) => T

  constructor(make: (key: string) => T) {
    this.#make = make
  }

  get(key: string): T {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    if (this.#entries.size >= MAX_ORIGINS) this.#entries.delete(this.#entries.keys().next().value!)
    const made = this.#make(key)
    this.#entries.set(key, made)
    return made
  }
}

const NORMALISED = new OriginTable((text) => {
  if (!URL.canParse(text)) return null
  const { protocol, host } = new URL(text)
  return protocol === 'http:' || protocol === 'https:' ? `${protocol}//${host}` : null
})

/**
 * `http://h`, `http://h/` and `HTTP://H:80` are one. Null for anything that is no http(s) origin: a
 * dispatcher refuses it. A dispatcher of one origin, `own`, sends there whatever the request names.
 */
export function originOf(opts: DispatchOptions, own?: OwnOrigin): string | null {
  const origin = own || logicalOrigin(opts)
  const text = origin instanceof URL ? origin.origin : origin
  return typeof text === 'string' ? NORMALISED.get(text) : null
}

/** Empty for a dispatcher that chooses among several origins by itself. */
export function originKey(opts: DispatchOptions, own?: OwnOrigin): string {
  return originOf(opts, own) ?? String(own || logicalOrigin(opts) || '')
}
