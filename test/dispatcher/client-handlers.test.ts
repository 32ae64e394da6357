/** The effect of a throwing handler, and the methods of the controller (docs/handlers.md). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import type { HandlerMethod } from '../support/recording-handler.ts'
import { OK, recordEvents, response, send } from '../support/scripted-client.ts'

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'

describe('a handler that throws', () => {
  const thrown = new Error('thrown by the handler')
  const throwIn =
    (wanted: HandlerMethod) =>
    (method: HandlerMethod): void => {
      if (method === wanted) throw thrown
    }

  test('in onRequestStart: fails, nothing is written, the connection is kept', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const events = recordEvents(client)
    const handler = send(client, { path: '/1' }, throwIn('onRequestStart'))
    const next = send(client, { path: '/2' })
    await settle()
    assert.deepEqual(handler.calls, ['onRequestStart', 'onResponseError'])
    assert.equal(handler.error, thrown)
    assert.equal(handler.lastController, handler.controller)
    assert.deepEqual(requestLines(sockets[0]!.written), ['GET /2'])
    await say(OK)
    assert.equal(next.body, 'ok')
    assert.deepEqual(events, ['connect', 'drain'])
  })

  for (const [method, options, disconnect] of [
    ['onBodySent', { method: 'POST', body: 'x' }, 'aborted'],
    ['onRequestSent', {}, 'aborted'],
    ['onResponseStarted', {}, thrown.message],
    ['onResponseStart', {}, 'aborted'],
    ['onResponseData', {}, 'aborted'],
  ] as const) {
    test(`in ${method}: fails, the socket is destroyed (${disconnect})`, async (t) => {
      const { client, sockets, settle, say } = memoryPair(t)
      const events = recordEvents(client)
      const handler = send(client, options, throwIn(method))
      const next = send(client, { path: '/next' })
      await settle()
      if (sockets.length === 1) await say(OK)
      assert.deepEqual(handler.errors, [thrown])
      assert.equal(handler.calls.at(-1), 'onResponseError')
      assert.deepEqual(events.slice(0, 3), ['connect', `disconnect: ${disconnect}`, 'connect'])
      await say(OK)
      assert.equal(next.body, 'ok')
    })
  }

  test('in onResponseStart for an interim head: the same', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client, {}, throwIn('onResponseStart'))
    await settle()
    await say('HTTP/1.1 103 Early Hints\r\n\r\n', OK)
    assert.deepEqual(handler.errors, [thrown])
    assert.deepEqual(handler.statuses, [103])
  })

  test('in onResponseEnd: fails after its end, the connection is kept', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client, {}, throwIn('onResponseEnd'))
    const next = send(client)
    await settle()
    await say(OK)
    assert.deepEqual(handler.calls.slice(-2), ['onResponseEnd', 'onResponseError'])
    assert.equal(handler.error, thrown)
    await say(OK)
    assert.equal(next.body, 'ok')
    assert.equal(sockets.length, 1)
  })

  test('in onRequestUpgrade: the socket is destroyed with it, the handler hears nothing', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client, { upgrade: 'x' }, throwIn('onRequestUpgrade'))
    await settle()
    sockets[0]!.on('error', () => {})
    await say(UPGRADE)
    assert.deepEqual(handler.errors, [])
    assert.equal(sockets[0]!.errored, thrown)
  })

  test('in onResponseError: the error event of the client', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const events = recordEvents(client)
    const handler = send(client, {}, throwIn('onResponseError'))
    await settle()
    await say('nonsense')
    assert.equal(handler.errors.length, 1)
    assert.ok(events.includes(`error: ${thrown.message}`))
  })

  test('others that were sent with it are sent again', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { pipelining: 2 })
    const handler = send(client, { path: '/1', blocking: false }, throwIn('onResponseData'))
    const next = send(client, { path: '/2', blocking: false })
    await settle()
    await say(OK)
    assert.deepEqual(handler.errors, [thrown])
    assert.deepEqual(requestLines(sockets[1]!.written), ['GET /2'])
    await say(OK)
    assert.equal(next.body, 'ok')
  })
})

describe('the controller', () => {
  test('abort: the first call wins, and onResponseError runs inside it', async (t) => {
    const { client, settle } = memoryPair(t)
    const handler = send(client)
    await settle()
    const controller = handler.controller!
    assert.deepEqual([controller.aborted, controller.reason], [false, null])
    const reason = new Error('mine')
    controller.abort(reason)
    assert.deepEqual(handler.errors, [reason])
    controller.abort(new Error('another'))
    assert.deepEqual(handler.errors, [reason])
    assert.deepEqual([controller.aborted, controller.reason], [true, reason])
  })

  test('abort without a reason is a RequestAbortedError', async (t) => {
    const { client, settle } = memoryPair(t)
    const handler = send(client)
    await settle()
    handler.controller!.abort()
    assert.ok(handler.error instanceof errors.RequestAbortedError)
    assert.equal(handler.error.message, 'Request aborted')
    assert.equal(handler.controller!.reason, undefined)
  })

  test('abort after the end does nothing', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client)
    await settle()
    await say(OK)
    handler.controller!.abort(new Error('late'))
    assert.deepEqual([handler.errors, handler.controller!.aborted], [[], false])
    assert.equal(client.stats.connected, true)
  })

  for (const method of [
    'onRequestStart',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
  ] as const) {
    test(`abort inside ${method}`, async (t) => {
      const { client, settle, say } = memoryPair(t)
      const handler = send(client, {}, (current, { controller }) => {
        if (current === method) controller!.abort(new Error('inside'))
      })
      const next = send(client, { path: '/next' })
      await settle()
      if (method !== 'onRequestStart') await say(OK)
      assert.equal(handler.errors[0]?.message, 'inside')
      assert.equal(handler.errors.length, 1)
      assert.equal(handler.calls.at(-1), 'onResponseError')
      await say(OK)
      assert.equal(next.body, 'ok')
    })
  }

  test('pause and resume', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseStart' || method === 'onResponseData') controller!.pause()
    })
    await settle()
    await say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n')
    assert.equal(handler.body, '')
    assert.equal(handler.controller!.paused, true)
    handler.controller!.resume()
    assert.equal(handler.body, 'a')
    await say('0\r\n\r\n')
    assert.equal(handler.body, 'a')
    handler.controller!.resume()
    assert.equal(handler.body, 'ab')
    handler.controller!.resume()
    await settle()
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
    assert.equal(sockets.length, 1)
  })

  test('pause in onRequestStart holds the response right after its head', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onRequestStart') controller!.pause()
    })
    await settle()
    await say(OK)
    assert.deepEqual([handler.status, handler.body], [200, ''])
    handler.controller!.resume()
    await settle()
    assert.equal(handler.body, 'ok')
  })

  test('the peer closes while the consumer pauses: the rest is still delivered', async (t) => {
    for (const [text, expected] of [
      [response('0123456789'), 'onResponseEnd'],
      ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n', 'onResponseEnd'],
      ['HTTP/1.1 200 OK\r\n\r\n0123456789', 'onResponseEnd'],
      ['HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n0123456789', 'onResponseError'],
    ] as const) {
      const { client, sockets, settle, say } = memoryPair(t)
      const handler = send(client, {}, (method, { controller }) => {
        if (method === 'onResponseStart') controller!.pause()
      })
      await settle()
      sockets[0]!.say(text).finish()
      await settle()
      assert.equal(handler.body, '')
      handler.controller!.resume()
      await settle()
      assert.deepEqual([handler.body, handler.calls.at(-1)], ['0123456789', expected])
      assert.equal(client.stats.connected, false)
      const next = send(client)
      await settle()
      await say(OK)
      assert.equal(next.body, 'ok')
    }
  })

  test('raw headers and trailers', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const seen: (string[] | null)[] = []
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onRequestStart' || method === 'onResponseStart') {
        seen.push(rawList(controller!.rawHeaders)?.map(String) ?? null)
      }
    })
    await settle()
    assert.equal(handler.controller!.rawTrailers, null)
    await say(
      'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: 1\r\nx: 2\r\n\r\n0\r\nT: z\r\n\r\n',
    )
    assert.deepEqual(seen, [null, ['Link', 'a'], ['Transfer-Encoding', 'chunked', 'X', '1', 'x', '2']])
    assert.deepEqual(handler.headers?.['x'], ['1', '2'])
    assert.deepEqual((handler.controller!.rawTrailers as Buffer[] | null)?.map(String), ['T', 'z'])
    assert.equal(handler.trailers?.['t'], 'z')
    assert.equal(handler.context, null)
  })
})
