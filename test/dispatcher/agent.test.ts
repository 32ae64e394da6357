/** The class `Agent`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Agent, type AgentOptions } from '../../src/dispatcher/agent.ts'
import { Client } from '../../src/dispatcher/client.ts'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import { contentOf, deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { startH2Server } from '../support/h2-server.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK } from '../support/scripted-client.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { MemoryConnector, refused } from './pool-support.ts'

function agentWith(t: { after(fn: () => unknown): void }, options: AgentOptions = {}): Agent {
  const agent = new Agent(options)
  t.after(() => agent.destroy())
  return agent
}

overEachWire('Agent', (wire) => {
  test('requests to several origins, each with its own connections', async (t) => {
    const origins = await Promise.all([startOrigin(t, wire, echo), startOrigin(t, wire, echo)])
    const agent = agentWith(t, wireOptions(wire))
    for (let i = 0; i < 2; i++) {
      for (const { url } of origins) {
        const got = await readEcho(await agent.request({ origin: url, path: '/x', method: 'GET' }))
        assert.equal(got.url, '/x')
      }
    }
    assert.deepEqual(
      origins.map(({ sockets }) => sockets.length),
      [1, 1],
    )
    const idle = { connected: 1, free: 1, pending: 0, queued: 0, running: 0, size: 0 }
    assert.deepEqual(agent.stats, { [origins[0]!.url]: idle, [origins[1]!.url]: idle })
  })

  test('stream, pipeline and upload', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const agent = agentWith(t, wireOptions(wire))
    const duplex = agent.pipeline({ origin: origin.url, path: '/', method: 'POST' }, ({ body }) => body)
    duplex.end('piped')
    assert.match(String(await contentOf(duplex)), /"body":"piped"/)
  })

  test('events carry the agent, the pool and the client', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const agent = agentWith(t, wireOptions(wire))
    const connected = once(agent, 'connect')
    await (await agent.request({ origin: origin.url, path: '/', method: 'GET' })).body.dump()
    const [url, targets] = await connected
    assert.equal(String(url), `${origin.url}/`)
    assert.equal(targets.length, 3)
    assert.equal(targets[0], agent)
    assert.ok(targets[1] instanceof Pool)
    assert.ok(targets[2] instanceof Client)
  })

  test('an origin without connections and work is forgotten; the agent goes on', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const agent = agentWith(t, wireOptions(wire))
    const opts = { origin: origin.url, path: '/', method: 'GET' } as const
    await (await agent.request(opts)).body.dump()
    const gone = once(agent, 'disconnect')
    for (const socket of origin.sockets) socket.destroy()
    const [, targets] = await gone
    await turns(2)
    assert.deepEqual(agent.stats, {})
    assert.equal((targets[1] as Pool).closed, true)
    await (await agent.request(opts)).body.dump()
    assert.deepEqual(Object.keys(agent.stats), [origin.url])
  })

  test('close waits; destroy does not', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const opts = { origin: origin.url, path: '/', method: 'GET' } as const
    const closing = agentWith(t, wireOptions(wire))
    const answer = closing.request(opts)
    const closed = closing.close()
    await (await answer).body.dump()
    await closed
    assert.equal((await failure(closing.request(opts))).code, 'UND_ERR_DESTROYED')

    const hanging = await startOrigin(t, wire, () => arrived.resolve())
    const arrived = deferred()
    const agent = agentWith(t, wireOptions(wire))
    const never = failure(agent.request({ ...opts, origin: hanging.url }))
    await arrived.promise
    const reason = new Error('enough')
    await agent.destroy(reason)
    assert.equal(await never, reason)
    assert.deepEqual(agent.stats, {})
  })
})

describe('Agent: options', () => {
  const cases: [object, string][] = [
    [{ factory: 1 }, 'factory must be a function.'],
    [{ connect: 1 }, 'connect must be a function or an object'],
    [{ maxOrigins: 0 }, 'maxOrigins must be a number greater than 0'],
    [{ maxOrigins: '3' }, 'maxOrigins must be a number greater than 0'],
    [{ maxOrigins: Number.NaN }, 'maxOrigins must be a number greater than 0'],
    [{ connections: -1 }, 'invalid connections'],
    [{ headersTimeout: -1 }, 'headersTimeout must be a positive integer or zero'],
  ]
  for (const [options, message] of cases) {
    test(`${Object.keys(options)[0]}: ${message}`, () => {
      assert.throws(() => new Agent(options), { name: 'InvalidArgumentError', message })
    })
  }

  test('null', () => assert.throws(() => new Agent(null as never), TypeError))

  test('an origin is required', (t) => {
    const agent = agentWith(t)
    for (const origin of [undefined, null, '', 5, {}]) {
      const handler = new RecordingHandler()
      assert.equal(agent.dispatch({ origin: origin as string, path: '/', method: 'GET' }, handler), false)
      assert.equal(handler.error?.message, 'opts.origin must be a non-empty string or URL.')
    }
    for (const [origin, message] of [
      ['http://localhost/path', 'invalid url'],
      ['ftp://localhost', 'Invalid URL protocol: the URL must start with `http:` or `https:`.'],
    ]) {
      const handler = new RecordingHandler()
      agent.dispatch({ origin, path: '/', method: 'GET' }, handler)
      assert.equal(handler.error?.message, message)
    }
    const handler = new RecordingHandler()
    agent.dispatch(null as never, handler)
    assert.equal(handler.error?.message, 'opts must be an object.')
  })

  test('connections: 1 is a client, anything else a pool', async (t) => {
    for (const [connections, Kind] of [
      [1, Client],
      [2, Pool],
      [undefined, Pool],
    ] as const) {
      const connector = new MemoryConnector()
      const agent = agentWith(t, { connections, connect: connector.connect })
      agent.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, new RecordingHandler())
      const event = once(agent, 'connect')
      await connector.open()
      const [, targets] = await event
      assert.ok(targets[1] instanceof Kind)
    }
  })

  test('maxOrigins: at a time', async (t) => {
    const connector = new MemoryConnector()
    const agent = agentWith(t, { maxOrigins: 2, connect: connector.connect })
    const send = (origin: string): RecordingHandler => {
      const handler = new RecordingHandler()
      agent.dispatch({ origin, path: '/', method: 'GET' }, handler)
      return handler
    }
    send('http://a.test')
    send('http://b.test')
    // The same origin in another spelling, or over HTTP/1.1 only, does not count again.
    send('HTTP://A.test:80')
    agent.dispatch(
      { origin: 'http://b.test', path: '/', method: 'GET', allowH2: false },
      new RecordingHandler(),
    )
    const refusedOne = send('http://c.test')
    assert.equal((refusedOne.error as NodeJS.ErrnoException).code, 'UND_ERR_MAX_ORIGINS_REACHED')
    assert.equal(connector.attempts.length, 4)
    await connector.refuse(refused())
    assert.equal(send('http://c.test').error, undefined)
  })
})

describe('Agent: dispatchers per origin', () => {
  test('one for each origin, in whatever words', async (t) => {
    const connector = new MemoryConnector()
    const agent = agentWith(t, { connect: connector.connect })
    for (const origin of [
      'http://example.test',
      'http://example.test/',
      'HTTP://EXAMPLE.test:80',
      new URL('http://example.test'),
      'http://user:secret@example.test',
    ]) {
      agent.dispatch({ origin, path: '/', method: 'GET' }, new RecordingHandler())
    }
    assert.deepEqual(Object.keys(agent.stats), ['http://example.test'])
    assert.equal(connector.attempts.length, 5)
  })

  test('allowH2: false has its own connections, which do not offer HTTP/2', async (t) => {
    const origin = await startOrigin(t, { name: 'h2+tls', secure: true, multiplexes: true }, echo)
    origin.server.on('unknownProtocol', (socket: { destroy(): void }) => socket.destroy())
    const agent = agentWith(t, wireOptions({ name: 'h2+tls', secure: true, multiplexes: true }))
    const opts = { origin: origin.url, path: '/', method: 'GET' } as const
    await (await agent.request(opts)).body.dump()
    const handler = new RecordingHandler()
    agent.dispatch({ ...opts, allowH2: false }, handler)
    await handler.settled
    assert.ok(handler.error)
    assert.equal(agent.stats[origin.url]?.connected, 1)
  })

  test('a WebSocket of an older generation goes over HTTP/1.1', (t) => {
    const seen: unknown[] = []
    const agent = agentWith(t, {
      factory: (_origin, options) => {
        seen.push(options.allowH2)
        return new Pool('http://a.test', { connect: () => {} })
      },
    })
    const opts = { origin: 'http://a.test', path: '/', method: 'GET', upgrade: 'websocket' } as const
    agent.dispatch(opts, { onConnect() {}, onUpgrade() {}, onError() {} })
    agent.dispatch(opts, { onRequestStart() {}, onRequestUpgrade() {}, onResponseError() {} })
    assert.deepEqual(seen, [false, undefined])
    assert.deepEqual(Object.keys(agent.stats), ['http://a.test', 'http://a.test#h1'])
  })

  test('factory: gets the origin as given and the options as they are', (t) => {
    const calls: unknown[] = []
    const lookup = (): void => {}
    class Quiet extends Dispatcher {
      override dispatch(): boolean {
        return true
      }
      override destroy(_error?: unknown, callback?: unknown): Promise<void> {
        ;(callback as () => void)()
        return Promise.resolve()
      }
    }
    const agent = agentWith(t, {
      connect: { lookup },
      connections: 4,
      maxOrigins: 9,
      factory: (origin, options) => {
        calls.push(origin, options)
        return new Quiet()
      },
    })
    const url = new URL('http://a.test')
    for (const origin of [url, 'http://a.test', 'unix:whatever', 'unix:whatever']) {
      assert.equal(agent.dispatch({ origin, path: '/', method: 'GET' }, new RecordingHandler()), true)
    }
    assert.equal(calls[0], url)
    const options = { connect: { lookup }, connections: 4 }
    assert.deepEqual(calls, [url, options, 'unix:whatever', options])
    // A dispatcher without stats is missing from the statistics and never counts as idle.
    assert.deepEqual(agent.stats, {})
  })

  test('what was wrong with a request from the start leaves nothing behind', (t) => {
    const agent = agentWith(t)
    const handler = new RecordingHandler()
    agent.dispatch({ origin: 'http://a.test', path: 'no-slash', method: 'GET' }, handler)
    assert.ok(handler.error)
    assert.deepEqual(agent.stats, {})
  })

  test('forgotten also when the last work ends after the connection', async (t) => {
    const server = await startH2Server(t)
    const agent = agentWith(t, { useH2c: true })
    const handler = new RecordingHandler()
    agent.dispatch({ origin: server.url, path: '/', method: 'GET' }, handler)
    const peer = await server.accept()
    const { id } = await peer.request()
    const gone = once(agent, 'disconnect')
    peer.goaway(id)
    await gone
    await turns(2)
    assert.deepEqual(Object.keys(agent.stats), [server.url])
    peer.respond(id)
    await handler.settled
    await peer.closed()
    await eventually(() => Object.keys(agent.stats).length === 0)
  })

  test('forgotten when a dispatcher of the caller says it is idle', async (t) => {
    const connector = new MemoryConnector()
    const agent = agentWith(t, {
      connections: 5,
      factory: (origin, options) =>
        new Pool(origin, { ...options, connect: connector.connect } as object).compose(
          (dispatch) => (opts, handler) => dispatch(opts, handler),
        ),
    })
    agent.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, new RecordingHandler())
    await connector.open()
    connector.sockets[0]!.say(OK)
    await turns(4)
    assert.deepEqual(Object.keys(agent.stats), ['http://a.test'])
    connector.sockets[0]!.finish()
    await turns(4)
    assert.deepEqual(agent.stats, {})
  })

  test('errors of handlers, drain and ping are passed on', async (t) => {
    const connector = new MemoryConnector()
    const agent = agentWith(t, { connect: connector.connect, connections: 1 })
    const events: unknown[] = []
    agent.on('error', (error) => events.push(error))
    agent.on('ping', (ms) => events.push(ms))
    let pool: Dispatcher | undefined
    agent.on('drain', (_url, targets) => {
      pool = targets[1]
    })
    const handler = new RecordingHandler()
    agent.dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
    await connector.open()
    connector.sockets[0]!.say(OK)
    await turns(4)
    pool!.emit('ping', 5)
    pool!.emit('error', 'thrown')
    assert.deepEqual(events, [5, 'thrown'])
  })
})
