import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HPACK_COMPRESSION_ERROR, HpackDecoder } from '../../../src/protocol/hpack/decoder.ts'
import { MAX_INTEGER_BYTES, writeInteger } from '../../../src/protocol/hpack/integer.ts'

const MAX_INTEGER = 0x7fff_ffff
const TOO_LARGE = 'integer too large'
const TRUNCATED = 'block ends within an integer'

/** The representations whose integers have these prefixes: indexed, table size update, without indexing. */
const PATTERNS: Readonly<Record<number, number>> = { 127: 0x80, 31: 0x20, 15: 0 }

function write(value: number, prefixMax: number, pattern = 0): string {
  const out = Buffer.alloc(16)
  return out.toString('hex', 0, writeInteger(out, 0, pattern, prefixMax, value))
}

/** The integer after a full prefix, which the decoder names because it refuses it; else what is wrong. */
function read(continuation: string, prefixMax: number): number | string {
  const block = Buffer.from(
    (PATTERNS[prefixMax]! | prefixMax).toString(16).padStart(2, '0') + continuation,
    'hex',
  )
  const decoder = new HpackDecoder({
    maxTableSize: 0,
    initialTableSize: 0,
    maxListSize: 65536,
    maxFields: 100,
  })
  assert.equal(decoder.decode(block, 0, block.length, []), HPACK_COMPRESSION_ERROR)
  const value = /^(?:index|table size update to) (\d+)/.exec(decoder.message)?.[1]
  return value === undefined ? decoder.message : Number(value)
}

test('RFC 7541 C.1: 10 and 1337 with a five-bit prefix, 42 with an eight-bit one', () => {
  assert.equal(write(10, 0x1f), '0a')
  assert.equal(write(1337, 0x1f), '1f9a0a')
  assert.equal(write(42, 0xff), '2a')
  assert.equal(read('9a0a', 0x1f), 1337)
})

test('the pattern above the prefix is kept', () => {
  assert.equal(write(5, 0x0f, 0x10), '15')
  assert.equal(write(300, 0x0f, 0x10), '1f9d02')
})

test('a value that just fills the prefix has a continuation of zero', () => {
  assert.equal(write(30, 0x1f), '1e')
  assert.equal(write(31, 0x1f), '1f00')
  assert.equal(read('00', 0x1f), 31)
})

test('the largest value goes both ways and fits the announced room', () => {
  const out = Buffer.alloc(16)
  const end = writeInteger(out, 0, 0, 0x0f, MAX_INTEGER)
  assert.ok(end <= MAX_INTEGER_BYTES)
  assert.equal(read(out.toString('hex', 1, end), 0x0f), MAX_INTEGER)
})

test('one more than the largest value is refused', () => {
  // 2^31 with a seven-bit prefix: the continuation carries 2^31 - 127.
  assert.equal(read('81ffffff07', 0x7f), TOO_LARGE)
  assert.equal(read('80ffffff07', 0x7f), MAX_INTEGER)
})

test('zeros may pad a value within five octets, not beyond', () => {
  assert.equal(read('8180808000', 0x7f), 128)
  assert.equal(read('818080808000', 0x7f), TOO_LARGE)
  assert.equal(read('80808080808080808080', 0x7f), TOO_LARGE)
})

test('a continuation that does not end is truncated', () => {
  assert.equal(read('', 0x7f), TRUNCATED)
  assert.equal(read('80', 0x7f), TRUNCATED)
  assert.equal(read('8080808080', 0x7f), TRUNCATED)
})
