/** request, stream, pipeline, connect and upgrade as functions. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { Agent } from '../../src/dispatcher/agent.ts'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { connect, pipeline, request, stream, type UrlInput, upgrade } from '../../src/global/global-api.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { contentOf, echo, readEcho } from '../support/exchange.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'

overEachWire('functions', (wire) => {
  test('request, stream and pipeline, with a promise and with a callback', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = new Agent(wireOptions(wire))
    t.after(() => dispatcher.destroy())
    const url = `${origin.url}/a?b=c`
    const got = await readEcho(await request(url, { dispatcher, headers: { 'x-a': '1' } }))
    assert.deepEqual([got.method, got.url, got.headers['x-a']], ['GET', '/a?b=c', '1'])
    const put = await readEcho(await request(new URL(url), { dispatcher, body: 'x' }))
    assert.deepEqual([put.method, put.body], ['PUT', 'x'])
    const called = await new Promise<string>((resolve, reject) => {
      request(url, { dispatcher, method: 'POST' }, (error, data) => {
        if (error) reject(error)
        else data.body.text().then(resolve, reject)
      })
    })
    assert.match(called, /"method":"POST"/)

    const sink = new PassThrough()
    await stream(url, { dispatcher, opaque: sink }, ({ opaque }) => opaque)
    assert.match(String(await contentOf(sink)), /"url":"\/a\?b=c"/)
    const second = new PassThrough()
    await new Promise<void>((resolve, reject) => {
      stream(
        url,
        { dispatcher },
        () => second,
        (error) => (error ? reject(error) : resolve()),
      )
    })
    const duplex = pipeline(url, { dispatcher, method: 'POST' }, ({ body }) => body)
    duplex.end('piped')
    assert.match(String(await contentOf(duplex)), /"body":"piped"/)
  })
})

test('connect and upgrade', async (t) => {
  const server = net.createServer((socket) => {
    socket.once('data', (bytes) => {
      const [line] = String(bytes).split('\r\n')
      socket.write(
        line!.startsWith('CONNECT')
          ? 'HTTP/1.1 200 OK\r\n\r\n'
          : 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n',
      )
      socket.end(line!)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
  const dispatcher = new Agent()
  t.after(() => dispatcher.destroy())
  const tunnel = await connect(url, { dispatcher, path: 'target.test:443' })
  assert.equal(String(await contentOf(tunnel.socket)), 'CONNECT target.test:443 HTTP/1.1')
  const upgraded = await upgrade(`${url}/up`, { dispatcher, protocol: 'echo' })
  assert.equal(String(await contentOf(upgraded.socket)), 'GET /up HTTP/1.1')
})

class Recorder extends Dispatcher {
  seen: (DispatchOptions & { dispatcher?: unknown }) | null = null
  override dispatch(options: DispatchOptions): boolean {
    this.seen = options
    return true
  }
}

function sent(url: UrlInput, opts: object = {}): { origin: unknown; path: string; method: string } {
  const dispatcher = new Recorder()
  void request(url, { ...opts, dispatcher })
  const { origin, path, method } = dispatcher.seen!
  assert.equal(dispatcher.seen!.dispatcher, undefined)
  return { origin, path, method }
}

/** The parts of a caller's class are joined and parsed once more. */
class OtherUrl extends URL {
  static {
    Object.defineProperties(OtherUrl.prototype, { hostname: { value: 'B.test' }, port: { value: '81' } })
  }
}

