/**
 * Whatever stands between a caller and the connection, its functions run in the AsyncLocalStorage context of the request
 * that they are about. Those that concern a connection run in that of the request that needs it.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  type ClientOptions,
  type Dispatcher,
  EnvHttpProxyAgent,
  H2CClient,
  MockAgent,
  Pool,
  ProxyAgent,
  RetryAgent,
  RoundRobinPool,
  SnapshotAgent,
  Socks5ProxyAgent,
} from '../../src/index.ts'
import { startProxy } from '../proxy/support/test-proxy.ts'
import {
  answer,
  check,
  GET,
  type Note,
  NotingHandler,
  source,
  storage,
  testKinds,
} from '../support/call-contexts.ts'
import { authority } from '../support/certificates.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { startSocksServer } from '../support/socks-server.ts'
import { overEachWire, startOrigin, type TestOrigin, WIRES, type Wire, wireOptions } from '../support/wire.ts'

interface Place {
  readonly t: TestContext
  readonly wire: Wire
  readonly origin: TestOrigin
  readonly options: ClientOptions
}

const client = (url: string | URL, options: object): Client =>
  (options as ClientOptions).useH2c ? new H2CClient(url, {}) : new Client(url, options)

/** With one connection, which the first call opens. */
const DISPATCHERS: Record<string, (place: Place) => Dispatcher | Promise<Dispatcher>> = {
  Client: ({ origin }) => origin.client(),
  Pool: ({ origin, options }) => new Pool(origin.url, { ...options, connections: 1 }),
  'Pool with a factory': ({ origin, options }) =>
    new Pool(origin.url, { connections: 1, factory: (url) => client(url, options) }),
  RoundRobinPool: ({ origin, options }) => new RoundRobinPool(origin.url, { ...options, connections: 1 }),
  BalancedPool: ({ origin, options }) => new BalancedPool([origin.url], { ...options, connections: 1 }),
  Agent: ({ options }) => new Agent({ ...options, connections: 1 }),
  RetryAgent: ({ options }) => new RetryAgent(new Agent({ ...options, connections: 1 })),
  EnvHttpProxyAgent: ({ options }) => new EnvHttpProxyAgent({ ...options, connections: 1, noProxy: '*' }),
  async 'ProxyAgent, tunnel'({ t, options }) {
    const { connect, ...others } = options
    const proxy = await startProxy(t, 'h1')
    return new ProxyAgent({
      ...others,
      uri: proxy.url,
      proxyTunnel: true,
      connections: 1,
      requestTls: connect as object,
    })
  },
  async 'ProxyAgent, forwarding'({ t, options, wire }) {
    const { connect, ...others } = options
    const proxy = await startProxy(t, 'h1')
    const tunnels = wire.name !== 'h1'
    return new ProxyAgent({
      ...others,
      uri: proxy.url,
      proxyTunnel: tunnels,
      connections: 1,
      requestTls: connect as object,
    })
  },
  async Socks5ProxyAgent({ t, options }) {
    const { connect, ...others } = options
    const { url } = await startSocksServer(t)
    return new Socks5ProxyAgent(url, { ...others, connections: 1, requestTls: connect as object } as object)
  },
  'SnapshotAgent, recording': ({ t, options }) =>
    new SnapshotAgent({
      ...options,
      connections: 1,
      mode: 'record',
      snapshotPath: join(scratchFolder(t), 'snapshots.json'),
    } as object),
  'MockAgent, passing on': ({ options }) => {
    const agent = new MockAgent({ ...options, connections: 1 } as object)
    agent.enableNetConnect()
    return agent
  },
}

overEachWire('the context of handlers behind', (wire) => {
  for (const [name, make] of Object.entries(DISPATCHERS)) {
    test(name, async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => void answer(request, response))
      const dispatcher = await make({ t, wire, origin, options: wireOptions(wire) })
      t.after(() => dispatcher.destroy())
      const stage = { client: dispatcher, url: origin.url, wire }
      const get = { ...GET, origin: origin.url }
      await storage.run('the one who connects', async () => (await dispatcher.request(get)).body.dump())
      await check(stage, async (_stage, note) => {
        const handler = new NotingHandler(note)
        dispatcher.dispatch({ ...get, method: 'POST', body: source(note) }, handler)
        await handler.done
        const { body } = await dispatcher.request(get)
        for await (const _ of body) note('for await')
      })
    })
  }
})

