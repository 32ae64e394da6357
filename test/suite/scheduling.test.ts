/** idempotent, blocking, reset and pipelining over HTTP/1.1. HTTP/2 ignores all of them. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { type BodyInput, type DispatchOptions, errors } from '../../src/index.ts'
import { deferred } from '../support/exchange.ts'
import { http1Only, loadOf, overEachWay, startOrigin, type Way } from '../support/wire.ts'

interface Outcome {
  /** Arrivals and the response to the first, in order. */
  readonly log: string[]
  readonly connections: number
}

/** Two requests at once. The first is answered when the second has arrived, or had its chance to. */
async function twoAtOnce(
  t: TestContext,
  way: Way,
  first: Partial<DispatchOptions>,
  second: Partial<DispatchOptions>,
  pipelining = 10,
): Promise<Outcome> {
  const log: string[] = []
  const origin = await startOrigin(t, way, (request, response) => {
    request.resume()
    log.push(String(request.url))
    if (request.url === '/a') {
      // Requests written together arrive together: after this turn nothing is in flight any more.
      setImmediate(() => {
        log.push('answer')
        response.end()
      })
    } else {
      response.end()
    }
  })
  const client = origin.dispatcher({ connections: 1, pipelining })
  const base = { method: 'GET' }
  const answers = await Promise.all([
    client.request({ ...base, path: '/a', ...first }),
    client.request({ ...base, path: '/b', ...second }),
  ])
  for (const { body } of answers) await body.dump()
  return { log, connections: origin.sockets.length }
}

const BESIDE = ['/a', '/b', 'answer']
const AFTER = ['/a', 'answer', '/b']

async function* generated(): AsyncGenerator<string> {
  yield 'x'
}

function form(): BodyInput {
  const data = new FormData()
  data.append('a', 'b')
  return data
}

type Row = [
  name: string,
  first: Partial<DispatchOptions>,
  second: () => Partial<DispatchOptions>,
  log: string[],
  connections: number,
]

const nothing = () => ({})

const ROWS: Row[] = [
  ['idempotent requests go together', {}, nothing, BESIDE, 1],
  ['a request that blocks holds back what follows', { blocking: true }, nothing, AFTER, 1],
  ['HEAD does not block by default', { method: 'HEAD', blocking: null, reset: false }, nothing, BESIDE, 1],
  ['POST blocks by default', { method: 'POST', body: 'x' }, nothing, AFTER, 1],
  ['POST does not with blocking: false', { method: 'POST', body: 'x', blocking: false }, nothing, BESIDE, 1],
  [
    'POST does not when it is idempotent',
    { method: 'POST', body: 'x', idempotent: true },
    nothing,
    BESIDE,
    1,
  ],
  ['GET does when it is not idempotent', { idempotent: false }, nothing, AFTER, 1],
  ['idempotent: false waits for its turn', {}, () => ({ idempotent: false }), AFTER, 1],
  ['POST is not idempotent by default', {}, () => ({ method: 'POST' }), AFTER, 1],
  ['POST is when the caller says so', {}, () => ({ method: 'POST', idempotent: true, body: 'x' }), BESIDE, 1],
  ['an iterable body waits', {}, () => ({ method: 'PUT', idempotent: true, body: generated() }), AFTER, 1],
  ['a form waits', {}, () => ({ method: 'PUT', idempotent: true, body: form() }), AFTER, 1],
  ['nothing follows a request with reset', { reset: true }, nothing, AFTER, 2],
  ['nothing follows HEAD', { method: 'HEAD' }, nothing, AFTER, 2],
  ['nothing follows a body where none is expected', { body: 'x' }, nothing, AFTER, 2],
]

