/** What a cache holds, in the order in which it was stored, and by URL. All views of one cache share it. */
import { CacheQuery, type CacheQueryOptions, type Matchable } from './query.ts'
import type { StoredResponse } from './stored-response.ts'

export interface Entry extends Matchable {
  readonly response: StoredResponse
}

const NO_OPTIONS: CacheQueryOptions = {}

export class Entries {
  readonly #all = new Set<Entry>()
  /** No list is empty. */
  readonly #byUrl = new Map<string, Set<Entry>>()

  /** All, if there is no query. */
  find(query: CacheQuery | null): readonly Entry[] {
    if (query === null) return [...this.#all]
    if (!query.canMatch) return []
    return [...this.#candidates(query)].filter((entry) => query.matches(entry))
  }

  #candidates(query: CacheQuery): Iterable<Entry> {
    return query.ignoresSearch ? this.#all : (this.#byUrl.get(query.url) ?? [])
  }

  /** All or nothing: each replaces those that match its request. */
  store(added: readonly Entry[]): void {
    const queries = added.map(({ request }) => new CacheQuery(request, NO_OPTIONS))
    for (const [i, query] of queries.entries()) {
      if (added.slice(0, i).some((earlier) => query.matches(earlier))) {
        throw new DOMException('Cache.addAll: two of the requests match', 'InvalidStateError')
      }
    }
    for (const [i, entry] of added.entries()) {
      this.remove(this.find(queries[i]!))
      this.#add(entry)
    }
  }

  remove(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#all.delete(entry)
      const sameUrl = this.#byUrl.get(entry.url)
      sameUrl?.delete(entry)
      if (sameUrl?.size === 0) this.#byUrl.delete(entry.url)
    }
  }

  #add(entry: Entry): void {
    this.#all.add(entry)
    const sameUrl = this.#byUrl.get(entry.url)
    if (sameUrl === undefined) this.#byUrl.set(entry.url, new Set([entry]))
    else sameUrl.add(entry)
  }
}
