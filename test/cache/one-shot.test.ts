/** What can be used only once on the way through the cache: an iterator of headers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { interceptors } from '../../src/index.ts'
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
