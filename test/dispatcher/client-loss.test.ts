import assert from 'node:assert/strict'
import { Duplex, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { buildConnector, Client, errors } from '../../src/index.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import { connectionReset } from '../support/memory-socket.ts'
import { OK, recordEvents, response, send, startPair } from '../support/scripted-client.ts'

const FREE = { blocking: false } as const

const starts = (handler: { calls: string[] }): number =>
  handler.calls.filter((call) => call === 'onRequestStart').length

describe('a connection is lost while requests run', () => {
  test('only the first fails; the others are sent again, in order, before what waits', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 3 })
    const handlers = [1, 2, 3, 4].map((n) => send(client, { path: `/${n}`, ...FREE }))
    await settle()
    assert.equal(requestLines(sockets[0]!.written).length, 3)
    sockets[0]!.finish()
    await settle()
    assert.equal((handlers[0]!.error as { code?: string }).code, 'UND_ERR_SOCKET')
    assert.match(handlers[0]!.error!.message, /^other side closed/)
    assert.deepEqual(requestLines(sockets[1]!.written), ['GET /2', 'GET /3', 'GET /4'])
    assert.deepEqual(handlers.map(starts), [1, 2, 2, 1])
    await say(response('2'), response('3'), response('4'))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['', '2', '3', '4'],
    )
  })

  test('a body whose memory was given away meanwhile is not sent again', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 3 })
    const body = new Uint8Array(9).fill(0x61)
    const options = { path: '/2', method: 'PUT', idempotent: true, body, ...FREE } as const
    const handlers = [
      send(client, { path: '/1', ...FREE }),
      send(client, options),
      send(client, { path: '/3', ...FREE }),
    ]
    await settle()
    assert.equal(requestLines(sockets[0]!.written).length, 3)
    structuredClone(body.buffer, { transfer: [body.buffer] })
    sockets[0]!.finish()
    await settle()
    assert.deepEqual(requestLines(sockets[1]!.written), ['GET /3'])
    assert.ok(handlers[1]!.error instanceof errors.InvalidArgumentError, String(handlers[1]!.error))
    assert.match(handlers[1]!.error.message, /^the memory of the body was transferred or resized/)
    await say(response('3'))
    assert.equal(handlers[2]!.body, '3')
  })

  test('a second start has a new controller', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 2 })
    send(client, FREE)
    const controllers: unknown[] = []
    const handler = send(client, FREE, (method, { controller }) => {
      if (method === 'onRequestStart') controllers.push(controller)
    })
    await settle()
    sockets[0]!.finish()
    await settle()
    assert.equal(controllers.length, 2)
    assert.notEqual(controllers[0], controllers[1])
    ;(controllers[0] as { abort(): void }).abort()
    await say(OK)
    assert.equal(handler.calls.filter((call) => /End|Error/.test(call)).length, 1)
  })

  for (const [title, lose, code] of [
    ['reset by the server', (socket: { reset(): unknown }) => socket.reset(), 'ECONNRESET'],
    [
      'destroyed with an error',
      (socket: { destroy(error: Error): unknown }) =>
        socket.destroy(Object.assign(new Error('x'), { code: 'MINE' })),
      'MINE',
    ],
    ['closed in order', (socket: { destroy(): unknown }) => socket.destroy(), 'UND_ERR_SOCKET'],
    ['a parser error', (socket: { say(text: string): unknown }) => socket.say('x'), 'HPE_INVALID_CONSTANT'],
  ] as const) {
    test(`${title}: the first gets that error, what waits goes to a new connection`, async (t) => {
      const { client, sockets, settle, say } = memoryPair(t)
      const first = send(client)
      const second = send(client)
      await settle()
      lose(sockets[0] as never)
      await settle()
      assert.equal((first.error as { code?: string }).code, code)
      assert.equal(sockets.length, 2)
      await say(OK)
      assert.deepEqual([second.body, starts(second)], ['ok', 1])
    })
  }

  test('a request that is not idempotent is never sent twice', async (t) => {
    const { client, sockets, settle } = memoryPair(t, { pipelining: 3 })
    const post = send(client, { method: 'POST', body: 'x', ...FREE })
    const get = send(client, FREE)
    await settle()
    assert.equal(requestLines(sockets[0]!.written).length, 2)
    // Aborting the second costs the connection, on which the first may have been processed.
    get.controller!.abort()
    await settle()
    assert.equal((post.error as { code?: string }).code, 'UND_ERR_SOCKET')
    assert.equal(post.errors.length, 1)
    assert.deepEqual(requestLines(sockets.map((socket) => socket.written).join('')), ['POST /', 'GET /'])
    assert.equal(client.stats.size, 0)
  })

  test('giving up one of several: the others are sent again', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 3 })
    const handlers = [1, 2, 3].map((n) => send(client, { path: `/${n}`, ...FREE }))
    await settle()
    const reason = new Error('not this one')
    handlers[1]!.controller!.abort(reason)
    assert.equal(handlers[1]!.error, reason)
    await settle()
    assert.deepEqual(requestLines(sockets[1]!.written), ['GET /1', 'GET /3'])
    await say(response('1'), response('3'))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['1', '', '3'],
    )
    assert.equal(handlers[1]!.errors.length, 1)
  })

  test('a request whose response had begun is not sent again', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 3 })
    const first = send(client, { path: '/1', ...FREE })
    const second = send(client, { path: '/2', ...FREE })
    await settle()
    await say('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab')
    second.controller!.abort()
    await settle()
    assert.equal(first.errors.length, 1)
    assert.equal(sockets.length, 1)
    assert.equal(starts(first), 1)
  })

  test('a body that was read from is not sent again', async (t) => {
    const { client, sockets, settle } = memoryPair(t, { pipelining: 3 })
    const put = send(client, { method: 'PUT', body: Readable.from(['x']), idempotent: true, ...FREE })
    const get = send(client, FREE)
    await settle()
    assert.equal(client.stats.running, 2)
    get.controller!.abort()
    await settle()
    assert.equal(put.errors.length, 1)
    assert.equal((put.error as errors.SocketError).retrySafety, 'no')
    assert.equal(sockets.length, 1)
  })

  test('the body stream is destroyed with the error', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    const body = new Readable({ read() {} })
    body.push('x')
    const handler = send(client, { method: 'POST', body })
    await settle()
    sockets[0]!.reset()
    await settle()
    assert.equal(body.destroyed, true)
    assert.equal(body.errored, handler.error)
    assert.equal((handler.error as { code?: string }).code, 'ECONNRESET')
  })

  test('errors tell which request, how far it had come, and whether it may be sent again', async (t) => {
    const { server, client } = await startPair(t)
    const handler = send(client, { path: '/path?secret', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.end()
    await handler.settled
    const error = handler.error as errors.SocketError
    assert.deepEqual(
      [error.method, error.origin, error.path, error.phase, error.reusedSocket, error.retrySafety],
      ['GET', server.url, '/path', 'headers', false, 'idempotent-only'],
    )
    assert.equal(error.socket?.remotePort, server.port)
    assert.doesNotMatch(error.message, /secret/)
    assert.ok(error.timings && error.timings.end !== null && error.timings.end >= error.timings.queued)
  })
})

