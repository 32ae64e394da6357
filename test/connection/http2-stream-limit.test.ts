import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { SETTINGS_MAX_CONCURRENT_STREAMS } from '../../src/protocol/http2/constants.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { disconnected, send } from '../support/scripted-client.ts'

async function* once(text: string): AsyncGenerator<string> {
  yield text
}

type Failed = Error & { code: string; retrySafety: string; phase: string }

const limit = (streams: number) => [[SETTINGS_MAX_CONCURRENT_STREAMS, streams]] as const

describe('how many streams run at a time', () => {
  test('maxConcurrentStreams before SETTINGS, and after SETTINGS that say nothing', async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 3 }, { settings: null })
    const handlers = Array.from({ length: 5 }, () => send(client))
    const peer = await server.accept()
    await peer.take(3)
    assert.deepEqual([client.stats.running, client.stats.pending], [3, 2])
    peer.settings([])
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [3, 2])
    for (const { id } of peer.requests.slice()) peer.respond(id)
    for (const { id } of await peer.take(2)) peer.respond(id)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every(({ body }) => body === 'ok'))
  })

  test('100 when nobody says anything', async (t) => {
    const { server, client } = await startH2Pair(t)
    for (let i = 0; i < 101; i++) send(client)
    const peer = await server.accept()
    await peer.take(100)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [100, 1])
  })

  test("the server's value replaces it, also upwards", async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 2 }, { settings: limit(4) })
    for (let i = 0; i < 6; i++) send(client)
    const peer = await server.accept()
    await peer.take(4)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [4, 2])
  })

  test('the limit of the last connection holds for the first streams of the next', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    const first = send(client)
    const peer = await server.accept()
    peer.settings(limit(2)).respond((await peer.request()).id)
    await first.settled
    const lost = disconnected(client)
    peer.goaway(1)
    await lost
    for (let i = 0; i < 5; i++) send(client)
    const next = await server.accept()
    await next.take(2)
    assert.deepEqual([client.stats.running, client.stats.pending], [2, 3])
    next.settings([])
    await next.take(3)
  })

  test('a server whose limit was 0 is asked with one stream', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    const first = send(client)
    const peer = await server.accept()
    peer.settings(limit(0)).respond((await peer.request()).id)
    await first.settled
    const lost = disconnected(client)
    peer.goaway(1)
    await lost
    for (let i = 0; i < 3; i++) send(client)
    const next = await server.accept()
    await next.request()
    assert.deepEqual([client.stats.running, client.stats.pending], [1, 2])
  })

  test('raised while running: what waits goes at once', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: limit(1) })
    for (let i = 0; i < 3; i++) send(client)
    const peer = await server.accept()
    await peer.settled()
    await eventually(() => peer.requests.length >= 1)
    peer.settings(limit(10))
    await eventually(() => peer.requests.length === 3)
    assert.equal(client.stats.pending, 0)
  })

  test('lowered below what runs: nothing new until there is room', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: limit(4) })
    const handlers = Array.from({ length: 4 }, () => send(client))
    const peer = await server.accept()
    const running = await peer.take(4)
    peer.settings(limit(2))
    await peer.settled()
    handlers.push(send(client, { path: '/late' }))
    for (const i of [0, 1]) {
      peer.respond(running[i]!.id)
      await handlers[i]!.settled
      await peer.settled()
      assert.equal(peer.requests.length, 4)
    }
    peer.respond(running[2]!.id)
    const late = await peer.request()
    assert.equal(late.headers[':path'], '/late')
    peer.respond(late.id).respond(running[3]!.id)
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every(({ body }) => body === 'ok'))
  })

  test('dispatch() says false when the streams are used up, and drain follows', async (t) => {
    const { server, client, events } = await startH2Pair(t, {}, { settings: limit(2) })
    const first = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    await peer.settled()
    const ignore = (): void => {}
    const handler = {
      onRequestStart: ignore,
      onResponseStart: ignore,
      onResponseData: ignore,
      onResponseEnd: ignore,
      onResponseError: ignore,
    }
    events.length = 0
    assert.equal(client.dispatch({ path: '/', method: 'GET' }, handler), false)
    peer.respond(id)
    await first.settled
    await eventually(() => events.includes('drain'))
    assert.equal(client.stats.running, 1)
    peer.settings(limit(10))
    await peer.settled()
    assert.equal(client.dispatch({ path: '/', method: 'GET' }, handler), true)
  })

  test('a request that takes over waits for SETTINGS; those that run do not mind', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    const before = send(client, { path: '/before' })
    const tunnel = client.connect({ path: 'target.test:443' })
    const peer = await server.accept()
    const { id } = await peer.request()
    await turns(2)
    assert.equal(peer.requests.length, 1)
    peer.settings([])
    const connect = await peer.request()
    assert.equal(connect.headers[':method'], 'CONNECT')
    peer.respond(id).head(connect.id, 200)
    const { socket } = await tunnel
    socket.destroy()
    await before.settled
  })

  test('bodies that can be read only once wait for SETTINGS, all but one', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    const handlers = Array.from({ length: 5 }, (_, i) =>
      send(client, { method: 'POST', body: i % 2 === 0 ? Readable.from(['body']) : once('body') }),
    )
    const peer = await server.accept()
    await peer.take(1)
    await eventually(() => client.stats.pending === 4)
    assert.equal(client.stats.running, 1)
    peer.settings(limit(2))
    await peer.take(1)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [2, 3])
    for (let answered = 0; answered < 5; answered++) {
      while (peer.requests.length <= answered) await peer.request()
      const { id } = peer.requests[answered]!
      assert.equal((await peer.body(id)).toString(), 'body')
      peer.respond(id)
    }
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every(({ body }) => body === 'ok'))
    assert.equal(server.count, 1)
  })

  test('they wait for a second, no longer, and those that can be sent again do not wait', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    send(client, { method: 'POST', body: 'text' })
    send(client, { method: 'POST', body: Buffer.from('bytes') })
    send(client, { method: 'POST', body: once('once') })
    const peer = await server.accept()
    await peer.take(2)
    await clock.advance(999)
    assert.deepEqual([client.stats.running, client.stats.pending], [2, 1])
    await clock.advance(1)
    const { id } = await peer.request()
    assert.equal((await peer.body(id)).toString(), 'once')
    send(client, { method: 'POST', body: once('later') })
    await peer.take(1)
  })
})

