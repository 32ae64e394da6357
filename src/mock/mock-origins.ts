/** The origins that a mock agent has interceptors for. */
import type { OriginMatcher } from './match/interception.ts'
import { matchesText } from './match/text-matcher.ts'
import { OriginMocks } from './origin-mocks.ts'

/** The normalised origin: `http://a.test/` and `http://A.test:80` become `http://a.test`. */
export function originKey(origin: string | URL): string {
  const text = String(origin)
  if (!URL.canParse(text)) return text.toLowerCase()
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}`
}

export class MockOrigins {
  /** By normalised origin. Those that a matcher accepted share its interceptors. */
  readonly #known = new Map<string, OriginMocks>()
  /** In order of creation. */
  readonly #matching = new Set<OriginMocks>()

  /** All sets of interceptors, each once. */
  get all(): OriginMocks[] {
    return [...new Set([...this.#matching, ...this.#known.values()])]
  }

  /** As `originKey`, without parsing an origin that is known. */
  keyOf(origin: string | URL): string {
    return typeof origin === 'string' && this.#known.has(origin) ? origin : originKey(origin)
  }

  /** The interceptors for a normalised origin; undefined if there are none. */
  find(key: string): OriginMocks | undefined {
    const mocks = this.#known.get(key) ?? [...this.#matching].find(({ origin }) => matchesText(origin, key))
    if (mocks !== undefined) this.#known.set(key, mocks)
    return mocks
  }

  /** The interceptors for what was given to `get()`; a new set if there are none. */
  open(origin: OriginMatcher | URL): OriginMocks {
    if (typeof origin === 'string' || origin instanceof URL) {
      const key = originKey(origin)
      const mocks = this.find(key) ?? new OriginMocks(key)
      this.#known.set(key, mocks)
      return mocks
    }
    const known = [...this.#matching].find((mocks) => mocks.origin === origin)
    const mocks = known ?? new OriginMocks(origin)
    this.#matching.add(mocks)
    return mocks
  }

  /** Returns the origins that these interceptors were for. */
  forget(mocks: OriginMocks): Set<string> {
    const keys = new Set<string>()
    for (const [key, known] of this.#known) if (known === mocks) keys.add(key)
    for (const key of keys) this.#known.delete(key)
    this.#matching.delete(mocks)
    return keys
  }

  /** Removes all interceptors and the origins that matchers accepted. Pools stay usable. */
  reset(): void {
    for (const mocks of this.all) mocks.clear()
    for (const [key, { origin }] of this.#known) if (origin !== key) this.#known.delete(key)
  }
}
