/** An HTTP/1.1 server that sends endlessly is cut off at a known limit. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { type ClientOptions, errors, fetch } from '../../src/index.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { OK, startPair } from '../support/scripted-client.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`

interface Flood {
  readonly what: string
  readonly opening: string
  /** Sent again and again. */
  readonly wave: string
  /** Maximum number of bytes before the client must have closed. */
  readonly within: number
  readonly error: abstract new (...args: never[]) => Error
}

/** Sends the wave until the client closes. Fails if that takes too many bytes. */
async function flood(
  t: TestContext,
  { opening, wave, within, error }: Flood,
  options: ClientOptions = {},
): Promise<void> {
  const { client, server } = await startPair(t, options)
  const asked = client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
  const failed = assert.rejects(asked, error)
  const connection = await server.accept()
  await connection.head()
  connection.send(opening)
  let sent = 0
  const pour = (): void => {
    while (connection.socket.writable && sent < within) {
      sent += wave.length
      if (!connection.socket.write(wave, 'latin1')) {
        connection.socket.once('drain', pour)
        return
      }
    }
  }
  pour()
  await failed
  await connection.closed()

  const honest = client.request({ path: '/', method: 'GET' })
  const other = await server.accept()
  await other.head()
  other.send(OK)
  assert.equal(await (await honest).body.text(), 'ok')
}

const MEGABYTE = 2 ** 20
const { HeadersOverflowError, HTTPParserError, SocketError } = errors

describe('curl CVE-2023-38039: heads without end', () => {
  const floods: readonly Flood[] = [
    {
      what: 'large fields',
      opening: HEAD,
      wave: `x: ${'a'.repeat(1000)}\r\n`,
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'small fields',
      opening: HEAD,
      wave: 'x: y\r\n'.repeat(100),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'empty fields',
      opening: HEAD,
      wave: 'x:\r\n'.repeat(100),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'a value without end',
      opening: `${HEAD}x: `,
      wave: 'a'.repeat(1000),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'a name without end',
      opening: HEAD,
      wave: 'a'.repeat(1000),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'white space without end',
      opening: `${HEAD}x:`,
      wave: ' '.repeat(1000),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    {
      what: 'a reason without end',
      opening: 'HTTP/1.1 200 ',
      wave: 'a'.repeat(1000),
      within: MEGABYTE,
      error: HeadersOverflowError,
    },
    { what: 'empty lines', opening: '', wave: '\r\n'.repeat(100), within: MEGABYTE, error: HTTPParserError },
  ]
  for (const one of floods) test(one.what, (t) => flood(t, one))

  test('maxHeaderSize is the limit for the bytes of fields', async (t) => {
    await flood(
      t,
      {
        what: '',
        opening: HEAD,
        wave: `x: ${'a'.repeat(100)}\r\n`,
        within: MEGABYTE,
        error: HeadersOverflowError,
      },
      { maxHeaderSize: 1000 },
    )
  })
})

describe('1xx flood, endless trailers', () => {
  test('interim heads', (t) =>
    flood(t, {
      what: '',
      opening: '',
      wave: 'HTTP/1.1 102 Processing\r\n\r\n',
      within: MEGABYTE,
      error: SocketError,
    }))
  test('interim heads with fields', (t) =>
    flood(t, {
      what: '',
      opening: '',
      wave: `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(8000)}\r\n\r\n`,
      within: 4 * MEGABYTE,
      error: SocketError,
    }))
  test('trailers', (t) =>
    flood(t, {
      what: '',
      opening: `${CHUNKED}0\r\n`,
      wave: `x: ${'a'.repeat(1000)}\r\n`,
      within: MEGABYTE,
      error: HeadersOverflowError,
    }))
  test('small trailers', (t) =>
    flood(t, {
      what: '',
      opening: `${CHUNKED}0\r\n`,
      wave: 'x:\r\n'.repeat(100),
      within: MEGABYTE,
      error: HeadersOverflowError,
    }))
  test('chunk extensions', (t) =>
    flood(t, {
      what: '',
      opening: `${CHUNKED}2;`,
      wave: 'a'.repeat(1000),
      within: MEGABYTE,
      error: HTTPParserError,
    }))
  test('zeros of a chunk size', (t) =>
    flood(t, {
      what: '',
      opening: CHUNKED,
      wave: '0'.repeat(1000),
      within: MEGABYTE,
      error: HTTPParserError,
    }))
})

describe('axios GHSA-5c9x, maxContentLength: maxResponseSize holds on every path', () => {
  const BODIES: readonly (readonly [string, string])[] = [
    ['counted', `${HEAD}content-length: 1001\r\n\r\n${'a'.repeat(1001)}`],
    ['chunked', `${CHUNKED}${'64\r\n'.concat('a'.repeat(100), '\r\n').repeat(11)}0\r\n\r\n`],
    ['until the end of the connection', `${HEAD}connection: close\r\n\r\n${'a'.repeat(1001)}`],
  ]
  for (const [what, answer] of BODIES) {
    test(`h1, ${what}`, async (t) => {
      const { client, server } = await startPair(t, { maxResponseSize: 1000 })
      const options = { path: '/', method: 'GET' } as const
      const ways: readonly (() => Promise<unknown>)[] = [
        async () => (await client.request(options)).body.text(),
        () => client.stream(options, () => new Writable({ write: (_chunk, _encoding, done) => done() })),
        () =>
          once(
            client
              .pipeline(options, ({ body }) => body)
              .end()
              .resume(),
            'end',
          ),
        async () => (await fetch(server.url, { dispatcher: client })).text(),
      ]
      for (const way of ways) {
        const failed = assert.rejects(way(), (error: Error) =>
          [error, error.cause].some((one) => one instanceof errors.ResponseExceededMaxSizeError),
        )
        const connection = await server.accept()
        await connection.head()
        connection.send(answer)
        await failed
      }
    })
  }

  test('h2', async (t) => {
    const { client, server } = await startH2Pair(t, { maxResponseSize: 1000 })
    const asked = client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    const failed = assert.rejects(asked, errors.ResponseExceededMaxSizeError)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.head(id, 200).data(id, Buffer.alloc(1001), true)
    await failed
  })
})
