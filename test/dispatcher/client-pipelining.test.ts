import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import type { ClientOptions, DispatchOptions } from '../../src/index.ts'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import type { RecordingHandler } from '../support/recording-handler.ts'
import { OK, send } from '../support/scripted-client.ts'

const FREE = { blocking: false } as const

/** Sends the requests and returns those that are on the wire. */
async function start(
  t: TestContext,
  requests: readonly Partial<DispatchOptions>[],
  options: ClientOptions = { pipelining: 10 },
): Promise<{
  pair: ReturnType<typeof memoryPair>
  handlers: RecordingHandler[]
  /** Numbers of the requests on the newest connection. */
  sent(): number[]
}> {
  const pair = memoryPair(t, options)
  const handlers = requests.map((request, index) => send(pair.client, { path: `/${index + 1}`, ...request }))
  await pair.settle()
  const sent = (): number[] =>
    requestLines(pair.sockets.at(-1)!.written).map((line) => Number(/\d+$/.exec(line)![0]))
  return { pair, handlers, sent }
}

describe('pipelining', () => {
  test('1: one at a time', async (t) => {
    const { pair, sent } = await start(t, [FREE, FREE, FREE], { pipelining: 1 })
    assert.deepEqual(sent(), [1])
    await pair.say(OK)
    assert.deepEqual(sent(), [1, 2])
    await pair.say(OK)
    assert.deepEqual(sent(), [1, 2, 3])
  })

  test('n: at most n running, and the responses in order', async (t) => {
    const { pair, handlers, sent } = await start(t, [FREE, FREE, FREE, FREE], { pipelining: 3 })
    assert.deepEqual(sent(), [1, 2, 3])
    await pair.say('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na')
    assert.deepEqual(sent(), [1, 2, 3, 4])
    for (const body of ['b', 'c', 'd']) await pair.say(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${body}`)
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['a', 'b', 'c', 'd'],
    )
    assert.equal(pair.sockets.length, 1)
  })

  test('several responses in one piece, one in several', async (t) => {
    const { pair, handlers } = await start(t, [FREE, FREE, FREE])
    const all = ['a', 'bb', 'ccc'].map(
      (body) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const text = all.join('')
    await pair.say(text.slice(0, 100))
    await pair.say(text.slice(100))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['a', 'bb', 'ccc'],
    )
  })

  test('0: a connection for each request, and it says so', async (t) => {
    const { pair, handlers } = await start(t, [FREE, FREE], { pipelining: 0 })
    assert.match(pair.sockets[0]!.written, /\r\nconnection: close\r\n/)
    await pair.say(OK)
    assert.equal(handlers[0]!.body, 'ok')
    assert.equal(pair.sockets[0]!.destroyed, true)
    assert.equal(pair.sockets.length, 2)
    await pair.say(OK)
    assert.equal(handlers[1]!.body, 'ok')
    assert.deepEqual(pair.client.stats, { connected: false, pending: 0, running: 0, size: 0 })
  })
})

describe('what holds a request back', () => {
  test('a body that is still being written, until it is out', async (t) => {
    const body = new Readable({ read() {} })
    body.push('part')
    const { pair, sent } = await start(t, [{ method: 'PUT', body, ...FREE }, FREE])
    assert.deepEqual(sent(), [1])
    body.push(null)
    await pair.settle()
    assert.deepEqual(sent(), [1, 2])
  })

  test('the same with an iterable', async (t) => {
    let finish = (): void => {}
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    async function* body(): AsyncGenerator<string> {
      yield 'part'
      await gate
    }
    const { pair, sent } = await start(t, [{ method: 'PUT', body: body(), ...FREE }, FREE])
    assert.deepEqual(sent(), [1])
    finish()
    await pair.settle()
    assert.deepEqual(sent(), [1, 2])
  })

  test('a blocking request, until its final head; an interim one does not release', async (t) => {
    const { pair, sent } = await start(t, [{ blocking: true }, FREE])
    assert.deepEqual(sent(), [1])
    await pair.say('HTTP/1.1 103 Early Hints\r\n\r\n')
    assert.deepEqual(sent(), [1])
    await pair.say('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
    assert.deepEqual(sent(), [1, 2])
  })

  test('requests that are not idempotent block unless told otherwise', async (t) => {
    for (const request of [{ method: 'POST' }, { method: 'DELETE' }, { idempotent: false }]) {
      const { sent } = await start(t, [request, {}])
      assert.deepEqual(sent(), [1], JSON.stringify(request))
    }
    for (const request of [{}, { method: 'QUERY' }, { method: 'POST', idempotent: true }]) {
      const { sent } = await start(t, [request, {}])
      assert.deepEqual(sent(), [1, 2], JSON.stringify(request))
    }
    const { sent } = await start(t, [{ method: 'HEAD', reset: false }, {}])
    assert.deepEqual(sent(), [1, 2])
  })

  test('not being idempotent, until nothing runs', async (t) => {
    for (const request of [{ method: 'POST' }, { method: 'get' }, { method: 'GET', idempotent: false }]) {
      const { pair, sent } = await start(t, [FREE, FREE, { ...request, ...FREE }])
      assert.deepEqual(sent(), [1, 2], JSON.stringify(request))
      await pair.say(OK)
      assert.deepEqual(sent(), [1, 2])
      await pair.say(OK)
      assert.equal((pair.sockets[0]!.written.match(/ HTTP\/1\.1\r\n/g) ?? []).length, 3)
    }
  })

  test('idempotent: true lets a POST go behind others', async (t) => {
    const { sent } = await start(t, [FREE, { method: 'POST', body: 'x', idempotent: true }])
    assert.deepEqual(sent(), [1, 2])
  })

  test('a POST that runs alone does not hold back what may follow', async (t) => {
    const { sent } = await start(t, [{ method: 'POST', ...FREE }, FREE])
    assert.deepEqual(sent(), [1, 2])
  })

  test('an upgrade or CONNECT, until nothing runs', async (t) => {
    for (const request of [{ upgrade: 'x' }, { method: 'CONNECT', idempotent: true }]) {
      const { pair, sent } = await start(t, [FREE, request, FREE])
      assert.deepEqual(sent(), [1])
      await pair.say(OK)
      assert.deepEqual(sent(), [1, 2])
      assert.equal(pair.client.stats.pending, 1, 'nothing follows it on this connection')
    }
  })

  test('a body of unknown length, until nothing runs', async (t) => {
    const form = new FormData()
    form.set('a', 'b')
    const bodies = [
      Readable.from(['x']),
      (async function* () {
        yield 'x'
      })(),
      form,
    ]
    for (const body of bodies) {
      const { pair, sent } = await start(t, [FREE, { method: 'PUT', body, idempotent: true }])
      assert.deepEqual(sent(), [1], String(body))
      await pair.say(OK)
      assert.deepEqual(sent(), [1, 2])
    }
  })

  test('a body of plain bytes does not', async (t) => {
    const { sent } = await start(t, [FREE, { method: 'PUT', body: 'x', idempotent: true }])
    assert.deepEqual(sent(), [1, 2])
  })

  for (const [name, request] of [
    ['HEAD', { method: 'HEAD' }],
    ['reset: true', { reset: true, ...FREE }],
    ['connection: close', { headers: { connection: 'close' }, ...FREE }],
    ['a body on GET', { method: 'GET', body: 'x', ...FREE }],
  ] as const) {
    test(`${name}, until the next connection`, async (t) => {
      const { pair, handlers, sent } = await start(t, [request, FREE])
      assert.deepEqual(sent(), [1])
      await pair.say(OK.replace('ok', request === undefined || name === 'HEAD' ? '' : 'ok'))
      assert.equal(handlers[0]!.calls.at(-1), 'onResponseEnd')
      assert.equal(pair.sockets.length, 2)
      assert.equal(pair.sockets[0]!.destroyed, true)
      assert.deepEqual(sent(), [2])
    })
  }

  test('reset: false keeps the connection for HEAD and for a body on GET', async (t) => {
    const { pair, sent } = await start(t, [
      { method: 'HEAD', reset: false },
      { body: 'x', reset: false, ...FREE },
      FREE,
    ])
    assert.match(pair.sockets[0]!.written, /^HEAD.*?\r\nconnection: keep-alive\r\n/s)
    assert.deepEqual(sent(), [1, 2, 3])
  })

  test('maxRequestsPerClient: the last says so, and the next connection takes over', async (t) => {
    const { pair, handlers, sent } = await start(t, [FREE, FREE, FREE], {
      pipelining: 10,
      maxRequestsPerClient: 2,
    })
    assert.deepEqual(sent(), [1, 2])
    assert.deepEqual(
      [...pair.sockets[0]!.written.matchAll(/\r\nconnection: (\S+)\r\n/g)].map((match) => match[1]),
      ['keep-alive', 'close'],
    )
    await pair.say(OK, OK)
    assert.equal(handlers[1]!.body, 'ok')
    assert.equal(pair.sockets.length, 2)
    assert.deepEqual(sent(), [3])
  })

  test('a response without keep-alive: what was sent behind it goes to the next connection', async (t) => {
    const { pair, handlers, sent } = await start(t, [FREE, FREE])
    assert.deepEqual(sent(), [1, 2])
    await pair.say('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
    assert.equal(handlers[0]!.body, 'ok')
    assert.equal(pair.sockets.length, 2)
    assert.deepEqual(sent(), [2])
    await pair.say(OK)
    assert.deepEqual(
      handlers[1]!.calls.filter((call) => call === 'onRequestStart'),
      ['onRequestStart', 'onRequestStart'],
    )
    assert.equal(handlers[1]!.body, 'ok')
  })
})
