import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { Client, errors, interceptors } from '../src/index.ts'
import { turns } from './support/fake-clock.ts'
import { memoryPair } from './support/memory-client.ts'
import { OK, send, startPair } from './support/scripted-client.ts'

const CHANNELS = [
  'undici:request:create',
  'undici:client:beforeConnect',
  'undici:client:connected',
  'undici:client:connectError',
  'undici:client:sendHeaders',
  'undici:request:bodyChunkSent',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:bodyChunkReceived',
  'undici:request:trailers',
  'undici:request:error',
] as const

type Name = (typeof CHANNELS)[number] | 'ventuno:cache:error'

/** Messages have many shapes; each test knows which one it checks. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Message = any

function listen(t: TestContext, name: Name, listener: (message: Message) => void): void {
  const subscriber = (message: unknown): void => listener(message)
  diagnostics.subscribe(name, subscriber)
  t.after(() => diagnostics.unsubscribe(name, subscriber))
}

function record(t: TestContext): { name: Name; message: Message }[] {
  const seen: { name: Name; message: Message }[] = []
  for (const name of CHANNELS) listen(t, name, (message) => seen.push({ name, message }))
  return seen
}

describe('diagnostics channels', () => {
  test('the connector of a message opens ordinary sockets, which emit data', async (t) => {
    let connector: Message = null
    listen(t, 'undici:client:beforeConnect', (message) => {
      connector = message.connector
    })
    const { server, client } = await startPair(t)
    const handler = send(client)
    const first = await server.accept()
    first.send(OK)
    await handler.settled
    const target = { hostname: '127.0.0.1', protocol: 'http:', port: String(server.port) }
    const socket = await new Promise<Duplex>((resolve, reject) => {
      connector(target, (error: Error | null, opened: Duplex) =>
        error === null ? resolve(opened) : reject(error),
      )
    })
    t.after(() => void socket.destroy())
    const second = await server.accept()
    second.send('hello')
    assert.equal(String((await once(socket, 'data'))[0]), 'hello')
  })

  test('one exchange: each channel in its order, with the keys of its message', async (t) => {
    const seen = record(t)
    const { server, client } = await startPair(t)
    const handler = send(client, {
      method: 'POST',
      path: '/a?b',
      body: 'hello',
      headers: { 'X-Name': 'value' },
    })
    const connection = await server.accept()
    await connection.until('hello')
    connection.send(
      'HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\n',
      'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nT: z\r\n\r\n',
    )
    await handler.settled
    assert.deepEqual(
      seen.map(({ name, message }) => `${name} ${Object.keys(message).join()}`),
      [
        'undici:request:create request',
        'undici:client:beforeConnect connectParams,connector',
        'undici:client:connected connectParams,connector,socket',
        'undici:client:sendHeaders request,headers,socket',
        'undici:request:bodyChunkSent request,chunk',
        'undici:request:bodySent request',
        'undici:request:headers request,response',
        'undici:request:headers request,response',
        'undici:request:bodyChunkReceived request,chunk',
        'undici:request:trailers request,trailers',
      ],
    )
    const message = (name: Name, index = 0): Message =>
      seen.filter((one) => one.name === name)[index]!.message
    const { request } = message('undici:request:create')
    for (const one of seen) if ('request' in one.message) assert.equal(one.message.request, request)

    const { connectParams, connector } = message('undici:client:beforeConnect')
    const target = {
      host: `127.0.0.1:${server.port}`,
      hostname: '127.0.0.1',
      protocol: 'http:',
      port: String(server.port),
      servername: null,
      localAddress: null,
    }
    assert.deepEqual({ ...connectParams }, { ...target, version: undefined })
    assert.equal(Object.keys(connectParams).length, 7)
    assert.equal(typeof connector, 'function')
    const connected = message('undici:client:connected')
    assert.deepEqual({ ...connected.connectParams }, { ...target, version: 'h1' })
    assert.equal(connected.connector, connector)
    assert.equal(connected.socket.remotePort, server.port)

    const sent = message('undici:client:sendHeaders')
    assert.equal(sent.socket, connected.socket)
    assert.match(sent.headers, /^POST \/a\?b HTTP\/1\.1\r\n(?:[^\r]+\r\n)+$/)
    assert.doesNotMatch(sent.headers, /content-length|transfer-encoding|\r\n\r\n/i)
    assert.equal(String(message('undici:request:bodyChunkSent').chunk), 'hello')

    const interim = message('undici:request:headers').response
    assert.deepEqual(
      [interim.statusCode, interim.statusText, interim.headers.map(String)],
      [103, 'Early Hints', ['Link', 'l']],
    )
    const final = message('undici:request:headers', 1).response
    assert.deepEqual([final.statusCode, final.headers.map(String)], [201, ['Transfer-Encoding', 'chunked']])
    assert.ok(final.headers.every(Buffer.isBuffer))
    assert.equal(String(message('undici:request:bodyChunkReceived').chunk), 'ok')
    assert.deepEqual(message('undici:request:trailers').trailers.map(String), ['T', 'z'])
  })

  test('come before what they announce', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const log: string[] = []
    for (const name of CHANNELS) listen(t, name, () => log.push(name.slice('undici:'.length)))
    client.on('connect', () => log.push('connect'))
    const handler = send(client, {}, (method) => log.push(method))
    log.push('dispatched')
    await settle()
    await say(OK)
    await handler.settled
    assert.deepEqual(log, [
      'request:create',
      'client:beforeConnect',
      'dispatched',
      'client:connected',
      'connect',
      'onRequestStart',
      'client:sendHeaders',
      'request:bodySent',
      'onRequestSent',
      'onResponseStarted',
      'request:headers',
      'onResponseStart',
      'request:bodyChunkReceived',
      'onResponseData',
      'request:trailers',
      'onResponseEnd',
    ])
  })

  test('the request is completed when the trailers are published; [] when there are none', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const seen: unknown[] = []
    listen(t, 'undici:request:trailers', ({ request, trailers }) => seen.push(request.completed, trailers))
    const handler = send(client)
    await settle()
    await say(OK)
    await handler.settled
    assert.deepEqual(seen, [true, []])
  })

  test('a failed connect: connectError before the requests get it, then request:error', async (t) => {
    const seen = record(t)
    const reason = new Error('refused')
    const client = new Client('http://localhost:1', { connect: (_, callback) => callback(reason) })
    t.after(() => client.destroy())
    const handler = send(client)
    await handler.settled
    assert.deepEqual(
      seen.map(({ name }) => name),
      [
        'undici:request:create',
        'undici:client:beforeConnect',
        'undici:client:connectError',
        'undici:request:error',
      ],
    )
    const { message } = seen[2]!
    assert.deepEqual(Object.keys(message), ['connectParams', 'connector', 'error'])
    assert.equal(message.error, reason)
    assert.equal(message.connector, seen[1]!.message.connector)
    assert.equal(message.connectParams.version, undefined)
    assert.equal(seen[3]!.message.error, reason)
  })

  test('a connect or a store that fails with anything: subscribers get an error with a message', async (t) => {
    const unreadable = Object.defineProperty(new Error(), 'message', { get: () => assert.fail() })
    const seen: unknown[] = []
    listen(t, 'undici:client:connectError', ({ error }) => seen.push(error.message))
    listen(t, 'ventuno:cache:error', ({ operation, error }) => seen.push(operation, error.message))
    const reject = () => Promise.reject('why')
    const store = { get: reject, createWriteStream: () => undefined, delete: reject }
    const client = new Client('http://localhost:1', { connect: (_, callback) => callback(unreadable) })
    t.after(() => client.destroy())
    const handler = send(client.compose(interceptors.cache({ store: store as never })))
    await handler.settled
    assert.equal(handler.error, unreadable)
    assert.deepEqual(seen, ['get', 'why', 'unknown error'])
  })

  test('a failed request: error before the handler, and no trailers', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const log: string[] = []
    listen(t, 'undici:request:trailers', () => log.push('trailers'))
    listen(t, 'undici:request:error', ({ error }) => log.push(`error ${error.code}`))
    const handler = send(client, {}, (method) => {
      if (method === 'onResponseError') log.push(method)
    })
    await settle()
    await say('nonsense')
    await handler.settled
    assert.deepEqual(log, ['error HPE_INVALID_CONSTANT', 'onResponseError'])
  })

  test('an abort has the name AbortError, and the request says so', async (t) => {
    const { client, settle } = memoryPair(t)
    const seen: unknown[] = []
    listen(t, 'undici:request:error', ({ request, error }) => seen.push(error.name, request.aborted))
    const handler = send(client)
    await settle()
    handler.controller!.abort()
    assert.deepEqual(seen, ['AbortError', true])
  })

  for (const [reason, message] of [
    ['why', 'why'],
    [404, '404'],
    [Symbol('why'), 'Symbol(why)'],
    [{ message: 'why' }, 'why'],
    [Object.create(null), 'unknown error'],
    [Object.defineProperty(new Error(), 'message', { get: () => assert.fail() }), 'unknown error'],
  ] as const) {
    test(`an abort with ${typeof reason}, ${message}: subscribers get an error with a message`, async (t) => {
      const { client, settle } = memoryPair(t)
      const seen: Message[] = []
      listen(t, 'undici:request:error', ({ error }) => seen.push(error))
      const handler = send(client)
      await settle()
      handler.controller!.abort(reason as never)
      assert.equal(handler.error, reason)
      assert.ok(seen[0] instanceof Error)
      assert.deepEqual([seen.length, seen[0].message, seen[0].cause], [1, message, reason])
    })
  }

  test('an error in onResponseEnd is published after the completion', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const log: string[] = []
    listen(t, 'undici:request:trailers', () => log.push('trailers'))
    listen(t, 'undici:request:error', ({ error }) => log.push(error.message))
    send(client, {}, (method) => {
      if (method === 'onResponseEnd') throw new Error('thrown at the end')
    })
    await settle()
    await say(OK)
    assert.deepEqual(log, ['trailers', 'thrown at the end'])
  })

  test('an upgrade: create, sendHeaders, bodySent, and nothing of a response', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const seen = record(t)
    const handler = send(client, { upgrade: 'x' })
    await settle()
    await say('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    await handler.settled
    assert.deepEqual(
      seen.map(({ name }) => name).filter((name) => !name.includes('onnect')),
      ['undici:request:create', 'undici:client:sendHeaders', 'undici:request:bodySent'],
    )
    handler.socket?.destroy()
  })

  test('publish nothing of a request that was refused', (t) => {
    const seen = record(t)
    send(new Client('http://localhost:1'), { path: 'no slash' })
    assert.deepEqual(seen, [])
  })

  test('create runs inside dispatch, in the async context of the caller', async (t) => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const storage = new AsyncLocalStorage<string>()
    const { client } = memoryPair(t)
    let context: string | undefined
    listen(t, 'undici:request:create', () => {
      context = storage.getStore()
    })
    storage.run('mine', () => send(client))
    assert.equal(context, 'mine')
  })

  test('a subscriber that comes later hears the rest', async (t) => {
    const { client, settle, say } = memoryPair(t)
    const handler = send(client)
    await settle()
    const seen = record(t)
    await say(OK)
    await handler.settled
    assert.deepEqual(
      seen.map(({ name }) => name),
      ['undici:request:headers', 'undici:request:bodyChunkReceived', 'undici:request:trailers'],
    )
  })

  test('with no subscriber nothing is published', async (t) => {
    const { client, settle, say } = memoryPair(t)
    let published = 0
    // A channel changes its prototype with its first subscriber, so its own property must be removed again.
    const spied = CHANNELS.map((name) => diagnostics.channel(name) as { publish?: unknown })
    for (const one of spied) one.publish = () => published++
    t.after(() => {
      for (const one of spied) delete one.publish
    })
    const handler = send(client, { method: 'POST', body: 'x' })
    await settle()
    await say(OK)
    await handler.settled
    assert.equal(published, 0)
  })
})

describe('the request object of the channels', () => {
  test('has what instrumentations read', async (t) => {
    const { client, settle, say } = memoryPair(t)
    let request: Message
    listen(t, 'undici:request:create', (message) => {
      request = message.request
    })
    const handler = send(client, {
      method: 'POST',
      path: '/a?b=c',
      body: 'text',
      headers: { 'X-A': '1', host: 'h.test', 'content-length': '4', 'Content-Type': 't/p', list: ['1', '2'] },
    })
    assert.deepEqual(
      [request.origin, request.method, request.path, request.completed, request.aborted, request.idempotent],
      ['http://localhost:1', 'POST', '/a?b=c', false, false, false],
    )
    assert.deepEqual(request.headers, ['X-A', '1', 'Content-Type', 't/p', 'list', ['1', '2']])
    assert.deepEqual([request.contentLength, request.contentType], [4, 't/p'])
    assert.equal(String(request.body), 'text')
    await settle()
    await say(OK)
    await handler.settled
    assert.equal(request.completed, true)
  })

  test('what a subscriber does to the headers goes to the wire', async (t) => {
    const { client, sockets, settle } = memoryPair(t)
    listen(t, 'undici:request:create', ({ request }) => {
      request.headers.push('traceparent', '00-1-2-3')
      request.headers[1] = 'changed'
      request.headers.splice(2, 2)
      assert.equal(request.addHeader('added', 'yes'), request)
      assert.throws(() => request.addHeader('bad name', 'x'), errors.InvalidArgumentError)
      assert.throws(() => request.addHeader('bad', 'a\r\nb: c'), errors.InvalidArgumentError)
    })
    send(client, { headers: { first: '1', second: '2', third: '3' } })
    await settle()
    const { written } = sockets[0]!
    assert.match(written, /\r\nfirst: changed\r\n/)
    assert.match(written, /\r\nthird: 3\r\n/)
    assert.match(written, /\r\ntraceparent: 00-1-2-3\r\n/)
    assert.match(written, /\r\nadded: yes\r\n/)
    assert.doesNotMatch(written, /second|bad/)
  })

  for (const [title, spoil] of [
    ['a line break in a value', (headers: unknown[]) => headers.push('x', 'a\r\nevil: 1')],
    ['a line break in a name', (headers: unknown[]) => headers.push('x\r\nevil', '1')],
    ['a name without a value', (headers: unknown[]) => headers.push('x')],
    ['a value that is an object', (headers: unknown[]) => headers.push('x', {})],
    ['a framing of his own', (headers: unknown[]) => headers.push('transfer-encoding', 'chunked')],
  ] as const) {
    test(`${title} left in the headers fails that request only`, async (t) => {
      const { client, sockets, settle, say } = memoryPair(t)
      listen(t, 'undici:request:create', ({ request }) => {
        if (request.path === '/bad') spoil(request.headers)
      })
      const bad = send(client, { path: '/bad' })
      const good = send(client, { path: '/good' })
      await settle()
      assert.ok(bad.error instanceof errors.InvalidArgumentError)
      assert.doesNotMatch(sockets[0]!.written, /evil|bad/)
      await say(OK)
      assert.equal(good.body, 'ok')
      assert.equal(sockets.length, 1)
    })
  }

  test('what steers a request cannot be changed through its headers', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    listen(t, 'undici:request:create', ({ request }) => {
      request.headers.push('content-length', '5', 'host', 'other.test', 'x-seen', 'yes')
    })
    const sent = send(client, { path: '/' })
    await settle()
    assert.match(sockets[0]!.written, /x-seen: yes/)
    assert.doesNotMatch(sockets[0]!.written, /content-length|other\.test/)
    await say(OK)
    assert.equal(sent.body, 'ok')
  })

  test('a subscriber that destroys the client inside create leaves no request behind', async (t) => {
    const { client } = memoryPair(t)
    let done = false
    listen(t, 'undici:request:create', () => {
      if (done) return
      done = true
      void client.destroy()
    })
    const handler = send(client)
    await turns(2)
    assert.ok(handler.error instanceof errors.ClientDestroyedError)
    assert.equal(handler.errors.length, 1)
    assert.equal(client.stats.size, 0)
  })
})
