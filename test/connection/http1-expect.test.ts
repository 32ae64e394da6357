/** `expectContinue` over HTTP/1.1: each state of a body that is held back, and each way out of it. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { describe, test } from 'node:test'
import { HeadParsers, Http1Connection } from '../../src/connection/http1/connection.ts'
import { readClientOptions } from '../../src/dispatcher/client-options.ts'
import { type ClientOptions, type DispatchOptions, interceptors } from '../../src/index.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { MemoryTransport } from '../support/memory-transport.ts'
import { queued } from '../support/queued-request.ts'
import { type Interference, RecordingHandler } from '../support/recording-handler.ts'
import { disconnected, OK, response, send, startPair } from '../support/scripted-client.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const REFUSAL = 'HTTP/1.1 417 Expectation Failed\r\ncontent-length: 2\r\n\r\nno'
const POST = { method: 'POST', path: '/', body: 'the body', expectContinue: true } as const
const HEAD =
  'POST / HTTP/1.1\r\nhost: a.test\r\nconnection: keep-alive\r\nexpect: 100-continue\r\ncontent-length: 8\r\n\r\n'

interface Scene {
  readonly transport: MemoryTransport
  readonly clock: FakeClock
  readonly connection: Http1Connection
  take(options?: Partial<DispatchOptions>, interfere?: Interference): RecordingHandler
  /** What was written since the last call. */
  written(): string
}

/** A connection on a transport in memory: everything happens in the call that causes it. */
function start(t: TestContext, options: ClientOptions = {}): Scene {
  const clock = FakeClock.install(t)
  const transport = new MemoryTransport()
  const settings = { ...readClientOptions(options), authority: 'a.test' }
  const owner = {
    pipelining: settings.pipelining,
    maxConcurrentStreams: 1,
    onCapacity() {},
    onReturned() {},
    onState() {},
    onPing() {},
    onHandlerError(error: unknown) {
      throw error
    },
  }
  const times = { connect: 1, secured: null }
  const connection = new Http1Connection(transport, owner, settings, times, new HeadParsers(settings))
  return {
    transport,
    clock,
    connection,
    take: (given = {}, interfere) => {
      const handler = new RecordingHandler(interfere)
      assert.equal(connection.offer(queued(handler, { ...POST, ...given })), true)
      return handler
    },
    written: () => {
      const text = transport.written
      transport.written = ''
      return text
    },
  }
}

