import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clearTimer, startInterval, startTimer } from '../../../src/base/loop/timer.ts'
import { FakeClock } from '../../support/fake-clock.ts'

test('a timer is cleared by the clock that made it', () => {
  const before = startTimer(() => {}, 60_000)
  const clock = new FakeClock()
  const disable = clock.enable()
  const { clearTimeout } = globalThis
  const cleared: unknown[] = []
  globalThis.clearTimeout = ((timer: never) => {
    cleared.push(timer)
    clearTimeout(timer)
  }) as typeof clearTimeout
  const during = startTimer(() => {}, 60_000)
  clearTimer(before)
  assert.equal((before as unknown as { _destroyed: boolean })._destroyed, true)
  disable()
  clearTimer(during)
  assert.deepEqual(cleared, [during])
  assert.equal(clock.active.size, 0)
})

test('a timer that is a number is cleared by the clock of the moment', (t) => {
  t.mock.method(globalThis, 'setTimeout', () => 7 as never)
  const clear = t.mock.method(globalThis, 'clearTimeout', () => {})
  clearTimer(startTimer(() => {}, 1))
  assert.deepEqual(clear.mock.calls[0]!.arguments, [7])
})

test('an interval is cleared by the clock that made it', (t) => {
  const own = startInterval(() => {}, 60_000)
  const other = {}
  t.mock.method(globalThis, 'setInterval', () => other as never)
  const clear = t.mock.method(globalThis, 'clearInterval', () => {})
  clearTimer(startInterval(() => {}, 1))
  clearTimer(own)
  assert.deepEqual(
    clear.mock.calls.map(({ arguments: [timer] }) => timer),
    [other],
  )
})
