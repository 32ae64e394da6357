/** Mocks as connections in memory: bytes, faults, upgrades and events go through the engine of a real client. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { EventSource, fetch, MockAgent, mockWire, WebSocket } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { mocking, ORIGIN } from './mocking.ts'

const GET = { origin: ORIGIN, path: '/', method: 'GET' } as const

describe('replyRaw', () => {
  test('replyRaw gives the client these bytes', async (t) => {
    const { pool, send } = mocking(t)
    pool
      .intercept({ path: '/' })
      .replyRaw([
        'HTTP/1.1 200 Fine\r\nx-a: b\r\n',
        Buffer.from('transfer-encoding: chunked\r\n\r\n'),
        mockWire.wait(1),
        '2\r\nok\r\n',
        '0\r\nx-t: 1\r\n\r\n',
      ])
    const { status, headers, text, trailers } = await send('/')
    assert.deepEqual([status, headers['x-a'], text, trailers], [200, 'b', 'ok', { 'x-t': '1' }])
  })

  test('replyRaw from a generator that sees the request, for each request', async (t) => {
    const { pool, send } = mocking(t)
    let count = 0
    pool
      .intercept({ path: '/', method: 'POST' })
      .replyRaw(async function* ({ body }) {
        const text = `${body} ${++count}`
        yield `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`
        yield text
      })
      .times(2)
    assert.equal((await send('/', { method: 'POST', body: 'a' })).text, 'a 1')
    assert.equal((await send('/', { method: 'POST', body: 'b' })).text, 'b 2')
  })

  test('replyRaw: a generator that throws fails the request with that value', async (t) => {
    const { pool, send } = mocking(t)
    const error = new Error('in the script')
    pool.intercept({ path: '/' }).replyRaw(async function* () {
      yield 'HTTP/1.1 200 OK\r\n'
      throw error
    })
    assert.equal(await failure(send('/')), error)
  })

  test('replyRaw of what is not HTTP fails as from a server', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/' }).replyRaw(['SSH-2.0-x\r\n'])
    assert.equal((await failure(send('/'))).name, 'HTTPParserError')
  })

  test('replyRaw: a step of another kind fails the request', async (t) => {
    const { pool, send } = mocking(t)
    for (const step of [null, 5, {}, { kind: 'jump' }]) {
      pool.intercept({ path: '/' }).replyRaw([step as never])
      assert.equal(
        (await failure(send('/'))).message,
        'a step must be a string, bytes or an action of mockWire',
      )
    }
  })

  test('the arguments of replyRaw and its siblings are checked', (t) => {
    const interceptor = mocking(t).pool.intercept({ path: '/' })
    for (const call of [
      () => interceptor.replyRaw(5 as never),
      () => interceptor.fault('unknown' as never),
      () => interceptor.replyUpgrade('x' as never),
      () => mockWire.wait(-1),
      () => mockWire.split(1.5),
    ]) {
      assert.throws(call, { name: 'InvalidArgumentError' })
    }
  })
})

describe('a connection in memory', () => {
  test('a connection in memory is kept alive, shows what was written, and a second request at a time gets another', async (t) => {
    const { agent, pool, send } = mocking(t, { wire: true })
    pool.intercept({ path: '/', method: 'POST' }).reply(200, 'ok').persist()
    await send('/', { method: 'POST', body: 'first' })
    await send('/', { method: 'POST', body: 'second' })
    assert.equal(agent.wire.length, 1)
    assert.equal(agent.wire[0]!.origin, ORIGIN)
    const text = agent.wire[0]!.written.toString()
    assert.match(
      text,
      /^POST \/ HTTP\/1\.1\r\nhost: a\.test\r\n[\s\S]*first[\s\S]*POST \/ HTTP\/1\.1[\s\S]*second$/,
    )
    await Promise.all([send('/', { method: 'POST' }), send('/', { method: 'POST' })])
    assert.equal(agent.wire.length, 2)
  })

  test('a connection in memory reads a request body of every kind to its end', async (t) => {
    const { agent, pool, send } = mocking(t, { wire: true })
    pool.intercept({ path: '/', method: 'POST' }).reply(200, 'ok').persist()
    for (const body of [
      'text',
      Buffer.alloc(200_000, 'x'),
      Readable.from(['a', 'bc', 'd'.repeat(70_000)]),
      new Blob(['b']),
    ]) {
      assert.equal((await send('/', { method: 'POST', body, trailers: undefined })).text, 'ok')
    }
    const trailers = { 'x-t': '1' }
    assert.equal((await send('/', { method: 'POST', body: 'x', trailers })).text, 'ok')
    assert.equal((await send('/', { method: 'POST' })).text, 'ok')
    assert.equal(agent.wire.length, 1)
  })

  test('time limits, aborts and diagnostics of a connection in memory are those of the client', async (t) => {
    const { agent, pool, send } = mocking(t, { wire: true, headersTimeout: 20, bodyTimeout: 20 })
    pool.intercept({ path: '/' }).reply(200).delay(60_000)
    pool.intercept({ path: '/' }).fault('stall-body')
    pool.intercept({ path: '/' }).fault('stall-head')
    assert.equal((await failure(send('/'))).code, 'UND_ERR_HEADERS_TIMEOUT')
    assert.equal((await failure(send('/'))).code, 'UND_ERR_BODY_TIMEOUT')
    const signal = AbortSignal.abort(new Error('enough'))
    assert.equal((await failure(send('/', { signal }))).message, 'enough')
    await agent.close()
  })

  test('close waits for what runs on connections in memory, destroy fails it, and nothing is left', async () => {
    const agent = new MockAgent({ wire: true })
    agent.get(ORIGIN).intercept({ path: '/' }).reply(200, 'late').delay(10)
    const response = agent.request(GET)
    await agent.close()
    assert.equal(await (await response).body.text(), 'late')
    const other = new MockAgent({ wire: true })
    other
      .get(ORIGIN)
      .intercept({ path: '/' })
      .replyRaw([mockWire.wait(60_000)])
    const error = failure(other.request(GET))
    await eventually(() => other.wire.some(({ written }) => written.length > 0))
    await other.destroy()
    assert.equal((await error).code, 'UND_ERR_DESTROYED')
    assert.deepEqual(
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout'),
      [],
    )
  })

  test('replyWithError is the same with connections in memory', async (t) => {
    const { pool, send } = mocking(t, { wire: true })
    const error = new Error('mocked')
    pool.intercept({ path: '/' }).replyWithError(error)
    assert.equal(await failure(send('/')), error)
  })

  test('fetch over a connection in memory, and its history', async (t) => {
    const { agent, pool } = mocking(t, { wire: true, enableCallHistory: true })
    pool.intercept({ path: '/' }).reply(201, { a: 1 })
    const response = await fetch(`${ORIGIN}/`, { dispatcher: agent })
    assert.deepEqual([response.status, await response.json()], [201, { a: 1 }])
    assert.equal(agent.getCallHistory()!.lastCall()!.statusCode, 201)
  })
})

describe('split(1) is the same as one piece', () => {
  const REPLIES: Record<string, string> = {
    'with a length': 'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\ncontent-length: 5\r\n\r\nhello',
    chunked:
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nt: 1\r\n\r\n',
    'without a body': 'HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n',
    'with an early hint':
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    empty: 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(REPLIES)) {
    test(`split(1): a reply ${name}`, async (t) => {
      const { pool, send } = mocking(t)
      pool.intercept({ path: '/' }).replyRaw([bytes])
      pool.intercept({ path: '/' }).replyRaw([mockWire.split(1), bytes])
      assert.deepEqual(await send('/'), await send('/'))
    })
  }

  test('replies that are not raw are the same on the wire, in memory and without', async (t) => {
    const forms = [
      { data: 'text' },
      { data: Buffer.alloc(100_000, 'x') },
      { data: () => Readable.from(['a', 'b']) },
      { data: { json: true }, options: { headers: { 'X-A': ['1', '2'] }, trailers: { t: '1' } } },
      { data: '', status: 204 },
    ]
    const answers = async (wire: boolean): Promise<unknown[]> => {
      const { pool, send } = mocking(t, { wire })
      const list: unknown[] = []
      for (const { data, options = {}, status = 200 } of forms) {
        pool.intercept({ path: '/' }).reply<unknown>(status, data, options)
        const { headers, ...rest } = await send('/')
        delete headers['content-length']
        delete headers['transfer-encoding']
        list.push({ ...rest, headers })
      }
      return list
    }
    assert.deepEqual(await answers(true), await answers(false))
  })
})

describe('replyUpgrade', () => {
  test('replyUpgrade hands over both ends for upgrade and connect', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/' }).replyUpgrade((socket, { headers }) => {
      socket.write(`hello ${headers?.['user']}\n`)
      socket.on('data', (chunk: Buffer) => socket.end(`echo ${chunk}`))
    })
    pool.intercept({ path: 'b.test:80', method: 'CONNECT' }).replyUpgrade((socket) => socket.pipe(socket))
    const { socket } = await agent.upgrade({
      origin: ORIGIN,
      path: '/',
      protocol: 'x',
      headers: { user: 'ada' },
    })
    socket.write('ping')
    let text = ''
    for await (const chunk of socket) text += chunk
    assert.equal(text, 'hello ada\necho ping')
    socket.destroy()
  })

  test('replyUpgrade accepts connect', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: /b\.test/, method: 'CONNECT' }).replyUpgrade((socket) => socket.pipe(socket))
    const { socket, statusCode } = await agent.connect({ origin: ORIGIN, path: 'b.test:80' })
    assert.equal(statusCode, 200)
    socket.end('through')
    let text = ''
    for await (const chunk of socket) text += chunk
    assert.equal(text, 'through')
  })

  test('replyUpgrade: a WebSocket opens and gets frames', async (t) => {
    const { agent, pool } = mocking(t)
    pool.intercept({ path: '/chat' }).replyUpgrade((socket) => {
      socket.write(Buffer.from([0x81, 0x02, 0x68, 0x69]))
      socket.once('data', () => socket.end(Buffer.from([0x88, 0x00])))
    })
    const webSocket = new WebSocket('ws://a.test/chat', { dispatcher: agent })
    const message = await new Promise<unknown>((resolve, reject) => {
      webSocket.onmessage = ({ data }) => resolve(data)
      webSocket.onerror = ({ error }) => reject(error)
    })
    assert.equal(message, 'hi')
    const closed = new Promise((resolve) => {
      webSocket.onclose = resolve
    })
    webSocket.close()
    await closed
  })

  test('replyUpgrade with a function that throws or rejects: the connection is reset', async (t) => {
    const { agent, pool } = mocking(t)
    const mine = new Error('mine')
    const broken = [
      () => {
        throw mine
      },
      () => Promise.reject(mine),
    ]
    for (const accept of broken) {
      pool.intercept({ path: '/' }).replyUpgrade(accept)
      const upgraded = agent.upgrade({ origin: ORIGIN, path: '/', protocol: 'x' })
      const error = await failure(upgraded.then(({ socket }) => once(socket.resume(), 'end')))
      assert.ok(error === mine || error.code === 'ECONNRESET', error.stack)
    }
  })

  test('a WebSocket without a match fails, with the reason', async (t) => {
    const { agent } = mocking(t)
    const webSocket = new WebSocket('ws://a.test/none', { dispatcher: agent })
    const error = await new Promise<Error>((resolve) => {
      webSocket.onerror = (event) => resolve(event.error as Error)
    })
    assert.deepEqual(agent.unmatched, [error.cause])
  })
})

describe('replyEvents', () => {
  for (const wire of [false, true]) {
    test(`replyEvents sends events until they end, ${wire ? 'on a connection' : 'without one'}`, async (t) => {
      const { agent, pool } = mocking(t, { wire })
      async function* events(): AsyncGenerator<object | string> {
        yield 'plain\ntext'
        yield { event: 'named', id: '7', retry: 100, data: { a: 1 } }
      }
      pool.intercept({ path: '/' }).replyEvents(() => events() as AsyncGenerator<string>)
      const response = await fetch(`${ORIGIN}/`, { dispatcher: agent })
      assert.equal(response.headers.get('content-type'), 'text/event-stream')
      assert.equal(
        await response.text(),
        'data: plain\ndata: text\n\nevent: named\nid: 7\nretry: 100\ndata: {"a":1}\n\n',
      )
    })
  }

  test('replyEvents to an EventSource', async (t) => {
    const { agent, pool } = mocking(t)
    async function* events(): AsyncGenerator<string> {
      yield 'one'
      yield 'two'
      await new Promise(() => {})
    }
    pool.intercept({ path: '/' }).replyEvents(() => events())
    const source = new EventSource(`${ORIGIN}/`, { node: { dispatcher: agent } })
    const received: unknown[] = []
    await new Promise<void>((resolve) => {
      source.onmessage = ({ data }) => {
        if (received.push(data) === 2) resolve()
      }
    })
    source.close()
    assert.deepEqual(received, ['one', 'two'])
  })
})
