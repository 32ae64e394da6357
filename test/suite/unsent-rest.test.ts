/** A server that answers an upload early, stops reading, and keeps the connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { Agent, Client, type Dispatcher, fetch, Pool } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'

/** More than both kernels take for a socket that nobody reads. */
const UPLOAD = Buffer.alloc(64 * 2 ** 20)
/** Still more than that, and soon read on a busy machine. */
const SHORT_UPLOAD = 16 * 2 ** 20

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

interface Origin {
  readonly url: string
  /** In the order in which they were opened. */
  readonly sockets: readonly net.Socket[]
}

/** Answers the first request of each connection as soon as its head has come, and reads no more. */
async function start(t: TestContext, secure: boolean): Promise<Origin> {
  const sockets: net.Socket[] = []
  const onSocket = (socket: net.Socket): void => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('readable', () => {
      socket.read()
      socket.write(OK)
    })
  }
  const server = secure ? tls.createServer(localhost, onSocket) : net.createServer(onSocket)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `${secure ? 'https' : 'http'}://localhost:${port}`, sockets }
}

type Ask = (dispatcher: Dispatcher, url: string, body: Buffer | string | null) => Promise<string>

const ASKS: Readonly<Record<string, Ask>> = {
  request: async (dispatcher, origin, body) => {
    const response = await dispatcher.request({
      origin,
      path: '/',
      method: body === null ? 'GET' : 'PUT',
      body,
    })
    return response.body.text()
  },
  fetch: async (dispatcher, url, body) => {
    const response = await fetch(url, { dispatcher, method: body === null ? 'GET' : 'PUT', body })
    return response.text()
  },
}

for (const secure of [false, true]) {
  describe(`over ${secure ? 'h1+tls' : 'h1'}`, () => {
    for (const [name, ask] of Object.entries(ASKS)) {
      for (const kind of ['Client', 'Pool', 'Agent'] as const) {
        test(`${name} with ${kind}: the next request goes to another connection`, async (t) => {
          const { url, sockets } = await start(t, secure)
          const options = { connect: { ca: authority } }
          const dispatcher =
            kind === 'Client'
              ? new Client(url, options)
              : kind === 'Pool'
                ? new Pool(url, { ...options, connections: 1 })
                : new Agent({ ...options, connections: 1 })
          t.after(() => dispatcher.destroy())
          assert.equal(await ask(dispatcher, url, UPLOAD), 'ok')
          assert.equal(await ask(dispatcher, url, null), 'ok')
          assert.equal(sockets.length, 2)
        })
      }
    }

    test('a connection whose rest leaves in time is used again', async (t) => {
      const { url, sockets } = await start(t, secure)
      const client = new Client(url, { connect: { ca: authority } })
      t.after(() => client.destroy())
      const upload = UPLOAD.subarray(0, SHORT_UPLOAD)
      assert.equal(await ASKS['request']!(client, url, upload), 'ok')
      const [socket] = sockets
      let read = 0
      socket!.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (chunk.includes('GET / HTTP/1.1')) socket!.write(OK)
      })
      socket!.resume()
      assert.equal(await ASKS['request']!(client, url, null), 'ok')
      assert.equal(sockets.length, 1)
      assert.ok(read >= upload.length - 2 ** 20)
    })
  })
}
