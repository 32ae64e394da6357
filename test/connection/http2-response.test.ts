import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { DispatchController, DispatchHandler } from '../../src/index.ts'
import {
  CANCEL,
  ENHANCE_YOUR_CALM,
  PROTOCOL_ERROR,
  WINDOW_UPDATE,
} from '../../src/protocol/http2/constants.ts'
import { MAX_INTERIM_RESPONSES } from '../../src/protocol/http2/limits.ts'
import { WindowGrowth } from '../../src/protocol/http2/window-growth.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { turns } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { send } from '../support/scripted-client.ts'

type Failed = Error & { code: string; retrySafety: string; http2ErrorCode?: number }

describe('a response over HTTP/2', () => {
  test('status, no status text, headers without pseudo headers, body and trailers', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 203, ['x-one', '1', 'x-two', 'a', 'x-two', 'b', 'set-cookie', 'c=d'])
    peer.data(id, 'some ').data(id, 'text').headers(id, ['x-checksum', 'abc'], true)
    await handler.settled
    assert.equal(handler.status, 203)
    assert.equal(handler.statusText, '')
    assert.deepEqual({ ...handler.headers }, { 'x-one': '1', 'x-two': ['a', 'b'], 'set-cookie': 'c=d' })
    assert.equal(handler.body, 'some text')
    assert.deepEqual({ ...handler.trailers }, { 'x-checksum': 'abc' })
    assert.deepEqual(handler.calls, [
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart',
      'onResponseData',
      'onResponseData',
      'onResponseEnd',
    ])
  })

  test('raw headers and trailers are flat lists of Buffers', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200, ['x-a', '1', 'x-a', '2']).headers(id, ['x-t', 'end'], true)
    await handler.settled
    const { rawHeaders, rawTrailers } = handler.controller!
    assert.ok([rawHeaders, rawTrailers].flat().every((item) => Buffer.isBuffer(item)))
    assert.deepEqual(rawList(rawHeaders)!.map(String), ['x-a', '1', 'x-a', '2'])
    assert.deepEqual(rawList(rawTrailers)!.map(String), ['x-t', 'end'])
  })

  test('trailers reach request() before the body ends', async (t) => {
    const { server, client } = await startH2Pair(t)
    const response = client.request({ path: '/', method: 'GET' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'text').headers(id, ['x-t', 'end'], true)
    const { body, trailers } = await response
    assert.equal(await body.text(), 'text')
    assert.deepEqual({ ...trailers }, { 'x-t': 'end' })
  })

  test('to HEAD, and 204 and 304: no body, whatever content-length says', async (t) => {
    const { server, client } = await startH2Pair(t)
    const head = send(client, { method: 'HEAD' })
    const peer = await server.accept()
    peer.head((await peer.request()).id, 200, ['content-length', '5'], true)
    await head.settled
    assert.deepEqual([head.status, head.body, head.headers?.['content-length']], [200, '', '5'])
    for (const status of [204, 304]) {
      const handler = send(client)
      peer.head((await peer.request()).id, status, status === 304 ? ['content-length', '5'] : [], true)
      await handler.settled
      assert.deepEqual([handler.status, handler.error], [status, undefined])
    }
  })

  for (const [name, answer] of [
    ['shorter', (peer, id) => peer.head(id, 200, ['content-length', '5']).data(id, 'four', true)],
    ['longer', (peer, id) => peer.head(id, 200, ['content-length', '3']).data(id, 'four', true)],
    ['DATA before the head', (peer, id) => peer.data(id, 'four', true)],
    ['upper-case names', (peer, id) => peer.head(id, 200, ['X-Upper', '1'], true)],
    ['status 101', (peer, id) => peer.head(id, 101, [], true)],
  ] as [string, (peer: import('../support/h2-server.ts').H2Peer, id: number) => void][]) {
    test(`malformed (${name}) fails its stream only`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const handler = send(client)
      const peer = await server.accept()
      const { id } = await peer.request()
      answer(peer, id)
      await handler.settled
      const error = handler.error as Failed
      const wrongLength = name === 'shorter' || name === 'longer'
      assert.equal(error.code, wrongLength ? 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' : 'ERR_HTTP2_STREAM_ERROR')
      assert.equal(error.http2ErrorCode, wrongLength ? undefined : PROTOCOL_ERROR)
      assert.equal(await peer.resetOf(id), PROTOCOL_ERROR)
      const next = send(client)
      peer.respond((await peer.request()).id)
      await next.settled
      assert.equal(next.body, 'ok')
      assert.equal(server.count, 1)
    })
  }

  test('what comes after an abort is dropped', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'first')
    while (!handler.calls.includes('onResponseData')) await turns(1)
    handler.controller!.abort(new Error('enough'))
    const heard = handler.calls.length
    peer.data(id, 'second').headers(id, ['x', 'y'], true)
    await peer.settled()
    assert.equal(handler.calls.length, heard)
    assert.equal(handler.body, 'first')
  })
})