describe('a connection is lost while nothing runs', () => {
  const idle = async (t: Parameters<typeof memoryPair>[0]): Promise<ReturnType<typeof memoryPair>> => {
    const pair = memoryPair(t)
    const first = send(pair.client)
    await pair.settle()
    await pair.say(OK)
    await first.settled
    return pair
  }

  test("an error of the socket's owner fails all that waits, with that very error", async (t) => {
    const { client, sockets } = await idle(t)
    const handlers = [send(client), send(client)]
    const reason = new Error('certificate revoked')
    sockets[0]!.destroy(reason)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(
      handlers.map((handler) => handler.error),
      [reason, reason],
    )
  })

  test('errors of the system and closes do not: nothing was sent', async (t) => {
    for (const reason of [connectionReset(), undefined, new errors.SocketError('x')]) {
      const { client, sockets, settle, say } = await idle(t)
      const handler = send(client, { method: 'POST', body: 'x' })
      sockets[0]!.destroy(reason)
      await settle()
      await say(OK)
      assert.deepEqual([handler.body, handler.errors], ['ok', []])
    }
  })
})

describe('no connection comes about', () => {
  test('all that waits fails with the error of the connector', async () => {
    const client = new Client('http://127.0.0.1:1')
    const handlers = [send(client), send(client), send(client)]
    await Promise.all(handlers.map((handler) => handler.settled))
    for (const { error } of handlers) {
      assert.equal((error as { code?: string }).code, 'ECONNREFUSED')
      assert.equal((error as errors.UndiciError).phase, 'connecting')
      assert.equal((error as errors.UndiciError).retrySafety, 'safe')
    }
    assert.equal(client.stats.size, 0)
    await client.destroy()
  })

  test('the client works on when there is one later', async (t) => {
    let refuse = true
    const { server } = await startPair(t)
    const connector = buildConnector({})
    const client = new Client(server.url, {
      connect: (options, callback) => {
        if (refuse) callback(new Error('not yet'))
        else connector(options, callback)
      },
    })
    t.after(() => client.destroy())
    const first = send(client)
    await first.settled
    assert.equal(first.error?.message, 'not yet')
    refuse = false
    const second = send(client)
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    await second.settled
    assert.equal(second.body, 'ok')
  })

  test('requests dispatched while others are being failed try again', async () => {
    let calls = 0
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        calls++
        queueMicrotask(() => callback(new Error(`attempt ${calls}`)))
      },
    })
    let again: ReturnType<typeof send> | undefined
    const first = send(client, {}, (method) => {
      if (method === 'onResponseError') again = send(client)
    })
    await first.settled
    await again!.settled
    assert.deepEqual([first.error?.message, again!.error?.message], ['attempt 1', 'attempt 2'])
    await client.destroy()
  })
})

