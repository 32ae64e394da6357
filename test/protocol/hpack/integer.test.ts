import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  INTEGER_TOO_LARGE,
  INTEGER_TRUNCATED,
  IntegerReader,
  MAX_INTEGER,
  MAX_INTEGER_BYTES,
  writeInteger,
} from '../../../src/protocol/hpack/integer.ts'

function write(value: number, prefixMax: number, pattern = 0): string {
  const out = Buffer.alloc(16)
  return out.toString('hex', 0, writeInteger(out, 0, pattern, prefixMax, value))
}

function read(continuation: string, prefixMax: number): number {
  const buf = Buffer.from(continuation, 'hex')
  return new IntegerReader().read(buf, 0, buf.length, prefixMax)
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
  const reader = new IntegerReader()
  assert.equal(reader.read(out, 1, end, 0x0f), MAX_INTEGER)
  assert.equal(reader.position, end)
})

test('one more than the largest value is refused', () => {
  // 2^31 with a seven-bit prefix: the continuation carries 2^31 - 127.
  assert.equal(read('81ffffff07', 0x7f), INTEGER_TOO_LARGE)
  assert.equal(read('80ffffff07', 0x7f), MAX_INTEGER)
})

test('zeros may pad a value within five octets, not beyond', () => {
  assert.equal(read('8180808000', 0x7f), 128)
  assert.equal(read('818080808000', 0x7f), INTEGER_TOO_LARGE)
  assert.equal(read('80808080808080808080', 0x7f), INTEGER_TOO_LARGE)
})

test('a continuation that does not end is truncated', () => {
  assert.equal(read('', 0x7f), INTEGER_TRUNCATED)
  assert.equal(read('80', 0x7f), INTEGER_TRUNCATED)
  assert.equal(read('8080808080', 0x7f), INTEGER_TRUNCATED)
})
