/** The origins that a mock agent has interceptors for. */
import { FieldsMemory } from '../request/request-fields.ts'
import type { RequestContext } from '../request/request-spec.ts'
import type { OriginMatcher } from './match/interception.ts'
import { matchesText } from './match/text-matcher.ts'
import { OriginMocks } from './origin-mocks.ts'

/** An origin, and the interceptors for it. */
export interface MockPlace {
  readonly context: RequestContext
  readonly mocks: OriginMocks
}

/** The normalised origin: `http://a.test/` and `http://A.test:80` become `http://a.test`. */
export function originKey(origin: string | URL): string {
  const text = String(origin)
  if (!URL.canParse(text)) return text.toLowerCase()
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}`
}

export class MockOrigins {
  readonly #maxResponseSize: number
  /** By normalised origin. Those that a matcher accepted share its interceptors. */
  readonly #places = new Map<string, MockPlace>()
  /** In order of creation. */
  readonly #matching: OriginMocks[] = []

  constructor(maxResponseSize: number) {
    this.#maxResponseSize = maxResponseSize
  }

  /** All sets of interceptors, each once. */
  get all(): OriginMocks[] {
    const own = [...this.#places.values()].map(({ mocks }) => mocks)
    return [...new Set([...this.#matching, ...own])]
  }

  /** The interceptors for an origin; undefined if there are none. */
  find(origin: string | URL): MockPlace | undefined {
    const known = typeof origin === 'string' ? this.#places.get(origin) : undefined
    if (known !== undefined) return known
    const key = originKey(origin)
    const place = this.#places.get(key)
    if (place !== undefined) return place
    const mocks = this.#matching.find(({ origin: matcher }) => matchesText(matcher, key))
    return mocks === undefined ? undefined : this.#place(key, mocks)
  }

  /** The interceptors for what was given to `get()`; a place for new ones if there are none. */
  open(origin: OriginMatcher | URL): OriginMocks {
    if (typeof origin === 'string' || origin instanceof URL) {
      const key = originKey(origin)
      return (this.find(key) ?? this.#place(key, new OriginMocks(key))).mocks
    }
    const known = this.#matching.find((mocks) => mocks.origin === origin)
    if (known !== undefined) return known
    const mocks = new OriginMocks(origin)
    this.#matching.push(mocks)
    return mocks
  }

  /** A place that is not registered. */
  unknown(origin: string | URL, mocks: OriginMocks): MockPlace {
    const key = originKey(origin)
    const protocol = key.startsWith('https:') ? 'https:' : 'http:'
    return {
      context: { origin: key, protocol, fields: new FieldsMemory(), maxResponseSize: this.#maxResponseSize },
      mocks,
    }
  }

  /** Returns the origins that these interceptors were for. */
  forget(mocks: OriginMocks): Set<string> {
    const keys = new Set<string>()
    for (const [key, place] of this.#places) if (place.mocks === mocks) keys.add(key)
    for (const key of keys) this.#places.delete(key)
    const index = this.#matching.indexOf(mocks)
    if (index !== -1) this.#matching.splice(index, 1)
    return keys
  }

  /** Removes all interceptors and the origins that matchers accepted. Pools stay usable. */
  reset(): void {
    for (const mocks of this.all) mocks.clear()
    for (const [key, { mocks }] of this.#places) if (mocks.origin !== key) this.#places.delete(key)
  }

  #place(key: string, mocks: OriginMocks): MockPlace {
    const place = this.unknown(key, mocks)
    this.#places.set(key, place)
    return place
  }
}
