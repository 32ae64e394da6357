// The methods of a jar, their arguments, and the JSON form.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Cookie,
  CookieJar,
  type CookieJarOptions,
  type SerializedCookieJar,
} from '../../../src/index.ts'

const NOW = Date.UTC(2026, 0, 1)
const SITE = 'https://www.example.com/a/b'
const REFUSED = 'UND_ERR_INVALID_ARG'

function entry(members: object = {}): object {
  return {
    name: 'a',
    value: '1',
    domain: 'example.com',
    hostOnly: true,
    path: '/',
    secure: false,
    httpOnly: false,
    sameSite: null,
    expires: null,
    creationTime: '2025-01-01T00:00:00.000Z',
    lastAccessTime: '2025-01-01T00:00:00.000Z',
    ...members,
  }
}

function restored(cookies: unknown[], options?: CookieJarOptions): CookieJar {
  const data = { version: 1, cookies } as SerializedCookieJar
  return CookieJar.fromJSON(data, { now: () => NOW, ...options })
}

describe('setCookie', () => {
  test('returns the cookie as it is kept', () => {
    const jar = new CookieJar({ now: () => NOW })
    const cookie = jar.setCookie('a=1; Secure; HttpOnly; SameSite=Lax; Max-Age=60; Domain=example.com', SITE)
    assert.deepEqual(cookie, {
      name: 'a',
      value: '1',
      domain: 'example.com',
      hostOnly: false,
      path: '/a',
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
      expires: new Date(NOW + 60_000),
      creationTime: new Date(NOW),
      lastAccessTime: new Date(NOW),
    })
    assert.deepEqual(jar.getCookies(SITE), [cookie])
    assert.deepEqual([...jar], [cookie])
  })

  test('takes a cookie as an object, also one of a jar', () => {
    const jar = new CookieJar({ now: () => NOW })
    jar.setCookie({ name: 'a', value: 'x y', domain: '.EXAMPLE.com', path: '/', maxAge: 60 }, SITE)
    jar.setCookie({ name: 'b', value: '', path: 'nowhere' }, SITE)
    assert.equal(jar.getCookieHeader(SITE), 'b=; a=x y')
    const other = new CookieJar({ now: () => NOW })
    for (const cookie of jar) other.setCookie(cookie, SITE)
    assert.deepEqual(other.toJSON(), jar.toJSON())
  })

  test('a domain in an object may have letters beyond ASCII', () => {
    const jar = new CookieJar()
    jar.setCookie(
      { name: 'a', value: '1', domain: 'b\u00fccher.example', path: '/' },
      'https://x.b\u00fccher.example',
    )
    assert.equal(jar.getCookieHeader('https://b\u00fccher.example/'), 'a=1')
  })

  test('what a server writes never throws', () => {
    const jar = new CookieJar()
    const texts = [
      '',
      ';',
      '=',
      ';;;=;=',
      'a'.repeat(100_000),
      '\0',
      'a=1; Expires=99999999999',
      'a=1; Max-Age=-',
      '\ud800',
    ]
    for (const text of texts) {
      for (const url of [SITE, 'http://[::1]:1/', 'http://1.2.3.4/', 'wss://x/']) jar.setCookie(text, url)
    }
    for (let length = 1; length < 300_000; length *= 7) {
      jar.setCookie(`a=1${'; Domain=.'.repeat(length)}`, SITE)
      jar.setCookie(`a=1; Domain=${'.a'.repeat(length)}`, SITE)
    }
  })

  test('a mistake in an object throws', () => {
    const jar = new CookieJar()
    const rows: [cookie: unknown, message: RegExp][] = [
      [{ name: 'a;b', value: '1' }, /^invalid cookie name$/],
      [{ name: 'a=b', value: '1' }, /^invalid cookie name$/],
      [{ name: ' a', value: '1' }, /^invalid cookie name$/],
      [{ name: 'a', value: '1;2' }, /^invalid cookie value$/],
      [{ name: 'a', value: '\r\n' }, /^invalid cookie value$/],
      [{ name: 'a', value: '\u2713' }, /^invalid cookie value$/],
      [{ name: 'a', value: '1', path: '/;' }, /^invalid cookie path$/],
      [{ name: 'a', value: '1', domain: 'a@example.com' }, /^invalid cookie domain$/],
      [{ name: 'a', value: '1', domain: 'example.com:80' }, /^invalid cookie domain$/],
      [{ name: 'a', value: '1', domain: 'example.com/' }, /^invalid cookie domain$/],
      [{ name: 'a', value: '1', domain: '[::' }, /^invalid cookie domain$/],
      [{ name: 'a' }, /cookie\.value is required/],
      [{ name: 'a', value: '1', sameSite: 'lax' }, /sameSite is not an accepted type/],
      [undefined, /cookie must be an object/],
      [5, /cookie must be an object/],
    ]
    for (const [cookie, message] of rows) {
      assert.throws(() => jar.setCookie(cookie as Cookie, SITE), { message }, JSON.stringify(cookie))
    }
    assert.equal(jar.size, 0)
  })

  test('a polluted prototype adds nothing', (t) => {
    const prototype = Object.prototype as Record<string, unknown>
    t.after(() => {
      for (const name of ['domain', 'secure', 'hostOnly', 'maxAge', 'trustLoopback', 'path', 'http'])
        delete prototype[name]
    })
    Object.assign(prototype, { domain: 'evil.test', hostOnly: true, maxAge: 0, trustLoopback: 'x', http: 1 })
    const jar = new CookieJar({})
    const cookie = jar.setCookie({ name: 'a', value: '1' }, SITE, {})
    assert.equal(cookie?.domain, 'www.example.com')
    assert.equal(jar.remove({ name: 'a' }), 1)
  })
})