/** Notes the context that a function runs in; the first that a request needs is its own. */
function functionsOf(wire: Wire, note: Note): ClientOptions {
  const lookup = (
    _name: string,
    options: { all?: boolean },
    callback: (...args: unknown[]) => void,
  ): void => {
    note('lookup')
    storage.run('the resolver', () =>
      setImmediate(() => {
        if (options.all) callback(null, [{ address: '127.0.0.1', family: 4 }])
        else callback(null, '127.0.0.1', 4)
      }),
    )
  }
  const checkServerIdentity = (): undefined => {
    note('checkServerIdentity')
  }
  const given = {
    lookup: lookup as never,
    checkServerIdentity,
    ca: authority,
    maxCachedSessions: 0,
    allowH2: wire.multiplexes,
    useH2c: wire.name === 'h2c',
  }
  const connector = buildConnector(given)
  return {
    useH2c: wire.name === 'h2c',
    connect(target, callback) {
      note('connect')
      connector(target as never, callback as never)
    },
  }
}

overEachWire('the context of the functions of a connection', (wire) => {
  test('that the first request opens', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => void answer(request, response))
    await check({ client: origin.client(), url: origin.url, wire }, async (_stage, note) => {
      const pool = new Pool(origin.url, {
        ...functionsOf(wire, note),
        factory(url, options) {
          note('factory')
          return new Client(url, options)
        },
      })
      t.after(() => pool.destroy())
      const { body } = await pool.request(GET)
      await body.dump()
    })
  })

  test('that a request needs which has waited for another one', async (t) => {
    const seen: string[] = []
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.end('x')
      // Closes the connection under the request that follows; over HTTP/1.1 the client does, because of `reset`.
      ;(response as { stream?: { session?: { close(): void } } }).stream?.session?.close()
    })
    const options = functionsOf(wire, (kind) => seen.push(`${kind}: ${storage.getStore()}`))
    const one = new Client(origin.url, { ...options, pipelining: 1, maxConcurrentStreams: 1 })
    t.after(() => one.destroy())
    const call = (own: string): Promise<unknown> =>
      storage.run(own, async () => (await one.request({ ...GET, reset: true })).body.dump())
    await Promise.all([call('first'), call('second'), call('third')])
    const kinds = wire.secure ? ['connect', 'lookup', 'checkServerIdentity'] : ['connect', 'lookup']
    assert.deepEqual(
      seen,
      ['first', 'second', 'third'].flatMap((own) => kinds.map((kind) => `${kind}: ${own}`)),
    )
  })
})

test('the context of the failure of a request that waits', async (t) => {
  const wire = WIRES[0]!
  const origin = await startOrigin(t, wire, () => {})
  const client = origin.client({ pipelining: 1 })
  const handlers: Promise<void>[] = []
  await check({ client, url: origin.url, wire }, async (_stage, note) => {
    const handler = new NotingHandler(note)
    client.dispatch(GET, handler)
    handlers.push(handler.done)
    if (handlers.length === 4) storage.run('the one who destroys', () => void client.destroy())
    await handler.done
  })
})

test('the context of callbacks of a mock', async () => {
  const agent = new MockAgent()
  agent.disableNetConnect()
  await check({ client: agent, url: 'http://mock.test', wire: WIRES[0]! }, async (_, note) => {
    const own = `http://${Math.random()}.test`
    agent
      .get(own)
      .intercept({
        method: 'POST',
        path: (path) => {
          note('path of a mock')
          return path === '/'
        },
        body: () => {
          note('body of a mock')
          return true
        },
      })
      .reply(() => {
        note('the reply of a mock')
        return { statusCode: 200, data: 'x' }
      })
      .delay(1)
    const handler = new NotingHandler(note)
    agent.dispatch({ ...GET, origin: own, body: 'x', method: 'POST' }, handler)
    await handler.done
  })
  await agent.close()
})

testKinds({
  both: [
    'connect',
    'lookup',
    'checkServerIdentity',
    'factory',
    'onRequestQueued',
    'onRequestStart',
    'onBodySent',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
    'onResponseEnd',
    'for await',
    'read() of a stream as body',
    'destroy() of a stream as body',
  ],
  h1: ['onResponseError', 'path of a mock', 'body of a mock', 'the reply of a mock'],
})
