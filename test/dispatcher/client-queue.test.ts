import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { Client, Pool } from '../../src/index.ts'
import { turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK, send, startPair } from '../support/scripted-client.ts'

const GET = { path: '/', method: 'GET' } as const

describe('a client connects when there is something to send', () => {
  test('not when it is made, but inside the first dispatch', () => {
    let calls = 0
    const client = new Client('http://localhost:1', { connect: () => void calls++ })
    assert.equal(calls, 0)
    send(client)
    assert.equal(calls, 1)
    send(client)
    assert.equal(calls, 1, 'one attempt at a time')
    void client.destroy()
  })

  test('for a body that is a stream or an iterable, one microtask later', async () => {
    for (const body of [Readable.from(['x']), (async function* () {})()]) {
      let calls = 0
      const client = new Client('http://localhost:1', { connect: () => void calls++ })
      send(client, { method: 'POST', body })
      assert.equal(calls, 0)
      await Promise.resolve()
      assert.equal(calls, 1)
      await client.destroy()
    }
  })

  test('a stream that has ended by then goes out with its length', async (t) => {
    const { server, client } = await startPair(t)
    const body = new Readable({ read() {} })
    const handler = send(client, { method: 'POST', body })
    body.push('hello')
    body.push(null)
    const connection = await server.accept()
    assert.match(await connection.until('hello'), /\r\ncontent-length: 5\r\n/)
    connection.send(OK)
    await handler.settled
  })

  test('client.connect() connects early', async (t) => {
    const { server, client } = await startPair(t)
    const connected = once(client, 'connect')
    const tunnel = client.connect({ path: 'example.test:80' })
    await connected
    const connection = await server.accept()
    assert.match(await connection.head(), /^CONNECT example\.test:80 HTTP\/1\.1\r\n/)
    connection.send('HTTP/1.1 200 OK\r\n\r\n')
    const { statusCode, socket } = await tunnel
    assert.equal(statusCode, 200)
    socket.destroy()
  })
})

describe('requests leave in the order in which they came', () => {
  test('one after another', async (t) => {
    const { server, client } = await startPair(t)
    const handlers = ['/a', '/b', '/c'].map((path) => send(client, { path }))
    const connection = await server.accept()
    for (const path of ['/a', '/b', '/c']) {
      assert.match(await connection.head(), new RegExp(`^GET ${path} `))
      assert.equal(connection.received, '')
      connection.send(OK)
    }
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.equal(server.count, 1)
  })

  test('one that gives up many others as it fails leaves the count of those that wait right', async () => {
    const options = { connect: () => {}, connections: 1 }
    for (const client of [
      new Client('http://localhost:1', options),
      new Pool('http://localhost:1', options),
    ]) {
      const aborts: (() => void)[] = []
      for (let i = 0; i < 130; i++) {
        const handler = new RecordingHandler({
          onResponseError() {
            for (const abort of i === 2 ? aborts.slice(3) : []) abort()
          },
        })
        const onRequestQueued = (abort: () => void): void => void aborts.push(abort)
        client.dispatch(GET, Object.assign(handler, { onRequestQueued }))
      }
      assert.equal(client.stats.pending, 130)
      aborts[2]!()
      assert.equal(client.stats.pending, 2)
      await client.destroy()
    }
  })

  test('one that was given up while it waited is not sent, and the next takes its place', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client, { path: '/1' })
    const second = new RecordingHandler()
    let abort: ((reason?: unknown) => void) | null = null
    client.dispatch(
      { path: '/2', method: 'GET' },
      Object.assign(second, { onRequestQueued: (give: typeof abort) => (abort = give) }),
    )
    const third = send(client, { path: '/3' })
    const reason = new Error('changed my mind')
    abort!(reason)
    assert.deepEqual(second.calls, ['onResponseError'])
    assert.equal(second.error, reason)
    assert.equal(second.lastController, undefined)
    const connection = await server.accept()
    await connection.until('GET /1')
    await connection.head()
    connection.send(OK)
    await first.settled
    assert.match(await connection.head(), /^GET \/3 /)
    connection.send(OK)
    await third.settled
  })
})

describe('the answer of dispatch, and drain', () => {
  test('false while not connected, whatever pipelining is', async (t) => {
    for (const pipelining of [1, 10]) {
      const { client } = await startPair(t, { pipelining })
      assert.equal(client.dispatch(GET, new RecordingHandler()), false)
    }
  })

  test('false on an idle connection for a blocking request', async (t) => {
    const { server, client } = await startPair(t, { pipelining: 10 })
    const first = send(client)
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await first.settled
    assert.equal(client.dispatch({ ...GET, blocking: true }, new RecordingHandler()), false)
  })

  test('true with pipelining, a live connection and requests that do not block', async (t) => {
    const { server, client } = await startPair(t, { pipelining: 3 })
    const handlers = [send(client)]
    const connection = await server.accept()
    await connection.head()
    const answers: boolean[] = []
    for (let i = 0; i < 3; i++) {
      const handler = new RecordingHandler()
      handlers.push(handler)
      answers.push(client.dispatch(GET, handler))
    }
    assert.deepEqual(answers, [true, false, false])
    connection.send(OK, OK, OK)
    await handlers[2]!.settled
    await connection.until('\r\n\r\n')
    connection.send(OK)
    await handlers[3]!.settled
  })

  test('a request that is refused makes dispatch return false and tells its handler at once', () => {
    const client = new Client('http://localhost:1')
    const handler = new RecordingHandler()
    assert.equal(client.dispatch({ path: 'x', method: 'GET' }, handler), false)
    assert.deepEqual(handler.calls, ['onResponseError'])
    assert.equal(handler.lastController, null)
    assert.equal(handler.error?.message, 'path must be an absolute URL or start with a slash')
    assert.equal(client.stats.size, 0)
  })

  test('drain comes once, when the client is no longer busy', async (t) => {
    const { server, client, events } = await startPair(t)
    const handlers = [send(client), send(client), send(client)]
    const connection = await server.accept()
    for (const handler of handlers) {
      await connection.head()
      assert.equal(events.includes('drain'), false)
      connection.send(OK)
      await handler.settled
    }
    await turns(2)
    assert.deepEqual(events, ['connect', 'drain'])
    assert.equal(client.stats.size, 0)
  })

  test('drain comes after a failed connect has emptied the queue', async () => {
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => queueMicrotask(() => callback(new Error('no'), null)),
    })
    const order: string[] = []
    client.on('connectionError', () => order.push('connectionError')).on('drain', () => order.push('drain'))
    const handler = send(client)
    await handler.settled
    await turns(1)
    assert.deepEqual(order, ['connectionError', 'drain'])
    await client.destroy()
  })

  test('drain waits for the end of a dispatch in which the client became free', async () => {
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        callback(new Error('no'), null)
      },
    })
    const order: string[] = []
    client.on('drain', () => order.push('drain'))
    order.push(`returned ${client.dispatch(GET, new RecordingHandler())}`)
    await turns(1)
    assert.equal(order[0], 'returned true')
    assert.deepEqual(order.slice(1), [])
    await client.destroy()
  })

  test('a listener of drain may dispatch', async () => {
    const sockets: MemorySocket[] = []
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        const socket = new MemorySocket()
        sockets.push(socket)
        callback(null, socket)
      },
    })
    const first = send(client)
    const second = new RecordingHandler()
    client.once('drain', () => client.dispatch(GET, second))
    await turns(1)
    sockets[0]!.say(OK)
    await first.settled
    await turns(3)
    sockets[0]!.say(OK)
    await second.settled
    assert.equal(second.body, 'ok')
    await client.close()
  })
})
