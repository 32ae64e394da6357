import type { Duplex, Readable } from 'node:stream'
import { Client, connect, type Dispatcher, pipeline, upgrade } from 'undici'

const client = new Client('http://localhost')
export const duplex: Duplex = client.pipeline(
  { path: '/', method: 'PUT', objectMode: true },
  ({ body, statusCode, headers }): Readable => {
    console.log(statusCode, headers.server)
    return body
  },
)
export const handler: Dispatcher.PipelineHandler = ({ body }) => body
pipeline('http://localhost', { method: 'POST' }, handler)
export async function sockets(): Promise<Duplex[]> {
  const { socket, headers } = await client.upgrade({ path: '/', protocol: 'websocket', method: 'GET' })
  const tunnel = await client.connect({ path: 'host:80' })
  console.log(headers.upgrade, tunnel.statusCode)
  client.connect({ path: 'host:80' }, (err, data) => console.log(err, data.socket))
  client.upgrade({ path: '/' }, (err, data) => console.log(err, data.socket))
  const made = await connect('http://localhost')
  const upgraded = await upgrade('http://localhost', { protocol: 'x' })
  return [socket, tunnel.socket, made.socket, upgraded.socket]
}
