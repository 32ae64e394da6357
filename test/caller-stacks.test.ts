/** Stacks of bad arguments begin at the caller's line, in whatever public function they are noticed. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as library from '../src/index.ts'
import { ScriptedDispatcher } from './api/scripted-dispatcher.ts'
import { failure } from './support/exchange.ts'

const BAD = { headers: { 'not a name': '1' } }
const HERE = /caller-stacks\.test/

function secondLine(error: unknown): string {
  const { stack } = error as Error
  return stack!.split('\n').find((line) => line.startsWith('    at '))!
}

describe('what throws', () => {
  const { Agent, BalancedPool, Client, interceptors, MockAgent, Pool, ProxyAgent, RoundRobinPool } = library
  const wrong = { bodyTimeout: -1 }
  const calls: Record<string, () => unknown> = {
    Client: () => new Client('http://a.test', wrong),
    'a subclass of Client': () => new (class extends Client {})('http://a.test', wrong),
    'the URL of a Client': () => new Client('ftp://a.test'),
    'connect of a Client': () => new Client('http://a.test', { connect: { maxCachedSessions: -1 } }),
    Pool: () => new Pool('http://a.test', wrong),
    'connect of a Pool': () => new Pool('http://a.test', { connect: { maxCachedSessions: -1 } }),
    RoundRobinPool: () => new RoundRobinPool('http://a.test', { connections: -1 }),
    BalancedPool: () => new BalancedPool(['http://a.test'], wrong),
    Agent: () => new Agent(wrong),
    MockAgent: () => new MockAgent(wrong),
    ProxyAgent: () => new ProxyAgent({ uri: 'http://a.test', ...wrong }),
    EnvHttpProxyAgent: () => new library.EnvHttpProxyAgent({ httpProxy: 'ftp://a.test' }),
    Socks5ProxyAgent: () => new library.Socks5ProxyAgent('socks5://a.test', wrong),
    RetryAgent: () => new library.RetryAgent(new Agent(), { maxRetries: 'x' as never }),
    H2CClient: () => new library.H2CClient('https://a.test'),
    buildConnector: () => library.buildConnector({ maxCachedSessions: -1 }),
    'interceptors.retry': () => interceptors.retry({ maxRetries: 'x' as never }),
    'interceptors.redirect': () => interceptors.redirect({ maxRedirections: -1 }),
    'interceptors.dump': () => interceptors.dump({ maxSize: -1 }),
    'interceptors.dns': () => interceptors.dns({ maxTTL: -1 }),
    'interceptors.guard': () => interceptors.guard({ ports: ['x'] as never }),
    'request without a URL': () => library.request(''),
    'request with a wrong callback': () => library.request('http://a.test', {}, 1 as never),
  }
  for (const [name, call] of Object.entries(calls)) {
    test(name, () => {
      assert.throws(call, (error) => {
        assert.equal((error as NodeJS.ErrnoException).code, 'UND_ERR_INVALID_ARG')
        assert.match(secondLine(error), HERE, (error as Error).stack)
        return true
      })
    })
  }
})

describe('what rejects', () => {
  const client = new library.Client('http://a.test')
  const agent = new library.Agent()
  const composed = client.compose(library.interceptors.retry(), library.interceptors.redirect())
  const path = '/'
  const calls: Record<string, () => Promise<unknown>> = {
    'request(url)': () => library.request('http://a.test', BAD),
    'stream(url)': () => library.stream('http://a.test', BAD, () => process.stdout),
    'connect(url)': () => library.connect('http://a.test', BAD),
    'upgrade(url)': () => library.upgrade('http://a.test', BAD),
    'client.request()': () => client.request({ path, method: 'GET', ...BAD }),
    'client.request() with a wrong path': () => client.request({ path: 'x', method: 'GET' }),
    'client.request() with a wrong signal': () => client.request({ path, method: 'GET', signal: 1 as never }),
    'client.stream()': () => client.stream({ path, method: 'GET', ...BAD }, () => process.stdout),
    'agent.request()': () => agent.request({ origin: 'http://a.test', path, method: 'GET', ...BAD }),
    'composed.request()': () => composed.request({ path, method: 'GET', ...BAD }),
    'request() without options': () => client.request(null as never),
  }
  for (const [name, call] of Object.entries(calls)) {
    test(name, async () => {
      const error = await failure(call())
      assert.equal((error as NodeJS.ErrnoException).code, 'UND_ERR_INVALID_ARG')
      assert.match(secondLine(error), HERE, error.stack)
    })
  }

  test('with a callback', async () => {
    const error = await new Promise((resolve) => {
      client.request({ path, method: 'GET', ...BAD }, resolve)
    })
    assert.match(secondLine(error), HERE)
  })

  test('a pipeline', async () => {
    const duplex = client.pipeline({ path, method: 'GET', ...BAD }, ({ body }) => body)
    const error = await new Promise((resolve) => duplex.on('error', resolve))
    assert.match(secondLine(error), HERE)
  })

  test('dispatch() of a client', () => {
    const errors: unknown[] = []
    const handler = {
      onRequestStart() {},
      onResponseError: (_: unknown, error: unknown) => errors.push(error),
    }
    client.dispatch({ path: 'x', method: 'GET' }, handler as never)
    assert.match(secondLine(errors[0]), HERE)
  })
})

test('an error of the caller keeps its stack, whatever is called when it is thrown', async () => {
  const own = Object.assign(new Error('mine'), { code: 'MINE' })
  const { stack } = own
  const dispatcher = {
    dispatch(): never {
      throw own
    },
  }
  assert.equal(await failure(library.request('http://a.test', { dispatcher })), own)
  assert.equal(own.stack, stack)
})

test('an error of the caller that cannot be read is still what a request fails with', async () => {
  const own = new Proxy(new Error('mine'), { get: () => assert.fail('it was read') })
  const client = new library.Client('http://a.test', { connect: (_, callback) => callback(own) })
  // In a list: a promise would look for its `then`.
  const [error] = await client.request({ path: '/', method: 'GET' }).then(
    () => [],
    (reason: unknown) => [reason],
  )
  assert.ok(error === own)
  await client.destroy()
})

test('a body that is aborted with an error that cannot be read fails, and nothing else', async () => {
  const own = new Proxy(new Error('mine'), { get: () => assert.fail('it was read') })
  const base = new ScriptedDispatcher((exchange) => exchange.start().head())
  const { body } = await base.request({ origin: 'http://a.test', path: '/', method: 'GET' })
  const { handler, controller } = base.last
  handler.onResponseError?.(controller, own)
  // What the stream throws later fails the file.
  await new Promise((resolve) => body.once('close', resolve))
  assert.ok(body.errored instanceof Error)
})
