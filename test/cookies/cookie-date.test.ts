/** The dates of cookies (RFC 6265 §5.1.1): the parts count, in any order; days of the week and zones do not. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { parseCookie } from '../../src/cookies/api.ts'
import { parseCookieDate } from '../../src/cookies/cookie-date.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'

const EXPECTED = '2031-03-09T04:05:06.000Z'

const READ: readonly (readonly [text: string, iso: string])[] = [
  // The three forms of HTTP, and that of old servers.
  ['Sun, 09 Mar 2031 04:05:06 GMT', EXPECTED],
  ['Sunday, 09-Mar-31 04:05:06 GMT', EXPECTED],
  ['Sun Mar  9 04:05:06 2031', EXPECTED],
  ['Sun, 09-Mar-2031 04:05:06 GMT', EXPECTED],
  // UTC, whatever the zone.
  ['Sun, 09 Mar 2031 04:05:06', EXPECTED],
  ['Sun, 09 Mar 2031 04:05:06 PST', EXPECTED],
  ['Sun, 09 Mar 2031 04:05:06 +0200', EXPECTED],
  ['Sun, 09 Mar 2031 04:05:06 GMT+0900 (somewhere)', EXPECTED],
  // Any order, any day of the week or none, any letter case.
  ['2031 Mar 9 04:05:06', EXPECTED],
  ['04:05:06 9 mar 2031', EXPECTED],
  ['mAr 9 2031 4:5:6', EXPECTED],
  ['Wed, 09 Mar 2031 04:05:06 GMT', EXPECTED],
  ['whenever, 09 Mar 2031 04:05:06 GMT', EXPECTED],
  // Delimiters: everything that is neither letter, digit nor colon.
  ['Sun,09/Mar/2031@04:05:06', EXPECTED],
  ['"09"_(Mar)-[2031]+04:05:06!', EXPECTED],
  ['\t09\tMar\t2031\t04:05:06\t', EXPECTED],
  // A non-digit after a part belongs to it.
  ['9th March 2031AD 04:05:06.789Z', EXPECTED],
  ['09 Marzo 2031 04:05:06', EXPECTED],
  // The first of each counts; two digits are taken as a day before a year.
  ['09 Mar 2031 04:05:06 11:12:13', EXPECTED],
  ['09 Mar Apr 2031 04:05:06', EXPECTED],
  ['09 Mar 2031 04:05:06 10 1999', EXPECTED],
  ['09 31 Mar 04:05:06', EXPECTED],
  // Years of two and of three digits.
  ['01 Jan 70 00:00:00', '1970-01-01T00:00:00.000Z'],
  ['01 Jan 99 00:00:00', '1999-01-01T00:00:00.000Z'],
  ['01 Jan 00 00:00:00', '2000-01-01T00:00:00.000Z'],
  ['01 Jan 69 00:00:00', '2069-01-01T00:00:00.000Z'],
  ['01 Jan 0070 00:00:00', '1970-01-01T00:00:00.000Z'],
  ['01 Jan 1601 00:00:00', '1601-01-01T00:00:00.000Z'],
  ['31 Dec 9999 23:59:59', '9999-12-31T23:59:59.000Z'],
  ['29 Feb 2032 00:00:00', '2032-02-29T00:00:00.000Z'],
]

const IGNORED: readonly string[] = [
  '',
  'soon',
  '0',
  '1924905600000',
  // Dates that only an ordinary date parser accepts.
  '2031-03-09T04:05:06Z',
  '2031-03-09',
  '09 Mar 2031',
  'Mar 9 2031 4:05 AM',
  '03/09/2031 04:05:06',
  // A part is missing.
  'Mar 2031 04:05:06',
  '09 2031 04:05:06',
  '09 Mar 04:05:06',
  '09 Mar 2031 04:05',
  // No such year, day, or time.
  '01 Jan 1600 00:00:00',
  '01 Jan 100 00:00:00',
  '01 Jan 12031 00:00:00',
  '00 Jan 2031 00:00:00',
  '32 Jan 2031 00:00:00',
  '30 Feb 2031 00:00:00',
  '29 Feb 2031 00:00:00',
  '31 Apr 2031 00:00:00',
  '09 Mar 2031 24:00:00',
  '09 Mar 2031 04:60:00',
  '09 Mar 2031 04:05:60',
  '09 Mar 2031 004:05:06',
  '09 Mar 2031 04:05:006',
  // The colons are part of a token, so this is not a time.
  '09 Mar 2031 :04:05:06',
  '09 Mär 2031 04:05:06',
]

describe('a date', () => {
  for (const [text, iso] of READ) {
    test(JSON.stringify(text), () => {
      assert.equal(parseCookieDate(text)?.toISOString(), iso)
      assert.deepEqual(parseCookie(`a=b; expires=${text}`)?.expires, new Date(iso))
    })
  }
})

describe('no date', () => {
  for (const text of IGNORED) {
    test(JSON.stringify(text), () => {
      assert.equal(parseCookieDate(text), null)
      assert.equal(Object.hasOwn(parseCookie(`a=b; expires=${text}`)!, 'expires'), false)
    })
  }
})

test('a cookie whose date was ignored before keeps the one it had', () => {
  const text = 'a=b; expires=09 Mar 2031 04:05:06; expires=tomorrow'
  assert.deepEqual(parseCookie(text)?.expires, new Date(EXPECTED))
})

test('the zone of the process makes no difference', () => {
  const program = `
    import { parseCookieDate } from ${JSON.stringify(sourceUrl('src/cookies/cookie-date.ts'))}
    console.log(parseCookieDate('Sun Mar  9 04:05:06 2031').toISOString())
  `
  const args = [...sourceLoader, '--input-type=module', '--eval', program]
  const env = { ...process.env, TZ: 'Pacific/Auckland' }
  assert.equal(execFileSync(process.execPath, args, { env, encoding: 'utf8' }).trim(), EXPECTED)
})

test('takes linear time', () => {
  for (const text of [
    '1:'.repeat(50_000),
    '1 '.repeat(50_000),
    `${'1'.repeat(100_000)}:`,
    '-'.repeat(100_000),
  ]) {
    assert.equal(parseCookieDate(text), null)
  }
})
