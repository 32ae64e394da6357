/** Mocks as HTTP/2 connections in memory. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { fetch, mockWire } from '../../src/index.ts'
import { CANCEL, GOAWAY, REFUSED_STREAM, RST_STREAM } from '../../src/protocol/http2/constants.ts'
import { failure } from '../support/exchange.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { mocking, ORIGIN } from './mocking.ts'

const H2 = { wire: true, protocol: 'h2' } as const
const GET = { origin: ORIGIN, path: '/', method: 'GET' } as const

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

describe('replies over HTTP/2', () => {
  test('replies over HTTP/2 are the same as without a connection', async (t) => {
    const forms = [
      { data: 'text' },
      { data: Buffer.alloc(2_000_000, 'x') },
      { data: () => Readable.from(['a', 'b']) },
      { data: { json: true }, options: { headers: { 'X-A': ['1', '2'] }, trailers: { t: '1' } } },
      { data: '', options: { trailers: { t: '1' } } },
      { data: '' },
      { data: '', status: 204 },
    ]
    const answers = async (options: object): Promise<unknown[]> => {
      const { pool, send } = mocking(t, options)
      const list: unknown[] = []
      for (const { data, options = {}, status = 200 } of forms) {
        pool.intercept({ path: '/' }).reply<unknown>(status, data, options)
        list.push(await send('/'))
      }
      return list
    }
    assert.deepEqual(await answers(H2), await answers({}))
  })

  test('replies over HTTP/2 are on one connection, which begins with the preface', async (t) => {
    const { agent, pool, send } = mocking(t, H2)
    pool
      .intercept({ path: '/', method: 'POST' })
      .reply(200, ({ body }) => String(body).length)
      .persist()
    for (const body of ['abc', Buffer.alloc(300_000, 'x'), Readable.from(['a', 'b'])]) {
      assert.notEqual((await send('/', { method: 'POST', body })).text, '0')
    }
    assert.equal((await send('/', { method: 'POST', body: 'x', trailers: { t: '1' } })).text, '1')
    assert.equal(agent.wire.length, 1)
    assert.match(agent.wire[0]!.written.toString('latin1'), /^PRI \* HTTP\/2\.0\r\n\r\nSM\r\n\r\n/)
  })

  test('over HTTP/2: informational heads, fetch, and an https origin', async (t) => {
    const { agent } = mocking(t, H2)
    agent
      .get('https://b.test')
      .intercept({ path: '/' })
      .reply(200, 'ok', { informational: [{ statusCode: 103, headers: { link: '</a>' } }] })
      .times(2)
    const infos: number[] = []
    const response = await agent.request({
      ...GET,
      origin: 'https://b.test',
      onInfo: ({ statusCode }) => infos.push(statusCode),
    })
    assert.deepEqual([infos, await response.body.text()], [[103], 'ok'])
    assert.equal(await (await fetch('https://b.test/', { dispatcher: agent })).text(), 'ok')
  })

  test('fields that only HTTP/1.1 has are left out over HTTP/2', async (t) => {
    const { pool, send } = mocking(t, H2)
    const headers = { connection: 'x', 'keep-alive': 'x', 'Proxy-Connection': 'x', upgrade: 'x', kept: 'yes' }
    pool.intercept({ path: '/' }).reply(200, 'ok', { headers })
    assert.deepEqual((await send('/')).headers, { kept: 'yes' })
  })

  test('an abort cancels the stream, and the connection is used again', async (t) => {
    const { agent, pool, send } = mocking(t, H2)
    pool.intercept({ path: '/' }).reply(200).delay(60_000)
    pool.intercept({ path: '/' }).reply(200, 'next')
    const abort = new AbortController()
    const error = failure(agent.request({ ...GET, signal: abort.signal }))
    while (agent.wire.length === 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    abort.abort(new Error('enough'))
    assert.equal((await error).message, 'enough')
    assert.equal((await send('/')).text, 'next')
  })

  test('the option protocol is checked', (t) => {
    assert.throws(() => mocking(t, { protocol: 'h3' as never }), {
      name: 'InvalidArgumentError',
      message: "options.protocol must be 'h1' or 'h2'",
    })
  })
})

describe('frames as steps', () => {
  test('frames as steps make a response', async (t) => {
    const { pool, send } = mocking(t, H2)
    pool
      .intercept({ path: '/' })
      .replyRaw([
        mockWire.split(1),
        mockWire.headers({ ':status': '200', 'x-a': 'b' }),
        mockWire.data('o'),
        mockWire.wait(1),
        mockWire.data('k', true),
      ])
    const { status, headers, text } = await send('/')
    assert.deepEqual([status, headers, text], [200, { 'x-a': 'b' }, 'ok'])
  })

  test('frames as steps reset a stream and end the connection, as a real server does', async (t) => {
    const steps: [number, Buffer][] = [
      [RST_STREAM, uint32(CANCEL)],
      [GOAWAY, Buffer.concat([uint32(1), uint32(REFUSED_STREAM)])],
    ]
    for (const [type, payload] of steps) {
      const { pool, send } = mocking(t, { ...H2, headersTimeout: 100 })
      pool.intercept({ path: '/', method: 'POST' }).replyRaw([mockWire.frame(type, payload), mockWire.end()])
      const mocked = await failure(send('/', { method: 'POST' }))
      const { server, client } = await startH2Pair(t)
      const real = failure(client.request({ path: '/', method: 'POST' }))
      const peer = await server.accept()
      const { id } = await peer.request()
      if (type === RST_STREAM) peer.reset(id, CANCEL)
      else peer.goaway(1, REFUSED_STREAM)
      peer.socket.end()
      const { name, code } = await real
      assert.deepEqual([mocked.name, mocked.code], [name, code])
    }
  })

  test('frames as steps need HTTP/2', async (t) => {
    const { pool, send } = mocking(t)
    pool.intercept({ path: '/' }).replyRaw([mockWire.data('x')])
    assert.equal((await failure(send('/'))).message, "frames need an agent with protocol: 'h2'")
  })
})
