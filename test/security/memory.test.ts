/** Memory that a response may occupy or reveal: only its own bytes, and only as fast as they are read. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { errors } from '../../src/index.ts'
import { WINDOW_UPDATE } from '../../src/protocol/http2/constants.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { memoryPair } from '../support/memory-client.ts'
import { OK, startPair } from '../support/scripted-client.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'
const MEGABYTE = 2 ** 20

describe('CVE-2024-24750: bodies that nobody reads', () => {
  test('h1: the connection is paused when highWaterMark bytes wait', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const asked = client.request({ path: '/', method: 'GET', highWaterMark: 1000 })
    await settle()
    await say(`${HEAD}content-length: ${MEGABYTE}\r\n\r\n`)
    const { body } = await asked
    for (let i = 0; i < 64; i++) await say('a'.repeat(MEGABYTE / 64))
    // Unread data stays in the socket, which stops reading from its peer.
    assert.equal(sockets[0]!.isPaused(), true)
    assert.ok(sockets[0]!.readableLength > MEGABYTE / 2, `${sockets[0]!.readableLength} bytes`)
    assert.equal((await body.text()).length, MEGABYTE)
  })

  test('h2: the server is given back only what was taken', async (t) => {
    const window = 65_535
    const piece = 13_107
    const { client, server } = await startH2Pair(t, { initialWindowSize: window })
    const asked = client.request({ path: '/', method: 'GET', highWaterMark: 1 })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200)
    const { body } = await asked
    for (let sent = 0; sent < window; sent += piece) peer.data(id, Buffer.alloc(piece))
    await peer.settled()
    const credit = peer
      .pending(WINDOW_UPDATE, id)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
    assert.ok(credit <= piece, `${credit} bytes given back`)
    peer.data(id, '', true)
    assert.equal((await body.arrayBuffer()).byteLength, window)
  })

  test('a body that is destroyed or collected gives its connection back, or up', async (t) => {
    const { client, server } = await startPair(t)
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send(`${HEAD}content-length: 1000000\r\n\r\nstart`)
    const { body } = await asked
    body.on('error', () => {}).destroy()
    await connection.closed()
    assert.equal(client.stats.running, 0)
  })
})

describe('content codings', () => {
  test('CVE-2026-22036, curl CVE-2022-32206, CVE-2023-23916: request() decodes none, however long the chain', async (t) => {
    const { client, server } = await startPair(t)
    const bomb = gzipSync(Buffer.alloc(MEGABYTE))
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    const codings = 'content-encoding: gzip, gzip, gzip\r\n'.repeat(10)
    connection.send(`${HEAD}${codings}content-length: ${bomb.length}\r\n\r\n`, bomb.toString('latin1'))
    assert.deepEqual(Buffer.from(await (await asked).body.arrayBuffer()), bomb)
  })
})

test('CVE-2023-24807, ws CVE-2021-32640: what a peer or a caller says is read in linear time', async (t) => {
  // Each of these would take minutes with a backtracking pattern.
  const { client, server } = await startPair(t, { maxHeaderSize: 8 * MEGABYTE })
  const blanks = `a${' \t'.repeat(MEGABYTE / 2)}a`
  const asked = client.request({ path: '/', method: 'GET', headers: { 'x-a': blanks } })
  const connection = await server.accept()
  await connection.head()
  connection.send(
    `${HEAD}connection: ${' ,'.repeat(MEGABYTE / 4)}x\r\nkeep-alive: ${'timeout=x'.repeat(MEGABYTE / 16)}\r\n`,
    `x-b: ${blanks}\r\ncontent-length: 2\r\n\r\nok`,
  )
  const { headers, body } = await asked
  assert.equal(headers['x-b'], blanks)
  assert.equal(await body.text(), 'ok')
  await assert.rejects(
    client.request({ path: '/', method: 'GET', headers: { connection: `a${' '.repeat(MEGABYTE)}b` } }),
    errors.InvalidArgumentError,
  )
})

describe('memory that is not the response', () => {
  test('CVE-2024-38372: the buffer behind arrayBuffer() and bytes() holds the body and nothing else', async (t) => {
    const { client, server } = await startPair(t)
    for (const method of ['arrayBuffer', 'bytes'] as const) {
      for (const pieces of [['ok'], ['o', 'k']]) {
        const asked = client.request({ path: '/', method: 'GET', reset: true })
        const connection = await server.accept()
        await connection.head()
        connection.end(
          `${HEAD}x-secret: secret\r\ntransfer-encoding: chunked\r\n\r\n`,
          ...pieces.map((p) => `${p.length}\r\n${p}\r\n`),
          '0\r\n\r\n',
        )
        const read = await (await asked).body[method]()
        const buffer = read instanceof ArrayBuffer ? read : read.buffer
        assert.equal(Buffer.from(buffer as ArrayBuffer).toString(), 'ok')
      }
    }
  })

  test('CVE-2024-38372, ws GHSA-58qx-3vcg-4xpx: a body in a view sends the view only', async (t) => {
    const { client, server } = await startPair(t)
    const slab = Buffer.from('secret-ok-secret')
    const bodies = [
      slab.subarray(7, 9),
      new DataView(slab.buffer, slab.byteOffset + 7, 2),
      [slab.subarray(7, 9)],
    ]
    let connection: Awaited<ReturnType<typeof server.accept>> | null = null
    for (const body of bodies) {
      const asked = client.request({ path: '/', method: 'PUT', body: body as Buffer })
      connection ??= await server.accept()
      await connection.head()
      const sent = await connection.until('ok')
      assert.doesNotMatch(sent, /secret/)
      if (Array.isArray(body)) await connection.until('0\r\n\r\n')
      connection.send(OK)
      await (await asked).body.text()
    }
  })
})

test('CVE-2025-22150: the boundary of a form is drawn anew, from the crypto generator', async (t) => {
  t.mock.method(Math, 'random', () => 0.5)
  const { client, server } = await startPair(t)
  const boundaries = new Set<string>()
  let connection: Awaited<ReturnType<typeof server.accept>> | null = null
  for (let i = 0; i < 4; i++) {
    const form = new FormData()
    form.append('a', 'b')
    const asked = client.request({ path: '/', method: 'POST', body: form })
    connection ??= await server.accept()
    const boundary = /boundary=(\S+)/.exec(await connection.head())?.[1] ?? ''
    boundaries.add(boundary)
    await connection.until(`--${boundary}--\r\n`)
    connection.send(OK)
    await (await asked).body.text()
  }
  assert.equal(boundaries.size, 4)
})

test('pipes that end early take nothing down with them', async (t) => {
  const { client, server } = await startPair(t)
  const sink = new PassThrough()
  const asked = client.stream({ path: '/', method: 'GET' }, () => sink)
  const failed = assert.rejects(asked)
  const connection = await server.accept()
  await connection.head()
  connection.send(`${HEAD}content-length: 1000\r\n\r\nstart`)
  await once(sink, 'readable')
  sink.destroy()
  await failed
  await connection.closed()
})
