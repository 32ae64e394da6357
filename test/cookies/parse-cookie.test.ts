import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getSetCookies, parseCookie } from '../../src/cookies/api.ts'
import { ATTRIBUTES } from '../../src/cookies/parse.ts'

function attributes(text: string): Record<string, unknown> {
  const cookie = parseCookie(`a=b${text}`)
  assert.ok(cookie !== null)
  const { name, value, ...rest } = cookie
  assert.deepEqual([name, value], ['a', 'b'])
  return rest
}

describe('getSetCookies', () => {
  test('no header, no cookie', () => {
    assert.deepStrictEqual(getSetCookies(new Headers()), [])
  })

  test('all headers in their order, null where one is invalid', () => {
    const headers = new Headers()
    headers.append('set-cookie', 'a=1; Expires=Fri, 07 Jan 1983 15:32:00 GMT')
    headers.append('set-cookie', 'b=\u0001')
    headers.append('set-cookie', 'c=3; Secure')
    assert.deepStrictEqual(getSetCookies(headers), [
      { name: 'a', value: '1', expires: new Date('1983-01-07T15:32:00Z') },
      null,
      { name: 'c', value: '3', secure: true },
    ])
  })
})

describe('parseCookie: when null', () => {
  test('any control character but the tab, wherever it stands', () => {
    for (let code = 0; code <= 0x80; code++) {
      const char = String.fromCharCode(code)
      const control = (code < 0x20 && code !== 0x09) || code === 0x7f
      for (const text of [
        `x${char}y=b`,
        `a=x${char}y`,
        `a=b; k${char}k=v`,
        `a=b; k=v${char}v`,
        `a=b${char}`,
      ]) {
        assert.equal(parseCookie(text) === null, control, JSON.stringify(text))
      }
    }
  })

  test('name and value together exceed 4096 characters', () => {
    assert.equal(parseCookie(`a=${'x'.repeat(4096)}`), null)
    assert.equal(parseCookie(`${'x'.repeat(4096)}=a`), null)
    assert.equal(parseCookie('x'.repeat(4097)), null)
    assert.equal(parseCookie(`a=${'x'.repeat(4095)}`)?.value.length, 4095)
    assert.equal(parseCookie(` a = ${'x'.repeat(4095)} ; k=v`)?.value.length, 4095)
    assert.equal(parseCookie('\u{1f36a}'.repeat(2048))?.value.length, 4096)
    assert.equal(parseCookie('\u{1f36a}'.repeat(2049)), null)
  })

  test('nothing else', () => {
    for (const text of ['', '=', ' ', '\t', ' = ']) {
      assert.deepStrictEqual(parseCookie(text), { name: '', value: '' }, JSON.stringify(text))
    }
  })
})

describe('parseCookie: name and value', () => {
  test('the first equals sign divides; both sides are trimmed', () => {
    assert.deepStrictEqual(parseCookie(' \ta\t = b=c= \t'), { name: 'a', value: 'b=c=' })
    assert.deepStrictEqual(parseCookie('=b'), { name: '', value: 'b' })
    assert.deepStrictEqual(parseCookie('a='), { name: 'a', value: '' })
  })

  test('without an equals sign before the first semicolon all is value', () => {
    assert.deepStrictEqual(parseCookie(' b '), { name: '', value: 'b' })
    assert.deepStrictEqual(parseCookie('b; k=v'), { name: '', value: 'b', unparsed: ['k=v'] })
    assert.deepStrictEqual(parseCookie('; a=b'), { name: '', value: '', unparsed: ['a=b'] })
  })

  test('CVE-2026-9679: the value is not decoded, unquoted or otherwise touched', () => {
    assert.equal(parseCookie('a=x%0d%0aSet-Cookie:%20b=c')?.value, 'x%0d%0aSet-Cookie:%20b=c')
    assert.equal(parseCookie('a="x  y"')?.value, '"x  y"')
    assert.equal(parseCookie('a="x;y"')?.value, '"x')
    assert.equal(parseCookie('a=%E0%A4%A')?.value, '%E0%A4%A')
    assert.equal(parseCookie('%61=b')?.name, '%61')
  })

  test('only spaces and tabs are trimmed: a value may end in the last byte of a UTF-8 letter', () => {
    assert.equal(parseCookie('a=\u00c3\u00a0')?.value, '\u00c3\u00a0')
  })

  test('prefixes are not checked', () => {
    assert.deepStrictEqual(parseCookie('__Host-a=b; Domain=x.test'), {
      name: '__Host-a',
      value: 'b',
      domain: 'x.test',
    })
    assert.deepStrictEqual(parseCookie('__Secure-a=b'), { name: '__Secure-a', value: 'b' })
  })

  test('a cookie named __proto__ is one like any other', () => {
    const cookie = parseCookie('__proto__=x; __proto__=y; constructor=z')
    assert.deepStrictEqual(cookie, {
      name: '__proto__',
      value: 'x',
      unparsed: ['__proto__=y', 'constructor=z'],
    })
    assert.equal(Object.getPrototypeOf(cookie), Object.prototype)
  })
})

