import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import {
  CANCEL,
  DATA,
  errorCodeName,
  HTTP_1_1_REQUIRED,
  NO_ERROR,
  PING,
  REFUSED_STREAM,
  SETTINGS_MAX_CONCURRENT_STREAMS,
} from '../../src/protocol/http2/constants.ts'
import { eventually, FakeClock } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { send } from '../support/scripted-client.ts'

type Failed = Error & { code: string; retrySafety: string; phase: string; http2ErrorCode?: number }

const CODES = Array.from({ length: HTTP_1_1_REQUIRED + 1 }, (_, code) => code)

describe('RST_STREAM from the server', () => {
  for (const code of CODES.filter((code) => code !== REFUSED_STREAM)) {
    for (const position of ['before the head', 'within the body'] as const) {
      test(`${errorCodeName(code)} ${position} fails the request, once, and nothing else`, async (t) => {
        const { server, client, events } = await startH2Pair(t)
        const other = send(client, { path: '/other' })
        const peer = await server.accept()
        const otherId = (await peer.request()).id
        const handler = send(client)
        const { id } = await peer.request()
        if (position === 'within the body') peer.head(id, 200).data(id, 'some')
        peer.reset(id, code)
        await handler.settled
        await peer.settled()
        assert.equal(handler.errors.length, 1)
        const error = handler.error as Failed
        if (code === NO_ERROR || code === CANCEL) {
          assert.equal(error.code, 'UND_ERR_INFO')
          const end = code === NO_ERROR ? 'half-closed (remote)' : 'closed before the response was complete'
          assert.equal(error.message, `HTTP/2: stream ${end}`)
        } else {
          assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR')
          assert.equal(error.http2ErrorCode, code)
        }
        assert.equal(error.retrySafety, 'idempotent-only')
        assert.equal(error.phase, position === 'before the head' ? 'headers' : 'body')
        peer.respond(otherId)
        await other.settled
        assert.equal(other.body, 'ok')
        assert.ok(!events.some((event) => event.startsWith('disconnect')))
        assert.equal(client.stats.size, 0)
      })
    }
  }

  for (const how of ['end', 'reset'] as const) {
    test(`NO_ERROR, then the connection's ${how}: lost like all others on it`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const handlers = [send(client), send(client), send(client)]
      const peer = await server.accept()
      peer.answersPings = false
      const [a, b] = await peer.take(3)
      peer.head(b!.id, 200).data(b!.id, 'some')
      await eventually(() => handlers[1]!.body === 'some')
      peer.reset(a!.id, NO_ERROR).reset(b!.id, NO_ERROR)
      await peer.frame(PING)
      const later = send(client, { path: '/later' })
      if (how === 'end') peer.end()
      else (peer.socket as Socket).resetAndDestroy()
      await Promise.all(handlers.map((handler) => handler.settled))
      const [code, message] =
        how === 'end' ? ['UND_ERR_SOCKET', /^other side closed/] : ['ECONNRESET', /ECONNRESET/]
      for (const { error } of handlers) {
        assert.equal((error as Failed).code, code)
        assert.match(error!.message, message as RegExp)
        assert.equal((error as Failed).retrySafety, 'idempotent-only')
      }
      const next = await server.accept()
      const { id, headers } = await next.request()
      assert.equal(headers[':path'], '/later')
      next.respond(id)
      await later.settled
      assert.equal(later.body, 'ok')
    })
  }

  test('NO_ERROR, then the answer to a PING that was never sent: it explains nothing', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    peer.answersPings = false
    peer.reset((await peer.request()).id, NO_ERROR)
    await peer.frame(PING)
    peer.pong(Buffer.alloc(8, 0xff)).pong(Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]))
    await peer.settled()
    assert.deepEqual(handler.errors, [])
    peer.end()
    await handler.settled
    assert.match(handler.error!.message, /^other side closed/)
  })

  test('REFUSED_STREAM within the body is an error like any other: it was processed', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'some').reset(id, REFUSED_STREAM)
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.http2ErrorCode, REFUSED_STREAM)
    assert.equal(error.retrySafety, 'idempotent-only')
    assert.equal(peer.requests.length, 1)
  })

  for (const { what, method, fields, text } of [
    { what: 'all content that was announced', method: 'GET', fields: ['content-length', '4'], text: 'some' },
    { what: 'an announced length of 0', method: 'GET', fields: ['content-length', '0'], text: '' },
    { what: 'the head of a HEAD', method: 'HEAD', fields: ['content-length', '4'], text: '' },
  ] as const) {
    test(`NO_ERROR behind ${what}: the response is complete without END_STREAM`, async (t) => {
      const { server, client, events } = await startH2Pair(t)
      const handler = send(client, { method })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.head(id, 200, fields)
      if (text !== '') peer.data(id, text)
      peer.reset(id, NO_ERROR)
      await handler.settled
      assert.deepEqual([handler.error, handler.body], [undefined, text])
      assert.equal(handler.calls.at(-1), 'onResponseEnd')
      const next = send(client)
      peer.respond((await peer.request()).id)
      await next.settled
      assert.equal(next.body, 'ok')
      assert.ok(!events.some((event) => event.startsWith('disconnect')))
    })
  }

  test('NO_ERROR behind all content of a response to an upload that goes on: that stops', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new PassThrough()
    body.write('part')
    const handler = send(client, { method: 'POST', body })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 413, ['content-length', '4']).data(id, 'full').reset(id, NO_ERROR)
    await handler.settled
    assert.deepEqual([handler.error, handler.body], [undefined, 'full'])
    await peer.settled()
    assert.equal(body.destroyed, true)
    assert.equal(client.stats.size, 0)
  })

  for (const [code, text] of [
    [NO_ERROR, 'som'],
    [CANCEL, 'some'],
  ] as const) {
    test(`${errorCodeName(code)} behind ${text.length} of 4 announced bytes: the response is cut off`, async (t) => {
      const { server, client } = await startH2Pair(t)
      const handler = send(client)
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.head(id, 200, ['content-length', '4']).data(id, text).reset(id, code)
      await handler.settled
      assert.equal((handler.error as Failed).code, 'UND_ERR_INFO')
    })
  }

  test('of any code after END_STREAM changes nothing', async (t) => {
    const { server, client, events } = await startH2Pair(t)
    const first = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.together(() => peer.head(id, 200).data(id, 'ok', true).reset(id, CANCEL))
    await first.settled
    for (const code of CODES) {
      const handler = send(client)
      const next = await peer.request()
      peer.respond(next.id).reset(next.id, code)
      await handler.settled
      await peer.settled()
      assert.deepEqual([handler.body, handler.errors], ['ok', []], errorCodeName(code))
    }
    assert.equal(server.count, 1)
    assert.ok(!events.some((event) => event.startsWith('disconnect')))
  })
})

