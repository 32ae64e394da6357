/** Interceptors that have not replied as often as they should. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { mocking, ORIGIN } from './mocking.ts'

function thrownBy(call: () => void): string {
  try {
    call()
    return ''
  } catch (error) {
    assert.ok(error instanceof errors.UndiciError)
    return (error as Error).message
  }
}

/** Runs with the environment variable `CI`, which turns colours off. */
function inCi<T>(call: () => T): T {
  const before = process.env['CI']
  process.env['CI'] = 'true'
  try {
    return call()
  } finally {
    if (before === undefined) delete process.env['CI']
    else process.env['CI'] = before
  }
}

describe('pendingInterceptors', () => {
  test('pendingInterceptors lists interceptors with everything that is known', (t) => {
    const { agent, pool } = mocking(t)
    const body = (): boolean => true
    pool
      .intercept({ path: '/q', query: { b: 2, a: [1, 2] }, method: 'post', headers: { h: '1' }, body })
      .reply(201, 'q')
      .times(3)
    assert.deepEqual(agent.pendingInterceptors(), [
      {
        origin: ORIGIN,
        path: '/q?b=2&a=1&a=2',
        method: 'POST',
        body,
        headers: { h: '1' },
        query: { b: 2, a: [1, 2] },
        times: 3,
        timesInvoked: 0,
        persist: false,
        consumed: false,
        pending: true,
        ignoreTrailingSlash: false,
        data: { error: null, statusCode: 201, data: 'q', headers: {}, trailers: {} },
      },
    ])
  })

  test('pendingInterceptors shows each kind of reply as undici does', (t) => {
    const { agent, pool } = mocking(t)
    const callback = (): { statusCode: number } => ({ statusCode: 200 })
    const data = (): string => 'x'
    const error = new Error('e')
    pool.intercept({ path: '/1' }).reply(200)
    pool.intercept({ path: '/2' }).reply(200, { a: 1 }, { headers: { x: 'y' }, trailers: { t: '1' } })
    pool.intercept({ path: '/3' }).reply(callback)
    pool.intercept({ path: '/4' }).reply(201, data)
    pool.intercept({ path: '/5' }).replyWithError(error)
    assert.deepEqual(
      agent.pendingInterceptors().map((one) => one.data),
      [
        { error: null, statusCode: 200, data: '', headers: {}, trailers: {} },
        { error: null, statusCode: 200, data: { a: 1 }, headers: { x: 'y' }, trailers: { t: '1' } },
        { error: null, callback },
        { error: null, statusCode: 201, data, headers: {}, trailers: {} },
        { error },
      ],
    )
  })

  test('a persistent interceptor is pending until its first use', async (t) => {
    const { agent, pool, send } = mocking(t)
    pool.intercept({ path: '/' }).reply(200).persist()
    assert.equal(agent.pendingInterceptors().length, 1)
    await send('/')
    assert.deepEqual(agent.pendingInterceptors(), [])
    agent.assertNoPendingInterceptors()
  })

  test('pendingInterceptors lists those of a RegExp once, also after it was bound', async (t) => {
    const { agent } = mocking(t)
    const pattern = /b\.test/
    agent.get(pattern).intercept({ path: '/' }).reply(200).times(2)
    await agent.request({ origin: 'http://b.test', path: '/', method: 'GET' })
    assert.deepEqual(
      agent.pendingInterceptors().map(({ origin, timesInvoked }) => [origin, timesInvoked]),
      [[pattern, 1]],
    )
  })
})

describe('assertNoPendingInterceptors', () => {
  test('assertNoPendingInterceptors draws a table', (t) => {
    const { agent } = mocking(t)
    agent.get('http://e.test').intercept({ path: '/1' }).reply(200)
    assert.equal(
      thrownBy(() => inCi(() => agent.assertNoPendingInterceptors())),
      `1 interceptor is pending:

┌─────────┬────────┬─────────────────┬──────┬─────────────┬────────────┬─────────────┬───────────┐
│ (index) │ Method │ Origin          │ Path │ Status code │ Persistent │ Invocations │ Remaining │
├─────────┼────────┼─────────────────┼──────┼─────────────┼────────────┼─────────────┼───────────┤
│ 0       │ 'GET'  │ 'http://e.test' │ '/1' │ 200         │ '❌'       │ 0           │ 1         │
└─────────┴────────┴─────────────────┴──────┴─────────────┴────────────┴─────────────┴───────────┘`,
    )
  })

  test('the table of several pending interceptors, with other kinds of matchers and replies', (t) => {
    const { agent } = mocking(t)
    const pool = agent.get(/a\.test/)
    pool.intercept({ path: '/' }).reply(200).times(2)
    pool.intercept({ path: '/e', method: /P/ }).replyWithError(new Error('x'))
    function path(): boolean {
      return true
    }
    pool
      .intercept({ path })
      .reply(() => ({ statusCode: 200 }))
      .persist()
    assert.equal(
      thrownBy(() => inCi(() => agent.assertNoPendingInterceptors())),
      `3 interceptors are pending:

┌─────────┬────────┬───────────┬──────────────────┬─────────────┬────────────┬─────────────┬───────────┐
│ (index) │ Method │ Origin    │ Path             │ Status code │ Persistent │ Invocations │ Remaining │
├─────────┼────────┼───────────┼──────────────────┼─────────────┼────────────┼─────────────┼───────────┤
│ 0       │ 'GET'  │ /a\\.test/ │ '/'              │ 200         │ '❌'       │ 0           │ 2         │
│ 1       │ /P/    │ /a\\.test/ │ '/e'             │ undefined   │ '❌'       │ 0           │ 1         │
│ 2       │ 'GET'  │ /a\\.test/ │ [Function: path] │ undefined   │ '✅'       │ 0           │ Infinity  │
└─────────┴────────┴───────────┴──────────────────┴─────────────┴────────────┴─────────────┴───────────┘`,
    )
  })

  test('the table of pending interceptors has colours, unless they are turned off', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    const before = process.env['CI']
    delete process.env['CI']
    t.after(() => {
      if (before !== undefined) process.env['CI'] = before
    })
    const esc = String.fromCharCode(27)
    const coloured = thrownBy(() => agent.assertNoPendingInterceptors())
    assert.ok(coloured.includes(`│ ${esc}[32m'GET'${esc}[39m  │`))
    const plain = thrownBy(() => agent.assertNoPendingInterceptors({ disableColors: true }))
    assert.ok(!plain.includes(esc))
    assert.equal(plain, coloured.replaceAll(new RegExp(`${esc}\\[\\d+m`, 'g'), ''))
  })

  test('the table of pending interceptors has letters as marks without ICU', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    pool.intercept({ path: '/' }).reply(200).persist()
    const versions = process.versions
    Object.defineProperty(process, 'versions', { value: { ...versions, icu: undefined }, configurable: true })
    t.after(() => Object.defineProperty(process, 'versions', { value: versions, configurable: true }))
    const message = thrownBy(() => inCi(() => agent.assertNoPendingInterceptors()))
    assert.match(message, /│ 'N ' {7}│/)
    assert.match(message, /│ 'Y ' {7}│/)
  })

  test('assertNoPendingInterceptors takes another formatter', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    const format = (list: readonly { path: unknown }[]): string => `list of ${list.length}: ${list[0]!.path}`
    assert.equal(
      thrownBy(() => agent.assertNoPendingInterceptors({ pendingInterceptorsFormatter: { format } })),
      '1 interceptor is pending:\n\nlist of 1: /',
    )
  })
})
