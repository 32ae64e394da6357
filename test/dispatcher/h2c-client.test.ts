import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Client, errors, H2CClient, type H2CClientOptions } from '../../src/index.ts'
import { authority } from '../support/certificates.ts'
import { type H2Peer, startH2Pair, startH2Server } from '../support/h2-server.ts'
import { refusingPort } from '../support/refusing-port.ts'
import { send } from '../support/scripted-client.ts'

const ORIGIN = 'http://localhost:1'

describe('new H2CClient()', () => {
  const refuses = (url: string | URL | object, options: unknown, message: string): void => {
    assert.throws(() => new H2CClient(url, options as H2CClientOptions), {
      name: 'InvalidArgumentError',
      code: 'UND_ERR_INVALID_ARG',
      message,
    })
  }

  test('is a Client', () => {
    const client = new H2CClient(ORIGIN)
    assert.ok(client instanceof Client)
    assert.equal(client.pipelining, 100)
  })

  test('takes http only', () => {
    const message = 'h2c-client: Only h2c protocol is supported'
    refuses('https://localhost', {}, message)
    refuses(new URL('https://localhost'), {}, message)
    refuses({ protocol: 'https:', hostname: 'localhost', port: 1 }, {}, message)
    assert.ok(new H2CClient(new URL(ORIGIN)))
    assert.ok(new H2CClient({ protocol: 'http:', hostname: 'localhost', port: 1 }))
  })

  test('checks the URL and the options as Client does', () => {
    refuses('http://localhost/path', {}, 'invalid url')
    refuses(ORIGIN, { keepAlive: true }, 'unsupported keepAlive, use pipelining=0 instead')
    refuses(ORIGIN, { pingInterval: -1 }, 'pingInterval must be a positive integer, greater or equal to 0')
    assert.throws(() => new H2CClient(ORIGIN, null as never), TypeError)
  })

  for (const value of [0, -1, 1.5, Number.NaN, '5', Number.POSITIVE_INFINITY]) {
    test(`maxConcurrentStreams ${JSON.stringify(value)} is refused`, () => {
      refuses(
        ORIGIN,
        { maxConcurrentStreams: value },
        'maxConcurrentStreams must be a positive integer, greater than 0',
      )
    })
  }

  test('pipelining and maxConcurrentStreams are one number: one given sets both', () => {
    assert.equal(new H2CClient(ORIGIN, { pipelining: 200 }).pipelining, 200)
    assert.equal(new H2CClient(ORIGIN, { h2Options: { maxConcurrentStreams: 6 } }).pipelining, 6)
    assert.equal(new H2CClient(ORIGIN, { maxConcurrentStreams: 5 }).pipelining, 5)
    assert.equal(new H2CClient(ORIGIN, { maxConcurrentStreams: 500 }).pipelining, 500)
    assert.equal(new H2CClient(ORIGIN, { maxConcurrentStreams: 5, pipelining: 3 }).pipelining, 3)
  })

  test('more pipelining than maxConcurrentStreams is refused', () => {
    const message = 'h2c-client: pipelining cannot be greater than maxConcurrentStreams'
    refuses(ORIGIN, { maxConcurrentStreams: 100, pipelining: 101 }, message)
    refuses(ORIGIN, { h2Options: { maxConcurrentStreams: 5 }, pipelining: 6 }, message)
    refuses(ORIGIN, { maxConcurrentStreams: 5, pipelining: 6 }, message)
  })

  for (const pipelining of [0, -1, 1.5, null, undefined]) {
    test(`pipelining ${pipelining} means the default`, () => {
      const options = { maxConcurrentStreams: 7, pipelining }
      assert.equal(new H2CClient(ORIGIN, options).pipelining, 7)
    })
  }
})

/** The first SETTINGS of a client. */
async function settingsOf(peer: H2Peer): Promise<Map<number, number>> {
  const { payload } = await peer.frame(4)
  const settings = new Map<number, number>()
  for (let at = 0; at < payload.length; at += 6) {
    settings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
  }
  return settings
}

describe('the number of requests in flight of an H2CClient', () => {
  test('is what pipelining alone says, also beyond the default, and is advertised', async (t) => {
    const { server, client } = await startH2Pair(t, { pipelining: 200 })
    for (let i = 0; i < 201; i++) send(client)
    const peer = await server.accept()
    assert.equal((await settingsOf(peer)).get(3), 200)
    await peer.take(200)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [200, 1])
  })

  test('goes up when pipelining is set while requests run', async (t) => {
    const { server, client } = await startH2Pair(t, { pipelining: 2 })
    for (let i = 0; i < 6; i++) send(client)
    const peer = await server.accept()
    await peer.take(2)
    await peer.settled()
    assert.equal(client.stats.running, 2)
    client.pipelining = 5
    assert.equal(client.pipelining, 5)
    await peer.take(3)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [5, 1])
  })

  test('goes down: what runs stays, and nothing new until there is room', async (t) => {
    const { server, client } = await startH2Pair(t, { pipelining: 3 })
    for (let i = 0; i < 5; i++) send(client)
    const peer = await server.accept()
    const [first, second, third] = await peer.take(3)
    client.pipelining = 1
    for (const { id } of [first!, second!]) peer.respond(id)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [1, 2])
    peer.respond(third!.id)
    await peer.take(1)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [1, 1])
  })

  test('is set before there is a connection', async (t) => {
    const { server, client } = await startH2Pair(t)
    client.pipelining = 2
    for (let i = 0; i < 3; i++) send(client)
    const peer = await server.accept()
    assert.equal((await settingsOf(peer)).get(3), 2)
    await peer.take(2)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [2, 1])
  })

  test("is the server's as soon as it has one, whatever is set", async (t) => {
    const { server, client } = await startH2Pair(t, { pipelining: 2 }, { settings: [[3, 4]] })
    for (let i = 0; i < 6; i++) send(client)
    const peer = await server.accept()
    await peer.take(4)
    client.pipelining = 6
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [4, 2])
  })

  test('stays what it is when something else than a positive integer is set', () => {
    const client = new H2CClient(ORIGIN, { pipelining: 7 })
    for (const value of [0, -1, 1.5, Number.NaN, null, '3'] as never[]) {
      client.pipelining = value
      assert.equal(client.pipelining, 7)
    }
  })
})

