/** Where a redirect leads, and how it changes the request (RFC 9110 §15.4). */
import { InvalidArgumentError } from '../../errors.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { keepHeaders } from '../../relay/request-headers.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { dropReplacement } from '../../request/logical-origin.ts'
import type { RedirectSettings } from './options.ts'

const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308])

/** Fields that are meant for one origin. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** Fields that hold no secrets: everything else is left out with `stripHeadersOnCrossOriginRedirect: '*'`. */
const HARMLESS = /^(?:accept(?:-.*)?|user-agent|content-.*|range|if-.*)$/

const BEYOND_ASCII = /[^\0-\x7e]/

/** The `location` of a redirect; null if there is none to follow. */
export function locationOf(statusCode: number, headers: HeaderObject): string | null {
  if (!REDIRECTS.has(statusCode)) return null
  const { location } = headers
  // Several that differ are no redirect: what lies between the server and us could have read the other one.
  const text = Array.isArray(location) && new Set(location).size === 1 ? location[0] : location
  return typeof text === 'string' && text.trim() !== '' ? text : null
}

/** Credentials and fragment are left out: they are not sent. Throws for anything but an http(s) URL. */
export function targetOf(location: string, base: URL): URL {
  // A field value is bytes. Servers that send more than ASCII send UTF-8.
  const text = BEYOND_ASCII.test(location) ? Buffer.from(location, 'latin1').toString() : location
  const target = URL.canParse(text, base.href) ? new URL(text, base.href) : null
  if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  target.username = ''
  target.password = ''
  target.hash = ''
  return target
}

/** Whether the next request is a GET or HEAD without the body. */
export function dropsBody(statusCode: number, method: string): boolean {
  return statusCode === 303 || (method === 'POST' && (statusCode === 301 || statusCode === 302))
}

/** The request to `to` that replaces one to `from`. */
export function nextRequest(
  opts: DispatchOptions,
  statusCode: number,
  from: URL,
  to: URL,
  settings: RedirectSettings,
): DispatchOptions {
  const drops = dropsBody(statusCode, opts.method)
  const crosses = from.origin !== to.origin
  const downgrades = from.protocol === 'https:' && to.protocol === 'http:'
  const { stripHeadersOnRedirect: stripped, stripHeadersOnCrossOriginRedirect: strippedAcross } = settings
  const keeps = (name: string): boolean =>
    name !== 'host' &&
    !(drops && name.startsWith('content-')) &&
    !(downgrades && name === 'referer') &&
    stripped?.has(name) !== true &&
    !(crosses && (CREDENTIALS.has(name) || isStripped(name, strippedAcross)))
  const next: DispatchOptions = {
    ...opts,
    path: to.pathname + to.search,
    query: null,
    headers: keepHeaders(opts.headers, keeps),
  }
  // A dispatcher that chooses among several origins is not asked for one.
  if (opts.origin !== undefined) next.origin = to.origin
  dropReplacement(next)
  // The name was for the certificate of the first origin.
  if (crosses) next.servername = null
  if (drops) {
    next.method = opts.method === 'HEAD' ? 'HEAD' : 'GET'
    next.body = null
    next.trailers = null
    next.expectContinue = null
  }
  return next
}

/** In lower case. */
export function isHarmlessField(name: string): boolean {
  return HARMLESS.test(name)
}

function isStripped(name: string, stripped: ReadonlySet<string> | '*' | null): boolean {
  return stripped === '*' ? !isHarmlessField(name) : stripped?.has(name) === true
}