describe('arguments', () => {
  test('options of a jar are checked when it is made', () => {
    const rows: [options: unknown, message: string][] = [
      [5, 'options must be an object'],
      [{ isPublicSuffix: [] }, 'isPublicSuffix must be a function'],
      [{ now: 5 }, 'now must be a function'],
      [{ maxCookies: 0 }, 'maxCookies must be a positive integer'],
      [{ maxCookies: '5' }, 'maxCookies must be a positive integer'],
      [{ maxCookiesPerDomain: 1.5 }, 'maxCookiesPerDomain must be a positive integer'],
      [{ trustLoopback: 1 }, 'trustLoopback must be a boolean'],
    ]
    for (const [options, message] of rows) {
      assert.throws(() => new CookieJar(options as CookieJarOptions), { code: REFUSED, message })
      assert.throws(() => CookieJar.fromNetscape('', options as CookieJarOptions), { code: REFUSED, message })
    }
    for (const options of [undefined, null, {}, { now: null, maxCookies: undefined }]) {
      new CookieJar(options as CookieJarOptions)
    }
  })

  test('a URL is one of http, https, ws and wss', () => {
    const jar = new CookieJar()
    const secret = 'http://user:sesame@'
    for (const [url, message] of [
      ['nothing', 'invalid url'],
      [secret, 'invalid url'],
      ['ftp://example.com', 'url must be an http, https, ws or wss URL'],
      [new URL('data:,'), 'url must be an http, https, ws or wss URL'],
      [null, 'invalid url'],
      [undefined, 'invalid url'],
      [{ protocol: 'http:' }, 'invalid url'],
    ] as [string, string][]) {
      assert.throws(() => jar.getCookies(url), { code: REFUSED, message })
      assert.throws(() => jar.getCookieHeader(url), { code: REFUSED, message })
      assert.throws(() => jar.setCookie('a=1', url), { code: REFUSED, message })
    }
  })

  test('a context is checked', () => {
    const jar = new CookieJar()
    const words = "sameSiteContext must be 'strict', 'lax' or 'none'"
    for (const [context, message] of [
      [5, 'options must be an object'],
      [{ http: 'yes' }, 'http must be a boolean'],
      [{ sameSiteContext: 'Lax' }, words],
      [{ sameSiteContext: 'constructor' }, words],
    ] as [object, string][]) {
      assert.throws(() => jar.getCookies(SITE, context), { code: REFUSED, message })
      assert.throws(() => jar.setCookie('a=1', SITE, context), { code: REFUSED, message })
    }
    assert.deepEqual(jar.getCookies(SITE, null), [])
  })

  test('the functions of a caller answer at once', () => {
    const asynchronous = async () => {
      throw new Error('unhandled')
    }
    const jar = new CookieJar({ isPublicSuffix: asynchronous as unknown as () => boolean })
    const message = 'isPublicSuffix must return a boolean'
    assert.throws(() => jar.setCookie('a=1; Domain=example.com', SITE), { code: REFUSED, message })
    const timeless = new CookieJar({ now: () => Number.NaN })
    assert.throws(() => timeless.setCookie('a=1', SITE), {
      code: REFUSED,
      message: 'now must return a number',
    })
  })

  test('a subclass of URL and a URL of another realm are URLs', () => {
    const jar = new CookieJar()
    class Mine extends URL {}
    jar.setCookie('a=1', new Mine(SITE))
    assert.equal(jar.getCookieHeader(new Mine(SITE)), 'a=1')
    const foreign = { href: SITE, toString: () => SITE } as URL
    assert.equal(jar.getCookieHeader(foreign), 'a=1')
  })
})

