/** The forms of a reply: status, data of every kind, headers and trailers, functions, errors. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { rawList } from '../../src/request/received-fields.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { mocking, ORIGIN } from './mocking.ts'

describe('the data of a reply', () => {
  const bytes = Buffer.from('bytes')
  const cases: [string, unknown, string][] = [
    ['text', 'text', 'text'],
    ['nothing', undefined, ''],
    ['a Buffer', bytes, 'bytes'],
    ['an ArrayBuffer', new Uint8Array(bytes).buffer, 'bytes'],
    ['a view', new DataView(new Uint8Array(bytes).buffer), 'bytes'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['an array', [1, 'b'], '[1,"b"]'],
    ['null', null, 'null'],
    ['a number', 42, '42'],
    ['true', true, 'true'],
    ['zero', 0, ''],
    ['false', false, ''],
    ['a Readable', () => Readable.from(['a', Buffer.from('b')]), 'ab'],
    ['a web stream', () => new Response('web').body, 'web'],
    ['a Blob', () => new Blob(['blob']), 'blob'],
    ['a promise', Promise.resolve('late'), 'late'],
    ['URLSearchParams', new URLSearchParams({ a: 'b c' }), 'a=b+c'],
    [
      'a generator',
      function* () {
        yield 'x'
        yield new Uint8Array([0x79])
      },
      'xy',
    ],
  ]
  for (const [name, data, expected] of cases) {
    test(`data of a reply: ${name}`, async (t) => {
      const { pool, send } = mocking(t)
      pool.intercept({ path: '/' }).reply(200, data)
      const { text, headers } = await send('/')
      assert.equal(text, expected)
      assert.deepEqual(headers, {})
    })

    test(`data of a reply: ${name}, from functions`, async (t) => {
      const { pool, send } = mocking(t)
      const make = typeof data === 'function' ? (data as () => unknown) : () => data
      pool.intercept({ path: '/' }).reply(200, () => make())
      pool.intercept({ path: '/' }).reply(200, async () => make())
      pool.intercept({ path: '/' }).reply(() => ({ statusCode: 200, data: make() }))
      pool.intercept({ path: '/' }).reply(async () => ({ statusCode: 200, data: make() }))
      for (let i = 0; i < 4; i++) assert.equal((await send('/')).text, expected)
    })
  }

  test('the data of a reply function may be a function or a promise in turn', async (t) => {
    for (const wire of [false, true]) {
      const { pool, send } = mocking(t, { wire })
      const interceptor = pool.intercept({ path: '/', method: 'POST' })
      const data = ({ body }: { body?: unknown }): string => `got ${body}`
      interceptor.reply(() => ({ statusCode: 200, data }))
      interceptor.reply(async () => ({ statusCode: 200, data: async (opts: object) => data(opts) }))
      interceptor.reply((opts) => ({ statusCode: 200, data: Promise.resolve(data(opts)) }))
      for (let i = 0; i < 3; i++) {
        assert.equal((await send('/', { method: 'POST', body: 'sent' })).text, 'got sent')
      }
    }
  })

  test('a promise as data that rejects fails the request, and nothing before it', async (t) => {
    const { pool, send } = mocking(t)
    const error = new Error('mine')
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    t.after(() => process.off('unhandledRejection', onUnhandled))
    pool.intercept({ path: '/' }).reply(200, Promise.reject(error))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(unhandled, [])
    assert.equal(await failure(send('/')), error)
    pool.intercept({ path: '/' }).reply(() => ({ statusCode: 200, data: () => Promise.reject(error) }))
    assert.equal(await failure(send('/')), error)
  })

  test('a Blob as data is read for each request', async (t) => {
    for (const wire of [false, true]) {
      const { pool, send } = mocking(t, { wire })
      pool
        .intercept({ path: '/' })
        .reply(200, new Blob(['blob']))
        .persist()
      for (let i = 0; i < 2; i++) assert.equal((await send('/')).text, 'blob')
    }
  })

  test('the data of a reply is copied for each request, whose caller may transfer it', async (t) => {
    const { pool, agent } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'x'.repeat(100)).persist()
    for (let i = 0; i < 2; i++) {
      const { body } = await agent.request({ origin: ORIGIN, path: '/', method: 'GET' })
      const buffer = await body.arrayBuffer()
      assert.equal(structuredClone(buffer, { transfer: [buffer] }).byteLength, 100)
    }
  })

  test('a piece of a stream that is neither text nor bytes fails the request', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, () => Readable.from([{}]))
    assert.match((await failure(send('/'))).message, /neither a string nor bytes/)
  })
})

describe('headers and trailers of a reply', () => {
  test('headers of a reply as objects, lists, and Headers; arrays repeat', async (t) => {
    const { pool, send } = mocking(t)
    for (const headers of [
      { 'X-A': 'b', n: 5, list: ['1', '2'] },
      ['X-A', 'b', 'n', '5', 'list', '1', 'list', '2'],
      new Map<string, unknown>([
        ['X-A', 'b'],
        ['n', '5'],
        ['list', ['1', '2']],
      ]),
    ]) {
      pool.intercept({ path: '/' }).reply(200, '', { headers: headers as never, trailers: { 'X-T': 't' } })
      const answer = await send('/')
      assert.deepEqual(answer.headers, { 'x-a': 'b', n: '5', list: ['1', '2'] })
      assert.deepEqual(answer.trailers, { 'x-t': 't' })
    }
  })

  test('default headers are for later replies, and names are compared in any letter case', async (t) => {
    const { pool, send } = mocking(t)
    const interceptor = pool.intercept({ path: '/' })
    interceptor.reply(200)
    interceptor
      .defaultReplyHeaders({ A: '1', b: '1' })
      .defaultReplyTrailers({ t: '1', U: '1' })
      .reply(200, '', { headers: { B: '2' }, trailers: { u: '2' } })
    interceptor.reply(() => ({ statusCode: 200, responseOptions: { headers: { B: '3' } } }))
    assert.deepEqual((await send('/')).headers, {})
    const second = await send('/')
    assert.deepEqual(
      [second.headers, second.trailers],
      [
        { a: '1', b: '2' },
        { t: '1', u: '2' },
      ],
    )
    const third = await send('/')
    assert.deepEqual(
      [third.headers, third.trailers],
      [
        { a: '1', b: '3' },
        { t: '1', u: '1' },
      ],
    )
  })

  test('replyContentLength counts bytes, and own fields win', async (t) => {
    const { pool, send } = mocking(t)
    const interceptor = pool.intercept({ path: '/' })
    interceptor.reply(200, 'before')
    interceptor.replyContentLength().defaultReplyHeaders({ 'Content-Length': '99' })
    const length = async (): Promise<unknown> => (await send('/')).headers['content-length']
    assert.equal(await length(), undefined)
    for (const [data, expected] of [
      ['äö', '4'],
      [() => 'äöü', '6'],
      [new ArrayBuffer(3), '3'],
      [{ ä: 1 }, '8'],
      ['', '0'],
    ] as const) {
      interceptor.reply(200, data)
      assert.equal(await length(), expected)
    }
    interceptor.reply(() => ({ statusCode: 200, data: 'ä' }))
    assert.equal(await length(), '2')
    interceptor.reply(200, 'own', { headers: { 'content-length': '3' } })
    assert.equal(await length(), '3')
  })

  test('headers and trailers are checked when the reply is defined', (t) => {
    const interceptor = mocking(t).pool.intercept({ path: '/' })
    for (const [headers, message] of [
      [{ 'bad name': '1' }, 'invalid header key'],
      [{ name: 'line\r\nbreak' }, 'invalid name header'],
      ['text', 'headers must be an object or an array'],
    ] as const) {
      const expected = { name: 'InvalidArgumentError', message }
      assert.throws(() => interceptor.reply(200, '', { headers: headers as object as [] }), expected)
      assert.throws(() => interceptor.reply(200, '', { trailers: headers as object as [] }), expected)
    }
  })

  test('rawHeaders of a reply keep the names as given, and the status text is the standard one', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(404, '', { headers: { 'X-Ab': '1' } })
    pool.intercept({ path: '/' }).reply(599)
    const texts = [0, 1].map(() => {
      const handler = new RecordingHandler()
      agent.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
      return [handler.statusText, ...(rawList(handler.controller!.rawHeaders) ?? []).map(String)]
    })
    assert.deepEqual(texts, [['Not Found', 'X-Ab', '1'], ['unknown']])
  })
})

describe('the arguments of a reply', () => {
  test('the arguments of reply are checked', (t) => {
    const interceptor = mocking(t).pool.intercept({ path: '/' })
    const refusals: [() => unknown, string][] = [
      [() => interceptor.reply(undefined as never), 'statusCode must be defined'],
      [() => interceptor.reply(200, '', null as never), 'responseOptions must be an object'],
      [() => interceptor.reply(200, '', 'x' as never), 'responseOptions must be an object'],
      [() => interceptor.reply(103), 'statusCode must not be informational'],
      [() => interceptor.reply(20.5), 'statusCode must be an integer from 200 to 999'],
      [() => interceptor.reply(1000), 'statusCode must be an integer from 200 to 999'],
      [() => interceptor.replyWithError(undefined), 'error must be defined'],
      [() => interceptor.replyWithError(null), 'error must be defined'],
      [() => interceptor.defaultReplyHeaders(undefined as never), 'headers must be defined'],
      [() => interceptor.defaultReplyTrailers(undefined as never), 'trailers must be defined'],
      [
        () => interceptor.reply(200, '', { informational: [{ statusCode: 200 }] }),
        'statusCode of an informational reply must be an integer from 102 to 199',
      ],
    ]
    for (const [call, message] of refusals) assert.throws(call, { name: 'InvalidArgumentError', message })
    const scope = interceptor.reply(200)
    for (const value of [0, -1, 1.5, '1', undefined]) {
      assert.throws(() => scope.delay(value as number), {
        name: 'InvalidArgumentError',
        message: 'waitInMs must be a valid integer > 0',
      })
      assert.throws(() => scope.times(value as number), {
        name: 'InvalidArgumentError',
        message: 'repeatTimes must be a valid integer > 0',
      })
    }
    assert.equal(scope.delay(1).times(2).persist(), scope)
  })

  test('what a reply function returns is checked for each request', async (t) => {
    const { pool, send } = mocking(t)
    for (const [made, message] of [
      [5, 'reply options callback must return an object'],
      [null, 'reply options callback must return an object'],
      [{ data: 1 }, 'statusCode must be defined'],
      [{ statusCode: 200, responseOptions: null }, 'responseOptions must be an object'],
      [{ statusCode: 200, responseOptions: { headers: { 'a b': '1' } } }, 'invalid header key'],
    ] as const) {
      pool.intercept({ path: '/' }).reply(() => made as never)
      pool.intercept({ path: '/' }).reply(async () => made as never)
      for (let i = 0; i < 2; i++) {
        const error = await failure(send('/'))
        assert.deepEqual([error.name, error.message], ['InvalidArgumentError', message])
      }
    }
  })
})

describe('functions', () => {
  test('reply functions get the options of the request, with headers as an object', async (t) => {
    const { pool, agent } = mocking(t)
    const seen: Record<string, unknown>[] = []
    pool
      .intercept({ path: '/?a=1', method: 'POST' })
      .reply(200, (opts) => void seen.push({ ...opts }))
      .persist()
    pool.intercept({ path: '/all', method: 'POST' }).reply((opts) => {
      seen.push({ ...opts })
      return { statusCode: 200 }
    })
    const request = { origin: ORIGIN, method: 'POST', body: 'x' } as const
    await agent.request({ ...request, path: '/?a=1', headers: { 'X-A': '1' } })
    await agent.request({ ...request, path: '/?a=1', headers: ['X-A', '1'], body: new Blob(['x']) })
    await agent.request({ ...request, path: '/all', headers: new Headers({ 'x-a': '1' }) })
    assert.deepEqual(
      seen.map(({ path, origin, method, headers, body, params }) => [
        path,
        origin,
        method,
        headers,
        body,
        params,
      ]),
      [
        ['/?a=1', ORIGIN, 'POST', { 'X-A': '1' }, 'x', {}],
        ['/?a=1', ORIGIN, 'POST', { 'X-A': '1' }, 'x', {}],
        ['/all', ORIGIN, 'POST', { 'x-a': '1' }, 'x', {}],
      ],
    )
  })

  test('reply functions run for each request', async (t) => {
    const { agent, pool, send } = mocking(t)
    let count = 0
    pool
      .intercept({ path: '/times' })
      .reply(() => ({ statusCode: 200, data: `${++count}` }))
      .times(3)
    pool
      .intercept({ path: '/persist' })
      .reply(200, () => `${++count}`)
      .persist()
    const pending = (): number[] => agent.pendingInterceptors().map(({ timesInvoked }) => timesInvoked)
    assert.deepEqual(pending(), [0, 0])
    assert.equal((await send('/times')).text, '1')
    assert.deepEqual(pending(), [1, 0])
    assert.equal((await send('/times')).text, '2')
    assert.equal((await send('/times')).text, '3')
    assert.deepEqual(pending(), [0])
    assert.equal((await send('/persist')).text, '4')
    assert.deepEqual(pending(), [])
    assert.equal((await send('/persist')).text, '5')
  })

  test('reply functions that throw or reject fail the request with that value', async (t) => {
    const { pool, send } = mocking(t)
    const error = new Error('in the function')
    const interceptor = pool.intercept({ path: '/' })
    const fail = (): never => {
      throw error
    }
    interceptor.reply(200, fail)
    interceptor.reply(200, async () => fail())
    interceptor.reply(fail)
    interceptor.reply(async () => fail())
    for (let i = 0; i < 4; i++) assert.equal(await failure(send('/')), error)
  })
})

describe('replyWithError', () => {
  for (const error of [new Error('x'), 'text', { code: 'ECONNRESET' }, 0]) {
    test(`replyWithError gives the caller the value itself: ${typeof error}`, async (t) => {
      const { pool, send } = mocking(t)
      pool.intercept({ path: '/' }).replyWithError(error)
      assert.equal(
        await send('/').then(
          () => assert.fail(),
          (reason: unknown) => reason,
        ),
        error,
      )
    })
  }
})
