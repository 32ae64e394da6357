/** Which requests may share a response, and the key that those have in common. */

import type { HeaderObject } from '../../protocol/header-block.ts'
import { fieldLines, varyNames } from '../../relay/fields.ts'
import { ownTerms } from '../../relay/own-terms.ts'
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
    // The cookies of its user come in further inside.
    (typeof opts.cookies !== 'object' || opts.cookies === null)
  )
}

/** Null if the request asks for a response that is not for others. */
export function sharedKey(view: RequestView, settings: DeduplicateSettings): string | null {
  const { headers, control } = view
  if (control['no-store'] === true || fieldLines(headers, 'range') !== undefined) return null
  for (const name of settings.skipped) if (fieldLines(headers, name) !== undefined) return null
  return keyOf(view, settings)
}

/** JSON: no value can contain a delimiter that makes it look like two. */
function keyOf({ key, headers, opts }: RequestView, { excluded }: DeduplicateSettings): string {
  const compared = Object.create(null) as HeaderObject
  for (const name of Object.keys(headers).sort()) {
    if (!excluded.has(name)) compared[name] = headers[name]!
  }
  const parts: unknown[] = [key.origin, key.method, key.path, compared]
  const terms = ownTerms(opts)
  if (terms !== '') parts.push(terms)
  return JSON.stringify(parts)
}

/** Whether the response depends on a header in which the requests may differ. */
export function dependsOnExcluded(response: HeaderObject, { excluded }: DeduplicateSettings): boolean {
  if (excluded.size === 0) return false
  const names = varyNames(response)
  return names === null || names.some((name) => excluded.has(name))
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}