describe('REFUSED_STREAM before the head', () => {
  for (const [name, options] of [
    ['GET', {}],
    ['POST with bytes', { method: 'POST', body: 'bytes' }],
    ['POST with a Blob', { method: 'POST', body: new Blob(['bytes']) }],
  ] as const) {
    test(`${name} is sent again on the same connection, unseen`, async (t) => {
      const { server, client, events } = await startH2Pair(t)
      const handler = send(client, options)
      const peer = await server.accept()
      const first = await peer.request()
      if (!first.endStream) await peer.body(first.id)
      peer.reset(first.id, REFUSED_STREAM)
      const second = await peer.request()
      assert.equal(second.id, first.id + 2)
      if (!second.endStream) assert.equal((await peer.body(second.id)).toString(), 'bytes')
      peer.respond(second.id)
      await handler.settled
      assert.deepEqual([handler.body, handler.errors], ['ok', []])
      assert.equal(server.count, 1)
      assert.ok(!events.some((event) => event.startsWith('disconnect')))
    })
  }

  test('a body that was on its way stops, and starts anew', async (t) => {
    const { server, client } = await startH2Pair(t)
    const sent: number[] = []
    const body = new Blob([Buffer.alloc(300_000, 'x')])
    const handler = new RecordingHandler()
    handler.onBodySent = (...args: unknown[]) => {
      sent.push((args[0] as Uint8Array).byteLength)
    }
    client.dispatch({ path: '/', method: 'POST', body }, handler)
    const peer = await server.accept()
    const first = await peer.request()
    await peer.frame(DATA, first.id)
    await eventually(() => sent.length > 0)
    peer.reset(first.id, REFUSED_STREAM)
    const second = await peer.request()
    sent.length = 0
    peer.windowUpdate(0, 1_000_000).windowUpdate(second.id, 1_000_000)
    assert.equal((await peer.body(second.id)).length, 300_000)
    peer.respond(second.id)
    await handler.settled
    assert.equal(handler.body, 'ok')
    assert.ok(sent.reduce((sum, bytes) => sum + bytes, 0) <= 300_000)
  })

  test('a second time is an error that says it is safe to repeat', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client, { method: 'POST', body: 'bytes' })
    const peer = await server.accept()
    peer.reset((await peer.request()).id, REFUSED_STREAM)
    peer.reset((await peer.request()).id, REFUSED_STREAM)
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR')
    assert.equal(error.http2ErrorCode, REFUSED_STREAM)
    assert.equal(error.retrySafety, 'safe')
    assert.equal(peer.requests.length, 2)
  })

  test('a stream body that was read from is not sent again', async (t) => {
    const { server, client } = await startH2Pair(t)
    const body = new Readable({ read() {} })
    body.push('part')
    const handler = send(client, { method: 'POST', body })
    const peer = await server.accept()
    const { id } = await peer.request()
    await peer.frame(DATA, id)
    peer.reset(id, REFUSED_STREAM)
    await handler.settled
    const error = handler.error as Failed
    assert.equal(error.http2ErrorCode, REFUSED_STREAM)
    assert.equal(error.retrySafety, 'no')
    assert.equal(body.destroyed, true)
    await peer.settled()
    assert.equal(peer.requests.length, 1)
  })

  test('a request that got an interim response was processed', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 103).reset(id, REFUSED_STREAM)
    await handler.settled
    assert.equal((handler.error as Failed).http2ErrorCode, REFUSED_STREAM)
    assert.equal((handler.error as Failed).retrySafety, 'idempotent-only')
    assert.equal(peer.requests.length, 1)
  })

  test('streams opened before SETTINGS that were too many are sent again, unseen', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { settings: null })
    const handlers = Array.from({ length: 20 }, (_, i) =>
      send(client, { path: `/${i}`, method: 'POST', body: `${i}` }),
    )
    const peer = await server.accept()
    const early = await peer.take(20)
    peer.together(() => {
      peer.settings([[SETTINGS_MAX_CONCURRENT_STREAMS, 5]])
      for (const { id } of early.slice(5)) peer.reset(id, REFUSED_STREAM)
    })
    let open = 5
    for (const { id } of early.slice(0, 5)) {
      peer.respond(id)
      open--
    }
    for (let i = 0; i < 15; i++) {
      const { id } = await peer.request()
      open++
      assert.ok(open <= 5, `${open} streams at a time`)
      peer.respond(id)
      open--
    }
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.ok(handlers.every((handler) => handler.body === 'ok' && handler.errors.length === 0))
    assert.equal(server.count, 1)
  })
})

