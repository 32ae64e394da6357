import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import tls from 'node:tls'
import type { ConnectFunction } from '../../src/dispatcher/client-options.ts'
import { buildConnector, Client, type ClientOptions, errors } from '../../src/index.ts'
import { authority, localhost, other } from '../support/certificates.ts'
import { turns } from '../support/fake-clock.ts'
import { memoryPair, requestLines } from '../support/memory-client.ts'
import { MemorySocket } from '../support/memory-socket.ts'
import { OK, recordEvents, send, startPair } from '../support/scripted-client.ts'

describe('connect as a function', () => {
  /** The options that the function gets for a request. */
  const parameters = (url: string, options: ClientOptions = {}, request = {}): object => {
    let seen: object | undefined
    const client = new Client(url, {
      ...options,
      connect: (given) => {
        seen = given
      },
    })
    send(client, request)
    void client.destroy()
    return seen!
  }

  test('gets exactly where to go', () => {
    assert.deepEqual(parameters('http://a.test:8080'), {
      host: 'a.test:8080',
      hostname: 'a.test',
      protocol: 'http:',
      port: '8080',
      servername: null,
      localAddress: null,
      httpSocket: undefined,
    })
    assert.deepEqual(parameters('https://[::1]', {}, { headers: { host: 'ex.com:1' } }), {
      host: '[::1]',
      hostname: '::1',
      protocol: 'https:',
      port: '',
      servername: 'ex.com',
      localAddress: null,
      httpSocket: undefined,
    })
  })

  test('gets socketPath, allowH2 and localAddress when they are set', () => {
    const base = parameters('http://a.test')
    assert.deepEqual(parameters('http://a.test', { socketPath: '/x.sock' }), {
      ...base,
      socketPath: '/x.sock',
    })
    for (const allowH2 of [true, false]) {
      assert.deepEqual(parameters('http://a.test', { allowH2 }), { ...base, allowH2 })
    }
    assert.deepEqual(parameters('http://a.test', { allowH2: null, socketPath: null }), base)
    assert.deepEqual(parameters('http://a.test', { localAddress: '127.0.0.1' }), {
      ...base,
      localAddress: '127.0.0.1',
    })
  })

  test('gets the servername of the request that triggers it', () => {
    assert.equal(
      (parameters('https://a.test', {}, { servername: 'b.test' }) as { servername: string }).servername,
      'b.test',
    )
  })

  for (const [title, connect] of [
    [
      'calls back with an error',
      (error: Error): ConnectFunction =>
        (_, callback) =>
          callback(error),
    ],
    [
      'calls back with an error later',
      (error: Error): ConnectFunction =>
        (_, callback) =>
          setImmediate(() => callback(error)),
    ],
    [
      'throws',
      (error: Error): ConnectFunction =>
        () => {
          throw error
        },
    ],
  ] as const) {
    test(`that ${title}: all that waits fails with that very error, and the next request asks again`, async () => {
      const error = Object.assign(new Error('no'), { code: 'MINE' })
      let calls = 0
      const inner = connect(error)
      const client = new Client('http://localhost:1', {
        connect: (options, callback) => {
          calls++
          return inner(options, callback)
        },
      })
      const events = recordEvents(client)
      const first = [send(client)]
      await Promise.all(first.map((handler) => handler.settled))
      assert.equal(first[0]!.error, error)
      assert.deepEqual(Object.keys(error), ['code'], 'nothing was added to it')
      const second = send(client)
      await second.settled
      assert.equal(second.error, error)
      assert.equal(calls, 2)
      await turns(1)
      assert.deepEqual(
        events.filter((event) => event !== 'drain'),
        ['connectionError: no', 'connectionError: no'],
      )
      await client.destroy()
    })
  }

  test('that destroys its socket after a check of its own and says why', async (t) => {
    const { server } = await startPair(t)
    const connector = buildConnector({})
    const reason = new Error('fingerprint does not match')
    const client = new Client(server.url, {
      connect: (options, callback) => {
        connector(options, (error, socket) => {
          if (error !== null) return callback(error)
          socket.destroy()
          callback(reason)
        })
      },
    })
    t.after(() => client.destroy())
    await assert.rejects(client.request({ path: '/', method: 'GET' }), reason)
  })

  for (const code of ['UND_ERR_SOCKET', 'UND_ERR_INFO']) {
    test(`an error with code ${code} means try again, but not for ever`, async () => {
      let calls = 0
      const client = new Client('http://localhost:1', {
        connect: (_, callback) => {
          calls++
          callback(Object.assign(new Error('later'), { code }))
        },
      })
      const handler = send(client)
      await handler.settled
      assert.equal(handler.error?.message, 'later')
      assert.ok(calls > 1 && calls < 100, `${calls} attempts`)
      await client.destroy()
    })
  }

  test('a recoverable error followed by a connection is not seen by the request', async (t) => {
    let calls = 0
    const socket = new MemorySocket()
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        calls++
        if (calls < 3) callback(new errors.SocketError('not yet'))
        else callback(null, socket)
      },
    })
    t.after(() => client.destroy())
    const handler = send(client)
    await turns(2)
    socket.say(OK)
    await handler.settled
    assert.deepEqual([handler.body, calls], ['ok', 3])
  })

  test('a socket that is destroyed already is no connection', async () => {
    const reason = new Error('broken')
    for (const [error, expected] of [
      [reason, 'broken'],
      [undefined, 'destroyed'],
    ] as const) {
      const client = new Client('http://localhost:1', {
        connect: (_, callback) => {
          const socket = new MemorySocket().on('error', () => {})
          socket.destroy(error)
          callback(null, socket)
        },
      })
      const events = recordEvents(client)
      const handler = send(client)
      await handler.settled
      assert.ok(handler.error?.message.startsWith(expected), handler.error?.message)
      assert.equal(events.includes('connect'), false)
      await client.destroy()
    }
  })

  test('what is no socket at all is no connection', async () => {
    for (const socket of [undefined, null, {}, 'x']) {
      const client = new Client('http://localhost:1', {
        connect: (_, callback) => callback(null, socket as never),
      })
      const handler = send(client)
      await handler.settled
      assert.match(handler.error?.message ?? '', /^the connector delivered no socket/)
      await client.destroy()
    }
  })

  test('an error that cannot be looked at fails the request', async () => {
    const hidden = new Proxy(new Error('hidden'), {
      getPrototypeOf() {
        throw new Error('not yours')
      },
    })
    const client = new Client('http://a.test', { connect: (_options, callback) => callback(hidden, null) })
    await assert.rejects(client.request({ path: '/', method: 'GET' }), { cause: hidden })
    await client.destroy()
  })

  test('a second call of the callback changes nothing', async (t) => {
    const socket = new MemorySocket()
    const stray = new MemorySocket().on('error', () => {})
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        callback(null, socket)
        callback(null, socket)
        callback(new Error('late'))
        callback(null, stray)
        callback(undefined)
      },
    })
    t.after(() => client.destroy())
    const handler = send(client)
    await turns(2)
    assert.equal(stray.destroyed, true)
    socket.say(OK)
    await handler.settled
    assert.deepEqual([handler.body, handler.errors], ['ok', []])
  })

  test('an error after the callback was called with an error changes nothing', async () => {
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        callback(new Error('first'))
        throw new Error('second')
      },
    })
    const handler = send(client)
    await handler.settled
    assert.deepEqual(
      handler.errors.map((error) => error.message),
      ['first'],
    )
    await client.destroy()
  })

  test('the client was destroyed meanwhile: the socket goes', async () => {
    let deliver = (): void => {}
    const socket = new MemorySocket()
    const client = new Client('http://localhost:1', {
      connect: (_, callback) => {
        deliver = () => callback(null, socket)
      },
    })
    const handler = send(client)
    await client.destroy(new Error('enough'))
    deliver()
    assert.equal(handler.error?.message, 'enough')
    assert.ok(socket.errored instanceof errors.ClientDestroyedError)
    await turns(1)
  })

  test('a Duplex that is no net.Socket carries requests and responses', async (t) => {
    const { client, sockets, settle, say } = memoryPair(t)
    for (let i = 0; i < 3; i++) {
      const answer = client.request({ path: `/${i}`, method: 'POST', body: 'hello' })
      await settle()
      await say(OK)
      assert.equal(await (await answer).body.text(), 'ok')
    }
    assert.equal(sockets.length, 1)
    assert.deepEqual(requestLines(sockets[0]!.written), ['POST /0', 'POST /1', 'POST /2'])
    await client.close()
    assert.equal(sockets[0]!.destroyed, true)
  })
})

