// One row for each rule of RFC 6265bis that a jar applies: what is set where, and what a request gets afterwards.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CookieContext, CookieJar, type CookieJarOptions } from '../../../src/index.ts'

const NOW = Date.UTC(2026, 0, 1)
const DAY = 24 * 60 * 60 * 1000

interface Row {
  readonly rule: string
  /** Pairs of a URL and a `Set-Cookie` value. */
  readonly set: readonly (readonly [url: string, value: string, context?: CookieContext])[]
  /** URLs, and the header that a request for them has. */
  readonly get: readonly (readonly [url: string, header: string, context?: CookieContext])[]
  readonly jar?: CookieJarOptions
}

const SITE = 'https://www.example.com/a/b'
const LONG = 'v'.repeat(4095)

const ROWS: readonly Row[] = [
  // §5.1.3 and §5.7: domains
  {
    rule: 'without Domain, only the host itself gets it',
    set: [[SITE, 'a=1']],
    get: [
      ['https://www.example.com/a/', 'a=1'],
      ['https://example.com/a/', ''],
      ['https://x.www.example.com/a/', ''],
    ],
  },
  {
    rule: 'with Domain, hosts below get it as well',
    set: [[SITE, 'a=1; Domain=example.com; Path=/']],
    get: [
      ['https://example.com/', 'a=1'],
      ['https://www.example.com/', 'a=1'],
      ['https://x.y.example.com/', 'a=1'],
      ['https://notexample.com/', ''],
      ['https://example.com.evil.test/', ''],
    ],
  },
  {
    rule: 'a leading dot of Domain is ignored, a second one is not',
    set: [
      [SITE, 'a=1; Domain=.example.com; Path=/'],
      [SITE, 'b=1; Domain=..example.com; Path=/'],
    ],
    get: [['https://example.com/', 'a=1']],
  },
  {
    rule: 'Domain is compared in lower case',
    set: [[SITE, 'a=1; Domain=EXAMPLE.com; Path=/']],
    get: [['HTTPS://EXAMPLE.COM/', 'a=1']],
  },
  {
    rule: 'a Domain that the host is not in refuses the cookie',
    set: [
      [SITE, 'a=1; Domain=other.com; Path=/'],
      [SITE, 'b=1; Domain=x.www.example.com; Path=/'],
      [SITE, 'c=1; Domain=ample.com; Path=/'],
    ],
    get: [
      [SITE, ''],
      ['https://x.www.example.com/', ''],
      ['https://other.com/', ''],
      ['https://ample.com/', ''],
    ],
  },
  {
    rule: 'a Domain with an empty label refuses the cookie',
    set: [['https://www.x..example.com/', 'a=1; Domain=x..example.com; Path=/']],
    get: [['https://x..example.com/', '']],
  },
  {
    rule: 'an insecure connection does not hide the Secure cookie of a host below, or above',
    set: [
      ['https://www.example.com/', 'a=1; Secure; Path=/'],
      ['http://www.example.com/', 'a=2; Domain=example.com; Path=/'],
      ['https://example.com/', 'b=1; Secure; Domain=example.com; Path=/'],
      ['http://www.example.com/', 'b=2; Path=/'],
    ],
    get: [
      ['https://www.example.com/', 'a=1; b=1'],
      ['http://example.com/', ''],
    ],
  },
  {
    rule: 'an empty Domain, or a lone dot, is none',
    set: [
      [SITE, 'a=1; Domain=; Path=/'],
      [SITE, 'b=1; Domain=.; Path=/'],
    ],
    get: [
      ['https://www.example.com/', 'a=1; b=1'],
      ['https://x.www.example.com/', ''],
    ],
  },
  {
    rule: 'of two Domains the last counts',
    set: [[SITE, 'a=1; Domain=other.com; Domain=example.com; Path=/']],
    get: [['https://example.com/', 'a=1']],
  },
  {
    rule: 'a Domain with letters beyond ASCII refuses the cookie',
    set: [['https://b\u00fccher.example/', 'a=1; Domain=b\u00fccher.example; Path=/']],
    get: [['https://b\u00fccher.example/', '']],
  },
  {
    rule: 'hosts with letters beyond ASCII are compared in their ASCII form',
    set: [['https://www.b\u00fccher.example/', 'a=1; Domain=xn--bcher-kva.example; Path=/']],
    get: [['https://B\u00dcCHER.example/', 'a=1']],
  },
  {
    rule: 'addresses have no domain above them',
    set: [
      ['http://192.0.2.7/', 'a=1; Domain=0.2.7; Path=/'],
      ['http://192.0.2.7/', 'b=1; Domain=192.0.2.7; Path=/'],
      ['http://[2001:db8::7]/', 'c=1; Path=/'],
      ['http://[2001:db8::7]/', 'd=1; Domain=[2001:db8::7]; Path=/'],
    ],
    get: [
      ['http://192.0.2.7/', 'b=1'],
      ['http://0xc0000207/', 'b=1'],
      ['http://[2001:DB8:0::7]/', 'c=1; d=1'],
      ['http://0.2.7/', ''],
    ],
  },
  {
    rule: 'a trailing dot makes another host, and hides no label',
    set: [
      ['https://example.com./', 'a=1; Path=/'],
      ['https://example.com./', 'b=1; Domain=com.; Path=/'],
      ['https://example.com/', 'c=1; Domain=example.com.; Path=/'],
    ],
    get: [
      ['https://example.com./', 'a=1'],
      ['https://example.com/', ''],
      ['https://other.com./', ''],
    ],
  },
  {
    rule: 'ports and schemes share cookies',
    set: [['http://example.com:8080/', 'a=1']],
    get: [
      ['https://example.com:444/', 'a=1'],
      ['wss://example.com/', 'a=1'],
    ],
  },
  {
    rule: 'a domain of one label is a public suffix, and a host of one label gets its cookie alone',
    set: [
      [SITE, 'a=1; Domain=com; Path=/'],
      ['http://localhost:3000/', 'b=1; Domain=localhost; Path=/'],
      ['http://app.localhost:3000/', 'c=1; Domain=localhost; Path=/'],
    ],
    get: [
      ['https://other.com/', ''],
      ['http://localhost/', 'b=1'],
      ['http://app.localhost/', ''],
    ],
  },
  {
    rule: 'the public suffixes are those that the caller knows',
    jar: { isPublicSuffix: (domain) => domain === 'co.uk' },
    set: [
      ['https://shop.co.uk/', 'a=1; Domain=co.uk; Path=/'],
      ['https://co.uk/', 'b=1; Domain=co.uk; Path=/'],
      ['https://www.intranet/', 'c=1; Domain=intranet; Path=/'],
    ],
    get: [
      ['https://other.co.uk/', ''],
      ['https://co.uk/', 'b=1'],
      ['https://intranet/', 'c=1'],
    ],
  },
  // §5.1.4: paths
  {
    rule: 'the default path is the directory of the request',
    set: [
      ['https://example.com/a/b?q=/x/y', 'a=1'],
      ['https://example.com/c', 'b=1'],
      ['https://example.com/d/', 'c=1'],
      ['https://example.com', 'd=1'],
    ],
    get: [
      ['https://example.com/a/c/d', 'a=1; b=1; d=1'],
      ['https://example.com/a', 'a=1; b=1; d=1'],
      ['https://example.com/ab', 'b=1; d=1'],
      ['https://example.com/d', 'c=1; b=1; d=1'],
    ],
  },
  {
    rule: 'a Path that is not absolute is the default path',
    set: [
      [SITE, 'a=1; Path=x'],
      [SITE, 'b=1; Path'],
      [SITE, 'c=1; Path='],
    ],
    get: [
      ['https://www.example.com/a/x', 'a=1; b=1; c=1'],
      ['https://www.example.com/x', ''],
    ],
  },
  {
    rule: 'a path matches at a slash',
    set: [
      [SITE, 'a=1; Path=/foo'],
      [SITE, 'b=1; Path=/foo/'],
    ],
    get: [
      ['https://www.example.com/foo', 'a=1'],
      ['https://www.example.com/foo/', 'b=1; a=1'],
      ['https://www.example.com/foo/bar', 'b=1; a=1'],
      ['https://www.example.com/foobar', ''],
      ['https://www.example.com/Foo', ''],
    ],
  },
  {
    rule: 'longer paths come first, then older cookies',
    set: [
      [SITE, 'a=1; Path=/'],
      [SITE, 'b=1; Path=/a'],
      [SITE, 'c=1; Path=/'],
    ],
    get: [[SITE, 'b=1; a=1; c=1']],
  },
  // §5.6: the text
  {
    rule: 'name and value together have 4096 bytes at most',
    set: [
      [SITE, `a=${LONG}`],
      [SITE, `b=${LONG}v`],
    ],
    get: [[SITE, `a=${LONG}`]],
  },
  {
    rule: 'an attribute of more than 1024 bytes is ignored',
    set: [
      [SITE, `a=1; Domain=${'x'.repeat(1025)}; Path=/${'p'.repeat(1024)}`],
      [SITE, `b=1; Path=/${'p'.repeat(1023)}`],
    ],
    get: [
      [SITE, 'a=1'],
      [`https://www.example.com/${'p'.repeat(1023)}`, 'b=1'],
    ],
  },
  {
    rule: 'a control character refuses the cookie, a tab does not',
    set: [
      [SITE, 'a=\x01'],
      [SITE, 'b=1; Path=/\x7f'],
      [SITE, 'c=1\n'],
      [SITE, 'd=x\ty'],
    ],
    get: [[SITE, 'd=x\ty']],
  },
  {
    rule: 'characters that are not bytes refuse the cookie',
    set: [
      [SITE, 'a=\u0100'],
      [SITE, 'b=1; Path=/\u0100'],
      [SITE, 'c=\u00e9'],
    ],
    get: [[SITE, 'c=\u00e9']],
  },
  {
    rule: 'a cookie without a name is sent as its value; one without both is none',
    set: [
      [SITE, 'token'],
      [SITE, '=other; Path=/'],
      [SITE, '='],
      [SITE, '; Path=/'],
    ],
    get: [[SITE, 'token; other']],
  },
  {
    rule: 'values are kept as received',
    set: [[SITE, 'a="%20 x=y" ;']],
    get: [[SITE, 'a="%20 x=y"']],
  },
  // §5.4: flags
  {
    rule: 'Secure cookies are neither set nor sent over insecure connections',
    set: [
      ['http://example.com/', 'a=1; Secure'],
      ['https://example.com/', 'b=1; Secure'],
      ['wss://example.com/', 'c=1; Secure'],
    ],
    get: [
      ['http://example.com/', ''],
      ['ws://example.com/', ''],
      ['https://example.com/', 'b=1; c=1'],
      ['wss://example.com/', 'b=1; c=1'],
    ],
  },
  {
    rule: 'http to this machine is secure',
    set: [
      ['http://localhost:3000/', 'a=1; Secure'],
      ['http://x.localhost:3000/', 'b=1; Secure'],
      ['http://127.0.0.5/', 'c=1; Secure'],
      ['http://[::1]/', 'd=1; Secure'],
      ['http://127.example.com/', 'e=1; Secure'],
    ],
    get: [
      ['http://localhost/', 'a=1'],
      ['http://x.localhost/', 'b=1'],
      ['http://127.0.0.5/', 'c=1'],
      ['http://[::1]/', 'd=1'],
      ['http://127.example.com/', ''],
    ],
  },
  {
    rule: 'http to this machine is not secure with trustLoopback: false',
    jar: { trustLoopback: false },
    set: [
      ['http://localhost/', 'a=1; Secure'],
      ['https://localhost/', 'b=1; Secure'],
    ],
    get: [
      ['http://localhost/', ''],
      ['https://localhost/', 'b=1'],
    ],
  },
  {
    rule: 'an insecure connection cannot hide a Secure cookie of the same name',
    set: [
      ['https://www.example.com/', 'a=1; Secure; Domain=example.com; Path=/login'],
      ['http://www.example.com/', 'a=2; Domain=example.com; Path=/login'],
      ['http://www.example.com/', 'a=3; Path=/login/deep'],
      ['http://example.com/', 'a=4; Path=/login'],
      ['http://x.www.example.com/', 'a=5; Path=/login'],
      ['http://www.example.com/', 'a=; Domain=example.com; Path=/login; Max-Age=0'],
      ['http://www.example.com/', 'a=6; Path=/'],
      ['http://other.com/', 'a=7; Path=/login'],
      ['http://www.example.com/', 'b=8; Path=/login'],
    ],
    get: [
      ['https://www.example.com/login/deep/x', 'a=1; b=8; a=6'],
      ['https://example.com/login', 'a=1'],
      ['https://x.www.example.com/login', 'a=1'],
      ['https://other.com/login', 'a=7'],
    ],
  },
  {
    rule: 'a secure connection can replace a Secure cookie by one that is not',
    set: [
      ['https://example.com/', 'a=1; Secure'],
      ['https://example.com/', 'a=2'],
    ],
    get: [['http://example.com/', 'a=2']],
  },
  {
    rule: 'HttpOnly cookies are not for scripts, in both directions',
    set: [
      [SITE, 'a=1; HttpOnly'],
      [SITE, 'a=2', { http: false }],
      [SITE, 'b=1; HttpOnly', { http: false }],
      [SITE, 'c=1', { http: false }],
    ],
    get: [
      [SITE, 'a=1; c=1'],
      [SITE, 'c=1', { http: false }],
    ],
  },
  {
    rule: 'SameSite decides what requests that other sites caused get',
    set: [
      [SITE, 'a=1; SameSite=Strict'],
      [SITE, 'b=1; SameSite=Lax'],
      [SITE, 'c=1; SameSite=None; Secure'],
      [SITE, 'd=1'],
      [SITE, 'e=1; SameSite=what'],
    ],
    get: [
      [SITE, 'a=1; b=1; c=1; d=1; e=1'],
      [SITE, 'a=1; b=1; c=1; d=1; e=1', { sameSiteContext: 'strict' }],
      [SITE, 'b=1; c=1; d=1; e=1', { sameSiteContext: 'lax' }],
      [SITE, 'c=1', { sameSiteContext: 'lax', http: false }],
      [SITE, 'c=1', { sameSiteContext: 'none' }],
    ],
  },
  {
    rule: 'requests that other sites caused set cookies with SameSite=None only; a link sets any',
    set: [
      [SITE, 'a=1; SameSite=Strict', { sameSiteContext: 'none' }],
      [SITE, 'b=1', { sameSiteContext: 'none' }],
      [SITE, 'c=1; SameSite=None; Secure', { sameSiteContext: 'none' }],
      [SITE, 'd=1; SameSite=Strict', { sameSiteContext: 'lax' }],
    ],
    get: [[SITE, 'c=1; d=1']],
  },
  {
    rule: 'SameSite=None needs Secure',
    set: [
      [SITE, 'a=1; SameSite=None'],
      [SITE, 'b=1; SameSite=None; Secure'],
    ],
    get: [[SITE, 'b=1']],
  },
  // §4.1.3: prefixes
  {
    rule: '__Secure- needs Secure, in any letter case',
    set: [
      [SITE, '__Secure-a=1'],
      [SITE, '__sEcUrE-b=1'],
      [SITE, '__Secure-c=1; Secure'],
      ['http://www.example.com/a/', '__Secure-d=1; Secure'],
    ],
    get: [[SITE, '__Secure-c=1']],
  },
  {
    rule: '__Host- needs Secure, Path=/ and no Domain, in any letter case',
    set: [
      [SITE, '__Host-a=1; Path=/'],
      [SITE, '__Host-b=1; Secure; Path=/; Domain=www.example.com'],
      [SITE, '__Host-c=1; Secure; Path=/a'],
      ['https://www.example.com/', '__Host-d=1; Secure'],
      [SITE, '__HOST-e=1; Secure; Path=/; Domain=www.example.com'],
      [SITE, '__Host-f=1; Secure; Path=/'],
      ['https://www.example.com/', '__Host-g=1; Secure; Path'],
    ],
    get: [[SITE, '__Host-f=1; __Host-g=1']],
  },
  {
    rule: '__Http- needs Secure and HttpOnly, __Host-Http- also what __Host- needs',
    set: [
      [SITE, '__Http-a=1; Secure'],
      [SITE, '__Http-f=1; HttpOnly'],
      [SITE, '__Http-b=1; Secure; HttpOnly; Path=/a'],
      [SITE, '__Host-Http-c=1; Secure; Path=/'],
      [SITE, '__Host-Http-d=1; Secure; HttpOnly; Path=/'],
      [SITE, '__host-http-e=1; Secure; HttpOnly; Path=/a'],
    ],
    get: [[SITE, '__Http-b=1; __Host-Http-d=1']],
  },
  {
    rule: 'a cookie without a name must not look like one with a prefix',
    set: [
      [SITE, '=__Host-a=1; Secure; Path=/'],
      [SITE, '=__secure-a=1; Secure'],
      [SITE, '__Http-a; Secure; HttpOnly'],
      [SITE, '=__Host-Http-a; Secure; HttpOnly; Path=/'],
    ],
    get: [[SITE, '']],
  },
  // §5.7: replacement
  {
    rule: 'a cookie replaces the one with its name, domain, host-only flag and path, and keeps its place',
    set: [
      [SITE, 'a=1; Path=/'],
      [SITE, 'b=1; Path=/'],
      [SITE, 'a=2; Path=/'],
      [SITE, 'a=3; Path=/; Domain=www.example.com'],
      [SITE, 'A=4; Path=/'],
    ],
    get: [['https://www.example.com/', 'a=2; b=1; a=3; A=4']],
  },
  {
    rule: 'a date in the past and Max-Age=0 delete',
    set: [
      [SITE, 'a=1'],
      [SITE, 'b=1'],
      [SITE, 'c=1'],
      [SITE, 'd=1'],
      [SITE, 'a=; Max-Age=0'],
      [SITE, 'b=; Max-Age=-5'],
      [SITE, 'c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
    ],
    get: [[SITE, 'd=1']],
  },
  {
    rule: 'Max-Age counts before Expires',
    set: [
      [SITE, 'a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
      [SITE, 'b=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT; Max-Age=0'],
    ],
    get: [[SITE, 'a=1']],
  },
  {
    rule: 'a date or an age that cannot be read does not count',
    set: [
      [SITE, 'a=1; Expires=yesterday'],
      [SITE, 'b=1; Max-Age=1e1'],
    ],
    get: [[SITE, 'a=1; b=1']],
  },
  {
    rule: 'names that objects inherit are names like any other',
    set: [
      ['https://constructor.example/', '__proto__=1; Domain=constructor.example'],
      ['https://constructor.example/', 'constructor=1'],
      ['https://__proto__/', 'a=1'],
      ['https://hasownproperty.test/', 'toString=1; Path=/__proto__'],
    ],
    get: [
      ['https://constructor.example/', '__proto__=1; constructor=1'],
      ['https://__proto__/', 'a=1'],
      ['https://hasownproperty.test/__proto__', 'toString=1'],
      ['https://toString/', ''],
    ],
  },
]

describe('a CookieJar', () => {
  for (const { rule, set, get, jar: options } of ROWS) {
    test(rule, () => {
      const jar = new CookieJar({ now: () => NOW, ...options })
      for (const [url, value, context] of set) jar.setCookie(value, url, context)
      for (const [url, header, context] of get) {
        assert.equal(jar.getCookieHeader(url, context), header, url)
      }
      assert.equal(({} as Record<string, unknown>)['a'], undefined)
    })
  }
})

describe('time', () => {
  test('a cookie is sent until its second has come', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now })
    jar.setCookie('a=1; Max-Age=10', SITE)
    jar.setCookie('b=1; Expires=Thu, 01 Jan 2026 00:00:20 GMT', SITE)
    jar.setCookie('c=1', SITE)
    now += 9_999
    assert.equal(jar.getCookieHeader(SITE), 'a=1; b=1; c=1')
    now += 1
    assert.equal(jar.getCookieHeader(SITE), 'b=1; c=1')
    now += 10_000
    assert.equal(jar.getCookieHeader(SITE), 'c=1')
    assert.equal(jar.size, 1)
  })

  test('no cookie lives longer than 400 days', () => {
    const jar = new CookieJar({ now: () => NOW })
    const limit = new Date(NOW + 400 * DAY)
    assert.deepEqual(jar.setCookie('a=1; Max-Age=99999999999999999999', SITE)?.expires, limit)
    assert.deepEqual(jar.setCookie('b=1; Expires=Fri, 01 Jan 2038 00:00:00 GMT', SITE)?.expires, limit)
    const soon = { name: 'c', value: '1', expires: new Date(NOW + DAY) }
    assert.deepEqual(jar.setCookie(soon, SITE)?.expires, new Date(NOW + DAY))
  })

  test('a replaced cookie keeps its time of creation; sending updates that of access', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now })
    jar.setCookie('a=1', SITE)
    now += 1000
    const replaced = jar.setCookie('a=2', SITE)
    assert.deepEqual(replaced?.creationTime, new Date(NOW))
    now += 1000
    const [sent] = jar.getCookies(SITE)
    assert.deepEqual([sent?.creationTime, sent?.lastAccessTime], [new Date(NOW), new Date(now)])
  })

  test('one that has expired leaves nothing to the next', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now })
    jar.setCookie('a=1; Max-Age=1; HttpOnly', SITE)
    now += 5000
    const next = jar.setCookie('a=2', SITE, { http: false })
    assert.deepEqual(next?.creationTime, new Date(now))
    jar.setCookie('b=1; Max-Age=1; Secure', SITE)
    now += 5000
    assert.equal(jar.setCookie('b=2', SITE.replace('https', 'http'))?.value, '2')
  })

  test('without a clock it is that of the system, fake or not', (t) => {
    const jar = new CookieJar()
    t.mock.timers.enable({ apis: ['Date'], now: NOW })
    jar.setCookie('a=1; Max-Age=10', SITE)
    t.mock.timers.setTime(NOW + 10_000)
    assert.equal(jar.getCookieHeader(SITE), '')
  })
})

