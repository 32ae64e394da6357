/** The mock agent: its options, its pools, the dispatcher that it sends through, and its end. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  Agent,
  Client,
  Dispatcher,
  errors,
  getGlobalDispatcher,
  MockAgent,
  MockClient,
  MockPool,
  Pool,
  request,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, WIRES, wireOptions } from '../support/wire.ts'
import { mocking, ORIGIN } from './mocking.ts'

describe('the options of a mock agent', () => {
  const refusals: [object, string][] = [
    [{ agent: {} }, 'Argument opts.agent must implement Agent'],
    [{ agent: 5 }, 'Argument opts.agent must implement Agent'],
    [{ enableCallHistory: 'x' }, 'options.enableCallHistory must to be a boolean'],
    [
      { acceptNonStandardSearchParameters: 1 },
      'options.acceptNonStandardSearchParameters must to be a boolean',
    ],
    [{ ignoreTrailingSlash: 1 }, 'options.ignoreTrailingSlash must to be a boolean'],
    [{ strict: 1 }, 'options.strict must to be a boolean'],
    [{ headersTimeout: -1 }, 'headersTimeout must be a positive integer or zero'],
  ]
  for (const [options, message] of refusals) {
    test(`${JSON.stringify(options)} is refused`, () => {
      assert.throws(() => new MockAgent(options), { name: 'InvalidArgumentError', message })
    })
  }

  test('an option of a mock agent that is undefined is the same as absent', async () => {
    const agent = new MockAgent({
      enableCallHistory: undefined,
      ignoreTrailingSlash: undefined,
      agent: undefined,
    })
    assert.equal(agent.getCallHistory(), undefined)
    await agent.close()
  })

  test('MockPool and MockClient need an agent', () => {
    const message = 'Argument opts.agent must implement Agent'
    for (const Kind of [MockPool, MockClient]) {
      assert.throws(() => new Kind(ORIGIN, {} as never), { name: 'InvalidArgumentError', message })
      assert.throws(() => new Kind(ORIGIN, undefined as never), { message })
    }
  })
})

describe('get', () => {
  test('get makes a pool, or a client for one connection', (t) => {
    const { agent, pool } = mocking(t)
    assert.ok(agent instanceof Dispatcher)
    assert.ok(pool instanceof MockPool && pool instanceof Pool)
    const client = mocking(t, { connections: 1 }).agent.get(ORIGIN)
    assert.ok(client instanceof MockClient && client instanceof Client)
  })

  test('get takes all spellings of an origin for one', async (t) => {
    const { agent, pool } = mocking(t)
    for (const origin of ['http://a.test/', 'HTTP://A.TEST', 'http://a.test:80', new URL('http://a.test')]) {
      assert.equal(agent.get(origin), pool)
    }
    pool.intercept({ path: '/' }).reply(204).persist()
    for (const origin of ['http://a.test/', 'http://a.test:80', new URL('http://a.test')]) {
      const response = await agent.request({ origin, path: '/', method: 'GET' })
      assert.equal(response.statusCode, 204)
    }
  })

  test('get: a RegExp and a function accept origins; the first that does is bound for good', async (t) => {
    const { agent } = mocking(t)
    const seen: string[] = []
    const pool = agent.get(/\.example$/)
    assert.equal(agent.get(ORIGIN) === (pool as unknown), false)
    agent
      .get((origin) => {
        seen.push(origin)
        return origin.startsWith('https:')
      })
      .intercept({ path: '/' })
      .reply(200, 'function')
      .persist()
    pool.intercept({ path: '/' }).reply(200, 'expression').persist()
    const text = async (origin: string): Promise<string> =>
      (await agent.request({ origin, path: '/', method: 'GET' })).body.text()
    assert.equal(await text('https://b.example'), 'expression')
    assert.equal(await text('https://c.test'), 'function')
    assert.equal(await text('https://c.test'), 'function')
    assert.deepEqual(seen, ['https://c.test'])
    // Interceptors are shared with the origin that was bound.
    agent.get('https://c.test').intercept({ path: '/more' }).reply(200, 'more')
    assert.equal(agent.pendingInterceptors().length, 1)
  })

  test('with ignoreTrailingSlash one slash at the end of an origin is ignored', (t) => {
    const { agent, pool } = mocking(t, { ignoreTrailingSlash: true })
    assert.equal(agent.get(`${ORIGIN}/`), pool)
  })
})

describe('dispatch', () => {
  test('dispatch leaves the options alone and returns true', (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'ok')
    const options = { origin: 'HTTP://A.test/', path: '/', method: 'GET' }
    const copy = { ...options }
    const handler = new RecordingHandler()
    assert.equal(agent.dispatch(options, handler), true)
    assert.deepEqual(options, copy)
    assert.equal(handler.body, 'ok')
  })

  test('dispatch on a mock agent needs an origin', async (t) => {
    const error = await failure(mocking(t).agent.request({ path: '/', method: 'GET' }))
    assert.equal(error.message, 'opts.origin must be a non-empty string or URL.')
  })

  test('deactivate sends everything, whatever net connect says', async (t) => {
    const { agent, pool } = mocking(t, {
      connect: (_, callback) => callback(new Error('to the network'), null),
    })
    pool.intercept({ path: '/' }).reply(200)
    assert.equal(agent.isMockActive, true)
    agent.deactivate()
    assert.equal(agent.isMockActive, false)
    const get = { origin: ORIGIN, path: '/', method: 'GET' } as const
    assert.equal((await failure(agent.request(get))).message, 'to the network')
    agent.activate()
    assert.equal((await agent.request(get)).statusCode, 200)
  })
})

overEachWire('the dispatcher that carries the requests', (wire) => {
  test('the option agent may be an agent, whose own requests are mocked, too', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.end('real'))
    const real = new Agent(wireOptions(wire))
    const agent = new MockAgent({ agent: real })
    t.after(() => agent.destroy())
    agent.get(origin.url).intercept({ path: '/mocked' }).reply(200, 'mocked').persist()
    for (const dispatcher of [agent, real]) {
      const texts = []
      for (const path of ['/mocked', '/other']) {
        const { body } = await dispatcher.request({ origin: origin.url, path, method: 'GET' })
        texts.push(await body.text())
      }
      assert.deepEqual(texts, ['mocked', 'real'])
    }
  })

  test('the option agent may be a client', async (t) => {
    const origin = await startOrigin(t, wire, (_, response) => response.end('real'))
    const agent = new MockAgent({ agent: new Client(origin.url, wireOptions(wire)) })
    t.after(() => agent.destroy())
    agent.get(origin.url).intercept({ path: '/mocked' }).reply(200, 'mocked')
    for (const [path, expected] of [
      ['/mocked', 'mocked'],
      ['/other', 'real'],
    ] as const) {
      const { body } = await agent.request({ origin: origin.url, path, method: 'GET' })
      assert.equal(await body.text(), expected)
    }
  })
})

describe('the end of a mock agent', () => {
  test('close of a mock agent clears the history and closes pools; then requests and close fail', async () => {
    const agent = new MockAgent({ enableCallHistory: true })
    const pool = agent.get(ORIGIN)
    pool.intercept({ path: '/' }).reply(200).persist()
    await agent.request({ origin: ORIGIN, path: '/', method: 'GET' })
    await agent.close()
    assert.deepEqual([agent.closed, agent.destroyed, pool.closed], [true, true, true])
    assert.equal(agent.getCallHistory()!.calls().length, 0)
    const get = { origin: ORIGIN, path: '/', method: 'GET' } as const
    assert.ok((await failure(agent.request(get))) instanceof errors.ClientDestroyedError)
    assert.ok((await failure(agent.close())) instanceof errors.ClientDestroyedError)
    assert.ok((await failure(pool.request(get))) instanceof errors.ClientDestroyedError)
  })

  test('close of a mock agent waits for replies, destroy fails them', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'late').delay(20)
    const get = { origin: ORIGIN, path: '/', method: 'GET' } as const
    const response = agent.request(get)
    await agent.close()
    assert.equal(await (await response).body.text(), 'late')

    const other = mocking(t)
    other.pool.intercept({ path: '/' }).reply(200, 'late').delay(60_000)
    const error = failure(other.agent.request(get))
    await other.agent.destroy(new Error('enough'))
    assert.equal((await error).message, 'enough')
  })

  test('closing a pool makes the agent forget it and its interceptors', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    await pool.close()
    assert.deepEqual(agent.pendingInterceptors(), [])
    assert.notEqual(agent.get(ORIGIN), pool)
    const error = await failure(agent.request({ origin: ORIGIN, path: '/', method: 'GET' }))
    assert.match(error.message, /0 interceptor\(s\) remaining out of 0 defined/)
  })

  for (const options of [{}, { connections: 1 }, { wire: true }, { wire: true, protocol: 'h2' }] as const) {
    test(`a pool waits for its requests or fails them: ${JSON.stringify(options)}`, async (t) => {
      const { agent } = mocking(t, options)
      for (const origin of ['http://b.test', /c\.test/] as const) {
        const target = { origin: String(origin).includes('b') ? 'http://b.test' : 'http://c.test', path: '/' }
        const closing = agent.get(origin)
        closing.intercept({ path: '/' }).reply(200, 'late').delay(20)
        const late = agent.request({ ...target, method: 'GET' })
        await closing.close()
        assert.equal(await (await late).body.text(), 'late')

        const destroyed = agent.get(origin)
        destroyed.intercept({ path: '/' }).reply(200).delay(60_000).persist()
        const errors = [
          failure(agent.request({ ...target, method: 'GET' })),
          failure(destroyed.request({ ...target, method: 'GET' })),
        ]
        await destroyed.destroy(new Error('mine'))
        for (const error of errors) assert.equal((await error).message, 'mine')

        const again = agent.get(origin)
        again.intercept({ path: '/' }).reply(200, 'again')
        assert.equal(await (await agent.request({ ...target, method: 'GET' })).body.text(), 'again')
      }
    })
  }

  test('cleanMocks drops interceptors and their count', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/' }).reply(200)
    pool.cleanMocks()
    assert.match((await failure(send('/'))).message, /0 interceptor\(s\) remaining out of 0 defined/)
  })

  test('reset of a mock agent removes what a test has left', async (t) => {
    const { agent, pool, send } = mocking(t, { enableCallHistory: true })
    pool.intercept({ path: '/' }).reply(200)
    agent.get(/x/).intercept({ path: '/' }).reply(200)
    await failure(send('/nothing'))
    agent.deactivate()
    agent.reset()
    assert.deepEqual(
      [agent.pendingInterceptors(), agent.unmatched, agent.getCallHistory()!.calls(), agent.isMockActive],
      [[], [], [], true],
    )
    pool.intercept({ path: '/' }).reply(200, 'again')
    assert.equal((await send('/')).text, 'again')
  })
})

describe('install', () => {
  test('install makes the agent the global dispatcher, also of the fetch of the runtime, and uninstall restores', async (t) => {
    const before = getGlobalDispatcher()
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).reply(200, 'mocked').persist()
    assert.equal(agent.install(), agent)
    assert.equal(getGlobalDispatcher(), agent)
    assert.equal(await (await request(`${ORIGIN}/`)).body.text(), 'mocked')
    assert.equal(await (await globalThis.fetch(`${ORIGIN}/`)).text(), 'mocked')
    agent.uninstall()
    assert.equal(getGlobalDispatcher(), before)
    const origin = await startOrigin(t, WIRES[0]!, (_, response) => response.end('real'))
    assert.equal(await (await globalThis.fetch(origin.url)).text(), 'real')
  })

  test('install ends with the agent', async (t) => {
    const before = getGlobalDispatcher()
    const { agent } = mocking(t)
    agent.install()
    await agent.close()
    assert.equal(getGlobalDispatcher(), before)
  })
})

describe('strict', () => {
  test('disposal of a strict agent fails for pending interceptors', async () => {
    const agent = new MockAgent({ strict: true })
    agent.get(ORIGIN).intercept({ path: '/' }).reply(200)
    assert.match((await failure(agent[Symbol.asyncDispose]())).message, /^1 interceptor is pending/)
    assert.equal(agent.destroyed, true)
  })

  test('disposal of a strict agent fails for unmatched requests whose errors were ignored', async () => {
    const agent = new MockAgent({ strict: true })
    agent.disableNetConnect()
    await agent.request({ origin: ORIGIN, path: '/x', method: 'GET' }).catch(() => {})
    const error = await failure(agent[Symbol.asyncDispose]())
    assert.match(
      error.message,
      /^1 request matched no interceptor:\n\nMock dispatch not matched for path '\/x'/,
    )
  })

  test('disposal only closes without strict, and if all is well', async () => {
    const loose = new MockAgent()
    loose.get(ORIGIN).intercept({ path: '/' }).reply(200)
    await loose[Symbol.asyncDispose]()
    await new MockAgent({ strict: true })[Symbol.asyncDispose]()
  })
})

describe('a route', () => {
  test('a route names method, origin and path', async (t) => {
    const { agent, send } = mocking(t)
    agent.intercept('POST http://a.test/users/:id/posts/:post').reply(200, ({ params }) => params)
    agent.intercept('http://a.test/plain?b=2&a=1').reply(200, 'plain')
    agent.intercept('GET http://a.test').reply(200, 'root')
    const { text } = await send('/users/4%202/posts/x', { method: 'POST' })
    assert.deepEqual(JSON.parse(text), { id: '4 2', post: 'x' })
    assert.equal((await send('/plain?a=1&b=2')).text, 'plain')
    assert.equal((await send('/')).text, 'root')
  })

  test('a route with a query, and with other conditions', async (t) => {
    const { agent, send } = mocking(t)
    agent
      .intercept('GET http://a.test/u/:id?x=1', { headers: { h: '1' } })
      .reply(200, 'ok')
      .persist()
    assert.equal((await send('/u/1?x=1', { headers: { h: '1' } })).text, 'ok')
    for (const path of ['/u/1', '/u/1?x=2', '/u/1/2?x=1']) {
      assert.match((await failure(send(path, { headers: { h: '1' } }))).message, /not matched for path/)
    }
    assert.match((await failure(send('/u/1?x=1'))).message, /not matched for headers/)
  })

  test('a route that is not a method and a URL is refused', (t) => {
    const { agent } = mocking(t)
    for (const route of ['/users', 'GET /users', '', 5]) {
      assert.throws(() => agent.intercept(route as string), { name: 'InvalidArgumentError' })
    }
  })
})

test('the agent reports what the dispatcher for real requests does', async (t) => {
  const agent = new MockAgent({ connect: (_, callback) => callback(new Error('unreachable'), null) })
  t.after(() => agent.destroy())
  const events: unknown[] = []
  agent.on('connectionError', (_url, targets, error) => events.push(targets[0] === agent, error.message))
  await failure(agent.request({ origin: ORIGIN, path: '/', method: 'GET' }))
  assert.deepEqual(events, [true, 'unreachable'])
  assert.equal(agent.webSocketOptions.maxPayloadSize, new Agent().webSocketOptions.maxPayloadSize)
})
