import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Client } from '../../src/index.ts'
import { startServerThread } from '../support/server-thread.ts'

/**
 * Answers the first request of each connection and, on demand, sends a second response right after it. The server has
 * a separate thread, so it works while the client's is blocked.
 */
const SERVER = `
const { createServer } = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const flags = new Int32Array(workerData)
const reply = (text) => 'HTTP/1.1 200 OK\\r\\ncontent-length: ' + text.length + '\\r\\n\\r\\n' + text
let connections = 0
const server = createServer((socket) => {
  const number = ++connections
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', () => {
    if (number > 1) return socket.write(reply('real'))
    socket.write(reply('first'))
    Atomics.wait(flags, 0, 0)
    socket.write(reply('poison'), () => {
      Atomics.store(flags, 1, 1)
      Atomics.notify(flags, 1)
    })
  })
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('a response that waits in the kernel when the connection becomes idle answers nobody', async (t) => {
  const { flags, said: port } = await startServerThread<number>(t, SERVER)
  const client = new Client(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  const bodies: string[] = []
  const disconnected = once(client, 'disconnect')

  const answered = new Promise<void>((resolve, reject) => {
    const handler = (whenEnded: () => void) => ({
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_controller: unknown, chunk: Buffer) {
        bodies.push(chunk.toString())
      },
      onResponseEnd: whenEnded,
      onResponseError: (_controller: unknown, error: Error) => reject(error),
    })
    const letPoisonIn = (): void => {
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
      Atomics.wait(flags, 1, 0)
    }
    client.dispatch({ path: '/1', method: 'GET' }, handler(letPoisonIn))
    client.dispatch({ path: '/2', method: 'GET' }, handler(resolve))
  })
  await answered
  const [, , error] = (await disconnected) as [unknown, unknown, Error]
  assert.deepEqual(bodies, ['first', 'real'])
  assert.equal(error.message, 'bad response')
})
