// The Set-Cookie cases of web-platform-tests, which state what a browser sends after it has stored the cookies.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { CookieJar } from '../../../src/index.ts'

interface Vector {
  file: string
  via: 'dom' | 'http' | 'redirect' | 'prefix'
  name: string
  setCookie: string[]
  cookie?: string
  accepted?: boolean
  secureOrigin?: boolean
  location?: string
  mayRejectMessage?: boolean
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const path = join(process.env['VENTUNO_VECTORS'] ?? join(root, '../shared/vectors'), 'cookies-wpt.json')
const skip = existsSync(path) ? false : 'the vectors are not here'

/** The dates of the cases are in 2027 and 2038, or in 2007 and before. */
const NOW = Date.UTC(2026, 0, 1)

/** Cases that do not apply to a jar, each with its reason. */
const NOT_FOR_A_JAR: Record<string, string> = {
  'Set cookie but ignore value after LF':
    'A line feed ends a header line, so none can be inside a value; the jar refuses a text that has one.',
  "Return cookie for domain match (domain attribute is suffix of the host name and first level subdomain, with leading '.')":
    'The data lost a label: its location is the bare host, where a cookie for the www host must not show.',
  'No cookie returned for domain mismatch when cookie was created (which would match after the redirect, with two subdomain levels)':
    'The data lost the second subdomain level: its domain is the bare host, which the setting host does match.',
  'No cookie set on domain mismatch before a (domain matching) redirect (for second level subdomain)':
    'The data lost the second subdomain level: its domain is the bare host, which the setting host does match.',
}

/** The value of the `Cookie` header after a case, in the form of its `cookie`. */
function visible(vector: Vector, host: string): string {
  // Only the prefix cases distinguish secure and insecure pages.
  const scheme = vector.secureOrigin === false ? 'http' : 'https'
  // The child cases run inside a frame on the www host.
  const pageHost = vector.file.includes('-child.') ? `www.${host}` : host
  const page = new URL(`${scheme}://${pageHost}/${vector.file}`)
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

function agrees(vector: Vector, shown: string): boolean {
  if (vector.accepted !== undefined) return vector.accepted === (shown !== '')
  return shown === vector.cookie || (vector.mayRejectMessage === true && shown === '')
}

test('a jar agrees with the Set-Cookie cases of web-platform-tests', { skip }, () => {
  const { host, vectors } = JSON.parse(readFileSync(path, 'utf8')) as { host: string; vectors: Vector[] }
  assert.ok(vectors.length > 400)
  const differing = vectors
    .filter((vector) => !agrees(vector, visible(vector, host)))
    .map((vector) => vector.name)
  assert.deepEqual(differing.sort(), Object.keys(NOT_FOR_A_JAR).sort())
})
