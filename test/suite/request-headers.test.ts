import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors, type HeadersInput } from '../../src/index.ts'
import { echo, failure, readEcho } from '../support/exchange.ts'
import { overEachWay, startOrigin, type Way } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

class OwnHeaders {
  *[Symbol.iterator](): Generator<readonly [string, string]> {
    yield ['x-a', '1']
    yield ['x-b', '2']
  }
}

function* pairs(): Generator<readonly [string, string]> {
  yield ['x-a', '1']
  yield ['x-b', '2']
}

const SHAPES: [name: string, make: () => HeadersInput][] = [
  ['object', () => ({ 'x-a': '1', 'x-b': '2' })],
  ['object without prototype', () => Object.assign(Object.create(null), { 'x-a': '1', 'x-b': '2' })],
  ['flat array', () => ['x-a', '1', 'x-b', '2']],
  [
    'array of pairs',
    () =>
      [
        ['x-a', '1'],
        ['x-b', '2'],
      ] as unknown as HeadersInput,
  ],
  ['Headers', () => new Headers({ 'x-a': '1', 'x-b': '2' }) as unknown as HeadersInput],
  [
    'Map',
    () =>
      new Map([
        ['x-a', '1'],
        ['x-b', '2'],
      ]),
  ],
  ['generator', pairs],
  ['object with an iterator of its own', () => ({ [Symbol.iterator]: pairs })],
  ['object whose class has an iterator', () => new OwnHeaders()],
]

const REFUSED: [headers: unknown, message: string][] = [
  ['x', 'headers must be an object or an array'],
  [1, 'headers must be an object or an array'],
  [true, 'headers must be an object or an array'],
  [() => {}, 'headers must be an object or an array'],
  [['a'], 'headers array must be even'],
  [['a', 'b', 'c'], 'headers array must be even'],
  [[['a', 'b'], 'c'], 'invalid header key'],
  [[['a', 'b', 'c']], 'headers array must be even'],
  [new Set([['a', 'b', 'c']]), 'headers must be in key-value pair format'],
  [new Set([['a']]), 'headers must be in key-value pair format'],
  [new Set(['ab']), 'headers must be in key-value pair format'],
  [{ '': 'x' }, 'invalid header key'],
  [{ 'a b': 'x' }, 'invalid header key'],
  [{ 'a:': 'x' }, 'invalid header key'],
  [{ 'a\r\nb': 'x' }, 'invalid header key'],
  [{ é: 'x' }, 'invalid header key'],
  [[1, 'x'], 'invalid header key'],
  [{ ':other': 'x' }, 'invalid header key'],
  [{ ':protocol': 'x' }, 'invalid header key'],
  [{ ':status': '200' }, 'invalid header key'],
  [{ 'X-A': 'a\r\nb: c' }, 'invalid X-A header'],
  [{ 'x-a': 'a\u0000' }, 'invalid x-a header'],
  [{ 'x-a': '\u0100' }, 'invalid x-a header'],
  [{ 'x-a': '\u007f' }, 'invalid x-a header'],
  [{ 'x-a': ['ok', 'a\nb'] }, 'invalid x-a header'],
  [{ 'x-a': [{}] }, 'invalid x-a header'],
  [{ 'x-a': {} }, 'invalid x-a header'],
  [{ 'x-a': new Date(0) }, 'invalid x-a header'],
  [{ 'X-a': new Headers() }, 'invalid X-a header'],
  // Coerced first, then validated.
  [{ 'x-a': Object.assign(() => {}, { toString: () => 'a\nb' }) }, 'invalid x-a header'],
  [['host', 'a', 'Host', 'b'], 'duplicate host header'],
  [{ host: ['a'] }, 'invalid host header'],
  [{ host: 'a\r\n' }, 'invalid host header'],
  [{ 'content-length': '-1' }, 'invalid content-length header'],
  [{ 'content-length': '1.1' }, 'invalid content-length header'],
  [{ 'Content-Length': '10abc' }, 'invalid content-length header'],
  [{ 'content-length': '' }, 'invalid content-length header'],
  [{ 'content-length': ' 1' }, 'invalid content-length header'],
  [{ 'content-length': ['1'] }, 'invalid content-length header'],
  [{ 'content-length': '99999999999999999999' }, 'invalid content-length header'],
  [['content-length', '1', 'Content-Length', '1'], 'duplicate content-length header'],
  [{ 'Transfer-Encoding': 'chunked' }, 'invalid transfer-encoding header'],
  [{ 'Keep-Alive': 'timeout=5' }, 'invalid keep-alive header'],
  [{ UPGRADE: 'x' }, 'invalid upgrade header'],
  [{ connection: ['close'] }, 'invalid connection header'],
  [{ connection: '' }, 'invalid connection header'],
  [{ connection: 'a,,b' }, 'invalid connection header'],
  [{ connection: 'a b' }, 'invalid connection header'],
]

