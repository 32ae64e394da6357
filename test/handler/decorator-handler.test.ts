import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { DecoratorHandler } from '../../src/handler/decorator-handler.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'

const controller = {} as DispatchController

function callsOf(controller: DispatchController): [keyof DispatchHandler, unknown[]][] {
  return [
    ['onRequestQueued', [controller.abort]],
    ['onRequestStart', [controller, 'ctx']],
    ['onBodySent', ['chunk']],
    ['onRequestSent', []],
    ['onResponseStarted', []],
    ['onResponseStart', [controller, 200, {}, 'OK']],
    ['onResponseData', [controller, Buffer.from('x')]],
    ['onResponseEnd', [controller, {}]],
    ['onRequestUpgrade', [controller, 101, {}, new PassThrough()]],
    ['onResponseError', [controller, new Error('lost')]],
  ]
}

const callNames = callsOf(controller).map(([name]) => name)

function callAll(handler: DispatchHandler, given = controller): unknown[][] {
  const calls = callsOf(given)
  for (const [name, args] of calls) (handler[name] as (...args: unknown[]) => void).apply(handler, args)
  return calls.map(([name, args]) => [name, ...args])
}

describe('DecoratorHandler', () => {
  it('forwards every method with its arguments', () => {
    const seen: unknown[][] = []
    const inner = new Proxy({} as DispatchHandler, {
      get:
        (_target, name) =>
        (...args: unknown[]) =>
          seen.push([name, ...args]),
    })
    assert.deepEqual(callAll(new DecoratorHandler(inner)), seen)
  })

  for (const name of callNames) {
    it(`${name} of the inner handler rejects, and the subclass drops the promise: the request is aborted`, async (t) => {
      const unhandled: unknown[] = []
      const note = (error: unknown): void => void unhandled.push(error)
      process.on('unhandledRejection', note)
      t.after(() => process.off('unhandledRejection', note))
      const failed = new Error('rejected')
      class Forgetful extends DecoratorHandler {}
      const forwards = (DecoratorHandler.prototype as DispatchHandler)[name] as (
        ...args: unknown[]
      ) => unknown
      Object.assign(Forgetful.prototype, {
        [name](...args: unknown[]) {
          Reflect.apply(forwards, this, args)
        },
      })
      const aborts: unknown[] = []
      const aborting = { abort: (reason: unknown) => aborts.push(reason) } as unknown as DispatchController
      callAll(new Forgetful({ [name]: () => Promise.reject(failed) }), aborting)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([aborts, unhandled], [[failed], []])
    })
  }

  it('forwards to what is there', () => {
    callAll(new DecoratorHandler({}))
  })

  it('bridges an old handler', () => {
    const seen: unknown[] = []
    new DecoratorHandler({ onConnect: (_abort, context) => seen.push(context) }).onRequestStart(
      controller,
      'ctx',
    )
    assert.deepEqual(seen, ['ctx'])
  })

  it('refuses what is no object', () => {
    for (const value of [null, undefined, 'x']) {
      assert.throws(() => new DecoratorHandler(value as never), {
        name: 'TypeError',
        message: 'handler must be an object',
      })
    }
  })
})
