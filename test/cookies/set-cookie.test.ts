import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deleteCookie, setCookie } from '../../src/cookies/api.ts'
import type { Cookie } from '../../src/cookies/cookie.ts'
import { ATTRIBUTES } from '../../src/cookies/parse.ts'

/** The header that one call appends. Takes anything: the types forbid most of these arguments. */
function write(cookie: unknown): string[] {
  const headers = new Headers()
  setCookie(headers, cookie as Cookie)
  return headers.getSetCookie()
}

function writeWith(members: Record<string, unknown>): string | undefined {
  return write({ name: 'a', value: 'b', ...members })[0]
}

/** Refused with this message, and nothing appended. */
function refuses(cookie: Record<string, unknown>, message: string): void {
  const headers = new Headers()
  const call = (): void => setCookie(headers, { name: 'a', value: 'b', ...cookie } as Cookie)
  assert.throws(call, { name: 'Error', message }, JSON.stringify(cookie))
  assert.deepEqual(headers.getSetCookie(), [])
}

describe('setCookie: output', () => {
  test('the attributes come in a fixed order', () => {
    const cookie: Required<Cookie> = {
      unparsed: ['k=v', 'Partitioned='],
      sameSite: 'Lax',
      expires: new Date(Date.UTC(1983, 0, 7, 15, 32)),
      path: '/p',
      domain: 'Ex.test',
      maxAge: 3,
      httpOnly: true,
      secure: true,
      value: 'b',
      name: 'a',
    }
    assert.deepEqual(write(cookie), [
      'a=b; Secure; HttpOnly; Max-Age=3; Domain=Ex.test; Path=/p; Expires=Fri, 07 Jan 1983 15:32:00 GMT; SameSite=Lax; k=v; Partitioned=',
    ])
  })

  test('cookies are appended as entries of their own', () => {
    const headers = new Headers()
    setCookie(headers, { name: 'a', value: '1' })
    setCookie(headers, { name: 'a', value: '2', secure: true })
    assert.deepEqual(headers.getSetCookie(), ['a=1', 'a=2; Secure'])
    assert.equal(headers.get('set-cookie'), 'a=1, a=2; Secure')
  })

  test('an empty name writes nothing and checks nothing', () => {
    assert.deepEqual(write({ name: '', value: ' ;\n', path: ';', maxAge: -1 }), [])
  })

  test('there is no length limit', () => {
    const long = 'x'.repeat(5000)
    assert.equal(writeWith({ value: long, path: `/${long}` }), `a=${long}; Path=/${long}`)
  })

  test('the object passed stays as it was', () => {
    const cookie = Object.freeze({
      name: '__Host-a',
      value: 'b',
      domain: 'x.test',
      expires: 5,
      unparsed: ['k=v'],
    })
    write(cookie)
    assert.deepEqual(cookie, {
      name: '__Host-a',
      value: 'b',
      domain: 'x.test',
      expires: 5,
      unparsed: ['k=v'],
    })
  })

  test('__Secure- turns secure on', () => {
    assert.deepEqual(write({ name: '__Secure-a', value: 'b', secure: false, domain: 'x.test', path: '/p' }), [
      '__Secure-a=b; Secure; Domain=x.test; Path=/p',
    ])
  })

  test('__Host- turns secure on, drops the domain and sets the path', () => {
    assert.deepEqual(write({ name: '__Host-a', value: 'b', domain: 'x.test', path: '/p' }), [
      '__Host-a=b; Secure; Path=/',
    ])
    assert.deepEqual(write({ name: '__Host-a', value: 'b' }), ['__Host-a=b; Secure; Path=/'])
  })

  test('prefixes count in their own case only, and only in front', () => {
    assert.deepEqual(write({ name: '__host-a', value: 'b' }), ['__host-a=b'])
    assert.deepEqual(write({ name: '__SECURE-a', value: 'b' }), ['__SECURE-a=b'])
    assert.deepEqual(write({ name: 'x__Host-a', value: 'b' }), ['x__Host-a=b'])
  })
})

