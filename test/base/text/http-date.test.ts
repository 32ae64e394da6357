import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHttpDate } from '../../../src/base/text/http-date.ts'

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
