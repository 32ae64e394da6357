import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DrainGate } from '../../src/dispatcher/drain-gate.ts'

describe('DrainGate', () => {
  test('one drain follows any number of refusals, once there is room', () => {
    const gate = new DrainGate()
    assert.equal(gate.check(true), 'no')
    assert.equal(gate.answer(true), true)
    assert.equal(gate.needsDrain, false)
    assert.equal(gate.answer(false), false)
    assert.equal(gate.answer(false), false)
    assert.equal(gate.needsDrain, true)
    assert.equal(gate.check(false), 'no')
    assert.equal(gate.check(true), 'now')
    assert.equal(gate.needsDrain, false)
    assert.equal(gate.check(true), 'no')
  })

  test('it does not come within a dispatch() call, nor within one inside another', () => {
    const gate = new DrainGate()
    gate.answer(false)
    gate.entered++
    gate.entered++
    assert.equal(gate.check(true), 'later')
    gate.entered--
    assert.equal(gate.check(true), 'later')
    gate.entered--
    assert.equal(gate.check(true), 'now')
  })
})
