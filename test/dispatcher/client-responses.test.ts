/** Each kind of response that a server may send, as the user of `request` sees it. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { ClientOptions, RequestOptions } from '../../src/index.ts'
import { turns } from '../support/fake-clock.ts'
import { memoryPair } from '../support/memory-client.ts'
import { OK, send } from '../support/scripted-client.ts'

interface Outcome {
  /** The error of the promise, or of the body. */
  error?: Error & { code?: string; data?: string }
  statusCode?: number
  statusText?: string
  text?: string
}

/** One request, answered with these bytes (and then a FIN); a second one must still succeed. */
async function exchange(
  t: TestContext,
  bytes: string,
  { fin = false, method = 'GET', options = {} as ClientOptions, extra = {} as Partial<RequestOptions> } = {},
): Promise<Outcome & { connections: number }> {
  const { client, sockets, settle, say } = memoryPair(t, options)
  const outcome: Outcome = {}
  const answer = client
    .request({ path: '/', method, ...extra })
    .then(async ({ statusCode, statusText, body }) => {
      outcome.statusCode = statusCode
      outcome.statusText = statusText
      outcome.text = await body.text()
    })
    .catch((error: Error) => {
      outcome.error = error
    })
  await settle()
  sockets[0]!.say(bytes)
  if (fin) sockets[0]!.finish()
  await answer
  await turns(4)
  const next = send(client)
  await settle()
  await say('HTTP/1.1 204 No Content\r\n\r\n')
  assert.equal(next.status, 204, 'the next request must not be affected')
  return { ...outcome, connections: sockets.length }
}

const head = (...fields: string[]): string =>
  `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`

