// A jar against a naive model of RFC 6265bis: which cookies a URL gets, what eviction leaves, and that both written forms
// come back equal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { domainMatches } from '../../src/cookies/jar/host.ts'
import { defaultPath, pathMatches } from '../../src/cookies/jar/path.ts'
import { CookieJar, type JarCookie } from '../../src/index.ts'

const NOW = Date.UTC(2026, 0, 1)

const label = fc.constantFrom('a', 'b', 'ab', 'com', 'x--y')
const host = fc.oneof(
  { weight: 6, arbitrary: fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')) },
  { weight: 1, arbitrary: fc.constantFrom('192.0.2.7', '2.7.0.2', '[::1]', '[2001:db8::7]', 'localhost') },
)
const segment = fc.constantFrom('', 'a', 'ab', 'b', '%20', '__proto__')
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`)

function isAddress(text: string): boolean {
  return text.startsWith('[') || /\.\d+$/.test(text)
}

/** §5.1.3, label by label. */
function domainModel(name: string, domain: string): boolean {
  if (name === domain) return true
  if (isAddress(name)) return false
  const labels = name.split('.')
  const wanted = domain.split('.')
  return (
    labels.length > wanted.length &&
    wanted.every((one, i) => labels[labels.length - wanted.length + i] === one)
  )
}

/** §5.1.4, with every prefix that ends at a slash. */
function pathModel(requested: string, cookiePath: string): boolean {
  if (requested === cookiePath) return true
  for (let i = 0; i < requested.length; i++) {
    if (requested[i] !== '/') continue
    if (requested.slice(0, i) === cookiePath || requested.slice(0, i + 1) === cookiePath) return true
  }
  return false
}

test('domains match as the model says', () => {
  fc.assert(
    fc.property(host, host, (name, domain) => domainMatches(name, domain) === domainModel(name, domain)),
  )
})

test('paths match as the model says, and a request matches its own default path', () => {
  fc.assert(
    fc.property(path, path, (requested, cookiePath) => {
      assert.equal(pathMatches(requested, cookiePath), pathModel(requested, cookiePath))
      assert.ok(pathMatches(requested, defaultPath(requested)))
    }),
  )
})

const name = fc.constantFrom('a', 'b', 'c', '', '__proto__', 'constructor')
const setting = fc.record({
  scheme: fc.constantFrom('http', 'https'),
  host,
  path,
  name,
  value: fc.constantFrom('1', '2', '"x y"', '\u00e9'),
  domain: fc.option(host),
  cookiePath: fc.option(path),
  secure: fc.boolean(),
  httpOnly: fc.boolean(),
  maxAge: fc.option(fc.constantFrom(0, 5, 50)),
  sameSite: fc.constantFrom(null, 'Strict', 'Lax', 'None'),
  wait: fc.constantFrom(0, 1, 3000),
})
type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never

function textOf({
  name: key,
  value,
  domain,
  cookiePath,
  secure,
  httpOnly,
  maxAge,
  sameSite,
}: Setting): string {
  let text = key === '' ? value : `${key}=${value}`
  if (domain !== null) text += `; Domain=${domain}`
  if (cookiePath !== null) text += `; Path=${cookiePath}`
  if (secure) text += '; Secure'
  if (httpOnly) text += '; HttpOnly'
  if (maxAge !== null) text += `; Max-Age=${maxAge}`
  if (sameSite !== null) text += `; SameSite=${sameSite}`
  return text
}

interface Clock {
  now: number
}

function fill(jar: CookieJar, settings: readonly Setting[], clock: Clock): void {
  for (const one of settings) {
    clock.now += one.wait
    jar.setCookie(textOf(one), `${one.scheme}://${one.host}${one.path}`)
  }
}

test('a URL gets those of all cookies that the model sends it, in order', () => {
  fc.assert(
    fc.property(
      fc.array(setting),
      fc.constantFrom('http', 'https'),
      host,
      path,
      (settings, scheme, at, requested) => {
        const clock = { now: NOW }
        const jar = new CookieJar({ now: () => clock.now, trustLoopback: false })
        fill(jar, settings, clock)
        const url = new URL(`${scheme}://${at}${requested}`)
        const expected = [...jar]
          .filter(({ hostOnly, domain }) =>
            hostOnly ? domain === url.hostname : domainModel(url.hostname, domain),
          )
          .filter((cookie) => pathModel(url.pathname, cookie.path))
          .filter(({ secure }) => !secure || scheme === 'https')
          .sort((a, b) => b.path.length - a.path.length)
        assert.deepEqual(jar.getCookies(url).map(identityOf), expected.map(identityOf))
        const header = expected
          .map(({ name: key, value }) => (key === '' ? value : `${key}=${value}`))
          .join('; ')
        assert.equal(jar.getCookieHeader(url), header)
        for (const { expires } of expected) assert.ok(expires === undefined || expires.getTime() > clock.now)
      },
    ),
  )
})