describe('setCookie: conversion', () => {
  test('the cookie is an object with a name and a value', () => {
    for (const cookie of [undefined, null, 5, 'a=b', true, Symbol('a')])
      assert.throws(() => write(cookie), TypeError)
    assert.throws(() => write({ value: 'b' }), TypeError)
    assert.throws(() => write({ name: 'a' }), TypeError)
    assert.throws(() => write({ name: 'a', value: undefined }), TypeError)
  })

  test('name and value become strings', () => {
    assert.deepEqual(write({ name: 5, value: null }), ['5=null'])
    assert.deepEqual(write({ name: null, value: false }), ['null=false'])
    assert.throws(() => write({ name: Symbol('a'), value: 'b' }), TypeError)
    assert.throws(() => write({ name: 'a', value: Symbol('b') }), TypeError)
  })

  test('what is checked is what is written: a member is converted once', () => {
    let calls = 0
    const shifty = { toString: () => (calls++ === 0 ? 'fine' : 'evil; Domain=x.test') }
    assert.equal(writeWith({ value: shifty }), 'a=fine')
    assert.equal(calls, 1)
  })

  test('members may come from getters and prototypes', () => {
    class Session {
      name = 'a'
      get value(): string {
        return 'b'
      }
    }
    assert.deepEqual(write(new Session()), ['a=b'])
  })

  test('expires: a number counts milliseconds', () => {
    assert.equal(writeWith({ expires: 1000 }), 'a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT')
    assert.equal(writeWith({ expires: 1999.9 }), 'a=b; Expires=Thu, 01 Jan 1970 00:00:01 GMT')
    assert.equal(writeWith({ expires: -1000 }), 'a=b; Expires=Wed, 31 Dec 1969 23:59:59 GMT')
    assert.equal(writeWith({ expires: 8.64e15 }), 'a=b; Expires=Sat, 13 Sep 275760 00:00:00 GMT')
  })

  test('expires: anything else is what the Date constructor makes of it', () => {
    const text = 'a=b; Expires=Fri, 07 Jan 1983 15:32:00 GMT'
    assert.equal(writeWith({ expires: new Date(Date.UTC(1983, 0, 7, 15, 32)) }), text)
    assert.equal(writeWith({ expires: '1983-01-07T15:32:00Z' }), text)
    assert.equal(writeWith({ expires: new Date(0) }), 'a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT')
    assert.throws(() => writeWith({ expires: Symbol('x') }), TypeError)
  })

  test('expires: what is no date is left out', () => {
    const range = 8.64e15
    for (const expires of [
      0,
      Number.NaN,
      0.5,
      range + 1,
      -range - 1,
      1e300,
      Number.POSITIVE_INFINITY,
      null,
    ]) {
      assert.equal(writeWith({ expires }), 'a=b', String(expires))
    }
    for (const expires of [undefined, 'soon', new Date(Number.NaN)])
      assert.equal(writeWith({ expires }), 'a=b')
  })

  test('maxAge becomes an integer', () => {
    const cases: [unknown, string][] = [
      [0, '0'],
      [1.9, '1'],
      ['5', '5'],
      [Number.NaN, '0'],
      [Number.POSITIVE_INFINITY, '0'],
      ['x', '0'],
      [true, '1'],
      [-0.5, '0'],
      [2 ** 53, '9007199254740992'],
    ]
    for (const [maxAge, text] of cases)
      assert.equal(writeWith({ maxAge }), `a=b; Max-Age=${text}`, String(maxAge))
    assert.equal(writeWith({ maxAge: null }), 'a=b')
    assert.equal(writeWith({ maxAge: undefined }), 'a=b')
    assert.throws(() => writeWith({ maxAge: Symbol('1') }), TypeError)
  })

  test('an empty, null or undefined domain or path is left out', () => {
    for (const nothing of ['', null, undefined]) {
      assert.equal(writeWith({ domain: nothing, path: nothing }), 'a=b')
    }
    assert.equal(writeWith({ domain: 5, path: 6 }), 'a=b; Domain=5; Path=6')
    assert.throws(() => writeWith({ domain: Symbol('d') }), TypeError)
    assert.throws(() => writeWith({ path: Symbol('p') }), TypeError)
  })

  test('secure and httpOnly become booleans', () => {
    assert.equal(writeWith({ secure: 'false', httpOnly: 1 }), 'a=b; Secure; HttpOnly')
    for (const no of [false, 0, '', null, undefined])
      assert.equal(writeWith({ secure: no, httpOnly: no }), 'a=b')
  })

  test('sameSite is one of three words', () => {
    for (const sameSite of ['Strict', 'Lax', 'None']) {
      assert.equal(writeWith({ sameSite }), `a=b; SameSite=${sameSite}`)
    }
    assert.equal(writeWith({ sameSite: undefined }), 'a=b')
    for (const sameSite of [null, '', 'lax', 'Lax; Domain=x.test', 5]) {
      assert.throws(() => writeWith({ sameSite }), {
        name: 'TypeError',
        message: /is not an accepted type\. Expected one of Strict, Lax, None\./,
      })
    }
    assert.throws(() => writeWith({ sameSite: Symbol('Lax') }), TypeError)
  })

  test('unparsed is an iterable object of strings', () => {
    assert.equal(writeWith({ unparsed: new Set(['k=1', 'l=2']) }), 'a=b; k=1; l=2')
    assert.equal(writeWith({ unparsed: [{ toString: () => 'k=1' }] }), 'a=b; k=1')
    assert.equal(writeWith({ unparsed: [] }), 'a=b')
    assert.equal(writeWith({ unparsed: undefined }), 'a=b')
    for (const unparsed of ['k=v', 5, null, {}, true]) {
      assert.throws(() => writeWith({ unparsed }), { name: 'TypeError', message: /is not iterable/ })
    }
    assert.throws(() => writeWith({ unparsed: [Symbol('k=v')] }), TypeError)
  })
})