overEachWay('request headers', (way) => {
  for (const [name, make] of SHAPES) {
    test(`${name} is an accepted shape`, async (t) => {
      const client = (await startOrigin(t, way, echo)).dispatcher()
      const { headers } = await readEcho(await client.request({ ...GET, headers: make() }))
      assert.equal(headers['x-a'], '1')
      assert.equal(headers['x-b'], '2')
    })
  }

  test('each illegal one is named', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    for (const [headers, message] of REFUSED) {
      const error = await failure(client.request({ ...GET, headers: headers as HeadersInput }))
      assert.ok(error instanceof errors.InvalidArgumentError, `${message}: ${error}`)
      assert.equal(error.message, message)
    }
    for (const value of ['100-continue', 'x', '']) {
      const error = await failure(client.request({ ...GET, headers: { Expect: value } }))
      assert.ok(error instanceof errors.NotSupportedError, String(error))
      assert.equal(error.message, 'expect header not supported')
    }
    await assert.rejects(client.request({ ...GET, headers: { 'x-a': Symbol('a') } as never }), TypeError)
    assert.equal(origin.sockets.length, 0)
  })

  test('values are coerced; undefined skips the header', async (t) => {
    const received = await sent(t, way, {
      'x-number': 1.5,
      'x-bigint': 10n,
      'x-boolean': false,
      'x-null': null,
      'x-undefined': undefined,
      'x-tab': 'a\tb',
      'x-zero': 0,
    })
    assert.equal(received['x-number'], '1.5')
    assert.equal(received['x-bigint'], '10')
    assert.equal(received['x-boolean'], 'false')
    assert.equal(received['x-null'], '')
    assert.equal('x-undefined' in received, false)
    assert.equal(received['x-tab'], 'a\tb')
    assert.equal(received['x-zero'], '0')
  })

  test('an array is sent as one header for each element, in order', async (t) => {
    const received = await sent(t, way, { 'x-a': ['1', 2, null, true] })
    assert.equal(received['x-a'], '1, 2, , true')
    // Names that differ only in case are separate headers.
    assert.equal((await sent(t, way, ['X-A', '1', 'x-a', '2']))['x-a'], '1, 2')
  })

  test('an iterator that was put on Object.prototype is no iterator of the headers', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const prototype = Object.prototype as unknown as Record<PropertyKey, unknown>
    let request: Promise<{ body: { json(): Promise<unknown> } }>
    Object.defineProperty(prototype, Symbol.iterator, { value: pairs, configurable: true })
    try {
      request = client.request({ ...GET, headers: { 'x-c': '3' } })
    } finally {
      delete prototype[Symbol.iterator]
    }
    const { headers } = await readEcho(await request)
    assert.equal(headers['x-c'], '3')
    assert.equal(headers['x-a'], undefined)
  })

  test('changing the object after the call changes nothing', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const headers: Record<string, string> = { 'x-a': '1' }
    const list = ['x-b', '1']
    const first = client.request({ ...GET, headers })
    const second = client.request({ ...GET, headers: list })
    headers['x-a'] = '2'
    headers['x-c'] = '3'
    list[1] = '2'
    const received = (await readEcho(await first)).headers
    assert.equal(received['x-a'], '1')
    assert.equal(received['x-c'], undefined)
    assert.equal((await readEcho(await second)).headers['x-b'], '1')
  })

  test('pseudo headers of the caller are discarded', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const pseudo = { ':path': '/other', ':METHOD': 'DELETE', ':scheme': 'ftp', ':authority': 'b.test' }
    for (const headers of [{ ...pseudo, 'x-a': '1' }, [...Object.entries(pseudo).flat(), 'x-a', '1']]) {
      const received = await readEcho(await origin.dispatcher().request({ ...GET, headers }))
      assert.deepEqual([received.method, received.url, received.headers['x-a']], ['GET', '/', '1'])
      const host = received.headers[way.multiplexes ? ':authority' : 'host']
      assert.equal(host, `localhost:${origin.port}`)
      const expected = way.multiplexes ? 4 : 0
      assert.equal(Object.keys(received.headers).filter((name) => name.startsWith(':')).length, expected)
    }
  })

  test('host replaces the default one', async (t) => {
    const origin = await startOrigin(t, way, echo)
    const client = origin.dispatcher()
    const hostOf = async (headers: HeadersInput | null) => {
      const received = (await readEcho(await client.request({ ...GET, headers }))).headers
      return received[way.multiplexes ? ':authority' : 'host']
    }
    assert.equal(await hostOf(null), `localhost:${origin.port}`)
    assert.equal(await hostOf({ host: undefined }), `localhost:${origin.port}`)
    assert.equal(await hostOf({ Host: 'a.example.test' }), 'a.example.test')
  })

  test('connection never reaches the server as given', async (t) => {
    const received = await sent(t, way, { connection: 'x-custom, keep-alive' })
    assert.equal(received['connection'], way.multiplexes ? undefined : 'keep-alive')
  })

  if (!way.multiplexes) {
    test('connection: close ends the connection after the response', async (t) => {
      const origin = await startOrigin(t, way, echo)
      const client = origin.dispatcher()
      const disconnected = new Promise<Error>((resolve) =>
        client.once('disconnect', (_origin, _targets, error: Error) => resolve(error)),
      )
      const { headers } = await readEcho(
        await client.request({ ...GET, headers: { Connection: 'x, Close' } }),
      )
      assert.equal(headers['connection'], 'close')
      await disconnected
      await readEcho(await client.request(GET))
      assert.equal(origin.sockets.length, 2)
    })
  }

  test('content-length may be a number', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const options = { path: '/', method: 'POST', headers: { 'content-length': 3 }, body: 'abc' }
    const received = await readEcho(await client.request(options))
    assert.equal(received.headers['content-length'], '3')
  })

  test('Latin-1 values arrive byte for byte', async (t) => {
    assert.equal((await sent(t, way, { 'x-a': 'gr\u00fcn \u0080\u00ff' }))['x-a'], 'gr\u00fcn \u0080\u00ff')
  })
})

async function sent(
  t: Parameters<typeof startOrigin>[0],
  way: Way,
  headers: HeadersInput,
): Promise<Record<string, string | string[] | undefined>> {
  const client = (await startOrigin(t, way, echo)).dispatcher()
  return (await readEcho(await client.request({ ...GET, headers }))).headers
}
