import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { describe, test } from 'node:test'
import type { ConnectFunction } from '../../src/dispatcher/client-options.ts'
import { Client, errors, Pool } from '../../src/index.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { OK, recordEvents, send, startPair } from '../support/scripted-client.ts'

const closed = { name: 'ClientClosedError', code: 'UND_ERR_CLOSED', message: 'The client is closed' }
const destroyed = {
  name: 'ClientDestroyedError',
  code: 'UND_ERR_DESTROYED',
  message: 'The client is destroyed',
}

/** The arguments of the callback of close or destroy. */
const called = (run: (callback: (...args: unknown[]) => void) => unknown): Promise<unknown[]> =>
  new Promise((resolve) => {
    assert.equal(
      run((...args) => resolve(args)),
      undefined,
    )
  })

describe('close()', () => {
  test('of an idle client: promise, callback, and the getters', async () => {
    const client = new Client('http://localhost:1')
    assert.deepEqual([client.closed, client.destroyed], [false, false])
    const closing = client.close()
    assert.equal(client.closed, true)
    assert.equal(await closing, null)
    assert.deepEqual([client.closed, client.destroyed], [true, true])

    const other = new Client('http://localhost:1')
    assert.deepEqual(await called((done) => other.close(done)), [null, null])
  })

  test('refuses new requests: closed before it is complete, destroyed after', async () => {
    const client = new Client('http://localhost:1')
    const closing = client.close()
    await assert.rejects(client.request({ path: '/', method: 'GET' }), closed)
    await closing
    await assert.rejects(client.request({ path: '/', method: 'GET' }), destroyed)
  })

  test('can be called again while it runs, and not after', async () => {
    const client = new Client('http://localhost:1')
    assert.deepEqual(await Promise.all([client.close(), client.close(), called((d) => client.close(d))]), [
      null,
      null,
      [null, null],
    ])
    await assert.rejects(client.close(), destroyed)
    const [error, value] = await called((done) => client.close(done))
    assert.ok(error instanceof errors.ClientDestroyedError)
    assert.equal(value, null)
  })

  test('sends what waits, connecting for it, and lets what runs complete', async (t) => {
    const { server, client, events } = await startPair(t)
    const handlers = [send(client, { path: '/1' }), send(client, { path: '/2' })]
    let done = false
    const closing = client.close().then(() => {
      done = true
    })
    assert.deepEqual([client.closed, client.destroyed], [true, false])
    const connection = await server.accept()
    await connection.head()
    assert.equal(client.destroyed, false)
    connection.send(OK)
    await handlers[0]!.settled
    await connection.head()
    assert.equal(done, false)
    connection.send(OK)
    await closing
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['ok', 'ok'],
    )
    assert.equal(client.destroyed, true)
    assert.deepEqual(events, ['connect', 'drain', 'disconnect: The client is destroyed'])
    await connection.closed()
  })

  test('reconnects for what waits when the connection is lost meanwhile', async (t) => {
    const { server, client } = await startPair(t)
    const one = send(client)
    const two = send(client)
    const closing = client.close()
    const first = await server.accept()
    await first.head()
    first.end()
    await one.settled
    assert.equal(one.error?.message.startsWith('other side closed'), true)
    const second = await server.accept()
    await second.head()
    second.send(OK)
    await closing
    assert.equal(two.body, 'ok')
  })

  test('waits until an open body was consumed', async (t) => {
    const { server, client } = await startPair(t)
    const answer = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send('HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n', 'x'.repeat(200_000))
    const { body } = await answer
    let done = false
    const closing = client.close().then(() => {
      done = true
    })
    await turns(20)
    assert.equal(done, false)
    assert.equal((await body.text()).length, 200_000)
    await closing
  })

  test('can be called inside a handler', async (t) => {
    const { server, client } = await startPair(t)
    let closing: Promise<void> | undefined
    const handler = send(client, {}, (method) => {
      if (method === 'onResponseStart') closing = client.close()
    })
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await handler.settled
    assert.equal(await closing, null)
    assert.equal(handler.body, 'ok')
  })

  test('followed by destroy() completes both', async (t) => {
    const { server, client } = await startPair(t)
    const handler = send(client)
    const connection = await server.accept()
    await connection.head()
    const closing = client.close()
    const reason = new Error('now')
    assert.equal(await client.destroy(reason), null)
    assert.equal(await closing, null)
    assert.equal(handler.error, reason)
  })
})