describe('parseCookie: attributes', () => {
  test('names count in any case, with spaces around', () => {
    assert.deepStrictEqual(attributes('; SECURE; httpONLY ;\tPath\t=\t/x\t;mAx-AgE = 1'), {
      secure: true,
      httpOnly: true,
      path: '/x',
      maxAge: 1,
    })
  })

  test('a value of 1024 characters is kept, a longer one makes the item vanish', () => {
    const longest = 'x'.repeat(1024)
    assert.deepStrictEqual(attributes(`; Path=/${longest.slice(1)}`), { path: `/${longest.slice(1)}` })
    assert.deepStrictEqual(attributes(`; Path=/${longest}`), {})
    assert.deepStrictEqual(attributes(`; k=${longest}`), { unparsed: [`k=${longest}`] })
    assert.deepStrictEqual(attributes(`; k=${longest}x`), {})
    assert.deepStrictEqual(attributes(`; Secure=${longest}x`), {})
    assert.deepStrictEqual(attributes(`; Path=/a; Path=/${longest}`), { path: '/a' })
    assert.deepStrictEqual(attributes(`; Path=  /${longest.slice(1)}  `), { path: `/${longest.slice(1)}` })
  })

  test('expires is a date, or ignored', () => {
    const expires = new Date('2038-01-01T00:00:00Z')
    assert.deepStrictEqual(attributes('; Expires=Fri, 01 Jan 2038 00:00:00 GMT'), { expires })
    assert.deepStrictEqual(attributes('; expires=Fri, 01-Jan-2038 00:00:00 GMT'), { expires })
    for (const text of ['; Expires', '; Expires=', '; Expires=soon']) {
      assert.deepStrictEqual(attributes(text), {}, text)
    }
  })

  test('max-age is digits, perhaps after a minus, or ignored', () => {
    const cases: [string, number][] = [
      ['0', 0],
      ['3600', 3600],
      ['-1', -1],
      ['007', 7],
      ['100000000000000000000', 1e20],
      ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ]
    for (const [text, maxAge] of cases)
      assert.deepStrictEqual(attributes(`; Max-Age=${text}`), { maxAge }, text)
    for (const text of ['', '-', '--1', '+1', '12abc', '1.5', '1e3', '0x10', '1 2', 'x', '-1-']) {
      assert.deepStrictEqual(attributes(`; Max-Age=${text}`), {}, text)
    }
    assert.deepStrictEqual(attributes('; Max-Age'), {})
  })

  test('domain loses one leading dot and its upper case', () => {
    assert.deepStrictEqual(attributes('; Domain=Example.COM'), { domain: 'example.com' })
    assert.deepStrictEqual(attributes('; Domain=.a.test'), { domain: 'a.test' })
    assert.deepStrictEqual(attributes('; Domain=..a.test'), { domain: '.a.test' })
    for (const text of ['; Domain', '; Domain=', '; Domain=.']) {
      assert.deepStrictEqual(attributes(text), { domain: '' }, text)
    }
  })

  test('a letter outside ASCII does not become another domain', () => {
    assert.deepStrictEqual(attributes('; Domain=BAN\u212a.test'), { domain: 'ban\u212a.test' })
  })

  test('path starts with a slash or is one', () => {
    assert.deepStrictEqual(attributes('; Path=/a b/C'), { path: '/a b/C' })
    for (const text of ['; Path', '; Path=', '; Path=x/y', '; Path="/x"']) {
      assert.deepStrictEqual(attributes(text), { path: '/' }, text)
    }
  })

  test('secure and httponly are true whatever their value', () => {
    assert.deepStrictEqual(attributes('; Secure=false; HttpOnly=0'), { secure: true, httpOnly: true })
  })

  test('CVE-2026-11525 class: samesite matches exactly in any case, or is ignored', () => {
    for (const sameSite of ['Strict', 'Lax', 'None']) {
      for (const text of [sameSite, sameSite.toLowerCase(), sameSite.toUpperCase()]) {
        assert.deepStrictEqual(attributes(`; SameSite=${text}`), { sameSite }, text)
      }
    }
    for (const text of [
      '',
      'Stric',
      'Stricter',
      'NoneLax',
      'Lax Strict',
      '"Lax"',
      'default',
      '\u017ftrict',
    ]) {
      assert.deepStrictEqual(attributes(`; SameSite=${text}`), {}, text)
    }
  })

  test('all others are left in order, always with an equals sign', () => {
    assert.deepStrictEqual(attributes('; foo; Bar = x=y ;=x; Partitioned;'), {
      unparsed: ['foo=', 'Bar=x=y', '=x', 'Partitioned=', '='],
    })
    assert.deepStrictEqual(attributes(';'), { unparsed: ['='] })
    assert.deepStrictEqual(attributes('; ;'), { unparsed: ['=', '='] })
  })

  test('of two attributes with one name the last valid one counts', () => {
    assert.deepStrictEqual(
      attributes(
        '; Path=/a; Max-Age=1; SameSite=Lax; Domain=a.test; Path=/b; Max-Age=2; Domain=b.test; SameSite=None',
      ),
      { path: '/b', maxAge: 2, sameSite: 'None', domain: 'b.test' },
    )
    assert.deepStrictEqual(attributes('; Max-Age=1; Max-Age=x; SameSite=Lax; SameSite=x'), {
      maxAge: 1,
      sameSite: 'Lax',
    })
  })

  test('the list of attributes with a field of their own is the one the parser knows', () => {
    for (const name of ATTRIBUTES.keys()) assert.equal(attributes(`; ${name}=1`)['unparsed'], undefined, name)
  })
})
