/**
 * Where a call goes. A path that is a string stays below the base, whatever it contains: a value of a user in
 * it can neither choose another host nor leave the path of the base.
 */
import { shownUrl } from '../base/address/parse-url.ts'
import { isSecretParameter } from '../base/text/secret-names.ts'
import { InvalidArgumentError } from '../errors.ts'
import { type Query, queryText } from './query.ts'

export interface Target {
  readonly origin: string
  /** With the query. */
  readonly path: string
  /** Not the origin at home: the client's credentials are not for it. */
  readonly isForeign: boolean
}

/** Every segment begins with something else than a dot, and nothing in it has to be encoded. */
const PLAIN = /^\/?[\w~-][\w~.-]*(?:\/[\w~-][\w~.-]*)*\/?$/

const ABSOLUTE = /^https?:/i

/** The base of paths: ends with a slash. */
export function readBase(given: unknown, parent: URL | null): URL {
  if (!(given instanceof URL) && typeof given !== 'string') {
    throw new InvalidArgumentError('baseUrl must be a string or a URL')
  }
  const isRelative = typeof given === 'string' && !URL.canParse(given)
  if (isRelative && parent === null)
    throw new InvalidArgumentError(`baseUrl is not a URL: ${shownUrl(given)}`)
  const base = isRelative ? below(given, parent!) : new URL(given)
  checkHttp(base, 'baseUrl')
  if (base.search !== '' || base.hash !== '') {
    throw new InvalidArgumentError('baseUrl must have neither a query nor a fragment: use the option query')
  }
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}

/**
 * `query` is that of the client, `own` that of the call, which replaces parameters of the same name. `home` is the
 * origin that the credentials are for; null if the caller decides with each URL.
 */
export function targetOf(
  path: unknown,
  base: URL | null,
  query: Query | null,
  own: Query | null,
  home: string | null = base?.origin ?? null,
): Target {
  if (typeof path === 'string' && base !== null && PLAIN.test(path) && query === null && own === null) {
    const { origin, pathname } = base
    return { origin, path: pathname + (path.startsWith('/') ? path.slice(1) : path), isForeign: false }
  }
  const url = readUrl(path, base)
  const isForeign = home !== null && url.origin !== home
  const search = queryText(url.search, isForeign ? null : query, own)
  return { origin: url.origin, path: url.pathname + search, isForeign }
}

function readUrl(path: unknown, base: URL | null): URL {
  let url: URL
  if (path instanceof URL) url = path
  else if (typeof path !== 'string') throw new InvalidArgumentError('path must be a string or a URL')
  else if (base !== null) url = below(path, base)
  else if (URL.canParse(path)) url = new URL(path)
  else {
    const expected = /^https?:\/\//i.test(path) ? 'a valid URL' : 'an absolute URL where there is no baseUrl'
    throw new InvalidArgumentError(`path must be ${expected}: ${shownUrl(path)}`)
  }
  checkHttp(url, 'path')
  return url
}

/** Joined as text: as a relative reference, `//host` and `\\host` would be another host. */
function below(path: string, base: URL): URL {
  const isAbsolute = ABSOLUTE.test(path) && URL.canParse(path)
  if (/^[\\/]{2}/.test(path)) {
    throw new InvalidArgumentError('path must not begin with two slashes: it would name another host')
  }
  const url = new URL(isAbsolute ? path : base.origin + base.pathname + path.replace(/^[\\/]/, ''))
  if (url.origin !== base.origin || !`${url.pathname}/`.startsWith(base.pathname)) {
    const advice = url.origin === base.origin ? '' : '; pass a URL object to go elsewhere on purpose'
    throw new InvalidArgumentError(`path leads out of baseUrl ${base.href}: ${shownUrl(path)}${advice}`)
  }
  return url
}

function checkHttp(url: URL, what: string): void {
  if (!/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError(`${what} must start with http: or https:, not ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(`${what} must not have a user name or password: use the option auth`)
  }
}

/** A URL as messages show it: without credentials, and without the values of parameters that are secrets. */
export function shownTarget(url: string): string {
  const [place, query] = url.split('#', 1)[0]!.split(/\?(.*)/s, 2) as [string, string?]
  const shown = place.replace(/\/\/[^/]*@/, '//')
  return query ? `${shown}?${query.split('&').map(withoutSecret).join('&')}` : shown
}

function withoutSecret(pair: string): string {
  const [name] = new URLSearchParams(pair).keys()
  return isSecretParameter(name ?? '') ? `${pair.split('=', 1)[0]}=…` : pair
}
