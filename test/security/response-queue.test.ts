/** A response answers its own request or none; and a request is sent once, or provably not at all. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { DATA, HEADERS } from '../../src/protocol/http2/constants.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { disconnected, OK, response, startPair } from '../support/scripted-client.ts'

const POISON = response('poison')

describe('CVE-2026-6733, GHSA-35p6-xmwp-9g52, CVE-2026-48931: response queue poisoning', () => {
  test('bytes on an idle connection cost the connection', async (t) => {
    const { client, server } = await startPair(t)
    for (const bytes of [
      POISON,
      'H',
      'x',
      '\0',
      '\r\nHTTP/1.1 200 OK\r\n',
      'HTTP/1.1 408 Request Timeout\r\n\r\n',
    ]) {
      const first = client.request({ path: '/', method: 'GET' })
      const connection = await server.accept()
      await connection.head()
      connection.send(OK)
      assert.equal(await (await first).body.text(), 'ok')
      const lost = disconnected(client)
      connection.send(bytes)
      assert.match((await lost).message, /^bad response/, JSON.stringify(bytes))
      await connection.closed()
    }
    const next = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send(response('real'))
    assert.equal(await (await next).body.text(), 'real')
  })

  const LEFTOVERS: readonly (readonly [what: string, method: string, answer: string])[] = [
    ['a second response', 'GET', OK],
    ['a body longer than announced', 'GET', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a body behind a 204', 'GET', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['a body behind a 304', 'GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 99\r\n\r\n'],
    ['a body behind the answer to HEAD', 'HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n'],
    ['more behind the last chunk', 'GET', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    [
      'more behind the trailers',
      'GET',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n\r\n',
    ],
  ]
  for (const [what, method, answer] of LEFTOVERS) {
    test(`what is left over answers nobody: ${what}`, async (t) => {
      const { client, server } = await startPair(t)
      const first = client.request({ path: '/1', method, reset: false })
      const second = client.request({ path: '/2', method: 'GET' })
      const connection = await server.accept()
      await connection.head()
      connection.send(answer, POISON)
      await (await first).body.text()
      const other = await server.accept()
      assert.match(await other.head(), /^GET \/2 /)
      other.send(response('real'))
      assert.equal(await (await second).body.text(), 'real')
      await connection.closed()
      assert.equal(connection.received, '')
    })
  }

  test('with pipelining, a response too many answers nobody', async (t) => {
    const { client, server } = await startPair(t, { pipelining: 3 })
    // Only HEAD does not hold back later requests.
    const send = (path: string): Promise<string> =>
      client.request({ path, method: 'GET', blocking: false }).then(({ body }) => body.text())
    const asked = [send('/1'), send('/2')]
    const connection = await server.accept()
    await connection.until('GET /2')
    await connection.head()
    connection.send(response('one'), response('two'), POISON)
    assert.deepEqual(await Promise.all(asked), ['one', 'two'])
    const third = send('/3')
    const other = await server.accept()
    assert.match(await other.head(), /^GET \/3 /)
    other.send(response('three'))
    assert.equal(await third, 'three')
  })

  test('a response that was given up cannot answer the next request', async (t) => {
    const { client, server } = await startPair(t)
    const controller = new AbortController()
    const first = client.request({ path: '/1', method: 'GET', signal: controller.signal })
    const connection = await server.accept()
    await connection.head()
    controller.abort()
    await assert.rejects(first, { name: 'AbortError' })
    const second = client.request({ path: '/2', method: 'GET' })
    connection.send(POISON)
    const other = await server.accept()
    await other.head()
    other.send(response('real'))
    assert.equal(await (await second).body.text(), 'real')
  })

  test('an interim response has no body: what follows it answers the same request, and no other', async (t) => {
    const { client, server } = await startPair(t)
    for (const head of [`103 Early Hints\r\ncontent-length: ${POISON.length}`, '100 Continue']) {
      const asked = client.request({ path: '/', method: 'GET' })
      const connection = await server.accept()
      await connection.head()
      connection.send(`HTTP/1.1 ${head}\r\n\r\n${POISON}${POISON}`)
      await (await asked).body.dump()
      await connection.closed()
    }
  })

  test('chunks behind an interim response, and a switch that nobody asked for, fail their request', async (t) => {
    const { client, server } = await startPair(t)
    for (const bytes of [
      `HTTP/1.1 102 Processing\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${POISON}`,
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n${POISON}`,
    ]) {
      const asked = client.request({ path: '/', method: 'GET' })
      const failed = assert.rejects(
        asked,
        (error) => error instanceof errors.SocketError || error instanceof errors.HTTPParserError,
      )
      const connection = await server.accept()
      await connection.head()
      connection.send(bytes)
      await failed
      await connection.closed()
    }
  })

  test('over HTTP/2: frames for streams that are not open reach nobody', async (t) => {
    const { client, server } = await startH2Pair(t)
    const first = client.request({ path: '/1', method: 'GET' })
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.respond(id, 'one')
    assert.equal(await (await first).body.text(), 'one')
    const second = client.request({ path: '/2', method: 'GET' })
    await peer.request()
    const failed = assert.rejects(second, errors.SocketError)
    // For a stream that has ended in both directions: RFC 9113 §5.1 makes it a connection error.
    peer.send(DATA, 1, id, Buffer.from('poison'))
    await failed
    await peer.closed()

    const third = client.request({ path: '/3', method: 'GET' })
    const other = await server.accept()
    await other.request()
    const alsoFailed = assert.rejects(third, errors.SocketError)
    other.send(HEADERS, 5, 99, Buffer.from([0x88]))
    await alsoFailed
    await other.closed()
  })
})

describe('bun#28708: a request is not sent twice, and bodies are not spliced', () => {
  for (const [what, body] of [
    ['bytes', () => 'body'],
    ['a stream', () => Readable.from(['body'])],
  ] as const) {
    test(`a POST of ${what} that meets a closing connection fails instead`, async (t) => {
      const { client, server } = await startPair(t)
      const first = client.request({ path: '/', method: 'GET' })
      const connection = await server.accept()
      await connection.head()
      connection.send(OK)
      await (await first).body.text()

      const post = client.request({ path: '/', method: 'POST', body: body() })
      const failed = assert.rejects(post, { code: 'UND_ERR_SOCKET' })
      await connection.head()
      connection.socket.destroy()
      await failed

      const next = client.request({ path: '/next', method: 'GET' })
      const other = await server.accept()
      assert.match(await other.head(), /^GET \/next /)
      assert.equal(server.count, 2)
      other.send(OK)
      await (await next).body.text()
    })
  }

  test('a response that breaks off is not continued by another', async (t) => {
    const { client, server } = await startPair(t)
    const asked = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
    const { body } = await asked
    await assert.rejects(body.text(), { code: /UND_ERR_(SOCKET|RES_CONTENT_LENGTH_MISMATCH)/ })
    assert.equal(server.count, 1)
  })

  test('over HTTP/2 only what the server has provably not seen is sent again, and only once', async (t) => {
    const { client, server } = await startH2Pair(t)
    const post = client.request({ path: '/', method: 'POST', body: 'body' })
    const peer = await server.accept()
    const { id } = await peer.request()
    await peer.body(id)
    peer.reset(id, 7)
    const again = await peer.request()
    await peer.body(again.id)
    const failed = assert.rejects(post, { code: 'ERR_HTTP2_STREAM_ERROR' })
    peer.reset(again.id, 7)
    await failed

    const lost = client.request({ path: '/', method: 'POST', body: 'body' })
    const { id: third } = await peer.request()
    await peer.body(third)
    const alsoFailed = assert.rejects(lost, { code: 'UND_ERR_SOCKET' })
    const gone = once(client, 'disconnect')
    peer.socket.destroy()
    await alsoFailed
    await gone
    assert.equal(peer.requests.length, 3)
    assert.equal(server.count, 1)
  })
})