describe('beside a stream that lasts', { timeout: 20_000 }, () => {
  async function lasting(t: TestContext) {
    const clock = FakeClock.install(t)
    const pair = await startH2Pair(t, { pingInterval: 0, headersTimeout: 0 })
    const events = send(pair.client, { path: '/events' })
    const peer = await pair.server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'first')
    await eventually(() => events.body === 'first')
    return { clock, peer, id, ...pair }
  }

  test('REFUSED_STREAM: what was refused is tried again after a second, then twice as long', async (t) => {
    const { clock, peer, client, server } = await lasting(t)
    const handler = send(client)
    peer.reset((await peer.request()).id, REFUSED_STREAM)
    for (const patience of [1000, 2000, 4000]) {
      await peer.settled()
      const { length } = peer.requests
      await clock.advance(patience - 1)
      await peer.settled()
      assert.equal(peer.requests.length, length)
      await clock.advance(1)
      const { id } = await peer.request()
      if (patience < 4000) peer.reset(id, REFUSED_STREAM)
      else peer.respond(id)
    }
    await handler.settled
    assert.deepEqual([handler.body, handler.errors], ['ok', []])
    assert.equal(server.count, 1)
  })

  test('REFUSED_STREAM: others that last as well are taken one after another', async (t) => {
    const { clock, peer, client } = await lasting(t)
    const handlers = [send(client), send(client), send(client)]
    for (const { id } of await peer.take(3)) peer.reset(id, REFUSED_STREAM)
    for (const handler of handlers) {
      await peer.settled()
      await clock.advance(1000)
      const { id } = await peer.request()
      peer.head(id, 200).data(id, 'too')
      await eventually(() => handler.body === 'too')
    }
  })

  test('NO_ERROR: a peer that answers no PING has meant it after a while, and others go on', async (t) => {
    const { clock, peer, id, client } = await lasting(t)
    peer.answersPings = false
    const handler = send(client)
    peer.reset((await peer.request()).id, NO_ERROR)
    await peer.frame(PING)
    const next = send(client, { path: '/next' })
    await clock.advance(9_000)
    peer.data(id, 'more')
    await peer.settled()
    await clock.advance(1_000)
    await handler.settled
    assert.equal((handler.error as Failed).code, 'UND_ERR_INFO')
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })

  test('NO_ERROR, and the request given up before the answer to the PING: others go on', async (t) => {
    const { peer, client } = await lasting(t)
    peer.answersPings = false
    const handler = send(client)
    peer.reset((await peer.request()).id, NO_ERROR)
    const { payload } = await peer.frame(PING)
    const next = send(client, { path: '/next' })
    handler.controller!.abort()
    await peer.settled()
    peer.pong(payload)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
  })
})

