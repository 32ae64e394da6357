// parseCookie reads every cookie that setCookie accepts back as equal, and setCookie refuses those it would corrupt.
// "Equal" allows only documented changes: whole seconds, the path made absolute and both path and domain trimmed by the
// reader, the domain in lower case, the name prefixes, and the reader's length limits, which these strings stay below.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from '../../src/cookies/api.ts'
import type { Cookie } from '../../src/cookies/cookie.ts'

/** Text near the edges of every grammar: mostly legal, mixed with delimiters. */
const hostile = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[!-~]{0,20}$/) },
  { weight: 4, arbitrary: fc.stringMatching(/^[a-zA-Z0-9./-]{0,20}$/) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom(
          'a',
          'B',
          '=',
          ';',
          ' ',
          '"',
          '\t',
          '\r\n',
          '\0',
          ',',
          '.',
          '-',
          '/',
          '%0a',
          '\u00a0',
          'k=v',
        ),
      )
      .map((parts) => parts.join('')),
  },
)
const name = fc.oneof(
  hostile,
  fc.stringMatching(/^[a-zA-Z0-9_-]{1,10}$/),
  fc.constantFrom('__Host-a', '__Secure-a', '__proto__'),
)
const unparsedItem = fc.oneof(
  fc.tuple(name, hostile).map(([key, value]) => `${key}=${value}`),
  fc
    .tuple(fc.constantFrom('Domain', 'path', ' Secure', 'k', 'Partitioned'), hostile)
    .map((pair) => pair.join('=')),
)

const anyCookie = fc.record(
  {
    name,
    value: hostile,
    expires: fc.oneof(fc.date({ noInvalidDate: true }), fc.integer(), fc.double()),
    maxAge: fc.oneof(fc.integer(), fc.nat(), fc.double()),
    domain: fc.oneof(hostile, fc.domain()),
    path: fc.oneof(hostile, fc.webPath({ size: 'small' })),
    secure: fc.boolean(),
    httpOnly: fc.boolean(),
    sameSite: fc.constantFrom('Strict', 'Lax', 'None'),
    unparsed: fc.array(unparsedItem, { maxLength: 3 }),
  },
  { requiredKeys: ['name', 'value'] },
)

/** The header written for a cookie; null if it was refused. */
function write(cookie: Cookie): string[] | null {
  const headers = new Headers()
  try {
    setCookie(headers, cookie)
  } catch (error) {
    assert.ok(error instanceof Error && error.message.startsWith('Invalid '), String(error))
    assert.deepEqual(headers.getSetCookie(), [], 'a refused cookie leaves no trace')
    return null
  }
  return headers.getSetCookie()
}

function trimmed(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '')
}

/** The cookie as its reader must see it. */
function asRead(cookie: Cookie): Cookie {
  const expected: Cookie = { name: cookie.name, value: cookie.value }
  const host = cookie.name.startsWith('__Host-')
  const path = host ? '/' : cookie.path
  const time = typeof cookie.expires === 'number' ? Math.trunc(cookie.expires) : cookie.expires?.getTime()
  const isDate =
    time !== undefined && Math.abs(time) <= 8.64e15 && (time !== 0 || typeof cookie.expires === 'object')
  // A year that a cookie parser accepts.
  const isReadable = isDate && time >= Date.UTC(1601, 0, 1) && time < Date.UTC(10_000, 0, 1)
  if (isReadable) expected.expires = new Date(Math.floor(time / 1000) * 1000)
  if (cookie.maxAge !== undefined) {
    expected.maxAge = Number.isFinite(cookie.maxAge) ? Math.abs(Math.trunc(cookie.maxAge)) : 0
  }
  if (cookie.domain && !host) expected.domain = trimmed(cookie.domain).toLowerCase()
  if (path) expected.path = trimmed(path).startsWith('/') ? trimmed(path) : '/'
  if (cookie.secure || host || cookie.name.startsWith('__Secure-')) expected.secure = true
  if (cookie.httpOnly) expected.httpOnly = true
  if (cookie.sameSite !== undefined) expected.sameSite = cookie.sameSite
  if (cookie.unparsed?.length) {
    expected.unparsed = cookie.unparsed.map((item) => {
      const equals = item.indexOf('=')
      return `${trimmed(item.slice(0, equals))}=${item.slice(equals + 1)}`
    })
  }
  return expected
}

