/** Turns of the event loop that a request makes by itself, in a process that does nothing else. */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { Client, H2CClient } from '../../src/index.ts'
import { startServerThread } from '../support/server-thread.ts'

/** Has a thread of its own, so that its turns are not counted. It answers messages, too. */
const serverOf = (module: string): string => `
const { parentPort } = require('node:worker_threads')
const server = require('${module}').createServer((request, response) => response.end('text'))
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
parentPort.on('message', (message) => parentPort.postMessage(message))
`

async function listen(t: TestContext, module: string) {
  const { worker, said: port } = await startServerThread<number>(t, serverOf(module))
  /** The loop has polled twice. */
  const rest = async (): Promise<void> => {
    for (const message of [1, 2]) {
      worker.postMessage(message)
      await once(worker, 'message')
    }
  }
  return { origin: `http://127.0.0.1:${port}`, rest }
}

/** How many immediates are set meanwhile: the loop takes a turn for each. */
async function immediatesIn(run: () => Promise<void>): Promise<number> {
  let count = 0
  const hook = createHook({ init: (_id, type) => void (type === 'Immediate' && count++) })
  hook.enable()
  try {
    await run()
  } finally {
    hook.disable()
  }
  return count
}

describe('a request on an idle connection', () => {
  const wires = [
    { wire: 'HTTP/1.1', module: 'node:http', Dispatcher: Client, expected: 0 },
    // What it sends leaves at the end of the turn.
    { wire: 'h2c', module: 'node:http2', Dispatcher: H2CClient, expected: 1 },
  ]
  for (const { wire, module, Dispatcher, expected } of wires) {
    test(`${wire}: immediates that are set, its end included: ${expected}`, async (t) => {
      const { origin, rest } = await listen(t, module)
      const client = new Dispatcher(origin)
      t.after(() => client.destroy())
      const send = async (): Promise<void> => {
        const { body } = await client.request({ path: '/', method: 'GET' })
        assert.equal(await body.text(), 'text')
        await rest()
      }
      await send()
      await send()
      assert.equal(await immediatesIn(send), expected)
    })
  }
})
