/** What takes a connection over, or shares one with others: its events run in the AsyncLocalStorage context of its own call. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { Client, H2CClient, WebSocket, WebSocketStream } from '../../src/index.ts'
import { CLOSE, closePayload, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { check, GET, listen, type Stage, storage, testKinds } from '../support/call-contexts.ts'
import { WIRES } from '../support/wire.ts'

/** RFC 6455 §1.3. */
const SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Gives what comes back, and a message first: both are WebSocket frames when the client speaks that. */
function converse(socket: Duplex, path: string | undefined): void {
  socket.on('error', () => {})
  if (path === '/broken') {
    // Reserved bits (RFC 6455 §5.2).
    socket.write(Buffer.of(0xf1, 0))
    return
  }
  socket.write(serverFrame(TEXT, 'hello'))
  socket.once('data', () => socket.end(serverFrame(CLOSE, closePayload(1000, 'bye'))))
}

async function openTunnels(t: TestContext, protocol: 'h1' | 'h2c'): Promise<Stage & { client: Client }> {
  const server =
    protocol === 'h1'
      ? http.createServer((_request, response) => response.end())
      : http2.createServer({ settings: { enableConnectProtocol: true } })
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex) => {
    if (request.url === '/refused') {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
      return
    }
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${SUFFIX}`)
      .digest('base64')
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n')
    socket.write(`sec-websocket-accept: ${accept}\r\n\r\n`)
    converse(socket, request.url)
  })
  server.on('connect', (request: http.IncomingMessage, socket: Duplex) => {
    if (protocol === 'h2c') return
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    converse(socket, request.url)
  })
  server.on('stream', (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    const path = headers[':path']
    stream.respond({ ':status': path === '/refused' ? 403 : 200 })
    if (headers[':method'] === 'CONNECT' && path !== '/refused') converse(stream, path)
    else stream.end()
  })
  const sockets: Duplex[] = []
  server.on('connection', (socket: Duplex) => sockets.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const client = protocol === 'h1' ? new Client(url) : new H2CClient(url)
  t.after(async () => {
    await client.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await storage.run('the one who connects', async () => {
    const { body } = await client.request(GET)
    await body.dump()
  })
  return { client, url, wire: WIRES.find(({ name }) => name === protocol)! }
}

for (const protocol of ['h1', 'h2c'] as const) {
  test(`the context of the events of a WebSocket over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
      const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher: client })
      socket.onopen = () => note("'open' of WebSocket")
      socket.onmessage = () => {
        note("'message' of WebSocket")
        socket.send('x')
      }
      await new Promise<void>((resolve) => {
        socket.onclose = () => {
          note("'close' of WebSocket")
          resolve()
        }
      })
    })
  })

  for (const path of ['/refused', '/broken']) {
    test(`the context of the events of a WebSocket that fails over ${protocol}: ${path}`, async (t) => {
      await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { dispatcher: client })
        socket.onerror = () => note("'error' of WebSocket")
        await new Promise<void>((resolve) => {
          socket.onclose = () => {
            note("'close' of WebSocket")
            resolve()
          }
        })
      })
    })
  }

  test(`the context of a WebSocket that is given up over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
      const socket = new WebSocket(url.replace('http', 'ws'), { dispatcher: client })
      socket.onerror = () => note("'error' of WebSocket")
      await new Promise<void>((resolve) => {
        socket.onclose = () => {
          note("'close' of WebSocket")
          resolve()
        }
        storage.run('the one who closes', () => socket.close())
      })
    })
  })

  test(`the context of a WebSocketStream over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
      const stream = new WebSocketStream(url.replace('http', 'ws'), { dispatcher: client })
      const { readable, writable } = await stream.opened
      note('opened of WebSocketStream')
      const writer = writable.getWriter()
      const reading = readable.pipeTo(
        new WritableStream({
          write() {
            note('a chunk of WebSocketStream')
            void writer.write('x')
          },
        }),
      )
      await reading
      note('the end of WebSocketStream')
      await stream.closed
      note('closed of WebSocketStream')
    })
  })

  test(`the context of onRequestUpgrade over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client, url }, note) => {
      for (const older of [false, true]) {
        await new Promise<void>((resolve, reject) => {
          const options = { origin: url, path: 'example.test:80', method: 'CONNECT' as const }
          const handler = older
            ? {
                onConnect: () => note('onConnect'),
                onUpgrade(_status: number, _headers: unknown, socket: Duplex) {
                  note('onUpgrade')
                  socket.destroy()
                  resolve()
                },
                onError: reject,
              }
            : {
                onRequestStart: () => note('onRequestStart'),
                onRequestUpgrade(_controller: unknown, _status: number, _headers: unknown, socket: Duplex) {
                  note('onRequestUpgrade')
                  socket.destroy()
                  resolve()
                },
                onResponseError: (_controller: unknown, error: Error) => reject(error),
              }
          client.dispatch(options, handler as never)
        })
      }
    })
  })

  test(`the context of the callbacks of connect() over ${protocol}`, async (t) => {
    await check(await openTunnels(t, protocol), async ({ client }, note) => {
      await new Promise<void>((resolve, reject) => {
        client.connect({ path: 'example.test:80' }, (error, data) => {
          if (error) return reject(error)
          note('the callback')
          const { socket } = data
          if (protocol === 'h2c') listen(socket, ['data', 'end', 'close'], note)
          socket.on('close', () => resolve())
          socket.resume()
          socket.end('x')
        })
      })
    })
  })
}

test('the context of the callback of upgrade()', async (t) => {
  await check(await openTunnels(t, 'h1'), async ({ client }, note) => {
    await new Promise<void>((resolve, reject) => {
      client.upgrade({ path: '/' }, (error, data) => {
        if (error) return reject(error)
        note('the callback')
        data.socket.destroy()
        resolve()
      })
    })
  })
})

testKinds({
  both: [
    "'open' of WebSocket",
    "'message' of WebSocket",
    "'error' of WebSocket",
    "'close' of WebSocket",
    'opened of WebSocketStream',
    'a chunk of WebSocketStream',
    'the end of WebSocketStream',
    'closed of WebSocketStream',
    'onRequestStart',
    'onRequestUpgrade',
    'onConnect',
    'onUpgrade',
    'the callback',
  ],
  // Over HTTP/1.1 it is the socket of the runtime.
  h2: ["'data' of a body", "'end' of a body", "'close' of a body"],
})
