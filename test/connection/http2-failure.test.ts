import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors, H2CClient } from '../../src/index.ts'
import {
  CANCEL,
  DATA,
  FLAG_END_STREAM,
  GOAWAY,
  HEADERS,
  PROTOCOL_ERROR,
} from '../../src/protocol/http2/constants.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import type { HandlerMethod, RecordingHandler } from '../support/recording-handler.ts'
import { disconnected, send } from '../support/scripted-client.ts'
import { startScriptedServer } from '../support/scripted-server.ts'

type Failed = Error & {
  code: string
  method: string
  origin: string
  path: string
  phase: string
  reusedSocket: boolean
  retrySafety: string
  timings: import('../../src/index.ts').Timings
  socket: import('../../src/index.ts').SocketInfo
}

describe('a handler that throws over HTTP/2 fails its own request and keeps the connection', () => {
  const thrown = new Error('in the handler')
  const before: HandlerMethod[] = ['onRequestStart']
  const during: HandlerMethod[] = [
    'onBodySent',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
  ]
  for (const method of [...before, ...during, 'onResponseEnd' as const]) {
    test(method, async (t) => {
      const { server, client, events } = await startH2Pair(t)
      const other = send(client, { path: '/other' })
      const peer = await server.accept()
      const otherId = (await peer.request()).id
      const handler = send(client, { method: 'POST', body: 'bytes' }, (called) => {
        if (called === method) throw thrown
      })
      if (method !== 'onRequestStart') {
        const { id } = await peer.request()
        if (method.startsWith('onResponse')) peer.head(id, 200).data(id, 'some')
        if (method === 'onResponseEnd') peer.data(id, '', true)
        await handler.settled
        if (method !== 'onResponseEnd') assert.equal(await peer.resetOf(id), CANCEL)
      }
      await handler.settled
      await peer.settled()
      assert.deepEqual(handler.errors, [thrown])
      peer.respond(otherId)
      await other.settled
      assert.equal(other.body, 'ok')
      assert.equal(client.stats.size, 0)
      assert.equal(peer.requests.length, method === 'onRequestStart' ? 1 : 2)
      assert.ok(!events.some((event) => event.startsWith('disconnect')))
    })
  }

  test('for an interim response', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (called) => {
      if (called === 'onResponseStart') throw thrown
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 103).respond(id)
    await handler.settled
    assert.deepEqual(handler.errors, [thrown])
    assert.deepEqual(handler.statuses, [103])
    assert.equal(await peer.resetOf(id), CANCEL)
  })

  test('onResponseError: the error event of the client', async (t) => {
    const { server, client, events } = await startH2Pair(t)
    const handler = send(client, {}, (called) => {
      if (called === 'onResponseError') throw thrown
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.reset(id, PROTOCOL_ERROR)
    await handler.settled
    await peer.settled()
    assert.ok(events.includes('error: in the handler'))
    assert.equal(client.stats.connected, true)
  })
})

describe('a connection that is lost', () => {
  test('fails every request that runs on it; what waits goes to a new one', async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 3 })
    const running = ['/1', '/2', '/3'].map((path) => send(client, { path }))
    const waiting = send(client, { path: '/4' })
    const peer = await server.accept()
    const requests = await peer.take(3)
    peer.head(requests[2]!.id, 200).data(requests[2]!.id, 'some')
    await eventually(() => running[2]!.body === 'some')
    const lost = disconnected(client)
    peer.end()
    const error = await lost
    assert.equal(error.message, 'other side closed')
    for (const handler of running) {
      const failed = handler.error as Failed
      assert.equal(handler.errors.length, 1)
      assert.equal(failed.code, 'UND_ERR_SOCKET')
      assert.match(failed.message, /^other side closed/)
      assert.equal(failed.retrySafety, 'idempotent-only')
    }
    assert.equal((running[2]!.error as Failed).phase, 'body')
    const next = await server.accept()
    const request = await next.request()
    assert.equal(request.headers[':path'], '/4')
    next.respond(request.id)
    await waiting.settled
    assert.equal(waiting.body, 'ok')
  })

  test('by a reset of the transport', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    await peer.request()
    await peer.settled()
    ;(peer.socket as import('node:net').Socket).resetAndDestroy()
    await handler.settled
    assert.equal((handler.error as Failed).code, 'ECONNRESET')
    assert.equal((handler.error as Failed).retrySafety, 'idempotent-only')
    assert.equal((handler.error as Failed).path, '/')
  })

  test('while idle: the next request reconnects', async (t) => {
    const { server, client } = await startH2Pair(t)
    const first = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await first.settled
    const lost = disconnected(client)
    peer.end()
    await lost
    const second = send(client)
    const next = await server.accept()
    next.respond((await next.request()).id)
    await second.settled
    assert.equal(second.body, 'ok')
  })

  test('because the server breaks the protocol: GOAWAY with the reason, and a new connection', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    await peer.request()
    peer.send(DATA, FLAG_END_STREAM, 0, Buffer.from('on stream 0'))
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.code, 'UND_ERR_SOCKET')
    assert.match(error.message, /^HTTP\/2: /)
    const goaway = await peer.frame(GOAWAY)
    assert.equal(goaway.payload.readUInt32BE(4), PROTOCOL_ERROR)
    const next = send(client)
    const second = await server.accept()
    second.respond((await second.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })

  test('before a request has left: it goes to the next one, and only there', async (t) => {
    const { server, client } = await startH2Pair(t)
    let late: RecordingHandler | null = null
    const handler = send(client, {}, (method) => {
      if (method === 'onResponseData') late = send(client, { method: 'POST', path: '/late', body: 'once' })
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 200).data(id, 'some').send(DATA, FLAG_END_STREAM, 0))
    await handler.settled
    const next = await server.accept()
    const request = await next.request()
    assert.equal(request.headers[':path'], '/late')
    assert.equal((await next.body(request.id)).toString(), 'once')
    next.respond(request.id)
    await late!.settled
    await peer.closed()
    assert.equal(late!.body, 'ok')
    assert.equal(peer.requests.length, 1)
  })

  test('because of a header block that cannot be decoded', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handlers = [send(client), send(client)]
    const peer = await server.accept()
    const [first] = await peer.take(2)
    peer.send(HEADERS, 0x5, first!.id, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))
    await Promise.all(handlers.map((handler) => handler.settled))
    for (const handler of handlers) assert.equal((handler.error as Failed).code, 'UND_ERR_SOCKET')
    await peer.closed()
  })
})

