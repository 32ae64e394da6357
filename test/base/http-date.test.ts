import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHttpDate, parseHttpDate } from '../../src/base/http-date.ts'

test('a date is written as IMF-fixdate', () => {
  assert.equal(formatHttpDate(new Date(Date.UTC(1983, 0, 7, 15, 32))), 'Fri, 07 Jan 1983 15:32:00 GMT')
  assert.equal(formatHttpDate(new Date(0)), 'Thu, 01 Jan 1970 00:00:00 GMT')
  assert.equal(formatHttpDate(new Date(-1)), 'Wed, 31 Dec 1969 23:59:59 GMT')
})

test('a date that would be read back as another one is not written', () => {
  const firstOfYear100 = Date.UTC(100, 0, 1)
  assert.equal(formatHttpDate(new Date(firstOfYear100)), 'Fri, 01 Jan 0100 00:00:00 GMT')
  assert.equal(formatHttpDate(new Date(firstOfYear100 - 1)), null)
  assert.equal(formatHttpDate(new Date(-8.64e15)), null)
  assert.equal(formatHttpDate(new Date(Number.NaN)), null)
})

test('every date that is written reads back to the second', () => {
  for (const time of [Date.UTC(100, 0, 1), Date.UTC(1600, 1, 29), -1000, 0, Date.UTC(2038, 0, 19), 8.64e15]) {
    const text = formatHttpDate(new Date(time))
    assert.ok(text !== null)
    assert.equal(parseHttpDate(text)?.getTime(), time, text)
  }
})

test('IMF-fixdate, the RFC 850 form and the dashed form of old servers are read', () => {
  const expected = Date.UTC(1994, 10, 6, 8, 49, 37)
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun, 06-Nov-1994 08:49:37 GMT',
  ]) {
    assert.equal(parseHttpDate(text)?.getTime(), expected, text)
  }
})

test('a text without a zone is local time', () => {
  const local = new Date(1994, 10, 6, 8, 49, 37).getTime()
  assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994')?.getTime(), local)
})

test('a text that is no date gives null', () => {
  for (const text of ['', 'x', 'Thu, 99 Foo 2020 00:00:00 GMT']) assert.equal(parseHttpDate(text), null, text)
})