describe('giving a request up over HTTP/2', () => {
  test('before the head: RST_STREAM CANCEL, the reason itself, the connection kept', async (t) => {
    const { server, client, events } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    const reason = new Error('changed my mind')
    handler.controller!.abort(reason)
    assert.equal(handler.error, reason)
    assert.equal(await peer.resetOf(id), CANCEL)
    const next = send(client)
    peer.respond((await peer.request()).id)
    await next.settled
    assert.equal(next.body, 'ok')
    assert.equal(server.count, 1)
    assert.ok(!events.some((event) => event.startsWith('disconnect')))
  })

  test('through a signal, within the body', async (t) => {
    const { server, client } = await startH2Pair(t)
    const aborter = new AbortController()
    const response = client.request({ path: '/', method: 'GET', signal: aborter.signal })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, 'some')
    const { body } = await response
    const text = body.text()
    aborter.abort()
    await assert.rejects(text, { name: 'AbortError' })
    assert.equal(await peer.resetOf(id), CANCEL)
  })

  test('between its refusal and its next start', async (t) => {
    const { server, client } = await startH2Pair(t)
    const refused = send(client, { path: '/refused' })
    const other = send(client, {}, (method) => {
      if (method === 'onResponseStart') refused.controller!.abort()
    })
    const peer = await server.accept()
    const [first, second] = await peer.take(2)
    peer.together(() => peer.reset(first!.id, REFUSED_STREAM).respond(second!.id))
    await other.settled
    await peer.settled()
    assert.equal((refused.error as Failed).code, 'UND_ERR_ABORTED')
    assert.equal(refused.errors.length, 1)
    assert.equal(peer.requests.length, 2)
    assert.equal(client.stats.size, 0)
  })

  test('while it is refused: it is not sent again', async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 1 })
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    const blocking = send(client, { path: '/2' })
    peer.reset(id, REFUSED_STREAM)
    await eventually(() => handler.calls.filter((call) => call === 'onRequestStart').length === 2)
    handler.controller!.abort()
    await handler.settled
    assert.equal(handler.errors.length, 1)
    const { id: again } = await peer.request()
    assert.equal(await peer.resetOf(again), CANCEL)
    const second = await peer.request()
    assert.equal(second.headers[':path'], '/2')
    peer.respond(second.id)
    await blocking.settled
  })
})
