/**
 * How to write a test: each harness of this folder in one short conversation. Read it from the top; the harnesses
 * come in the order in which to try them, from bytes in memory to real servers over four wires.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from '../../src/index.ts'
import { NO_ERROR } from '../../src/protocol/http2/constants.ts'
import { deferred, echo, failure, readEcho } from './exchange.ts'
import { eventually, FakeClock, turn } from './fake-clock.ts'
import { FramePeer, POST } from './frame-peer.ts'
import { startH2Pair } from './h2-server.ts'
import { memoryPair, requestLines } from './memory-client.ts'
import { RecordingHandler } from './recording-handler.ts'
import { refusingPort } from './refusing-port.ts'
import { disconnected, OK, response, send, startPair } from './scripted-client.ts'
import { http1Only, overEachWire, startOrigin, type Wire } from './wire.ts'

const GET = { path: '/', method: 'GET' } as const

test('frame-peer: the HTTP/2 engine against frames, in memory', () => {
  // Preface and settings have been exchanged: the engine is ready for requests.
  const peer = FramePeer.ready()

  // The owner of the engine opens a request with a body. `want…` takes the next frame that the engine sends, and
  // fails when it is another one.
  const stream = peer.open(POST, false)
  assert.deepEqual(peer.wantHeaders(stream.id).fields, POST)
  peer.engine.send(stream, Buffer.from('hello'), true)
  assert.deepEqual(peer.wantData(stream.id), { text: 'hello', endStream: true })

  // `send…` reaches the engine at once; `heard` is what the engine told its owner since the last look.
  peer.sendHead(stream.id, 200)
  peer.sendData(stream.id, 'bye', true)
  assert.deepEqual(peer.heard, ['head 1 200', 'data 1 bye', 'end 1', 'closed 1'])
  peer.wantNothing()
})

test('memory-client: a client over sockets in memory', async (t) => {
  // The client is real; its connections are Duplex streams that do only what the test does.
  const { client, sockets, settle, say } = memoryPair(t, { pipelining: 2 })
  const first = client.request({ ...GET, path: '/first' })
  const second = client.request({ ...GET, path: '/second' })

  // `settle` runs everything that can run without the peer, and returns what the client has written.
  assert.deepEqual(requestLines(await settle()), ['GET /first', 'GET /second'])

  // The peer answers one request, and resets the connection: the second request failed with it.
  await say(response('one'))
  assert.equal(await (await first).body.text(), 'one')
  const error = failure(second)
  sockets[0]!.reset()
  assert.equal((await error).code, 'ECONNRESET')
})

test('scripted-server: a client against bytes on a real socket', async (t) => {
  const { server, client, events } = await startPair(t)

  // `send` dispatches a request to a handler that records every call.
  const handler = send(client, { path: '/hello' })

  // Each wait is for something the client does, never for time.
  const peer = await server.accept()
  assert.match(await peer.head(), /^GET \/hello HTTP\/1\.1\r\nhost: /)
  peer.send('HTTP/1.1 103 Early Hints\r\n\r\n').send(OK)

  await handler.settled
  assert.deepEqual(handler.story, [
    'onRequestStart',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart 103',
    'onResponseStarted',
    'onResponseStart 200',
    'onResponseData',
    'onResponseEnd',
  ])
  assert.equal(handler.body, 'ok')

  // `events` has the events of the client, in order.
  peer.end()
  assert.equal((await disconnected(client)).message, 'other side closed')
  assert.deepEqual(events, ['connect', 'drain', 'disconnect: other side closed'])
})

test('h2-server: a client against HTTP/2 frames on a real socket', async (t) => {
  const { server, client } = await startH2Pair(t)
  const first = send(client, { path: '/first', method: 'POST', body: 'hello' })
  const second = send(client, { path: '/second' })

  const peer = await server.accept()
  const [one, two] = await peer.take(2)
  assert.equal(one!.headers[':path'], '/first')
  assert.equal((await peer.body(one!.id)).toString(), 'hello')

  // Answers in any order, and frames by hand where `respond` is too simple.
  peer.respond(two!.id, 'second')
  peer.head(one!.id, 200).data(one!.id, 'fir').data(one!.id, 'st', true)
  assert.equal((await second.settled).body, 'second')
  assert.equal((await first.settled).body, 'first')

  // The client acts on what the server says: after GOAWAY, the connection ends, and the next request opens another.
  peer.goaway(two!.id, NO_ERROR)
  await peer.closed()
  const third = send(client, { path: '/third' })
  const next = await server.accept()
  next.respond((await next.request()).id)
  assert.equal((await third.settled).status, 200)
})

test('recording-handler: what a handler does inside a call', async (t) => {
  const { client, settle, say } = memoryPair(t)
  // The hook runs after the call was recorded, and may throw, abort, pause or dispatch.
  const handler = new RecordingHandler({
    onResponseStart: (controller) => controller.abort(new Error('enough')),
  })
  client.dispatch(GET, handler)
  await settle()
  await say(OK)
  assert.deepEqual(handler.story.slice(-2), ['onResponseStart 200', 'onResponseError'])
  assert.equal(handler.error?.message, 'enough')
})

test('fake-clock: time that the test moves', async (t) => {
  const clock = FakeClock.install(t)
  const { client, settle } = memoryPair(t, { headersTimeout: 1000 })
  const error = failure(client.request(GET))
  await settle()
  await clock.advance(999)
  assert.equal(client.stats.running, 1)
  // Runs the timers that are due, then lets the event loop turn: a deadline looks for late bytes before it fires.
  await clock.advance(1)
  assert.equal((await error).code, 'UND_ERR_HEADERS_TIMEOUT')
})

test('fake-clock: the last one that is installed counts, and none is left behind', () => {
  const { setTimeout: real, clearTimeout: realClear } = globalThis
  const ends: (() => void)[] = []
  const scope = { after: (end: () => void) => ends.push(end) } as unknown as Pick<TestContext, 'after'>
  const first = FakeClock.install(scope)
  const second = FakeClock.install(scope)
  const log: string[] = []
  setTimeout(() => log.push('fired'), 5)
  first.jump(5)
  assert.deepEqual(log, [])
  second.jump(5)
  assert.deepEqual(log, ['fired'])
  for (const end of ends) end()
  assert.equal(globalThis.setTimeout, real)
  assert.equal(globalThis.clearTimeout, realClear)
})

test('turn and eventually: the event loop without sleeping', async () => {
  const log: string[] = []
  setImmediate(() => log.push('queued before'))
  await turn()
  assert.deepEqual(log, ['queued before'])

  // For what other threads and the kernel do; it fails with the text of the condition when it never comes true.
  setTimeout(() => log.push('in time'), 2)
  await eventually(() => log.includes('in time'))
})

test('refusing-port: a connection that is refused', async (t) => {
  // A free port would do, until another test listens there.
  const port = await refusingPort(t)
  const client = new Client(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  assert.equal((await failure(client.request(GET))).code, 'ECONNREFUSED')
})

overEachWire('wire: one test over every protocol', (wire) => {
  test('a server of the runtime answers', async (t) => {
    // `echo` answers with what it received. The client trusts the certificate of the origin.
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    const { method, body } = await readEcho(await client.request({ path: '/', method: 'PUT', body: 'hi' }))
    assert.deepEqual([method, body], ['PUT', 'hi'])
    assert.equal(origin.sockets.length, 1)
  })

  test('a server that waits for the test', async (t) => {
    const asked = deferred()
    const mayAnswer = deferred()
    const origin = await startOrigin(t, wire, async (_request, response) => {
      asked.resolve()
      await mayAnswer.promise
      response.end('at last')
    })
    const answer = origin.client().request(GET)
    await asked.promise
    mayAnswer.resolve()
    assert.equal(await (await answer).body.text(), 'at last')
  })
})

function oneAtATime(wire: Wire): void {
  test('the second request waits for the first response', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    const answers = [client.request(GET), client.request(GET)]
    assert.deepEqual(client.stats, { connected: false, pending: 2, running: 0, size: 2 })
    for (const answer of answers) await readEcho(await answer)
    assert.equal(origin.sockets.length, 1)
  })
}

// A wire that a test does not apply to is skipped with the reason; for a dispatcher, the test calls `t.skip(reason)`.
overEachWire('wire: only over HTTP/1.1', oneAtATime, http1Only('HTTP/2 multiplexes'))
