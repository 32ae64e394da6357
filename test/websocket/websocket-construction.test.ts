import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CloseEvent,
  type Dispatcher,
  ErrorEvent,
  getGlobalDispatcher,
  MessageEvent,
  setGlobalDispatcher,
} from '../../src/index.ts'
import { ping, WebSocket, type WebSocketInit } from '../../src/websocket/websocket.ts'
import { closed, opened, startRawServer } from './raw-server.ts'

/** Accepts requests and ignores them. */
const silent = { dispatch: () => true } as unknown as Dispatcher
const make = (url: unknown, init: WebSocketInit = {}): WebSocket =>
  new WebSocket(url as string, { dispatcher: silent, ...init })

describe('the URL', () => {
  it('http and https stand for ws and wss', () => {
    assert.equal(make('http://example.test/a?b').url, 'ws://example.test/a?b')
    assert.equal(make('https://example.test').url, 'wss://example.test/')
    assert.equal(make(new URL('ws://example.test:81')).url, 'ws://example.test:81/')
    assert.equal(make('wss://example.test').url, 'wss://example.test/')
  })

  it('anything else is a SyntaxError', () => {
    for (const url of [
      '',
      'example.test',
      '/path',
      'ftp://x',
      'data:,x',
      'ws://x/#',
      'ws://x/#a',
      'ws://',
      undefined,
    ]) {
      assert.throws(
        () => make(url),
        (error) => error instanceof DOMException && error.name === 'SyntaxError',
        String(url),
      )
    }
  })

  it('must be there', () => {
    assert.throws(() => Reflect.construct(WebSocket, []), TypeError)
  })
})

describe('the options', () => {
  it('protocols: a string, an iterable, or in an object', async (t) => {
    const raw = await startRawServer(t, { headers: { 'sec-websocket-protocol': 'b' } })
    for (const protocols of ['b', ['a', 'b'], new Set(['b', 'c'])]) {
      const socket = raw.open({ protocols })
      await opened(socket)
      assert.equal(socket.protocol, 'b')
    }
    assert.deepEqual(
      raw.requests.map(({ headers }) => headers['sec-websocket-protocol']),
      ['b', 'a, b', 'b, c'],
    )
  })

  it('protocols as the second argument itself', async (t) => {
    const raw = await startRawServer(t, { headers: { 'sec-websocket-protocol': 'b' } })
    const before = getGlobalDispatcher()
    setGlobalDispatcher(raw.client)
    t.after(() => setGlobalDispatcher(before))
    for (const protocols of ['b', ['a', 'b'], new Set(['c', 'b'])]) {
      const socket = new WebSocket(`ws://127.0.0.1:${raw.port}`, protocols)
      await opened(socket)
      assert.equal(socket.protocol, 'b')
    }
    assert.deepEqual(
      raw.requests.map(({ headers }) => headers['sec-websocket-protocol']),
      ['b', 'a, b', 'c, b'],
    )
  })

  it('protocols that are none are a SyntaxError', () => {
    for (const protocols of ['', 'a b', ['a', 'a'], ['a', 'A'], ['\u00e9'], ['a,b'], [''], '{}']) {
      assert.throws(() => make('ws://x', { protocols }), { name: 'SyntaxError' }, String(protocols))
      assert.throws(() => new WebSocket('ws://x', protocols), { name: 'SyntaxError' })
    }
  })

  it('a dispatcher must be able to dispatch', () => {
    assert.throws(() => new WebSocket('ws://x', { dispatcher: {} as Dispatcher }), TypeError)
  })

  it('are not taken from a polluted prototype', () => {
    const polluted = Object.prototype as { headers?: unknown; protocols?: unknown }
    polluted.headers = 5
    polluted.protocols = 'a b'
    try {
      assert.equal(make('ws://x').readyState, 0)
    } finally {
      delete polluted.headers
      delete polluted.protocols
    }
  })

  it('headers in each form, in their letter case, and never wrong ones', async (t) => {
    const raw = await startRawServer(t)
    const forms: WebSocketInit['headers'][] = [
      { 'X-Own': ' value ' },
      [['X-Own', 'value']],
      new Map([['X-Own', 'value']]),
      new Headers({ 'X-Own': 'value' }),
      null,
    ]
    for (const headers of forms) await opened(raw.open({ headers }))
    const names = raw.requests.map(({ rawHeaders }) =>
      rawHeaders.find((name) => name.toLowerCase() === 'x-own'),
    )
    assert.deepEqual(names, ['X-Own', 'X-Own', 'X-Own', 'x-own', undefined])
    assert.equal(raw.requests[0]!.headers['x-own'], 'value')
    for (const headers of [
      { 'a b': 'x' },
      { a: 'b\r\nc: d' },
      [['a']],
      [['a', 'b', 'c']],
      ['ab'],
      5,
      { a: '\u0100' },
    ]) {
      assert.throws(() => make('ws://x', { headers: headers as never }), TypeError, JSON.stringify(headers))
    }
  })
})

