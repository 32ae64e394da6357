// A request, a POST with JSON, and the contents of an error.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Client } from 'ventuno'

const server = http.createServer((request, response) => {
  if (request.url === '/die') request.socket.destroy()
  else if (request.method === 'POST') request.pipe(response)
  else response.end('hello')
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`)

const { statusCode, body, timings } = await client.request({ path: '/', method: 'GET' })
assert.equal(await body.text(), 'hello')
console.log(statusCode, `in ${(timings.end - timings.queued).toFixed(1)} ms`)

const echo = await client.request({
  path: '/',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'ventuno' }),
})
const value = await echo.body.json()
assert.deepEqual(value, { name: 'ventuno' })
console.log(value)

await assert.rejects(client.request({ path: '/die', method: 'GET' }), (error) => {
  console.log(error.stack.split('\n', 1)[0])
  console.log({ code: error.code, phase: error.phase, retrySafety: error.retrySafety })
  return error.code === 'UND_ERR_SOCKET'
})

await client.close()
server.close()
