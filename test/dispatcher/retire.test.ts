/** `retire()`: what was connected before finishes what it has, and gets nothing more. */
import assert from 'node:assert/strict'
import net from 'node:net'
import { describe, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  Dispatcher1Wrapper,
  MockAgent,
  Pool,
  RetryAgent,
  RoundRobinPool,
} from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { OK, send, startPair } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { overEachWay, startOrigin } from '../support/wire.ts'

overEachWay('retire()', (way) => {
  test('a running request ends on its connection, the next goes to another, and an idle one closes', async (t) => {
    let answer: (() => void) | null = null
    const peers: unknown[] = []
    const origin = await startOrigin(t, way, (request, reply) => {
      peers.push(request.socket.remotePort)
      if (request.url === '/slow') answer = () => reply.end('slow')
      else reply.end('quick')
    })
    const dispatcher = origin.dispatcher()
    const get = async (path: string): Promise<string> => {
      const { body } = await dispatcher.request({ path, method: 'GET' })
      return body.text()
    }
    assert.equal(await get('/quick'), 'quick')
    const slow = get('/slow')
    await eventually(() => answer !== null)
    dispatcher.retire()
    const next = get('/quick')
    answer!()
    assert.deepEqual([await slow, await next], ['slow', 'quick'])
    assert.equal(peers[0], peers[1])
    assert.notEqual(peers[1], peers[2])
    dispatcher.retire()
    assert.equal(await get('/quick'), 'quick')
    assert.notEqual(peers[2], peers[3])
  })
})

overEachWay('retire() in onRequestStart', (way) => {
  test('that request is the last on its connection, new or not, and does not fail', async (t) => {
    const peers: unknown[] = []
    const origin = await startOrigin(t, way, (request, response) => {
      peers.push(request.socket.remotePort)
      response.end('ok')
    })
    const dispatcher = origin.dispatcher()
    for (let i = 0; i < 3; i++) {
      const handler = send(dispatcher, {}, (method) => {
        if (method === 'onRequestStart') dispatcher.retire()
      })
      await handler.settled
      assert.deepEqual([handler.body, handler.errors], ['ok', []])
    }
    assert.equal(new Set(peers).size, 3)
    await send(dispatcher).settled
    const warm = send(dispatcher, {}, (method) => {
      if (method === 'onRequestStart') dispatcher.retire()
    })
    await warm.settled
    assert.equal(warm.body, 'ok')
    assert.equal(peers[3], peers[4])
  })
})

const AROUND: Record<string, (url: string) => Dispatcher & { retire(): void }> = {
  RoundRobinPool: (url) => new RoundRobinPool(url),
  BalancedPool: (url) => new BalancedPool(url),
  'Pool with a factory': (url) =>
    new Pool(url, { factory: (origin, options) => new Client(origin, options) }),
  RetryAgent: () => new RetryAgent(new Agent()),
  MockAgent: () => new MockAgent(),
  'a composed view': (url) =>
    new Client(url).compose((dispatch) => (opts, handler) => dispatch(opts, handler)),
  Dispatcher1Wrapper: (url) => new Dispatcher1Wrapper(new Client(url)),
}

test('retire() while the handler of a pipelined request starts: that is the last one there', async (t) => {
  const { server, client } = await startPair(t, { pipelining: 4 })
  const [first, second, third] = ['/1', '/2', '/3'].map((path) =>
    send(client, { path, blocking: false }, (method) => {
      if (path === '/2' && method === 'onRequestStart') client.retire()
    }),
  )
  const peer = await server.accept()
  assert.match(await peer.head(), /^GET \/1 .*connection: keep-alive/is)
  assert.match(await peer.head(), /^GET \/2 .*connection: keep-alive/is)
  peer.send(OK, OK)
  await Promise.all([first!.settled, second!.settled])
  await peer.closed()
  const next = await server.accept()
  assert.match(await next.head(), /^GET \/3 /)
  next.send(OK)
  await third!.settled
  assert.deepEqual([first!.body, second!.body, third!.body], ['ok', 'ok', 'ok'])
})

describe('retire() of', () => {
  for (const [name, make] of Object.entries(AROUND)) {
    test(name, async (t) => {
      const server = await startScriptedServer(t)
      const dispatcher = make(server.url)
      t.after(() => dispatcher.destroy())
      for (let i = 1; i <= 2; i++) {
        const handler = send(dispatcher, { origin: server.url })
        const peer = await server.accept()
        await peer.head()
        peer.send(OK)
        await handler.settled
        dispatcher.retire()
        await peer.closed()
        assert.equal(server.count, i)
      }
    })
  }
})

test('a connection that is on its way serves what waits for it, and nothing after that', async (t) => {
  const { server, client } = await startPair(t)
  const first = send(client)
  client.retire()
  const peer = await server.accept()
  await peer.head()
  peer.send(OK)
  await first.settled
  await peer.closed()
  assert.equal(first.body, 'ok')
})

test('one that fails on its way is tried again: what it began with may not hold any more', async (t) => {
  const server = await startScriptedServer(t)
  let calls = 0
  const client = new Client(server.url, {
    connect: (_options, callback) => {
      if (calls++ === 0) setImmediate(callback, new Error('certificate revoked'), null)
      else {
        const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
      }
    },
  })
  t.after(() => client.destroy())
  const handler = send(client)
  client.retire()
  const peer = await server.accept()
  await peer.head()
  peer.send(OK)
  await handler.settled
  assert.deepEqual([handler.body, calls], ['ok', 2])
})
