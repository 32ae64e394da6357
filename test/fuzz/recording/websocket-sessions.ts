/** The output of a server built with `ws` to our WebSocket, from the first frame on. */
import { once } from 'node:events'
import http from 'node:http'
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws'
import { WebSocket } from '../../../src/index.ts'
import type { Recording } from '../corpus.ts'
import { listen, Relay } from './relay.ts'

type Talk = (socket: ServerSocket) => void

const LONG = 'The same again and again, so that it compresses. '.repeat(20)

const TALKS: Readonly<Record<string, Talk>> = {
  text: (socket) => {
    socket.send('hello')
    socket.send('gr\u00fc\u00df dich \u{1f600}')
    socket.send('')
    socket.close(1000, 'done')
  },
  binary: (socket) => {
    socket.send(Buffer.from([0, 1, 2, 253, 254, 255]))
    socket.send(Buffer.alloc(200, 7))
    socket.close(1000)
  },
  long: (socket) => {
    socket.send(LONG)
    socket.send(LONG.toUpperCase())
    socket.send(LONG)
    socket.close(1001, 'away')
  },
  fragments: (socket) => {
    socket.send('one ', { fin: false })
    socket.send('two ', { fin: false })
    socket.ping('between')
    socket.send('three', { fin: true })
    socket.send(Buffer.from([1, 2]), { fin: false, binary: true })
    socket.send(Buffer.alloc(130, 3), { fin: true, binary: true })
    socket.close()
  },
  control: (socket) => {
    socket.ping()
    socket.ping(Buffer.alloc(125, 1))
    socket.pong('unasked')
    socket.send('x')
    socket.close(4321, 'application code')
  },
}

export async function recordWebSocket(): Promise<Recording[]> {
  const recordings: Recording[] = []
  for (const [name, talk] of Object.entries(TALKS)) {
    for (const context of ['none', 'deflate', 'deflate-no-context']) {
      recordings.push({ name: `${name}-${context}`, context, bytes: await record(talk, context) })
    }
  }
  return recordings
}

async function record(talk: Talk, context: string): Promise<Buffer> {
  const noContext = context === 'deflate-no-context'
  const server = http.createServer()
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate:
      context === 'none'
        ? false
        : { threshold: 0, serverNoContextTakeover: noContext, clientNoContextTakeover: noContext },
  })
  sockets.on('connection', talk)
  await listen(server)
  const relay = await Relay.open(server)
  const socket = new WebSocket(`ws://127.0.0.1:${relay.port}`)
  await once(socket, 'close')
  const bytes = await relay.close()
  sockets.close()
  server.closeAllConnections()
  server.close()
  return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
}
