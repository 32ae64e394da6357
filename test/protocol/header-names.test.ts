import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isFieldName, lowerCaseName, lowerNameFromBytes } from '../../src/protocol/header-names.ts'

function fromBytes(name: string): string {
  const bytes = Buffer.from(`##${name}##`, 'latin1')
  return lowerNameFromBytes(bytes, 2, bytes.length - 2)
}

describe('header names', () => {
  it('are tokens, remembered or not', () => {
    for (const [name, isToken] of [
      ['x-a', true],
      ['x'.repeat(65), true],
      ['', false],
      ['a b', false],
      ['a:'.repeat(33), false],
    ] as const) {
      assert.equal(isFieldName(name), isToken)
      lowerCaseName(name)
      assert.equal(isFieldName(name), isToken)
    }
  })

  it('are lower-cased', () => {
    for (const name of [
      'Content-Type',
      'ETag',
      'x',
      'X',
      '',
      'already-lower',
      'X'.repeat(64),
      'X'.repeat(65),
    ]) {
      assert.equal(lowerCaseName(name), name.toLowerCase())
      assert.equal(lowerCaseName(name), name.toLowerCase())
    }
  })

  it('are read from bytes in lower case', () => {
    for (const name of [
      'Content-Type',
      'content-type',
      'CONTENT-TYPE',
      'a',
      'x'.repeat(64),
      'x'.repeat(65),
    ]) {
      assert.equal(fromBytes(name), name.toLowerCase())
      assert.equal(fromBytes(name), name.toLowerCase())
    }
  })

  it('stay right when thousands of names fight for the same places', () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 5000; i++) {
        const name = `X-${i % 2 === 0 ? 'Even' : 'odd'}-${i}`
        assert.equal(fromBytes(name), name.toLowerCase())
        assert.equal(lowerCaseName(name), name.toLowerCase())
      }
    }
    assert.equal(fromBytes('Content-Length'), 'content-length')
  })

  it('that differ only where the place is not looked for are told apart', () => {
    assert.equal(fromBytes('abcd'), 'abcd')
    assert.equal(fromBytes('aacd'), 'aacd')
    assert.equal(lowerCaseName('Abcd'), 'abcd')
    assert.equal(lowerCaseName('AaCd'), 'aacd')
  })

  it('beyond latin1, from a careless caller, never pass for the name with the same low bytes', () => {
    assert.equal(lowerCaseName('X-\u0161bcdefgh'), 'x-\u0161bcdefgh')
    assert.equal(fromBytes('X-abcdefgh'), 'x-abcdefgh')
    assert.equal(lowerCaseName('X-abcdefgh'), 'x-abcdefgh')
  })
})
