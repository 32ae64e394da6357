/** The error of a request that matches nothing, and what it shows. */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { errors, fetch, mockErrors } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { mocking, ORIGIN } from './mocking.ts'

const { MockNotMatchedError } = mockErrors
type NotMatched = InstanceType<typeof MockNotMatchedError>

/** Lines and columns change with every edit. */
function withoutPlace(message: string): string {
  return message.replace(/, defined at \S+not-matched\.test\.[jt]s:\d+:\d+/g, ', defined at HERE')
}

describe('the error class', () => {
  test('MockNotMatchedError is one of the errors of the library', () => {
    const error = new MockNotMatchedError()
    assert.ok(error instanceof errors.UndiciError)
    assert.deepEqual(
      [error.name, error.code, error.message],
      [
        'MockNotMatchedError',
        'UND_MOCK_ERR_MOCK_NOT_MATCHED',
        'The request does not match any registered mock dispatches',
      ],
    )
    assert.deepEqual([error.request, error.nearest, error.mismatches, error.stage], [null, null, [], null])
  })
})

describe('the message', () => {
  test('the message of no match shows the nearest interceptor, and the first difference in JSON', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/other', method: 'POST' }).reply(200)
    pool.intercept({ path: '/p', method: 'POST', body: { id: 1, sum: 5 } }).reply(200)
    const error = (await failure(
      send('/p', { method: 'POST', body: '{"id":1,"sum":6}' }),
    )) as never as NotMatched
    assert.equal(
      withoutPlace(error.message),
      [
        `Mock dispatch not matched for body '{"id":1,"sum":6}' on path '/p': subsequent request to origin http://a.test was not allowed (net.connect disabled), 2 interceptor(s) remaining out of 2 defined`,
        'Request:  POST http://a.test/p',
        'Nearest:  POST http://a.test/p  (1 of 1 left, defined at HERE)',
        '  body    expected {"id":1,"sum":5}',
        '          received {"id":1,"sum":6}   first difference at .sum',
        `Advice:   enableNetConnect('a.test') would send it to the network`,
      ].join('\n'),
    )
    assert.equal(error.stage, 'body')
    assert.deepEqual(error.request, {
      method: 'POST',
      origin: ORIGIN,
      path: '/p',
      headers: {},
      body: '{"id":1,"sum":6}',
    })
    assert.deepEqual(error.mismatches, [
      { part: 'body', expected: '{"id":1,"sum":5}', received: '{"id":1,"sum":6}', difference: '.sum' },
    ])
    const { definedAt, ...nearest } = error.nearest!
    assert.deepEqual(nearest, {
      method: 'POST',
      origin: ORIGIN,
      path: '/p',
      times: 1,
      timesInvoked: 0,
      persist: false,
      consumed: false,
    })
    assert.match(basename(definedAt!), /^not-matched\.test\.[jt]s:\d+:\d+$/)
  })

  test('the message of no match names a used-up interceptor', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/p' }).reply(200)
    await send('/p')
    const lines = withoutPlace((await failure(send('/p'))).message).split('\n')
    assert.equal(
      lines[2],
      'Nearest:  GET http://a.test/p  (used up after 1 use: times(n) or persist(), defined at HERE)',
    )
    assert.match(lines[3]!, /^Advice:/)
  })

  test('the message of no match prefers most parts alike, then the smallest distance of paths, then the first', async (t) => {
    const { pool, send } = mocking(t)
    const nearest = async (path: string, options = {}): Promise<unknown> => {
      const { nearest } = (await failure(send(path, options))) as never as NotMatched
      return [nearest?.method, nearest?.path]
    }
    pool.intercept({ path: '/users/1', method: 'PUT' }).reply(200)
    pool.intercept({ path: '/users' }).reply(200)
    pool.intercept({ path: '/userz' }).reply(200)
    assert.deepEqual(await nearest('/user/1', { method: 'PUT' }), ['PUT', '/users/1'])
    assert.deepEqual(await nearest('/users/1'), ['PUT', '/users/1'])
    assert.deepEqual(await nearest('/user'), ['GET', '/users'])
  })

  test('the message of no match lists the origins if nothing is defined for this one', async (t) => {
    const { agent } = mocking(t)
    agent.get(/example/)
    const error = (await failure(
      agent.request({ origin: 'http://b.test', path: '/q', method: 'GET' }),
    )) as never as NotMatched
    assert.deepEqual(error.message.split('\n'), [
      "Mock dispatch not matched for path '/q': subsequent request to origin http://b.test was not allowed (net.connect disabled), 0 interceptor(s) remaining out of 0 defined",
      'Request:  GET http://b.test/q',
      'Origins:  /example/, http://a.test',
      "Advice:   enableNetConnect('b.test') would send it to the network",
    ])
    assert.deepEqual([error.stage, error.nearest], ['origin', null])
  })

  test('the message of no match names the reason why the network is not allowed', async (t) => {
    const { agent, send } = mocking(t)
    agent.enableNetConnect('b.test')
    assert.match(
      (await failure(send('/q'))).message,
      /^Mock dispatch not matched for path '\/q': subsequent request to origin http:\/\/a\.test was not allowed \(net\.connect is not enabled for this origin\), 0 /,
    )
  })

  test('the message of no match compares headers one by one', async (t) => {
    const { pool, send } = mocking(t)
    pool
      .intercept({ path: '/', headers: { A: '1', b: /x/, c: 'same' } })
      .reply(200)
      .persist()
    const lines = (await failure(send('/', { headers: { a: '2', c: 'same' } }))).message.split('\n')
    assert.deepEqual(lines.slice(3, 7), [
      '  headers.A expected 1',
      '            received 2',
      '  headers.b expected /x/',
      '            received (absent)',
    ])
    assert.match(lines[2]!, /\(persistent, defined at /)
  })

  test('the message of no match does not show secrets', async (t) => {
    const { pool, send } = mocking(t)
    const headers = {
      authorization: 'Bearer hidden',
      cookie: 'sid=hidden',
      'X-Api-Key': 'hidden',
      'x-csrf-token': 'hidden',
      'client-secret': 'hidden',
      'x-goog-api-key': 'hidden',
      'api-key': 'hidden',
      'x-user-password': 'hidden',
      plain: 'shown',
    }
    pool.intercept({ path: '/', headers: { ...headers, authorization: 'hidden too', plain: 'x' } }).reply(200)
    for (const form of [headers, Object.entries(headers).flat()]) {
      const error = (await failure(send('/', { headers: form }))) as never as NotMatched
      assert.doesNotMatch(JSON.stringify([error.message, error.request, error.mismatches]), /hidden/)
      assert.match(error.message, /"authorization"[:,]"<13 characters>"/)
      assert.match(error.message, /shown/)
    }
  })

  test('the message of no match does not show secrets in lists of values', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/', headers: { plain: 'x' } }).reply(200)
    const headers = { authorization: ['Bearer hidden'], cookie: ['a=hidden', 'b=hidden'], plain: ['shown'] }
    const error = (await failure(send('/', { headers }))) as never as NotMatched
    assert.doesNotMatch(JSON.stringify([error.message, error.request, error.mismatches]), /hidden/)
    assert.match(error.message, /"cookie":\["<8 characters>","<8 characters>"\],"plain":\["shown"\]/)
  })

  test('the message of no match does not show the query, with or without names, nor the fragment', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/x' }).reply(200)
    for (const path of ['/y?hidden', '/y?a=1&hidden', '/y?a=hidden#hidden', '/y#hidden', '/y?hidden=']) {
      const error = (await failure(send(path))) as never as NotMatched
      const shown = JSON.stringify([error.message, error.request, error.mismatches])
      // What stands before an equals sign is a name.
      assert.equal(/hidden(?!=)/.test(shown), false, shown)
    }
  })

  test('the message of no match does not show the query of the interceptor, but in which parameter it differs', async (t) => {
    const { agent, pool, send } = mocking(t)
    pool.intercept({ path: '/y', query: { a: '1', key: 'hidden' } }).reply(200)
    for (const [path, at] of [
      ['/y?key=hidde1&a=1', 'query.key'],
      ['/y?key=hidden&a=1&z=1', 'query.z'],
      ['/y', 'query.a'],
      ['/z?key=hidden&a=1', null],
    ] as const) {
      const error = (await failure(send(path))) as never as NotMatched
      const shown = inspect(error, { depth: 12 })
      assert.equal(shown.includes('hidden'), false, shown)
      assert.equal(error.mismatches[0]?.difference, at, path)
    }
    assert.throws(
      () => agent.assertNoPendingInterceptors(),
      ({ message }) => !message.includes('hidden') && message.includes('key=<6 characters>'),
    )
  })

  test('the message of no match calls no matcher function', async (t) => {
    const { pool, send } = mocking(t)
    let calls = 0
    const count = (): boolean => ++calls < 0
    pool.intercept({ path: '/x', method: count, body: count, headers: { a: count } }).reply(200)
    pool.intercept({ path: count }).reply(200)
    await failure(send('/y'))
    assert.equal(calls, 1)
  })

  test('the message of no match shows any body, also a long one', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200).persist()
    const long = (await failure(send('/', { method: 'POST', body: 'y'.repeat(5000) }))).message
    assert.match(long, /^Mock dispatch not matched for body 'y{1000}…' on path/)
    const none = (await failure(send('/', { method: 'POST' }))).message
    assert.match(none, /received \(none\)/)
  })
})

