import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCookies } from '../../src/cookies/api.ts'

function read(cookie: string): Record<string, string> {
  return getCookies(new Headers({ cookie }))
}

test('a missing or empty header gives an empty plain object', () => {
  assert.deepStrictEqual(getCookies(new Headers()), {})
  assert.deepStrictEqual(read(''), {})
  assert.deepStrictEqual(read('  '), {})
})

test('several cookie headers are one list', () => {
  const headers = new Headers()
  headers.append('cookie', 'a=1')
  headers.append('Cookie', 'b=2; c=3')
  assert.deepStrictEqual(getCookies(headers), { a: '1', b: '2', c: '3' })
})

test('names are trimmed; values are not trimmed, unquoted or decoded', () => {
  assert.deepStrictEqual(read('a= 1 ; \tb \t=2'), { a: ' 1 ', b: '2' })
  assert.deepStrictEqual(read('a="x"; b=%41%0d%0a'), { a: '"x"', b: '%41%0d%0a' })
})

test('the first equals sign divides', () => {
  assert.deepStrictEqual(read('a=b=c==; =x'), { a: 'b=c==', '': 'x' })
})

test('a piece without an equals sign is a name with an empty value', () => {
  assert.deepStrictEqual(read('a; b='), { a: '', b: '' })
})

test('of two cookies with one name the later stays', () => {
  assert.deepStrictEqual(read('a=1; b=2; a=3'), { a: '3', b: '2' })
})

test('an empty piece creates the empty name', () => {
  assert.deepStrictEqual(read('a=1;;b=2'), { a: '1', '': '', b: '2' })
  assert.deepStrictEqual(read('a=1;'), { a: '1', '': '' })
})

test('quotes do not protect a semicolon', () => {
  assert.deepStrictEqual(read('a="1;2"'), { a: '"1', '2"': '' })
})

test('CVE-2023-26136 class: names of Object.prototype are ordinary own properties', () => {
  const cookies = read('__proto__=polluted; constructor=c; toString=t; hasOwnProperty=h')
  assert.equal(Object.getPrototypeOf(cookies), Object.prototype)
  assert.deepEqual(Object.entries(cookies), [
    ['__proto__', 'polluted'],
    ['constructor', 'c'],
    ['toString', 't'],
    ['hasOwnProperty', 'h'],
  ])
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

test('only spaces and tabs are trimmed: a name may end in the last byte of a UTF-8 letter', () => {
  assert.deepStrictEqual(read('\u00c3\u00a0=1'), { '\u00c3\u00a0': '1' })
})
