import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { Deadline } from '../../../src/base/loop/deadline.ts'
import { FakeClock, turns } from '../../support/fake-clock.ts'

function start(t: { after(fn: () => void): void }): {
  clock: FakeClock
  deadline: Deadline
  fired: number[]
} {
  const clock = FakeClock.install(t)
  const fired: number[] = []
  return { clock, deadline: new Deadline({ onDeadline: () => fired.push(clock.now), onBroken }), fired }
}

/** Nothing throws in these tests unless stated. */
function onBroken(error: Error): void {
  throw error
}

describe('Deadline', () => {
  test('expires once, at its time', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.arm(100)
    assert.equal(deadline.armed, true)
    await clock.advance(99)
    assert.deepEqual(fired, [])
    await clock.advance(1)
    assert.deepEqual(fired, [100])
    assert.equal(deadline.armed, false)
    await clock.advance(1000)
    assert.deepEqual(fired, [100])
  })

  test('0 disarms', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.arm(100)
    deadline.arm(0)
    assert.equal(deadline.armed, false)
    await clock.advance(1000)
    assert.deepEqual(fired, [])
  })

  test('arming again starts anew, with the same delay or another', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.arm(100)
    await clock.advance(60)
    deadline.arm(100)
    await clock.advance(60)
    deadline.arm(30)
    await clock.advance(29)
    assert.deepEqual(fired, [])
    await clock.advance(1)
    assert.deepEqual(fired, [150])
  })

  test('refresh starts anew only when armed', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.refresh()
    assert.equal(clock.active.size, 0)
    deadline.arm(100)
    await clock.advance(80)
    deadline.refresh()
    await clock.advance(80)
    assert.deepEqual(fired, [])
    deadline.disarm()
    deadline.refresh()
    await clock.advance(500)
    assert.deepEqual(fired, [])
  })

  test('can be armed again after it expired', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.arm(10)
    await clock.advance(10)
    deadline.arm(10)
    await clock.advance(10)
    assert.deepEqual(fired, [10, 20])
  })

  test('what happens in the turn after the timer fired still counts as in time', async (t) => {
    const { clock, deadline, fired } = start(t)
    deadline.arm(10)
    clock.jump(10)
    deadline.refresh()
    await turns(2)
    assert.deepEqual(fired, [])
    clock.jump(10)
    deadline.disarm()
    await turns(2)
    assert.deepEqual(fired, [])
  })

  test('dispose lets go of the timer', (t) => {
    const { clock, deadline } = start(t)
    deadline.arm(10)
    assert.equal(clock.active.size, 1)
    deadline.dispose()
    assert.equal(clock.active.size, 0)
    assert.equal(deadline.armed, false)
  })

  test('never keeps the process alive', (t) => {
    const { clock, deadline } = start(t)
    deadline.arm(10)
    assert.deepEqual(
      [...clock.active].map((timer) => timer.referenced),
      [false],
    )
  })

  test('a delay the runtime cannot hold becomes the longest it can', (t) => {
    const { clock, deadline } = start(t)
    deadline.arm(2 ** 40)
    assert.deepEqual(
      [...clock.active].map((timer) => timer.delay),
      [2 ** 31 - 1],
    )
  })

  test("holds on the clock of node:test, whose timers' refresh does nothing", async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.after(() => mock.timers.reset())
    let fired = 0
    const deadline = new Deadline({ onDeadline: () => fired++, onBroken })
    deadline.arm(100)
    mock.timers.tick(60)
    deadline.refresh()
    mock.timers.tick(60)
    await turns(2)
    assert.equal(fired, 0)
    mock.timers.tick(40)
    await turns(2)
    assert.equal(fired, 1)
  })

  test("on the runtime's clock a timer that comes too early runs once more", async (t) => {
    const alive = setInterval(() => {}, 1000)
    t.after(() => clearInterval(alive))
    const times = [0, 0, 0, 6]
    const asked: number[] = []
    t.mock.method(performance, 'now', () => {
      asked.push(times[asked.length] ?? 6)
      return asked.at(-1)
    })
    await new Promise<void>((resolve) => {
      const deadline = new Deadline({ onDeadline: () => resolve(), onBroken })
      deadline.arm(1)
      deadline.arm(1, 5)
    })
    // Once to arm, then at each timer: twice too early, and then due.
    assert.deepEqual(asked.slice(0, 4), times)
  })

  test("on the runtime's clock one timer serves several delays", async (t) => {
    const alive = setInterval(() => {}, 1000)
    t.after(() => clearInterval(alive))
    let time = 0
    t.mock.method(performance, 'now', () => time)
    let fired = 0
    await new Promise<void>((resolve) => {
      const onDeadline = (): void => {
        fired++
        resolve()
      }
      const deadline = new Deadline({ onDeadline, onBroken })
      // The one-day timer is too late, the one-millisecond timer too early.
      deadline.arm(86_400_000)
      deadline.arm(1)
      deadline.arm(2)
      setTimeout(() => {
        assert.equal(fired, 0)
        time = 2
      }, 10)
    })
    assert.equal(fired, 1)
  })

  test("expires on the runtime's clock, however often it was refreshed", async () => {
    // The deadline's own timer would let the process end.
    const alive = setInterval(() => {}, 1000)
    await new Promise<void>((resolve) => {
      const deadline = new Deadline({ onDeadline: () => resolve(), onBroken })
      deadline.arm(1)
      deadline.arm(1)
      deadline.refresh()
    })
    clearInterval(alive)
  })

  test('who throws when time is up is told, and the next time comes as well', async (t) => {
    const clock = FakeClock.install(t)
    const thrown = new Error('from the owner')
    const told: unknown[] = []
    const deadline: Deadline = new Deadline({
      onDeadline: () => {
        throw thrown
      },
      onBroken: (error) => told.push(error),
    })
    for (const _ of [1, 2]) {
      deadline.arm(10)
      await clock.advance(10)
    }
    assert.deepEqual(told, [thrown, thrown])
  })
})