describe('who gets it', () => {
  test('the handler of a request on the agent gets the error of no match, and dispatch returns false', (t) => {
    const { agent } = mocking(t)
    const handler = new RecordingHandler()
    assert.equal(agent.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler), false)
    assert.deepEqual(handler.calls, ['onResponseError'])
    assert.equal(handler.lastController, null)
    assert.ok(handler.error instanceof MockNotMatchedError)
  })

  test('the caller of dispatch on a pool gets the error of no match', async (t) => {
    const { pool } = mocking(t)
    const get = { path: '/', method: 'GET' } as const
    assert.throws(() => pool.dispatch(get, new RecordingHandler()), MockNotMatchedError)
    assert.ok((await failure(pool.request(get))) instanceof MockNotMatchedError)
  })

  test('the error of fetch has the error of no match as its cause', async (t) => {
    const { agent } = mocking(t)
    const error = await failure(fetch(`${ORIGIN}/`, { dispatcher: agent }))
    assert.ok(error instanceof TypeError)
    assert.ok(error.cause instanceof MockNotMatchedError)
  })

  test('the event unmatched, agent.unmatched and assertNoUnmatched have the error of no match', async (t) => {
    const { agent, send } = mocking(t)
    const events: unknown[] = []
    agent.on('unmatched', (error: unknown) => events.push(error))
    agent.assertNoUnmatched()
    const error = await failure(send('/x'))
    assert.deepEqual(events, [error])
    assert.deepEqual(agent.unmatched, [error])
    assert.throws(
      () => agent.assertNoUnmatched(),
      (thrown: Error) => {
        assert.ok(thrown instanceof errors.UndiciError)
        assert.equal(thrown.message, `1 request matched no interceptor:\n\n${error.message}`)
        return true
      },
    )
  })
})
