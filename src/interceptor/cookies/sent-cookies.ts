/** The `cookie` header of a request that has cookies of a jar, and maybe some that its caller wrote. */

import { headerValues, readableAgain, withHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions, HeaderValueInput } from '../../request/dispatch-options.ts'
import { isPairIterable } from '../../request/headers-input.ts'

/** A copy of the options with the cookies; the same object if there are none. */
export function withCookies(opts: DispatchOptions, fromJar: string): DispatchOptions {
  if (fromJar === '') return opts
  const headers = headersWith(readableAgain(opts.headers), fromJar)
  // Node 20 makes a slow object of a spread to which a property is added.
  return Object.hasOwn(opts, 'headers') ? { ...opts, headers } : { headers, ...opts }
}

function headersWith(given: DispatchOptions['headers'], fromJar: string): DispatchOptions['headers'] {
  const names = isRecord(given) ? Object.keys(given ?? {}).filter(isCookieName) : null
  // Few callers write cookies beside those of a jar.
  if (names?.length === 0) return { ...(given as Record<string, HeaderValueInput>), cookie: fromJar }
  const written = headerValues(given, 'cookie').filter((value) => value !== '')
  const cookie = written.length === 0 ? fromJar : merged(written.join('; '), fromJar)
  if (names === null) return withHeaders(given, { cookie })
  // Still an object: other interceptors may look for names in it.
  const copy = { ...(given as Record<string, HeaderValueInput>) }
  for (const name of names) delete copy[name]
  return { ...copy, cookie }
}

function isCookieName(name: string): boolean {
  return name.length === 'cookie'.length && name.toLowerCase() === 'cookie'
}

function isRecord(headers: DispatchOptions['headers']): boolean {
  if (headers === null || headers === undefined) return true
  return typeof headers === 'object' && !Array.isArray(headers) && !isPairIterable(headers)
}

/** The caller's cookies, then those of the jar that have other names: a server takes the first of two. */
function merged(written: string, fromJar: string): string {
  const names = new Set(written.split(';').map(nameOf))
  const others = fromJar.split('; ').filter((pair) => !names.has(nameOf(pair)))
  return others.length === 0 ? written : `${written}; ${others.join('; ')}`
}

/** Empty for a cookie without a name. */
function nameOf(pair: string): string {
  const equals = pair.indexOf('=')
  return equals === -1 ? '' : pair.slice(0, equals).trim()
}
