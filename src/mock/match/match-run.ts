/**
 * Finds the first interceptor that accepts path, method, body and headers of a call. Each matcher runs at
 * most once, even if the body has to be collected in between.
 */

import type { MockCall } from '../mock-call.ts'
import { matchesBody } from './body-matcher.ts'
import { matchesFields } from './header-matcher.ts'
import type { Interception, MockPattern } from './interception.ts'
import { matchesText } from './text-matcher.ts'

/** The parts of a request, in the order in which they are compared. */
export const PARTS = ['path', 'method', 'body', 'headers'] as const

export class MatchRun {
  readonly call: MockCall
  #candidates: readonly Interception[]
  #index = 0
  /** Where to go on with the candidate at `#index`: an index into `PARTS`. */
  #part = 0
  #failures: Map<Interception, number> | null = null

  constructor(call: MockCall, candidates: readonly Interception[]) {
    this.call = call
    this.#candidates = candidates
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
      this.#failures ??= new Map()
      this.#failures.set(candidate, refused)
    }
    return null
  }

  /** The part that did not match; null if this interceptor was not compared. */
  refusedBy(candidate: Interception): number | null {
    return this.#failures?.get(candidate) ?? null
  }

  /** The furthest part that any interceptor got to. */
  get stage(): (typeof PARTS)[number] {
    let furthest = 0
    for (const part of this.#failures?.values() ?? []) furthest = Math.max(furthest, part)
    return PARTS[furthest]!
  }

  #compare({ pattern }: Interception): number | null | 'unread' {
    for (; this.#part < PARTS.length; this.#part++) {
      const part = PARTS[this.#part]!
      if (part === 'body' && (pattern.body ?? null) !== null && this.call.hasUnreadBody) return 'unread'
      if (!accepts(pattern, part, this.call)) return this.#part
    }
    return null
  }
}

/** Whether an interceptor accepts this part of a call. */
export function accepts(pattern: MockPattern, part: (typeof PARTS)[number], call: MockCall): boolean {
  switch (part) {
    case 'path':
      return matchesPath(pattern, call)
    case 'method':
      return matchesText(pattern.method, call.method)
    case 'body':
      return matchesBody(pattern.body, call.body)
    case 'headers':
      return matchesFields(pattern.headers, call.fields)
  }
}

function matchesPath(pattern: MockPattern, call: MockCall): boolean {
  const path = pattern.ignoreTrailingSlash ? call.barePath : call.path
  if (pattern.named !== null) {
    const params = pattern.named(path)
    if (params !== null) call.params = params
    return params !== null
  }
  return pattern.sortedPath === null ? matchesText(pattern.path, path) : pattern.sortedPath === path
}
