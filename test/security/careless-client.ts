/**
 * A program that asks for responses and reads none of them, or reads one with `text()`. It runs in a process of its own,
 * so that the memory it holds is that of the client alone; the test is its server. It tells what it knows by messages.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Dispatcher, H2CClient } from '../../src/index.ts'
import { garbageCollector } from '../support/garbage.ts'

const collectGarbage = garbageCollector()
const [url, task, count] = process.argv.slice(2) as [string, string, string]
const client = new H2CClient(url)

/** In bytes; `arrayBuffers` are part of `external`. */
function used(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function ask(): Promise<Dispatcher.ResponseData> {
  return client.request({ path: '/', method: 'GET' })
}

// What is loaded or made once does not count.
const first = await ask()
await first.body.text()
collectGarbage()
const before = used()

if (task === 'text') {
  const { body } = await ask()
  const reading = body.text()
  let most = 0
  let isRead = false
  const look = (): void => {
    most = Math.max(most, used() - before)
    if (!isRead) setImmediate(look)
  }
  look()
  const { length } = await reading
  isRead = true
  assert.equal(length, Number(count))
  process.send!(most)
} else {
  const responses = await Promise.all(Array.from({ length: Number(count) }, ask))
  // The server has sent all that it may.
  await once(process, 'message')
  collectGarbage()
  process.send!(used() - before)
  assert.equal(responses.length, Number(count))
}
process.disconnect()
await client.destroy()
