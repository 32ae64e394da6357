import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startConnectTimeout } from '../../src/net/connect-timeout.ts'

function onPlatform(t: TestContext, platform: string): void {
  const original = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { ...original, value: platform })
  t.after(() => Object.defineProperty(process, 'platform', original))
}

/** Collects immediates instead of running them, so that turns of the event loop can be counted. */
function holdImmediates(t: TestContext): Array<() => void> {
  const held: Array<() => void> = []
  t.mock.method(globalThis, 'setImmediate', (run: (...args: unknown[]) => void, ...args: unknown[]) => {
    held.push(() => run(...args))
  })
  return held
}

const unused = (): void => assert.fail('must not be called')

for (const [platform, turns] of [
  ['linux', 1],
  ['win32', 2],
] as const) {
  test(`on ${platform} the verdict waits for ${turns} more turn(s) of the event loop`, (t) => {
    onPlatform(t, platform)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const held = holdImmediates(t)
    let expired = 0
    const target = { onConnectTimeout: () => void expired++ }
    startConnectTimeout(50, target, unused)
    t.mock.timers.tick(49)
    assert.equal(held.length, 0)
    t.mock.timers.tick(1)
    for (let i = 0; i < turns; i++) {
      assert.equal(expired, 0)
      held.shift()!()
    }
    assert.equal(expired, 1)
    assert.equal(held.length, 0)
  })
}

test('a result that comes after the timer but before the verdict wins', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const held = holdImmediates(t)
  const stop = startConnectTimeout(50, { onConnectTimeout: unused }, unused)
  t.mock.timers.tick(50)
  stop()
  for (const run of held.splice(0)) run()
})

test('a stopped clock never rings', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] })
  const stop = startConnectTimeout(50, { onConnectTimeout: unused }, unused)
  stop()
  t.mock.timers.tick(1000)
})

test('zero means no limit', (t) => {
  const setTimeout = t.mock.method(globalThis, 'setTimeout')
  startConnectTimeout(0, { onConnectTimeout: unused }, unused)()
  assert.equal(setTimeout.mock.callCount(), 0)
})

test('the timer does not keep the process alive', (t) => {
  const setTimeout = t.mock.method(globalThis, 'setTimeout')
  const stop = startConnectTimeout(60_000, { onConnectTimeout: unused }, unused)
  const timer = setTimeout.mock.calls[0]!.result as NodeJS.Timeout
  assert.equal(timer.hasRef(), false)
  stop()
})

test('a clock that hands out numbers, or timers without unref, is accepted', (t) => {
  for (const timer of [1, {}]) {
    const { mock } = t.mock.method(globalThis, 'setTimeout', () => timer as unknown as NodeJS.Timeout)
    startConnectTimeout(60_000, { onConnectTimeout: unused }, unused)()
    assert.equal(mock.callCount(), 1)
    mock.restore()
  }
})

test('the timer does not keep its target alive, and the caller still gets an answer', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let lost = 0
  const target = new WeakRef(startWithoutOwner(() => lost++))
  for (let i = 0; i < 20 && target.deref() !== undefined; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  assert.equal(target.deref(), undefined)
  t.mock.timers.tick(50)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(lost, 1)
})

function startWithoutOwner(onLost: () => void): object {
  const target = { onConnectTimeout: unused }
  startConnectTimeout(50, target, onLost)
  return target
}
