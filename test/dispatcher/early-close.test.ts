import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { Client } from '../../src/index.ts'
import { startServerThread } from '../support/server-thread.ts'

/**
 * Reads nothing: on demand it writes what it is told, and closes. Has a separate thread, so that both have happened before the
 * client's loop polls again.
 */
const SERVER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const flags = new Int32Array(workerData)
const server = createServer({ pauseOnConnect: true }, (socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('close', () => { Atomics.store(flags, 0, 1); Atomics.notify(flags, 0) })
  parentPort.once('message', (answer) => socket.write(answer, () => socket.destroy()))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

const ANSWER = 'HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: 9\r\n\r\ntoo large'

describe('a server that answers an upload early, and closes', () => {
  for (const [what, answer, expected] of [
    ['the whole answer', ANSWER, '413 too large'],
    ['half of it', ANSWER.slice(0, -4), 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
    ['nothing', '', null],
  ] as const) {
    test(`${what} came before a write failed: that is read`, async (t) => {
      const { worker, flags, said: port } = await startServerThread<number>(t, SERVER)
      const client = new Client(`http://127.0.0.1:${port}`)
      t.after(() => client.destroy())
      async function* upload(): AsyncGenerator<Buffer> {
        yield Buffer.alloc(1000)
        // It is sent at the end of the turn.
        for (let i = 0; i < 3; i++) await immediate()
        worker.postMessage(answer)
        Atomics.wait(flags, 0, 0)
        for (;;) yield Buffer.alloc(1000)
      }
      const result = client
        .request({ path: '/', method: 'POST', body: upload() })
        .then(async ({ statusCode, body }) => `${statusCode} ${await body.text()}`)
      if (expected === '413 too large') assert.equal(await result, expected)
      else if (expected === null) await assert.rejects(result)
      else await assert.rejects(result, { code: expected })
    })
  }
})
