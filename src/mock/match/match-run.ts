/**
 * Finds the first interceptor that accepts path, method, body and headers of a call. Each matcher runs at
 * most once, even if the body has to be collected in between.
 */

import type { MockCall } from '../mock-call.ts'
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
  #candidates: readonly Interception[]
  #index = 0
  /** Where to go on with the candidate at `#index`: an index into `PARTS`. */
  #part = 0
  readonly #failures = new Map<Interception, number>()

  constructor(call: MockCall, mocks: OriginMocks) {
    this.call = call
    this.mocks = mocks
    this.#candidates = mocks.live
  }

  /** The interceptor, null if there is none, or `unread` if the body must be collected first. */
  advance(): Interception | null | 'unread' {
    for (; this.#index < this.#candidates.length; this.#index++) {
      const candidate = this.#candidates[this.#index]!
      // A matcher may have made a request that used it up.
      if (candidate.consumed) continue
      const refused = this.#compare(candidate)
      if (refused === 'unread') {
        this.#candidates = this.#candidates.slice(this.#index)
        this.#index = 0
        return 'unread'
      }
      this.#part = 0
      if (refused === null) return candidate
      this.#failures.set(candidate, refused)
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
  if (pattern.named !== null) {
    const params = pattern.named(path)
    if (params !== null) call.params = params
    return params !== null
  }
  return pattern.sortedPath === null ? matchesText(pattern.path, path) : pattern.sortedPath === path
}