test('what setCookie accepts, parseCookie reads back equal', () => {
  let accepted = 0
  let refused = 0
  fc.assert(
    fc.property(anyCookie, (drawn) => {
      // exactOptionalPropertyTypes: fast-check types a left-out key as undefined; it never sets one.
      const cookie = drawn as Cookie
      const written = write(cookie)
      if (written === null) {
        refused++
      } else if (cookie.name === '') {
        assert.deepEqual(written, [])
      } else {
        accepted++
        assert.equal(written.length, 1)
        assert.deepStrictEqual(parseCookie(written[0]!), asRead(cookie))
      }
    }),
    { numRuns: 3000 },
  )
  assert.ok(
    accepted > 100 && refused > 100,
    `both outcomes are drawn: ${accepted} accepted, ${refused} refused`,
  )
})

test('each part on its own is read back equal or refused', () => {
  const parts: [string, fc.Arbitrary<Partial<Cookie>>][] = [
    ['name', name.map((text) => ({ name: text }))],
    ['value', hostile.map((text) => ({ value: text }))],
    ['domain', fc.oneof(hostile, fc.domain()).map((text) => ({ domain: text }))],
    ['path', hostile.map((text) => ({ path: text }))],
    ['expires', fc.date({ noInvalidDate: true }).map((date) => ({ expires: date }))],
    ['maxAge', fc.oneof(fc.integer(), fc.double()).map((seconds) => ({ maxAge: seconds }))],
    ['unparsed', unparsedItem.map((item) => ({ unparsed: [item] }))],
  ]
  for (const [part, arbitrary] of parts) {
    let accepted = 0
    fc.assert(
      fc.property(arbitrary, (drawn) => {
        const cookie: Cookie = { name: 'a', value: 'b', ...drawn }
        const written = write(cookie)
        if (written === null || cookie.name === '') return
        accepted++
        assert.deepStrictEqual(parseCookie(written[0]!), asRead(cookie))
      }),
      { numRuns: 600 },
    )
    assert.ok(accepted > 20, `${part}: ${accepted} accepted`)
  }
})

test('a cookie that was read and can be written reads the same again', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 6 }), (pieces) => {
      const cookie = parseCookie(pieces.join('; '))
      if (cookie === null || cookie.name === '' || cookie.name.startsWith('__')) return
      const written = write(cookie)
      if (written === null) return
      const again = parseCookie(written[0]!)
      assert.deepStrictEqual(
        { ...again, domain: again?.domain ?? '' },
        { ...cookie, domain: cookie.domain ?? '' },
      )
    }),
    { numRuns: 2000 },
  )
})

test('the header shows the cookie it was given, and no other', () => {
  fc.assert(
    fc.property(fc.array(anyCookie, { maxLength: 4 }), (drawn) => {
      const headers = new Headers()
      let count = 0
      for (const cookie of drawn as Cookie[]) {
        if (write(cookie) === null || cookie.name === '') continue
        setCookie(headers, cookie)
        count++
      }
      assert.equal(getSetCookies(headers).length, count)
      assert.deepEqual([...new Set(headers.keys())], count === 0 ? [] : ['set-cookie'])
    }),
    { numRuns: 500 },
  )
})

test('deleteCookie: what is accepted has expired, with the name given', () => {
  fc.assert(
    fc.property(name, hostile, hostile, (cookieName, domain, path) => {
      const headers = new Headers()
      try {
        deleteCookie(headers, cookieName, { domain, path })
      } catch {
        assert.deepEqual(headers.getSetCookie(), [])
        return
      }
      if (cookieName === '') return
      const expected = asRead({ name: cookieName, value: '', expires: new Date(0), domain, path })
      assert.deepStrictEqual(getSetCookies(headers), [expected])
    }),
    { numRuns: 1000 },
  )
})

test('parseCookie and getCookies never throw, and own every name they give', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => {
      const cookie = parseCookie(text)
      if (cookie !== null) assert.equal(typeof cookie.name + typeof cookie.value, 'stringstring')

      const bytes = text.replace(/[\0\r\n]|[^\0-\xff]/g, '')
      const cookies = getCookies(new Headers({ cookie: `__proto__=p; ${bytes}` }))
      assert.ok(Object.hasOwn(cookies, '__proto__'))
      assert.equal(Object.getPrototypeOf(cookies), Object.prototype)
    }),
    { numRuns: 1000 },
  )
})
