/** The limits of an agent over all origins: `maxConnections`, `maxIdleConnections` and `maxConnectionsWait`. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { Agent, type AgentOptions } from '../../src/dispatcher/agent.ts'
import type { Client } from '../../src/dispatcher/client.ts'
import { errors } from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK } from '../support/scripted-client.ts'
import { overEachWire, startOrigin, type TestOrigin, wireOptions } from '../support/wire.ts'
import { MemoryConnector, refused } from './pool-support.ts'

const GET = { path: '/', method: 'GET' } as const

function agentWith(t: Pick<TestContext, 'after'>, options: AgentOptions): Agent {
  const agent = new Agent(options)
  t.after(() => agent.destroy())
  return agent
}

/** Of a library that has a way of its own to end a stream, as those for SSH do. */
class ChannelSocket extends MemorySocket {
  override destroy(): this {
    this.push(null)
    setImmediate(() => this.emit('close'))
    return this
  }
}

/** An agent whose connections exist in memory only, and what its requests come to. */
class Bench {
  readonly connector = new MemoryConnector()
  readonly agent: Agent

  constructor(t: Pick<TestContext, 'after'>, options: AgentOptions) {
    this.agent = agentWith(t, { ...options, connect: this.connector.connect })
  }

  send(name: string): RecordingHandler {
    const handler = new RecordingHandler()
    this.agent.dispatch({ ...GET, origin: `http://${name}.test` }, handler)
    return handler
  }

  /** The hosts that connections are being opened to. */
  get opening(): readonly string[] {
    return this.connector.attempts.map(({ target }) => target.hostname.replace('.test', ''))
  }

  /** Those that are up. */
  get sockets(): readonly MemorySocket[] {
    return this.connector.sockets.filter(({ destroyed }) => !destroyed)
  }

  socket(index: number): MemorySocket {
    return this.connector.sockets[index]!
  }

  async answer(index: number): Promise<void> {
    this.socket(index).say(OK)
    await turns(4)
  }
}

const TOO_MANY = {
  name: 'MaxConnectionsReachedError',
  code: 'UND_ERR_MAX_CONNECTIONS_REACHED',
  message: 'Maximum allowed connections reached',
}
const SAFE = { phase: 'connecting', retrySafety: 'safe' }

