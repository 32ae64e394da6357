import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InternalError, invariant } from '../../../src/base/error/invariant.ts'

test('invariant is silent about what holds, and throws an InternalError with the message otherwise', () => {
  for (const truthy of [true, 1, 'x', {}]) invariant(truthy, 'unused')
  for (const falsy of [false, 0, '', null, undefined]) {
    assert.throws(() => invariant(falsy, 'must hold'), {
      name: 'InternalError',
      message: 'must hold',
    })
  }
  assert.ok(new InternalError('x') instanceof Error)
})