describe('remove and clear', () => {
  test('by name, domain and path', () => {
    const jar = new CookieJar()
    const fill = () => {
      jar.setCookie('a=1; Path=/', SITE)
      jar.setCookie('a=1; Path=/x', SITE)
      jar.setCookie('b=1; Domain=example.com; Path=/', SITE)
    }
    fill()
    assert.equal(jar.remove({ name: 'a', domain: 'www.example.com', path: '/x' }), 1)
    assert.equal(jar.remove({ name: 'a', domain: 'example.com' }), 0)
    assert.equal(jar.remove({ domain: '.EXAMPLE.com' }), 1)
    assert.equal(jar.remove({ path: '/' }), 1)
    assert.equal(jar.size, 0)
    fill()
    for (const cookie of jar.getCookies('https://www.example.com/')) assert.equal(jar.remove(cookie), 1)
    assert.equal(jar.size, 1)
    jar.clear()
    assert.equal(jar.size, 0)
    assert.equal(jar.getCookieHeader(SITE), '')
    jar.setCookie('c=1', SITE)
    assert.equal(jar.getCookieHeader(SITE), 'c=1')
  })

  test('a filter that means everything is refused', () => {
    const jar = new CookieJar()
    for (const filter of [{}, { name: undefined }]) {
      assert.throws(() => jar.remove(filter), {
        code: REFUSED,
        message: 'filter must have a name, a domain or a path',
      })
    }
    assert.throws(() => jar.remove('a' as never), { code: REFUSED, message: 'filter must be an object' })
  })

  test('a cookie that is changed outside does not change inside', () => {
    const jar = new CookieJar()
    const cookie = jar.setCookie('a=1; Max-Age=60', SITE)!
    cookie.value = 'x'
    cookie.expires!.setTime(0)
    assert.equal(jar.getCookieHeader(SITE), 'a=1')
  })

  test('an iteration is not disturbed by changes', () => {
    const jar = new CookieJar()
    for (const name of ['a', 'b', 'c']) jar.setCookie(`${name}=1`, SITE)
    const seen: string[] = []
    for (const { name } of jar) {
      seen.push(name)
      jar.clear()
    }
    assert.deepEqual(seen, ['a', 'b', 'c'])
  })
})

