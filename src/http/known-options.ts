/** The options by name: one that nobody knows would have no effect, so it is an error, with what was meant. */

import { InvalidArgumentError } from '../errors.ts'
import { nearestName } from '../option-names.ts'
import { typeName } from '../options.ts'

const SHARED = [
  'headers',
  'query',
  'retry',
  'timeout',
  'hooks',
  'redirect',
  'throwOnError',
  'cookies',
] as const

const OF_CLIENT: ReadonlySet<string> = new Set([
  ...SHARED,
  ...['baseUrl', 'dispatcher', 'guard', 'throttle', 'circuitBreaker', 'cache', 'auth', 'decompress'],
])
const OF_CALL: ReadonlySet<string> = new Set([...SHARED, 'signal', 'idempotent', 'onDownloadProgress'])

export const BODY_OPTIONS: readonly ['json', 'form', 'multipart', 'body'] = [
  'json',
  'form',
  'multipart',
  'body',
]
const OF_BODY: ReadonlySet<string> = new Set([...OF_CALL, ...BODY_OPTIONS, 'onUploadProgress'])

/** Where options are given. */
export type OptionPlace = 'extend()' | 'a call' | 'a call with a body' | 'paginate()' | 'timeout' | 'hooks'

const KNOWN: Readonly<Record<OptionPlace, ReadonlySet<string>>> = {
  'extend()': OF_CLIENT,
  'a call': OF_CALL,
  'a call with a body': OF_BODY,
  'paginate()': new Set([...OF_CALL, 'next', 'schema']),
  timeout: new Set(['attempt', 'total']),
  hooks: new Set(['beforeRequest', 'afterResponse', 'beforeRetry']),
}

/** What other clients call it. */
const MEANT: Readonly<Record<string, string>> = {
  params: 'query',
  searchParams: 'query',
  qs: 'query',
  data: 'json, form or body',
  prefixUrl: 'baseUrl',
  url: 'the first argument',
  agent: 'dispatcher',
  maxRedirects: 'redirect',
  followRedirect: 'redirect',
  throwHttpErrors: 'throwOnError',
  validateStatus: 'throwOnError',
  jar: 'cookies',
  cookieJar: 'cookies',
  formData: 'multipart',
  responseType: 'json(), text() or bytes() of the call',
  request: 'total',
  response: 'attempt',
  init: 'beforeRequest',
  maxRetries: 'retry',
  retries: 'retry',
}

/** Throws for anything but an object whose names are all known here. */
export function checkNames(given: unknown, place: OptionPlace): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidArgumentError(`the options of ${place} must be an object, not ${typeName(given)}`)
  }
  for (const name of Object.keys(given)) {
    if (!KNOWN[place].has(name)) throw unknownOption(name, place)
  }
}

function unknownOption(name: string, place: OptionPlace): Error {
  const elsewhere = Object.entries(KNOWN).find(([, names]) => names.has(name))
  const meant = (Object.hasOwn(MEANT, name) ? MEANT[name] : undefined) ?? nearestName(name, [...KNOWN[place]])
  const hint = meant ? `: did you mean ${meant}?` : elsewhere ? `: it belongs to ${elsewhere[0]}` : ''
  return new InvalidArgumentError(`\`${name}\` is not an option of ${place}${hint}`)
}
