import assert from 'node:assert/strict'
import { EventEmitter, getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { abortedReason, isAbortSource, SignalHub } from '../../../src/base/abort/signal.ts'
import { EagerSignal } from '../../support/eager-signal.ts'

describe('abort sources', () => {
  it('are EventTargets and EventEmitters', () => {
    assert.equal(isAbortSource(new AbortController().signal), true)
    assert.equal(isAbortSource(new EventEmitter()), true)
    assert.equal(isAbortSource({}), false)
    assert.equal(isAbortSource(null), false)
    assert.equal(isAbortSource('abort'), false)
    assert.equal(isAbortSource(Object.assign(() => {}, { on() {} })), true)
  })

  it('tell whether they are aborted, with the reason itself', () => {
    const reason = { why: 'enough' }
    assert.deepEqual(abortedReason(AbortSignal.abort(reason)), { reason })
    assert.equal(abortedReason(AbortSignal.abort(reason))?.reason, reason)
    assert.equal(abortedReason(new AbortController().signal), null)
    assert.equal(abortedReason(new EventEmitter()), null)
    assert.deepEqual(abortedReason(Object.assign(new EventEmitter(), { aborted: true })), {
      reason: undefined,
    })
  })
})

describe('SignalHub', () => {
  it('puts one listener on a signal however many subscribe', () => {
    const hub = new SignalHub()
    const { signal } = new AbortController()
    const disposers = Array.from({ length: 10_000 }, () => hub.subscribe(signal, () => {}))
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    for (const dispose of disposers.slice(1)) dispose()
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    disposers[0]?.()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    disposers[0]?.()
  })

  it('listens again after the last subscriber has gone', () => {
    const hub = new SignalHub()
    const ee = new EventEmitter()
    hub.subscribe(ee, () => assert.fail('disposed'))()
    assert.equal(ee.listenerCount('abort'), 0)
    let calls = 0
    hub.subscribe(ee, () => calls++)
    assert.equal(ee.listenerCount('abort'), 1)
    ee.emit('abort')
    ee.emit('abort')
    assert.equal(calls, 1)
    assert.equal(ee.listenerCount('abort'), 0)
  })

  it('tells every subscriber once, with the reason of the signal', () => {
    const hub = new SignalHub()
    const controller = new AbortController()
    const reason = new Error('stop')
    const seen: unknown[] = []
    hub.subscribe(controller.signal, (given) => seen.push(given))
    hub.subscribe(controller.signal, (given) => seen.push(given))
    controller.abort(reason)
    assert.deepEqual(seen, [reason, reason])
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('gives undefined for an emitter without a reason', () => {
    const ee = new EventEmitter()
    const seen: unknown[] = []
    new SignalHub().subscribe(ee, (reason) => seen.push(reason))
    ee.emit('abort', 'ignored')
    assert.deepEqual(seen, [undefined])
  })

  it('survives subscribers that dispose others, subscribe anew or throw', async () => {
    const hub = new SignalHub()
    const ee = new EventEmitter()
    const seen: string[] = []
    const uncaught: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => void uncaught.push(error))
    const failure = new Error('from a subscriber')
    hub.subscribe(ee, () => {
      seen.push('first')
      disposeSecond()
      disposeFourth()
      hub.subscribe(ee, () => seen.push('next round'))
    })
    const disposeSecond = hub.subscribe(ee, () => seen.push('second'))
    hub.subscribe(ee, () => {
      throw failure
    })
    const disposeFourth = hub.subscribe(ee, () => seen.push('fourth'))
    hub.subscribe(ee, () => seen.push('last'))
    ee.emit('abort')
    assert.deepEqual(seen, ['first', 'last'])
    assert.equal(ee.listenerCount('abort'), 1)
    ee.emit('abort')
    assert.deepEqual(seen, ['first', 'last', 'next round'])
    await new Promise((resolve) => setImmediate(resolve))
    process.removeAllListeners('uncaughtException')
    for (const listener of listeners) process.on('uncaughtException', listener)
    assert.deepEqual(uncaught, [failure])
  })

  it('reaches a subscriber whose signal fires while the listener is added', () => {
    const hub = new SignalHub()
    const signal = new EagerSignal('at once')
    const seen: unknown[] = []
    hub.subscribe(signal, (reason) => seen.push(reason))()
    hub.subscribe(signal, (reason) => seen.push(reason))
    assert.deepEqual(seen, ['at once', 'at once'])
  })

  it('forgets a signal that takes no listener', () => {
    const hub = new SignalHub()
    const signal = new AbortController().signal
    signal.addEventListener = () => {
      throw new Error('not now')
    }
    assert.throws(() => hub.subscribe(signal, () => assert.fail('not subscribed')), { message: 'not now' })
    Reflect.deleteProperty(signal, 'addEventListener')
    const seen: unknown[] = []
    hub.subscribe(signal, () => seen.push('aborted'))
    signal.dispatchEvent(new Event('abort'))
    assert.deepEqual(seen, ['aborted'])
  })

  it('keeps signals and hubs apart', () => {
    const ee = new EventEmitter()
    new SignalHub().subscribe(ee, () => {})
    new SignalHub().subscribe(ee, () => {})
    assert.equal(ee.listenerCount('abort'), 2)
  })

  it('a weak subscription works while its target lives and can be disposed', () => {
    const hub = new SignalHub()
    const ee = new EventEmitter()
    const target = { seen: 0 }
    const onAbort = (one: { seen: number }): void => {
      one.seen++
    }
    hub.subscribeWeakly(ee, target, onAbort)()
    assert.equal(ee.listenerCount('abort'), 0)
    hub.subscribeWeakly(ee, target, onAbort)
    ee.emit('abort')
    assert.equal(target.seen, 1)
  })

  it('a weak subscription goes with its target', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const hub = new SignalHub()
    const ee = new EventEmitter()
    ;(() => hub.subscribeWeakly(ee, { big: new Array(1000) }, () => assert.fail('collected')))()
    // A second subscription of the same target goes with it, too, although the first was disposed.
    ;(() => {
      const target = {}
      const dispose = hub.subscribeWeakly(ee, target, () => assert.fail('disposed'))
      hub.subscribeWeakly(ee, target, () => assert.fail('collected'))
      dispose()
    })()
    for (let i = 0; i < 1000 && ee.listenerCount('abort') > 0; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    assert.equal(ee.listenerCount('abort'), 0)
  })
})
