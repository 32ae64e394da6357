/**
 * How many connections a pool opens. At first it cannot know the server's protocol, so the first connection determines
 * that for all (reports of one connection per request: undici#4143, #5362).
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import { SETTINGS_MAX_CONCURRENT_STREAMS } from '../../src/protocol/http2/constants.ts'
import { authority } from '../support/certificates.ts'
import { deferred, failure } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { startH2Server } from '../support/h2-server.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startOrigin, WIRES, wireOptions } from '../support/wire.ts'
import { MemoryConnector } from './pool-support.ts'

const GET = { path: '/', method: 'GET' } as const
const [H1, H1_TLS, H2_TLS, H2C] = WIRES as [
  (typeof WIRES)[0],
  (typeof WIRES)[0],
  (typeof WIRES)[0],
  (typeof WIRES)[0],
]

for (const wire of [H2_TLS, H2C]) {
  describe(`cold requests over ${wire.name}`, () => {
    test('1,000 at once: one connection if it takes them all', async (t) => {
      const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
      const pool = new Pool(origin.url, { ...wireOptions(wire), maxConcurrentStreams: 1000 })
      t.after(() => pool.destroy())
      const answers = Array.from({ length: 1000 }, async () => (await pool.request(GET)).body.text())
      assert.deepEqual(pool.stats, {
        connected: 0,
        free: 0,
        pending: 1000,
        queued: 999,
        running: 0,
        size: 1000,
      })
      assert.deepEqual(new Set(await Promise.all(answers)), new Set(['ok']))
      assert.equal(origin.sockets.length, 1)
    })

    test('1,000 at once, all held: as few connections as streams allow', async (t) => {
      const arrived = deferred()
      const go = deferred()
      let count = 0
      const origin = await startOrigin(t, wire, async (_request, response) => {
        if (++count === 1000) arrived.resolve()
        await go.promise
        response.end('ok')
      })
      const pool = new Pool(origin.url, { ...wireOptions(wire), maxConcurrentStreams: 250 })
      t.after(() => pool.destroy())
      const answers = Array.from({ length: 1000 }, async () => (await pool.request(GET)).body.text())
      await arrived.promise
      assert.equal(origin.sockets.length, 4)
      assert.equal(pool.stats.running, 1000)
      go.resolve()
      await Promise.all(answers)
      assert.equal(origin.sockets.length, 4)
    })

    test('`connections` is the most, whatever waits', async (t) => {
      const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
      const pool = new Pool(origin.url, { ...wireOptions(wire), connections: 2, maxConcurrentStreams: 10 })
      t.after(() => pool.destroy())
      const answers = Array.from({ length: 300 }, async () => (await pool.request(GET)).body.text())
      await Promise.all(answers)
      assert.ok(origin.sockets.length <= 2)
    })
  })
}

for (const wire of [H1, H1_TLS]) {
  test(`cold requests over ${wire.name}: each has its own connection`, async (t) => {
    const arrived = deferred()
    const go = deferred()
    let count = 0
    const size = wire.secure ? 50 : 200
    const origin = await startOrigin(t, wire, async (_request, response) => {
      if (++count === size) arrived.resolve()
      await go.promise
      response.end('ok')
    })
    const pool = new Pool(origin.url, wireOptions(wire))
    t.after(() => pool.destroy())
    const answers = Array.from({ length: size }, async () => (await pool.request(GET)).body.text())
    await arrived.promise
    assert.equal(origin.sockets.length, size)
    go.resolve()
    await Promise.all(answers)
  })
}

describe('a pool for an origin that may speak HTTP/2', () => {
  test('waits for the answer of the first connection, then spreads out over HTTP/1.1', async (t) => {
    const connector = new MemoryConnector()
    const pool = new Pool('https://localhost:1', { connect: connector.connect })
    t.after(() => pool.destroy())
    for (let i = 0; i < 5; i++) pool.dispatch(GET, new RecordingHandler())
    assert.equal(connector.attempts.length, 1)
    assert.deepEqual(pool.stats, { connected: 0, free: 0, pending: 5, queued: 4, running: 0, size: 5 })
    await connector.open()
    assert.equal(connector.attempts.length, 4)
    // From now on it knows.
    pool.dispatch(GET, new RecordingHandler())
    assert.equal(connector.attempts.length, 5)
  })

  test('with allowH2: false nobody waits', async (t) => {
    const connector = new MemoryConnector()
    const pool = new Pool('https://localhost:1', { connect: connector.connect, allowH2: false })
    t.after(() => pool.destroy())
    for (let i = 0; i < 5; i++) assert.equal(pool.dispatch(GET, new RecordingHandler()), true)
    assert.equal(connector.attempts.length, 5)
  })

  test('fails all that waits when the first connection does, in one go', async (t) => {
    const pool = new Pool('https://localhost:1', { connect: { ca: authority } })
    t.after(() => pool.destroy())
    let attempts = 0
    pool.on('connectionError', () => attempts++)
    const errors = await Promise.all(Array.from({ length: 20 }, () => failure(pool.request(GET))))
    assert.deepEqual(new Set(errors.map(({ code }) => code)), new Set(['ECONNREFUSED']))
    assert.deepEqual(new Set(errors.map((error) => error['phase'])), new Set(['connecting']))
    assert.equal(new Set(errors).size, 20)
    assert.equal(attempts, 1)
  })

  test('a connector of the caller: its error as it is', async (t) => {
    const connector = new MemoryConnector()
    const pool = new Pool('https://localhost:1', { connect: connector.connect })
    t.after(() => pool.destroy())
    const all = Array.from({ length: 3 }, () => failure(pool.request(GET)))
    const reason = new Error('mine')
    await connector.refuse(reason)
    assert.deepEqual(await Promise.all(all), [reason, reason, reason])
  })

  test('a connector that asks to try again is asked again, and nobody fails', async (t) => {
    const connector = new MemoryConnector()
    const pool = new Pool('https://localhost:1', { connect: connector.connect })
    t.after(() => pool.destroy())
    const handlers = [new RecordingHandler(), new RecordingHandler()]
    for (const handler of handlers) pool.dispatch(GET, handler)
    await connector.refuse(Object.assign(new Error('again'), { code: 'UND_ERR_SOCKET' }))
    assert.equal(connector.attempts.length, 1)
    assert.deepEqual(
      handlers.map(({ error }) => error),
      [undefined, undefined],
    )
  })

  test('a certificate for another name fails only who asked for that name', async (t) => {
    const origin = await startOrigin(t, H1_TLS, (_request, response) => response.end('ok'))
    const pool = new Pool(origin.url, { connect: { ca: authority } })
    t.after(() => pool.destroy())
    const wrong = failure(pool.request({ ...GET, headers: { host: 'wrong.test' } }))
    const right = pool.request(GET)
    assert.equal((await wrong).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    assert.equal(await (await right).body.text(), 'ok')
  })

  test('given up before the connection is there: the next request gets one', async (t) => {
    const connector = new MemoryConnector()
    const pool = new Pool('https://localhost:1', { connect: connector.connect })
    t.after(() => pool.destroy())
    const controller = new AbortController()
    const first = failure(pool.request({ ...GET, signal: controller.signal }))
    controller.abort()
    assert.equal((await first).name, 'AbortError')
    const second = new RecordingHandler()
    pool.dispatch(GET, second)
    await connector.open()
    await connector.open()
    assert.ok(connector.sockets.some(({ written }) => written.startsWith('GET / ')))
  })
})

describe('further HTTP/2 connections', () => {
  test('none while streams are free, one after another when requests wait', async (t) => {
    const server = await startH2Server(t, { settings: [[SETTINGS_MAX_CONCURRENT_STREAMS, 2]] })
    const pool = new Pool(server.url, { useH2c: true })
    t.after(() => pool.destroy())
    const handlers = Array.from({ length: 6 }, () => new RecordingHandler())
    pool.dispatch(GET, handlers[0]!)
    const first = await server.accept()
    const opened = [await first.request()]
    await first.settled()
    assert.equal(pool.dispatch(GET, handlers[1]!), true)
    opened.push(await first.request())
    assert.equal(server.count, 1)
    // Both streams are taken: the third opens another connection, and the fourth waits for that.
    pool.dispatch(GET, handlers[2]!)
    assert.equal(pool.dispatch(GET, handlers[3]!), false)
    assert.equal(pool.stats.queued, 1)
    const second = await server.accept()
    await second.take(2)
    await second.settled()
    assert.equal(server.count, 2)
    for (const { id } of opened) first.respond(id)
    for (const { id } of second.requests) second.respond(id)
    await Promise.all(handlers.slice(0, 4).map((handler) => handler.settled))
    assert.equal(pool.stats.free, 2)
    // The older connection comes first again.
    pool.dispatch(GET, handlers[4]!)
    first.respond((await first.request()).id)
    await handlers[4]!.settled
  })

  test('a server that allows no stream gets no further connection', async (t) => {
    const server = await startH2Server(t, { settings: [[SETTINGS_MAX_CONCURRENT_STREAMS, 0]] })
    const pool = new Pool(server.url, { useH2c: true, maxConcurrentStreams: 1 })
    t.after(() => pool.destroy())
    const connected = once(pool, 'connect')
    const handlers = Array.from({ length: 4 }, () => new RecordingHandler())
    for (const handler of handlers) pool.dispatch(GET, handler)
    await connected
    const peer = await server.accept()
    const refused = await peer.request()
    peer.reset(refused.id, 7)
    await peer.settled()
    pool.dispatch(GET, new RecordingHandler())
    await turns(4)
    assert.equal(server.count, 1)
    peer.settings([[SETTINGS_MAX_CONCURRENT_STREAMS, 10]])
    for (const { id } of await peer.take(4)) peer.respond(id)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every(({ body }) => body === 'ok'))
  })

  test('GOAWAY: what runs is finished there, what comes goes to one new connection', async (t) => {
    const server = await startH2Server(t)
    const pool = new Pool(server.url, { useH2c: true })
    t.after(() => pool.destroy())
    const running = new RecordingHandler()
    pool.dispatch(GET, running)
    const first = await server.accept()
    const { id } = await first.request()
    const gone = once(pool, 'disconnect')
    first.goaway(id)
    await gone
    const later = Array.from({ length: 10 }, () => new RecordingHandler())
    for (const handler of later) pool.dispatch(GET, handler)
    const second = await server.accept()
    for (const request of await second.take(10)) second.respond(request.id)
    await Promise.all(later.map((handler) => handler.settled))
    first.respond(id)
    await running.settled
    assert.equal(running.body, 'ok')
    assert.equal(server.count, 2)
    await pool.close()
  })
})