describe('setCookie: validation', () => {
  const ascii = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code))

  test('a name is a token', () => {
    for (const char of ascii) {
      const allowed = char > ' ' && char <= '~' && !'()<>@,;:\\"/[]?={}'.includes(char)
      if (allowed) assert.deepEqual(write({ name: `x${char}`, value: 'b' }), [`x${char}=b`])
      else refuses({ name: `x${char}` }, 'Invalid cookie name')
    }
    refuses({ name: '\u6625' }, 'Invalid cookie name')
    refuses({ name: 'a\r\nset-cookie: b' }, 'Invalid cookie name')
  })

  test('a value is cookie-octets, perhaps in a pair of quotes', () => {
    for (const char of ascii) {
      const allowed = char > ' ' && char <= '~' && !'",;\\'.includes(char)
      for (const value of [`x${char}y`, `"x${char}y"`]) {
        if (allowed) assert.equal(writeWith({ value }), `a=${value}`)
        else refuses({ value }, 'Invalid cookie value')
      }
    }
    assert.equal(writeWith({ value: '' }), 'a=')
    assert.equal(writeWith({ value: '""' }), 'a=""')
    for (const value of ['"', '"x', 'x"', '"""', '\u6625']) refuses({ value }, 'Invalid cookie value')
  })

  test('max-age is not negative and fits its type', () => {
    for (const maxAge of [-1, '-5', -1e30, 2 ** 63, 2 ** 64 + 4096])
      refuses({ maxAge }, 'Invalid cookie max-age')
  })

  test('a domain is a host name or an address', () => {
    const label = 'x'.repeat(63)
    const long = [label, label, label, label].join('.')
    assert.equal(long.length, 255)
    for (const domain of [' ', 'a', 'Ex-1.Test', '127.0.0.1', '3com.test', 'a--b.test', long]) {
      assert.equal(writeWith({ domain }), domain === ' ' ? 'a=b; Domain=' : `a=b; Domain=${domain}`)
    }
    assert.equal(writeWith({ domain: ' ', path: '/' }), 'a=b; Domain= ; Path=/')
    for (const domain of [
      '.a.test',
      'a.test.',
      'a..test',
      '.',
      '-a.test',
      'a-.test',
      'a.-',
      `x${label}.test`,
      `x.${long}`,
      'a_b.test',
      'a b.test',
      '  ',
      ' a.test',
      '[::1]',
      'a.test:80',
      'caf\u00e9.test',
    ]) {
      refuses({ domain }, 'Invalid cookie domain')
    }
  })

  test('CVE-2026-16729: a domain carries no further attribute', () => {
    for (const domain of ['a.test; Path=/x', 'a.test;Secure', 'a.test\r\nset-cookie: x=y', 'a.test,b=c']) {
      refuses({ domain }, 'Invalid cookie domain')
    }
  })

  test('a path is printable ASCII without a semicolon', () => {
    for (const char of ascii) {
      const path = `/x${char}y`
      if (char >= ' ' && char <= '~' && char !== ';') assert.equal(writeWith({ path }), `a=b; Path=${path}`)
      else refuses({ path }, 'Invalid cookie path')
    }
    assert.equal(writeWith({ path: 'relative' }), 'a=b; Path=relative')
  })

  test('a date whose text would mean another date is refused', () => {
    refuses({ expires: new Date('0030-01-01T00:00:00Z') }, 'Invalid cookie expires')
    refuses({ expires: -8.64e15 }, 'Invalid cookie expires')
  })

  test('unparsed items have an equals sign, a name and a value', () => {
    assert.equal(
      writeWith({ unparsed: [' \tk\t =v', '=x', '=', 'k=', 'k="q"', 'k=v=w'] }),
      'a=b; k=v; =x; =; k=; k="q"; k=v=w',
    )
    refuses({ unparsed: ['Partitioned'] }, 'Invalid unparsed')
    refuses({ unparsed: [''] }, 'Invalid unparsed')
    refuses({ unparsed: ['k k=v'] }, 'Invalid cookie name')
    refuses({ unparsed: ['k;=v'] }, 'Invalid cookie name')
    refuses({ unparsed: ['k= v'] }, 'Invalid cookie value')
    refuses({ unparsed: ['k=v '] }, 'Invalid cookie value')
    refuses({ unparsed: ['fine=1', 'k="'] }, 'Invalid cookie value')
  })

  test('CVE-2026-16729: unparsed items carry no further attribute', () => {
    refuses({ unparsed: ['k=v; Domain=x.test'] }, 'Invalid cookie value')
    refuses({ unparsed: ['k=v\r\nset-cookie: x=y'] }, 'Invalid cookie value')
    refuses({ unparsed: ['\r\nset-cookie: x=y'] }, 'Invalid cookie name')
  })

  test('CVE-2026-16729: unparsed items are no back door to the attributes with a field', () => {
    for (const name of ATTRIBUTES.keys()) {
      for (const key of [name, name.toUpperCase(), ` ${name} `])
        refuses({ unparsed: [`${key}=1`] }, 'Invalid unparsed')
    }
    refuses({ name: '__Host-a', unparsed: ['Domain=x.test'] }, 'Invalid unparsed')
  })
})