describe('interim responses over HTTP/2', () => {
  test('reach onResponseStart, all but 100', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 100).head(id, 102).head(id, 103, ['link', '</a>']).respond(id)
    await handler.settled
    assert.deepEqual(handler.statuses, [102, 103, 200])
    assert.equal(handler.body, 'ok')
  })

  test('reach onInfo of request()', async (t) => {
    const { server, client } = await startH2Pair(t)
    const infos: unknown[] = []
    const response = client.request({
      path: '/',
      method: 'GET',
      onInfo: ({ statusCode, headers }) => infos.push([statusCode, { ...headers }]),
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 103, ['link', '</style.css>']).respond(id)
    assert.equal(await (await response).body.text(), 'ok')
    assert.deepEqual(infos, [[103, { link: '</style.css>' }]])
  })

  test('are bounded: one too many resets the stream', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => {
      for (let i = 0; i <= MAX_INTERIM_RESPONSES; i++) peer.head(id, 103)
    })
    await handler.settled
    assert.equal((handler.error as Failed).http2ErrorCode, ENHANCE_YOUR_CALM)
    assert.equal(await peer.resetOf(id), ENHANCE_YOUR_CALM)
    assert.equal(handler.statuses.length, MAX_INTERIM_RESPONSES)
    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })
})

describe('limits of a response over HTTP/2', () => {
  test('maxHeaderSize: head, interim head and trailers, each by itself, the stream only', async (t) => {
    const { server, client } = await startH2Pair(t, { maxHeaderSize: 200 })
    const large = ['x-large', 'x'.repeat(193)]
    const running = send(client, { path: '/running' })
    const peer = await server.accept()
    const runningId = (await peer.request()).id
    for (const where of ['head', 'interim', 'trailers'] as const) {
      const handler = send(client, { path: `/${where}` })
      const { id } = await peer.request()
      if (where === 'head') peer.head(id, 200, large, true)
      if (where === 'interim') peer.head(id, 103, large)
      if (where === 'trailers') peer.head(id, 200).headers(id, large, true)
      await handler.settled
      const error = handler.error as Failed
      assert.equal(error.code, 'UND_ERR_HEADERS_OVERFLOW', where)
      assert.match(error.message, /^Headers Overflow Error/)
      await peer.resetOf(id)
    }
    peer.head(runningId, 200, ['x-fits', 'x'.repeat(190)], true)
    await running.settled
    assert.equal(running.status, 200)
    assert.equal(server.count, 1)
  })

  test('maxResponseSize: exactly is fine, more resets the stream only', async (t) => {
    const { server, client } = await startH2Pair(t, { maxResponseSize: 5 })
    const exact = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id, '12345')
    await exact.settled
    assert.equal(exact.body, '12345')

    const over = send(client)
    const { id } = await peer.request()
    peer.head(id, 200).data(id, '123').data(id, '456')
    await over.settled
    assert.equal((over.error as Failed).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    assert.equal(over.body, '123')
    assert.equal(await peer.resetOf(id), CANCEL)

    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(server.count, 1)
  })
})

/** Pauses at its first data and counts the received bytes. */
class PausingHandler extends RecordingHandler {
  received = 0

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.received += chunk.length
    if (this.received === chunk.length) controller.pause()
  }
}

