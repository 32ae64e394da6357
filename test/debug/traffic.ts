/**
 * Runs in a separate process: generates the traffic named in its arguments, one after another, with clients. The servers
 * run here as well. Values that depend on the run (ports) go to standard output as JSON, so that the test can replace
 * them by names.
 */
import diagnostics from 'node:diagnostics_channel'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Client, H2CClient } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { closedPort, listen, play } from './own-servers.ts'

const answer = (_: unknown, response: { end(body: string): unknown }): void => {
  response.end('ok')
}

async function get(client: Client, path: string, headers: Record<string, string> = {}): Promise<void> {
  const { body } = await client.request({ path, method: 'GET', headers })
  await buffer(body)
  await client.close()
}

async function getInVain(client: Client, path: string): Promise<void> {
  try {
    await client.request({ path, method: 'GET' })
  } catch {
    await client.destroy()
    return
  }
  throw new Error('the request was to fail')
}

/** A server that closes on every request. */
function hangUp(): Server {
  return http.createServer((request) => request.socket.destroy())
}

const SCENES: Record<string, () => Promise<void>> = {
  async h1() {
    const port = await listen('h1', http.createServer(answer))
    await get(new Client(`http://localhost:${port}`), '/a?b=c')
  },

  async 'h1+tls'() {
    const port = await listen('h1+tls', https.createServer(localhost, answer))
    await get(new Client(`https://localhost:${port}`, { connect: { ca: authority } }), '/')
  },

  async h2() {
    const port = await listen('h2', http2.createSecureServer(localhost, answer))
    await get(new Client(`https://localhost:${port}`, { connect: { ca: authority } }), '/')
  },

  async h2c() {
    const port = await listen('h2c', http2.createServer(answer) as unknown as Server)
    await get(new H2CClient(`http://localhost:${port}`), '/')
  },

  async 'failed connect'() {
    const port = await closedPort('closed')
    await getInVain(new Client(`http://127.0.0.1:${port}`), '/')
    await getInVain(new H2CClient(`http://127.0.0.1:${port}`), '/')
    const connect = (_: unknown, callback: (error: Error, socket: null) => void): void =>
      callback(new Error('no way\r\nCORE 1: connected to \u001b[2Jelsewhere'), null)
    await getInVain(new Client('https://[::1]', { connect }), '/')
  },

  async 'failed request'() {
    const port = await listen('failing', hangUp())
    await getInVain(new Client(`http://localhost:${port}`), '/')
    const server = http2.createServer() as unknown as Server
    server.on('stream', (stream: http2.ServerHttp2Stream) => stream.session!.destroy())
    const h2Port = await listen('failing h2', server)
    await getInVain(new H2CClient(`http://localhost:${h2Port}`), '/')
  },

  async 'odd reasons'() {
    const port = await listen('silent', http.createServer())
    for (const reason of [Object.create(null), 'gave up', new Error('')]) {
      const client = new Client(`http://localhost:${port}`)
      await new Promise<void>((resolve) => {
        client.dispatch(
          { path: '/', method: 'GET' },
          {
            onRequestStart: (controller) => controller.abort(reason as Error),
            onResponseStart() {},
            onResponseData() {},
            onResponseEnd() {},
            onResponseError: () => resolve(),
          },
        )
      })
      await client.destroy()
    }
  },

  async takeovers() {
    const server = http.createServer()
    const take = (head: string) => (_: unknown, socket: { end(text: string): unknown }) =>
      socket.end(`HTTP/1.1 ${head}\r\n\r\n`)
    server.on('connect', take('200 Established'))
    server.on('upgrade', take('101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: chat'))
    const client = new Client(`http://localhost:${await listen('taken', server)}`)
    const { socket } = await client.connect({ path: 'scott:tiger@db.test:5432' })
    await new Promise((resolve) => socket.resume().once('close', resolve).end())
    const upgraded = await client.upgrade({ path: '/chat', protocol: 'chat' })
    await new Promise((resolve) => upgraded.socket.resume().once('close', resolve).end())
    await client.close()
  },

  async credentials() {
    const port = await listen('private', http.createServer(answer))
    const headers = { authorization: 'Basic c2VjcmV0', cookie: 'sid=secret', 'proxy-authorization': 'secret' }
    await get(new Client(`http://bob:secret@localhost:${port}`), '/', headers)
    await get(new Client(`http://localhost:${port}`), 'http://alice:secret@wonder.test/land?at=4', headers)
    await get(new Client(`http://localhost:${port}`), '//alice:sec@ret@wonder.test/@scope/x')
    const failing = await listen('private failing', hangUp())
    await getInVain(new Client(`http://bob:secret@localhost:${failing}`), 'http://alice:secret@wonder.test/')
  },

  /** Worst-case WebSocket messages. Real ones are in web-traffic.ts. */
  async websocket() {
    const publish = (name: string, message: unknown): void =>
      diagnostics.channel(`undici:websocket:${name}`).publish(message)
    const websocket = { url: 'wss://bob:secret@chat.test/room' }
    const client = new Client('http://localhost:1')
    publish('open', { address: { address: '127.0.0.1', family: 'IPv4', port: 4711 }, websocket })
    publish('open', { address: null, websocket })
    publish('ping', { payload: Buffer.from('x'), websocket })
    publish('pong', { payload: Buffer.from('x'), websocket })
    publish('socket_error', new Error('read ECONNRESET'))
    publish('close', { websocket, code: 1000, reason: 'bye\nbye' })
    await client.destroy()
  },
}

await play(SCENES)