function identityOf({ name: key, value, domain, hostOnly, path: at }: JarCookie): unknown[] {
  return [key, value, domain, hostOnly, at]
}

test('a jar never has more than its limits, and evicts none that an earlier rule would have spared', () => {
  fc.assert(
    fc.property(fc.array(setting, { maxLength: 60 }), (settings) => {
      const clock = { now: NOW }
      const limits = { maxCookies: 6, maxCookiesPerDomain: 3 }
      const jar = new CookieJar({ now: () => clock.now, ...limits })
      for (const one of settings) {
        clock.now += one.wait
        const before = [...jar]
        jar.setCookie(textOf(one), `${one.scheme}://${one.host}${one.path}`)
        const after = [...jar]
        const kept = new Set(after.map(idOf))
        assert.ok(after.length <= limits.maxCookies)
        for (const { domain } of after) {
          const sharing = after.filter((cookie) => cookie.domain === domain)
          assert.ok(sharing.length <= limits.maxCookiesPerDomain)
        }
        const lost = before.filter((cookie) => !kept.has(idOf(cookie)))
        assert.ok(lost.length <= 1, 'one comes, at most one goes')
        for (const gone of lost) if (one.maxAge !== 0) assert.ok(isFairLoss(gone, after))
      }
    }),
  )
})

function idOf(cookie: JarCookie): string {
  const { name: key, domain, hostOnly, path: at } = cookie
  return JSON.stringify([key, domain, hostOnly, at])
}

/** Not Secure, or nothing of its domain is less; and no equal of it was used before it. */
function isFairLoss(gone: JarCookie, after: readonly JarCookie[]): boolean {
  const sharing = after.filter(({ domain }) => domain === gone.domain)
  const isForDomain = sharing.length === 3
  const rivals = isForDomain ? sharing.filter(({ secure }) => secure === gone.secure) : after
  if (isForDomain && gone.secure && sharing.some(({ secure }) => !secure)) return false
  return rivals.every(({ lastAccessTime }) => lastAccessTime >= gone.lastAccessTime)
}

test('the JSON form comes back equal', () => {
  fc.assert(
    fc.property(fc.array(setting), (settings) => {
      const clock = { now: NOW }
      const jar = new CookieJar({ now: () => clock.now })
      fill(jar, settings, clock)
      const copy = CookieJar.fromJSON(JSON.stringify(jar), { now: () => clock.now })
      assert.deepEqual([...copy], [...jar])
    }),
  )
})

test('a cookies.txt comes back equal, but for what it has no place for', () => {
  fc.assert(
    fc.property(fc.array(setting), (settings) => {
      const clock = { now: NOW }
      const jar = new CookieJar({ now: () => clock.now })
      fill(jar, settings, clock)
      const copy = CookieJar.fromNetscape(jar.toNetscape(), { now: () => clock.now })
      assert.deepEqual([...copy].map(writtenPart), [...jar].map(writtenPart))
      assert.equal(copy.toNetscape(), jar.toNetscape())
    }),
  )
})

function writtenPart({
  creationTime: _,
  lastAccessTime: __,
  sameSite: ___,
  expires,
  ...rest
}: JarCookie): object {
  return { ...rest, expires: expires && Math.ceil(expires.getTime() / 1000) }
}

test('no text that a server writes throws, and what is stored can be sent and written', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          'a',
          '=',
          ';',
          ' ',
          '\t',
          '.',
          'Domain=',
          'Path=',
          '/',
          '__Host-',
          'com',
          '\r',
          '\u00ff',
        ),
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(
      hostile,
      fc.constantFrom('https://a.com/x', 'http://[::1]/', 'http://192.0.2.7/'),
      (text, url) => {
        const jar = new CookieJar({ now: () => NOW })
        jar.setCookie(text, url)
        assert.ok(!/[^\t -~\x80-\xff]/.test(jar.getCookieHeader(url)))
        assert.equal(CookieJar.fromJSON(jar.toJSON(), { now: () => NOW }).size, jar.size)
      },
    ),
  )
})
