// Arguments of the cookie helpers: how many, and on what kind of object.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteCookie, getCookies, getSetCookies, parseCookie, setCookie } from '../../src/cookies/api.ts'

// Called as JavaScript would: the types forbid most of what is tested here.
type Loose = (...args: unknown[]) => unknown
const loose = {
  getCookies: getCookies as Loose,
  getSetCookies: getSetCookies as Loose,
  setCookie: setCookie as Loose,
  deleteCookie: deleteCookie as Loose,
  parseCookie: parseCookie as Loose,
}
const ILLEGAL = { name: 'TypeError', message: 'Illegal invocation', code: 'ERR_INVALID_THIS' }

test('too few arguments name the function and the counts', () => {
  const headers = new Headers()
  const cases: [() => unknown, string][] = [
    [() => loose.getCookies(), 'getCookies: 1 argument required, but 0 found.'],
    [() => loose.getSetCookies(), 'getSetCookies: 1 argument required, but 0 found.'],
    [() => loose.setCookie(), 'setCookie: 2 arguments required, but 0 found.'],
    [() => loose.setCookie(headers), 'setCookie: 2 arguments required, but only 1 found.'],
    [() => loose.deleteCookie(headers), 'deleteCookie: 2 arguments required, but only 1 found.'],
  ]
  for (const [call, message] of cases) assert.throws(call, { name: 'TypeError', message })
})

test('only a real Headers object will do', () => {
  const impostors = [
    undefined,
    null,
    5,
    'headers',
    {},
    new Map(),
    { [Symbol.toStringTag]: 'Headers', get: () => 'a=1', getSetCookie: () => ['a=1'], append() {} },
    Object.create(Headers.prototype),
    Headers.prototype,
    new Proxy(new Headers(), {}),
  ]
  for (const impostor of impostors) {
    assert.throws(() => loose.getCookies(impostor), ILLEGAL)
    assert.throws(() => loose.getSetCookies(impostor), ILLEGAL)
    assert.throws(() => loose.setCookie(impostor, { name: 'a', value: 'b' }), ILLEGAL)
    assert.throws(() => loose.deleteCookie(impostor, 'a'), ILLEGAL)
  }
})

test('a subclass of Headers is a real one', () => {
  class Sub extends Headers {}
  const headers = new Sub({ cookie: 'a=1' })
  assert.deepEqual(getCookies(headers), { a: '1' })
  setCookie(headers, { name: 'b', value: '2' })
  assert.deepEqual(getSetCookies(headers), [{ name: 'b', value: '2' }])
})

test('the count is checked before the headers, by deleteCookie after them', () => {
  assert.throws(() => loose.setCookie({}), /setCookie: 2 arguments required, but only 1 found\./)
  assert.throws(() => loose.deleteCookie({}), ILLEGAL)
  assert.throws(() => loose.deleteCookie(), ILLEGAL)
})

test('parseCookie takes anything that converts to a string', () => {
  assert.deepEqual(loose.parseCookie(5), { name: '', value: '5' })
  assert.deepEqual(loose.parseCookie(undefined), { name: '', value: 'undefined' })
  assert.deepEqual(loose.parseCookie(), { name: '', value: 'undefined' })
  assert.deepEqual(loose.parseCookie({ toString: () => 'a=b' }), { name: 'a', value: 'b' })
  assert.throws(() => loose.parseCookie(Symbol('a=b')), TypeError)
})