describe('maxConnections', () => {
  test('origins that wait get the next places in turn', async (t) => {
    const bench = new Bench(t, { maxConnections: 2 })
    for (const name of ['a', 'b', 'c', 'c', 'd']) bench.send(name)
    assert.deepEqual(bench.opening, ['a', 'b'])
    await bench.connector.open()
    assert.deepEqual(bench.opening, [])
    await bench.answer(0)
    assert.deepEqual(bench.opening, ['c'])
    await bench.answer(1)
    assert.deepEqual(bench.opening, ['c', 'd'])
    await bench.connector.open()
    // Its second request did not need a second connection.
    await bench.answer(2)
    assert.equal(bench.socket(2).written.split('GET').length, 3)
    assert.equal(bench.sockets.length, 2)
  })

  test('one origin takes one place in each round, however much it has to do', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    const order: string[] = []
    for (const name of ['a', 'b', 'b', 'b', 'c', 'd']) bench.send(name)
    for (let i = 0; i < 4; i++) {
      order.push(...bench.opening)
      await bench.connector.refuse(refused())
    }
    assert.deepEqual(order, ['a', 'b', 'c', 'd'])
  })

  test('the idle connection that was used longest ago makes room', async (t) => {
    const bench = new Bench(t, { maxConnections: 3 })
    for (const name of ['a', 'b', 'c']) bench.send(name)
    await bench.connector.open()
    for (const index of [1, 0, 2]) await bench.answer(index)
    const { agent } = bench
    const gone = once(agent, 'disconnect')
    bench.send('d')
    const [url, , error] = await gone
    assert.equal(String(url), 'http://b.test/')
    assert.equal(error.message, 'closed to make room for another connection')
    await turns(2)
    assert.deepEqual(bench.opening, ['d'])
    // Used again meanwhile: the next one is the other.
    bench.send('a')
    await turns(4)
    await bench.answer(0)
    bench.send('e')
    await turns(4)
    assert.deepEqual(
      bench.connector.sockets.map(({ destroyed }) => destroyed),
      [false, true, true],
    )
  })

  test('nothing is closed as long as there are places', async (t) => {
    const bench = new Bench(t, { maxConnections: 3 })
    for (const name of ['a', 'b', 'c']) {
      bench.send(name)
      await bench.connector.open()
    }
    for (const index of [0, 1, 2]) await bench.answer(index)
    assert.equal(bench.sockets.length, 3)
    for (const name of ['a', 'b', 'c']) bench.send(name)
    await turns(4)
    assert.equal(bench.connector.sockets.length, 3)
  })

  test('a pool of an origin asks for one place at a time, and for none that it does not need', async (t) => {
    const bench = new Bench(t, { maxConnections: 2 })
    const first = bench.send('a')
    const second = bench.send('b')
    await bench.connector.open()
    for (let i = 0; i < 10; i++) bench.send('a')
    const busy = { connected: 1, free: 0, pending: 10, queued: 9, running: 1, size: 11 }
    assert.deepEqual(bench.agent.stats['http://a.test'], busy)
    // All go over the connection that it has.
    for (let i = 0; i < 11; i++) await bench.answer(0)
    assert.equal(first.calls.at(-1), 'onResponseEnd')
    assert.equal(bench.agent.stats['http://a.test']?.size, 0)
    await bench.answer(1)
    assert.equal(second.calls.at(-1), 'onResponseEnd')
    assert.deepEqual(bench.opening, [])
    assert.equal(bench.connector.sockets.length, 2)
  })

  test('none of the requests of an origin waits for a second connection longer than for the first', async (t) => {
    const bench = new Bench(t, { maxConnections: 2 })
    bench.send('b')
    const order: number[] = []
    const sendOne = (number: number): void => {
      void bench.send('a').settled.then(() => order.push(number))
    }
    sendOne(0)
    await bench.connector.open()
    // There are always some more that wait.
    for (let i = 1; i < 4; i++) sendOne(i)
    for (let i = 4; i < 10; i++) {
      await bench.answer(1)
      sendOne(i)
    }
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5])
  })

  test('a pool that has got a place asks for the next one', async (t) => {
    const bench = new Bench(t, { maxConnections: 2 })
    for (const name of ['a', 'b', 'c', 'c', 'c']) bench.send(name)
    await bench.connector.open()
    await bench.answer(0)
    await bench.answer(1)
    assert.deepEqual(bench.opening, ['c', 'c'])
    assert.equal(bench.sockets.length, 0)
  })

  test('a socket that a caller has taken over counts until it closes', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    const origin = 'http://a.test'
    const upgraded = bench.agent.upgrade({ origin, path: '/', protocol: 'x' })
    await bench.connector.open()
    bench.socket(0).say('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    const { socket } = await upgraded
    bench.send('b')
    await turns(4)
    assert.deepEqual(bench.opening, [])
    socket.destroy()
    await turns(4)
    assert.deepEqual(bench.opening, ['b'])
  })

  test('a socket of a caller counts until it emits close, destroyed or not', async (t) => {
    const sockets: ChannelSocket[] = []
    const agent = agentWith(t, {
      maxConnections: 1,
      connect: (_target, answer) => {
        sockets.push(new ChannelSocket())
        answer(null, sockets.at(-1)! as never)
      },
    })
    const first = agent.request({ ...GET, origin: 'http://a.test' })
    await turns(4)
    sockets[0]!.say('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
    await (await first).body.text()
    const upgraded = agent.upgrade({ origin: 'http://b.test', path: '/', protocol: 'x' })
    await eventually(() => sockets.length === 2)
    sockets[1]!.say('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    const { socket } = await upgraded
    const last = agent.request({ ...GET, origin: 'http://c.test' })
    await turns(4)
    assert.equal(sockets.length, 2)
    socket.destroy()
    await eventually(() => sockets.length === 3)
    sockets[2]!.say(OK)
    await (await last).body.text()
  })

  test('what is given up while it waits leaves the line', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    bench.send('a')
    await bench.connector.open()
    const aborting = new AbortController()
    const rejected = ['b', 'b', 'c'].map((name) =>
      failure(bench.agent.request({ ...GET, origin: `http://${name}.test`, signal: aborting.signal })),
    )
    bench.send('d')
    aborting.abort()
    for (const { name } of await Promise.all(rejected)) assert.equal(name, 'AbortError')
    assert.deepEqual(Object.keys(bench.agent.stats), ['http://a.test', 'http://d.test'])
    await bench.answer(0)
    assert.deepEqual(bench.opening, ['d'])
  })

  test('destroy fails what waits; close waits for it', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    bench.send('a')
    const waiting = bench.send('b')
    await bench.connector.open()
    await bench.agent.destroy()
    assert.equal(waiting.error?.name, 'ClientDestroyedError')
    assert.deepEqual(bench.opening, [])

    const other = new Bench(t, { maxConnections: 1 })
    const all = ['a', 'b', 'c'].map((name) => other.send(name))
    await other.connector.open()
    const closed = other.agent.close()
    for (let i = 0; i < 3; i++) {
      await other.answer(i)
      await other.connector.open()
    }
    await closed
    assert.deepEqual(
      all.map(({ calls }) => calls.at(-1)),
      ['onResponseEnd', 'onResponseEnd', 'onResponseEnd'],
    )
    assert.equal(other.sockets.length, 0)
  })

  test('destroy opens no connection for those that wait behind one that is being opened', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    const all = ['a', 'b', 'c'].map((name) => bench.send(name))
    assert.deepEqual(bench.opening, ['a'])
    await bench.agent.destroy()
    await turns(4)
    assert.deepEqual(bench.opening, ['a'])
    for (const { error } of all) assert.equal(error?.name, 'ClientDestroyedError')
  })

  test('the place of a client that is destroyed while it connects comes back', async (t) => {
    const bench = new Bench(t, { maxConnections: 1, connections: 1 })
    const clients: Client[] = []
    bench.agent.on('connect', (_origin, [, client]) => clients.push(client as Client))
    bench.send('a')
    await bench.connector.open()
    bench.agent.retire()
    bench.send('a')
    await bench.answer(0)
    bench.send('b')
    assert.deepEqual(bench.opening, ['a'])
    await clients[0]!.destroy()
    await turns(4)
    assert.deepEqual(bench.opening, ['a', 'b'])
  })

  test('a place comes back when a connection fails, is refused, or is abandoned', async (t) => {
    const bench = new Bench(t, { maxConnections: 1 })
    const first = bench.send('a')
    bench.send('b')
    bench.send('c')
    await bench.connector.refuse(refused())
    assert.equal(first.error?.message, 'connect ECONNREFUSED')
    assert.deepEqual(bench.opening, ['b'])
    await bench.connector.open()
    bench.socket(0).reset()
    await turns(4)
    assert.deepEqual(bench.opening, ['c'])
    await bench.connector.open()
    await bench.answer(1)
    assert.equal(bench.sockets.length, 1)
  })

  test('a function that answers at once, or throws, serves the whole line', async (t) => {
    let calls = 0
    const agent = agentWith(t, {
      maxConnections: 1,
      connect: (_target, callback) => {
        if (++calls % 2 === 0) throw new Error('thrown')
        callback(new Error('answered'))
      },
    })
    const all = Array.from({ length: 5000 }, (_, i) =>
      failure(agent.request({ ...GET, origin: `http://o${i}.test` })),
    )
    const messages = new Set((await Promise.all(all)).map(({ message }) => message))
    assert.deepEqual([...messages].sort(), ['answered', 'thrown'])
    assert.equal(calls, 5000)
  })

  test('the time to connect begins with the place', async (t) => {
    const clock = FakeClock.install(t)
    const agent = agentWith(t, { maxConnections: 1, connect: { timeout: 100, lookup: () => {} } })
    const failed: string[] = []
    for (const name of ['a', 'b']) {
      const request = agent.request({ ...GET, origin: `http://${name}.test` })
      request.catch(({ code }) => failed.push(`${name} ${code}`))
    }
    await clock.advance(100)
    assert.deepEqual(failed, ['a UND_ERR_CONNECT_TIMEOUT'])
    await clock.advance(99)
    assert.equal(failed.length, 1)
    await clock.advance(1)
    assert.deepEqual(failed.slice(1), ['b UND_ERR_CONNECT_TIMEOUT'])
  })

  test('a connection is opened in the context of the request that has waited for it', async (t) => {
    const store = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const connector = new MemoryConnector()
    const agent = agentWith(t, {
      maxConnections: 1,
      connect: (target, answer) => {
        seen.push(store.getStore())
        connector.connect(target, answer as never)
      },
    })
    for (const name of ['a', 'b']) {
      store.run(name, () => agent.dispatch({ ...GET, origin: `http://${name}.test` }, new RecordingHandler()))
    }
    await connector.open()
    connector.sockets[0]!.say(OK)
    await turns(4)
    assert.deepEqual(seen, ['a', 'b'])
  })
})

