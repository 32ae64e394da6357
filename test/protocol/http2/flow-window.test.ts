import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InternalError } from '../../../src/base/error/invariant.ts'
import { ReceiveWindow } from '../../../src/protocol/http2/flow-window.ts'
import { WindowGrowth } from '../../../src/protocol/http2/window-growth.ts'

describe('ReceiveWindow', () => {
  test('saves small credits up to a quarter of the window', () => {
    const window = new ReceiveWindow(100, 100)
    assert.equal(window.receive(60), true)
    assert.equal(window.held, 60)
    assert.equal(window.release(24), 0)
    assert.equal(window.release(1), 25)
    assert.equal(window.available, 65)
    assert.equal(window.held, 35)
    assert.equal(window.receive(66), false)
    assert.throws(() => window.release(36), InternalError)
  })

  test('announces a size that differs from the default', () => {
    assert.equal(new ReceiveWindow(100, 40).announce(), 60)
    const smaller = new ReceiveWindow(40, 100)
    assert.equal(smaller.announce(), 0)
    smaller.receive(100)
    assert.equal(smaller.release(60), 0)
    assert.equal(smaller.release(40), 40)
  })

  test('grows', () => {
    const window = new ReceiveWindow(100, 100)
    window.receive(30)
    window.release(20)
    assert.equal(window.grow(150), 70)
    assert.equal(window.size, 150)
    assert.equal(window.available, 140)
    assert.equal(window.held, 10)
  })
})

describe('WindowGrowth', () => {
  test('takes the least round trip, and only real ones', () => {
    const growth = new WindowGrowth(100, {})
    const window = new ReceiveWindow(100, 100)
    growth.addRoundTrip(0)
    growth.addRoundTrip(-5)
    growth.addRoundTrip(1000)
    growth.addRoundTrip(10)
    growth.addRoundTrip(500)
    const arrive = (now: number): number => {
      window.receive(60)
      const increment = growth.onStreamData(window, now, 60)
      window.release(60)
      return increment
    }
    assert.equal(arrive(0), 0)
    assert.equal(arrive(9), 0)
    assert.equal(arrive(10), 100)
    assert.equal(window.size, 200)
    assert.equal(arrive(1000), 0, 'a pause says nothing about the path')
  })

  test('the window of the connection is what its streams have together, up to its cap', () => {
    const growth = new WindowGrowth(100, { maxCoveringWindow: 1000 })
    const window = new ReceiveWindow(250, 250)
    const increments = [1, 2, 3, 4, 5, 6, 10, 11].map((streams) => growth.onStreams(window, streams))
    // At least doubled, so that few frames are sent.
    assert.deepEqual(increments, [0, 0, 250, 0, 0, 500, 0, 0])
    assert.equal(growth.onStreams(new ReceiveWindow(2000, 2000), 50), 0, 'one beyond the cap')
    assert.equal(growth.onStreams(new ReceiveWindow(99, 99), 50), 0, 'one smaller than that of a stream')
  })

  test('a window at its cap stays', () => {
    const growth = new WindowGrowth(100, { maxStreamWindow: 100, maxConnectionWindow: 100 })
    growth.addRoundTrip(1)
    for (const method of ['onStreamData', 'onConnectionData'] as const) {
      const window = new ReceiveWindow(100, 100)
      for (let now = 1; now < 5; now++) {
        window.receive(60)
        assert.equal(growth[method](window, now, 60), 0)
        window.release(60)
      }
      assert.equal(window.size, 100)
    }
  })
})