describe('a response that is not HTTP/1.1 fails its request and costs the connection', () => {
  const rows: readonly (readonly [title: string, bytes: string, code: string])[] = [
    ['no HTTP/', 'HELLO there\r\n\r\n', 'HPE_INVALID_CONSTANT'],
    ['version 1.5', 'HTTP/1.5 200 OK\r\n\r\n', 'HPE_INVALID_VERSION'],
    ['status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', 'HPE_INVALID_STATUS'],
    ['status below 100', 'HTTP/1.1 099 OK\r\n\r\n', 'HPE_INVALID_STATUS'],
    ['bare LF', 'HTTP/1.1 200 OK\ncontent-length: 0\n\n', 'HPE_CR_EXPECTED'],
    ['obs-fold in a length', head('content-length: 2', ' 0'), 'HPE_INVALID_HEADER_TOKEN'],
    ['obs-fold after the status line', head(' a: b'), 'HPE_INVALID_HEADER_TOKEN'],
    ['space before the colon', head('a : b'), 'HPE_INVALID_HEADER_TOKEN'],
    ['bad character in a name', head('a(b: c'), 'HPE_INVALID_HEADER_TOKEN'],
    ['no colon', head('abc'), 'HPE_INVALID_HEADER_TOKEN'],
    ['empty name', head(': b'), 'HPE_INVALID_HEADER_TOKEN'],
    ['NUL in a value', head('a: b\0c'), 'HPE_INVALID_HEADER_TOKEN'],
    ['control in a value', head('a: b\x01c'), 'HPE_INVALID_HEADER_TOKEN'],
    [
      'transfer-encoding, then content-length',
      head('transfer-encoding: chunked', 'content-length: 2'),
      'HPE_INVALID_CONTENT_LENGTH',
    ],
    ['content-length not a number', head('content-length: 2x'), 'HPE_INVALID_CONTENT_LENGTH'],
    ['content-length negative', head('content-length: -2'), 'HPE_INVALID_CONTENT_LENGTH'],
    ['content-length a list', head('content-length: 2, 2'), 'HPE_INVALID_CONTENT_LENGTH'],
    [
      'content-length beyond counting',
      head(`content-length: ${'9'.repeat(30)}`),
      'HPE_INVALID_CONTENT_LENGTH',
    ],
    ['chunk size not hex', `${head('transfer-encoding: chunked')}x\r\n`, 'HPE_INVALID_CHUNK_SIZE'],
    [
      'chunk size beyond counting',
      `${head('transfer-encoding: chunked')}${'f'.repeat(17)}\r\n`,
      'HPE_INVALID_CHUNK_SIZE',
    ],
    ['chunk with bare LF', `${head('transfer-encoding: chunked')}2\nok`, 'HPE_CR_EXPECTED'],
    ['junk after a chunk', `${head('transfer-encoding: chunked')}2\r\nokjunk\r\n`, 'HPE_STRICT'],
    [
      'something behind a 1xx',
      'HTTP/1.1 103 Early Hints\r\ncontent-length: 2\r\n\r\nok',
      'HPE_INVALID_CONSTANT',
    ],
    ['version 0.9', 'HTTP/0.9 200 OK\r\n\r\nok', 'HPE_INVALID_VERSION'],
    ['version 2.0', 'HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok', 'HPE_INVALID_VERSION'],
  ]
  for (const [title, bytes, code] of rows) {
    test(`${title}: ${code}`, async (t) => {
      const { error, connections } = await exchange(t, bytes)
      assert.equal(error?.name, 'HTTPParserError')
      assert.equal(error?.code, code)
      assert.match(error?.message ?? '', /^Response does not match the HTTP\/1\.1 protocol \(/)
      assert.equal(typeof error?.data, 'string')
      assert.equal(connections, 2)
    })
  }

  for (const [title, bytes, code] of [
    [
      'content-length, then transfer-encoding',
      head('content-length: 2', 'transfer-encoding: chunked'),
      'HPE_INVALID_TRANSFER_ENCODING',
    ],
    [
      'two equal content-length',
      head('content-length: 2', 'content-length: 2'),
      'HPE_UNEXPECTED_CONTENT_LENGTH',
    ],
    ['two of them', head('content-length: 2', 'content-length: 3'), 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  ] as const) {
    test(`${title}: refused`, async (t) => {
      const { error, connections } = await exchange(t, bytes)
      assert.ok(
        error?.code === code || error?.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
        String(error?.code),
      )
      assert.equal(connections, 2)
    })
  }

  test('the error tells the bytes from the offending place on', async (t) => {
    const { error } = await exchange(t, 'HTTP/1.1 200 OK\r\nbad name: x\r\n\r\n')
    assert.match(error?.data ?? '', /name: x/)
  })

  test('the first failure reaches disconnect, too', async (t) => {
    const { client, settle, say } = memoryPair(t)
    let lost: Error | undefined
    client.on('disconnect', (_origin, _targets, error: Error) => {
      lost = error
    })
    send(client)
    await settle()
    await say('nonsense')
    assert.equal(lost?.name, 'HTTPParserError')
  })
})

describe('what is accepted', () => {
  for (const [title, bytes, expected, fin] of [
    ['version 1.0', 'HTTP/1.0 200 OK\r\n\r\nok', { statusCode: 200, text: 'ok' }, true],
    ['status 600', 'HTTP/1.1 600 Odd\r\ncontent-length: 0\r\n\r\n', { statusCode: 600, text: '' }, false],
    ['no reason phrase', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', { statusText: '' }, false],
    ['100 that was not asked for', `HTTP/1.1 100 Continue\r\n\r\n${OK}`, { text: 'ok' }, false],
    [
      '103 with a length',
      `HTTP/1.1 103 Early Hints\r\ncontent-length: 5\r\n\r\n${OK}`,
      { statusCode: 200, text: 'ok' },
      false,
    ],
    [
      '103 with a transfer coding',
      `HTTP/1.1 103 Early Hints\r\ntransfer-encoding: chunked\r\n\r\n${OK}`,
      { statusCode: 200, text: 'ok' },
      false,
    ],
    [
      'blanks after a chunk size',
      `${head('transfer-encoding: chunked')}2  \r\nok\r\n0     \r\n\r\n`,
      { text: 'ok' },
      false,
    ],
    ['an empty line in front', `\r\n${OK}`, { text: 'ok' }, false],
    [
      'chunk extensions',
      `${head('transfer-encoding: chunked')}2;a=b\r\nok\r\n0\r\n\r\n`,
      { text: 'ok' },
      false,
    ],
    ['transfer-encoding gzip: until EOF', `${head('transfer-encoding: gzip')}ok`, { text: 'ok' }, true],
    ['chunked not last: until EOF', `${head('transfer-encoding: chunked, gzip')}ok`, { text: 'ok' }, true],
    ['neither length nor encoding: until EOF', `${head()}ok`, { text: 'ok' }, true],
    ['204 with a length', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', { text: '' }, false],
    ['304 with a length', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', { text: '' }, false],
  ] as const) {
    test(title, async (t) => {
      const outcome = await exchange(t, bytes, { fin })
      assert.equal(outcome.error, undefined)
      for (const [name, value] of Object.entries(expected)) {
        assert.equal((outcome as unknown as Record<string, unknown>)[name], value)
      }
      assert.equal(outcome.connections, fin ? 2 : 1)
    })
  }

  for (const fields of [['content-length: 5'], ['transfer-encoding: chunked'], []]) {
    test(`HEAD has no body, whatever the head says (${fields[0] ?? 'nothing'})`, async (t) => {
      const { error, statusCode, text } = await exchange(t, head(...fields), { method: 'HEAD' })
      assert.deepEqual([error, statusCode, text], [undefined, 200, ''])
    })
  }

  test('a folded value, with one space for each fold', async (t) => {
    const bytes = 'HTTP/1.1 200 OK\r\nx-a: one,\r\n  two\r\n\tthree\r\ncontent-length: 2\r\n\r\nok'
    const { client, settle, say } = memoryPair(t)
    for (let i = 0; i < 3; i++) {
      const handler = send(client)
      await settle()
      await say(bytes)
      assert.deepEqual([handler.headers?.['x-a'], handler.body], ['one, two three', 'ok'])
    }
    const answer = client.request({ path: '/', method: 'GET', responseHeaders: 'raw' })
    await settle()
    await say(bytes)
    const { headers, body } = await answer
    assert.deepEqual(headers, ['x-a', 'one, two three', 'content-length', '2'])
    await body.dump()
  })

  test('102 and 103 reach onInfo and the handler', async (t) => {
    const seen: number[] = []
    const interim = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'
    const { text } = await exchange(t, interim + OK, {
      extra: { onInfo: ({ statusCode }) => seen.push(statusCode) },
    })
    assert.deepEqual(seen, [102, 103])
    assert.equal(text, 'ok')
    const { client, settle, say } = memoryPair(t)
    const handler = send(client)
    await settle()
    await say(interim, OK)
    assert.deepEqual(handler.statuses, [102, 103, 200])
    assert.equal(handler.calls.filter((call) => call === 'onResponseStarted').length, 3)
  })

  test('a content-length beyond 2^32', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client)
    await settle()
    await say(head('content-length: 5368709120'), 'x')
    assert.deepEqual([handler.status, handler.body, handler.errors], [200, 'x', []])
  })
})

describe('a response that is cut off', () => {
  for (const [title, bytes, name, code, opening] of [
    ['before the head', '', 'SocketError', 'UND_ERR_SOCKET', 'other side closed'],
    ['inside the status line', 'HTTP/1.1 2', 'SocketError', 'UND_ERR_SOCKET', 'other side closed'],
    ['inside the fields', 'HTTP/1.1 200 OK\r\na: b', 'SocketError', 'UND_ERR_SOCKET', 'other side closed'],
    [
      'in a counted body',
      `${head('content-length: 5')}ok`,
      'SocketError',
      'UND_ERR_SOCKET',
      'other side closed',
    ],
    [
      'in a chunked body',
      `${head('transfer-encoding: chunked')}5\r\nok`,
      'SocketError',
      'UND_ERR_SOCKET',
      'other side closed',
    ],
    [
      'in a counted body of the last response',
      `${head('connection: close', 'content-length: 5')}ok`,
      'ResponseContentLengthMismatchError',
      'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
      'Response body length does not match content-length header',
    ],
    [
      'in a chunked body of the last response',
      `${head('connection: close', 'transfer-encoding: chunked')}5\r\nok`,
      'HTTPParserError',
      'HPE_INVALID_EOF_STATE',
      'Response does not match the HTTP/1.1 protocol (Invalid EOF state)',
    ],
  ] as const) {
    test(title, async (t) => {
      const { error, connections } = await exchange(t, bytes, { fin: true })
      assert.deepEqual([error?.name, error?.code], [name, code])
      assert.ok(error?.message.startsWith(opening), error?.message)
      assert.equal(connections, 2)
    })
  }

  for (const [title, start] of [
    ['a body that ends with the connection', head()],
    ['a counted body of the last response', head('connection: close', 'content-length: 5')],
    [
      'a chunked body of the last response',
      `${head('connection: close', 'transfer-encoding: chunked')}2\r\n`,
    ],
  ] as const) {
    test(`a reset in ${title} is an error`, async (t) => {
      const { client, sockets, settle, say } = memoryPair(t)
      const handler = send(client)
      await settle()
      await say(`${start}ok`)
      sockets[0]!.reset()
      await handler.settled
      assert.deepEqual([handler.body, handler.calls.at(-1)], ['ok', 'onResponseError'])
      assert.equal((handler.error as { code?: string }).code, 'ECONNRESET')
    })
  }

  test('a reset elsewhere is the error it is', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client)
    await settle()
    await say(`${head('content-length: 5')}ok`)
    sockets[0]!.reset()
    await handler.settled
    assert.equal((handler.error as { code?: string }).code, 'ECONNRESET')
  })

  test('a reset while the consumer holds bytes back does not pass for the end', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    const handler = send(client, {}, (method, { controller }) => {
      if (method === 'onResponseData') controller!.pause()
    })
    await settle()
    await say(`${head()}one`)
    sockets[0]!.say('two')
    sockets[0]!.reset()
    await handler.settled
    assert.equal((handler.error as { code?: string } | undefined)?.code, 'ECONNRESET')
  })
})

