import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Pool } from '../../src/index.ts'
import { eventually, FakeClock, turn, turns } from '../support/fake-clock.ts'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import { connectionReset, MemorySocket } from '../support/memory-socket.ts'
import { disconnected, OK, response, send, startPair } from '../support/scripted-client.ts'

describe('an idle connection is looked at before it is used again', () => {
  test('the server has closed it: the next request goes to a new one, without an error', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client)
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await first.settled
    const lost = disconnected(client)
    connection.end()
    const error = await lost
    assert.equal(error.code, 'UND_ERR_SOCKET')
    assert.equal(error.message, 'other side closed')
    const second = send(client)
    const next = await server.accept()
    await next.head()
    next.send(OK)
    await second.settled
    assert.deepEqual(second.errors, [])
    assert.deepEqual(
      second.calls.filter((call) => call === 'onRequestStart'),
      ['onRequestStart'],
    )
    assert.equal(connection.received, '')
  })

  test('the close waits in the kernel while the request is dispatched', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    const second = send(client, { method: 'POST', body: 'x' })
    sockets[0]!.finish()
    await settle()
    assert.equal(sockets.length, 2)
    assert.deepEqual(requestLines(sockets[0]!.written), ['GET /'])
    assert.deepEqual(requestLines(sockets[1]!.written), ['POST /'])
    sockets[1]!.say(OK)
    await second.settled
    assert.deepEqual(second.errors, [])
  })

  test('the server has reset it: the same', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    const second = send(client, { method: 'POST', body: 'x' })
    sockets[0]!.destroy(connectionReset())
    await settle()
    sockets[1]!.say(OK)
    await second.settled
    assert.deepEqual(second.errors, [])
  })

  test('bytes nobody asked for: destroyed with "bad response", and a new one is used', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client)
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await first.settled
    const lost = disconnected(client)
    connection.send(response('poison'))
    const error = await lost
    assert.equal(error.code, 'UND_ERR_SOCKET')
    assert.match(error.message, /^bad response/)
    const second = send(client)
    const next = await server.accept()
    await next.head()
    next.send(OK)
    await second.settled
    assert.equal(second.body, 'ok')
  })

  test('bytes that arrive together with the dispatch do not answer it', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    const second = send(client)
    sockets[0]!.say(response('poison'))
    await settle()
    assert.deepEqual(second.statuses, [])
    assert.equal(sockets.length, 2)
    assert.equal(requestLines(sockets[0]!.written).length, 1)
    sockets[1]!.say(response('mine'))
    await second.settled
    assert.equal(second.body, 'mine')
  })

  test('a second response in the same segment does not answer the request that waits', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    const second = send(client)
    await settle()
    sockets[0]!.say(response('first'), response('poison'))
    await settle()
    assert.equal(first.body, 'first')
    assert.deepEqual(first.errors, [])
    assert.deepEqual(second.statuses, [])
    assert.equal(sockets[0]!.destroyed, true)
    sockets[1]!.say(response('second'))
    await second.settled
    assert.equal(second.body, 'second')
  })

  test('nor one that is dispatched in the last call of the handler', async (t) => {
    const { client, sockets, settle } = memoryPair(t, { pipelining: 5 })
    let second: ReturnType<typeof send> | undefined
    const first = send(client, {}, (method) => {
      if (method === 'onResponseEnd') second = send(client, { blocking: false })
    })
    await settle()
    sockets[0]!.say(response('first'), response('poison'))
    await settle()
    assert.equal(first.body, 'first')
    assert.deepEqual(second?.statuses, [])
    sockets[1]!.say(response('second'))
    await second!.settled
    assert.equal(second!.body, 'second')
  })

  test('needs no timer, and one poll of the event loop', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    const clock = FakeClock.install(t)
    const second = send(client)
    assert.equal(requestLines(sockets[0]!.written).length, 1)
    await turns(2)
    assert.equal(requestLines(sockets[0]!.written).length, 2)
    assert.equal(clock.now, 0)
    sockets[0]!.say(OK)
    await second.settled
    assert.equal(sockets.length, 1)
  })

  test('a request that waited behind another is written after one poll, too', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    await turns(2)
    assert.equal(requestLines(sockets[0]!.written).length, 2)
  })

  test('giving the request up meanwhile leaves the connection as it is', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const first = send(client)
    await settle()
    sockets[0]!.say(OK)
    await first.settled
    const signal = new AbortController()
    const aborted = client.request({ path: '/', method: 'GET', signal: signal.signal })
    signal.abort(new Error('no'))
    await assert.rejects(aborted, /no/)
    await settle()
    assert.equal(client.stats.connected, true)
    const second = send(client)
    sockets[0]!.say(response('poison'))
    await settle()
    assert.deepEqual(second.statuses, [], 'it is looked at again before the next')
  })
})

