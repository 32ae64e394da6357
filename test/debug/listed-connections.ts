/** Runs in a separate process: an agent with two connections, of which the server ends one, is closed. */
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Agent } from '../../src/index.ts'

const sockets: Socket[] = []
const server = http.createServer((_request, response) => response.end('ok'))
server.on('connection', (socket: Socket) => sockets.push(socket))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
const origin = `http://localhost:${port}`

const agent = new Agent()
const get = async (): Promise<string> => {
  const { body } = await agent.request({ origin, path: '/?token=secret', method: 'GET' })
  return body.text()
}
const answers = await Promise.all([get(), get(), get()])
sockets[0]!.destroy()
while (agent.connections().length > 2) await new Promise(setImmediate)
await agent.close()
process.stdout.write(JSON.stringify({ pid: process.pid, ports: { server: port }, answers }))
server.close()
