/** A TLS origin for requests through a tunnel: HTTP/2 and HTTP/1.1, echoes bodies, and WebSockets over HTTP/1.1. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { CERT_FILE, KEY_FILE } from './certificate-files.ts'
import { SMALL } from './content.ts'
import type { Stage } from './stage.ts'

/**
 * Larger than any body here: with a proxy that leaves Nagle's algorithm on (RFC 896), every WINDOW_UPDATE costs a delayed
 * acknowledgement of 40 ms, which these tests do not measure.
 */
const WINDOW = 64 * 1024 * 1024

/** Returns the origin. */
export async function startSecureOrigin(stage: Stage): Promise<string> {
  const server = http2.createSecureServer(
    {
      key: readFileSync(KEY_FILE),
      cert: readFileSync(CERT_FILE),
      allowHTTP1: true,
      settings: { initialWindowSize: WINDOW },
    },
    (request, response) => {
      if (request.method === 'POST') {
        const parts: Buffer[] = []
        request.on('data', (part: Buffer) => parts.push(part))
        request.on('end', () => response.end(Buffer.concat(parts)))
      } else {
        response.writeHead(200, { 'content-length': SMALL.length })
        response.end(SMALL)
      }
    },
  )
  server.on('session', (session) => session.setLocalWindowSize(WINDOW))
  // A client that ends its connection early is not a failure of the server.
  server.on('sessionError', () => {})
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('message', (data: Buffer, isBinary: boolean) => client.send(data, { binary: isBinary }))
      client.on('error', () => client.terminate())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stage.onEnd(() => {
    for (const client of sockets.clients) client.terminate()
    return new Promise((resolve) => server.close(resolve))
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