describe('a server that does not speak HTTP/2', () => {
  for (const answer of ['HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n', 'SSH-2.0-OpenSSH\r\n', '']) {
    test(`answers ${JSON.stringify(answer)}: other side closed, and close() resolves`, async (t) => {
      const server = await startScriptedServer(t)
      const client = new H2CClient(server.url)
      t.after(() => client.destroy())
      const handler = send(client)
      const connection = await server.accept()
      await connection.until('PRI * HTTP/2.0')
      connection.end(answer)
      await handler.settled
      const error = handler.error as Failed
      assert.ok(error instanceof errors.SocketError)
      assert.match(error.message, /^other side closed/)
      assert.equal(await client.close(), null)
    })
  }

  test('does not make CONNECT reconnect for ever', async (t) => {
    const server = await startScriptedServer(t)
    const client = new H2CClient(server.url)
    t.after(() => client.destroy())
    let running = true
    const answering = (async () => {
      while (running) {
        const connection = await server.accept()
        await connection.until('PRI * HTTP/2.0')
        connection.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
      }
    })()
    answering.catch(() => {})
    await assert.rejects(client.connect({ path: 'target.test:443' }), {
      code: 'UND_ERR_SOCKET',
      message: /^other side closed/,
    })
    running = false
    assert.ok(server.count < 50)
    assert.equal(await client.close(), null)
  })
})

describe('errors over HTTP/2 say', () => {
  test('which request, how far it was, on what connection, and whether to repeat it', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { path: '/secret?token=x', method: 'POST', body: 'bytes' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'some').reset(id, PROTOCOL_ERROR)
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.method, 'POST')
    assert.equal(error.origin, server.url)
    assert.equal(error.path, '/secret')
    assert.equal(error.phase, 'body')
    assert.equal(error.reusedSocket, false)
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(error.socket.remotePort, server.port)
    assert.ok(error.socket.bytesRead! > 0 && error.socket.bytesWritten! > 0)
    const { queued, connect, secured, sent, firstByte, end } = error.timings
    assert.equal(secured, null)
    assert.ok(queued <= connect! && connect! <= sent! && sent! <= firstByte! && firstByte! <= end!)
  })

  test('that a later request used a connection that was there', async (t) => {
    const { server, client } = await startH2Pair(t)
    const first = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await first.settled
    const second = send(client)
    peer.reset((await peer.request()).id, CANCEL)
    await second.settled
    const error = second.error as Failed
    assert.equal(error.reusedSocket, true)
    assert.equal(error.timings.connect, null)
    assert.equal(error.phase, 'headers')
  })
})

describe('close() and destroy() over HTTP/2', () => {
  test('close() lets what runs and waits complete, then closes the connection', async (t) => {
    const { server, client, events } = await startH2Pair(t, { maxConcurrentStreams: 1 })
    const handlers = [send(client), send(client)]
    const closing = client.close()
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    peer.respond((await peer.request()).id)
    assert.equal(await closing, null)
    assert.deepEqual(
      handlers.map(({ body }) => body),
      ['ok', 'ok'],
    )
    assert.ok(events.includes('disconnect: The client is destroyed'))
    await peer.closed()
  })

  test('destroy() fails what runs and what waits with its reason', async (t) => {
    const { server, client, events } = await startH2Pair(t, { maxConcurrentStreams: 1 })
    const handlers = [send(client), send(client)]
    const peer = await server.accept()
    await peer.request()
    const reason = new Error('going home')
    assert.equal(await client.destroy(reason), null)
    assert.deepEqual(
      handlers.map(({ errors }) => errors),
      [[reason], [reason]],
    )
    assert.ok(events.includes('disconnect: going home'))
    await peer.closed()
    assert.equal(client.destroyed, true)
  })

  test('destroy() from inside onRequestStart', async (t) => {
    const { server, client } = await startH2Pair(t)
    const first = send(client)
    const peer = await server.accept()
    await peer.request()
    const reason = new Error('going home')
    const handler = send(client, {}, (method) => {
      if (method === 'onRequestStart') void client.destroy(reason)
    })
    await Promise.all([first.settled, handler.settled])
    assert.deepEqual([first.errors, handler.errors], [[reason], [reason]])
    await peer.closed()
    assert.equal(peer.requests.length, 1)
  })

  test('destroy() from inside a callback of a response', async (t) => {
    const { server, client } = await startH2Pair(t)
    const other = send(client)
    const handler = send(client, {}, (method) => {
      if (method === 'onResponseData') void client.destroy()
    })
    const peer = await server.accept()
    const [, second] = await peer.take(2)
    peer.head(second!.id, 200).data(second!.id, 'some').data(second!.id, 'more', true)
    await Promise.all([handler.settled, other.settled])
    await turns(2)
    assert.equal(handler.body, 'some')
    assert.deepEqual([handler.errors.length, other.errors.length], [1, 1])
    assert.equal((other.error as Failed).code, 'UND_ERR_DESTROYED')
  })
})
