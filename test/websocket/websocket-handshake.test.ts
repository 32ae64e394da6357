import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { Agent } from '../../src/dispatcher/agent.ts'
import { getGlobalDispatcher, setGlobalDispatcher } from '../../src/global/global-dispatcher.ts'
import {
  Client,
  type Dispatcher,
  type DispatchHandler,
  type DispatchOptions,
  setGlobalOrigin,
  WebSocketStream,
} from '../../src/index.ts'
import { WebSocket, type WebSocketInit } from '../../src/websocket/websocket.ts'
import { deferred } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { closed, opened, record, startRawServer } from './raw-server.ts'

describe('the request', () => {
  it('has the fields of a handshake', async (t) => {
    const raw = await startRawServer(t)
    await opened(raw.open({ headers: { 'User-Agent': 'mine', Cookie: 'a=b' } }, '/chat?x=1'))
    const [request] = raw.requests
    assert.deepEqual([request!.method, request!.url], ['GET', '/chat?x=1'])
    const { 'sec-websocket-key': key, host, ...headers } = request!.headers
    assert.equal(Buffer.from(key!, 'base64').length, 16)
    assert.equal(host, `127.0.0.1:${raw.port}`)
    assert.deepEqual(headers, {
      connection: 'upgrade',
      upgrade: 'websocket',
      'user-agent': 'mine',
      cookie: 'a=b',
      'sec-websocket-version': '13',
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      accept: '*/*',
      'accept-language': '*',
      'sec-fetch-mode': 'websocket',
      pragma: 'no-cache',
      'cache-control': 'no-cache',
      'accept-encoding': 'gzip, deflate',
    })
  })

  it('is dispatched as an upgrade, with nothing else asked of the dispatcher', async () => {
    const calls: (DispatchOptions & Record<string, unknown>)[] = []
    const dispatcher = {
      dispatch: (options: DispatchOptions) => calls.push(options as (typeof calls)[0]),
    } as unknown as Dispatcher
    for (const url of ['ws://a.test:81/chat?x=1', 'wss://user:secret@a.test']) {
      new WebSocket(url, { dispatcher, headers: { 'X-Own': '1' } })
    }
    await turns(1)
    const asked = calls.map(({ headers: _, ...options }) => options)
    const always = { method: 'GET', body: null, upgrade: 'websocket', maxRedirections: 0 }
    assert.deepEqual(asked, [
      { origin: 'http://a.test:81', path: '/chat?x=1', ...always },
      { origin: 'https://a.test', path: '/', ...always },
    ])
    const fields = calls.map(({ headers }) => headers as Record<string, string>)
    const keys = fields.map((headers) => headers['sec-websocket-key'])
    const names =
      'X-Own sec-websocket-key sec-websocket-version sec-websocket-extensions accept accept-language'
    const rest = 'user-agent pragma cache-control accept-encoding'
    assert.deepEqual(
      fields.map((headers) => Object.keys(headers).join(' ')),
      [`${names} ${rest}`, `${names} sec-fetch-mode ${rest}`],
    )
    assert.deepEqual(fields[1], {
      'X-Own': '1',
      'sec-websocket-key': keys[1],
      'sec-websocket-version': '13',
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
      accept: '*/*',
      'accept-language': '*',
      'sec-fetch-mode': 'websocket',
      'user-agent': 'ventuno',
      pragma: 'no-cache',
      'cache-control': 'no-cache',
      'accept-encoding': 'br, gzip, deflate, zstd',
    })
    assert.equal(fields[0]!['accept-encoding'], 'gzip, deflate')
  })

  it('reaches a dispatcher with headers as a plain object, under the names of the caller', async () => {
    const fieldsOf = async (
      url: string,
      headers: WebSocketInit['headers'],
    ): Promise<Record<string, string>> => {
      const given = deferred<Record<string, string>>()
      const dispatcher = {
        dispatch: (options: DispatchOptions) => given.resolve(options.headers as Record<string, string>),
      } as unknown as Dispatcher
      new WebSocket(url, { dispatcher, headers })
      return given.promise
    }
    const pairs = await fieldsOf('ws://a.test', [
      ['X-A', '1'],
      ['x-a', '2'],
      ['Cookie', 'a=1'],
      ['cookie', 'b=2'],
      ['Host', 'other.test'],
      ['__proto__', 'x'],
    ])
    assert.equal(Object.getPrototypeOf(pairs), Object.prototype)
    const [first, second, third] = Object.entries(pairs)
    assert.deepEqual(
      [first, second, third],
      [
        ['X-A', '1, 2'],
        ['Cookie', 'a=1; b=2'],
        ['__proto__', 'x'],
      ],
    )
    assert.equal('Host' in pairs, false)
    const own = await fieldsOf('ws://a.test', { Accept: 'x', Pragma: 'y', Range: 'bytes=0-' })
    assert.deepEqual([own.Accept, own.accept, own.Pragma, own.pragma], ['x', undefined, 'y', undefined])
    assert.equal(own['accept-encoding'], 'identity')
  })

  it('has sec-fetch-mode where nobody else can listen', async () => {
    const modes: unknown[] = []
    const paths: string[] = []
    const dispatcher = {
      dispatch({ headers, path }: DispatchOptions) {
        modes.push((headers as Record<string, string>)['sec-fetch-mode'])
        paths.push(path)
      },
    } as unknown as Dispatcher
    const hosts = [
      'localhost',
      'a.localhost',
      'localhost.',
      '127.9.9.9',
      '[::1]',
      'a.test',
      '128.0.0.1',
      'xlocalhost',
    ]
    for (const host of hosts) new WebSocket(`ws://${host}/?`, { dispatcher })
    new WebSocket('wss://a.test/?', { dispatcher })
    await turns(1)
    const trusted = 'websocket'
    const none = undefined
    assert.deepEqual(modes, [trusted, trusted, trusted, trusted, trusted, none, none, none, trusted])
    assert.deepEqual(new Set(paths), new Set(['/?']))
  })

  it('has another key each time, and no fields of the handshake from the caller', async (t) => {
    const raw = await startRawServer(t)
    const headers = {
      'Sec-WebSocket-Key': 'mine',
      'sec-websocket-version': '8',
      'Sec-WebSocket-Extensions': 'x',
    }
    await opened(raw.open({ headers }))
    await opened(raw.open({ headers }))
    const [first, second] = raw.requests.map((request) => request.headers)
    assert.notEqual(first!['sec-websocket-key'], second!['sec-websocket-key'])
    assert.notEqual(first!['sec-websocket-key'], 'mine')
    assert.equal(first!['sec-websocket-version'], '13')
  })

  it('a subprotocol may also be asked for by a header', async (t) => {
    const raw = await startRawServer(t, { headers: { 'sec-websocket-protocol': 'b' } })
    const socket = raw.open({ headers: { 'Sec-WebSocket-Protocol': 'a, b' } })
    await opened(socket)
    assert.equal(socket.protocol, 'b')
    await opened(raw.open({ protocols: 'b', headers: { 'Sec-WebSocket-Protocol': 'x' } }))
    assert.equal(raw.requests[1]!.headers['sec-websocket-protocol'], 'b')
  })

  it('goes through the global dispatcher when none is given', async (t) => {
    const raw = await startRawServer(t)
    const before = getGlobalDispatcher()
    const agent = new Agent()
    setGlobalDispatcher(agent)
    t.after(() => {
      setGlobalDispatcher(before)
      return agent.destroy()
    })
    const socket = new WebSocket(`ws://127.0.0.1:${raw.port}`)
    await opened(socket)
    const close = closed(socket)
    socket.close()
    const peer = await raw.accept()
    await peer.closeFrame()
    peer.socket.destroy()
    await close
  })
})

