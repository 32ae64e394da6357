/**
 * The error of an unmatched request that may not go to the network: the first line is undici's, the others
 * help to find the mistake.
 */

import type { MockCall } from '../mock-call.ts'
import { type Mismatch, MockNotMatchedError, type NearestInterceptor } from '../mock-errors.ts'
import type { OriginMocks } from '../origin-mocks.ts'
import { placeOf } from './definition-site.ts'
import { eachField } from './header-matcher.ts'
import type { Interception, OriginMatcher } from './interception.ts'
import type { MatchRun } from './match-run.ts'
import { findNearest, mismatchesOf, shownBody, shownMatcher, shownPath } from './nearest.ts'
import { shownFields, shownQuery, shownValue } from './secrets.ts'

/**
 * @param known The sets of interceptors of all origins.
 * @param refusal Why the network may not be used.
 */
export function notMatched(
  run: MatchRun,
  known: readonly OriginMocks[],
  refusal: string,
): MockNotMatchedError {
  const { call, stage, mocks } = run
  const host = URL.canParse(call.origin) ? new URL(call.origin).host : call.origin
  const path = shownQuery(call.path)
  const remaining = mocks.live.size
  const defined = mocks.all.length
  const first = `Mock dispatch not matched for ${PART_TEXTS[stage](call)}path '${path}': subsequent request to origin ${call.origin} was not allowed (${refusal}), ${remaining} interceptor(s) remaining out of ${defined} defined`
  const found = findNearest(run, mocks.all)
  const mismatches = found === null ? [] : mismatchesOf(run, found)
  const nearest = found === null ? null : describe(found, mocks.origin)
  const lines = [
    first,
    `Request:  ${call.method} ${call.origin}${path}`,
    nearest === null ? originsLine(mocks, known) : nearestLine(nearest),
    ...mismatches.flatMap(mismatchLines),
    `Advice:   enableNetConnect('${host}') would send it to the network`,
  ]
  return new MockNotMatchedError(lines.join('\n'), {
    request: {
      method: call.method,
      origin: call.origin,
      path,
      headers: shownFields(call.fields),
      body: (call.body ?? null) === null ? null : shownBody(call),
    },
    nearest,
    mismatches,
    stage: defined === 0 ? 'origin' : stage,
  })
}

/** The part of a request that no interceptor accepts, if it is not the path. */
const PART_TEXTS: Readonly<Record<MatchRun['stage'], (call: MockCall) => string>> = {
  path: () => '',
  method: ({ method }) => `method '${method}' on `,
  body: (call) => `body '${shownBody(call)}' on `,
  headers: ({ options }) => `headers '${headersText(options.headers)}' on `,
}

/** JSON in the shape that the caller gave; secrets as their length. */
function headersText(headers: unknown): string {
  const shown = Array.from(eachField(headers), ([name, value]) => [name, shownValue(name, value)])
  return JSON.stringify(Array.isArray(headers) ? shown.flat() : Object.fromEntries(shown))
}

function describe(interception: Interception, origin: OriginMatcher): NearestInterceptor {
  const { pattern, times, timesInvoked, persist, consumed } = interception
  return {
    method: shownMatcher(pattern.method),
    origin: shownMatcher(origin),
    path: shownPath(pattern.path),
    times,
    timesInvoked,
    persist,
    consumed,
    definedAt: placeOf(pattern.site),
  }
}

function nearestLine(nearest: NearestInterceptor): string {
  const { method, origin, path, definedAt } = nearest
  const place = definedAt === null ? '' : `, defined at ${definedAt}`
  return `Nearest:  ${method} ${origin}${path}  (${supplyOf(nearest)}${place})`
}

function supplyOf({ persist, consumed, times, timesInvoked }: NearestInterceptor): string {
  if (persist) return 'persistent'
  if (!consumed) return `${times - timesInvoked} of ${times} left`
  return `used up after ${timesInvoked} ${timesInvoked === 1 ? 'use' : 'uses'}: times(n) or persist()`
}

function originsLine(mocks: OriginMocks, known: readonly OriginMocks[]): string {
  // An unknown origin has a set without a name.
  if (mocks.origin !== '' || known.length === 0) return 'Nearest:  no interceptor is defined'
  return `Origins:  ${known.map(({ origin }) => shownMatcher(origin)).join(', ')}`
}

function mismatchLines({ part, expected, received, difference }: Mismatch): string[] {
  const name = part.padEnd(7)
  const where = difference === null ? '' : `   first difference at ${difference}`
  return [`  ${name} expected ${expected}`, `  ${' '.repeat(name.length)} received ${received}${where}`]
}
