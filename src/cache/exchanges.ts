/** The requests to the origin that are under way, and which of them others may wait for (`collapse`). */

import { RecentKeys } from '../base/collection/recent-keys.ts'
import type { Downstream } from '../relay/downstream.ts'
import { hasAny } from '../relay/fields.ts'
import { OwnTerms } from '../relay/own-terms.ts'
import type { RequestKey, RequestView } from '../relay/request-view.ts'
import { urlOf } from './store/store-arguments.ts'

/** How long no request for a URL waits for another one, after a response that could not be shared. */
const APART_MS = 60_000

/** With one of these fields, the response to another request may not be the answer. */
const OWN_ANSWER: readonly string[] =
  'authorization range if-match if-none-match if-modified-since if-unmodified-since cache-control pragma'.split(
    ' ',
  )

export interface UnderWay {
  readonly view: RequestView
  /** False if its response will not answer this request. */
  join(downstream: Downstream, view: RequestView, id: string): boolean
  /** The URL was invalidated. */
  invalidate(): void
}

export class Exchanges {
  readonly #byUrl = new Map<string, Set<UnderWay>>()
  readonly #apart = new RecentKeys(APART_MS)
  readonly #terms = new OwnTerms()

  add(exchange: UnderWay): void {
    const url = urlOf(exchange.view.key)
    if (exchange.view.storable) this.#byUrl.set(url, (this.#byUrl.get(url) ?? new Set()).add(exchange))
  }

  delete(exchange: UnderWay): void {
    const url = urlOf(exchange.view.key)
    const others = this.#byUrl.get(url)
    if (others?.delete(exchange) && others.size === 0) this.#byUrl.delete(url)
  }

  of(key: RequestKey): UnderWay[] {
    return [...(this.#byUrl.get(urlOf(key)) ?? [])]
  }

  /**
   * The same for requests that may wait for each other; null for one that may not. A caller has its own time
   * limits, and waits only for a request with the same.
   */
  idOf({ key, headers, opts }: RequestView): string | null {
    if ((opts.body !== null && opts.body !== undefined) || hasAny(headers, OWN_ANSWER)) return null
    if (this.#apart.has(targetOf(key))) return null
    return `${key.method} ${this.#terms.of(opts)}`
  }

  /** For a while, all requests for the same target are sent. */
  keepApart({ key }: RequestView): void {
    this.#apart.add(targetOf(key))
  }
}

function targetOf(key: RequestKey): string {
  return `${key.method} ${urlOf(key)}`
}
