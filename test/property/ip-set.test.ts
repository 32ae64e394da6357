// Sets of IP addresses against a model that knows only whole numbers; and whatever the text, none throws.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ipBytes } from '../../src/base/address/ip-address.ts'
import { readIpSet } from '../../src/base/address/ip-set.ts'
import { withoutMapping } from '../../src/guard/embedded-ipv4.ts'
import { specialBlockOf } from '../../src/guard/special-addresses.ts'

interface Family {
  readonly bits: number
  readonly text: (value: bigint) => string
}

const IPV4: Family = {
  bits: 32,
  text: (value) => [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.'),
}
const IPV6: Family = {
  bits: 128,
  text: (value) =>
    Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':'),
}

const addressOf = ({ bits }: Family): fc.Arbitrary<bigint> =>
  fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n })

/** Two addresses that agree in some bits: independent ones hardly ever share a block. */
const pair = (family: Family): fc.Arbitrary<readonly [bigint, bigint]> =>
  fc
    .tuple(addressOf(family), addressOf(family), fc.integer({ min: 0, max: family.bits }))
    .map(([a, b, same]) => {
      const mask = (1n << BigInt(family.bits - same)) - 1n
      return [a, (a & ~mask) | (b & mask)] as const
    })

for (const family of [IPV4, IPV6]) {
  const { bits, text } = family
  const bytes = (value: bigint): Uint8Array => ipBytes(text(value))!

  test(`a block of ${bits} bits holds exactly the addresses with its prefix`, () => {
    fc.assert(
      fc.property(pair(family), fc.integer({ min: 0, max: bits }), ([base, other], length) => {
        const shift = BigInt(bits - length)
        assert.equal(readIpSet(`${text(base)}/${length}`)!(bytes(other)), base >> shift === other >> shift)
      }),
      { numRuns: 500 },
    )
  })

  test(`a range of ${bits} bits holds exactly the addresses from its first to its last`, () => {
    fc.assert(
      fc.property(addressOf(family), addressOf(family), addressOf(family), (first, last, other) => {
        const has = readIpSet(`${text(first)}-${text(last)}`)!
        assert.equal(has(bytes(other)), first <= other && other <= last)
        assert.equal(has(bytes(first)), first <= last)
      }),
    )
  })

  test(`a single address of ${bits} bits holds itself alone`, () => {
    fc.assert(
      fc.property(pair(family), ([base, other]) => {
        assert.equal(readIpSet(text(base))!(bytes(other)), base === other)
      }),
    )
  })
}

test('no set holds an address of the other family', () => {
  fc.assert(
    fc.property(addressOf(IPV4), addressOf(IPV6), (four, six) => {
      assert.equal(readIpSet('0.0.0.0/0')!(ipBytes(IPV6.text(six))!), false)
      assert.equal(readIpSet('::/0')!(ipBytes(IPV4.text(four))!), false)
    }),
  )
})

test('a text that is not a set is none, and does not throw', () => {
  fc.assert(fc.property(fc.string(), (text) => void readIpSet(text)))
  for (const text of [
    '',
    '10',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '1.2.3.4-',
    'a-b',
  ]) {
    assert.equal(readIpSet(text), null, text)
  }
})

test('an IPv4 address is public exactly if its mapped, its NAT64 and its ISATAP forms are', () => {
  fc.assert(
    fc.property(addressOf(IPV4), (value) => {
      const plain = ipBytes(IPV4.text(value))!
      const isPublic = specialBlockOf(plain) === null
      const form = (prefix: string): Uint8Array => ipBytes(`${prefix}${IPV4.text(value)}`)!
      assert.deepEqual(withoutMapping(form('::ffff:')), plain)
      assert.equal(specialBlockOf(form('::ffff:')) === null, isPublic)
      assert.equal(specialBlockOf(form('64:ff9b::')) === null, isPublic)
      assert.equal(specialBlockOf(form('2a00:1450:4001:80b:0:5efe:')) === null, isPublic)
      // Deprecated, or for use inside a network: never public.
      for (const prefix of ['::', '::ffff:0:', '64:ff9b:1::', '2002:808:808::', '2001:0:808:808::']) {
        assert.notEqual(specialBlockOf(form(prefix)), null, prefix)
      }
    }),
    { numRuns: 500 },
  )
})
