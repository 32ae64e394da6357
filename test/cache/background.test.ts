/** The requests that bring stale responses up to date behind them: one for each stored response. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { cached, installDate, settle } from './support.ts'

const NOW = Date.UTC(2026, 0, 1)
const CONTROL = { 'cache-control': 'max-age=10, stale-while-revalidate=60' }

describe('stale-while-revalidate', () => {
  test('asks once for each variant', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached({ headers: { ...CONTROL, vary: 'accept' }, body: 'x' })
    const variants = ['a', 'b']
    for (const accept of variants) await origin.get('/', { accept })
    clock.advance(11_000)
    await Promise.all([...variants, ...variants].map((accept) => origin.get('/', { accept })))
    await settle()
    assert.deepEqual(
      origin.received.slice(2).map(({ headers }) => headers['accept']),
      variants,
    )
  })

  test('asks once for each method', async (t) => {
    const clock = installDate(t, NOW)
    const origin = cached({ headers: CONTROL, body: 'x' }, { methods: ['GET', 'OPTIONS'] })
    const methods = ['GET', 'OPTIONS'] as const
    for (const method of methods) await origin.get('/', {}, { method })
    clock.advance(11_000)
    await Promise.all([...methods, ...methods].map((method) => origin.get('/', {}, { method })))
    await settle()
    assert.deepEqual(
      origin.received.slice(2).map(({ method }) => method),
      methods,
    )
  })

  test('asks without the body of the request, which is destroyed', async (t) => {
    const clock = installDate(t, NOW)
    let version = 0
    const origin = cached(() => ({ headers: CONTROL, body: `version ${++version}` }))
    await origin.get()
    clock.advance(11_000)
    const body = Readable.from(['x'])
    assert.equal((await origin.get('/', {}, { body })).body, 'version 1')
    await settle()
    assert.equal(body.destroyed, true)
    assert.equal(origin.received[1]!.opts.body, null)
    assert.equal((await origin.get()).body, 'version 2')
  })
})