describe('maxConnectionsWait', () => {
  test('fails what has waited too long, and only that', async (t) => {
    const clock = FakeClock.install(t)
    const bench = new Bench(t, { maxConnections: 1, maxConnectionsWait: 500 })
    const running = bench.send('a')
    await bench.connector.open()
    const late = [bench.send('b'), bench.send('c'), bench.send('c')]
    const failed = once(bench.agent, 'connectionError')
    await clock.advance(499)
    assert.deepEqual(
      late.map(({ error }) => error),
      [undefined, undefined, undefined],
    )
    // Those that have waited as long within a moment fail together, or at the next look.
    await clock.advance(2)
    await clock.advance(30)
    for (const { error } of late) {
      assert.ok(error instanceof errors.MaxConnectionsReachedError)
      const { name, message, code, phase, retrySafety } = error as never
      assert.deepEqual({ name, message, code, phase, retrySafety }, { ...TOO_MANY, ...SAFE })
    }
    assert.equal((await failed)[2].code, TOO_MANY.code)
    assert.equal(running.errors.length, 0)
    const next = bench.send('b')
    await bench.answer(0)
    await bench.connector.open()
    await bench.answer(1)
    assert.equal(next.status, 200)
  })

  test('0 fails at once, unless an idle connection makes room', async (t) => {
    const bench = new Bench(t, { maxConnections: 1, maxConnectionsWait: 0 })
    bench.send('a')
    await bench.connector.open()
    const refusedOne = bench.send('b')
    assert.equal(refusedOne.error?.message, TOO_MANY.message)
    await bench.answer(0)
    const next = bench.send('b')
    const more = bench.send('c')
    assert.equal(more.error?.message, TOO_MANY.message)
    await turns(4)
    await bench.connector.open()
    await bench.answer(1)
    assert.equal(next.status, 200)
  })
})