describe('connect as an object', () => {
  test('its fields win over those of the client', async (t) => {
    const { server } = await startPair(t)
    const directory = mkdtempSync(join(tmpdir(), 'ventuno-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const client = new Client(server.url, {
      socketPath: join(directory, 'nobody-listens'),
      connect: { socketPath: null as never },
    })
    t.after(() => client.destroy())
    send(client)
    await server.accept()
  })

  test('a Unix socket; the host header stays that of the url', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'ventuno-'))
    const path = join(directory, 's.sock')
    const origin = http.createServer((request, response) => response.end(request.headers.host))
    await new Promise<void>((resolve) => origin.listen(path, resolve))
    t.after(() => {
      origin.closeAllConnections()
      origin.close()
      rmSync(directory, { recursive: true })
    })
    for (const options of [{ socketPath: path }, { connect: { socketPath: path } }]) {
      const client = new Client('http://example.test', options)
      const { body } = await client.request({ path: '/', method: 'GET' })
      assert.equal(await body.text(), 'example.test')
      await client.close()
    }
  })

  const skip = process.platform !== 'linux' && 'only Linux has all of 127.0.0.0/8'
  test('localAddress is where connections come from', { skip }, async (t) => {
    const origin = http.createServer((request, response) => response.end(request.socket.remoteAddress))
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
    t.after(() => origin.closeAllConnections())
    t.after(() => origin.close())
    const client = new Client(`http://127.0.0.1:${(origin.address() as AddressInfo).port}`, {
      localAddress: '127.0.0.2',
    })
    t.after(() => client.destroy())
    const { body } = await client.request({ path: '/', method: 'GET' })
    assert.equal(await body.text(), '127.0.0.2')
  })
})