test('after each loss the client has no request, timer or connection left over', async (t) => {
  const { client, sockets, settle } = memoryPair(t, { pipelining: 2 })
  const events = recordEvents(client)
  for (let i = 0; i < 3; i++) {
    const handler = send(client)
    await settle()
    sockets.at(-1)!.reset()
    await handler.settled
    await eventually(() => !client.stats.connected)
    assert.deepEqual(client.stats, { connected: false, pending: 0, running: 0, size: 0 })
  }
  await turns(2)
  assert.deepEqual(
    events.filter((event) => event.startsWith('dis')),
    Array<string>(3).fill('disconnect: read ECONNRESET'),
  )
})

describe('a stream of a caller that is destroyed, and emits no close', () => {
  for (const method of ['GET', 'POST'] as const) {
    for (const when of ['in the turn of the last response', 'later'] as const) {
      test(`${method} ${when}: goes to another connection`, async (t) => {
        const sockets: Duplex[] = []
        const client = new Client('http://localhost:1', {
          connect: (_, callback) => {
            const count = sockets.length
            const socket = new Duplex({
              emitClose: false,
              read() {},
              write(_chunk, _encoding, done) {
                done()
                setImmediate(() => socket.push(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${count}`))
              },
            })
            sockets.push(socket)
            queueMicrotask(() => callback(null, socket))
          },
        })
        t.after(() => client.destroy())
        const first = send(client)
        const next = new Promise<ReturnType<typeof send>>((resolve) => {
          const lose = (): void => {
            sockets[0]!.destroy()
            resolve(send(client, { method }))
          }
          if (when === 'later') void first.settled.then(() => turns(5)).then(lose)
          else void first.settled.then(lose)
        })
        const handler = await next
        await turns(20)
        assert.deepEqual([first.body, handler.body, handler.errors], ['0', '1', []])
      })
    }
  }
})