describe('deleteCookie', () => {
  const EPOCH = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT'
  const remove = deleteCookie as (...args: unknown[]) => void

  function written(...args: unknown[]): string[] {
    const headers = new Headers()
    remove(headers, ...args)
    return headers.getSetCookie()
  }

  test('appends an empty cookie that has expired', () => {
    assert.deepEqual(written('a'), [`a=; ${EPOCH}`])
    assert.deepEqual(written('a', { path: '/p', domain: 'ex.com' }), [`a=; Domain=ex.com; Path=/p; ${EPOCH}`])
  })

  test('removes nothing', () => {
    const headers = new Headers({ cookie: 'a=1', 'set-cookie': 'a=2' })
    deleteCookie(headers, 'a')
    assert.deepEqual(headers.getSetCookie(), ['a=2', `a=; ${EPOCH}`])
    assert.equal(headers.get('cookie'), 'a=1')
  })

  test('empty and missing attributes are left out', () => {
    for (const attributes of [
      undefined,
      null,
      {},
      { path: '', domain: '' },
      { path: null, domain: undefined },
    ]) {
      assert.deepEqual(written('a', attributes), [`a=; ${EPOCH}`])
    }
    for (const attributes of [5, '/p', true, Symbol('p')])
      assert.throws(() => written('a', attributes), TypeError)
  })

  test('other attributes are not taken over', () => {
    assert.deepEqual(written('a', { secure: true, value: 'x', expires: 5 }), [`a=; ${EPOCH}`])
  })

  test('the rules for names, prefixes and attributes are those of setCookie', () => {
    assert.deepEqual(written(''), [])
    assert.deepEqual(written(5), [`5=; ${EPOCH}`])
    assert.deepEqual(written('__Secure-a'), [`__Secure-a=; Secure; ${EPOCH}`])
    assert.deepEqual(written('__Host-a', { path: '/p', domain: 'ex.com' }), [
      `__Host-a=; Secure; Path=/; ${EPOCH}`,
    ])
    assert.throws(() => written('a b'), { name: 'Error', message: 'Invalid cookie name' })
    assert.throws(() => written('a', { path: '/;Secure' }), { name: 'Error', message: 'Invalid cookie path' })
    assert.throws(() => written('a', { domain: 'x;y' }), { name: 'Error', message: 'Invalid cookie domain' })
    assert.throws(() => written(Symbol('a')), TypeError)
  })
})