describe('server names', () => {
  /** A TLS server that answers each request with the server name of its connection. */
  async function start(t: Parameters<typeof memoryPair>[0]): Promise<{ port: number; names: string[] }> {
    const names: string[] = []
    const server = tls.createServer(
      {
        ...localhost,
        SNICallback: (name, done) =>
          done(null, tls.createSecureContext(name === 'other.test' ? other : localhost)),
      },
      (socket) => {
        const name = String((socket as tls.TLSSocket & { servername: string | false }).servername)
        names.push(name)
        socket.on('error', () => {})
        socket.on('data', (bytes) => {
          const requests = bytes.toString('latin1').split('\r\n\r\n').length - 1
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\n\r\n${name}`.repeat(requests))
        })
      },
    )
    server.on('tlsClientError', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    return { port: (server.address() as AddressInfo).port, names }
  }

  test('one that changes closes the connection and opens another', async (t) => {
    const { port, names } = await start(t)
    const client = new Client(`https://localhost:${port}`, {
      pipelining: 5,
      connect: { ca: authority },
    })
    t.after(() => client.destroy())
    const events = recordEvents(client)
    const asked: (string | undefined)[] = [
      undefined,
      'localhost',
      'a.example.test',
      'a.example.test',
      undefined,
    ]
    const handlers = asked.map((servername) => send(client, { servername, blocking: false }))
    await Promise.all(handlers.map((handler) => handler.settled))
    assert.deepEqual(
      handlers.map((handler) => handler.body),
      ['localhost', 'localhost', 'a.example.test', 'a.example.test', 'localhost'],
    )
    assert.deepEqual(names, ['localhost', 'a.example.test', 'localhost'])
    assert.deepEqual(
      events.filter((event) => event.startsWith('disconnect')),
      ['disconnect: servername changed', 'disconnect: servername changed'],
    )
  })

  test('comes from the host header, too', async (t) => {
    const { port, names } = await start(t)
    const client = new Client(`https://localhost:${port}`, { connect: { ca: authority } })
    t.after(() => client.destroy())
    const handler = send(client, { headers: { host: 'b.example.test:1' } })
    await handler.settled
    assert.equal(handler.body, 'b.example.test')
    assert.deepEqual(names, ['b.example.test'])
  })

  test('a certificate for another name fails only requests for the same name', async (t) => {
    const { port } = await start(t)
    const client = new Client(`https://localhost:${port}`, { connect: { ca: authority } })
    t.after(() => client.destroy())
    const wrong = [1, 2].map(() => send(client, { servername: 'nobody.test' }))
    const right = send(client, { servername: 'c.example.test' })
    const behind = send(client, { servername: 'nobody.test' })
    await Promise.all([...wrong, right, behind].map((handler) => handler.settled))
    for (const { error } of [...wrong, behind]) {
      assert.equal((error as { code?: string }).code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    }
    assert.deepEqual([right.body, right.errors], ['c.example.test', []])
  })

  test('over http it does not matter', async (t) => {
    const { server, client } = await startPair(t)
    const handlers = ['a', 'b'].map((servername) => send(client, { servername }))
    const connection = await server.accept()
    for (const handler of handlers) {
      await connection.head()
      connection.send(OK)
      await handler.settled
    }
    assert.equal(server.count, 1)
  })
})

test('a socket of a custom function is used as it is', async (t) => {
  const { server } = await startPair(t)
  const client = new Client('http://somewhere.test', {
    connect: (_, callback) => {
      const socket = net.connect(server.port, '127.0.0.1', () => callback(null, socket))
      socket.once('error', callback)
    },
  })
  t.after(() => client.destroy())
  const handler = send(client)
  const connection = await server.accept()
  assert.match(await connection.head(), /\r\nhost: somewhere\.test\r\n/)
  const lost = once(client, 'disconnect')
  connection.send(OK).end()
  await handler.settled
  assert.equal(handler.body, 'ok')
  await lost
})

test('the time of the connect is that of the address that was reached, not of the handshake on it', async (t) => {
  const server = tls.createServer(localhost, (socket) => {
    socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const { port } = server.address() as AddressInfo
  const client = new Client(`https://localhost:${port}`, {
    connect: {
      ca: authority,
      // The first one has no listener.
      lookup: (_hostname, _options, callback) =>
        callback(null, [
          { address: '127.0.0.2', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    },
  })
  t.after(() => client.destroy())
  const { body, timings } = await client.request({ path: '/', method: 'GET' })
  await body.dump()
  assert.ok(timings!.connect! < timings!.secured!)
  assert.ok(timings!.queued <= timings!.connect!)
})

for (const autoSelectFamily of [undefined, false, true]) {
  test(`a lookup that rejects fails its request only, autoSelectFamily ${autoSelectFamily}`, async (t) => {
    const server = http.createServer((_request, response) => void response.end('ok'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    const { port } = server.address() as AddressInfo
    const thrown = Object.assign(new Error('the resolver is gone'), { code: 'ENOTFOUND' })
    let isDown = true
    const lookup: net.LookupFunction = async (_hostname, { all }, callback) => {
      await null
      if (isDown) throw thrown
      if (all) callback(null, [{ address: '127.0.0.1', family: 4 }])
      else callback(null, '127.0.0.1', 4)
    }
    const client = new Client(`http://a.test:${port}`, { autoSelectFamily, connect: { lookup } })
    t.after(() => client.destroy())
    const request = (): Promise<string> =>
      client.request({ path: '/', method: 'GET' }).then(({ body }) => body.text())
    await assert.rejects(request(), (error) => error === thrown)
    isDown = false
    assert.equal(await request(), 'ok')
  })
}
