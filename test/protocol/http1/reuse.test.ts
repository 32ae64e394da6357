import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { type IdleTimes, idleTime, Reuse, type ReuseState } from '../../../src/protocol/http1/reuse.ts'

type ReuseInput = 'request' | 'last-request' | 'doubt' | 'answered' | 'all-answered' | 'denied' | 'lost'

/** Null: our own mistake. */
const REUSE_TABLE: Record<ReuseState, Record<ReuseInput, ReuseState | null>> = {
  idle: {
    request: 'busy',
    'last-request': 'last',
    doubt: null,
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
  busy: {
    request: 'busy',
    'last-request': 'last',
    doubt: 'last',
    answered: 'busy',
    'all-answered': 'idle',
    denied: 'over',
    lost: 'over',
  },
  last: {
    request: null,
    'last-request': null,
    doubt: 'last',
    answered: 'last',
    'all-answered': 'over',
    denied: 'over',
    lost: 'over',
  },
  over: {
    request: null,
    'last-request': null,
    doubt: null,
    answered: null,
    'all-answered': null,
    denied: null,
    lost: 'over',
  },
}

const INPUTS: Record<ReuseInput, (reuse: Reuse) => void> = {
  request: (reuse) => reuse.wrote(false),
  'last-request': (reuse) => reuse.wrote(true),
  doubt: (reuse) => reuse.doubted(),
  answered: (reuse) => reuse.answered(true, true),
  'all-answered': (reuse) => reuse.answered(true, false),
  denied: (reuse) => reuse.answered(false, true),
  lost: (reuse) => reuse.lost(),
}

function reach(state: ReuseState): Reuse {
  const reuse = new Reuse()
  if (state === 'over') reuse.lost()
  if (state === 'busy' || state === 'last') reuse.wrote(state === 'last')
  assert.equal(reuse.state, state)
  return reuse
}

describe('the reuse table', () => {
  for (const state of Object.keys(REUSE_TABLE) as ReuseState[]) {
    for (const input of Object.keys(INPUTS) as ReuseInput[]) {
      const next = REUSE_TABLE[state][input]
      it(`${state} + ${input} → ${next ?? 'misuse'}`, () => {
        const reuse = reach(state)
        if (next === null) {
          assert.throws(() => INPUTS[input](reuse), InternalError)
          assert.equal(reuse.state, state)
        } else {
          INPUTS[input](reuse)
          assert.equal(reuse.state, next)
          assert.equal(reuse.canTake, next === 'idle' || next === 'busy')
        }
      })
    }
  }
})

describe('Reuse', () => {
  it('ends with the answer to the last request', () => {
    const reuse = new Reuse()
    assert.equal(reuse.canTake, true)
    reuse.wrote(false)
    reuse.wrote(true)
    assert.equal(reuse.canTake, false)
    reuse.answered(true, true)
    assert.equal(reuse.state, 'last')
    reuse.answered(true, false)
    assert.equal(reuse.state, 'over')
  })

  it('ends with a response that denies it, whatever else is owed', () => {
    const reuse = new Reuse()
    reuse.wrote(false)
    reuse.wrote(false)
    reuse.answered(false, true)
    assert.equal(reuse.state, 'over')
  })
})

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
