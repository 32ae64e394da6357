/** The effect of `cache` on caches along the way. `fetch` itself has no cache. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetch, type RequestInit } from '../../src/index.ts'
import { type Echo, echo, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

type Cache = NonNullable<RequestInit['cache']>

/** Mode, the caller's fields, `pragma` and `cache-control` on the wire. */
type Row = [
  cache: Cache,
  given: Record<string, string>,
  pragma: string | undefined,
  control: string | undefined,
]

const ROWS: Row[] = [
  ['default', {}, undefined, undefined],
  ['default', { 'if-modified-since': 'Sat, 29 Oct 1994 19:43:31 GMT' }, 'no-cache', 'no-cache'],
  ['default', { 'If-None-Match': '"tag"' }, 'no-cache', 'no-cache'],
  ['default', { 'if-unmodified-since': 'Sat, 29 Oct 1994 19:43:31 GMT' }, 'no-cache', 'no-cache'],
  ['default', { 'if-match': '*' }, 'no-cache', 'no-cache'],
  ['default', { 'if-range': '"tag"' }, 'no-cache', 'no-cache'],
  ['default', { 'if-match': '*', 'cache-control': 'max-age=1' }, 'no-cache', 'max-age=1'],
  ['no-store', {}, 'no-cache', 'no-cache'],
  ['no-store', { pragma: 'own' }, 'own', 'no-cache'],
  ['reload', {}, 'no-cache', 'no-cache'],
  ['reload', { 'Cache-Control': 'max-age=1' }, 'no-cache', 'max-age=1'],
  ['no-cache', {}, undefined, 'max-age=0'],
  ['no-cache', { 'cache-control': 'max-age=1' }, undefined, 'max-age=1'],
  ['force-cache', {}, undefined, undefined],
  ['force-cache', { 'if-match': '*' }, undefined, undefined],
]

overEachWire('the cache mode', (wire) => {
  for (const [cache, given, pragma, control] of ROWS) {
    const fields = Object.keys(given).join(', ')
    test(fields === '' ? cache : `${cache} with ${fields}`, async (t) => {
      const origin = await startOrigin(t, wire, echo)
      const response = await fetch(origin.url, { cache, headers: given, dispatcher: agentFor(t, wire) })
      const { headers } = (await response.json()) as Echo
      assert.deepEqual([headers['pragma'], headers['cache-control']], [pragma, control])
    })
  }

  test('only-if-cached fails, and nothing is sent', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const init = { cache: 'only-if-cached', mode: 'same-origin', dispatcher: agentFor(t, wire) } as const
    const error = await failure(fetch(origin.url, init))
    assert.equal(error.message, 'fetch failed')
    assert.match((error.cause as Error).message, /no cached response/)
    assert.equal(origin.sockets.length, 0)
  })
})
