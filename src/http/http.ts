/** The client that all others are made from. */

import { InvalidArgumentError } from '../errors.ts'
import { clientOf, type Http } from './client.ts'
import { DEFAULTS } from './settings.ts'

/**
 * A client for calling services: JSON in and out, errors for bad statuses, and in `extend()` the base URL,
 * retries, time limits, a cache and more.
 *
 * @example
 * const api = http.extend({ baseUrl: 'https://example.com/v1/', timeout: { total: 5000 } })
 * const user = await api.get('users/1').json()
 */
export const http: Http = Object.freeze({
  ...clientOf(DEFAULTS),
  // It belongs to all modules of a program.
  close: () =>
    Promise.reject(new InvalidArgumentError('close a client that extend() has made, not http itself')),
})
