import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InternalError } from '../../src/base/error/invariant.ts'
import { advance, type ConnectionState, endOf, OPEN } from '../../src/connection/connection-state.ts'
import { endReason } from '../../src/request/end-reason.ts'

const reason = endReason('lost', new Error('gone'))
const STATES: readonly ConnectionState[] = [
  OPEN,
  { at: 'draining', reason },
  { at: 'closing', reason, wasIdle: true },
  { at: 'lingering', reason, wasIdle: true },
  { at: 'ended', reason, wasIdle: true },
]
const LEGAL = new Set([
  'open draining',
  'open closing',
  'draining draining',
  'draining closing',
  'closing lingering',
  'closing ended',
  'lingering ended',
])

describe('the state of a connection', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const isLegal = LEGAL.has(`${from.at} ${to.at}`)
      test(`${from.at} → ${to.at} is ${isLegal ? 'a transition' : 'a mistake of ours'}`, () => {
        if (isLegal) assert.equal(advance(from, to), to)
        else assert.throws(() => advance(from, to), InternalError)
      })
    }
  }

  test('something may be sent and delivered while it is open or drains', () => {
    assert.deepEqual(
      STATES.map((state) => endOf(state)),
      [null, null, reason, reason, reason],
    )
  })
})
