/** The class `RoundRobinPool`. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RoundRobinPool } from '../../src/dispatcher/pool/round-robin-pool.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK } from '../support/scripted-client.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { memoryPool } from './pool-support.ts'

overEachWire('RoundRobinPool', (wire) => {
  test('requests are answered, and it closes', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const pool = new RoundRobinPool(origin.url, { ...wireOptions(wire), connections: 3 })
    t.after(() => pool.destroy())
    const urls = Array.from({ length: 9 }, (_, i) => `/${i}`)
    const answers = await Promise.all(
      urls.map(async (path) => (await readEcho(await pool.request({ path, method: 'GET' }))).url),
    )
    assert.deepEqual(answers, urls)
    assert.ok(origin.sockets.length <= 3)
    await pool.close()
    assert.equal(pool.stats.connected, 0)
  })
})

describe('RoundRobinPool', () => {
  test('one client to begin with, more when all are busy, then each in turn', async (t) => {
    const { pool, connector } = memoryPool(t, { connections: 3 }, RoundRobinPool)
    const exchange = async (path: string): Promise<void> => {
      pool.dispatch({ path, method: 'GET' }, new RecordingHandler())
      await connector.open()
    }
    await exchange('/a')
    connector.sockets[0]!.say(OK)
    await turns(4)
    // The only connection is free.
    await exchange('/b')
    assert.equal(connector.sockets.length, 1)
    await exchange('/c')
    await exchange('/d')
    assert.equal(connector.sockets.length, 3)
    for (const socket of connector.sockets) socket.say(OK)
    await turns(4)
    for (const path of ['/1', '/2', '/3', '/4']) {
      await exchange(path)
      for (const socket of connector.sockets) if (socket.written.includes(`GET ${path} `)) socket.say(OK)
      await turns(4)
    }
    assert.deepEqual(
      connector.sockets.map(({ written }) => [...written.matchAll(/GET (\S+)/g)].map((match) => match[1])),
      [
        ['/a', '/b', '/1', '/4'],
        ['/c', '/2'],
        ['/d', '/3'],
      ],
    )
  })

  test('options are those of Pool', () => {
    assert.throws(() => new RoundRobinPool('http://localhost', { connections: -1 }), {
      message: 'invalid connections',
    })
    assert.deepEqual(new RoundRobinPool('http://localhost').stats, {
      connected: 0,
      free: 0,
      pending: 0,
      queued: 0,
      running: 0,
      size: 0,
    })
    assert.equal(new RoundRobinPool('http://localhost').dispatch.length, 2)
  })
})
