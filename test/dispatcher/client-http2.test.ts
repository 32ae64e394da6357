/** HTTP/2 over TLS as a user of Client sees it: the protocol, the number of connections, the order of requests. */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { Client, type ClientOptions } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { turns } from '../support/fake-clock.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { send } from '../support/scripted-client.ts'

interface TlsOrigin {
  readonly url: string
  /** The protocols that each client offered. */
  readonly offers: string[][]
  readonly sockets: tls.TLSSocket[]
}

/** Speaks just enough HTTP/1.1, or hands the socket to a real HTTP/2 server, as ALPN decided. */
async function startTlsOrigin(t: TestContext, protocols: readonly string[]): Promise<TlsOrigin> {
  const h2 = http2.createServer((request, response) => {
    request.resume()
    response.end(`h2 ${request.url}`)
  })
  const offers: string[][] = []
  const sockets: tls.TLSSocket[] = []
  const server = tls.createServer(
    {
      ...localhost,
      ALPNCallback: ({ protocols: offered }) => {
        offers.push(offered)
        return protocols.find((protocol) => offered.includes(protocol))
      },
    },
    (socket) => {
      sockets.push(socket)
      socket.on('error', () => {})
      if (socket.alpnProtocol === 'h2') h2.emit('connection', socket)
      else socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nh1'))
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, offers, sockets }
}

function clientFor(t: TestContext, url: string, options: ClientOptions = {}): Client {
  const client = new Client(url, { ...options, connect: { ca: authority, ...options.connect } })
  t.after(() => client.destroy())
  return client
}

describe('ALPN', () => {
  for (const [server, options, offer, answer] of [
    [['h2', 'http/1.1'], {}, ['http/1.1', 'h2'], 'h2 /x'],
    [['http/1.1', 'h2'], {}, ['http/1.1', 'h2'], 'h1'],
    [['http/1.1'], {}, ['http/1.1', 'h2'], 'h1'],
    [['h2', 'http/1.1'], { allowH2: false }, ['http/1.1'], 'h1'],
  ] as [string[], ClientOptions, string[], string][]) {
    test(`server ${server.join(' > ')}, client ${JSON.stringify(options)}: ${answer}`, async (t) => {
      const origin = await startTlsOrigin(t, server)
      const client = clientFor(t, origin.url, options)
      const versions: unknown[] = []
      const onConnected = (message: unknown): void => {
        const { connectParams } = message as { connectParams: { version: unknown } }
        versions.push(connectParams.version)
      }
      subscribe('undici:client:connected', onConnected)
      t.after(() => unsubscribe('undici:client:connected', onConnected))
      const { body, statusText } = await client.request({ path: '/x', method: 'GET' })
      assert.equal(await body.text(), answer)
      assert.equal(statusText, answer === 'h1' ? 'OK' : '')
      assert.deepEqual(origin.offers, [offer])
      assert.deepEqual(versions, [answer.slice(0, 2)])
    })
  }

  test(':scheme is https, and the timings have the handshake', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { alpn: ['h2'] })
    const response = client.request({ path: '/', method: 'GET' })
    const peer = await server.accept()
    const { id, headers } = await peer.request()
    assert.equal(headers[':scheme'], 'https')
    assert.equal(headers[':authority'], `localhost:${server.port}`)
    peer.respond(id)
    const { body, timings } = await response
    await body.dump()
    const { queued, connect, secured, sent, firstByte, end } = timings!
    assert.ok(queued <= connect! && connect! <= secured! && secured! <= sent!)
    assert.ok(sent! <= firstByte! && firstByte! <= end!)
    const again = client.request({ path: '/', method: 'GET' })
    peer.respond((await peer.request()).id)
    const second = await again
    await second.body.dump()
    assert.deepEqual([second.timings!.connect, second.timings!.secured], [null, null])
  })

  test('a request with another server name waits, and gets a connection with its own', async (t) => {
    const { server, client, events } = await startH2Pair(t, {}, { alpn: ['h2'] })
    const first = send(client)
    const second = send(client, { headers: { host: 'a.example.test' } })
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await first.settled
    const next = await server.accept()
    assert.equal((next.socket as tls.TLSSocket & { servername: string }).servername, 'a.example.test')
    const { id, headers } = await next.request()
    assert.equal(headers[':authority'], 'a.example.test')
    next.respond(id)
    await second.settled
    assert.equal(second.body, 'ok')
    assert.ok(events.includes('disconnect: servername changed'))
  })
})

describe('many requests to one origin', () => {
  test('1,000 from cold make one handshake, and all are answered', async (t) => {
    const origin = await startTlsOrigin(t, ['h2'])
    const client = clientFor(t, origin.url)
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        const { body } = await client.request({ path: `/${i}`, method: i % 2 === 0 ? 'GET' : 'POST' })
        return body.text()
      }),
    )
    answers.forEach((answer, i) => {
      assert.equal(answer, `h2 /${i}`)
    })
    assert.equal(origin.sockets.length, 1)
  })

  test('an endless response holds nobody up', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { alpn: ['h2'] })
    const endless = await (async () => {
      const response = client.request({ path: '/endless', method: 'GET' })
      const peer = await server.accept()
      const { id } = await peer.request()
      peer.head(id, 200)
      return { peer, id, body: (await response).body }
    })()
    const { peer, id, body } = endless
    // It stays unread, and the server sends as much as its window allows.
    for (let sent = 0; sent < 262_144; sent += 16_384) peer.data(id, Buffer.alloc(16_384))
    await peer.settled()
    for (let i = 0; i < 50; i++) {
      const handler = send(client, { path: `/${i}`, method: 'POST', body: 'x' })
      const request = await peer.request()
      peer.head(request.id, 200).data(request.id, Buffer.alloc(16_384, 'y'), true)
      await handler.settled
      assert.equal(handler.body.length, 16_384)
    }
    assert.equal(server.count, 1)
    body.on('error', () => {})
    body.destroy()
    assert.equal(await peer.resetOf(id), 8)
  })

  test('answers may come in any order', async (t) => {
    const { server, client } = await startH2Pair(t, {}, { alpn: ['h2'] })
    const handlers = ['/1', '/2', '/3'].map((path) => send(client, { path, method: 'POST', body: path }))
    const peer = await server.accept()
    const requests = await peer.take(3)
    for (const { id, headers } of requests.reverse()) {
      peer.respond(id, `to ${headers[':path']}`)
      await turns(1)
    }
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(
      handlers.map(({ body }) => body),
      ['to /1', 'to /2', 'to /3'],
    )
  })

  test('pipelining has no say', async (t) => {
    const { server, client } = await startH2Pair(t, { pipelining: 1 }, { alpn: ['h2'] })
    for (let i = 0; i < 10; i++) send(client, { method: 'POST', body: 'x' })
    const peer = await server.accept()
    await peer.take(10)
    assert.equal(client.pipelining, 1)
    assert.equal(client.stats.running, 10)
  })
})