describe('a server that allows no stream', () => {
  test('0 from the start: what waits fails after headersTimeout, and the connection is dropped', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, { headersTimeout: 5_000, maxConcurrentStreams: 1 })
    const first = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.settings(limit(0))
    await peer.settled()
    const waiting = [send(client), send(client, { method: 'POST', body: 'x' })]
    peer.respond(id)
    await first.settled
    await peer.settled()
    await clock.advance(4_000)
    assert.equal(client.stats.pending, 2)
    const lost = disconnected(client)
    await clock.advance(1_000)
    const error = await lost
    assert.equal(error.message, 'HTTP/2: server did not accept a new stream within 5000')
    for (const handler of waiting) {
      await handler.settled
      const failed = handler.error as Failed
      assert.equal(failed.code, 'UND_ERR_HEADERS_TIMEOUT')
      assert.match(failed.message, /^HTTP\/2: server did not accept a new stream within 5000/)
      assert.equal(failed.retrySafety, 'safe')
      assert.equal(failed.phase, 'queued')
    }
    await peer.closed()
    const next = send(client)
    const second = await server.accept()
    second.respond((await second.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })

  test("the request's own headersTimeout counts, also when SETTINGS say 0 again and again", async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 1 })
    const first = send(client)
    const peer = await server.accept()
    peer.settings(limit(0)).respond((await peer.request()).id)
    await first.settled
    await peer.settled()
    const waiting = send(client, { headersTimeout: 3_000 })
    for (let i = 0; i < 3; i++) {
      peer.settings(limit(0))
      await peer.settled()
      await clock.advance(1_000)
    }
    await waiting.settled
    assert.match(waiting.error!.message, /^HTTP\/2: server did not accept a new stream within 3000/)
  })

  test('a limit that comes in time lets it go', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, { headersTimeout: 5_000, keepAliveTimeout: 60_000 })
    const first = send(client)
    const peer = await server.accept()
    peer.settings(limit(0)).respond((await peer.request()).id)
    await first.settled
    await peer.settled()
    const waiting = send(client)
    await clock.advance(4_000)
    peer.settings(limit(1))
    const { id } = await peer.request()
    await clock.advance(4_000)
    peer.respond(id)
    await waiting.settled
    assert.equal(waiting.body, 'ok')
  })

  test('giving up what waits leaves the connection alone', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(t, { headersTimeout: 5_000, keepAliveTimeout: 60_000 })
    const first = send(client)
    const peer = await server.accept()
    peer.settings(limit(0)).respond((await peer.request()).id)
    await first.settled
    await peer.settled()
    const aborter = new AbortController()
    const waiting = client.request({ path: '/', method: 'GET', signal: aborter.signal })
    await clock.advance(4_000)
    aborter.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    await clock.advance(2_000)
    assert.equal(client.stats.connected, true)
    const patient = send(client)
    await clock.advance(4_000)
    assert.deepEqual(patient.errors, [])
    peer.settings(limit(1))
    peer.respond((await peer.request()).id)
    await patient.settled
    assert.equal(patient.body, 'ok')
  })

  test('a server that never sends SETTINGS does not keep CONNECT for ever', async (t) => {
    const clock = FakeClock.install(t)
    const { server, client } = await startH2Pair(
      t,
      { headersTimeout: 5_000, pingInterval: 0 },
      { settings: null },
    )
    const tunnel = client.connect({ path: 'target.test:443' })
    tunnel.catch(() => {})
    await server.accept()
    await eventually(() => client.stats.connected)
    await clock.advance(5_000)
    await assert.rejects(tunnel, { code: 'UND_ERR_HEADERS_TIMEOUT' })
  })
})
