// fetch on a dispatcher: redirects are followed, and bodies are decoded.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import { gzipSync } from 'node:zlib'
import { Agent, fetch } from 'ventuno'

const pem = (name) => readFileSync(new URL(`./${name}.pem`, import.meta.url))
const tls = { key: pem('localhost-key'), cert: pem('localhost') }
const server = http2.createSecureServer(tls, (request, response) => {
  if (request.url === '/') {
    response.writeHead(302, { location: '/compressed' })
    response.end()
  } else {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' })
    response.end(gzipSync(JSON.stringify({ httpVersion: request.httpVersion })))
  }
})
await once(server.listen(0, '127.0.0.1'), 'listening')

const dispatcher = new Agent({ connect: { ca: pem('ca') } })
const response = await fetch(`https://localhost:${server.address().port}/`, { dispatcher })
const value = await response.json()
console.log(response.status, response.redirected, value)
assert.deepEqual(value, { httpVersion: '2.0' })

await dispatcher.close()
server.close()
