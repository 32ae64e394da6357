/** Time-dependent behaviour of an HTTP/2 connection: liveness, idle closing, timeouts of requests. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { PING_DEADLINE_MS, SILENCE_MS } from '../../src/connection/http2/liveness.ts'
import type { Client, ClientOptions } from '../../src/index.ts'
import { CANCEL, DATA, PING } from '../../src/protocol/http2/constants.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { type H2Peer, type H2Server, startH2Pair } from '../support/h2-server.ts'
import { disconnected, send } from '../support/scripted-client.ts'

type Failed = Error & { code: string; retrySafety: string; phase: string; reusedSocket: boolean }

/** A connection on which one request has been answered, and its clock. */
async function connected(
  t: TestContext,
  options: ClientOptions = {},
): Promise<{ clock: FakeClock; server: H2Server; client: Client; peer: H2Peer; events: string[] }> {
  const clock = FakeClock.install(t)
  const pair = await startH2Pair(t, { keepAliveTimeout: 3_600_000, ...options })
  const handler = send(pair.client)
  const peer = await pair.server.accept()
  peer.respond((await peer.request()).id)
  await handler.settled
  await peer.settled()
  return { clock, peer, ...pair }
}

describe('PING', () => {
  test('goes out every pingInterval, and its duration comes as an event', async (t) => {
    const { clock, client, peer } = await connected(t, { pingInterval: 5_000 })
    for (let i = 0; i < 3; i++) {
      const ping = once(client, 'ping')
      await clock.advance(5_000)
      await peer.frame(PING)
      const [duration, ...rest] = (await ping) as [number]
      assert.equal(typeof duration, 'number')
      assert.ok(duration >= 0 && duration < 60_000)
      assert.deepEqual(rest, [])
    }
  })

  test('60 seconds is the default, and 0 means none', async (t) => {
    const { clock, peer } = await connected(t)
    await clock.advance(59_000)
    await peer.settled()
    assert.equal(peer.pending(PING).length, 0)
    await clock.advance(1_000)
    await peer.frame(PING)

    const silent = await startH2Pair(t, { pingInterval: 0, keepAliveTimeout: 3_600_000 })
    const handler = send(silent.client)
    const other = await silent.server.accept()
    other.respond((await other.request()).id)
    await handler.settled
    await clock.advance(600_000)
    await other.settled()
    assert.equal(other.pending(PING).length, 0)
  })

  test('unanswered: the connection is given up, its request says so, the next one has a new one', async (t) => {
    const { clock, server, client, peer } = await connected(t, { pingInterval: 5_000 })
    peer.answersPings = false
    const running = send(client)
    await peer.request()
    await clock.advance(5_000)
    await peer.frame(PING)
    await clock.advance(PING_DEADLINE_MS - 1)
    assert.deepEqual(running.errors, [])
    const lost = disconnected(client)
    await clock.advance(1)
    await running.settled
    const error = running.error as Failed
    assert.equal(error.code, 'UND_ERR_INFO')
    assert.match(error.message, /^HTTP\/2: "PING" errored - type timeout/)
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(error.reusedSocket, true)
    assert.match((await lost).message, /^HTTP\/2: "PING" errored/)

    const next = send(client)
    const second = await server.accept()
    second.respond((await second.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })

  test('an answer that was not asked for says nothing', async (t) => {
    const { client, peer } = await connected(t)
    let pings = 0
    client.on('ping', () => pings++)
    peer.pong(Buffer.alloc(8, 7))
    await peer.settled()
    assert.equal(pings, 0)
    assert.equal(client.stats.connected, true)
  })

  test('anything that arrives counts as an answer', async (t) => {
    const { clock, client, peer } = await connected(t, { pingInterval: 5_000 })
    peer.answersPings = false
    const running = send(client)
    const { id } = await peer.request()
    peer.head(id, 200)
    await clock.advance(5_000)
    await peer.frame(PING)
    await clock.advance(PING_DEADLINE_MS - 1_000)
    peer.data(id, 'alive')
    await eventually(() => running.body === 'alive')
    await clock.advance(2_000)
    assert.deepEqual(running.errors, [])
  })

  test('of the server is answered with its own bytes', async (t) => {
    const { peer } = await connected(t)
    peer.send(PING, 0, 0, Buffer.from('12345678'))
    const { payload } = await peer.frame(PING)
    assert.equal(payload.toString(), '12345678')
  })
})

describe('a silent connection', () => {
  test('is probed together with the next request', async (t) => {
    const { clock, client, peer } = await connected(t, { pingInterval: 0 })
    const soon = send(client)
    peer.respond((await peer.request()).id)
    await soon.settled
    await peer.settled()
    assert.equal(peer.pending(PING).length, 0)
    await clock.advance(SILENCE_MS)
    const later = send(client)
    const { id } = await peer.request()
    await peer.frame(PING)
    peer.respond(id)
    await later.settled
    assert.equal(later.body, 'ok')
  })

  test('that answers nothing is replaced within the deadline', async (t) => {
    const { clock, server, client, peer } = await connected(t, { pingInterval: 0 })
    peer.answersPings = false
    await clock.advance(SILENCE_MS)
    const probing = send(client, { method: 'POST', body: 'x' })
    await peer.request()
    await peer.frame(PING)
    await clock.advance(PING_DEADLINE_MS)
    await probing.settled
    assert.equal((probing.error as Failed).retrySafety, 'idempotent-only')
    const next = send(client)
    const second = await server.accept()
    second.respond((await second.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(second.requests.length, 1)
  })

  test('a request without an answer in time makes it suspect', async (t) => {
    const { clock, client, peer } = await connected(t, { pingInterval: 0, headersTimeout: 2_000 })
    peer.answersPings = false
    const late = send(client)
    await peer.request()
    await clock.advance(2_000)
    await late.settled
    await peer.frame(PING)
    const lost = disconnected(client)
    await clock.advance(PING_DEADLINE_MS)
    assert.match((await lost).message, /PING/)
  })
})

describe('an idle connection', () => {
  test('is closed after keepAliveTimeout, not while something runs', async (t) => {
    const { clock, client, peer } = await connected(t, { keepAliveTimeout: 4_000 })
    await clock.advance(3_000)
    const handler = send(client)
    const { id } = await peer.request()
    await clock.advance(60_000 - 1_000)
    assert.equal(client.stats.connected, true)
    peer.respond(id)
    await handler.settled
    await peer.settled()
    await clock.advance(3_999)
    assert.equal(client.stats.connected, true)
    const lost = disconnected(client)
    await clock.advance(1)
    const error = await lost
    assert.equal(error.message, 'socket idle timeout')
    assert.equal(error.code, 'UND_ERR_INFO')
    await peer.closed()
  })
})

describe('time limits over HTTP/2 end the stream and not the connection', () => {
  async function stillGood(client: Client, server: H2Server, peer: H2Peer): Promise<void> {
    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(server.count, 1)
  }

  test('headersTimeout', async (t) => {
    const { clock, server, client, peer } = await connected(t, { headersTimeout: 2_000 })
    const late = send(client)
    const { id } = await peer.request()
    await clock.advance(1_999)
    assert.deepEqual(late.errors, [])
    await clock.advance(1)
    await late.settled
    const error = late.error as Failed
    assert.equal(error.code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.match(error.message, /^HTTP\/2: "headers timeout after 2000"/)
    assert.deepEqual([error.phase, error.retrySafety], ['headers', 'idempotent-only'])
    assert.equal(await peer.resetOf(id), CANCEL)
    await stillGood(client, server, peer)
  })

  test('102 starts headersTimeout anew each time, other interim responses do not', async (t) => {
    const { clock, client, peer } = await connected(t, { headersTimeout: 1000 })
    t.mock.method(performance, 'now', () => clock.now)
    const handler = send(client)
    const { id } = await peer.request()
    for (let i = 0; i < 300; i++) {
      await clock.advance(900)
      peer.head(id, 102)
      await peer.settled()
    }
    await clock.advance(900)
    peer.head(id, 100).head(id, 103)
    await peer.settled()
    await clock.advance(99)
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await handler.settled
    assert.equal((handler.error as Failed).code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.equal(await peer.resetOf(id), CANCEL)
  })

  test('an interim response starts headersTimeout anew', async (t) => {
    const { clock, client, peer } = await connected(t)
    const handler = send(client, { headersTimeout: 2_000 })
    const { id } = await peer.request()
    await clock.advance(1_500)
    peer.head(id, 102)
    await eventually(() => handler.statuses.length === 1)
    await clock.advance(1_500)
    peer.respond(id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('bodyTimeout, from the last data', async (t) => {
    const { clock, server, client, peer } = await connected(t, { bodyTimeout: 2_000 })
    const handler = send(client)
    const { id } = await peer.request()
    peer.head(id, 200)
    await eventually(() => handler.status === 200)
    await clock.advance(1_500)
    peer.data(id, 'some')
    await eventually(() => handler.body === 'some')
    await clock.advance(1_999)
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.code, 'UND_ERR_BODY_TIMEOUT')
    assert.match(error.message, /^HTTP\/2: "stream timeout after 2000"/)
    assert.equal(error.phase, 'body')
    assert.equal(await peer.resetOf(id), CANCEL)
    await stillGood(client, server, peer)
  })

  test('a consumer that pauses is not late, as over HTTP/1.1', async (t) => {
    const { clock, client, peer } = await connected(t, { bodyTimeout: 2_000, pingInterval: 0 })
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'some')
    await peer.settled()
    await clock.advance(10_000)
    assert.deepEqual(handler.errors, [])
    handler.controller!.resume()
    await clock.advance(1_999)
    assert.deepEqual(handler.errors, [])
    await clock.advance(1)
    await handler.settled
    assert.equal((handler.error as Failed).code, 'UND_ERR_BODY_TIMEOUT')
  })

  test("the caller's slow source is not the server's fault; a server that takes nothing is", async (t) => {
    const { clock, client, peer } = await connected(t, { headersTimeout: 2_000, pingInterval: 0 })
    const body = new Readable({ read() {} })
    body.push('first')
    const slow = send(client, { method: 'POST', body })
    const { id } = await peer.request()
    await peer.frame(DATA, id)
    await clock.advance(10_000)
    assert.deepEqual(slow.errors, [])
    body.push(null)
    await peer.frame(DATA, id)
    await clock.advance(2_000)
    await slow.settled
    assert.equal((slow.error as Failed).code, 'UND_ERR_HEADERS_TIMEOUT')

    const blocked = send(client, { method: 'POST', body: Readable.from([Buffer.alloc(400_000)]) })
    const second = await peer.request()
    for (let got = 0; got < 65_530; ) got += (await peer.frame(DATA, second.id)).payload.length
    await clock.advance(2_000)
    await blocked.settled
    assert.equal((blocked.error as Failed).code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.equal((blocked.error as Failed).retrySafety, 'no')
  })

  test('0 means no limit', async (t) => {
    const { clock, client, peer } = await connected(t, { headersTimeout: 0, bodyTimeout: 0, pingInterval: 0 })
    const handler = send(client)
    const { id } = await peer.request()
    await clock.advance(3_600_000)
    peer.head(id, 200)
    await eventually(() => handler.status === 200)
    await clock.advance(3_600_000)
    peer.data(id, 'ok', true)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('an upgrade that gets no head', async (t) => {
    const { clock, client, peer } = await connected(t, { headersTimeout: 2_000 })
    const tunnel = client.connect({ path: 'target.test:443' })
    tunnel.catch(() => {})
    const { id } = await peer.request()
    await clock.advance(2_000)
    await assert.rejects(tunnel, { code: 'UND_ERR_INFO', message: /^HTTP\/2: "stream timeout after 2000"/ })
    assert.equal(await peer.resetOf(id), CANCEL)
  })
})
