/** Which requests others may follow (`collapse`). */

import { fieldLines } from '../relay/fields.ts'
import { ownTerms } from '../relay/own-terms.ts'
import type { RequestView } from '../relay/request-view.ts'
import { urlOf } from './in-flight.ts'
import type { Flight } from './plan.ts'
import type { CacheKey } from './store/cache-store.ts'

/** How long the requests for a URL go their own way after a response turned out to be of use to one alone. */
const APART_MS = 60_000

/** URLs that are remembered as such; beyond that, the oldest is forgotten. */
const MAX_APART = 1024

/** They ask for something that the response to another request is not. */
const OWN_ANSWER: readonly string[] = [
  'authorization',
  'range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'cache-control',
  'pragma',
]

export class Flights {
  readonly #underWay = new Map<string, Flight>()
  readonly #apart = new Map<string, number>()

  /** Whether a request may follow another, or be followed. */
  mayCollapse(view: RequestView, now: number): boolean {
    if (view.opts.body !== null && view.opts.body !== undefined) return false
    for (const name of OWN_ANSWER) if (fieldLines(view.headers, name) !== undefined) return false
    const until = this.#apart.get(targetOf(view.key))
    return until === undefined || now >= until
  }

  get(view: RequestView): Flight | undefined {
    return this.#underWay.get(flightOf(view))
  }

  start(flight: Flight): void {
    this.#underWay.set(flightOf(flight.plan.view), flight)
  }

  /** Nothing follows it any more. `apart`: nothing follows requests for its URL for a while. */
  end(flight: Flight, apart: boolean, now: number): void {
    const { view } = flight.plan
    const id = flightOf(view)
    if (this.#underWay.get(id) === flight) this.#underWay.delete(id)
    if (!apart) return
    const target = targetOf(view.key)
    this.#apart.delete(target)
    this.#apart.set(target, now + APART_MS)
    if (this.#apart.size > MAX_APART) this.#apart.delete(this.#apart.keys().next().value!)
  }
}

/** A caller has its own time limits, and waits only for a request with the same. */
function flightOf({ key, opts }: RequestView): string {
  return `${ownTerms(opts)} ${targetOf(key)}`
}

function targetOf(key: CacheKey): string {
  return `${key.method} ${urlOf(key)}`
}
