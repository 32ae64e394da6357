import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { Agent, interceptors, type MetricsOptions, MockAgent, Pool, ProxyAgent } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { garbageCollector } from '../support/garbage.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { Telemetry } from '../support/telemetry.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

overEachWire('connections in metrics', (wire) => {
  const version = wire.multiplexes ? '2' : '1.1'

  async function start(t: TestContext, answer: Promise<void>) {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, async (request, response) => {
      if (request.url === '/held') await answer
      response.end()
    })
    const pool = new Pool(origin.url, { ...wireOptions(wire), connections: 3 })
    t.after(() => pool.destroy())
    const composed = pool.compose(interceptors.metrics({ meter: telemetry.meter, connectionsOf: pool }))
    const open = async (): Promise<Record<string, number>> => {
      const points = await telemetry.points('http.client.open_connections')
      return Object.fromEntries(
        points.map(({ attributes, value }) => {
          assert.equal(attributes['network.protocol.version'], version)
          return [String(attributes['http.connection.state']), value]
        }),
      )
    }
    return { telemetry, origin, pool, composed, open }
  }

  test('idle and active ones are what connections() says', async (t) => {
    const held = deferred()
    const { telemetry, origin, pool, composed, open } = await start(t, held.promise)
    assert.deepEqual(await open(), {})
    const running = [1, 2].map(() => composed.request({ path: '/held', method: 'GET' }))
    await once(origin.server, 'request')
    if (!wire.multiplexes) await once(origin.server, 'request')
    const many = wire.multiplexes ? 1 : 2
    assert.deepEqual(await open(), { idle: 0, active: many })
    held.resolve()
    for (const response of running) await (await response).body.dump()
    assert.deepEqual(await open(), { idle: many, active: 0 })
    assert.equal(pool.connections().length, many)
    const [point] = await telemetry.raw('http.client.open_connections')
    assert.deepEqual(point?.attributes, {
      'http.connection.state': 'idle',
      'network.protocol.version': version,
      'server.address': 'localhost',
      'server.port': origin.port,
      'url.scheme': wire.secure ? 'https' : 'http',
    })
    await pool.destroy()
    assert.deepEqual(await open(), { idle: 0, active: 0 })
  })

  test('one that outlives its destroyed agent is measured to its end', async (t) => {
    const telemetry = new Telemetry()
    const origin = await startOrigin(t, wire, (_, response) => response.end())
    const agent = new Agent(wireOptions(wire))
    const composed = agent.compose(interceptors.metrics({ meter: telemetry.meter, connectionsOf: agent }))
    await (await composed.request({ ...GET, origin: origin.url })).body.dump()
    const destroyed = agent.destroy()
    assert.equal((await telemetry.points('http.client.open_connections')).length, 2)
    await destroyed
    const [point] = await telemetry.points('http.client.connection.duration')
    assert.equal(point?.value, 1)
  })

  test('how long they were open, and how long it took to open them', async (t) => {
    const { telemetry, pool, composed } = await start(t, Promise.resolve())
    const began = performance.now()
    await (await composed.request(GET)).body.dump()
    const [connecting] = await telemetry.points('ventuno.connection.connect.duration')
    assert.deepEqual(connecting?.attributes, { 'network.protocol.version': version })
    assert.equal(connecting?.value, 1)
    const [tls] = await telemetry.points('ventuno.connection.tls.duration')
    assert.equal(tls?.value, wire.secure ? 1 : undefined)
    assert.deepEqual(await telemetry.points('http.client.connection.duration'), [])
    await pool.destroy()
    const took = (performance.now() - began) / 1000
    const [duration, ...others] = await telemetry.points('http.client.connection.duration')
    assert.deepEqual(others, [])
    assert.deepEqual([duration?.attributes, duration?.value], [{ 'network.protocol.version': version }, 1])
    assert.ok(duration!.sum > 0 && duration!.sum <= took && connecting!.sum <= took)
  })
})

