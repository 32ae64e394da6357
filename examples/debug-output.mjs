// Shows the output of RUNTIME_DEBUG=core for one request. The variable is read when the library is loaded, so
// this program starts itself again with it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { Client } from 'ventuno'

if (process.env.RUNTIME_DEBUG === undefined) {
  const { stderr } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url)], {
    encoding: 'utf8',
    env: { ...process.env, RUNTIME_DEBUG: 'core' },
  })
  console.log(stderr)
  for (const line of ['connecting to', 'connected to', 'sending request to', 'received response to']) {
    assert.match(stderr, new RegExp(`^CORE \\d+: ${line} `, 'm'))
  }
} else {
  const server = http.createServer((_, response) => response.end('hello'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new Client(`http://localhost:${server.address().port}`)
  const { body } = await client.request({ path: '/', method: 'GET' })
  await body.dump()
  await client.close()
  server.close()
}