describe('keep-alive', () => {
  const idle = async (
    t: Parameters<typeof memoryPair>[0],
    fields: string[],
    options = {},
  ): Promise<{ clock: FakeClock; pair: ReturnType<typeof memoryPair>; lost: Error[] }> => {
    const clock = FakeClock.install(t)
    const pair = memoryPair(t, options)
    const lost: Error[] = []
    pair.client.on('disconnect', (_origin, _targets, error: Error) => lost.push(error))
    const handler = send(pair.client)
    await pair.settle()
    await pair.say(response('ok', ...fields))
    await handler.settled
    return { clock, pair, lost }
  }

  for (const [title, fields, options, expected] of [
    ['keepAliveTimeout without a hint', [], { keepAliveTimeout: 1000 }, 1000],
    ['4 s by default', [], {}, 4000],
    ['a hint less the threshold', ['keep-alive: timeout=10'], {}, 8000],
    ['its own threshold', ['keep-alive: timeout=10'], { keepAliveTimeoutThreshold: 500 }, 9500],
    ['a negative threshold', ['keep-alive: timeout=1'], { keepAliveTimeoutThreshold: -500 }, 1500],
    ['no more than keepAliveMaxTimeout', ['keep-alive: timeout=100'], { keepAliveMaxTimeout: 3000 }, 3000],
    ['600 s at most by default', ['keep-alive: timeout=10000'], {}, 600e3],
    ['a hint with more in it', ['keep-alive: max=5, timeout=7'], {}, 5000],
    ['a hint with a unit', ['keep-alive: timeout=3s'], {}, 1000],
    ['a hint that cannot be read', ['keep-alive: max=5'], { keepAliveTimeout: 1000 }, 1000],
  ] as const) {
    test(`idle time: ${title}`, async (t) => {
      const { clock, pair, lost } = await idle(t, [...fields], options)
      assert.equal(pair.client.stats.connected, true)
      await clock.advance(expected - 1)
      assert.equal(pair.client.stats.connected, true)
      await clock.advance(1)
      await turns(3)
      assert.equal(pair.client.stats.connected, false)
      assert.deepEqual(
        lost.map(({ name, message }) => `${name}: ${message}`),
        ['InformationalError: socket idle timeout'],
      )
    })
  }

  for (const [title, hint, options] of [
    ['2 s with the default threshold', 'timeout=2', {}],
    ['1 s', 'timeout=1', {}],
    ['0 s', 'timeout=0', {}],
    ['as long as the threshold', 'timeout=5', { keepAliveTimeoutThreshold: 5000 }],
  ] as const) {
    test(`a hint that leaves no time (${title}) closes the connection after the response`, async (t) => {
      const { pair, lost } = await idle(t, [`keep-alive: ${hint}`], options)
      assert.equal(pair.client.stats.connected, false)
      assert.equal(lost[0]?.message, 'reset')
    })
  }

  for (const [title, text] of [
    ['connection: close', response('ok', 'connection: close')],
    ['HTTP/1.0', response('ok').replace('1.1', '1.0')],
  ] as const) {
    test(`${title} closes it after the response`, async (t) => {
      const { client, sockets, settle } = memoryPair(t)
      const lost = disconnected(client)
      const handler = send(client)
      await settle()
      sockets[0]!.say(text)
      await handler.settled
      assert.equal(handler.body, 'ok')
      const error = await lost
      assert.equal(error.code, 'UND_ERR_INFO')
      assert.equal(error.message, 'reset')
    })
  }

  test('HTTP/1.0 with keep-alive keeps it', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const handler = send(client)
    await settle()
    sockets[0]!.say(response('ok', 'connection: keep-alive').replace('1.1', '1.0'))
    await handler.settled
    await settle()
    assert.equal(client.stats.connected, true)
  })

  test('HEAD with reset: false and a response that keeps alive keeps it', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const handler = send(client, { method: 'HEAD', reset: false })
    await settle()
    sockets[0]!.say('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\n')
    await handler.settled
    await settle()
    assert.equal(client.stats.connected, true)
  })

  test('the idle time is over when there is work, and begins anew after it', async (t) => {
    const { clock, pair } = await idle(t, [], { keepAliveTimeout: 1000 })
    await clock.advance(900)
    const handler = send(pair.client)
    await pair.settle()
    await clock.advance(5000)
    assert.equal(pair.client.stats.connected, true)
    await pair.say(OK)
    await handler.settled
    await clock.advance(900)
    assert.equal(pair.client.stats.connected, true)
    await clock.advance(100)
    await turns(3)
    assert.equal(pair.client.stats.connected, false)
    assert.equal(pair.sockets.length, 1)
  })

  test('a request after the idle timeout opens a new connection', async (t) => {
    const { clock, pair } = await idle(t, [], { keepAliveTimeout: 1000 })
    await clock.advance(1000)
    await turns(3)
    const handler = send(pair.client)
    await pair.settle()
    assert.equal(pair.sockets.length, 2)
    await pair.say(OK)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  /** A pool whose connections have had a response each, and time out together. */
  const idlePool = async (
    t: Parameters<typeof memoryPair>[0],
  ): Promise<{ pool: Pool; clock: FakeClock; sockets: MemorySocket[] }> => {
    const clock = FakeClock.install(t)
    const sockets: MemorySocket[] = []
    const pool = new Pool('http://localhost:1', {
      keepAliveTimeout: 1000,
      connect: (_, callback) => {
        const socket = new MemorySocket()
        sockets.push(socket)
        queueMicrotask(() => callback(null, socket))
      },
    })
    t.after(() => pool.destroy())
    const handlers = [1, 2, 3, 4, 5].map(() => send(pool))
    await eventually(() => sockets.length === 5 && sockets.every(({ written }) => written !== ''))
    for (const socket of sockets) socket.say(OK)
    for (const { settled } of handlers) await settled
    await turns(4)
    return { pool, clock, sockets }
  }

  test('connections that time out together are closed one in each turn of the event loop', async (t) => {
    const { clock, sockets } = await idlePool(t)
    const closed = (): number => sockets.filter(({ destroyed }) => destroyed).length
    clock.jump(1000)
    const counts = []
    for (let before = 0; before < 5; before = closed()) {
      await turn()
      counts.push(closed() - before)
    }
    assert.equal(Math.max(...counts), 1)
  })

  test('those that wait to be closed take the requests of that moment', async (t) => {
    const { pool, clock, sockets } = await idlePool(t)
    clock.jump(1000)
    await eventually(() => sockets.some(({ destroyed }) => destroyed))
    const handlers = [1, 2, 3, 4].map(() => send(pool))
    await eventually(() => sockets.filter(({ written }) => requestLines(written).length === 2).length === 4)
    assert.equal(sockets.length, 5)
    for (const socket of sockets) if (!socket.destroyed) socket.say(OK)
    for (const handler of handlers) {
      await handler.settled
      assert.equal(handler.body, 'ok')
    }
    await turns(4)
    assert.equal(pool.stats.connected, 4)
    clock.jump(1000)
    await eventually(() => sockets.every(({ destroyed }) => destroyed))
  })

  test('one that was lost and is slow to close gives its request to a new one', async (t) => {
    const { pool, clock, sockets } = await idlePool(t)
    const closes: (() => void)[] = []
    for (const socket of sockets) {
      socket._destroy = (_, done) => closes.push(done)
      socket.destroy()
    }
    const handler = send(pool, { method: 'POST' })
    await turns(4)
    clock.jump(1000)
    try {
      await eventually(() => sockets.length === 6 && sockets[5]!.written !== '')
      await eventually(() => pool.stats.connected === 1)
    } finally {
      for (const close of closes) close()
    }
    sockets[5]!.say(OK)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('one that should have been closed long ago gets no request', async (t) => {
    const { pool, clock, sockets } = await idlePool(t)
    const later = performance.now() + 1101
    t.mock.method(performance, 'now', () => later)
    clock.jump(1000)
    await eventually(() => sockets.some(({ destroyed }) => destroyed))
    const handlers = [1, 2, 3, 4, 5].map(() => send(pool))
    await eventually(() => sockets.length === 10 && sockets.every(({ written }) => written !== ''))
    for (const socket of sockets.slice(5)) socket.say(OK)
    for (const handler of handlers) {
      await handler.settled
      assert.equal(handler.body, 'ok')
    }
    assert.deepEqual(
      sockets.map(({ written }) => requestLines(written).length),
      sockets.map(() => 1),
    )
  })

  test('an idle socket does not keep the process alive, a busy one does', async (t) => {
    const { server, client } = await startPair(t)
    const handler = send(client)
    const connection = await server.accept()
    await connection.head()
    const held = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
    const busy = held()
    connection.send(OK)
    await handler.settled
    await eventually(() => held() < busy)
    const again = send(client)
    await connection.head()
    assert.equal(held(), busy)
    connection.send(OK)
    await again.settled
  })

  test('timers of an idle client are not referenced', async (t) => {
    const { clock } = await idle(t, [])
    assert.ok(clock.active.size > 0)
    assert.ok([...clock.active].every((timer) => !timer.referenced))
  })

  test('maxRequestsPerClient replaces the connection', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { maxRequestsPerClient: 2 })
    for (let i = 0; i < 5; i++) {
      const handler = send(client)
      await settle()
      await say(OK)
      await handler.settled
    }
    assert.equal(sockets.length, 3)
    assert.deepEqual(
      sockets.map(({ written }) => [...written.matchAll(/connection: (\S+)/g)].map((match) => match[1])),
      [['keep-alive', 'close'], ['keep-alive', 'close'], ['keep-alive']],
    )
  })
})
