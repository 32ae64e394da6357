/**
 * Looks for the interceptor of one call: of those that accept its path, method, body and headers, the first registered.
 * Each matcher runs once at most, also if the body has to be collected in between.
 */

import type { MockCall } from '../mock-call.ts'
import { matchesBody } from './body-matcher.ts'
import { matchesFields } from './header-matcher.ts'
import type { Interception } from './interception.ts'
import { matchesText } from './text-matcher.ts'

/** The parts of a request, in the order in which they are compared. */
export const PARTS = ['path', 'method', 'body', 'headers'] as const
const BODY = 2

export class MatchRun {
  readonly call: MockCall
  #candidates: readonly Interception[]
  #index = 0
  /** The first part of the candidate at the index that was not compared yet. */
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
      // A matcher or another request may have used it up meanwhile.
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

  /** The first part that an interceptor refused; null if it was not asked. */
  refusedBy(candidate: Interception): number | null {
    return this.#failures?.get(candidate) ?? null
  }

  /** The part that left none. */
  get stage(): (typeof PARTS)[number] {
    let furthest = 0
    for (const part of this.#failures?.values() ?? []) furthest = Math.max(furthest, part)
    return PARTS[furthest]!
  }

  #compare({ pattern }: Interception): number | null | 'unread' {
    const { call } = this
    if (this.#part < BODY) {
      if (!matchesPath(pattern, call)) return 0
      if (!matchesText(pattern.method, call.method)) return 1
    }
    if (pattern.body !== undefined && pattern.body !== null) {
      if (call.hasUnreadBody) {
        this.#part = BODY
        return 'unread'
      }
      if (!matchesBody(pattern.body, call.body)) return BODY
    }
    return pattern.headers === undefined || matchesFields(pattern.headers, call.fields) ? null : BODY + 1
  }
}

function matchesPath(pattern: Interception['pattern'], call: MockCall): boolean {
  const path = pattern.ignoreTrailingSlash ? call.barePath : call.path
  if (pattern.named !== null) {
    const params = pattern.named(path)
    if (params === null) return false
    call.params = params
    return true
  }
  return pattern.sortedPath === null ? matchesText(pattern.path, path) : pattern.sortedPath === path
}
