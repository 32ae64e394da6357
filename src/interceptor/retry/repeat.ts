/** What of a request decides whether it may be repeated, and its options from one attempt to the next. */

import { ignoreRejection } from '../../base/loop/stray-promise.ts'
import { loadCrypto } from '../../base/node/lazy-modules.ts'
import { hasHeader, ownOptions, type Replacements, withHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import type { RetrySettings } from './options.ts'

const IDEMPOTENCY_KEY = 'idempotency-key'

/**
 * The methods that the field is for: doing the others twice is harmless, or has nothing to do with the
 * server's state.
 */
const KEYED_METHODS = new Set(['POST', 'PATCH'])

/**
 * A copy of the caller's options, which may change before the request is sent again, with what all attempts
 * share.
 */
export function optionsToRepeat(opts: DispatchOptions, settings: RetrySettings): DispatchOptions {
  const copy = ownOptions(opts)
  if (
    settings.idempotencyKey &&
    KEYED_METHODS.has(copy.method) &&
    !hasHeader(copy.headers, IDEMPOTENCY_KEY)
  ) {
    copy.headers = withHeaders(copy.headers, { [IDEMPOTENCY_KEY]: loadCrypto().randomUUID() })
  }
  return copy
}

/** Doing it twice is harmless. */
export function isRepeatable(opts: DispatchOptions, settings: RetrySettings): boolean {
  if (typeof opts.idempotent === 'boolean') return opts.idempotent
  if (settings.methods.has(opts.method)) return true
  return settings.idempotencyKey && KEYED_METHODS.has(opts.method) && hasHeader(opts.headers, IDEMPOTENCY_KEY)
}

/** The options as a dispatcher takes them: `body` may be a function that makes one for each attempt. */
export function optionsOfAttempt(opts: DispatchOptions, fields: Replacements | null): DispatchOptions {
  const { body: make } = opts
  let made = opts
  if (typeof make === 'function') {
    made = { ...opts, body: make() }
    // A dispatcher refuses a promise.
    ignoreRejection(made.body)
  }
  return fields === null ? made : { ...made, headers: withHeaders(opts.headers, fields) }
}
