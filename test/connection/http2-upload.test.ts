/** Request bodies that are still being sent when the response is complete. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import {
  CANCEL,
  DATA,
  FLAG_END_STREAM,
  INTERNAL_ERROR,
  NO_ERROR,
  SETTINGS_MAX_CONCURRENT_STREAMS,
} from '../../src/protocol/http2/constants.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'

function openBody(): Readable & { failed: unknown } {
  const body = Object.assign(new Readable({ read() {} }), { failed: undefined as unknown })
  body.on('error', (error) => {
    body.failed = error
  })
  body.push('first')
  return body
}

/** A POST that was answered after the first piece of its body. */
async function answeredEarly(
  t: Parameters<typeof startH2Pair>[0],
  options: Parameters<typeof startH2Pair>[1] = {},
  settings: Parameters<typeof startH2Pair>[2] = {},
) {
  const pair = await startH2Pair(t, options, settings)
  const body = openBody()
  const handler = send(pair.client, { method: 'POST', body })
  const peer = await pair.server.accept()
  const { id } = await peer.request()
  await peer.frame(DATA, id)
  peer.respond(id)
  await handler.settled
  assert.deepEqual([handler.body, handler.errors], ['ok', []])
  return { ...pair, body, handler, peer, id }
}

describe('an upload that goes on after its response', () => {
  test('ends with END_STREAM, and the connection stays in use', async (t) => {
    const { client, server, body, peer, id } = await answeredEarly(t)
    assert.equal(client.stats.running, 1)
    body.push('second')
    assert.equal((await peer.frame(DATA, id)).payload.toString(), 'second')
    body.push(null)
    assert.equal((await peer.frame(DATA, id)).flags & FLAG_END_STREAM, FLAG_END_STREAM)
    await eventually(() => client.stats.running === 0)
    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(server.count, 1)
  })

  test('counts as a stream: the next request waits for its end', async (t) => {
    const { client, body, peer } = await answeredEarly(
      t,
      {},
      { settings: [[SETTINGS_MAX_CONCURRENT_STREAMS, 1]] },
    )
    const next = send(client)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [1, 1])
    body.push(null)
    peer.respond((await peer.request()).id)
    await next.settled
  })

  for (const code of [NO_ERROR, CANCEL, INTERNAL_ERROR]) {
    test(`is ended by RST_STREAM with code ${code}, without an error for anybody`, async (t) => {
      const { client, body, handler, peer, id } = await answeredEarly(t)
      peer.reset(id, code)
      await eventually(() => body.destroyed)
      await peer.settled()
      assert.equal(body.failed, undefined)
      assert.equal(handler.errors.length, 0)
      assert.equal(client.stats.running, 0)
      assert.equal(client.stats.connected, true)
    })
  }

  test('is reset if its body fails, and nobody is told', async (t) => {
    const { client, body, handler, peer, id } = await answeredEarly(t)
    body.destroy(new Error('disk'))
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.equal(handler.errors.length, 0)
    assert.equal(client.stats.running, 0)
  })

  test('is stopped by an abort', async (t) => {
    const { client, body, handler, peer, id } = await answeredEarly(t)
    handler.controller!.abort(new Error('enough'))
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.equal(body.destroyed, true)
    assert.equal(handler.errors.length, 0)
    assert.equal(client.stats.running, 0)
  })

  test('ends with its connection, and nobody is told', async (t) => {
    const { client, body, handler, peer } = await answeredEarly(t)
    peer.end()
    await eventually(() => body.destroyed)
    assert.equal(body.failed, undefined)
    assert.equal(handler.errors.length, 0)
    await eventually(() => client.stats.running === 0)
  })

  test('close() waits for it, destroy() does not', async (t) => {
    const { client, body } = await answeredEarly(t)
    let closed = false
    const closing = client.close().then(() => {
      closed = true
    })
    await eventually(() => client.closed)
    assert.equal(closed, false)
    await client.destroy()
    await closing.catch(() => {})
    assert.equal(body.destroyed, true)
  })

  test('is given up after bodyTimeout if the server takes nothing of it', async (t) => {
    const clock = FakeClock.install(t)
    const { client, body, peer, id } = await answeredEarly(t, { bodyTimeout: 3_000, pingInterval: 0 })
    body.push(Buffer.alloc(200_000))
    await eventually(() => peer.pending(DATA, id).length >= 4)
    for (let i = 0; i < 2; i++) await clock.advance(3_000)
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.equal(body.destroyed, true)
    assert.equal(client.stats.running, 0)
  })

  test('is given up soon if its source brings nothing, and close() ends; a slow source has time', async (t) => {
    const clock = FakeClock.install(t)
    const { client, body, peer, id } = await answeredEarly(t, { pingInterval: 0 })
    for (let i = 0; i < 4; i++) {
      await clock.advance(4_000)
      assert.deepEqual([client.stats.running, body.destroyed], [1, false])
      body.push('some')
      await peer.frame(DATA, id)
    }
    const closing = client.close()
    for (let i = 0; i < 2; i++) await clock.advance(5_000)
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.deepEqual([body.destroyed, body.failed], [true, undefined])
    await closing
  })

  for (const bodyTimeout of [300_000, 0]) {
    test(`is given up soon if the server has stopped reading, with a bodyTimeout of ${bodyTimeout}`, async (t) => {
      const clock = FakeClock.install(t)
      const { server, client } = await startH2Pair(
        t,
        { bodyTimeout, pingInterval: 0 },
        { settings: [[SETTINGS_MAX_CONCURRENT_STREAMS, 1]] },
      )
      const handler = send(client, { method: 'POST', body: Buffer.alloc(100_000) })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.respond(id, 'too large', 413)
      await handler.settled
      const next = send(client)
      await eventually(() => peer.pending(DATA, id).length >= 4)
      for (let i = 0; i < 2; i++) await clock.advance(5_000)
      assert.equal(await peer.resetOf(id), CANCEL)
      peer.respond((await peer.request()).id)
      await next.settled
      assert.deepEqual([next.body, handler.errors], ['ok', []])
    })
  }

  test('goes on while the server takes of it what came after the response', async (t) => {
    const clock = FakeClock.install(t)
    const { client, body, peer, id } = await answeredEarly(t, { pingInterval: 0 })
    body.push(Buffer.alloc(150_000))
    await eventually(() => peer.pending(DATA, id).length >= 4)
    for (let i = 0; i < 6; i++) {
      await clock.advance(2500)
      assert.deepEqual([client.stats.running, body.destroyed], [1, false])
      peer.windowUpdate(id, 10_000).windowUpdate(0, 10_000)
      await peer.settled()
    }
  })

  test('a large buffer goes on as well', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { method: 'POST', body: Buffer.alloc(100_000) })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.respond(id)
    await handler.settled
    assert.equal(client.stats.running, 1)
    peer.windowUpdate(0, 100_000).windowUpdate(id, 100_000)
    assert.equal((await peer.body(id)).length, 100_000)
    await eventually(() => client.stats.running === 0)
  })
})
