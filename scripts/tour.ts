// A tour against origins embedded in this process, on loopback: `npm start`. Needs no network.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { Writable } from 'node:stream'
import { Client, H2CClient, type Timings } from '../src/index.ts'

const pem = (name: string): string =>
  readFileSync(new URL(`../test/support/certs/${name}.pem`, import.meta.url), 'utf8')
const identity = { key: pem('localhost-key'), cert: pem('localhost') }

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => void

const origin: Listener = (request, response) => {
  switch (request.url) {
    case '/slow':
      return
    case '/die':
      request.socket.destroy()
      return
    case '/trailers':
      response.setHeader('trailer', 'checksum')
      response.write('a body, and then ')
      response.addTrailers({ checksum: '42' })
      response.end('a trailer')
      return
    default:
      request.pipe(response)
      if (request.method === 'GET') response.end(`hello from ${request.url}`)
  }
}

await show('HTTP/1.1', http.createServer(origin), (port) => new Client(`http://localhost:${port}`))
await show(
  'HTTP/1.1 over TLS',
  https.createServer(identity, origin),
  (port) => new Client(`https://localhost:${port}`, { connect: { ca: pem('ca') } }),
)
// The compatible API of node:http2 calls the same listener.
const origin2 = origin as unknown as (q: http2.Http2ServerRequest, s: http2.Http2ServerResponse) => void
await show(
  'HTTP/2 over TLS',
  http2.createSecureServer(identity, origin2),
  (port) => new Client(`https://localhost:${port}`, { connect: { ca: pem('ca') } }),
)
await show(
  'HTTP/2 over cleartext (h2c)',
  http2.createServer(origin2) as unknown as Server,
  (port) => new H2CClient(`http://localhost:${port}`),
)

async function show(title: string, server: Server, connect: (port: number) => Client): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port)
  console.log(`\n${title}: ${title.includes('TLS') ? 'https' : 'http'}://localhost:${port}`)
  client.on('connect', () => console.log('  (connected)'))
  client.on('disconnect', (_origin, _targets, error: Error) =>
    console.log(`  (disconnected: ${error.message})`),
  )

  const { statusCode, body, timings } = await client.request({ path: '/', method: 'GET' })
  console.log(`  request   ${statusCode} ${JSON.stringify(await body.text())} ${bar(timings)}`)

  const echo = await client.request({ path: '/echo', method: 'POST', body: 'a body of mine' })
  console.log(`  POST      ${echo.statusCode} ${JSON.stringify(await echo.body.text())} ${bar(echo.timings)}`)

  const pieces: string[] = []
  await client.stream({ path: '/stream', method: 'GET' }, () => collect(pieces))
  console.log(`  stream    ${JSON.stringify(pieces.join(''))}`)

  const piped: string[] = []
  const duplex = client.pipeline({ path: '/echo', method: 'POST' }, ({ body: response }) => response)
  duplex.end('through a pipeline')
  for await (const chunk of duplex) piped.push(String(chunk))
  console.log(`  pipeline  ${JSON.stringify(piped.join(''))}`)

  const trailed = await client.request({ path: '/trailers', method: 'GET' })
  await trailed.body.dump()
  console.log(`  trailers  ${JSON.stringify(trailed.trailers)}`)

  await complain('abort', client.request({ path: '/slow', method: 'GET', signal: AbortSignal.timeout(50) }))
  await complain('timeout', client.request({ path: '/slow', method: 'GET', headersTimeout: 50 }))
  await complain('loss', client.request({ path: '/die', method: 'GET' }))

  const again = await client.request({ path: '/again', method: 'GET' })
  console.log(`  and again ${again.statusCode} ${JSON.stringify(await again.body.text())}`)
  await client.close()
  server.close()
}

function collect(pieces: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk.toString())
      done()
    },
  })
}

async function complain(what: string, request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    const { name, message, retrySafety } = error as Error & { retrySafety?: string }
    console.log(`  ${what.padEnd(9)} ${name}: ${message}${retrySafety ? ` [retry: ${retrySafety}]` : ''}`)
  }
}

/** Where the time of a request went: one mark for each tenth of a millisecond, at most twenty. */
function bar(timings: Timings | null): string {
  if (timings === null) return ''
  const { queued, connect, sent, firstByte, end } = timings
  const marks = (sign: string, from: number | null, to: number | null): string =>
    from === null || to === null ? '' : sign.repeat(Math.min(20, Math.max(1, Math.round((to - from) * 10))))
  const total = (end ?? firstByte ?? queued) - queued
  return `[${marks('c', queued, connect)}${marks('s', connect ?? queued, sent)}${marks('w', sent, firstByte)}] ${total.toFixed(1)} ms`
}
