// One signal for several requests, and a response that is aborted halfway.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Pool } from 'ventuno'

const server = http.createServer((request, response) => {
  if (request.url === '/endless') {
    const more = () => {
      while (response.write('x'.repeat(16_384)));
      response.once('drain', more)
    }
    more()
  }
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const pool = new Pool(`http://localhost:${server.address().port}`)

const controller = new AbortController()
const requests = Array.from({ length: 3 }, () =>
  pool.request({ path: '/slow', method: 'GET', signal: controller.signal }),
)
const reason = new Error('changed my mind')
setTimeout(() => controller.abort(reason), 20)
const results = await Promise.allSettled(requests)
for (const result of results) assert.equal(result.reason, reason)
console.log(`${results.length} requests ended with "${reason.message}"`)

const { body } = await pool.request({ path: '/endless', method: 'GET' })
let received = 0
for await (const chunk of body) {
  received += chunk.length
  // Leaving the loop destroys the body and aborts the request.
  if (received > 100_000) break
}
console.log(`took ${received} bytes of an endless response`)
assert.equal(body.destroyed, true)

await pool.destroy()
server.close()
