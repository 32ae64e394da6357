/** The policy as a table: no address here is ever connected to. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ipBytes } from '../../src/base/address/ip-address.ts'
import { embeddedIpv4 } from '../../src/guard/embedded-ipv4.ts'
import { specialBlockOf } from '../../src/guard/special-addresses.ts'

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  metadata: [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::254',
    'fd20:ce::254',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
  ],
  loopback: [
    '127.0.0.1',
    '127.255.255.255',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
  ],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    '::ffff:10.0.0.1',
    '64:ff9b::192.168.1.1',
    'fc00::',
    'fdff:ffff::1',
    'fec0::1',
    'feff::1',
    // ISATAP, with the universal bit either way.
    '2a00:1450::5efe:10.0.0.1',
    '2a00:1450::200:5efe:10.0.0.1',
  ],
  'link-local': ['169.254.0.0', '169.254.255.255', '169.254.170.2', 'fe80::', 'fe80::1', 'febf:ffff::1'],
  shared: ['100.64.0.0', '100.127.255.255', '::ffff:100.64.0.1'],
  'this-network': ['0.0.0.0', '0.255.255.255', '::ffff:0.0.0.0'],
  unspecified: ['::'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff::1'],
  broadcast: ['255.255.255.255'],
  documentation: [
    '192.0.2.0',
    '198.51.100.255',
    '203.0.113.7',
    '2001:db8::1',
    '2001:db8:ffff::',
    '3fff::1',
    '3fff:fff::',
  ],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'protocol-assignment': [
    '192.0.0.0',
    '192.0.0.9',
    '192.0.0.255',
    '2001:1::1',
    '2001:20::1',
    '2001:1ff:ffff::',
  ],
  discard: ['100::', '100::ffff'],
  'ipv4-compatible': ['::127.0.0.1', '::8.8.8.8', '::2'],
  '6to4': ['192.88.99.1', '2002::', '2002:7f00:1::1', '2002:a00:1::', '2002:808:808::1'],
  teredo: ['2001::', '2001:0:7f00:1::', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  nat64: ['64:ff9b:1::', '64:ff9b:1:7f00:0:100::', '64:ff9b:1::7f00:1'],
  reserved: [
    '240.0.0.0',
    '255.255.255.254',
    // Outside of 2000::/3 (RFC 4291 §2.4).
    '::ffff:0:7f00:1',
    '64:ff9b:2::1',
    '100:0:0:1::1',
    '1000::1',
    '1fff:ffff::',
    '4000::1',
    '5f00::1',
    'fe00::1',
  ],
}

/** The neighbours of the blocks, and hosts that everyone knows. */
const PUBLIC = [
  ...['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '93.184.216.34', '100.63.255.255', '100.128.0.0'],
  ...[
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
  ],
  ...[
    '191.255.255.255',
    '192.0.1.0',
    '192.0.3.0',
    '192.31.196.1',
    '192.88.98.255',
    '192.88.100.0',
    '192.167.255.255',
  ],
  ...[
    '192.169.0.0',
    '192.175.48.1',
    '198.17.255.255',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
  ],
  ...[
    '203.0.114.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2001:200::1',
    '2001:4860:4860::8888',
  ],
  ...[
    '2001:db7:ffff::',
    '2001:db9::',
    '2003::1',
    '2606:4700:4700::1111',
    '2620:4f:8000::1',
    '2a00:1450:4001:80b::200e',
  ],
  ...['3ffe:ffff::1', '3fff:1000::', '2a00:1450::5efe:8.8.8.8'],
]

describe('public-only', () => {
  for (const [rule, addresses] of Object.entries(REFUSED)) {
    test(`refuses as ${rule}`, () => {
      for (const address of addresses) assert.equal(specialBlockOf(ipBytes(address)!)?.rule, rule, address)
    })
  }

  test('lets public addresses through', () => {
    for (const address of PUBLIC) assert.equal(specialBlockOf(ipBytes(address)!), null, address)
  })
})

test('the IPv4 addresses inside an IPv6 address', () => {
  const inside = (text: string): string[] => embeddedIpv4(ipBytes(text)!).map((bytes) => bytes.join('.'))
  for (const [address, ...expected] of [
    ['10.0.0.1'],
    ['2a00:1450::1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:0:10.0.0.1', '10.0.0.1'],
    ['::10.0.0.1', '10.0.0.1'],
    ['64:ff9b::10.0.0.1', '10.0.0.1'],
    ['2002:0a00:0001::', '10.0.0.1'],
    ['2001:0:102:304::f5ff:fffe', '1.2.3.4', '10.0.0.1'],
    ['2a00:1450::200:5efe:10.0.0.1', '10.0.0.1'],
  ] as const) {
    assert.deepEqual(inside(address), expected, address)
  }
  // RFC 6052 §2.4 at the lengths 96, 48, 56 and 64.
  assert.ok(inside('64:ff9b:1::10.0.0.1').includes('10.0.0.1'))
  assert.ok(inside('64:ff9b:1:0a00:0000:0100::').includes('10.0.0.1'))
  assert.ok(inside('64:ff9b:1:000a:0000:0001::').includes('10.0.0.1'))
  assert.ok(inside('64:ff9b:1:0000:000a:0000:0100:0').includes('10.0.0.1'))
})
