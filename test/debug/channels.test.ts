/** Which messages are published when, over each protocol (docs/diagnostics-channels.md). */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Http2ServerResponse } from 'node:http2'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { Client, errors, H2CClient } from '../../src/index.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { type Listener, startOrigin, type Wire } from '../support/wire.ts'
import { ChannelLog, hear, type PublishedRequest } from './channel-log.ts'

const WIRES: readonly Wire[] = [
  { name: 'h1', secure: false, multiplexes: false },
  { name: 'h1+tls', secure: true, multiplexes: false },
  { name: 'h2+tls', secure: true, multiplexes: true },
  { name: 'h2c', secure: false, multiplexes: true },
]

const SIMPLE = [
  'request:create',
  'client:beforeConnect',
  'client:connected',
  'client:sendHeaders',
  'request:bodySent',
  'request:headers',
  'request:bodyChunkReceived',
  'request:trailers',
]

const echoHeaders: Listener = (request, response) => {
  response.end(JSON.stringify(request.headers))
}

for (const wire of WIRES) {
  const version = wire.multiplexes ? 'h2' : 'h1'

  describe(`channels over ${wire.name}`, () => {
    it('publishes a simple request in order, always with the same request', async (t) => {
      const origin = await startOrigin(t, wire, (_, response) => {
        response.setHeader('x-answer', ['a', 'b'])
        response.end('ok')
      })
      const log = new ChannelLog(t)
      const { body } = await origin
        .client()
        .request({ path: '/a?b=c', method: 'GET', headers: { 'X-One': '1' } })
      await body.text()

      assert.deepEqual(log.names, SIMPLE)
      const { request } = log.one('request:create')
      for (const message of log.messages.filter((message) => 'request' in message)) {
        assert.equal(message.request, request)
      }
      assert.equal(request.origin, origin.url)
      assert.equal(request.method, 'GET')
      assert.equal(request.path, '/a?b=c')
      assert.deepEqual(request.headers, ['X-One', '1'])
      assert.equal(request.completed, true)
      assert.equal(request.aborted, false)
      assert.equal(request.idempotent, true)
      assert.equal(request.body, null)

      const { response } = log.one('request:headers')
      assert.equal(response.statusCode, 200)
      assert.equal(response.statusText, wire.multiplexes ? '' : 'OK')
      assert.ok(response.headers.every((part) => Buffer.isBuffer(part)))
      const flat = response.headers.map(String)
      assert.deepEqual(
        flat.filter((_, index) => flat[index - (index % 2)] === 'x-answer'),
        ['x-answer', 'a', 'x-answer', 'b'],
      )
      assert.deepEqual(log.one('request:trailers').trailers, [])
      assert.equal(String(log.one('request:bodyChunkReceived').chunk), 'ok')
      const { remoteAddress, remotePort } = log.one('client:sendHeaders').socket
      assert.deepEqual([remoteAddress, remotePort], ['127.0.0.1', origin.port])
    })

    it('publishes where it connects to, and with what', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      const log = new ChannelLog(t)
      const client = origin.client()
      client.on('connect', () => log.note('connect event'))
      const { body } = await client.request({ path: '/', method: 'GET' })
      await body.dump()

      const params = {
        host: `localhost:${origin.port}`,
        hostname: 'localhost',
        protocol: wire.secure ? 'https:' : 'http:',
        port: String(origin.port),
        servername: null,
        localAddress: null,
      }
      const before = log.one('client:beforeConnect')
      const connected = log.one('client:connected')
      // Over h2c there is nothing to negotiate.
      assert.deepEqual(before.connectParams, { ...params, version: wire.name === 'h2c' ? 'h2' : undefined })
      assert.deepEqual(connected.connectParams, { ...params, version })
      assert.equal(before.connector, connected.connector)
      assert.equal(typeof before.connector, 'function')
      assert.equal(connected.socket, log.one('client:sendHeaders').socket)
      assert.deepEqual(log.names.slice(1, 4), ['client:beforeConnect', 'client:connected', 'connect event'])
    })

    it('publishes the head as text', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      const log = new ChannelLog(t)
      const options = { path: '/x', headers: { 'X-One': '1', 'x-two': ['a', 'b'] } }
      const { body } = await origin.client().request({ ...options, method: 'POST', body: 'hello' })
      await body.dump()
      const authority = `localhost:${origin.port}`
      const expected = wire.multiplexes
        ? [
            'x-one: 1',
            'x-two: a',
            'x-two: b',
            `:authority: ${authority}`,
            ':method: POST',
            ':path: /x',
            `:scheme: ${wire.secure ? 'https' : 'http'}`,
            'content-length: 5',
          ]
        : [
            'POST /x HTTP/1.1',
            `host: ${authority}`,
            'connection: keep-alive',
            'X-One: 1',
            'x-two: a',
            'x-two: b',
          ]
      assert.equal(log.one('client:sendHeaders').headers, expected.map((line) => `${line}\r\n`).join(''))
    })

    it('publishes each piece of a body that is sent', async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        request.resume().on('end', () => response.end())
      })
      const log = new ChannelLog(t)
      const client = origin.client()
      const bytes = Buffer.from('bytes')
      const sent = async (body: string | Readable | Buffer): Promise<unknown[]> => {
        const from = log.names.length
        const answer = await client.request({ path: '/', method: 'POST', body })
        await answer.body.dump()
        const names = log.names.slice(from).filter((name) => !name.startsWith('client:'))
        const chunks = log.of('request:bodyChunkSent', from)
        assert.deepEqual(names, [
          'request:create',
          ...chunks.map(() => 'request:bodyChunkSent'),
          'request:bodySent',
          'request:headers',
          'request:trailers',
        ])
        return chunks.map(({ chunk }) => chunk)
      }
      assert.deepEqual(await sent('text'), [Buffer.from('text')])
      assert.equal((await sent(bytes))[0], bytes)
      assert.deepEqual(await sent(Readable.from(['one', bytes])), ['one', bytes])
      assert.deepEqual(await sent(''), [])
      const published = log.of('request:create').map(({ request }) => request.body)
      assert.deepEqual(published[0], Buffer.from('text'))
      assert.ok(published[2] instanceof Readable)
    })

    it('publishes trailers', async (t) => {
      const origin = await startOrigin(t, wire, (_, response) => {
        if (!wire.multiplexes) response.setHeader('trailer', 'x-sum')
        response.write('ok')
        response.addTrailers({ 'x-sum': '42' })
        response.end()
      })
      const log = new ChannelLog(t)
      hear(t, 'undici:request:trailers', ({ request }) => assert.equal(request.completed, true))
      const { body } = await origin.client().request({ path: '/', method: 'GET' })
      await body.text()
      assert.deepEqual(log.one('request:trailers').trailers.map(String), ['x-sum', '42'])
    })

    it('publishes interim heads', async (t) => {
      const origin = await startOrigin(t, wire, (_, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' })
        response.end()
      })
      const log = new ChannelLog(t)
      const { body } = await origin.client().request({ path: '/', method: 'GET' })
      await body.dump()
      assert.deepEqual(
        log.of('request:headers').map(({ response }) => response.statusCode),
        [103, 200],
      )
    })

    it('sends what subscribers make of the headers', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      hear(t, 'undici:request:create', ({ request }) => {
        const { headers } = request
        assert.equal(request.addHeader('x-added', '1'), request)
        assert.throws(() => request.addHeader('x-bad', 'a\r\nb'), errors.InvalidArgumentError)
        assert.throws(() => request.addHeader('bad name', 'x'), errors.InvalidArgumentError)
        headers.push('x-pushed', ['2', '3'])
        headers[headers.indexOf('x-changed') + 1] = 'new'
        headers.splice(headers.indexOf('x-removed'), 2)
      })
      const headers = { 'x-changed': 'old', 'x-removed': 'gone', 'x-kept': 'kept' }
      const { body } = await origin.client().request({ path: '/', method: 'GET', headers })
      const { host: _, connection: __, ...seen } = (await body.json()) as Record<string, string>
      const own = Object.fromEntries(Object.entries(seen).filter(([name]) => !name.startsWith(':')))
      assert.deepEqual(own, { 'x-changed': 'new', 'x-kept': 'kept', 'x-added': '1', 'x-pushed': '2, 3' })
    })

    it('refuses what subscribers must not put into the headers', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      hear(t, 'undici:request:create', ({ request }) => request.headers.push('x-bad', 'a\r\nx-injected: b'))
      const log = new ChannelLog(t)
      await assert.rejects(origin.client().request({ path: '/', method: 'GET' }), errors.InvalidArgumentError)
      assert.equal(log.of('client:sendHeaders').length, 0)
      assert.ok(log.one('request:error').error instanceof errors.InvalidArgumentError)
    })

    it('publishes the creation in the context of the caller', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      const storage = new AsyncLocalStorage<string>()
      const contexts: Record<string, string | undefined> = {}
      hear(t, 'undici:request:create', ({ request }) => {
        contexts[request.path] = storage.getStore()
      })
      const client = origin.client()
      const paths = ['/a', '/b', '/c']
      await Promise.all(
        paths.map((path) =>
          storage.run(path, async () => {
            const { body } = await client.request({ path, method: 'GET' })
            await body.dump()
          }),
        ),
      )
      assert.deepEqual(contexts, { '/a': '/a', '/b': '/b', '/c': '/c' })
    })

    it('publishes a failure before the handler hears of it, and no end', async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (wire.multiplexes) (response as unknown as Http2ServerResponse).stream.session!.destroy()
        else request.socket.destroy()
      })
      const log = new ChannelLog(t)
      const handler = new RecordingHandler((method) => {
        if (method === 'onResponseError') log.note('handler')
      })
      origin.client().dispatch({ path: '/', method: 'POST', body: 'x' }, handler)
      await handler.settled
      assert.deepEqual(log.names.slice(-2), ['request:error', 'handler'])
      assert.equal(log.one('request:error').error, handler.error)
      assert.equal(log.of('request:trailers').length, 0)
    })

    it("tells no user's name and password in errors", async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (wire.multiplexes) (response as unknown as Http2ServerResponse).stream.session!.destroy()
        else request.socket.destroy()
      })
      origin.server.on('connect', () => {
        for (const socket of origin.sockets) socket.destroy()
      })
      for (const [method, path, shown] of [
        ['GET', 'http://alice:secret@wonder.test/land?secret', 'http://wonder.test/land'],
        ['CONNECT', 'alice:secret@wonder.test:443', 'wonder.test:443'],
      ] as const) {
        const handler = new RecordingHandler()
        origin.client().dispatch({ method, path }, handler)
        const error = (await handler.settled).error as Error & { path?: string }
        assert.doesNotMatch(error.message, /alice|secret/)
        assert.equal(error.path, shown)
      }
    })

    it('publishes an abort as one', async (t) => {
      const origin = await startOrigin(t, wire, () => {})
      const log = new ChannelLog(t)
      const handler = new RecordingHandler((method, { controller }) => {
        if (method === 'onRequestSent') controller!.abort()
      })
      origin.client().dispatch({ path: '/', method: 'GET' }, handler)
      await handler.settled
      const { error, request } = log.one('request:error')
      assert.equal(error.name, 'AbortError')
      assert.equal((error as NodeJS.ErrnoException).code, 'UND_ERR_ABORTED')
      assert.equal(request.aborted, true)
      assert.equal(request.completed, false)
    })

    it('publishes what the end handler throws', async (t) => {
      const origin = await startOrigin(t, wire, echoHeaders)
      const log = new ChannelLog(t)
      const thrown = new Error('in the end')
      const handler = new RecordingHandler((method) => {
        if (method === 'onResponseEnd') throw thrown
      })
      origin.client().dispatch({ path: '/', method: 'GET' }, handler)
      await handler.settled
      assert.deepEqual(log.names.slice(-2), ['request:trailers', 'request:error'])
      assert.equal(log.one('request:error').error, thrown)
    })

    it('publishes no response when the connection is handed over', async (t) => {
      const origin = await startOrigin(t, wire, () => {})
      if (wire.multiplexes) {
        origin.server.on('connect', (_, response: Http2ServerResponse) => response.writeHead(200))
      } else {
        origin.server.on('connect', (_, socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      }
      const log = new ChannelLog(t)
      const { socket } = await origin.client().connect({ path: 'far.test:443' })
      socket.on('error', () => {}).destroy()
      assert.deepEqual(
        log.names.filter((name) => name !== 'client:beforeConnect' && name !== 'client:connected'),
        ['request:create', 'client:sendHeaders', 'request:bodySent'],
      )
    })
  })
}

