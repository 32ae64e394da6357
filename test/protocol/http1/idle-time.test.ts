import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type IdleTimes, idleTime } from '../../../src/protocol/http1/idle-time.ts'

describe('idleTime', () => {
  const times: IdleTimes = {
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 600_000,
    keepAliveTimeoutThreshold: 2_000,
  }
  it('is the default without a hint', () => assert.equal(idleTime(null, times), 4_000))
  it('is the hint less the threshold', () => assert.equal(idleTime(5, times), 3_000))
  it('is at most the maximum', () => assert.equal(idleTime(Number.MAX_SAFE_INTEGER, times), 600_000))
  it('is nothing for a hint of the threshold or less', () => {
    for (const hint of [0, 1, 2]) assert.equal(idleTime(hint, times), 0)
  })
  it('may exceed the hint with a negative threshold', () => {
    assert.equal(idleTime(1, { ...times, keepAliveTimeoutThreshold: -500 }), 1_500)
  })
})
