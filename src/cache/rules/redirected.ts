/**
 * Responses that came after redirects, where `redirect` is nearer to the origin than the cache. They belong
 * to another URL than the one asked for, and are stored under that one only if every redirect would be reused
 * as well.
 */

import { hasAny } from '../../relay/fields.ts'
import type { RequestView } from '../../relay/request-view.ts'
import type { Followed, FollowedRedirect } from '../../relay/response-facts.ts'
import { isPlainTarget, sentOrigin } from '../../relay/target-uri.ts'
import type { CacheSettings } from '../options.ts'
import type { CacheValue } from '../store/cache-store.ts'
import { entryOf } from './entry.ts'
import { storingRefusal } from './storability.ts'
import { controlOf } from './targeted-control.ts'
import { varyValues } from './vary.ts'

type Step = FollowedRedirect & { readonly requestTime: number }

/** A server may redirect by these without saying so in Vary. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']

/**
 * The stored form of the last response, `last`, under the URL that was asked for at `askedAt`; null if it
 * must not be stored. Each redirect limits how long it is used, and for whom.
 */
export function entryAfterRedirects(
  last: CacheValue,
  followed: Followed,
  askedAt: number,
  view: RequestView,
  settings: CacheSettings,
  hidden: ReadonlySet<string>,
): CacheValue | null {
  if (followed === 'unknown' || last.cacheControlDirectives['no-cache'] !== undefined) return null
  if (hasAny(view.headers, CREDENTIALS)) return null
  const { origin } = view.key
  // `host` does not go along to every hop, and another origin could plant a response here.
  if (!isPlainTarget(origin) || followed.some(({ to }) => to.origin !== sentOrigin(origin))) return null
  let { staleAt } = last
  // When each request was sent is not known: at the earliest after the response before it.
  let requestTime = askedAt
  const names = new Set(Object.keys(last.vary ?? {}))
  for (const redirect of followed) {
    const step = stepOf({ ...redirect, requestTime }, view, settings, hidden)
    if (step === null) return null
    requestTime = redirect.responseTime
    staleAt = Math.min(staleAt, step.staleAt)
    for (const name of Object.keys(step.vary ?? {})) names.add(name)
  }
  if (staleAt <= Date.now()) return null
  // Not kept beyond its time: its validators are those of another URL, so that nothing can confirm it.
  const value: CacheValue = { ...last, staleAt, deleteAt: staleAt }
  const vary = varyValues([...names], view.headers)
  if (vary !== undefined) value.vary = vary
  return value
}

/** A redirect as it would be stored; null if it would not, or not used without asking. */
function stepOf(
  redirect: Step,
  view: RequestView,
  settings: CacheSettings,
  hidden: ReadonlySet<string>,
): CacheValue | null {
  const { headers } = redirect
  const facts = { ...redirect, statusText: '', ...controlOf(headers, settings.targets) }
  const { control } = facts
  if (control['no-cache'] !== undefined || control.private !== undefined || control['must-revalidate']) {
    return null
  }
  if (storingRefusal(facts, view, settings, hidden) !== null) return null
  return entryOf(facts, view.headers, settings)
}
