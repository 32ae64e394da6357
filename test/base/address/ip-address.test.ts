import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { ipBytes, ipFamily, samePrefix } from '../../../src/base/address/ip-address.ts'

const hex = (text: string): string | null => {
  const bytes = ipBytes(text)
  return bytes && Buffer.from(bytes).toString('hex')
}

test('an IPv4 address is four bytes', () => {
  assert.equal(hex('127.0.0.1'), '7f000001')
  assert.equal(hex('255.254.253.252'), 'fffefdfc')
})

test('an IPv6 address is sixteen bytes in every spelling (RFC 4291 section 2.2)', () => {
  const loopback = `${'0'.repeat(31)}1`
  for (const text of ['::1', '0:0:0:0:0:0:0:1', '0000::0001', '::0.0.0.1', '0:0:0:0:0:0:0.0.0.1']) {
    assert.equal(hex(text), loopback, text)
  }
  assert.equal(hex('::'), '0'.repeat(32))
  assert.equal(hex('2001:DB8::8:800:200C:417A'), '20010db80000000000080800200c417a')
  assert.equal(hex('fe80::'), `fe80${'0'.repeat(28)}`)
  assert.equal(hex('::ffff:129.144.52.38'), '00000000000000000000ffff81903426')
})

test('the family is that of the runtime', () => {
  for (const text of [
    '',
    ':',
    '::',
    ':::',
    '::1',
    '1:2',
    '1.2.3.4',
    '1.2.3.4:80',
    '[::1]:80',
    '::ffff:1.2.3.4',
    'fe80::1%eth0',
    '1.2.3',
    '256.1.1.1',
    'a.test:80',
    'localhost',
  ]) {
    assert.equal(ipFamily(text), isIP(text), text)
  }
})

test('names, brackets, short forms and zones are not addresses', () => {
  for (const text of [
    '',
    'localhost',
    '[::1]',
    '127.1',
    '01.2.3.4',
    '1.2.3.4.5',
    ':::',
    '1::2::3',
    'fe80::1%eth0',
  ]) {
    assert.equal(ipBytes(text), null, text)
  }
})

test('a prefix ends at any bit, and never spans families', () => {
  const same = (a: string, b: string, bits: number): boolean => samePrefix(ipBytes(a)!, ipBytes(b)!, bits)
  assert.equal(same('10.0.0.0', '10.255.0.0', 8), true)
  assert.equal(same('10.0.0.0', '11.0.0.0', 8), false)
  assert.equal(same('10.0.0.0', '11.0.0.0', 7), true)
  assert.equal(same('10.0.0.0', '10.0.0.1', 32), false)
  assert.equal(same('10.0.0.0', '10.0.0.1', 31), true)
  assert.equal(same('1.2.3.4', '200.2.3.4', 0), true)
  assert.equal(same('fe80::1', 'febf::1', 10), true)
  assert.equal(same('fe80::1', 'fec0::1', 10), false)
  assert.equal(same('0.0.0.0', '::', 0), false)
})
