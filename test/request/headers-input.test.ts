import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from '../../src/errors.ts'
import { flatHeaders, headerNames, headerPairs } from '../../src/request/headers-input.ts'

const SHAPES: readonly (readonly [shape: string, headers: unknown])[] = [
  ['an object', { a: '1', b: '2' }],
  ['a flat list', ['a', '1', 'b', '2']],
  ['a Map', new Map(Object.entries({ a: '1', b: '2' }))],
  ['Headers', new Headers({ a: '1', b: '2' })],
  ['an iterator', Object.entries({ a: '1', b: '2' }).values()],
]

for (const [shape, headers] of SHAPES) {
  test(`reads ${shape}`, () => {
    // An iterator can be read once.
    const flat = flatHeaders(headers)
    assert.deepEqual(flat, ['a', '1', 'b', '2'])
    assert.deepEqual(
      [...headerPairs(shape === 'an iterator' ? flat : headers)],
      [
        ['a', '1'],
        ['b', '2'],
      ],
    )
  })
}

test('names are read from all shapes', () => {
  assert.deepEqual(headerNames({ a: '1', b: '2' }), ['a', 'b'])
  assert.deepEqual(headerNames(['a', '1', 'b', '2']), ['a', 'b'])
  assert.deepEqual(headerNames(new Map([['a', '1']])), ['a'])
})

test('no headers are an empty list', () => {
  assert.deepEqual(flatHeaders(null), [])
  assert.deepEqual(flatHeaders(undefined), [])
  assert.deepEqual([...headerPairs(null)], [])
})

test('what is none of the shapes is refused', () => {
  const refused: [unknown, string][] = [
    ['a: 1', 'headers must be an object or an array'],
    [['a'], 'headers array must be even'],
    [new Set(['a']), 'headers must be in key-value pair format'],
    [new Set([['a', '1', '2']]), 'headers must be in key-value pair format'],
  ]
  for (const [headers, message] of refused) {
    assert.throws(() => flatHeaders(headers), new InvalidArgumentError(message))
  }
})

test('pairs of a wrong shape do not throw, and have no name', () => {
  assert.deepEqual([...headerPairs('a: 1')], [])
  assert.deepEqual([...headerPairs(['a'])], [['a', undefined]])
  assert.deepEqual(
    [...headerPairs(new Set([1, ['a', '1', '2']]))],
    [
      [undefined, 1],
      [undefined, ['a', '1', '2']],
    ],
  )
})

test('pairs are read from a list of pairs', () => {
  assert.deepEqual([...headerPairs([['a', '1']])], [['a', '1']])
})
