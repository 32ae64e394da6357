import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FieldsMemory } from '../../src/request/fields-memory.ts'

describe('headers that come again', () => {
  test('are not checked again, as an object or as a list', () => {
    const memory = new FieldsMemory()
    const first = memory.read({ Accept: 'a/b', host: 'c.test' })
    assert.deepEqual(first.list.flat, ['Accept', 'a/b'])
    assert.equal(first.host, 'c.test')
    assert.equal(memory.read({ Accept: 'a/b', host: 'c.test' }), first)
    assert.equal(memory.read(['Accept', 'a/b', 'host', 'c.test']), first)
  })

  test('are the same where there are none', () => {
    const memory = new FieldsMemory()
    const none = memory.read(undefined)
    assert.deepEqual(none.list.flat, [])
    assert.equal(memory.read(null), none)
    assert.throws(() => memory.read('a: b'), { message: 'headers must be an object or an array' })
  })

  for (const [title, headers] of [
    ['another value', { Accept: 'a/c' }],
    ['another spelling', { accept: 'a/b' }],
    ['another name', { Accepts: 'a/b' }],
    ['one more', { Accept: 'a/b', x: 'y' }],
    ['none', {}],
  ] as const) {
    test(`are others with ${title}`, () => {
      const memory = new FieldsMemory()
      memory.read({ Accept: 'a/b' })
      assert.deepEqual(memory.read(headers).list.flat, Object.entries(headers).flat())
    })
  }

  test('are others from the first difference on', () => {
    const memory = new FieldsMemory()
    const given = { a: '1', b: '2', c: '3' }
    memory.read(given)
    for (const change of [{ a: '0' }, { b: '0' }, { c: '0' }]) {
      const headers = { ...given, ...change }
      assert.deepEqual(memory.read(headers).list.flat, Object.entries(headers).flat())
      memory.read(given)
    }
  })

  test('are remembered again after many that were all different', () => {
    const memory = new FieldsMemory()
    for (let i = 0; i < 1000; i++) {
      assert.deepEqual(memory.read({ a: `${i}`, b: 'c' }).list.flat, ['a', `${i}`, 'b', 'c'])
    }
    const seen = new Set(Array.from({ length: 1000 }, () => memory.read({ a: 'same', b: 'c' })))
    assert.ok(seen.size < 200, `${seen.size} were checked`)
  })

  test('that are as many as others take their place', () => {
    const memory = new FieldsMemory()
    for (const value of ['1', '2', '1']) assert.deepEqual(memory.read({ a: value }).list.flat, ['a', value])
  })

  test('are checked again where a value is no string, for that may have changed', () => {
    const memory = new FieldsMemory()
    const values = ['1']
    assert.deepEqual(memory.read({ a: values }).list.flat, ['a', ['1']])
    values.push('2')
    assert.deepEqual(memory.read({ a: values }).list.flat, ['a', ['1', '2']])
    values.push('b\r\nc: d')
    assert.throws(() => memory.read({ a: values }), { message: 'invalid a header' })
  })

  test('are read once: what a getter said is what is checked, sent and remembered', () => {
    const memory = new FieldsMemory()
    let asked = 0
    const headers = {
      get a() {
        return String(asked++)
      },
    }
    assert.deepEqual(memory.read(headers).list.flat, ['a', '0'])
    assert.equal(asked, 1)
    assert.deepEqual(memory.read({ a: '0' }).list.flat, ['a', '0'])
    assert.deepEqual(memory.read({ a: '1' }).list.flat, ['a', '1'])
  })

  test('are refused again when they were refused', () => {
    const memory = new FieldsMemory()
    for (let i = 0; i < 2; i++) {
      assert.throws(() => memory.read({ a: 'b\nc' }), { message: 'invalid a header' })
      assert.throws(() => memory.read(['a']), { message: 'headers array must be even' })
      assert.throws(() => memory.read('a'), { message: 'headers must be an object or an array' })
    }
    assert.deepEqual(memory.read(null).list.flat, [])
    assert.deepEqual(memory.read(new Map([['a', 'b']])).list.flat, ['a', 'b'])
  })
})