describe('connections in metrics', () => {
  test('one that cannot be opened', async (t) => {
    const telemetry = new Telemetry()
    const port = await refusingPort(t)
    const agent = new Agent()
    t.after(() => agent.destroy())
    const composed = agent.compose(interceptors.metrics({ meter: telemetry.meter, connectionsOf: agent }))
    await failure(composed.request({ ...GET, origin: `http://127.0.0.1:${port}` }))
    assert.deepEqual(await telemetry.raw('ventuno.connection.failures'), [
      {
        attributes: {
          'error.type': 'ECONNREFUSED',
          'server.address': '127.0.0.1',
          'server.port': port,
          'url.scheme': 'http',
        },
        value: 1,
        sum: 1,
      },
    ])
    assert.deepEqual(await telemetry.raw('http.client.connection.duration'), [])
  })

  test('dispatchers with one meter add up, and one that is named twice counts once', async (t) => {
    const telemetry = new Telemetry()
    const wire = { name: 'h1', secure: false, multiplexes: false } as const
    const origin = await startOrigin(t, wire, (_, response) => response.end())
    const clients = [origin.client(), origin.client(), origin.client()]
    for (const client of clients) {
      for (let i = 0; i < 2; i++) interceptors.metrics({ meter: telemetry.meter, connectionsOf: client })
      await (await client.request(GET)).body.dump()
    }
    const idle = async (): Promise<number | undefined> =>
      (await telemetry.points('http.client.open_connections')).find(
        ({ attributes }) => attributes['http.connection.state'] === 'idle',
      )?.value
    assert.equal(await idle(), 3)
    await clients[0]!.destroy()
    assert.equal(await idle(), 2)
    const [duration] = await telemetry.points('http.client.connection.duration')
    assert.equal(duration?.value, 1)
  })

  test('of other dispatchers nothing is measured', async (t) => {
    const telemetry = new Telemetry()
    const wire = { name: 'h1', secure: false, multiplexes: false } as const
    const origin = await startOrigin(t, wire, (_, response) => response.end())
    const [measured, other] = [origin.client(), origin.client()]
    interceptors.metrics({ meter: telemetry.meter, connectionsOf: measured })
    await (await other.request(GET)).body.dump()
    await other.destroy()
    assert.deepEqual(await telemetry.points('http.client.connection.duration'), [])
    assert.deepEqual(await telemetry.points('http.client.open_connections'), [])
  })

  test('agents of every kind', async (t) => {
    const telemetry = new Telemetry()
    const agents = [new Agent(), new MockAgent(), new ProxyAgent('http://127.0.0.1:9')]
    for (const agent of agents) {
      t.after(() => agent.destroy())
      agent.compose(interceptors.metrics({ meter: telemetry.meter, connectionsOf: agent }))
    }
    assert.deepEqual(await telemetry.points('http.client.open_connections'), [])
  })

  test('a dispatcher that is measured can be collected', async () => {
    const collect = garbageCollector()
    const telemetry = new Telemetry()
    const watched = ((): WeakRef<Agent> => {
      const agent = new Agent()
      interceptors.metrics({ meter: telemetry.meter, connectionsOf: agent })
      return new WeakRef(agent)
    })()
    await turns(2)
    collect()
    assert.equal(watched.deref(), undefined)
    assert.deepEqual(await telemetry.points('http.client.open_connections'), [])
  })

  test('nobody listens to the ends of connections when all dispatchers are gone', async () => {
    const telemetry = new Telemetry()
    const ends = channel('ventuno:client:disconnected')
    const before = ends.hasSubscribers
    const agent = new Agent()
    interceptors.metrics({ meter: telemetry.meter, connectionsOf: agent })
    assert.equal(ends.hasSubscribers, true)
    await agent.destroy()
    await telemetry.points('http.client.open_connections')
    assert.equal(ends.hasSubscribers, before)
  })

  test('what is no dispatcher is refused at the call', () => {
    const { meter } = new Telemetry()
    for (const connectionsOf of ['x', {}, { on() {} }]) {
      assert.throws(() => interceptors.metrics({ meter, connectionsOf } as never as MetricsOptions), {
        name: 'InvalidArgumentError',
        message: 'connectionsOf must be a dispatcher with connections()',
      })
    }
  })
})
