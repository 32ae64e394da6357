import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asciiHost, serverNameOf, withoutBrackets } from '../../../src/base/address/server-name.ts'

test('the server name is the host without port and brackets', () => {
  assert.equal(serverNameOf('a.test'), 'a.test')
  assert.equal(serverNameOf('a.test:8443'), 'a.test')
  assert.equal(serverNameOf(''), '')
})

test('an IP literal has no server name', () => {
  for (const host of ['127.0.0.1', '127.0.0.1:80', '::1', '[::1]', '[::1]:443']) {
    assert.equal(serverNameOf(host), '')
  }
})

test('SNI carries no trailing dot (RFC 6066 section 3)', () => {
  assert.equal(serverNameOf('a.test.:443'), 'a.test')
})

test('an unclosed bracket does not throw', () => {
  assert.equal(serverNameOf('[a'), 'a')
})

test('control characters and spaces are refused (CVE-2026-48930)', () => {
  for (const name of ['a\0.test', 'a\r\n.test', 'a test', 'a\x7f']) assert.equal(asciiHost(name), null)
})

test('Unicode dots become dots before anybody counts labels (CVE-2026-48618)', () => {
  assert.equal(asciiHost('a\u3002b.test'), 'a.b.test')
  assert.equal(asciiHost('m\u00fcnchen.test'), 'xn--mnchen-3ya.test')
})

test('a name without an ASCII form is refused', () => {
  assert.equal(asciiHost('xn--\u00fc'), null)
})

test('ASCII names stay as they are', () => {
  for (const name of ['A.test', 'fe80::1%lo', '']) assert.equal(asciiHost(name), name)
})

test('brackets of an IPv6 literal are taken off', () => {
  assert.equal(withoutBrackets('[::1]'), '::1')
  assert.equal(withoutBrackets('a.test'), 'a.test')
  assert.equal(withoutBrackets('[a'), '[a')
})
