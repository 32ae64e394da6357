import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  equalsIgnoringCase,
  FIELD_VALUE_BYTE,
  HEX_VALUE,
  isFieldValue,
  isRequestTarget,
  isToken,
  TOKEN_BYTE,
} from '../../src/protocol/ascii.ts'

const ALL_BYTES = Array.from({ length: 256 }, (_, byte) => byte)

describe('character classes', () => {
  it('tables and expressions agree on every byte', () => {
    for (const byte of ALL_BYTES) {
      const character = String.fromCharCode(byte)
      assert.equal(isToken(character), TOKEN_BYTE[byte] === 1, `token ${byte}`)
      assert.equal(isFieldValue(character), FIELD_VALUE_BYTE[byte] === 1, `field value ${byte}`)
    }
  })

  it('token: RFC 9110 §5.6.2', () => {
    const tokens = ALL_BYTES.filter((byte) => TOKEN_BYTE[byte] === 1)
    assert.equal(tokens.length, 77)
    for (const delimiter of '"(),/:;<=>?@[\\]{} \t\r\n\0\x7f\x80\xff') assert.equal(isToken(delimiter), false)
    assert.equal(isToken(''), false)
    assert.equal(isToken('a\n'), false)
    assert.equal(isToken('Content-Type'), true)
  })

  it('field value: HTAB, SP, VCHAR and obs-text, and nothing beyond latin1', () => {
    assert.equal(isFieldValue('\t a\x7e\x80\xff'), true)
    assert.equal(isFieldValue(''), true)
    for (const bad of ['\0', '\n', '\r', '\x1f', '\x7f', '\u0100', '\u010a'])
      assert.equal(isFieldValue(`a${bad}`), false)
  })

  it('request target: neither space nor control character', () => {
    // Short and long targets are looked at in different ways.
    for (const long of ['', 'x'.repeat(200)]) {
      assert.equal(isRequestTarget(`/a?b=\xe9${long}`), true)
      for (const bad of [' ', '\t', '\r', '\n', '\0', '\u0100']) {
        assert.equal(isRequestTarget(`/${bad}${long}`), false)
        assert.equal(isRequestTarget(`/${long}${bad}`), false)
      }
    }
  })

  it('hexadecimal digits', () => {
    for (const byte of ALL_BYTES) {
      const character = String.fromCharCode(byte)
      const value = /[0-9a-f]/i.test(character) ? Number.parseInt(character, 16) : 255
      assert.equal(HEX_VALUE[byte], value)
    }
  })
})

describe('equalsIgnoringCase', () => {
  it('folds letters and nothing else', () => {
    const bytes = Buffer.from('--Keep-ALIVE@{--')
    assert.equal(equalsIgnoringCase(bytes, 2, 12, 'keep-alive'), true)
    assert.equal(equalsIgnoringCase(bytes, 2, 11, 'keep-alive'), false)
    assert.equal(equalsIgnoringCase(bytes, 3, 13, 'keep-alive'), false)
    assert.equal(equalsIgnoringCase(bytes, 12, 14, '`{'), false)
    assert.equal(equalsIgnoringCase(bytes, 12, 14, '@['), false)
    assert.equal(equalsIgnoringCase(bytes, 5, 5, ''), true)
  })
})
