/** Which requests may share a response, and the key that those have in common. */

import type { HeaderObject } from '../../protocol/header-block.ts'
import { hasAny, varyNames } from '../../relay/fields.ts'
import type { OwnTerms } from '../../relay/own-terms.ts'
import type { RequestView } from '../../relay/request-view.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { DeduplicateSettings } from './options.ts'

/** Without a look at the headers: they may be readable only once. */
export function isCandidate(opts: DispatchOptions, { methods }: DeduplicateSettings): boolean {
  return (
    methods.has(opts.method) &&
    isAbsent(opts.body) &&
    isAbsent(opts.trailers) &&
    !opts.upgrade &&
    // The caller declares that the request has an effect.
    opts.idempotent !== false &&
    // Layers further inside add the cookies of its user.
    (typeof opts.cookies !== 'object' || opts.cookies === null)
  )
}

/** Null if the request asks for a response that is not for others. */
export function sharedKey(view: RequestView, settings: DeduplicateSettings, terms: OwnTerms): string | null {
  const { key, headers, control, opts } = view
  if (control['no-store'] === true || hasAny(headers, ['range', ...settings.skipHeaderNames])) return null
  const compared = Object.create(null) as HeaderObject
  for (const name of Object.keys(headers).sort()) {
    if (!settings.excludeHeaderNames.has(name)) compared[name] = headers[name]!
  }
  const parts: unknown[] = [key.origin, key.method, key.path, compared]
  const own = terms.of(opts)
  if (own !== '') parts.push(own)
  // JSON: no value can contain a delimiter that makes it look like two.
  return JSON.stringify(parts)
}

/** Whether the response depends on a header in which the requests may differ. */
export function dependsOnExcluded(response: HeaderObject, excluded: ReadonlySet<string>): boolean {
  if (excluded.size === 0) return false
  const names = varyNames(response)
  return names === null || names.some((name) => excluded.has(name))
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}