describe('maxIdleConnections', () => {
  test('those used longest ago close first', async (t) => {
    const bench = new Bench(t, { maxIdleConnections: 2 })
    for (const name of ['a', 'b', 'c', 'd']) bench.send(name)
    await bench.connector.open()
    for (const index of [2, 0, 3]) await bench.answer(index)
    await turns(4)
    assert.deepEqual(
      bench.connector.sockets.map(({ destroyed }) => destroyed),
      [false, false, true, false],
    )
    await bench.answer(1)
    await turns(4)
    assert.deepEqual(
      bench.connector.sockets.map(({ destroyed }) => destroyed),
      [true, false, true, false],
    )
    assert.deepEqual(Object.keys(bench.agent.stats), ['http://b.test', 'http://d.test'])
  })

  test('0 keeps none, and a request that follows at once keeps its connection', async (t) => {
    const bench = new Bench(t, { maxIdleConnections: 0, connections: 1 })
    bench.send('a')
    bench.send('a')
    await bench.connector.open()
    await bench.answer(0)
    assert.equal(bench.sockets.length, 1)
    await bench.answer(0)
    await turns(4)
    assert.equal(bench.sockets.length, 0)
  })
})

describe('options', () => {
  test('are checked', () => {
    for (const maxConnections of [0, -1, 1.5, '1', Number.NaN]) {
      assert.throws(() => new Agent({ maxConnections } as AgentOptions), {
        name: 'InvalidArgumentError',
        message: 'maxConnections must be an integer greater than 0 or Infinity',
      })
    }
    for (const maxIdleConnections of [-1, 1.5, '1', Number.NaN]) {
      assert.throws(() => new Agent({ maxIdleConnections } as AgentOptions), {
        name: 'InvalidArgumentError',
        message: 'maxIdleConnections must be a positive integer, zero or Infinity',
      })
    }
    for (const maxConnectionsWait of [-1, '1', Number.NaN]) {
      assert.throws(() => new Agent({ maxConnectionsWait } as AgentOptions), {
        name: 'InvalidArgumentError',
        message: 'maxConnectionsWait must be a positive number, zero or Infinity',
      })
    }
    const none = { maxConnections: null, maxIdleConnections: Infinity, maxConnectionsWait: undefined }
    assert.ok(new Agent({ ...none, factory: (_origin, options) => new Agent(options) }))
  })

  test('are of no use with a factory, whose connections nobody counts', () => {
    const factory = (): never => assert.fail()
    for (const options of [{ maxConnections: 1 }, { maxIdleConnections: 1 }]) {
      assert.throws(() => new Agent({ ...options, factory }), {
        name: 'InvalidArgumentError',
        message: 'maxConnections and maxIdleConnections cannot be used with a factory',
      })
    }
  })
})

