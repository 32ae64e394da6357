/**
 * A response that two parties could read differently is not read at all: it fails its request, and its connection is not
 * used again.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errors } from '../../src/index.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { OK, startPair } from '../support/scripted-client.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'

/** The response body of a GET that is answered with these bytes. */
type Answers = readonly (readonly [what: string, bytes: string])[]

/** Each response fails its request with a parser error and costs its connection; the next request is not affected. */
function refused(title: string, answers: Answers): void {
  test(title, async (t) => {
    const { client, server } = await startPair(t)
    for (const [what, bytes] of answers) {
      const asked = client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
      const failed = assert.rejects(
        asked,
        (error) => error instanceof errors.HTTPParserError && /^HPE_/.test(error.code ?? ''),
        what,
      )
      const connection = await server.accept()
      await connection.head()
      connection.send(bytes)
      await failed
      await connection.closed()
    }
    const honest = client.request({ path: '/', method: 'GET' })
    const connection = await server.accept()
    await connection.head()
    connection.send(OK)
    assert.equal(await (await honest).body.text(), 'ok')
    assert.equal(server.count, answers.length + 1)
  })
}

const chunked = (body: string): string => `${HEAD}transfer-encoding: chunked\r\n\r\n${body}`

refused('CVE-2021-22959: a space before the colon', [
  ['space', `${HEAD}content-length : 2\r\n\r\nok`],
  ['tab', `${HEAD}content-length\t: 2\r\n\r\nok`],
  ['transfer-encoding', `${HEAD}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['in the middle', `${HEAD}content length: 2\r\n\r\nok`],
  ['no name', `${HEAD}: 2\r\n\r\nok`],
  ['no colon', `${HEAD}content-length\r\n\r\nok`],
])

refused('CVE-2021-22960: chunk extensions', [
  ['LF ends the line', chunked('2;a\nok\r\n0\r\n\r\n')],
  ['LF in a quoted value', chunked('2;a="\n"\r\nok\r\n0\r\n\r\n')],
  ['CR alone', chunked('2;a\rb\r\nok\r\n0\r\n\r\n')],
  ['no name', chunked('2;\r\nok\r\n0\r\n\r\n')],
  ['NUL', chunked('2;a=\0\r\nok\r\n0\r\n\r\n')],
  ['space', chunked('2; a\r\nok\r\n0\r\n\r\n')],
  ['endless', chunked(`2;${'a'.repeat(5000)}\r\nok\r\n0\r\n\r\n`)],
])

refused('chunk sizes and ends: CVE-2021-22960, CVE-2025-23167 and their class', [
  ['0x', chunked('0x2\r\nok\r\n0\r\n\r\n')],
  ['plus', chunked('+2\r\nok\r\n0\r\n\r\n')],
  ['minus', chunked('-2\r\nok\r\n0\r\n\r\n')],
  ['leading space', chunked(' 2\r\nok\r\n0\r\n\r\n')],
  ['space inside', chunked('2 2\r\nok\r\n0\r\n\r\n')],
  ['LF after a space', chunked('2 \nok\r\n0\r\n\r\n')],
  ['endless spaces', chunked(`2${' '.repeat(5000)}\r\nok\r\n0\r\n\r\n`)],
  ['underscore', chunked('0_2\r\nok\r\n0\r\n\r\n')],
  ['none', chunked('\r\nok\r\n0\r\n\r\n')],
  ['above 2^53', chunked('20000000000001\r\nok\r\n0\r\n\r\n')],
  ['above 2^64, which is 2 when it wraps', chunked('10000000000000002\r\nok\r\n0\r\n\r\n')],
  ['endless zeros', chunked(`${'0'.repeat(64)}2\r\nok\r\n0\r\n\r\n`)],
  ['LF only', chunked('2\nok\r\n0\r\n\r\n')],
  ['CR only', chunked('2\rok\r\n0\r\n\r\n')],
  ['data too long', chunked('2\r\nokay\r\n0\r\n\r\n')],
  ['LF after data', chunked('2\r\nok\n0\r\n\r\n')],
  ['CR CR after data', chunked('2\r\nok\r\r0\r\n\r\n')],
])

refused('CVE-2022-32213, CVE-2022-32214, CVE-2022-32215, CVE-2020-8287: transfer-encoding in other words', [
  ['chunked, something, chunked', `${HEAD}transfer-encoding: chunked, gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['folded', `${HEAD}transfer-encoding:\r\n chunked\r\n\r\n0\r\n\r\n`],
  ['folded with a tab', `${HEAD}transfer-encoding: gzip,\r\n\tchunked\r\n\r\n0\r\n\r\n`],
  ['LF only', 'HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n0\n\n'],
  ['LF after the name', `${HEAD}transfer-encoding: chunked\nx: y\r\n\r\n0\r\n\r\n`],
  ['NUL', `${HEAD}transfer-encoding: chunked\0\r\n\r\n0\r\n\r\n`],
])

test("CVE-2020-8287: chunked announced twice is read once, and what follows it is nobody's", async (t) => {
  const fields = [
    'transfer-encoding: chunked\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked, chunked',
    'transfer-encoding: gzip, chunked, Chunked',
  ]
  const { server, client } = await startPair(t, { pipelining: 2 })
  for (const field of fields) {
    const asked = ['/a', '/b'].map((path) => client.request({ path, method: 'GET' }))
    const connection = await server.accept()
    await connection.head()
    connection.send(`${HEAD}${field}\r\n\r\n2\r\nok\r\n0\r\n\r\n${HEAD}content-length: 7\r\n\r\nfoisted`)
    assert.equal(await (await asked[0]!).body.text(), 'ok', field)
    await connection.closed()
    // The next one goes to a new connection.
    const next = await server.accept()
    await next.head()
    next.send(`${HEAD}connection: close\r\ncontent-length: 4\r\n\r\nmine`)
    assert.equal(await (await asked[1]!).body.text(), 'mine', field)
    await next.closed()
  }
})

test('the reason comes first when a response is refused for its transfer codings', async (t) => {
  const { server, client } = await startPair(t)
  for (const [field, reason] of [
    ['transfer-encoding: chunked, gzip, chunked', 'chunked applied twice, around another transfer coding'],
    [
      'content-length: 2\r\ntransfer-encoding: chunked',
      "Transfer-Encoding can't be present with Content-Length)",
    ],
  ]) {
    const asked = client.request({ path: '/', method: 'GET' })
    const failed = assert.rejects(asked, (error: Error) => error.message.includes(`protocol (${reason}`))
    const connection = await server.accept()
    await connection.head()
    connection.send(`${HEAD}${field}\r\n\r\n0\r\n\r\n`)
    await failed
  }
})

refused('CVE-2022-35256, CVE-2023-30589, CVE-2025-23167: line ends', [
  ['CR alone in a value', `${HEAD}a: b\rcontent-length: 2\r\n\r\nok`],
  ['CR alone ends the head', `${HEAD}content-length: 2\r\n\r\rok`],
  ['CR LF CR X', `${HEAD}content-length: 2\r\n\rX: y\r\n\r\nok`],
  ['LF alone ends a field', `${HEAD}a: b\ncontent-length: 2\r\n\r\nok`],
  ['LF alone ends the head', `${HEAD}content-length: 2\r\n\nok`],
  ['LF alone ends the status line', 'HTTP/1.1 200 OK\ncontent-length: 2\r\n\r\nok'],
  ['CR alone ends the status line', 'HTTP/1.1 200 OK\rcontent-length: 2\r\n\r\nok'],
  ['CR CR LF', `${HEAD}content-length: 2\r\r\n\r\nok`],
  ['in trailers, LF', chunked('0\r\na: b\n\r\n')],
  ['in trailers, CR', chunked('0\r\na: b\rc: d\r\n\r\n')],
])

refused('CVE-2024-27982: content-length in other words', [
  ['folded', `${HEAD}content-length: 2\r\n 0\r\n\r\nok`],
  ['folded before', `${HEAD}content-length:\r\n 2\r\n\r\nok`],
  ['a fold as the first line', `${HEAD} content-length: 2\r\n\r\nok`],
  ...[
    '+2',
    '-2',
    '2 2',
    '2,2',
    '2, 3',
    '0x2',
    '2e0',
    '2.0',
    '',
    ' ',
    '2\0',
    '\u00b2',
    '9007199254740993',
  ].map((value) => [value, `${HEAD}content-length: ${value}\r\n\r\nok`] as const),
])

describe('CVE-2026-1525: framing fields that contradict each other', () => {
  refused('in a response', [
    ['two lengths', `${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\nok`],
    ['the same length twice', `${HEAD}content-length: 2\r\ncontent-length: 2\r\n\r\nok`],
    ['length, then chunked', `${HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['chunked, then length', `${HEAD}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n`],
    ['in another case', `${HEAD}Content-Length: 2\r\ncoNTent-lENGTH: 3\r\n\r\nok`],
    ['length, then another coding', `${HEAD}content-length: 2\r\ntransfer-encoding: identity\r\n\r\nok`],
  ])

  test('a coding that is not known, or behind chunked, is read to the end of the connection', async (t) => {
    const { client, server } = await startPair(t)
    for (const coding of ['xchunked', 'chunked, identity', '"chunked"', 'chunked;q=1', '', 'identity']) {
      const asked = client.request({ path: '/', method: 'GET' })
      const connection = await server.accept()
      await connection.head()
      connection.end(`${HEAD}transfer-encoding: ${coding}\r\n\r\n0\r\n\r\n${OK}`)
      assert.equal(await (await asked).body.text(), `0\r\n\r\n${OK}`, coding)
      await connection.closed()
    }
  })

  test('in a request', async (t) => {
    const { client, server } = await startPair(t)
    const send = (headers: object | string[], body?: string): Promise<unknown> =>
      client.request({ path: '/', method: 'POST', headers: headers as string[], body })
    for (const headers of [
      ['content-length', '2', 'content-length', '2'],
      { 'content-length': ['2', '3'] },
      { 'content-length': '2, 2' },
      { 'content-length': '+2' },
      { 'transfer-encoding': 'chunked' },
      { 'Transfer-Encoding': 'identity' },
      { 'content-length': '2', 'transfer-encoding': 'chunked' },
      { 'keep-alive': 'timeout=1' },
    ]) {
      await assert.rejects(send(headers, 'ok'), errors.InvalidArgumentError, JSON.stringify(headers))
    }
    assert.equal(server.count, 0)

    const short = send({ 'content-length': '1' }, 'ok')
    const mismatch = assert.rejects(short, errors.RequestContentLengthMismatchError)
    const honest = send({ 'content-length': '2' }, 'ok')
    const connection = await server.accept()
    const text = await connection.until('\r\n\r\nok')
    assert.equal(text.match(/content-length/gi)?.length, 1)
    assert.match(text, /^POST \/ HTTP\/1\.1\r\n.*\r\ncontent-length: 2\r\n\r\nok$/s)
    connection.send(OK)
    await Promise.all([mismatch, honest])
  })

  test('in an HTTP/2 response', async (t) => {
    const { client, server } = await startH2Pair(t)
    const BAD: readonly (readonly string[])[] = [
      ['content-length', '2', 'content-length', '3'],
      ['content-length', '3'],
      ['content-length', '1'],
      ['content-length', '2,2'],
      ['content-length', '+2'],
      ['transfer-encoding', 'chunked'],
      ['connection', 'close'],
      ['upgrade', 'h2c'],
      ['x-a', 'b\r\nc: d'],
      ['x-a', ' b'],
      ['X-A', 'b'],
      ['x-a\r\nb', 'c'],
      ['x-a', 'b\0'],
      ['', 'b'],
      [':status', '200'],
      [':path', '/'],
    ]
    const first = client.request({ path: '/', method: 'GET' })
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    assert.equal(await (await first).body.text(), 'ok')
    for (const fields of BAD) {
      const asked = client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
      const wrongLength = fields.length === 2 && /^content-length,[13]$/.test(String(fields))
      const code = wrongLength ? 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' : 'ERR_HTTP2_STREAM_ERROR'
      const failed = assert.rejects(asked, { code }, String(fields))
      const { id } = await peer.request()
      peer.together(() => peer.head(id, 200, fields).data(id, 'ok', true))
      await failed
      assert.equal(await peer.resetOf(id), 1)
    }
    const last = client.request({ path: '/', method: 'GET' })
    peer.respond((await peer.request()).id)
    assert.equal(await (await last).body.text(), 'ok')
    assert.equal(server.count, 1)
  })
})

refused(
  'parser lesson: a control byte is found wherever it stands in a long value',
  [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129].flatMap((at) =>
    ['\0', '\r', '\n', '\x1f', '\x7f'].map(
      (byte) =>
        [
          `${at}`,
          `${HEAD}x: ${'a'.repeat(at)}${byte}${'a'.repeat(140 - at)}\r\ncontent-length: 2\r\n\r\nok`,
        ] as const,
    ),
  ),
)

refused('what is no HTTP/1.1 response', [
  ['HTTP/0.9', 'ok'],
  ['HTTP/0.9 by name', 'HTTP/0.9 200 OK\r\n\r\nok'],
  ['HTTP/2.0 by name', 'HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
  ['no status', 'HTTP/1.1 OK\r\n\r\n'],
  ['two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
])
