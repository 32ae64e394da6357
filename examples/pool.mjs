// Several connections to one origin, and an agent for several origins.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { Agent, Pool } from 'ventuno'

let connections = 0
const servers = ['a', 'b'].map((name) =>
  http.createServer((_, response) => response.end(name)).on('connection', () => connections++),
)
for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
const origins = servers.map((server) => `http://localhost:${server.address().port}`)

const pool = new Pool(origins[0], { connections: 3 })
const replies = await Promise.all(
  Array.from({ length: 30 }, async () => {
    const { body } = await pool.request({ path: '/', method: 'GET' })
    return body.text()
  }),
)
console.log(`${replies.length} requests on ${connections} connections`, pool.stats)
assert.equal(connections, 3)
await pool.close()

const agent = new Agent()
const names = await Promise.all(
  origins.map(async (origin) => {
    const { body } = await agent.request({ origin, path: '/', method: 'GET' })
    return body.text()
  }),
)
console.log(names, agent.stats)
assert.deepEqual(names, ['a', 'b'])
await agent.close()
for (const server of servers) server.close()
