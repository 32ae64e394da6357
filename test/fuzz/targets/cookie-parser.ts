/** The cookie functions: no input throws, every output is a legal header value, nothing leaks into prototypes. */
import assert from 'node:assert/strict'
import { getCookies, getSetCookies, parseCookie, setCookie } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'
import type { Target } from '../target.ts'

/** RFC 6265bis §5.6 */
const MAX_NAME_AND_VALUE = 4096
const MAX_ATTRIBUTE = 1024

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/

/** A header can only contain legal characters. */
function headersWith(name: string, text: string): Headers | null {
  try {
    return new Headers([[name, text]])
  } catch {
    return null
  }
}

function checkSetCookie(text: string): void {
  const cookie = parseCookie(text)
  assert.deepEqual(parseCookie(text), cookie)
  assert.equal(cookie === null, CONTROL.test(text) || isTooLong(text), 'refused for no other reason')
  const headers = headersWith('set-cookie', text)
  if (headers !== null) {
    const [again] = getSetCookies(headers)
    // A header loses the whitespace around its value.
    assert.deepEqual(again, parseCookie(text.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')))
  }
  if (cookie === null) return
  const { name, value, path, domain, maxAge, expires, unparsed = [] } = cookie
  assert.ok(name.length + value.length <= MAX_NAME_AND_VALUE)
  assert.ok(path === undefined || (path.startsWith('/') && path.length <= MAX_ATTRIBUTE))
  assert.ok(domain === undefined || domain.length <= MAX_ATTRIBUTE)
  assert.ok(maxAge === undefined || typeof maxAge === 'number')
  assert.ok(expires === undefined || (expires instanceof Date && !Number.isNaN(expires.getTime())))
  assert.ok(unparsed.length < text.split(';').length)
  for (const part of [name, value, path, domain, ...unparsed]) {
    assert.ok(part === undefined || !(CONTROL.test(part) || part.includes(';')), part)
  }
  const written = new Headers()
  try {
    setCookie(written, cookie)
  } catch (error) {
    assert.ok(error instanceof Error)
    return
  }
  const lines = written.getSetCookie()
  assert.equal(lines.length, name === '' ? 0 : 1)
  if (name === '') return
  const back = parseCookie(lines[0]!)
  assert.equal(back?.name, name)
  assert.equal(back.value, value)
}

/** The first part, without the whitespace around its name and its value. */
function isTooLong(text: string): boolean {
  const [pair = ''] = text.split(';', 1)
  const equals = pair.indexOf('=')
  const name = equals === -1 ? '' : pair.slice(0, equals)
  const length = trim(name).length + trim(pair.slice(equals + 1)).length
  return length > MAX_NAME_AND_VALUE
}

function trim(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && (text[from] === ' ' || text[from] === '\t')) from++
  while (to > from && (text[to - 1] === ' ' || text[to - 1] === '\t')) to--
  return text.slice(from, to)
}

function checkCookies(text: string): void {
  const headers = headersWith('cookie', text)
  if (headers === null) return
  const cookies = getCookies(headers)
  assert.ok(Object.keys(cookies).length <= text.split(';').length)
  assert.equal(Object.getPrototypeOf(cookies), Object.prototype)
  for (const [name, value] of Object.entries(cookies)) {
    assert.ok(!name.includes('=') && !name.includes(';') && !value.includes(';'))
  }
}

function check({ context, bytes }: Recording): void {
  const text = bytes.toString('latin1')
  if (context === 'cookie') checkCookies(text)
  else checkSetCookie(text)
  const polluted = Object.keys(Object.prototype)
  assert.deepEqual(polluted, [])
}

export const cookieParser: Target = { name: 'cookie-parser', corpus: 'cookies', check }
