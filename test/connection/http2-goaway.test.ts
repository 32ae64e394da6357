import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { DATA, ENHANCE_YOUR_CALM, GOAWAY, MAX_STREAM_ID } from '../../src/protocol/http2/constants.ts'
import { StreamSet } from '../../src/protocol/http2/stream-set.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { disconnected, send } from '../support/scripted-client.ts'
import { notInPackage } from '../support/tested-build.ts'

type Failed = Error & { code: string; retrySafety: string }

describe('GOAWAY', () => {
  test('on an idle connection: disconnect, and the next request on a new one', async (t) => {
    const { server, client } = await startH2Pair(t)
    const first = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await first.settled
    const lost = disconnected(client)
    peer.goaway(1)
    const error = await lost
    assert.equal(error.message, 'HTTP/2: "GOAWAY" frame received with code 0')
    assert.equal(error.code, 'UND_ERR_INFO')
    await peer.closed()
    const second = send(client)
    const next = await server.accept()
    next.respond((await next.request()).id)
    await second.settled
    assert.equal(second.body, 'ok')
  })

  test('before SETTINGS and any answer: the request goes to another connection', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    peer.goaway(0)
    const next = await server.accept()
    next.respond((await next.request()).id)
    await handler.settled
    assert.deepEqual([handler.body, handler.errors], ['ok', []])
  })

  test('covering all: they finish there, disconnect comes at once, new ones go elsewhere', async (t) => {
    const { server, client, events } = await startH2Pair(t)
    const handlers = [send(client), send(client)]
    const peer = await server.accept()
    const [a, b] = await peer.take(2)
    peer.head(a!.id, 200).data(a!.id, 'half ')
    const lost = disconnected(client)
    peer.goaway(b!.id)
    await lost
    assert.equal(client.stats.running, 2)
    assert.equal(client.stats.connected, false)
    const later = send(client, { path: '/later' })
    const next = await server.accept()
    next.respond((await next.request()).id)
    await later.settled
    assert.equal(later.body, 'ok')
    peer.data(a!.id, 'and half', true).respond(b!.id)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['half and half', 'ok'],
    )
    await peer.closed()
    assert.equal(peer.pending(GOAWAY).length, 1)
    assert.equal(events.filter((event) => event.startsWith('disconnect')).length, 1)
  })

  test('covering some: the others are sent again in their order, in front of what waits', async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 3 })
    const handlers = ['/1', '/2', '/3', '/4'].map((path) => send(client, { path }))
    const peer = await server.accept()
    const [first] = await peer.take(3)
    peer.goaway(first!.id)
    const next = await server.accept()
    const again = await next.take(3)
    assert.deepEqual(
      again.map(({ headers }) => headers[':path']),
      ['/2', '/3', '/4'],
    )
    for (const { id } of again) next.respond(id)
    peer.respond(first!.id)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every(({ body, errors }) => body === 'ok' && errors.length === 0))
  })

  test('in two steps: the first promises all, the second names the last', async (t) => {
    const { server, client, events } = await startH2Pair(t)
    const handlers = ['/1', '/2'].map((path) => send(client, { path }))
    const peer = await server.accept()
    const [first] = await peer.take(2)
    const lost = disconnected(client)
    peer.goaway(MAX_STREAM_ID)
    await lost
    const waiting = send(client, { path: '/3' })
    const next = await server.accept()
    peer.goaway(first!.id)
    const paths = (await next.take(2)).map(({ id, headers }) => {
      next.respond(id)
      return headers[':path']
    })
    assert.deepEqual(paths.sort(), ['/2', '/3'])
    peer.respond(first!.id)
    await Promise.all([...handlers, waiting].map((handler) => handler.settled))
    assert.ok([...handlers, waiting].every(({ body }) => body === 'ok'))
    assert.equal(events.filter((event) => event.startsWith('disconnect')).length, 1)
    assert.equal(server.count, 2)
  })

  test('with an error code: SocketError with the debug data; what came with it is delivered, then it is closed', async (t) => {
    const { server, client } = await startH2Pair(t)
    const whole = send(client, { method: 'POST', body: 'bytes' })
    const half = send(client)
    const peer = await server.accept()
    const [a, b] = await peer.take(2)
    await peer.body(a!.id)
    const lost = disconnected(client)
    peer.together(() =>
      peer
        .head(b!.id, 200)
        .goaway(b!.id, ENHANCE_YOUR_CALM, 'too_many_pings')
        .data(b!.id, 'half')
        .respond(a!.id),
    )
    const error = await lost
    assert.ok(error instanceof errors.SocketError)
    assert.equal(error.message, 'HTTP/2: "GOAWAY" frame received with code 11')
    assert.deepEqual(error.cause, { code: ENHANCE_YOUR_CALM, message: 'too_many_pings' })
    await Promise.all([whole.settled, half.settled, peer.closed()])
    assert.equal(whole.body, 'ok')
    assert.equal(half.body, 'half')
    assert.equal(half.error!.message, 'HTTP/2: "GOAWAY" frame received with code 11')
  })

  for (const how of ['closed by the client', 'ended by the server', 'reset by the server'] as const) {
    test(`with an error code, ${how}: a POST that it covers fails with that code`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const handler = send(client, { method: 'POST', body: 'bytes' })
      const peer = await server.accept()
      const { id } = await peer.request()
      await peer.body(id)
      peer.goaway(id, ENHANCE_YOUR_CALM, 'too_many_pings')
      if (how === 'ended by the server') peer.end()
      else if (how === 'reset by the server') (peer.socket as Socket).resetAndDestroy()
      await handler.settled
      const error = handler.error as Failed
      // A reset may arrive before what was sent ahead of it.
      if (how === 'reset by the server' && error.code === 'ECONNRESET') return
      assert.ok(error instanceof errors.SocketError)
      assert.equal(error.message, 'HTTP/2: "GOAWAY" frame received with code 11')
      assert.deepEqual(error.cause, { code: ENHANCE_YOUR_CALM, message: 'too_many_pings' })
      assert.equal(error.retrySafety, 'idempotent-only')
      await peer.closed()
    })
  }

  test('with an error code: a GET that it covers is sent again, once, in front of what it does not cover', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handlers = ['/1', '/2'].map((path) => send(client, { path }))
    const peer = await server.accept()
    const [first] = await peer.take(2)
    peer.goaway(first!.id, ENHANCE_YOUR_CALM)
    const next = await server.accept()
    const again = await next.take(2)
    assert.deepEqual(
      again.map(({ headers }) => headers[':path']),
      ['/1', '/2'],
    )
    next.respond(again[1]!.id)
    await handlers[1]!.settled
    next.goaway(again[1]!.id, ENHANCE_YOUR_CALM)
    await handlers[0]!.settled
    const error = handlers[0]!.error as Failed
    assert.equal(error.message, 'HTTP/2: "GOAWAY" frame received with code 11')
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(handlers[1]!.body, 'ok')
    assert.equal(server.count, 2)
  })

  test('with an error code only in the second frame: that code is reported', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { method: 'POST' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.goaway(MAX_STREAM_ID)
    peer.goaway(id, ENHANCE_YOUR_CALM)
    peer.end()
    await handler.settled
    assert.equal((handler.error as Failed).message, 'HTTP/2: "GOAWAY" frame received with code 11')
  })

  test('refused by four in a row that do nothing: fails, and says that it is safe to send again', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { method: 'POST', body: 'bytes' })
    for (let i = 0; i < 4; i++) {
      const peer = await server.accept()
      await peer.request()
      peer.goaway(0)
    }
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.message, 'HTTP/2: "GOAWAY" frame received with code 0')
    assert.equal(error.retrySafety, 'safe')
    assert.equal(handler.errors.length, 1)
    assert.equal(server.count, 4)
  })

  test('refusing a stream body that was read from: fails, not sent again', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new Readable({ read() {} })
    body.push('part')
    const handler = send(client, { method: 'POST', body })
    const peer = await server.accept()
    const { id } = await peer.request()
    await peer.frame(DATA, id)
    peer.goaway(0)
    await handler.settled
    const error = handler.error as Failed
    assert.match(error.message, /GOAWAY/)
    assert.equal(error.retrySafety, 'no')
    await peer.closed()
    assert.equal(server.count, 1)
  })

  test('not refusing a POST, then the connection lost: fails, never sent twice', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { method: 'POST', body: 'bytes' })
    const peer = await server.accept()
    const { id } = await peer.request()
    await peer.body(id)
    peer.goaway(id)
    peer.end()
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.code, 'UND_ERR_SOCKET')
    assert.equal(error.retrySafety, 'idempotent-only')
    const next = send(client, { path: '/next' })
    const second = await server.accept()
    const request = await second.request()
    assert.equal(request.headers[':path'], '/next')
    second.respond(request.id)
    await next.settled
  })

  test('an interim response means that it was processed', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 103).goaway(0)
    await handler.settled
    assert.equal((handler.error as Failed).retrySafety, 'idempotent-only')
    await peer.closed()
    assert.equal(server.count, 1)
  })

  test('with a rising last stream id is a protocol error', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.goaway(id).goaway(id + 2)
    await handler.settled
    assert.equal((handler.error as Failed).code, 'UND_ERR_SOCKET')
    await peer.closed()
  })
})

