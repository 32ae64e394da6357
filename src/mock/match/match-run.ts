/**
 * Finds the first interceptor that accepts path, method, body and headers of a call. Each matcher runs at
 * most once, even if the body has to be collected in between.
 */

import { type MockCall, NO_PARAMS } from '../mock-call.ts'
import type { OriginMocks } from '../origin-mocks.ts'
import { matchesBody } from './body-matcher.ts'
import { matchesFields } from './header-matcher.ts'
import type { Interception, MockPattern } from './interception.ts'
import { withoutTrailingSlash } from './request-path.ts'
import { matchesText } from './text-matcher.ts'

type Part = 'path' | 'method' | 'body' | 'headers'

/** The parts of a request, in the order in which they are compared. */
export const PARTS: readonly Part[] = ['path', 'method', 'body', 'headers']

/** Whether an interceptor accepts a part of a call. */
export const ACCEPTS: Readonly<Record<Part, (pattern: MockPattern, call: MockCall) => boolean>> = {
  path: matchesPath,
  method: (pattern, call) => matchesText(pattern.method, call.method),
  body: (pattern, call) => matchesBody(pattern.body, call.body),
  headers: (pattern, call) => matchesFields(pattern.headers, call.fields),
}

export class MatchRun {
  readonly call: MockCall
  readonly mocks: OriginMocks
  readonly #candidates: Iterator<Interception, undefined>
  #candidate: Interception | undefined
  /** Where to go on with the candidate: an index into `PARTS`. */
  #part = 0
  readonly #failures = new Map<Interception, number>()

  constructor(call: MockCall, mocks: OriginMocks) {
    this.call = call
    this.mocks = mocks
    this.#candidates = mocks.live.values() as Iterator<Interception, undefined>
    this.#candidate = this.#candidates.next().value
  }

  /** The interceptor, null if there is none, or `unread` if the body must be collected first. */
  advance(): Interception | null | 'unread' {
    for (; this.#candidate !== undefined; this.#candidate = this.#candidates.next().value) {
      const candidate = this.#candidate
      // A matcher may have made a request that used it up, or one came while the body was collected.
      const refused = candidate.consumed ? 'used up' : this.#compare(candidate)
      if (refused === 'unread') return refused
      if (refused === null) return candidate
      if (refused !== 'used up') this.#failures.set(candidate, refused)
      this.#part = 0
    }
    return null
  }

  /** The part that did not match; null if this interceptor was not compared. */
  refusedBy(candidate: Interception): number | null {
    return this.#failures.get(candidate) ?? null
  }

  /** The furthest part that any interceptor got to. */
  get stage(): Part {
    return PARTS[[...this.#failures.values()].reduce((a, b) => Math.max(a, b), 0)]!
  }

  #compare({ pattern }: Interception): number | null | 'unread' {
    for (; this.#part < PARTS.length; this.#part++) {
      const part = PARTS[this.#part]!
      if (part === 'body' && (pattern.body ?? null) !== null && this.call.hasUnreadBody) return 'unread'
      if (!ACCEPTS[part](pattern, this.call)) return this.#part
    }
    return null
  }
}

function matchesPath(pattern: MockPattern, call: MockCall): boolean {
  const path = pattern.ignoreTrailingSlash ? withoutTrailingSlash(call.path) : call.path
  const params = pattern.named?.(path) ?? null
  call.params = params ?? NO_PARAMS
  if (pattern.named !== null) return params !== null
  return pattern.sortedPath === null ? matchesText(pattern.path, path) : pattern.sortedPath === path
}
