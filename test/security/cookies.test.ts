/** Cookies are read as received and written as intended. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Cookie,
  deleteCookie,
  getCookies,
  getSetCookies,
  Headers,
  parseCookie,
  setCookie,
} from '../../src/index.ts'
import { LINE_BREAKS } from './hostile-text.ts'

test('CVE-2026-9679: values are never percent-decoded', () => {
  const value = 'a%0d%0ax-injected:%20yes%3B%20Domain=evil.test'
  assert.equal(parseCookie(`id=${value}`)?.value, value)
  assert.deepEqual(getCookies(new Headers({ cookie: `id=${value}` })), { id: value })
  assert.equal(getSetCookies(new Headers([['set-cookie', `id=${value}; Path=/%2f`]]))[0]?.path, '/%2f')
})

describe('CVE-2026-16729, CVE-2026-11525: no attribute and no header through another field', () => {
  const refuses = (cookie: Partial<Cookie>): void => {
    const headers = new Headers()
    assert.throws(() => setCookie(headers, { name: 'id', value: '1', ...cookie }), JSON.stringify(cookie))
    assert.equal(headers.get('set-cookie'), null)
  }

  const BREAKS = [...LINE_BREAKS, '; Domain=evil.test', ';']
  for (const field of ['name', 'value', 'domain', 'path'] as const) {
    test(`${field}`, () => {
      for (const text of BREAKS) refuses({ [field]: `a${text}` })
    })
  }

  test('unparsed', () => {
    for (const text of BREAKS) refuses({ unparsed: [`priority=high${text}`] })
    for (const item of ['Domain=evil.test', ' domain =evil.test', 'Path=/', 'Secure=', 'no-equals']) {
      refuses({ unparsed: [item] })
    }
  })

  test('deleteCookie', () => {
    for (const text of BREAKS) {
      const headers = new Headers()
      assert.throws(() => deleteCookie(headers, `id${text}`))
      assert.throws(() => deleteCookie(headers, 'id', { path: `/${text}` }))
      assert.throws(() => deleteCookie(headers, 'id', { domain: `a.test${text}` }))
      assert.equal(headers.get('set-cookie'), null)
    }
  })

  test('what a prefix of the name promises is kept', () => {
    const headers = new Headers()
    setCookie(headers, { name: '__Host-id', value: '1', domain: 'evil.test', path: '/evil' })
    assert.deepEqual(headers.getSetCookie(), ['__Host-id=1; Secure; Path=/'])
  })
})

test('tough-cookie CVE-2023-26136: names of Object.prototype are names like others', () => {
  const cookies = getCookies(new Headers({ cookie: '__proto__=polluted; constructor=c; hasOwnProperty=h' }))
  assert.deepEqual(Object.entries(cookies), [
    ['__proto__', 'polluted'],
    ['constructor', 'c'],
    ['hasOwnProperty', 'h'],
  ])
  assert.equal(Object.getPrototypeOf(cookies), Object.prototype)
  const parsed = parseCookie('__proto__=x; Domain=__proto__; __proto__=y')
  assert.deepEqual([parsed?.name, parsed?.domain], ['__proto__', '__proto__'])
  assert.equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('CVE-2023-24807 and its class: cookies are read in linear time', () => {
  // With a backtracking pattern, this would not return.
  const blanks = ' \t'.repeat(500_000)
  const cookies = getCookies(new Headers({ cookie: `a=1;${blanks};${'='.repeat(100_000)};b=2` }))
  assert.deepEqual([cookies['a'], cookies['b']], ['1', '2'])
  assert.equal(parseCookie(`a${blanks}=b`)?.name, 'a')
  assert.equal(parseCookie(`a=b;${';'.repeat(500_000)}${'path='.repeat(10_000)}`)?.value, 'b')
})
