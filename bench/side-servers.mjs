// Servers that nginx cannot provide, in one process on the server's core: a WebSocket echo, servers that never
// answer (memory of requests in flight), a proxy for CONNECT where there is no better one, relays that make a round
// trip take 100 ms, streams of many small chunks, and heads that were recorded from other servers.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { fileURLToPath } from 'node:url'
import { streamChunks } from './chunks.mjs'
import { onServerCore } from './cores.mjs'
import { startRelay } from './delay-relay.mjs'
import { replayHeads } from './heads.mjs'
import { benchNode } from './prepare.mjs'

const ONE_WAY_MS = 50

/** Streams of the silent h2c server: more than any scenario keeps in flight. */
const SILENT_STREAMS = 100_000

/** Resolves to more ports by wire, and a function that stops the process. */
export async function startSideServers(ports) {
  const [execPath, ...execArgv] = onServerCore([benchNode()])
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(ports)], { execPath, execArgv })
  const [more] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('the side servers ended')
    }),
  ])
  return { ports: more, stop: () => child.kill() }
}

async function run(ports) {
  const { WebSocketServer } = await import('ws')
  const echo = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  await once(echo, 'listening')
  echo.on('connection', (socket) => {
    socket.on('message', (data, binary) => socket.send(data, { binary }))
    socket.on('error', () => {})
  })

  let held = 0
  const silent = (request, response) => {
    if (request.url === '/held') return void response.end(String(held))
    held++
    response.on('close', () => held--)
  }
  const more = {
    ws: echo.address().port,
    'connect-proxy': await listen(http.createServer().on('connect', tunnel)),
    'silent-h1': await listen(http.createServer({ requestTimeout: 0, headersTimeout: 0 }, silent)),
    'silent-h2c': await listen(
      http2.createServer({ settings: { maxConcurrentStreams: SILENT_STREAMS } }, silent),
    ),
    chunks: await listen(net.createServer({ noDelay: true }, streamChunks)),
    heads: await listen(net.createServer({ noDelay: true }, replayHeads)),
  }
  for (const wire of ['h1', 'h1-tls', 'h2c', 'h2'])
    more[`far-${wire}`] = await startRelay(ports[wire], ONE_WAY_MS)
  process.send(more)
}

function tunnel(request, socket, head) {
  const [host, port] = request.url.split(':')
  const origin = net.connect(port, host, () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    origin.write(head)
    origin.pipe(socket).pipe(origin)
  })
  for (const end of [socket, origin]) end.setNoDelay(true).on('error', () => {})
}

async function listen(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}

if (process.send !== undefined && process.argv[2] !== undefined) {
  process.on('disconnect', () => process.exit())
  await run(JSON.parse(process.argv[2]))
}
