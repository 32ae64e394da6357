// The Set-Cookie cases of web-platform-tests. They state what a browser exposes after storing the received cookies. The
// library only parses, so the storage model is implemented here (RFC 6265bis §5.7, §5.8).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCookie } from '../../src/cookies/api.ts'
import {
  agrees,
  type CookieCase,
  cookieCases,
  DAMAGED_CASES,
  pageOf,
  skipCookieCases,
} from '../support/cookie-cases.ts'

interface Stored {
  name: string
  value: string
  domain: string
  hostOnly: boolean
  path: string
  secure: boolean
  httpOnly: boolean
}

/** The dates of the cases are in 2027 and 2038, or in 2007 and before. */
const NOW = Date.UTC(2025, 0, 1)

/** Cases with a different result in this library, each with its reason. */
const REVIEWED: Record<string, string> = {
  "No cookie sent for redirected path match with a trailing ';' inside a quoted Path":
    'A path that is none becomes "/" here. A browser takes the directory of the request, which parseCookie does not know.',
  'Set cookie but ignore value after LF':
    'A line feed ends a header line, so none can be inside the value; parseCookie refuses a text that has one.',
  ...DAMAGED_CASES,
}

class Store {
  readonly #cookies: Stored[] = []

  receive(text: string, from: URL, defaultPath: string): void {
    const cookie = parseCookie(text)
    if (cookie === null || (cookie.name === '' && cookie.value === '')) return
    const wanted = cookie.domain ?? ''
    const isPublicSuffix = !wanted.includes('.')
    if (wanted !== '' && (isPublicSuffix || !domainMatches(from.hostname, wanted))) return
    if (cookie.secure === true && from.protocol !== 'https:') return
    const stored: Stored = {
      name: cookie.name,
      value: cookie.value,
      domain: wanted === '' ? from.hostname : wanted,
      hostOnly: wanted === '',
      path: cookie.path ?? defaultPath,
      secure: cookie.secure ?? false,
      httpOnly: cookie.httpOnly ?? false,
    }
    if (!keepsPrefix(stored, cookie.path)) return

    const at = this.#cookies.findIndex(
      (old) =>
        old.name === stored.name &&
        old.domain === stored.domain &&
        old.hostOnly === stored.hostOnly &&
        old.path === stored.path,
    )
    const expired =
      cookie.maxAge !== undefined
        ? cookie.maxAge <= 0
        : (cookie.expires?.valueOf() ?? Number.POSITIVE_INFINITY) <= NOW
    if (expired) {
      if (at !== -1) this.#cookies.splice(at, 1)
    } else if (at === -1) {
      this.#cookies.push(stored)
    } else {
      this.#cookies[at] = stored
    }
  }

  show(to: URL): string {
    return this.#cookies
      .filter((one) => (one.hostOnly ? one.domain === to.hostname : domainMatches(to.hostname, one.domain)))
      .filter((one) => pathMatches(to.pathname, one.path))
      .sort((a, b) => b.path.length - a.path.length)
      .map((one) => (one.name === '' ? one.value : `${one.name}=${one.value}`))
      .join('; ')
  }
}

function domainMatches(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`)
}

function pathMatches(requested: string, cookiePath: string): boolean {
  if (requested === cookiePath) return true
  return requested.startsWith(cookiePath.endsWith('/') ? cookiePath : `${cookiePath}/`)
}

function keepsPrefix(cookie: Stored, givenPath: string | undefined): boolean {
  const name = cookie.name.toLowerCase()
  if (/^__(?:host-)?http-/.test(name) && !(cookie.secure && cookie.httpOnly)) return false
  if (name.startsWith('__secure-')) return cookie.secure
  if (name.startsWith('__host-')) return cookie.secure && cookie.hostOnly && givenPath === '/'
  return true
}

/** The visible cookies after a case, in the form of its `cookie`. */
function visible(vector: CookieCase, host: string): string {
  const page = pageOf(vector, host)
  // Before a redirect, a script in another directory sets the cookies; otherwise the page sees its own cookies.
  const defaultPath = vector.via === 'redirect' ? '/cookies/resources' : '/'
  const store = new Store()
  for (const text of vector.setCookie) store.receive(text, page, defaultPath)
  return store.show(new URL(vector.location ?? page, page))
}

test('Set-Cookie cases of web-platform-tests agree or are reviewed', { skip: skipCookieCases }, () => {
  const { host, vectors } = cookieCases
  assert.ok(vectors.length > 0)
  const differing = vectors
    .filter((vector) => !agrees(vector, visible(vector, host)))
    .map((vector) => vector.name)
  assert.deepEqual(differing.sort(), Object.keys(REVIEWED).sort())
})