describe('where it goes', () => {
  const GET = { method: 'GET' }
  const cases: [UrlInput, object | undefined, object][] = [
    ['http://a.test', undefined, { origin: 'http://a.test', path: '/', ...GET }],
    ['http://a.test:80/x?y#z', undefined, { origin: 'http://a.test', path: '/x?y', ...GET }],
    [new URL('https://[::1]:8443/x'), undefined, { origin: 'https://[::1]:8443', path: '/x', ...GET }],
    ['https://me:secret@a.test/x', undefined, { origin: 'https://a.test', path: '/x', ...GET }],
    [new OtherUrl('http://a.test/x'), undefined, { origin: 'http://b.test:81', path: '/x', ...GET }],
    ['http://a.test', { path: '/x?y' }, { origin: 'http://a.test', path: '/x?y', ...GET }],
    ['http://a.test', { path: 'x' }, { origin: 'http://a.test', path: '/x', ...GET }],
    // A path that looks like another origin is a path of this one (CVE-2022-35949).
    ['http://a.test', { path: '//b.test/' }, { origin: 'http://a.test', path: '//b.test/', ...GET }],
    [
      'http://a.test',
      { path: 'http://b.test/' },
      { origin: 'http://a.test', path: '/http://b.test/', ...GET },
    ],
    ['http://a.test', { method: 'DELETE' }, { origin: 'http://a.test', path: '/', method: 'DELETE' }],
    ['http://a.test', { body: 'x' }, { origin: 'http://a.test', path: '/', method: 'PUT' }],
    [{ origin: 'http://a.test', path: '/x' }, {}, { origin: 'http://a.test', path: '/x', ...GET }],
    [
      { protocol: 'http:', hostname: 'a.test', port: 81, pathname: '/x', search: '?y' },
      {},
      { origin: 'http://a.test:81', path: '/x?y', ...GET },
    ],
    [{ protocol: 'https:', hostname: 'a.test' }, {}, { origin: 'https://a.test', path: '/', ...GET }],
  ]
  for (const [url, opts, expected] of cases) {
    test(`${JSON.stringify(url)} ${JSON.stringify(opts) ?? ''}`, () =>
      assert.deepEqual(sent(url, opts), expected))
  }

  test('an object serves as the options, too', () => {
    const dispatcher = new Recorder()
    void request({ origin: 'http://a.test', path: '/x', method: 'POST', dispatcher } as UrlInput)
    const { origin, path, method } = dispatcher.seen!
    assert.deepEqual([origin, path, method], ['http://a.test', '/x', 'POST'])
  })

  test('anything with a dispatch method will do', async () => {
    const seen: unknown[] = []
    const dispatcher = { dispatch: (opts: DispatchOptions) => seen.push(opts.path) } as unknown as Dispatcher
    void request('http://a.test/x', { dispatcher })
    assert.deepEqual(seen, ['/x'])
  })

  test('a polluted prototype chooses nothing', (t) => {
    Object.assign(Object.prototype, { search: '?polluted' })
    t.after(() => Reflect.deleteProperty(Object.prototype, 'search'))
    assert.equal(sent({ protocol: 'http:', hostname: 'a.test' }).path, '/')
  })
})

describe('what is thrown at once', () => {
  const cases: [unknown, unknown, string][] = [
    [undefined, undefined, 'invalid url'],
    ['', undefined, 'invalid url'],
    [5, undefined, 'invalid url'],
    ['http://a.test', 'opts', 'invalid opts'],
    ['http://a.test', { path: 5 }, 'invalid opts.path'],
    ['http://a.test/x', { path: '/y' }, 'invalid url'],
    ['http://a.test', { agent: {} }, 'unsupported opts.agent. Did you mean opts.client?'],
    ['ftp://a.test', undefined, 'Invalid URL protocol: the URL must start with `http:` or `https:`.'],
    [
      { origin: 'http://a.test', path: 5 },
      undefined,
      'Invalid URL path: the path must be a string or null/undefined.',
    ],
    [
      { origin: 'http://a.test', pathname: 5 },
      undefined,
      'Invalid URL pathname: the pathname must be a string or null/undefined.',
    ],
  ]
  for (const [url, opts, message] of cases) {
    test(`${JSON.stringify(url)} ${JSON.stringify(opts) ?? ''}`, () => {
      for (const call of [request, stream, pipeline, connect, upgrade] as ((
        ...args: unknown[]
      ) => unknown)[]) {
        assert.throws(() => call(url, opts), { code: 'UND_ERR_INVALID_ARG', message })
      }
    })
  }

  test('what is no URL', () => assert.throws(() => request('nonsense'), { code: 'ERR_INVALID_URL' }))
})