describe('destroy()', () => {
  test('before there is a connection: completes in the same turn of the event loop', async (t) => {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as net.AddressInfo
    for (const make of [
      () => new Client(`http://127.0.0.1:${port}`),
      () => new Pool(`http://127.0.0.1:${port}`),
    ]) {
      const dispatcher = make()
      const log: string[] = []
      setImmediate(() => log.push('turn'))
      dispatcher.request({ path: '/', method: 'GET' }).catch((error: Error) => log.push(error.message))
      const completed = dispatcher.destroy().then(() => log.push('completed'))
      await completed
      assert.deepEqual(log, ['The client is destroyed', 'completed'])
    }
  })

  test('of an idle client: promise, callback in either place, and the getters', async () => {
    const clients = [1, 2, 3, 4].map(() => new Client('http://localhost:1'))
    const destroying = clients[0]!.destroy()
    assert.deepEqual([clients[0]!.closed, clients[0]!.destroyed], [false, true])
    assert.equal(await destroying, null)
    assert.equal(await clients[1]!.destroy(new Error('x')), null)
    assert.deepEqual(await called((done) => clients[2]!.destroy(done)), [null, null])
    assert.deepEqual(await called((done) => clients[3]!.destroy(new Error('x'), done)), [null, null])
    assert.equal(clients[3]!.closed, false)
  })

  test('never calls back synchronously', () => {
    const client = new Client('http://localhost:1')
    let calls = 0
    client.destroy(() => calls++)
    client.destroy(() => calls++)
    assert.equal(calls, 0)
  })

  test('can be repeated, while it runs and after', async (t) => {
    const { server, client } = await startPair(t)
    send(client)
    await server.accept()
    assert.deepEqual(await Promise.all([client.destroy(), client.destroy()]), [null, null])
    assert.equal(await client.destroy(), null)
    assert.deepEqual(await called((done) => client.destroy(done)), [null, null])
    await assert.rejects(client.close(), destroyed)
  })

  test('refuses what is not a callback', () => {
    const client = new Client('http://localhost:1')
    for (const bad of [null, 'x', {}]) {
      const invalid = { code: 'UND_ERR_INVALID_ARG', message: 'invalid callback' }
      assert.throws(() => client.close(bad as never), invalid)
      assert.throws(() => client.destroy(null, bad as never), invalid)
    }
    assert.deepEqual([client.closed, client.destroyed], [false, false])
  })

  test('fails what waits inside the call, and what runs when the socket has closed', async (t) => {
    const { server, client, events } = await startPair(t)
    const order: string[] = []
    const running = send(client)
    const waiting = send(client)
    client.on('disconnect', () => order.push('disconnect'))
    const connection = await server.accept()
    await connection.head()
    const reason = new Error('enough')
    const destroying = client.destroy(reason).then(() => order.push('destroyed'))
    assert.equal(waiting.error, reason)
    assert.equal(waiting.lastController, undefined)
    assert.deepEqual(running.errors, [])
    await running.settled
    order.push('running failed')
    assert.equal(running.error, reason)
    await destroying
    assert.deepEqual(order.slice().sort(), ['destroyed', 'disconnect', 'running failed'])
    assert.ok(order.indexOf('disconnect') < order.indexOf('destroyed'))
    assert.deepEqual(events, ['connect', 'disconnect: enough'])
    assert.equal(client.stats.size, 0)
    await connection.closed()
  })

  test('fails with a ClientDestroyedError unless it is given a reason', async (t) => {
    const { server, client } = await startPair(t)
    const running = send(client)
    const waiting = send(client)
    await (await server.accept()).head()
    await client.destroy()
    for (const { error } of [running, waiting]) {
      assert.ok(error instanceof errors.ClientDestroyedError)
      assert.equal(error.message, destroyed.message)
    }
  })

  test('errors an open body', async (t) => {
    const { server, client } = await startPair(t)
    const answer = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
    const { body } = await answer
    const reading = body.text()
    const reason = new Error('enough')
    const destroying = client.destroy(reason)
    await assert.rejects(reading, reason)
    await destroying
  })

  test('while connecting: the socket that comes is destroyed, and there is no event', async () => {
    let callback: Parameters<ConnectFunction>[1] | null = null
    const client = new Client('http://localhost:1', {
      connect: (_, done) => {
        callback = done
      },
    })
    const events = recordEvents(client)
    const handler = send(client)
    const destroying = client.destroy()
    assert.ok(handler.error instanceof errors.ClientDestroyedError)
    await destroying
    const socket = new MemorySocket()
    const failed = once(socket, 'error')
    callback!(null, socket)
    const [error] = await failed
    assert.ok(error instanceof errors.ClientDestroyedError)
    assert.deepEqual(events, [])
  })

  test('while connecting over TCP closes the attempt', async (t) => {
    const { client } = await startPair(t)
    const handler = send(client)
    await client.destroy()
    assert.ok(handler.error instanceof errors.ClientDestroyedError)
    assert.equal(client.stats.connected, false)
  })

  for (const method of [
    'onRequestStart',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
  ] as const) {
    test(`can be called inside ${method}`, async (t) => {
      const { server, client } = await startPair(t)
      const reason = new Error('enough')
      let destroying: Promise<void> | undefined
      const handler = send(client, {}, (current) => {
        if (current === method) destroying = client.destroy(reason)
      })
      const waiting = send(client)
      const connection = await server.accept()
      if (method !== 'onRequestStart' && method !== 'onRequestSent') {
        await connection.head()
        connection.send(OK)
      }
      await handler.settled
      assert.equal(await destroying, null)
      assert.deepEqual(handler.errors, [reason])
      assert.equal(handler.calls.at(-1), 'onResponseError')
      assert.deepEqual(waiting.errors, [reason])
    })
  }

  for (const method of ['onResponseEnd', 'onResponseError'] as const) {
    test(`can be called inside ${method}`, async (t) => {
      const { server, client } = await startPair(t)
      let destroying: Promise<void> | undefined
      const handler = send(client, {}, (current) => {
        if (current === method) destroying = client.destroy()
      })
      const waiting = send(client)
      const connection = await server.accept()
      await connection.head()
      connection.send(method === 'onResponseEnd' ? OK : 'nonsense')
      await handler.settled
      assert.equal(await destroying, null)
      assert.ok(waiting.error instanceof errors.ClientDestroyedError)
    })
  }

  test('a handler may give up the other waiting requests while they are being failed', async () => {
    let fail: (() => void) | null = null
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        fail = () => callback(new Error('no'), null)
      },
    })
    let abortSecond = (): void => {}
    send(client, {}, (method) => {
      if (method === 'onResponseError') abortSecond()
    })
    const second = new RecordingHandler()
    client.dispatch(
      { path: '/', method: 'GET' },
      Object.assign(second, {
        onRequestQueued: (abort: () => void) => {
          abortSecond = abort
        },
      }),
    )
    fail!()
    assert.equal(second.errors.length, 1)
    assert.deepEqual(client.stats, { connected: false, pending: 0, running: 0, size: 0 })
    send(client)
    assert.equal(client.stats.pending, 1)
    await client.destroy()
  })
})

test('close() waits for requests that a connection which is closing returns', async (t) => {
  const settings = '000000040000000000'
  const answer = '000001010500000001' + '88'
  const goaway = '000008070000000000' + '00000001' + '00000002'
  const sockets: MemorySocket[] = []
  const client = new Client('https://a.test', {
    connect: (_target, callback) => {
      const socket = Object.assign(new MemorySocket(), { alpnProtocol: 'h2' })
      sockets.push(socket)
      callback(null, socket as never)
      socket.push(Buffer.from(settings, 'hex'))
    },
  })
  t.after(() => client.destroy())
  const first = send(client)
  const second = send(client)
  await turns(4)
  // The server has answered the first, and has not seen the second.
  sockets[0]!.push(Buffer.from(answer + goaway, 'hex'))
  await first.settled
  const closed = client.close()
  await eventually(() => sockets.length === 2)
  await turns(4)
  sockets[1]!.push(Buffer.from(answer, 'hex'))
  await second.settled
  assert.equal(second.error, undefined)
  await closed
})
