/** What a cache holds, in the order in which it was stored, and by URL. All views of one cache share it. */
import { CacheQuery, type Entry } from './query.ts'

export class Entries {
  readonly #all = new Set<Entry>()
  /** No list is empty. */
  readonly #byUrl = new Map<string, Set<Entry>>()

  /** All, if there is no query. */
  find(query: CacheQuery | null): readonly Entry[] {
    if (query === null) return [...this.#all]
    if (!query.canMatch) return []
    const candidates = query.page === null ? (this.#byUrl.get(query.url) ?? []) : this.#all
    return [...candidates].filter((entry) => query.matches(entry))
  }

  /** All or nothing: each replaces those that match its request. */
  store(added: readonly Entry[]): void {
    const queries = added.map(({ request }) => new CacheQuery(request))
    for (const [i, query] of queries.entries()) {
      if (added.slice(0, i).some((earlier) => query.matches(earlier))) {
        throw new DOMException('Cache.addAll: two of the requests match', 'InvalidStateError')
      }
    }
    for (const [i, entry] of added.entries()) {
      this.remove(this.find(queries[i]!))
      this.#all.add(entry)
      this.#byUrl.set(entry.url, (this.#byUrl.get(entry.url) ?? new Set()).add(entry))
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
}
