import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DynamicTable } from '../../../src/protocol/hpack/dynamic-table.ts'

function entries(table: DynamicTable): string[] {
  return Array.from({ length: table.count }, (_, age) => `${table.nameAt(age)}=${table.valueAt(age)}`)
}

test('entries count from the newest and weigh 32 more than their octets', () => {
  const table = new DynamicTable(4096, null)
  assert.ok(table.insert('a', '1'))
  assert.ok(table.insert('bb', '22'))
  assert.deepEqual(entries(table), ['bb=22', 'a=1'])
  assert.equal(table.size, 34 + 36)
  assert.equal(table.inserted, 2)
})

test('the oldest go when room is needed, and the listener hears of it', () => {
  const gone: string[] = []
  const table = new DynamicTable(34 * 2, (name, value, sequence) => gone.push(`${name}=${value}#${sequence}`))
  for (const name of ['a', 'b', 'c', 'd']) table.insert(name, '1')
  assert.deepEqual(entries(table), ['d=1', 'c=1'])
  assert.deepEqual(gone, ['a=1#0', 'b=1#1'])
})

test('an entry larger than the table empties it and is not kept', () => {
  const table = new DynamicTable(64, null)
  table.insert('a', '1')
  assert.equal(table.insert('name', 'v'.repeat(64)), false)
  assert.equal(table.count, 0)
  assert.equal(table.size, 0)
})

test('an entry may fill the table to the last octet', () => {
  const table = new DynamicTable(64, null)
  assert.ok(table.insert('n'.repeat(16), 'v'.repeat(16)))
  assert.equal(table.size, 64)
})

test('a smaller maximum evicts at once, a larger one gives room', () => {
  const table = new DynamicTable(4096, null)
  for (const name of ['a', 'b', 'c']) table.insert(name, '1')
  table.resize(34)
  assert.deepEqual(entries(table), ['c=1'])
  table.resize(0)
  assert.equal(table.count, 0)
  assert.equal(table.insert('a', '1'), false)
  table.resize(68)
  assert.equal(table.maxSize, 68)
  table.insert('a', '1')
  table.insert('b', '1')
  assert.deepEqual(entries(table), ['b=1', 'a=1'])
})

test('the ring grows in the middle of a turn and keeps order', () => {
  const table = new DynamicTable(34 * 10, null)
  for (let i = 0; i < 40; i++) table.insert('n', String(i % 10))
  table.resize(34 * 1000)
  for (let i = 0; i < 300; i++) table.insert('n', String.fromCharCode(i))
  const values = entries(table)
  assert.equal(values.length, 310)
  assert.equal(values[0], `n=${String.fromCharCode(299)}`)
  assert.equal(values[299], 'n=\0')
  assert.equal(values[300], 'n=9')
  assert.equal(values[309], 'n=0')
})