describe('JSON', () => {
  test('a jar comes back as it was, from an object and from a text', () => {
    const jar = new CookieJar({ now: () => NOW })
    jar.setCookie('z=1; Path=/', SITE)
    jar.setCookie('a=1; Domain=example.com; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=60', SITE)
    jar.setCookie('nameless', 'http://[::1]:8080/x/')
    const text = JSON.stringify(jar)
    for (const data of [text, JSON.parse(text) as SerializedCookieJar, jar.toJSON()]) {
      const copy = CookieJar.fromJSON(data, { now: () => NOW })
      assert.equal(JSON.stringify(copy), text)
      assert.equal(copy.getCookieHeader(SITE), 'z=1; a=1')
    }
  })

  test('expired cookies are neither written nor read', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now })
    jar.setCookie('a=1; Max-Age=1', SITE)
    const data = jar.toJSON()
    now += 1000
    assert.deepEqual(jar.toJSON().cookies, [])
    assert.equal(CookieJar.fromJSON(data, { now: () => now }).size, 0)
  })

  test('anything else is refused', () => {
    const message = 'data must be the JSON form of a CookieJar'
    for (const data of [
      null,
      undefined,
      5,
      '',
      '{',
      '[]',
      'null',
      {},
      { version: 2, cookies: [] },
      { version: 1 },
    ]) {
      assert.throws(() => CookieJar.fromJSON(data as string), { code: REFUSED, message })
    }
    const inherited = Object.create({ version: 1, cookies: [entry()] }) as SerializedCookieJar
    assert.throws(() => CookieJar.fromJSON(inherited), { message })
  })

  test('an entry that no server could have set is left out', () => {
    const rows: unknown[] = [
      null,
      5,
      [],
      {},
      entry({ name: 'a;b' }),
      entry({ name: 'a=b' }),
      entry({ name: 5 }),
      entry({ name: '', value: '' }),
      entry({ name: '', value: '__Host-a=1' }),
      entry({ value: '1\r\nset-cookie: b=1' }),
      entry({ value: '\u0100' }),
      entry({ value: 'v'.repeat(4096) }),
      entry({ domain: '' }),
      entry({ domain: 'EXAMPLE.com' }),
      entry({ domain: 'example.com\tx' }),
      entry({ domain: 'example.com/x' }),
      entry({ domain: 'com', hostOnly: false }),
      entry({ domain: 'com.', hostOnly: false }),
      entry({ domain: '.example.com', hostOnly: false }),
      entry({ domain: ['example.com'] }),
      entry({ path: 'x' }),
      entry({ path: '/\n' }),
      entry({ hostOnly: 'yes' }),
      entry({ secure: 1 }),
      entry({ httpOnly: undefined }),
      entry({ sameSite: 'None' }),
      entry({ sameSite: 'what' }),
      entry({ expires: 'never' }),
      entry({ expires: undefined }),
      entry({ expires: '2020-01-01T00:00:00.000Z' }),
      entry({ creationTime: 5 }),
      entry({ lastAccessTime: '' }),
      entry({ name: '__Secure-a' }),
      entry({ name: '__Host-a', secure: true, path: '/x' }),
    ]
    for (const row of rows) assert.equal(restored([row]).size, 0, JSON.stringify(row))
    assert.equal(restored([entry()]).size, 1)
  })

  test('times in the future are cut: no cookie outlives 400 days or is never evicted', () => {
    const far = '2999-01-01T00:00:00.000Z'
    const [cookie] = restored([entry({ expires: far, creationTime: far, lastAccessTime: far })])
    assert.deepEqual(cookie?.expires, new Date(NOW + 400 * 86_400_000))
    assert.deepEqual([cookie?.creationTime, cookie?.lastAccessTime], [new Date(NOW), new Date(NOW)])
  })

  test('limits and the public suffixes of today apply', () => {
    const entries = Array.from({ length: 100 }, (_, i) => entry({ name: `a${i}` }))
    assert.equal(restored(entries).size, 50)
    const wide = [entry({ domain: 'github.io', hostOnly: false })]
    assert.equal(restored(wide).size, 1)
    assert.equal(restored(wide, { isPublicSuffix: (domain) => domain === 'github.io' }).size, 0)
  })

  test('a domain cookie of an address is for that address alone', () => {
    const jar = restored([entry({ domain: '192.0.2.7', hostOnly: false })])
    assert.equal(jar.getCookies('http://192.0.2.7/')[0]?.hostOnly, true)
  })

  test('__proto__ in JSON means nothing', () => {
    const text = `{"version":1,"cookies":[{"__proto__":${JSON.stringify(entry())}}],"__proto__":{"x":1}}`
    const jar = CookieJar.fromJSON(text)
    assert.equal(jar.size, 0)
    assert.equal(({} as Record<string, unknown>)['x'], undefined)
  })
})
