import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import type { ConnectData } from '../../src/api/connect.ts'
import type { UpgradeData } from '../../src/api/upgrade.ts'
import { RequestAbortedError } from '../../src/errors.ts'
import { turn } from '../support/fake-clock.ts'
import { ScriptedDispatcher } from './scripted-dispatcher.ts'

/** The common type of the two methods. */
interface Method {
  (opts: object): Promise<ConnectData<unknown> | UpgradeData<unknown>>
  (opts: object, callback: (error: Error | null, data: unknown) => void): void
}

function bound(dispatcher: ScriptedDispatcher, name: 'connect' | 'upgrade'): Method {
  return dispatcher[name].bind(dispatcher) as Method
}

for (const [method, status, refusal, type] of [
  ['connect', 407, 'bad connect', 'CONNECT'],
  ['upgrade', 101, 'bad upgrade', 'GET'],
] as const) {
  describe(`${method}()`, () => {
    it('rejects, or calls back in a microtask, for bad arguments', async () => {
      const dispatcher = new ScriptedDispatcher()
      await assert.rejects(bound(dispatcher, method)(null as never), { message: 'invalid opts' })
      const message = 'signal must be an EventEmitter or EventTarget'
      await assert.rejects(bound(dispatcher, method)({ path: '/', signal: {} as never }), { message })
      const calls: unknown[][] = []
      const opts = { path: '/', signal: {} as never, opaque: 4 }
      bound(dispatcher, method)(opts, (...args: unknown[]) => calls.push(args))
      assert.equal(calls.length, 0)
      await Promise.resolve()
      const [error, data] = calls[0] ?? []
      assert.equal((error as Error).message, message)
      assert.deepEqual(data, { opaque: 4 })
      assert.throws(() => bound(dispatcher, method)({ path: '/' }, 'no' as never), {
        message: 'invalid callback',
      })
      assert.throws(() => bound(dispatcher, method)(null as never, 'no' as never), {
        message: 'invalid opts',
      })
      assert.equal(dispatcher.exchanges.length, 0)
    })

    it('gives the socket and what came with it', async () => {
      const dispatcher = new ScriptedDispatcher()
      const socket = new PassThrough()
      const promise = bound(dispatcher, method)({ path: '/x', opaque: 'mine' })
      assert.equal(dispatcher.last.opts.method, type)
      dispatcher.last.start('ctx').upgrade(status, { a: '1' }, socket)
      const data = await promise
      const common = { headers: { a: '1' }, socket, opaque: 'mine', context: 'ctx' }
      assert.deepEqual({ ...data }, method === 'connect' ? { statusCode: status, ...common } : common)
      assert.equal(data.timings, null)
      const keys = ['headers', 'socket', 'opaque', 'context']
      assert.deepEqual(Object.keys(data), method === 'connect' ? ['statusCode', ...keys] : keys)
    })

    it('raw headers, timings and no opaque', async () => {
      const dispatcher = new ScriptedDispatcher()
      const promise = bound(dispatcher, method)({ path: '/x', responseHeaders: 'raw' })
      const timings = { queued: 1, connect: null, secured: null, sent: null, firstByte: null, end: null }
      const controller = dispatcher.last.newController({ timings })
      dispatcher.last.handler.onRequestUpgrade?.(controller, status, { a: '1' }, new PassThrough())
      const data = await promise
      assert.deepEqual(data.headers, ['a', '1'])
      assert.equal(data.timings, timings)
      assert.equal(data.opaque, null)
    })

    it('calls back in the async context of the call', async () => {
      const dispatcher = new ScriptedDispatcher()
      const storage = new AsyncLocalStorage<number>()
      const seen: unknown[] = []
      storage.run(9, () => {
        bound(dispatcher, method)({ path: '/' }, (error: Error | null) =>
          seen.push(error, storage.getStore()),
        )
      })
      dispatcher.last.start().upgrade(status, {}, new PassThrough())
      assert.deepEqual(seen, [null, 9])
    })

    it('a callback that throws fails the socket', async () => {
      const dispatcher = new ScriptedDispatcher()
      const socket = new PassThrough()
      const failure = new Error('in the callback')
      bound(dispatcher, method)({ path: '/' }, () => {
        throw failure
      })
      const seen = new Promise((resolve) => socket.once('error', resolve))
      dispatcher.last.start().upgrade(status, {}, socket).error(new Error('late'))
      assert.equal(await seen, failure)
    })

    it('an ordinary answer is an error; informational ones are passed over', async () => {
      const dispatcher = new ScriptedDispatcher()
      const promise = bound(dispatcher, method)({ path: '/' })
      dispatcher.last.start().head(103).head(404).head(404)
      await assert.rejects(promise, { code: 'UND_ERR_SOCKET', message: refusal, socket: null })
      assert.equal(dispatcher.last.aborts.length, 1)
    })

    it('a failure of the request', async () => {
      const dispatcher = new ScriptedDispatcher()
      const calls: unknown[][] = []
      const failure = new Error('lost')
      bound(dispatcher, method)({ path: '/' }, (...args: unknown[]) => calls.push(args))
      dispatcher.last.error(failure)
      await turn()
      assert.deepEqual(calls, [[failure, { opaque: null }]])
    })

    it('signals: the listener goes with the hand-over; a socket after an abort is closed', async () => {
      const dispatcher = new ScriptedDispatcher()
      const signal = new EventEmitter()
      const done = bound(dispatcher, method)({ path: '/', signal })
      assert.equal(signal.listenerCount('abort'), 1)
      dispatcher.last.start().upgrade(status, {}, new PassThrough())
      await done
      assert.equal(signal.listenerCount('abort'), 0)

      const aborted = bound(dispatcher, method)({ path: '/', signal })
      dispatcher.last.start()
      signal.emit('abort')
      await assert.rejects(aborted, RequestAbortedError)
      const socket = new PassThrough()
      dispatcher.last.upgrade(status, {}, socket)
      assert.equal(socket.destroyed, true)
      await assert.rejects(bound(dispatcher, method)({ path: '/', signal: AbortSignal.abort() }), {
        name: 'AbortError',
      })
      assert.equal(dispatcher.exchanges.length, 2)
    })

    it('is not started again after the hand-over', async () => {
      const dispatcher = new ScriptedDispatcher()
      const promise = bound(dispatcher, method)({ path: '/' })
      dispatcher.last.start().upgrade(status, {}, new PassThrough()).start()
      await promise
      assert.equal(dispatcher.last.aborts.length, 1)
    })
  })
}

describe('upgrade(): the request', () => {
  it('asks for Websocket with GET unless told otherwise', () => {
    const dispatcher = new ScriptedDispatcher()
    dispatcher.upgrade({ path: '/' }, () => {})
    assert.equal(dispatcher.last.opts.upgrade, 'Websocket')
    assert.equal(dispatcher.last.opts.method, 'GET')
    dispatcher.upgrade({ path: '/', protocol: 'h9', method: 'POST' }, () => {})
    assert.equal(dispatcher.last.opts.upgrade, 'h9')
    assert.equal(dispatcher.last.opts.method, 'POST')
  })

  it('takes 200 from extended CONNECT, and no other status', async () => {
    const dispatcher = new ScriptedDispatcher()
    const good = dispatcher.upgrade({ path: '/' })
    dispatcher.last.start().upgrade(200, {}, new PassThrough())
    await good
    const bad = dispatcher.upgrade({ path: '/' })
    const socket = new PassThrough()
    dispatcher.last.start().upgrade(403, {}, socket)
    await assert.rejects(bad, { code: 'UND_ERR_SOCKET', message: 'bad upgrade' })
    assert.equal(socket.destroyed, true)
  })
})
