// Where a request spends its time: its timings, and the diagnostics channels while it runs.
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import { Client } from 'ventuno'

const NAMES = [
  'undici:request:create',
  'undici:client:beforeConnect',
  'undici:client:connected',
  'undici:client:sendHeaders',
  'undici:request:bodySent',
  'undici:request:headers',
  'undici:request:trailers',
]
const seen = []
const listeners = NAMES.map((name) => [channel(name), () => seen.push(name)])
for (const [one, listener] of listeners) one.subscribe(listener)

const server = http.createServer((_, response) => response.end('hello'))
await once(server.listen(0, '127.0.0.1'), 'listening')
const client = new Client(`http://localhost:${server.address().port}`)
const { body, timings } = await client.request({ path: '/', method: 'GET' })
await body.dump()

console.log(seen.join('\n'))
assert.deepEqual(seen, NAMES)
const steps = Object.entries(timings).filter(([, time]) => time !== null)
for (const [step, time] of steps) console.log(step.padEnd(10), `${(time - timings.queued).toFixed(2)} ms`)
assert.ok(timings.queued <= timings.sent && timings.sent <= timings.end)

for (const [one, listener] of listeners) one.unsubscribe(listener)
await client.close()
server.close()