describe('the interface', () => {
  it('constants on the class and on its instances', () => {
    const socket = make('ws://x')
    for (const [value, name] of (['CONNECTING', 'OPEN', 'CLOSING', 'CLOSED'] as const).entries()) {
      assert.equal(WebSocket[name], value)
      assert.equal(socket[name], value)
      assert.equal(Object.keys(WebSocket).includes(name), true)
      assert.throws(() => {
        ;(WebSocket as unknown as Record<string, number>)[name] = 9
      }, TypeError)
    }
  })

  it('is an EventTarget with enumerable members', () => {
    const socket = make('ws://x')
    assert.ok(socket instanceof EventTarget)
    assert.equal(String(socket), '[object WebSocket]')
    const members = new Set<string>()
    for (const name in socket) members.add(name)
    for (const name of [
      'url',
      'readyState',
      'bufferedAmount',
      'onopen',
      'send',
      'close',
      'binaryType',
      'OPEN',
    ]) {
      assert.ok(members.has(name), name)
    }
    assert.deepEqual(
      [socket.readyState, socket.bufferedAmount, socket.protocol, socket.extensions, socket.binaryType],
      [0, 0, '', '', 'blob'],
    )
  })

  it('handlers are functions, objects that are never called, or null', async (t) => {
    const raw = await startRawServer(t)
    const socket = raw.open()
    const calls: string[] = []
    assert.equal(socket.onopen, null)
    const first = (): void => void calls.push('first')
    socket.onopen = first
    assert.equal(socket.onopen, first)
    socket.onopen = function (event) {
      assert.equal(this, socket)
      calls.push(event.type)
    }
    socket.onmessage = () => {}
    socket.onmessage = 5 as never
    const object = { handleEvent: () => void calls.push('never') }
    socket.onerror = object as never
    socket.onclose = object as never
    assert.deepEqual([socket.onmessage, socket.onerror, socket.onclose], [null, object, object])
    socket.onerror = null
    assert.equal(socket.onerror, null)
    const handler = { handleEvent: (event: Event) => void calls.push(`object ${event.type}`) }
    socket.addEventListener('open', handler)
    const removed = (): void => void calls.push('removed')
    socket.addEventListener('open', removed)
    socket.removeEventListener('open', removed)
    await opened(socket)
    assert.deepEqual(calls, ['open', 'object open'])
    socket.onclose = () => void calls.push('close')
    const close = closed(socket)
    socket.close()
    ;(await raw.accept()).socket.destroy()
    await close
    assert.equal(calls.at(-1), 'close')
  })

  it('a handler that is replaced keeps its place, one that was removed comes last', async (t) => {
    const raw = await startRawServer(t)
    const [replaced, again] = [raw.open(), raw.open()]
    const calls: string[] = []
    for (const socket of [replaced, again]) {
      socket.onopen = {} as never
      socket.addEventListener('open', () => void calls.push('listener'))
    }
    replaced.onopen = () => void calls.push('replaced')
    again.onopen = null
    again.onopen = () => void calls.push('again')
    await Promise.all([opened(replaced), opened(again)])
    assert.deepEqual(calls, ['replaced', 'listener', 'listener', 'again'])
  })

  it('process.ref and process.unref reach the socket, also before it is there', async (t) => {
    const raw = await startRawServer(t)
    const calls: string[] = []
    const dispatch = raw.client.dispatch.bind(raw.client)
    const dispatcher = {
      dispatch: (
        options: Parameters<typeof dispatch>[0],
        handler: { onRequestUpgrade: (...args: unknown[]) => void },
      ) => {
        const upgrade = handler.onRequestUpgrade.bind(handler)
        handler.onRequestUpgrade = (...args) => {
          const socket = args[3] as { ref(): unknown; unref(): unknown }
          const { ref, unref } = socket
          socket.ref = () => {
            calls.push('ref')
            return Reflect.apply(ref, socket, [])
          }
          socket.unref = () => {
            calls.push('unref')
            return Reflect.apply(unref, socket, [])
          }
          upgrade(...args)
        }
        return dispatch(options, handler as never)
      },
    } as unknown as Dispatcher
    const socket = raw.open({ dispatcher })
    const call = (name: string): void =>
      (socket as unknown as Record<symbol, () => void>)[Symbol.for(`nodejs.${name}`)]!()
    call('unref')
    await opened(socket)
    call('ref')
    assert.deepEqual(calls, ['unref', 'ref'])
  })

  it('ping takes a Buffer of at most 125 bytes, in any state', () => {
    const socket = make('ws://x')
    ping(socket)
    ping(socket, Buffer.alloc(125))
    for (const payload of [Buffer.alloc(126), 'text', new Uint8Array(1), null]) {
      assert.throws(() => ping(socket, payload as never), TypeError)
    }
    assert.throws(() => ping({} as never), TypeError)
  })
})

describe('the events', () => {
  it('have the defaults of the standard', () => {
    const message = new MessageEvent('message')
    assert.deepEqual([message.data, message.origin, message.ports], [null, '', []])
    assert.ok(Object.isFrozen(message.ports))
    const close = new CloseEvent('close')
    assert.deepEqual([close.code, close.reason, close.wasClean], [0, '', false])
    const error = new ErrorEvent('error')
    assert.deepEqual(
      [error.message, error.filename, error.lineno, error.colno, error.error],
      ['', '', 0, 0, undefined],
    )
    assert.ok(close instanceof Event && error instanceof Event)
  })

  it('carry what they are given', () => {
    const message = new MessageEvent('message', { data: 'text', origin: 'ws://a.test', lastEventId: '7' })
    assert.deepEqual([message.data, message.origin, message.lastEventId], ['text', 'ws://a.test', '7'])
    assert.ok(message instanceof Event)
    const close = new CloseEvent('close', { code: 1000, reason: 'why', wasClean: true })
    assert.deepEqual([close.type, close.code, close.reason, close.wasClean], ['close', 1000, 'why', true])
    assert.equal(String(close), '[object CloseEvent]')
    const cause = new Error('x')
    const error = new ErrorEvent('error', { message: 'm', filename: 'f', lineno: 1, colno: 2, error: cause })
    assert.deepEqual(
      [error.message, error.filename, error.lineno, error.colno, error.error],
      ['m', 'f', 1, 2, cause],
    )
    assert.equal(String(error), '[object ErrorEvent]')
  })
})
