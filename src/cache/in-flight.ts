/** The requests to the origin that are under way, by URL. */

import type { Flight } from './plan.ts'
import type { CacheKey } from './store/cache-store.ts'

export function urlOf(key: CacheKey): string {
  return `${key.origin} ${key.path}`
}

export class InFlight {
  readonly #byUrl = new Map<string, Set<Flight>>()

  add(flight: Flight): void {
    if (!flight.plan.view.storable) return
    const url = urlOf(flight.plan.view.key)
    const flights = this.#byUrl.get(url)
    if (flights === undefined) this.#byUrl.set(url, new Set([flight]))
    else flights.add(flight)
  }

  delete(flight: Flight): void {
    const url = urlOf(flight.plan.view.key)
    const flights = this.#byUrl.get(url)
    if (flights === undefined) return
    flights.delete(flight)
    if (flights.size === 0) this.#byUrl.delete(url)
  }

  of(key: CacheKey): Iterable<Flight> {
    return this.#byUrl.get(urlOf(key)) ?? []
  }
}