function scheduling(way: Way): void {
  for (const [name, first, second, log, connections] of ROWS) {
    test(name, async (t) => {
      assert.deepEqual(await twoAtOnce(t, way, first, second()), { log, connections })
    })
  }

  test('pipelining is 1 by default, and 0 takes a connection for each request', async (t) => {
    assert.deepEqual(await twoAtOnce(t, way, {}, {}, 1), { log: AFTER, connections: 1 })
    assert.deepEqual(await twoAtOnce(t, way, {}, {}, 0), { log: AFTER, connections: 2 })
  })

  test('the end of a connection makes nobody read a stack, whoever ended it', async (t) => {
    const origin = await startOrigin(t, way, (request, response) => {
      response.end('ok')
      if (request.url === '/last') response.once('finish', () => request.socket.end())
    })
    const client = origin.dispatcher({ connections: 1 })
    const { prepareStackTrace } = Error
    t.after(() => {
      Error.prepareStackTrace = prepareStackTrace
    })
    const read: string[] = []
    Error.prepareStackTrace = (error) => {
      if (error instanceof errors.UndiciError) read.push(error.message)
      return String(error)
    }
    for (const request of [{ path: '/', reset: true }, { path: '/last' }]) {
      const ended = new Promise((resolve) => client.once('disconnect', resolve))
      const { body } = await client.request({ ...request, method: 'GET' })
      assert.equal(await body.text(), 'ok')
      await ended
    }
    assert.equal(origin.sockets.length, 2)
    assert.deepEqual(read, [])
  })

  test('a blocking request holds back only until its head has come', async (t) => {
    const first = deferred<ServerResponse>()
    const origin = await startOrigin(t, way, async (request, response) => {
      if (request.url === '/a') {
        response.write('a')
        first.resolve(response)
        return
      }
      // Pipelined after an unfinished response: it can only have arrived because that head was sent.
      response.end('b')
      ;(await first.promise).end('a')
    })
    const client = origin.dispatcher({ connections: 1, pipelining: 2 })
    const options = { method: 'GET', blocking: true }
    const [a, b] = await Promise.all(
      ['/a', '/b'].map(async (path) => (await client.request({ ...options, path })).body.text()),
    )
    assert.deepEqual([a, b], ['aa', 'b'])
    assert.equal(origin.sockets.length, 1)
  })

  test('four plain GETs are on the wire at once with pipelining: 4, and no fifth', async (t) => {
    const four = deferred()
    const held: ServerResponse[] = []
    const origin = await startOrigin(t, way, (_request, response) => {
      held.push(response)
      if (held.length === 4) four.resolve()
      if (held.length === 5) response.end()
    })
    const client = origin.dispatcher({ connections: 1, pipelining: 4 })
    const answers = Array.from({ length: 5 }, () => client.request({ path: '/', method: 'GET' }))
    await four.promise
    assert.deepEqual(loadOf(client), { connected: 1, pending: 1, running: 4, size: 5 })
    for (const response of held.slice()) response.end()
    for (const answer of answers) await (await answer).body.dump()
    assert.equal(origin.sockets.length, 1)
  })

  test('pipelining can be raised while requests wait', async (t) => {
    if (way.kind !== 'Client') return t.skip('only a client has the setter')
    const both = deferred()
    const held: ServerResponse[] = []
    const origin = await startOrigin(t, way, (_request, response) => {
      held.push(response)
      if (held.length === 1) first.resolve()
      if (held.length === 3) both.resolve()
    })
    const first = deferred()
    const client = origin.client()
    assert.equal(client.pipelining, 1)
    const options = { path: '/', method: 'GET', blocking: false }
    const answers = [1, 2, 3].map(() => client.request(options))
    await first.promise
    assert.deepEqual(client.stats, { connected: true, pending: 2, running: 1, size: 3 })
    client.pipelining = 3
    await both.promise
    assert.deepEqual(client.stats, { connected: true, pending: 0, running: 3, size: 3 })
    for (const response of held) response.end()
    for (const answer of answers) await (await answer).body.dump()
  })
}

overEachWay('scheduling', scheduling, http1Only('HTTP/2 multiplexes'))
