// Requests that are sent again if that can do no harm, and a channel that reports each retry.
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import { Client, interceptors } from 'ventuno'

subscribe('ventuno:request:retry', ({ method, error, counter }) => {
  console.log(`${method}: attempt ${counter} failed: ${error.code}, ${error.retrySafety}`)
})

let asked = 0
const server = http.createServer((request, response) => {
  if (++asked % 3 === 0) response.end('at last')
  else request.socket.destroy()
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`).compose(
  interceptors.retry({ minTimeout: 10 }),
)

const { body } = await client.request({ path: '/', method: 'GET' })
assert.equal(await body.text(), 'at last')
assert.equal(asked, 3)
console.log(`answered after ${asked} attempts`)

// The server may have processed it, and repeating it is not harmless.
await assert.rejects(client.request({ path: '/', method: 'POST', body: 'x' }), { code: 'UND_ERR_SOCKET' })
assert.equal(asked, 4)

await client.close()
server.close()