describe('expectContinue over HTTP/1.1: a body that is held back', () => {
  test('follows the 100, which the caller does not see', (t) => {
    const { transport, take, written } = start(t)
    const handler = take()
    assert.equal(written(), HEAD)
    assert.ok(!handler.calls.includes('onRequestSent'))
    transport.say(CONTINUE)
    assert.equal(written(), 'the body')
    transport.say(OK)
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onResponseStarted',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.equal(transport.destroyedWith, undefined)
  })

  test('stays while other interim responses come', (t) => {
    const { transport, take, written } = start(t)
    const handler = take()
    written()
    transport.say('HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n')
    assert.equal(written(), '')
    assert.deepEqual(handler.statuses, [103, 102])
  })

  test('is sent once, however many 100s come', (t) => {
    const { transport, clock, take, written } = start(t)
    const handler = take()
    written()
    transport.say(CONTINUE, CONTINUE)
    clock.jump(2000)
    transport.say(CONTINUE)
    assert.equal(written(), 'the body')
    transport.say(OK)
    assert.equal(handler.body, 'ok')
  })

  for (const [name, options, request, wait] of [
    ['a second', {}, {}, 1000],
    ['the time of the client', { expectContinueTimeout: 300 }, {}, 300],
    ['the time of the request', { expectContinueTimeout: 300 }, { expectContinueTimeout: 500 }, 500],
    ['headersTimeout, if that is shorter', {}, { headersTimeout: 400 }, 400],
    [
      'headersTimeout, if it has no time of its own',
      { expectContinueTimeout: 0, headersTimeout: 7000 },
      {},
      7000,
    ],
  ] as const) {
    test(`is sent after ${name}`, async (t) => {
      const { transport, clock, take, written } = start(t, options)
      const handler = take(request)
      written()
      await clock.advance(wait - 1)
      assert.equal(written(), '')
      await clock.advance(1)
      assert.equal(written(), 'the body')
      transport.say(OK)
      assert.equal(handler.body, 'ok')
    })
  }

  test('waits for ever where neither time is limited', async (t) => {
    const { transport, clock, take, written } = start(t, { expectContinueTimeout: 0, headersTimeout: 0 })
    take()
    written()
    await clock.advance(1e9)
    assert.equal(written(), '')
    transport.say(CONTINUE)
    assert.equal(written(), 'the body')
  })

  test('does not use up the time for the response head', async (t) => {
    const { transport, clock, take, written } = start(t, { headersTimeout: 400 })
    const handler = take()
    await clock.advance(400)
    assert.ok(written().endsWith('the body'))
    await clock.advance(399)
    assert.equal(handler.error, undefined)
    await clock.advance(1)
    assert.equal((transport.destroyedWith as { code?: string }).code, 'UND_ERR_HEADERS_TIMEOUT')
  })

  for (const status of [303, 417, 500]) {
    test(`is not sent after a ${status}, and the connection closes after the response`, async (t) => {
      const { transport, clock, take, written } = start(t)
      const handler = take()
      written()
      transport.say(`HTTP/1.1 ${status} No\r\ncontent-length: 2\r\n\r\n`)
      assert.deepEqual([handler.status, transport.destroyedWith], [status, undefined])
      await clock.advance(5000)
      transport.say('no')
      assert.equal(handler.body, 'no')
      assert.equal(written(), '')
      assert.ok(!handler.calls.includes('onBodySent'))
      assert.ok(transport.destroyedWith !== undefined)
    })
  }

  test('is sent after a 2xx without a 100; a small one is out before the response ends', (t) => {
    const { transport, take, written } = start(t)
    const handler = take()
    written()
    transport.say(OK)
    assert.equal(written(), 'the body')
    assert.equal(handler.body, 'ok')
    assert.equal(transport.destroyedWith, undefined)
  })

  test('begins with a 2xx; the response ends before a stream does, and closes the connection', async (t) => {
    const { transport, take, written } = start(t)
    const body = new Readable({ read() {} })
    const handler = take({ body })
    written()
    transport.say('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
    body.push('some')
    await turns(2)
    assert.equal(written(), '4\r\nsome\r\n')
    transport.say('ok')
    assert.equal(handler.body, 'ok')
    assert.ok(transport.destroyedWith !== undefined)
    assert.equal(body.destroyed, true)
  })

  test('a stream is not read before it is wanted', async (t) => {
    const { transport, take, written } = start(t)
    const read: string[] = []
    const body = (function* () {
      read.push('asked')
      yield 'a'
      yield 'bc'
    })()
    take({ body })
    await turns(2)
    assert.deepEqual(read, [])
    assert.ok(written().endsWith('expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n'))
    transport.say(CONTINUE)
    await turns(2)
    assert.equal(written(), '1\r\na\r\n2\r\nbc\r\n0\r\n\r\n')
  })

  test('a stream that turns out to be empty is an empty body', async (t) => {
    const { transport, take, written } = start(t)
    const handler = take({ body: Readable.from([]) })
    written()
    transport.say(CONTINUE)
    await turns(4)
    assert.equal(written(), '0\r\n\r\n')
    transport.say(OK)
    assert.equal(handler.body, 'ok')
    assert.equal(transport.destroyedWith, undefined)
  })

  test('trailers follow it', async (t) => {
    const { transport, take, written } = start(t)
    take({ trailers: { 'x-sum': '1' } })
    assert.ok(written().endsWith('transfer-encoding: chunked\r\n\r\n'))
    transport.say(CONTINUE)
    await turns(2)
    assert.equal(written(), '8\r\nthe body\r\n0\r\nx-sum: 1\r\n\r\n')
  })

  test('an abort sends nothing of it', async (t) => {
    const { transport, clock, take, written } = start(t)
    const body = Readable.from(['never'])
    const handler = take({ body })
    written()
    handler.controller!.abort(new Error('enough'))
    await clock.advance(2000)
    transport.say(CONTINUE)
    assert.equal(written(), '')
    assert.deepEqual(
      handler.errors.map(({ message }) => message),
      ['enough'],
    )
    assert.equal(body.destroyed, true)
    assert.equal(clock.active.size, 0)
  })

  test('fails with its source', (t) => {
    const { transport, take, written } = start(t)
    const body = new Readable({ read() {} })
    const handler = take({ body })
    written()
    body.emit('error', new Error('disk'))
    assert.equal(handler.error?.message, 'disk')
    assert.ok(transport.destroyedWith !== undefined)
    assert.equal(written(), '')
  })

  test('fails with a stream that its owner destroys, however long it would be held', async (t) => {
    const { transport, take, written } = start(t, { expectContinueTimeout: 0, headersTimeout: 0 })
    const body = new Readable({ read() {} })
    const handler = take({ body })
    written()
    body.destroy()
    await turns(2)
    assert.deepEqual(
      handler.errors.map(({ name }) => name),
      ['AbortError'],
    )
    assert.ok(transport.destroyedWith !== undefined)
    assert.equal(written(), '')
  })

  test('memory that was transferred meanwhile fails the request', (t) => {
    const { transport, take, written } = start(t)
    const body = new Uint8Array(8)
    const handler = take({ body })
    written()
    structuredClone(body.buffer, { transfer: [body.buffer] })
    transport.say(CONTINUE)
    assert.equal(handler.errors.length, 1)
    assert.equal(written(), '')
    assert.ok(transport.destroyedWith !== undefined)
  })

  for (const hook of ['onBodySent', 'onRequestSent'] as const) {
    test(`${hook} throws when a 2xx has released it: one failure`, (t) => {
      const { transport, take } = start(t)
      const handler = take({}, (method) => {
        if (method === hook) throw new Error('thrown')
      })
      transport.say(OK)
      assert.deepEqual(
        handler.errors.map(({ message }) => message),
        ['thrown'],
      )
      assert.ok(!handler.calls.includes('onResponseEnd'))
    })
  }

  test('the connection is lost: the request fails once, and may have been seen by the server', (t) => {
    const { transport, clock, take, written } = start(t)
    const handler = take({ body: Readable.from(['never']) })
    written()
    transport.sink!.onEof()
    transport.sink!.onTransportClosed(null)
    clock.jump(2000)
    assert.equal(written(), '')
    assert.equal(handler.errors.length, 1)
    assert.equal((handler.error as { retrySafety?: string }).retrySafety, 'idempotent-only')
  })

  test('nothing is pipelined behind it', (t) => {
    const { transport, connection, take } = start(t, { pipelining: 4 })
    const offered = (): boolean => connection.offer(queued(new RecordingHandler(), { method: 'GET' }))
    take({ idempotent: true, blocking: false })
    assert.deepEqual([connection.busy, offered()], [true, false])
    transport.say(CONTINUE)
    assert.equal(offered(), false, 'its response is still due')
  })

  test('it is not pipelined', (t) => {
    const { connection, take } = start(t, { pipelining: 4 })
    take({ method: 'GET', body: null })
    const offered = (expectContinue: boolean): boolean =>
      connection.offer(
        queued(new RecordingHandler(), { ...POST, method: 'PUT', idempotent: true, expectContinue }),
      )
    assert.deepEqual([offered(true), offered(false)], [false, true])
  })

  for (const [name, given] of [
    ['no body', { body: null }],
    ['an empty one', { body: '' }],
    ['an upgrade', { upgrade: 'custom', method: 'GET', body: null }],
  ] as const) {
    test(`means nothing with ${name}`, (t) => {
      const { take, written } = start(t)
      take(given)
      assert.ok(!written().includes('expect'))
    })
  }
})

describe('expectContinue over HTTP/1.1: the connection', () => {
  test('an unasked 100 is skipped', async (t) => {
    const { server, client } = await startPair(t)
    const handler = send(client, { method: 'POST', body: 'x' })
    const peer = await server.accept()
    await peer.until('\r\n\r\nx')
    peer.send(CONTINUE, CONTINUE, OK)
    await handler.settled
    assert.deepEqual([handler.statuses, handler.body], [[200], 'ok'])
  })

  test('it carries the next request after a body that was asked for', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client, POST)
    const next = send(client, { path: '/next' })
    const peer = await server.accept()
    assert.ok((await peer.head()).includes('expect: 100-continue'))
    peer.send(CONTINUE)
    await peer.until('the body')
    peer.send(response('one'))
    await first.settled
    assert.ok((await peer.head()).startsWith('GET /next'))
    peer.send(response('two'))
    await next.settled
    assert.deepEqual([first.body, next.body, server.count], ['one', 'two', 1])
  })

  test('the next request goes to another one after a refusal', async (t) => {
    const { server, client } = await startPair(t)
    const first = send(client, POST)
    const next = send(client, { path: '/next' })
    const peer = await server.accept()
    await peer.head()
    peer.send(REFUSAL)
    await first.settled
    await peer.closed()
    assert.equal(peer.received, '')
    const second = await server.accept()
    await second.head()
    second.send(OK)
    await next.settled
    assert.deepEqual([first.status, first.body, next.body], [417, 'no', 'ok'])
  })

  test('a body that was held when it was lost is sent again if the request is idempotent', async (t) => {
    const { server, client } = await startPair(t)
    const retrying = client.compose(interceptors.retry({ minTimeout: 1 }))
    const handler = send(retrying, { ...POST, method: 'PUT' })
    const first = await server.accept()
    await first.head()
    first.socket.destroy()
    const second = await server.accept()
    await second.head()
    second.send(CONTINUE)
    await second.until('the body')
    second.send(OK)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('destroy() while it is held', async (t) => {
    const { server, client } = await startPair(t)
    const handler = send(client, { ...POST, body: Readable.from(['never']) })
    const peer = await server.accept()
    await peer.head()
    const lost = disconnected(client)
    await client.destroy(new Error('over'))
    await lost
    await eventually(() => handler.errors.length === 1)
    assert.equal(peer.received, '')
  })
})