describe('bytes that answer nothing', () => {
  test('101 that was not asked for fails it with "bad upgrade"', async (t) => {
    const { error, connections } = await exchange(
      t,
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    )
    assert.deepEqual([error?.name, error?.code, connections], ['SocketError', 'UND_ERR_SOCKET', 2])
    assert.match(error!.message, /^bad upgrade/)
  })

  test('bytes behind a response cost the connection, not the request', async (t) => {
    const { client, settle, say, sockets } = memoryPair(t)
    let lost: Error | undefined
    client.on('disconnect', (_origin, _targets, error: Error) => {
      lost = error
    })
    const handler = send(client)
    await settle()
    await say(`${OK}junk`)
    assert.deepEqual([handler.body, handler.errors], ['ok', []])
    assert.equal(sockets[0]!.destroyed, true)
    assert.match(lost?.message ?? '', /^bad response/)
  })
})

describe('limits', () => {
  test('maxHeaderSize: names and values of a response head; the limit itself is too much', async (t) => {
    const block = 'HTTP/1.1 200 OK\r\nAA: bb\r\n\r\n'
    const { error } = await exchange(t, block, { fin: true, options: { maxHeaderSize: 300 } })
    assert.equal(error, undefined)
    const value = 'x'.repeat(298)
    for (const [size, overflows] of [
      [300, true],
      [301, false],
    ] as const) {
      const { error: failure } = await exchange(t, `HTTP/1.1 200 OK\r\nAA: ${value}\r\n\r\n`, {
        fin: true,
        options: { maxHeaderSize: size },
      })
      assert.equal(failure?.code, overflows ? 'UND_ERR_HEADERS_OVERFLOW' : undefined)
      if (overflows) {
        assert.equal(failure?.name, 'HeadersOverflowError')
        assert.match(failure?.message ?? '', /^Headers Overflow Error/)
      }
    }
  })

  test('maxHeaderSize: each interim head and the trailers are counted on their own', async (t) => {
    const field = `a: ${'x'.repeat(150)}\r\n`
    const bytes =
      `HTTP/1.1 103 Early Hints\r\n${field}\r\n` +
      `HTTP/1.1 103 Early Hints\r\n${field}\r\n` +
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${field}\r\n0\r\n${field}\r\n`
    const { error } = await exchange(t, bytes, { options: { maxHeaderSize: 200 } })
    assert.equal(error, undefined)
    const late = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${field}${field}\r\n`
    const { error: failure } = await exchange(t, late, { options: { maxHeaderSize: 200 } })
    assert.equal(failure?.code, 'UND_ERR_HEADERS_OVERFLOW')
  })

  test('maxHeaderSize: a request over it fails before a byte is written, and names both sizes', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { maxHeaderSize: 200 })
    const refused = send(client, { path: `/${'x'.repeat(200)}` })
    const next = send(client)
    await settle()
    assert.equal((refused.error as { code?: string }).code, 'UND_ERR_HEADERS_OVERFLOW')
    assert.match(refused.error!.message, /^Headers Overflow Error: .*\d+.*maxHeaderSize.*200/)
    assert.match(sockets[0]!.written, /^GET \/ /)
    await say(OK)
    assert.equal(next.body, 'ok')
    assert.equal(sockets.length, 1)
  })

  test('maxResponseSize: exactly that many bytes are fine', async (t) => {
    for (const bytes of [OK, `${head('transfer-encoding: chunked')}1\r\no\r\n1\r\nk\r\n0\r\n\r\n`]) {
      const { text } = await exchange(t, bytes, { options: { maxResponseSize: 2 } })
      assert.equal(text, 'ok')
    }
  })

  test('maxResponseSize: the piece that exceeds it is not delivered, and the socket is destroyed', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t, { maxResponseSize: 2 })
    const handler = send(client)
    await settle()
    await say(`${head('content-length: 4')}ok`)
    assert.equal(handler.body, 'ok')
    await say('no')
    assert.equal(handler.body, 'ok')
    assert.equal(handler.error?.name, 'ResponseExceededMaxSizeError')
    assert.equal((handler.error as { code?: string }).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    assert.match(handler.error!.message, /^Response content exceeded max size/)
    assert.equal(sockets[0]!.destroyed, true)
  })

  test('maxResponseSize: the body of a request errors', async (t) => {
    const { error, statusCode } = await exchange(t, OK, { options: { maxResponseSize: 1 } })
    assert.deepEqual([statusCode, error?.code], [200, 'UND_ERR_RES_EXCEEDED_MAX_SIZE'])
  })

  test('maxResponseSize: 0 allows only empty bodies, -1 any', async (t) => {
    const { error } = await exchange(t, OK, { options: { maxResponseSize: 0 } })
    assert.equal(error?.code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    const { text: empty } = await exchange(t, head('content-length: 0'), { options: { maxResponseSize: 0 } })
    assert.equal(empty, '')
    const { text } = await exchange(t, OK, { options: { maxResponseSize: -1 } })
    assert.equal(text, 'ok')
  })
})
