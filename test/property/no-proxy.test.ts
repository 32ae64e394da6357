// NO_PROXY against a model: addresses as numbers, names as lists of labels. And whatever the text, no list throws.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NoProxyList } from '../../src/proxy/no-proxy.ts'

const matches = (list: string, url: string): boolean => new NoProxyList(list).match(new URL(url)) !== null

const ipv4Text = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.')
const ipv6Text = (value: bigint): string =>
  Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':')

const ipv4 = fc.integer({ min: 0, max: 0xffff_ffff })
const ipv6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })

test('a block holds exactly the addresses with its prefix', () => {
  fc.assert(
    fc.property(
      ipv4,
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 0, max: 32 }),
      (base, bits, flip) => {
        const other = flip === 32 ? base : (base ^ (1 << flip)) >>> 0
        const expected = flip === 32 || flip < 32 - bits
        assert.equal(matches(`${ipv4Text(base)}/${bits}`, `http://${ipv4Text(other)}`), expected)
      },
    ),
  )
  fc.assert(
    fc.property(
      ipv6,
      fc.integer({ min: 0, max: 128 }),
      fc.integer({ min: 0, max: 127 }),
      (base, bits, flip) => {
        const other = base ^ (1n << BigInt(flip))
        assert.equal(matches(`${ipv6Text(base)}/${bits}`, `http://[${ipv6Text(other)}]`), flip < 128 - bits)
      },
    ),
  )
})

test('a range holds exactly the addresses from its first to its last', () => {
  fc.assert(
    fc.property(ipv4, ipv4, ipv4, (first, last, address) => {
      const list = `${ipv4Text(first)}-${ipv4Text(last)}`
      assert.equal(matches(list, `http://${ipv4Text(address)}`), first <= address && address <= last)
    }),
  )
})

test('an address matches itself in every spelling, and no other address', () => {
  fc.assert(
    fc.property(ipv6, ipv6, (one, other) => {
      const shortened = new URL(`http://[${ipv6Text(one)}]`).hostname
      for (const entry of [ipv6Text(one), shortened, shortened.slice(1, -1).toUpperCase()]) {
        assert.equal(matches(entry, `http://${shortened}`), true)
        assert.equal(matches(entry, `http://[${ipv6Text(other)}]`), one === other)
      }
    }),
  )
})

const label = fc.stringMatching(/^[a-d]{1,2}$/)
const labels = fc.array(label, { minLength: 1, maxLength: 4 })

test('a name holds the names that end with its labels', () => {
  fc.assert(
    fc.property(labels, labels, fc.constantFrom('', '.', '*.'), fc.boolean(), (entry, host, prefix, dot) => {
      const tail = host.slice(-entry.length)
      const isBelow = host.length > entry.length
      const expected = tail.join('.') === entry.join('.') && (isBelow || prefix !== '*.')
      const list = `${prefix}${entry.join('.')}${dot ? '.' : ''}`
      assert.equal(matches(list, `http://${host.join('.')}${dot ? '' : '.'}`), expected)
    }),
  )
})

test('the order and the separators of entries do not matter', () => {
  const separator = fc.constantFrom(',', ' ', ', ', '\t', '\n', ' ,, ')
  fc.assert(
    fc.property(
      fc.array(labels, { minLength: 1, maxLength: 5 }),
      labels,
      separator,
      (entries, host, between) => {
        const names = entries.map((entry) => entry.join('.'))
        const url = `http://${host.join('.')}`
        const expected = names.some((name) => matches(name, url))
        assert.equal(matches(names.join(between), url), expected)
        assert.equal(matches(names.toReversed().join(between), url), expected)
      },
    ),
  )
})

test('any text is a list, and text without a star, a name or an address excepts nothing', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('*', '.', ':', '80', '[', ']', '::1', '/', '8', '-', '127.0.0.1', '%', 'x', ','))
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (list) => {
      matches(list, 'http://127.0.0.1')
      matches(list, 'https://[::1]:8443')
      assert.equal(matches(list.replaceAll('*', '').replaceAll(/x/gi, ''), 'http://xx.xx'), false)
    }),
  )
})
