// A limit for the head, one for the body, and one for the whole request.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Client } from 'ventuno'

const server = http.createServer((request, response) => {
  if (request.url === '/stall') response.write('the first half, and no other')
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`)

await assert.rejects(client.request({ path: '/slow', method: 'GET', headersTimeout: 50 }), (error) => {
  console.log(`${error.name}: ${error.message}`)
  return error.code === 'UND_ERR_HEADERS_TIMEOUT'
})

const { body } = await client.request({ path: '/stall', method: 'GET', bodyTimeout: 50 })
await assert.rejects(body.text(), (error) => {
  console.log(`${error.name}: ${error.message}`)
  return error.code === 'UND_ERR_BODY_TIMEOUT'
})

const signal = AbortSignal.timeout(50)
await assert.rejects(client.request({ path: '/slow', method: 'GET', signal }), (error) => {
  console.log(`${error.name}: ${error.message}`)
  return error.cause === signal.reason
})

await client.destroy()
server.close()
