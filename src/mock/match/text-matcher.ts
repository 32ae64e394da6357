/** Matchers for one text: string, RegExp or function. */
import { isRegExp } from 'node:util/types'
import { ignoreRejection } from '../../base/loop/stray-promise.ts'

/** A string is compared, a RegExp tested; a function decides by returning true. */
export type TextMatcher<T = string> = string | RegExp | ((value: T) => boolean)

/** Matchers of any other kind never match. */
export function matchesText(matcher: unknown, value: unknown): boolean {
  if (typeof matcher === 'string') return matcher === value
  if (typeof matcher === 'function') return decidesFor(matcher as (value: unknown) => unknown, value)
  return isRegExp(matcher) && testPattern(matcher, value as string)
}

export function decidesFor(matcher: (value: unknown) => unknown, value: unknown): boolean {
  const decision = matcher(value)
  ignoreRejection(decision)
  return decision === true
}

/** A RegExp with the flag `g` or `y` keeps `lastIndex`, and would refuse every second request. */
export function testPattern(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  const found = pattern.test(text)
  pattern.lastIndex = 0
  return found
}