describe('an answer that is refused', () => {
  const rows: [string, Record<string, string | null>, RegExp][] = [
    ['no upgrade field', { upgrade: null }, /./],
    ['another upgrade', { upgrade: 'h2c' }, /Upgrade/],
    ['another connection', { connection: 'upgrades' }, /./],
    ['no accept', { 'sec-websocket-accept': null }, /Sec-WebSocket-Accept/],
    ['a wrong accept', { 'sec-websocket-accept': 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }, /Sec-WebSocket-Accept/],
    ['a subprotocol nobody asked for', { 'sec-websocket-protocol': 'chat' }, /Protocol/],
    ['an extension nobody offered', { 'sec-websocket-extensions': 'x-other' }, /extension/],
    ['an unknown parameter', { 'sec-websocket-extensions': 'permessage-deflate; x' }, /permessage-deflate/],
  ]
  for (const [name, headers, message] of rows) {
    it(name, async (t) => {
      const raw = await startRawServer(t, { headers })
      const socket = raw.open()
      const events = record(socket)
      const states: number[] = []
      let error: unknown
      socket.addEventListener('error', (event) => {
        states.push(socket.readyState)
        error = event.error
      })
      const close = closed(socket)
      await close
      assert.deepEqual(states, [3])
      assert.ok(error instanceof TypeError)
      assert.match(error.message + String(error.cause), message)
      assert.equal(events.length, 2)
      assert.match(events[0]!, /^error TypeError/)
      assert.equal(events[1], 'close 1006  unclean')
    })
  }

  it('no subprotocol where one was asked for', async (t) => {
    const raw = await startRawServer(t)
    const events = record(raw.open({ protocols: 'chat' }))
    await eventually(() => events.length === 2)
    assert.match(events[0]!, /^error TypeError Protocol/)
  })

  for (const [status, more] of [
    [200, 'content-length: 3\r\n\r\nabc'],
    [302, 'location: /\r\ncontent-length: 0\r\n\r\n'],
    [401, 'content-length: 0\r\n\r\n'],
    [500, 'transfer-encoding: chunked\r\n\r\n'],
  ] as const) {
    it(`status ${status}`, async (t) => {
      const raw = await startRawServer(t, { answer: () => `HTTP/1.1 ${status} x\r\n${more}` })
      const socket = raw.open()
      const events = record(socket)
      await closed(socket)
      assert.deepEqual(events, [
        `error TypeError Received network error or non-101 status code (${status}).`,
        'close 1006  unclean',
      ])
      assert.equal(raw.requests.length, 1)
    })
  }

  it('informational answers do not decide', async (t) => {
    const raw = await startRawServer(t, {
      answer: (_, accept) =>
        'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n' +
        `HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    })
    await opened(raw.open())
  })

  it('no server at all', async (t) => {
    const port = await refusingPort(t)
    const client = new Client(`http://127.0.0.1:${port}`)
    t.after(() => client.destroy())
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { dispatcher: client })
    const error = new Promise<Error>((resolve) => {
      socket.onerror = (event) => resolve(event.error as Error)
    })
    await closed(socket)
    assert.equal(((await error).cause as { code?: string }).code, 'ECONNREFUSED')
  })

  it('a dispatcher that is closed, or that throws', async (t) => {
    const raw = await startRawServer(t)
    const client = new Client(`http://127.0.0.1:${raw.port}`)
    await client.close()
    const reason = new Error('no')
    const throwing = {
      dispatch: () => {
        throw reason
      },
    } as unknown as Dispatcher
    for (const dispatcher of [client, throwing]) {
      const socket = raw.open({ dispatcher })
      const events = record(socket)
      assert.equal(socket.readyState, 0)
      const error = new Promise<Error>((resolve) => {
        socket.onerror = (event) => resolve(event.error as Error)
      })
      await closed(socket)
      assert.equal(events.length, 2)
      const { cause } = await error
      assert.ok(cause === reason || (cause as { code?: string }).code === 'UND_ERR_DESTROYED')
    }
  })
})

describe('credentials in the URL', () => {
  it('are sent once, after a 401', async (t) => {
    const seen: (string | undefined)[] = []
    const server = http.createServer()
    server.on('upgrade', (request, socket) => {
      assert.equal(request.url, '/path')
      seen.push(request.headers.authorization)
      socket.end('HTTP/1.1 401 x\r\ncontent-length: 0\r\nwww-authenticate: Basic\r\n\r\n')
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const client = new Client(`http://127.0.0.1:${port}`)
    t.after(async () => {
      await client.destroy()
      server.close()
    })
    const socket = new WebSocket(`ws://us%20er:p%C3%A4ss%zz@127.0.0.1:${port}/path`, { dispatcher: client })
    await closed(socket)
    assert.deepEqual(seen, [undefined, `Basic ${Buffer.from('us er:p\u00e4ss%zz').toString('base64')}`])
  })

  it('open the connection when they are right; the caller\u2019s own header comes before them', async (t) => {
    const raw = await startRawServer(t, {
      answer: ({ headers }, accept) =>
        headers.authorization === 'Basic dTpw'
          ? `HTTP/1.1 101 x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`
          : 'HTTP/1.1 401 x\r\ncontent-length: 0\r\n\r\n',
    })
    const url = `ws://u:p@127.0.0.1:${raw.port}/`
    await opened(new WebSocket(url, { dispatcher: raw.client }))
    assert.equal(raw.requests.length, 2)
    const own = new WebSocket(url, { dispatcher: raw.client, headers: { Authorization: 'Bearer x' } })
    await closed(own)
    assert.equal(raw.requests.length, 3)
  })
})

describe('the global origin', () => {
  async function withOrigin(t: TestContext, path: string) {
    const raw = await startRawServer(t)
    t.after(() => setGlobalOrigin(undefined))
    setGlobalOrigin(`http://127.0.0.1:${raw.port}${path}`)
    return { raw, origin: `http://127.0.0.1:${raw.port}` }
  }

  it('is the base of relative URLs', async (t) => {
    const { raw } = await withOrigin(t, '/base/page?query')
    for (const [url, path] of [
      ['feed?x', '/base/feed?x'],
      ['/feed', '/feed'],
      ['', '/base/page?query'],
    ] as const) {
      const socket = new WebSocket(url, { dispatcher: raw.client })
      await opened(socket)
      assert.deepEqual([socket.url, raw.requests.at(-1)!.url], [`ws://127.0.0.1:${raw.port}${path}`, path])
      const stream = new WebSocketStream(url, { dispatcher: raw.client })
      await stream.opened
      assert.deepEqual([stream.url, raw.requests.at(-1)!.url], [`ws://127.0.0.1:${raw.port}${path}`, path])
    }
    assert.throws(() => new WebSocket('feed#x', { dispatcher: raw.client }), { name: 'SyntaxError' })
  })

  it('is told to the server, unless the caller names another', async (t) => {
    const { raw, origin } = await withOrigin(t, '/page')
    await opened(raw.open())
    await new WebSocketStream('/', { dispatcher: raw.client }).opened
    await opened(raw.open({ headers: { Origin: 'http://own.test' } }))
    const origins = raw.requests.map(({ headers }) => [headers.origin, headers.referer])
    assert.deepEqual(origins, [
      [origin, undefined],
      [origin, undefined],
      ['http://own.test', undefined],
    ])
    setGlobalOrigin(undefined)
    await opened(raw.open())
    assert.equal(raw.requests.at(-1)!.headers.origin, undefined)
  })
})

describe('closing before it is open', () => {
  it('is closing until one error and one close follow, never inside close()', async (t) => {
    const raw = await startRawServer(t, { answer: () => null })
    const socket = raw.open()
    const events = record(socket)
    const states: number[] = []
    socket.addEventListener('error', () => void states.push(socket.readyState))
    socket.addEventListener('close', () => void states.push(socket.readyState))
    await eventually(() => raw.requests.length === 1)
    socket.close()
    socket.send('too late')
    socket.close()
    assert.deepEqual([events, socket.readyState], [[], 2])
    await Promise.resolve()
    assert.deepEqual([events, socket.readyState], [[], 2])
    const expected = [
      'error TypeError WebSocket is closed before the connection is established',
      'close 1006  unclean',
    ]
    await closed(socket)
    assert.deepEqual(events, expected)
    assert.deepEqual([...states, socket.readyState], [3, 3, 3])
    socket.close()
    await turns(5)
    assert.deepEqual(events, expected)
  })

  it('before anything was sent, nothing is sent', async (t) => {
    const raw = await startRawServer(t)
    const socket = raw.open()
    const events = record(socket)
    socket.close()
    await turns(5)
    assert.equal(events.length, 2)
    assert.equal(raw.requests.length, 0)
  })

  it('while the request waits in the queue', async (t) => {
    const raw = await startRawServer(t, { answer: () => null })
    raw.open()
    const socket = raw.open()
    const events = record(socket)
    await eventually(() => raw.requests.length === 1)
    socket.close()
    assert.equal(raw.client.stats.pending, 0)
    await closed(socket)
    assert.equal(events.length, 2)
  })

  it('with a dispatcher that does not tell of its queue: at the start, or at the answer', async (t) => {
    const raw = await startRawServer(t)
    const handlers: DispatchHandler[] = []
    const dispatcher = {
      dispatch: (_: DispatchOptions, handler: DispatchHandler) => handlers.push(handler),
    } as unknown as Dispatcher
    const socket = raw.open({ dispatcher })
    const events = record(socket)
    await turns(1)
    socket.close()
    let aborted = 0
    const controller = { abort: () => aborted++ } as never
    const stream = new PassThrough()
    const [handler] = handlers
    handler!.onRequestStart!(controller, null)
    assert.equal(aborted, 1)
    handler!.onRequestUpgrade!(controller, 101, {}, stream)
    assert.ok(stream.destroyed)
    handler!.onResponseStart!(controller, 200, {}, '')
    handler!.onResponseData!(controller, Buffer.alloc(1))
    handler!.onResponseEnd!(controller, {})
    handler!.onResponseError!(controller, new Error('late'))
    await closed(socket)
    assert.equal(events.length, 2)
  })
})
