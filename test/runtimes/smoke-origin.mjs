// The origins of the smoke test. They run with Node, whatever runtime runs the client, so that only the client is tested.
// Prints where they listen as one line of JSON, and ends with its standard input.
import { readFileSync } from 'node:fs'
import net from 'node:net'
import { startOrigins } from '../../examples/origin.mjs'

const [socketPath] = process.argv.slice(2)
const pem = (name) => readFileSync(new URL(`../../examples/${name}.pem`, import.meta.url), 'utf8')

const ports = { http: 0, otherHttp: 0, h2c: 0, https: 0, mutualTls: 0, socks: 0 }
const origins = await startOrigins(ports)

const server = net.createServer((socket) => {
  const target = net.connect(origins.ports.http, '127.0.0.1')
  socket.pipe(target).pipe(socket)
  socket.on('error', () => target.destroy())
  target.on('error', () => socket.destroy())
})
server.listen(socketPath, () => {
  const identity = { key: pem('client-key'), cert: pem('client') }
  console.log(JSON.stringify({ ports: origins.ports, socketPath, ca: pem('ca'), identity }))
})

process.stdin.on('end', () => process.exit()).resume()
