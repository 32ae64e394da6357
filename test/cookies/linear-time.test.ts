// Hostile sizes. Two sizes are compared by ratio, so the speed of the machine does not matter: twenty times the input
// may cost about twenty times as much, whereas a quadratic algorithm costs 400 times as much and recursion ends in a
// RangeError.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCookies, parseCookie, setCookie } from '../../src/cookies/api.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'

const SMALL = 50_000
const GROWTH = 20
/** Between 20 (linear) and 400 (quadratic), with room for the garbage collector and a noisy machine. */
const MAX_RATIO = 150

/** A run that the machine disturbed takes too long, never too short: the best of more runs is closer to the truth. */
const MAX_ROUNDS = 20

/** Of the processor: what other processes take does not count. */
function timeOf(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return Math.max(1, user + system)
}

function assertLinear(prepare: (size: number) => () => void): void {
  const small = prepare(SMALL)
  const large = prepare(SMALL * GROWTH)
  small()
  let bestSmall = Number.POSITIVE_INFINITY
  let bestLarge = Number.POSITIVE_INFINITY
  let ratio = Number.POSITIVE_INFINITY
  for (let round = 0; round < MAX_ROUNDS && ratio >= MAX_RATIO; round++) {
    for (let i = 0; i < 5; i++) bestSmall = Math.min(bestSmall, timeOf(small))
    bestLarge = Math.min(bestLarge, timeOf(large))
    ratio = bestLarge / bestSmall
  }
  assert.ok(ratio < MAX_RATIO, `${GROWTH} times the input cost ${ratio.toFixed(1)} times as much`)
}

for (const [title, piece] of [
  ['semicolons', ';'],
  ['attributes without a value', ';k'],
  ['attributes', '; k=v'],
  ['equals signs', '='],
  ['spaces', ' '],
] as const) {
  test(`parseCookie: the cost of a million ${title} is linear`, UNLESS_INSTRUMENTED, () => {
    assertLinear((size) => {
      // Built through a buffer, so that no later run pays for flattening a rope.
      const text = Buffer.from(`a=b;${piece.repeat(size)}`).toString('latin1')
      return () => assert.ok(parseCookie(text) !== null)
    })
  })

  test(`getCookies: the cost of a million ${title} is linear`, UNLESS_INSTRUMENTED, () => {
    assertLinear((size) => {
      const headers = new Headers({ cookie: `a=b;${piece.repeat(size)}c=d` })
      return () => assert.equal(getCookies(headers)['a'], 'b')
    })
  })
}

test('parseCookie keeps every one of a million attributes', () => {
  assert.equal(parseCookie(`a=b${';k'.repeat(1_000_000)}`)?.unparsed?.length, 1_000_000)
})

test(
  'setCookie: the cost of a long value is linear, accepted or refused at its end',
  UNLESS_INSTRUMENTED,
  () => {
    assertLinear((size) => {
      const value = Buffer.from('x'.repeat(size)).toString('latin1')
      return () => setCookie(new Headers(), { name: 'a', value, path: `/${value}`, unparsed: [`k=${value}`] })
    })
    assertLinear((size) => {
      const value = Buffer.from(`${'x'.repeat(size)};`).toString('latin1')
      return () => assert.throws(() => setCookie(new Headers(), { name: 'a', value }), /Invalid cookie value/)
    })
  },
)
