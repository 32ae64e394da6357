/** The history of calls of a mock agent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MockAgent, MockCallHistory, MockCallHistoryLog } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'
import { mocking, ORIGIN } from './mocking.ts'

const POST = {
  origin: ORIGIN,
  path: '/x?a=1&a=2#frag',
  method: 'POST',
  headers: { 'X-A': '1' },
  body: 'hi',
} as const

describe('when calls are logged', () => {
  test('calls are logged after enableCallHistory, until disableCallHistory', async (t) => {
    const { agent, pool, send } = mocking(t)
    pool.intercept({ path: '/' }).reply(200).persist()
    assert.equal(agent.enableCallHistory(), agent)
    assert.equal(agent.getCallHistory(), undefined)
    await send('/')
    const history = agent.getCallHistory()!
    assert.ok(history instanceof MockCallHistory)
    assert.equal(agent.disableCallHistory(), agent)
    await send('/')
    assert.equal(history.calls().length, 1)
    agent.clearCallHistory()
    assert.equal(history.calls().length, 0)
  })

  test('calls are logged with the option from the beginning, matched or not, on the agent and on pools', async (t) => {
    const { agent, pool, send } = mocking(t, { enableCallHistory: true })
    assert.deepEqual(agent.getCallHistory()!.calls(), [])
    pool.intercept({ path: '/' }).reply(200).persist()
    await send('/')
    await failure(send('/nothing'))
    await pool.request({ path: '/', method: 'GET' })
    assert.deepEqual(
      agent
        .getCallHistory()!
        .calls()
        .map(({ fullUrl, matched }) => [fullUrl, matched]),
      [
        ['http://a.test/', true],
        ['http://a.test/nothing', false],
        ['http://a.test/', true],
      ],
    )
  })
})

test('a request whose body fails before it can be matched is logged with the error', async (t) => {
  const { agent, pool } = mocking(t, { enableCallHistory: true })
  pool.intercept({ path: '/', method: 'POST', body: 'x' }).reply(200)
  const broken = new Error('broken')
  async function* body() {
    yield 'x'
    throw broken
  }
  const call = { origin: ORIGIN, path: '/', method: 'POST', body: body() } as const
  assert.equal(await failure(agent.request(call)), broken)
  assert.equal(agent.getCallHistory()!.lastCall()!.error, broken)
})

describe('a log', () => {
  test('a log has the parts of the request', () => {
    const log = new MockCallHistoryLog(POST)
    assert.deepEqual(
      { ...log },
      {
        body: 'hi',
        headers: { 'X-A': '1' },
        method: 'POST',
        fullUrl: 'http://a.test/x?a=1&a=2#frag',
        origin: ORIGIN,
        path: '/x',
        searchParams: { a: '2' },
        protocol: 'http:',
        host: 'a.test',
        port: '',
        hash: '#frag',
      },
    )
    assert.deepEqual(log.url.searchParams.getAll('a'), ['1', '2'])
    assert.deepEqual(
      [...log.toMap().keys()],
      [
        'protocol',
        'host',
        'port',
        'origin',
        'path',
        'hash',
        'searchParams',
        'fullUrl',
        'method',
        'body',
        'headers',
      ],
    )
    assert.equal(
      String(log),
      'protocol->http:|host->a.test|port->|origin->http://a.test|path->/x|hash->#frag|searchParams->{"a":"2"}|fullUrl->http://a.test/x?a=1&a=2#frag|method->POST|body->hi|headers->{"X-A":"1"}',
    )
  })

  test('a log of an absolute URL, and with a query', () => {
    const absolute = new MockCallHistoryLog({ path: 'http://b.test:8080/p?q=1', method: 'GET' })
    assert.deepEqual([absolute.host, absolute.port, absolute.body], ['b.test:8080', '8080', undefined])
    const { searchParams } = new MockCallHistoryLog({ origin: ORIGIN, path: '/', query: { z: 1 } })
    assert.deepEqual(searchParams, { z: '1' })
  })

  test('a log of what is not a URL is refused', () => {
    assert.throws(() => new MockCallHistoryLog({ origin: 'x', path: '/' }), {
      name: 'InvalidArgumentError',
      message: 'An error occurred when computing MockCallHistoryLog.url',
    })
  })

  test('a log shows what became of the request', async (t) => {
    const origin = await startOrigin(t, WIRES[0]!, (_, response) => response.writeHead(404).end())
    const { agent, pool, send } = mocking(t, { enableCallHistory: true })
    const error = new Error('mocked')
    pool.intercept({ path: '/' }).reply(201)
    pool.intercept({ path: '/' }).replyWithError(error)
    await send('/')
    await failure(send('/'))
    const unmatched = await failure(send('/'))
    agent.enableNetConnect()
    await (await agent.request({ origin: origin.url, path: '/', method: 'GET' })).body.dump()
    const calls = agent.getCallHistory()!.calls()
    assert.deepEqual(
      calls.map((log) => [log.matched, log.interceptor?.path ?? null, log.statusCode, log.error]),
      [
        [true, '/', 201, null],
        [true, '/', null, error],
        [false, null, null, unmatched],
        [false, null, 404, null],
      ],
    )
  })
})

describe('the history', () => {
  async function history(): Promise<MockCallHistory> {
    const agent = new MockAgent({ enableCallHistory: true })
    agent.get(/./).intercept({ path: /./, method: /./ }).reply(200).persist()
    await agent.request(POST)
    await agent.request({ origin: 'https://b.test:8443', path: '/y', method: 'PUT' })
    await agent.request({ origin: 'https://b.test:8443', path: '/x', method: 'GET' })
    const calls = agent.getCallHistory()!
    await agent.destroy()
    for (const log of [POST, { ...POST, origin: 'https://b.test:8443', method: 'PUT', path: '/y' }])
      calls.record(log)
    calls.record({ origin: 'https://b.test:8443', path: '/x', method: 'GET' })
    return calls
  }

  test('the call history has the first, the last, the nth, and is iterable', async () => {
    const calls = await history()
    assert.equal(calls.calls().length, 3)
    assert.equal(calls.firstCall(), calls.calls()[0])
    assert.equal(calls.lastCall(), calls.calls()[2])
    assert.equal(calls.nthCall(2), calls.calls()[1])
    assert.equal(calls.nthCall(9), undefined)
    assert.deepEqual([...calls], calls.calls())
    calls.clear()
    assert.deepEqual([calls.calls(), calls.firstCall(), calls.lastCall()], [[], undefined, undefined])
    for (const [position, message] of [
      ['1', 'nthCall must be called with a number'],
      [1.5, 'nthCall must be called with an integer'],
      [0, 'nthCall must be called with a positive value. use firstCall or lastCall instead'],
    ] as const) {
      assert.throws(() => calls.nthCall(position as number), { name: 'InvalidArgumentError', message })
    }
  })

  test('the call history is filtered by one property', async () => {
    const calls = await history()
    const found = [
      calls.filterCallsByProtocol('https:'),
      calls.filterCallsByHost('b.test:8443'),
      calls.filterCallsByPort(/^84/g),
      calls.filterCallsByPort(''),
      calls.filterCallsByOrigin(ORIGIN),
      calls.filterCallsByPath('/x'),
      calls.filterCallsByPath('/'),
      calls.filterCallsByHash('#frag'),
      calls.filterCallsByFullUrl(/a=1/),
      calls.filterCallsByMethod('PUT'),
      calls.filterCallsByMethod(null),
      calls.filterCallsByMethod(undefined),
    ]
    assert.deepEqual(
      found.map((list) => list.length),
      [2, 2, 2, 1, 1, 2, 0, 1, 1, 1, 0, 0],
    )
    assert.throws(() => calls.filterCallsByPort(1 as never), {
      name: 'InvalidArgumentError',
      message: 'port parameter should be one of string, regexp, undefined or null',
    })
    assert.throws(() => calls.filterCallsByFullUrl({} as never), /^InvalidArgumentError: fullUrl parameter/)
  })

  test('the call history is filtered by a function, a RegExp on the text, and conditions', async () => {
    const calls = await history()
    assert.equal(calls.filterCalls(({ method }) => method === 'GET').length, 1)
    assert.equal(calls.filterCalls(/path->\/x\|/).length, 2)
    assert.equal(calls.filterCalls({ method: 'GET', path: '/x' }).length, 2)
    assert.equal(calls.filterCalls({ method: 'GET', path: '/x' }, { operator: 'and' }).length, 1)
    assert.equal(calls.filterCalls({ method: 'GET', path: '/x' }, { operator: 'OR' }).length, 2)
    assert.deepEqual(calls.filterCalls({ colour: 'red' }, { operator: 'AND' }), [])
    assert.equal(calls.filterCalls({}).length, 3)
    assert.equal(calls.filterCalls({ other: 'x' }).length, 0)
    assert.throws(() => calls.filterCalls(1 as never), {
      name: 'InvalidArgumentError',
      message: 'criteria parameter should be one of function, regexp, or object',
    })
    assert.throws(() => calls.filterCalls({ method: 'GET' }, { operator: 'x' as never }), {
      name: 'InvalidArgumentError',
      message: "options.operator must to be a case insensitive string equal to 'OR' or 'AND'",
    })
  })
})