describe('a connection that drains', () => {
  test('close() waits for it', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    const lost = disconnected(client)
    peer.goaway(id)
    await lost
    let closed = false
    const closing = client.close().then(() => {
      closed = true
    })
    await peer.settled()
    assert.equal(closed, false)
    peer.respond(id)
    await closing
    assert.equal(handler.body, 'ok')
  })

  test('destroy() ends it with its reason', async (t) => {
    const { server, client } = await startH2Pair(t)
    const draining = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    const lost = disconnected(client)
    peer.goaway(id)
    await lost
    const running = send(client)
    const next = await server.accept()
    await next.request()
    const reason = new Error('going home')
    await client.destroy(reason)
    assert.deepEqual([draining.error, running.error], [reason, reason])
    await Promise.all([peer.closed(), next.closed()])
  })

  test('takes aborts of what runs on it, and closes after the last', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    const lost = disconnected(client)
    peer.goaway(id)
    await lost
    handler.controller!.abort()
    await peer.closed()
    assert.equal(client.stats.size, 0)
  })
})

const idsRunOut = { skip: notInPackage('two billion requests are too many for a test') }

test('a connection whose stream ids are used up is replaced', idsRunOut, async (t) => {
  const real = Object.getOwnPropertyDescriptor(StreamSet.prototype, 'hasIdsLeft')!
  Object.defineProperty(StreamSet.prototype, 'hasIdsLeft', {
    ...real,
    get(this: StreamSet) {
      return this.nextId <= 3
    },
  })
  t.after(() => Object.defineProperty(StreamSet.prototype, 'hasIdsLeft', real))
  const { server, client } = await startH2Pair(t)
  const handlers = [1, 2, 3].map((i) => send(client, { path: `/${i}` }))
  const peer = await server.accept()
  const old = await peer.take(2)
  const next = await server.accept()
  const fresh = await next.request()
  assert.deepEqual([fresh.id, fresh.headers[':path']], [1, '/3'])
  next.respond(fresh.id)
  for (const { id } of old) peer.respond(id)
  await Promise.all(handlers.map((handler) => handler.settled))
  assert.ok(handlers.every(({ body }) => body === 'ok'))
})
