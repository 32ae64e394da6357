import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { DecoratorHandler } from '../../src/handler/decorator-handler.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'

const controller = {} as DispatchController

function callAll(handler: DispatchHandler): unknown[][] {
  const calls: [keyof DispatchHandler, unknown[]][] = [
    ['onRequestQueued', [() => {}]],
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