overEachWire('maxConnections', (wire) => {
  /** Origins that echo, and how many sockets they have. */
  async function origins(t: TestContext, count: number): Promise<TestOrigin[]> {
    return Promise.all(Array.from({ length: count }, () => startOrigin(t, wire, echo)))
  }

  function open(all: readonly TestOrigin[]): number {
    return all
      .flatMap(({ sockets }) => sockets)
      .filter((socket) => !socket.readableEnded && !socket.destroyed).length
  }

  test('more origins than connections', async (t) => {
    const all = await origins(t, 6)
    const agent = agentWith(t, { ...wireOptions(wire), maxConnections: 2 })
    let most = 0
    agent.on('connect', () => {
      const connected = Object.values(agent.stats).reduce((sum, stats) => sum + Number(stats.connected), 0)
      most = Math.max(most, connected)
    })
    const requests = all.flatMap(({ url }) =>
      Array.from({ length: 5 }, async () => {
        const { body } = await agent.request({ ...GET, origin: url })
        return readEcho({ body } as never)
      }),
    )
    assert.equal((await Promise.all(requests)).length, 30)
    assert.equal(most, 2)
    await eventually(() => open(all) === 2)
    await agent.close()
    await eventually(() => open(all) === 0)
  })

  test('a connection that is never idle is given up when its turn is over', async (t) => {
    const [busy, waiting] = await origins(t, 2)
    const agent = agentWith(t, { ...wireOptions(wire), maxConnections: 1, connections: 1 })
    let served = 0
    let isOver = false
    // Many times as many as a turn allows.
    const keepBusy = async (): Promise<void> => {
      while (!isOver && served < 20_000) {
        const { body } = await agent.request({ ...GET, origin: busy!.url })
        await body.dump()
        served++
      }
    }
    const others = [keepBusy(), keepBusy(), keepBusy()]
    await eventually(() => served > 10)
    const { body } = await agent.request({ ...GET, origin: waiting!.url })
    await body.dump()
    assert.ok(served < 20_000)
    // It gets its turn again.
    const before = served
    await eventually(() => served > before + 10)
    isOver = true
    await Promise.all(others)
    assert.ok(busy!.sockets.length >= 2)
  })
})
