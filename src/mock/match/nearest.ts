/** The interceptor closest to an unmatched request, and the parts in which they differ. */
import { isRegExp } from 'node:util/types'
import { isFunction } from '../../options.ts'
import { bytesOf, isForm, textOf } from '../mock-body.ts'
import type { MockCall } from '../mock-call.ts'
import type { Mismatch } from '../mock-errors.ts'
import { jsonDifference } from './body-matcher.ts'
import { matchesField } from './header-matcher.ts'
import type { Interception } from './interception.ts'
import { ACCEPTS, type MatchRun, PARTS } from './match-run.ts'
import { sortedPath } from './request-path.ts'
import { shownFields, shownQuery, shownValue } from './secrets.ts'

/** Characters of a body shown in a message. */
const MOST_SHOWN = 1000
/** Longer paths are compared up to here. */
const MOST_COMPARED = 200

/** Null if there is no interceptor at all. */
export function findNearest(run: MatchRun, all: readonly Interception[]): Interception | null {
  const { path } = run.call
  const alike = best(all, (one) => PARTS.filter((_, part) => isAlike(run, one, part)).length)
  const close = best(alike, ({ pattern: { sortedPath } }) =>
    sortedPath === null ? -path.length : -editDistance(sortedPath, path),
  )
  return close[0] ?? null
}

/** Those with the highest score. */
function best<T>(items: readonly T[], scoreOf: (item: T) => number): T[] {
  const scores = items.map(scoreOf)
  const highest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  return items.filter((_, i) => scores[i] === highest)
}

/**
 * Parts before the one that failed did match; later ones were not compared. Matcher functions are not called
 * just for a message.
 */
function isAlike(run: MatchRun, candidate: Interception, part: number): boolean {
  const refused = run.refusedBy(candidate)
  if (refused !== null && part <= refused) return part < refused
  const name = PARTS[part]!
  const matcher = candidate.pattern[name]
  const matchers = name === 'headers' && typeof matcher === 'object' ? Object.values(matcher) : [matcher]
  if (matchers.some(isFunction) || (name === 'body' && run.call.hasUnreadBody)) return false
  return ACCEPTS[name](candidate.pattern, run.call)
}

export function mismatchesOf(run: MatchRun, nearest: Interception): Mismatch[] {
  const { pattern } = nearest
  const { call } = run
  const differs = (part: number): boolean => !isAlike(run, nearest, part)
  const mismatches: Mismatch[] = []
  const add = (part: string, expected: string, received: string, difference: string | null = null): void => {
    mismatches.push({ part, expected, received, difference })
  }
  if (differs(0))
    add('path', shownPath(pattern.path), shownQuery(call.path), parameterDifference(pattern.path, call.path))
  if (differs(1)) add('method', shownMatcher(pattern.method), call.method)
  // A matcher function that was not called is not a mismatch.
  const isCalled = (part: number, matcher: unknown): boolean =>
    !isFunction(matcher) || run.refusedBy(nearest) === part
  if (differs(2) && isCalled(2, pattern.body)) {
    add('body', shownMatcher(pattern.body), shownBody(call), differenceIn(pattern.body, call))
  }
  if (differs(3) && isCalled(3, pattern.headers)) addFields(pattern.headers, call, add)
  return mismatches
}

function addFields(
  matcher: unknown,
  { fields }: MockCall,
  add: (part: string, expected: string, received: string) => void,
): void {
  if (typeof matcher === 'function') {
    add('headers', shownMatcher(matcher), JSON.stringify(shownFields(fields)))
    return
  }
  for (const [name, wanted] of Object.entries(matcher as Record<string, unknown>)) {
    const value = fields[name.toLowerCase()]
    if (!isFunction(wanted) && matchesField(wanted, value)) continue
    const isText = typeof wanted === 'string' || Array.isArray(wanted)
    const expected = shownMatcher(isText ? shownValue(name, wanted) : wanted)
    add(`headers.${name}`, expected, value === undefined ? '(absent)' : String(shownValue(name, value)))
  }
}

/** A matcher as text. */
export function shownMatcher(matcher: unknown): string {
  if (matcher === undefined || matcher === null) return '(any)'
  if (typeof matcher === 'string') return shorten(matcher)
  if (typeof matcher === 'function')
    return matcher.name === '' ? '(a function)' : `(function ${matcher.name})`
  if (isRegExp(matcher) || matcher instanceof URLSearchParams) return String(matcher)
  if (isForm(matcher)) return shorten(JSON.stringify([...matcher].map(([name, value]) => [name, `${value}`])))
  return shorten(textOf(matcher) ?? jsonOf(matcher))
}

/** The query of an interceptor may have secrets, too. */
export function shownPath(matcher: unknown): string {
  return shownMatcher(typeof matcher === 'string' ? shownQuery(matcher) : matcher)
}

/** The first query parameter that differs. Messages show only the lengths of values, so this names it. */
function parameterDifference(matcher: unknown, path: string): string | null {
  if (typeof matcher !== 'string') return null
  const [wanted, received] = [matcher, path].map((one) => sortedPath(one).split(/\?(.*)/s))
  if (wanted![0] !== received![0]) return null
  const [expected, given] = [wanted, received].map((parts) => [...new URLSearchParams(parts![1] ?? '')])
  const at = expected!.findIndex(([name, value], i) => given![i]?.[0] !== name || given![i]?.[1] !== value)
  const name = at === -1 ? given![expected!.length]?.[0] : expected![at]![0]
  return name === undefined ? null : `query.${name}`
}

/** A matcher may be anything. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}

export function shownBody(call: MockCall): string {
  const { body } = call
  if (body === undefined || body === null) return '(none)'
  if (call.hasUnreadBody) return '(a stream)'
  if (isForm(body)) return shownMatcher(body)
  return shorten(textOf(body) ?? String(body))
}

function shorten(text: string): string {
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

function differenceIn(matcher: unknown, { body }: MockCall): string | null {
  if (typeof matcher !== 'object' || matcher === null || isRegExp(matcher) || bytesOf(matcher)) return null
  const text = textOf(body)
  if (text === null || isForm(matcher) || matcher instanceof URLSearchParams) return null
  return jsonDifference(matcher, text) || null
}

/** Insertions, deletions and replacements that turn one path into the other. */
function editDistance(one: string, other: string): number {
  const a = one.slice(0, MOST_COMPARED)
  const b = other.slice(0, MOST_COMPARED)
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
