/** The HTTP servers of the runtime: the files, echoed bodies, and paths that refuse a body by the head of its request. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import { CERT_FILE, KEY_FILE } from '../certificate-files.ts'
import { SMALL } from '../content.ts'
import type { Stage } from '../stage.ts'

/** The requests and responses of HTTP/2 are equivalent. */
function answer(request: http.IncomingMessage, response: http.ServerResponse): void {
  const [, status] = /^\/refused\/(\d+)$/.exec(request.url!) ?? []
  if (status !== undefined) {
    response.writeHead(Number(status))
    response.end('no')
  } else if (request.url === '/small.txt') {
    response.writeHead(200, { 'content-length': SMALL.length })
    response.end(SMALL)
  } else {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => response.end(Buffer.concat(parts)))
  }
}

function consider(request: http.IncomingMessage, response: http.ServerResponse): void {
  if (!request.url!.startsWith('/refused/')) response.writeContinue()
  answer(request, response)
}

export interface NodeSite {
  readonly h1: string
  readonly tls: string
  readonly h2c: string
}

export async function startNode(stage: Stage): Promise<NodeSite> {
  const identity = { key: readFileSync(KEY_FILE), cert: readFileSync(CERT_FILE), allowHTTP1: true }
  const listen = async (server: Server): Promise<number> => {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
    server.on('request', answer).on('checkContinue', consider)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    stage.onEnd(() => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    })
    return (server.address() as AddressInfo).port
  }
  const [h1, tls, h2c] = await Promise.all([
    listen(http.createServer()),
    listen(http2.createSecureServer(identity)),
    listen(http2.createServer() as unknown as Server),
  ])
  return {
    h1: `http://127.0.0.1:${h1}`,
    tls: `https://127.0.0.1:${tls}`,
    h2c: `http://127.0.0.1:${h2c}`,
  }
}
