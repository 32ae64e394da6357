/**
 * Runs in a separate process: generates the traffic named in its arguments, one after another, with `fetch` and
 * WebSockets. The servers run here as well.
 */
import { createHash } from 'node:crypto'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { Agent, type Dispatcher, fetch, ping, setGlobalDispatcher, WebSocket } from '../../src/index.ts'
import { CLOSE, closePayload, PING, serverFrame } from '../protocol/websocket/server-frames.ts'
import { authority, localhost } from '../support/certificates.ts'
import { RawPeer } from '../websocket/raw-server.ts'
import { closedPort, listen, play } from './own-servers.ts'

// The warning about WebSockets over HTTP/2 is tested elsewhere.
process.removeAllListeners('warning')

const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

function agent(): Agent {
  return new Agent({ connect: { ca: authority } })
}

const answer = (_: unknown, response: { end(body: string): unknown }): void => {
  response.end('ok')
}

async function get(url: string, dispatcher: Dispatcher = agent()): Promise<void> {
  await (await fetch(url, { dispatcher })).text()
  await dispatcher.close()
}

async function inVain(call: Promise<unknown>, dispatcher: Dispatcher): Promise<void> {
  const failed = await call.then(
    () => false,
    () => true,
  )
  if (!failed) throw new Error('it was to fail')
  await dispatcher.destroy()
}

/** Waits for the close event and the messages published after it. */
async function closed(socket: WebSocket, dispatcher: Dispatcher): Promise<void> {
  await new Promise((resolve) => socket.addEventListener('close', resolve))
  await dispatcher.destroy()
}

/** Accepts every handshake; `act` is the peer's behaviour after that. */
function takeUpgrades<S extends Server>(server: S, act: (peer: RawPeer) => unknown): S {
  server.on('upgrade', (request: http.IncomingMessage, socket: Duplex, head: Buffer) => {
    const key = String(request.headers['sec-websocket-key'])
    const accept = createHash('sha1')
      .update(key + ACCEPT_SUFFIX)
      .digest('base64')
    const lines = ['upgrade: websocket', 'connection: upgrade', `sec-websocket-accept: ${accept}`]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
    act(new RawPeer(socket, head))
  })
  return server
}

/** The same for extended CONNECT. */
function takeStreams(server: http2.Http2SecureServer, act: (peer: RawPeer) => unknown): Server {
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200 })
    act(new RawPeer(stream))
  })
  return server
}

const sayGoodbye = (peer: RawPeer): void => {
  peer.send(serverFrame(PING, 'x'), serverFrame(CLOSE, closePayload(3000, 'bye\r\nbye')))
}

/** Waits for a ping, answers it and closes. */
async function answerPing(peer: RawPeer): Promise<void> {
  const { payload } = (await peer.frame())!
  peer.send(serverFrame(0xa, payload), serverFrame(CLOSE, closePayload(1000)))
}

function reset(peer: RawPeer): void {
  ;(peer.socket as unknown as { resetAndDestroy(): void }).resetAndDestroy()
}

await play({
  async 'fetch over h1'() {
    await get(`http://localhost:${await listen('h1', http.createServer(answer))}/a?b=c#d`)
  },

  async 'fetch over h1 and TLS'() {
    await get(`https://localhost:${await listen('h1+tls', https.createServer(localhost, answer))}/`)
  },

  async 'fetch over h2'() {
    await get(`https://localhost:${await listen('h2', http2.createSecureServer(localhost, answer))}/`)
  },

  async "the runtime's fetch through the global dispatcher"() {
    const dispatcher = agent()
    setGlobalDispatcher(dispatcher)
    await (
      await globalThis.fetch(`http://localhost:${await listen('global', http.createServer(answer))}/`)
    ).text()
    await dispatcher.close()
  },

  async 'fetch where nobody listens'() {
    const dispatcher = agent()
    await inVain(fetch(`http://127.0.0.1:${await closedPort('closed')}/`, { dispatcher }), dispatcher)
  },

  async 'fetch that is hung up on'() {
    const dispatcher = agent()
    const server = http.createServer((request) => request.socket.destroy())
    const url = `http://localhost:${await listen('failing', server)}/`
    await inVain(fetch(url, { dispatcher, method: 'POST' }), dispatcher)
  },

  async 'fetch over h2 that is hung up on'() {
    const dispatcher = agent()
    const server = http2.createSecureServer(localhost, (request) => request.stream.session!.destroy())
    const url = `https://localhost:${await listen('failing h2', server)}/`
    await inVain(fetch(url, { dispatcher, method: 'POST' }), dispatcher)
  },

  async 'fetch that is aborted'() {
    const dispatcher = agent()
    const controller = new AbortController()
    const server = http.createServer(() => controller.abort(new Error('enough')))
    const url = `http://localhost:${await listen('silent', server)}/`
    await inVain(fetch(url, { dispatcher, signal: controller.signal }), dispatcher)
  },

  async 'WebSocket over h1'() {
    const dispatcher = agent()
    const server = takeUpgrades(http.createServer(), sayGoodbye)
    const port = await listen('ws', server)
    await closed(new WebSocket(`ws://bob:secret@localhost:${port}/room?a=b`, { dispatcher }), dispatcher)
  },

  async 'WebSocket over h1 and TLS'() {
    const dispatcher = agent()
    const server = takeUpgrades(https.createServer(localhost), answerPing)
    const socket = new WebSocket(`wss://localhost:${await listen('wss', server)}/`, { dispatcher })
    socket.onopen = () => ping(socket, Buffer.from('x'))
    await closed(socket, dispatcher)
  },

  async 'WebSocket over h2'() {
    const dispatcher = agent()
    const settings = { enableConnectProtocol: true }
    const server = takeStreams(http2.createSecureServer({ ...localhost, settings }), sayGoodbye)
    const port = await listen('ws h2', server)
    await closed(new WebSocket(`wss://localhost:${port}/room`, { dispatcher }), dispatcher)
  },

  async 'WebSocket that the server takes only over h1'() {
    const dispatcher = agent()
    const server = http2.createSecureServer({ ...localhost, allowHTTP1: true })
    const port = await listen('ws old', takeUpgrades(server, sayGoodbye))
    await closed(new WebSocket(`wss://localhost:${port}/room`, { dispatcher }), dispatcher)
  },

  async 'WebSocket that the server refuses'() {
    const dispatcher = agent()
    const server = http.createServer()
    server.on('upgrade', (_, socket: Duplex) => {
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    })
    const port = await listen('ws refusing', server)
    await closed(new WebSocket(`ws://localhost:${port}/`, { dispatcher }), dispatcher)
  },

  async 'WebSocket where nobody listens'() {
    const dispatcher = agent()
    await closed(
      new WebSocket(`ws://127.0.0.1:${await closedPort('closed ws')}/`, { dispatcher }),
      dispatcher,
    )
  },

  async 'WebSocket that is reset'() {
    const dispatcher = agent()
    const peers: RawPeer[] = []
    const server = takeUpgrades(http.createServer(), (peer) => peers.push(peer))
    const socket = new WebSocket(`ws://localhost:${await listen('ws reset', server)}/`, { dispatcher })
    socket.onopen = () => reset(peers[0]!)
    await closed(socket, dispatcher)
  },

  async 'WebSocket that is given up at once'() {
    const dispatcher = agent()
    const socket = new WebSocket('ws://localhost:4711/', { dispatcher })
    const over = closed(socket, dispatcher)
    socket.close()
    await over
  },
})
