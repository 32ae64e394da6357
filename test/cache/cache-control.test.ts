import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dateField } from '../../src/cache/rules/date-field.ts'
import { controlOf } from '../../src/cache/rules/targeted-control.ts'
import { readCacheControl } from '../../src/relay/cache-control.ts'

describe('Cache-Control', () => {
  const rows: [value: string | string[], expected: object][] = [
    ['', {}],
    ['max-age=60', { 'max-age': 60 }],
    ['MAX-AGE=60', { 'max-age': 60 }],
    ['max-age="60"', { 'max-age': 60 }],
    ['max-age=60, max-age=30', { 'max-age': 30 }],
    [['max-age=60', 'public'], { 'max-age': 60, public: true }],
    ['max-age=99999999999', { 'max-age': 2 ** 31 - 1 }],
    ['max-age', { 'max-age': 0 }],
    ['max-age=', { 'max-age': 0 }],
    ['max-age=-1', { 'max-age': 0 }],
    ['max-age=1.5', { 'max-age': 0 }],
    ['max-age=60x', { 'max-age': 0 }],
    ['max-age = 60', { 'max-age': 0 }],
    ['max-age= 60', { 'max-age': 0 }],
    ['s-maxage =60', { 's-maxage': 0 }],
    ['max-age="60', { 'max-age': 0 }],
    ['private="a, B",no-cache="c"', { private: ['a', 'b'], 'no-cache': ['c'] }],
    ['private="a", private="b"', { private: ['a', 'b'] }],
    ['private="a", private', { private: true }],
    ['private=', { private: true }],
    ['private=""', { private: true }],
    ['private="a b"', { private: true }],
    ['no-store=1', { 'no-store': true }],
    ['no-store;', { 'no-store': true }],
    ['"no-store"', { 'no-store': true }],
    ['max-age=60 no-store', { 'max-age': 0, 'no-store': true }],
    ['public private', { private: true }],
    ['x="max-age=60, no-store', { 'no-store': true }],
    ['x="no-store", max-age=1', { 'max-age': 1 }],
    ['x="a\\", no-store", max-age=1', { 'max-age': 1 }],
    ['x="\\", no-store, y', { 'no-store': true }],
    ['must-revalidate;', { 'must-revalidate': true }],
    ['must-understand;', {}],
    ['public=, must-understand=1, immutable=x', {}],
    ['public, public=""', {}],
    ['public=1, public', {}],
    // It still restricts.
    ['must-revalidate=1, proxy-revalidate=', { 'must-revalidate': true, 'proxy-revalidate': true }],
    ['\xa0public, max-age=1\xa0', { 'max-age': 0 }],
    ['\tpublic ', { public: true }],
    ['not-private, xno-store, no-storex', {}],
    ['stale-while-revalidate=5, stale-if-error=x', { 'stale-while-revalidate': 5, 'stale-if-error': 0 }],
    ['max-stale', { 'max-stale': Number.POSITIVE_INFINITY }],
    ['max-stale=5, min-fresh=6', { 'max-stale': 5, 'min-fresh': 6 }],
    ['max-stale=x, min-fresh=x', {}],
    [
      'immutable, only-if-cached, must-understand',
      { immutable: true, 'only-if-cached': true, 'must-understand': true },
    ],
    [' , ,a', {}],
  ]
  for (const [value, expected] of rows) {
    test(JSON.stringify(value), () => assert.deepEqual(readCacheControl(value).directives, expected))
  }

  test('64 KiB of quotes and commas take no time', () => {
    const started = process.cpuUsage().user
    for (const text of ['"\\', '",', '\\"', ',,', 'private ', '="']) readCacheControl(text.repeat(32_768))
    assert.ok(process.cpuUsage().user - started < 2_000_000)
  })
})

describe('targeted fields', () => {
  const targets = ['cdn-cache-control', 'x-control']
  const rows: [headers: Record<string, string>, expected: object][] = [
    [{ 'cache-control': 'max-age=1', 'cdn-cache-control': 'max-age=2' }, { 'max-age': 2 }],
    [
      { 'cache-control': 'max-age=1', 'x-control': 'max-age=3, private' },
      { 'max-age': 3, private: true },
    ],
    [{ 'cdn-cache-control': 'max-age=2', 'x-control': 'max-age=3' }, { 'max-age': 2 }],
    [{ 'cache-control': 'max-age=1', 'cdn-cache-control': '' }, { 'max-age': 1 }],
    [{ 'cache-control': 'max-age=1', 'cdn-cache-control': 'Max-Age=2' }, { 'max-age': 1 }],
    [{ 'cache-control': 'max-age=1', 'cdn-cache-control': 'max-age=2, "' }, { 'max-age': 1 }],
    [{ 'cdn-cache-control': 'max-age="2", no-store=?1, private=?0' }, { 'no-store': true }],
    [{ 'cdn-cache-control': 'max-age=2;x=1;y, max-age=1' }, { 'max-age': 1 }],
    [{ 'cdn-cache-control': 'max-age=2, private, private=?0' }, { 'max-age': 2 }],
  ]
  for (const [headers, expected] of rows) {
    test(JSON.stringify(headers), () => assert.deepEqual(controlOf(headers, targets).control, expected))
  }
})

describe('HTTP-date', () => {
  const now = Date.UTC(2026, 0, 1)
  const time = Date.UTC(1994, 10, 6, 8, 49, 37)
  const read = (text: string): number | null => dateField({ date: text }, 'date', now)
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'sun, 06 NOV 1994 08:49:37 gmt',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]) {
    test(text, () => assert.equal(read(text), time))
  }
  for (const text of [
    '0',
    '',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
  ]) {
    test(`not ${text}`, () => assert.equal(read(text), null))
  }
  test('two digits are within 50 years', () => {
    assert.equal(read('Friday, 06-Nov-76 08:49:37 GMT'), Date.UTC(2076, 10, 6, 8, 49, 37))
    assert.equal(read('Sunday, 06-Nov-77 08:49:37 GMT'), Date.UTC(1977, 10, 6, 8, 49, 37))
  })
  test('a leap second', () => {
    assert.equal(read('Sat, 31 Dec 2016 23:59:60 GMT'), Date.UTC(2016, 11, 31, 23, 59, 59))
  })
})