describe('a consumer that does not read', () => {
  test('holds its own window and no other', async (t) => {
    // Windows grow with the bytes per round trip, which depends on time.
    t.mock.method(WindowGrowth.prototype, 'onStreamData', () => 0)
    const { server, client } = await startH2Pair(t, {
      initialWindowSize: 65_536,
      connectionWindowSize: 131_072,
    })
    const paused = new PausingHandler()
    client.dispatch({ path: '/paused', method: 'GET' }, paused as DispatchHandler)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200)
    for (let i = 0; i < 4; i++) peer.data(id, Buffer.alloc(16_384))
    await peer.settled()
    assert.deepEqual(peer.pending(WINDOW_UPDATE, id), [])
    assert.equal(paused.received, 16_384)

    // Four times the connection's window passes the stream that is paused.
    const flowing = send(client, { path: '/flowing' })
    const other = (await peer.request()).id
    peer.head(other, 200)
    let window = 65_536
    let connection = 131_072 - 65_536
    const drainUpdates = (): void => {
      for (const frame of peer.pending(WINDOW_UPDATE)) {
        const increment = frame.payload.readUInt32BE(0)
        if (frame.streamId === other) window += increment
        if (frame.streamId === 0) connection += increment
        void peer.frame(WINDOW_UPDATE, frame.streamId)
      }
    }
    // The preface has already raised the connection's window from 65535, which the test includes.
    await peer.frame(WINDOW_UPDATE, 0)
    for (let sent = 0; sent < 524_288; sent += 16_384) {
      while (window < 16_384 || connection < 16_384) {
        await peer.settled()
        drainUpdates()
      }
      window -= 16_384
      connection -= 16_384
      peer.data(other, Buffer.alloc(16_384))
      drainUpdates()
    }
    peer.data(other, '', true)
    await flowing.settled
    assert.equal(flowing.body.length, 524_288)
    assert.equal(paused.received, 16_384)

    paused.controller!.resume()
    await peer.frame(WINDOW_UPDATE, id)
    peer.data(id, '', true)
    await paused.settled
    assert.equal(paused.received, 65_536)
    assert.equal(paused.error, undefined)
  })

  test('gets all of a response that ended meanwhile when it goes on, also from inside a callback', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseData') {
        controller!.pause()
        controller!.resume()
        controller!.pause()
      }
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    // Small pieces that wait together are handed out together.
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(5000)) as [string, string, string]
    peer.head(id, 200).data(id, a).data(id, b).data(id, c).headers(id, ['x-t', '1'], true)
    await peer.settled()
    assert.equal(handler.body, a)
    handler.controller!.resume()
    assert.equal(handler.body, a + b)
    assert.ok(!handler.calls.includes('onResponseEnd'))
    handler.controller!.resume()
    handler.controller!.resume()
    await handler.settled
    assert.equal(handler.body, a + b + c)
    assert.deepEqual({ ...handler.trailers }, { 'x-t': '1' })
  })

  test('still gets a response that was complete when the connection went', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'all of it', true)
    await peer.settled()
    const lost = new Promise((resolve) => client.once('disconnect', resolve))
    peer.socket.destroy()
    await lost
    assert.equal(client.stats.running, 1)
    const closing = client.close()
    handler.controller!.resume()
    await handler.settled
    assert.deepEqual([handler.body, handler.error], ['all of it', undefined])
    await closing
  })

  test('and an error when the client is destroyed after that', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'all of it', true)
    await peer.settled()
    const lost = new Promise((resolve) => client.once('disconnect', resolve))
    peer.socket.destroy()
    await lost
    const reason = new Error('going home')
    await client.destroy(reason)
    assert.deepEqual(handler.errors, [reason])
  })

  test('gets an error instead when the client is destroyed', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'all of it', true)
    await peer.settled()
    const reason = new Error('going home')
    await client.destroy(reason)
    assert.equal(handler.error, reason)
    handler.controller!.resume()
    assert.equal(handler.body, '')
  })

  test('can give up', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart') controller!.pause()
    })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'some')
    await peer.settled()
    handler.controller!.abort()
    assert.equal((handler.error as Failed).code, 'UND_ERR_ABORTED')
    assert.equal(await peer.resetOf(id), CANCEL)
    assert.equal(client.stats.running, 0)
  })
})