describe('channels of connecting', () => {
  it('publishes a failure before anybody else hears of it', async (t) => {
    const port = await refusingPort(t)

    for (const [type, version] of [
      [Client, undefined],
      [H2CClient, 'h2'],
    ] as const) {
      const log = new ChannelLog(t)
      const client = new type(`http://127.0.0.1:${port}`, { localAddress: '127.0.0.1' })
      client.on('connectionError', () => log.note('event'))
      const handler = new RecordingHandler((method) => log.note(method))
      client.dispatch({ path: '/', method: 'GET' }, handler)
      await handler.settled
      await client.destroy()

      assert.deepEqual(log.names, [
        'request:create',
        'client:beforeConnect',
        'client:connectError',
        'request:error',
        'onResponseError',
        'event',
      ])
      const { error, connectParams, connector, ...rest } = log.one('client:connectError')
      assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED')
      assert.deepEqual(connectParams, {
        host: `127.0.0.1:${port}`,
        hostname: '127.0.0.1',
        protocol: 'http:',
        port: String(port),
        servername: null,
        localAddress: '127.0.0.1',
        version,
      })
      assert.equal(connector, log.one('client:beforeConnect').connector)
      assert.deepEqual(rest, {})
    }
  })

  it('publishes an upgrade without a response, and a refused one with it', async (t) => {
    const wire = WIRES[0]!
    const origin = await startOrigin(t, wire, (_, response) => response.end('no'))
    const log = new ChannelLog(t)
    await assert.rejects(origin.client().upgrade({ path: '/', protocol: 'chat' }))
    assert.ok(log.of('request:error').length + log.of('request:trailers').length > 0)

    origin.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat\r\n\r\n')
    })
    const from = log.names.length
    const { socket } = await origin.client().upgrade({ path: '/', protocol: 'chat' })
    socket.on('error', () => {}).destroy()
    assert.deepEqual(log.names.slice(from), [
      'request:create',
      'client:beforeConnect',
      'client:connected',
      'client:sendHeaders',
      'request:bodySent',
    ])
    assert.match(log.of('client:sendHeaders').at(-1)!.headers, /^GET \/ HTTP\/1\.1\r\n.*upgrade: chat\r\n$/s)
  })

  it('publishes the same request again when it is sent again', async (t) => {
    const seen: PublishedRequest[] = []
    const origin = await startOrigin(t, WIRES[0]!, (_, response) => response.end())
    const client = origin.client({ pipelining: 2 })
    hear(t, 'undici:client:sendHeaders', ({ request }) => {
      if (request.path !== '/second') return
      seen.push(request)
      // Too late for this attempt, and a subscriber must not get it onto the wire unchecked with the next one, either.
      if (seen.length === 1) request.headers.push('x-bad', 'a\r\nx-injected: b')
    })
    const first = new RecordingHandler((method, { controller }) => {
      if (method === 'onResponseStart') controller!.abort()
    })
    const second = new RecordingHandler()
    client.dispatch({ path: '/first', method: 'GET', blocking: false }, first)
    client.dispatch({ path: '/second', method: 'GET' }, second)
    await second.settled
    assert.equal(seen.length, 1)
    assert.ok(second.error instanceof errors.InvalidArgumentError)
  })
})
