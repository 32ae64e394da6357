/** What can be used only once on the way through the cache: an iterator of headers, a connection. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { errors, interceptors } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ORIGIN } from './support.ts'

const GET = { origin: ORIGIN, path: '/', method: 'GET' } as const

function* pairs(...fields: [unknown, unknown][]): Generator<[string, string]> {
  for (const field of fields) yield field as [string, string]
}

describe('headers from a generator', () => {
  test('reach the origin', () => {
    const base = new ScriptedDispatcher()
    base
      .compose(interceptors.cache())
      .dispatch({ ...GET, headers: pairs(['A', 'b']) }, new RecordingHandler())
    assert.deepEqual(base.last.opts.headers, ['A', 'b'])
  })

  test('reach the dispatcher if the cache cannot read them', () => {
    const base = new ScriptedDispatcher()
    const value = Buffer.from('c')
    const headers = pairs(['a', 'b'], ['buffer', value])
    base.compose(interceptors.cache()).dispatch({ ...GET, headers }, new RecordingHandler())
    assert.deepEqual(base.last.opts.headers, ['a', 'b', 'buffer', value])
  })

  test('that throws fail the request', () => {
    const thrown = new Error('thrown')
    // biome-ignore lint/correctness/useYield: it throws before
    const headers = (function* (): Generator<[string, string]> {
      throw thrown
    })()
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    assert.equal(base.compose(interceptors.cache()).dispatch({ ...GET, headers }, handler), false)
    assert.deepEqual(handler.errors, [thrown])
    assert.equal(base.exchanges.length, 0)
  })
})

describe('an upgrade that was not asked for', () => {
  test('settles its caller, and those who wait are sent on their own', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.cache({ collapse: true }))
    const [first, second] = [new RecordingHandler(), new RecordingHandler()]
    dispatcher.dispatch(GET, first)
    dispatcher.dispatch(GET, second)
    const socket = new PassThrough()
    const [exchange] = base.exchanges
    exchange!.start().upgrade(101, { upgrade: 'x' }, socket)
    assert.equal(first.socket, socket)
    first.controller!.abort()
    exchange!.error(new Error('late'))
    assert.deepEqual(first.story, ['onRequestStart', 'onRequestUpgrade 101'])
    assert.deepEqual(exchange!.aborts, [])
    assert.equal(base.exchanges.length, 2)
    base.last.start().head().end()
    assert.equal(second.status, 200)
  })

  for (const name of ['cache', 'deduplicate'] as const) {
    test(`of a handler without a use for it fails through ${name}, and the connection is closed`, () => {
      const base = new ScriptedDispatcher()
      const failures: Error[] = []
      const handler = {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd() {},
        onResponseError: (_controller: unknown, error: Error) => void failures.push(error),
      }
      base.compose(interceptors[name]()).dispatch(GET, handler)
      const socket = new PassThrough()
      base.last.start().upgrade(101, {}, socket)
      assert.equal(socket.destroyed, true)
      assert.equal(failures.length, 1)
      assert.ok(failures[0] instanceof errors.SocketError)
      assert.equal(failures[0].message, 'bad upgrade')
    })
  }
})
