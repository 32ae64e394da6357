// The Set-Cookie cases of web-platform-tests, which state what a browser sends after it has stored the cookies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CookieJar } from '../../../src/index.ts'
import {
  agrees,
  type CookieCase,
  cookieCases,
  DAMAGED_CASES,
  pageOf,
  skipCookieCases,
} from '../../support/cookie-cases.ts'

/** The dates of the cases are in 2027 and 2038, or in 2007 and before. */
const NOW = Date.UTC(2026, 0, 1)

/** Cases that do not apply to a jar, each with its reason. */
const NOT_FOR_A_JAR: Record<string, string> = {
  'Set cookie but ignore value after LF':
    'A line feed ends a header line, so none can be inside a value; the jar refuses a text that has one.',
  ...DAMAGED_CASES,
}

/** The value of the `Cookie` header after a case, in the form of its `cookie`. */
function visible(vector: CookieCase, host: string): string {
  const page = pageOf(vector, host)
  // Before a redirect, a script in another directory sets the cookies.
  const setter = vector.via === 'redirect' ? new URL('/cookies/resources/set.py', page) : page
  const jar = new CookieJar({ now: () => NOW })
  // The cases are Unicode; a header has bytes, which the jar gets as Latin-1.
  for (const text of vector.setCookie) jar.setCookie(Buffer.from(text).toString('latin1'), setter)
  const target = new URL(vector.location ?? page, page)
  // The cases mean the scheme of the page.
  target.protocol = page.protocol
  return Buffer.from(jar.getCookieHeader(target), 'latin1').toString()
}

test('a jar agrees with the Set-Cookie cases of web-platform-tests', { skip: skipCookieCases }, () => {
  const { host, vectors } = cookieCases
  assert.ok(vectors.length > 400)
  const differing = vectors
    .filter((vector) => !agrees(vector, visible(vector, host)))
    .map((vector) => vector.name)
  assert.deepEqual(differing.sort(), Object.keys(NOT_FOR_A_JAR).sort())
})