describe('H2CClient', () => {
  test('pipelining is the number of streams before the server says its own', async (t) => {
    const { server, client } = await startH2Pair(t, { maxConcurrentStreams: 5, pipelining: 2 })
    for (let i = 0; i < 4; i++) send(client)
    const peer = await server.accept()
    await peer.take(2)
    await peer.settled()
    assert.deepEqual([client.stats.running, client.stats.pending], [2, 2])
  })

  test('speaks to a Unix socket', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'h2c-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'socket')
    const server = await startH2Server(t, { path })
    for (const options of [{ socketPath: path }, { connect: { socketPath: path } }]) {
      const client = new H2CClient('http://localhost', options)
      t.after(() => client.destroy())
      const handler = send(client, { path: '/over/unix' })
      const peer = await server.accept()
      const { id, headers } = await peer.request()
      assert.equal(headers[':authority'], 'localhost')
      assert.equal(headers[':path'], '/over/unix')
      peer.respond(id)
      await handler.settled
      assert.equal(handler.body, 'ok')
    }
  })

  test('a connect function gets allowH2 and the socketPath', async (t) => {
    const server = await startH2Server(t)
    const seen: Record<string, unknown>[] = []
    const client = new H2CClient(server.url, {
      socketPath: '/not/used',
      connect: (options, callback) => {
        seen.push({ ...options })
        const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
        return socket
      },
    })
    t.after(() => client.destroy())
    const handler = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await handler.settled
    assert.equal(seen.length, 1)
    assert.equal(seen[0]!['allowH2'], true)
    assert.equal(seen[0]!['socketPath'], '/not/used')
  })

  test('a connection that is refused', async (t) => {
    const client = new H2CClient(`http://127.0.0.1:${await refusingPort(t)}`)
    t.after(() => client.destroy())
    await assert.rejects(client.request({ path: '/', method: 'GET' }), {
      code: 'ECONNREFUSED',
      retrySafety: 'safe',
      phase: 'connecting',
    })
    assert.equal(await client.close(), null)
  })
})

describe('Client with useH2c', () => {
  test('speaks HTTP/2 to an http origin from the first byte', async (t) => {
    const server = await startH2Server(t)
    const client = new Client(server.url, { useH2c: true })
    t.after(() => client.destroy())
    const handler = send(client)
    const peer = await server.accept()
    peer.respond((await peer.request()).id)
    await handler.settled
    assert.equal(handler.body, 'ok')
  })

  test('and allowH2: false speaks HTTP/1.1', async (t) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (bytes) => {
        assert.match(String(bytes), /^GET \/ HTTP\/1\.1/)
        socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as net.AddressInfo
    const client = new Client(`http://127.0.0.1:${port}`, { useH2c: true, allowH2: false })
    t.after(() => client.destroy())
    assert.equal((await client.request({ path: '/', method: 'GET' })).statusCode, 204)
  })
})

describe('the preface of a client', () => {
  test('disables push, and announces its windows and header limit', async (t) => {
    const server = await startH2Server(t)
    const client = new H2CClient(server.url, {
      initialWindowSize: 100_000,
      connectionWindowSize: 300_000,
      maxHeaderSize: 1_000,
    })
    t.after(() => client.destroy())
    send(client)
    const peer: H2Peer = await server.accept()
    const settings = await settingsOf(peer)
    assert.equal(settings.get(2), 0)
    assert.equal(settings.get(3), 100)
    assert.equal(settings.get(4), 100_000)
    assert.ok(settings.get(6)! >= 1_000)
    const update = await peer.frame(8, 0)
    assert.equal(update.payload.readUInt32BE(0), 300_000 - 65_535)
  })

  test('advertises maxConcurrentStreams, as far as 32 bits go', async (t) => {
    const server = await startH2Server(t, { alpn: ['h2'] })
    for (const [given, told] of [
      [7, 7],
      [7.9, 7],
      [2 ** 40, 0xffff_ffff],
    ] as const) {
      const client = new Client(server.url, { maxConcurrentStreams: given, connect: { ca: authority } })
      t.after(() => client.destroy())
      send(client)
      assert.equal((await settingsOf(await server.accept())).get(3), told)
    }
  })

  test('a push is a connection error', async (t) => {
    const { server, client } = await startH2Pair(t)
    const handler = send(client)
    const peer = await server.accept()
    const { id } = await peer.request()
    peer.send(5, 4, id, Buffer.from([0, 0, 0, 2, 0x82, 0x86, 0x84]))
    await handler.settled
    assert.ok(handler.error instanceof errors.SocketError)
    await peer.closed()
  })
})
