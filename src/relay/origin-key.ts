/** The origin of a request as a key of a table, and tables by origin that stay small. */
import { OriginReader } from '../base/address/origin-reader.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { logicalOrigin, type OwnOrigin } from '../request/logical-origin.ts'

const origins: OriginReader = new OriginReader()

/**
 * One key for all spellings of an origin; empty for a dispatcher that chooses among several origins by
 * itself. A dispatcher of one origin, `own`, sends there whatever the request names.
 */
export function originKey(opts: DispatchOptions, own?: OwnOrigin): string {
  // Options that are no object are for the dispatcher to refuse.
  const origin = own || (typeof opts === 'object' && opts !== null ? logicalOrigin(opts) : undefined)
  const normalised = origins.read(origin)
  if (normalised !== null) return normalised
  if (typeof origin === 'string') return origin
  return origin ? origin.origin : ''
}

/**
 * Origins that are remembered at a time. A crawler, or a server that redirects to ever new names, must not
 * fill the memory; a program that talks to more origins than this at once loses the oldest entries.
 */
const MAX_ORIGINS = 1024

/** One value for each origin, made when it is first asked for. */
export class OriginTable<T> {
  readonly #entries = new Map<string, T>()
  readonly #make: () => T

  constructor(make: () => T) {
    this.#make = make
  }

  get(key: string): T {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    if (this.#entries.size >= MAX_ORIGINS) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest)
        break
      }
    }
    const made = this.#make()
    this.#entries.set(key, made)
    return made
  }
}