describe('eviction', () => {
  const host = 'https://example.com/'

  function names(jar: CookieJar): string {
    return Array.from(jar, ({ name }) => name).join(' ')
  }

  test('50 cookies for a domain, 3000 in all', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now })
    for (let i = 0; i < 60; i++) jar.setCookie(`a${i}=1`, host)
    assert.equal(jar.size, 50)
    assert.match(names(jar), /^a10 .* a59$/)
    for (let i = 0; i < 3000; i++) jar.setCookie('b=1', `https://h${i}.test/`)
    assert.equal(jar.size, 3000)
    assert.equal(jar.getCookieHeader(host), '')
    now += 1
    assert.equal(jar.getCookieHeader('https://h0.test/'), 'b=1')
    jar.setCookie('b=1', 'https://one-more.test/')
    assert.equal(jar.getCookieHeader('https://h1.test/'), '', 'the first of those that were not read since')
  })

  test('for a domain: expired, then not Secure, then the one that was used least recently', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now, maxCookiesPerDomain: 3 })
    jar.setCookie('secure=1; Secure; Path=/x', host)
    jar.setCookie('old=1; Path=/y', host)
    jar.setCookie('brief=1; Max-Age=1; Path=/x', host)
    now += 1000
    jar.setCookie('c=1; Path=/z', host)
    assert.equal(names(jar), 'secure old c', 'the expired one')
    now += 1
    jar.getCookieHeader('https://example.com/y')
    now += 1
    jar.setCookie('d=1; Path=/z', host)
    assert.equal(names(jar), 'secure old d', 'c and d are not Secure, and c was used before old')
    now += 1
    jar.setCookie('e=1; Secure', host)
    now += 1
    jar.setCookie('f=1; Secure', host)
    assert.equal(names(jar), 'secure e f', 'those that are not Secure')
    now += 1
    assert.equal(jar.setCookie('g=1', host), null, 'a new cookie that counts for least')
    assert.equal(names(jar), 'secure e f')
    jar.setCookie('h=1; Secure', host)
    assert.equal(names(jar), 'e f h', 'the least recently used of all')
  })

  test('in all: expired, then the one that was used least recently, whatever its domain', () => {
    let now = NOW
    const jar = new CookieJar({ now: () => now, maxCookies: 3 })
    jar.setCookie('a=1; Secure', 'https://a.test/')
    jar.setCookie('b=1', 'https://b.test/')
    jar.setCookie('c=1; Max-Age=1', 'https://c.test/')
    now += 1000
    jar.setCookie('d=1', 'https://d.test/')
    assert.equal(names(jar), 'a b d')
    jar.getCookieHeader('https://a.test/')
    jar.setCookie('e=1', 'https://e.test/')
    assert.equal(names(jar), 'a d e')
  })

  test('of those that were used at the same time, the oldest; a replaced one is as old as it was', () => {
    const jar = new CookieJar({ now: () => NOW, maxCookiesPerDomain: 2 })
    for (const value of ['a=1', 'b=1', 'a=2', 'c=1']) jar.setCookie(value, SITE)
    assert.equal(jar.getCookieHeader(SITE), 'b=1; c=1')
  })

  test('replacing evicts nothing', () => {
    const jar = new CookieJar({ maxCookies: 2 })
    jar.setCookie('a=1', host)
    jar.setCookie('b=1', host)
    jar.setCookie('b=2', host)
    assert.equal(jar.getCookieHeader(host), 'a=1; b=2')
  })
})

test('the Domain of an address is the host itself, and no suffix is asked for', () => {
  const asked: string[] = []
  const jar = new CookieJar({ isPublicSuffix: (domain) => asked.push(domain) < 0 })
  for (const host of ['192.0.2.7', '[2001:db8::7]']) {
    assert.equal(jar.setCookie(`a=1; Domain=${host}`, `http://${host}/`)?.hostOnly, true, host)
  }
  assert.deepEqual(asked, [])
})
