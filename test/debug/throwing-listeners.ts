/** Runs in a separate process: a listener on every channel throws, and requests still succeed. */
import diagnostics from 'node:diagnostics_channel'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Client, H2CClient } from '../../src/index.ts'
import { authority, localhost } from '../support/certificates.ts'
import { holdRefusingPort } from '../support/refusing-port.ts'
import { CHANNELS } from './channel-names.ts'

const caught = new Set<string>()
const answers: string[] = []

process.on('uncaughtException', (error) => caught.add(error.message))
for (const name of CHANNELS) {
  diagnostics.subscribe(name, () => {
    throw new Error(name)
  })
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

const echo = (request: Readable, response: Writable): void => {
  request.pipe(response)
}
const echoStream = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse): void => {
  request.stream.pipe(response.stream)
}
const connect = { ca: authority }
const WIRES = [
  {
    name: 'h1',
    server: http.createServer(echo),
    make: (port: number) => new Client(`http://localhost:${port}`),
  },
  {
    name: 'h2',
    server: http2.createSecureServer(localhost, echoStream),
    make: (port: number) => new Client(`https://localhost:${port}`, { connect }),
  },
  {
    name: 'h2c',
    server: http2.createServer(echoStream) as unknown as Server,
    make: (port: number) => new H2CClient(`http://localhost:${port}`),
  },
]

for (const { name, server, make } of WIRES) {
  const client = make(await listen(server))
  const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: ['hel', 'lo'] })
  answers.push(`${name} ${statusCode} ${await body.text()}`)
  await client.close()
  await new Promise((resolve) => server.close(resolve))

  const nobody = await holdRefusingPort()
  const lonely = make(nobody.port)
  await lonely.request({ path: '/', method: 'GET' }).catch((error: NodeJS.ErrnoException) => {
    answers.push(`${name} ${error.code}`)
  })
  await lonely.destroy()
  nobody.release()
}
process.stdout.write(JSON.stringify({ pid: process.pid, ports: {}, answers, caught: [...caught] }))
