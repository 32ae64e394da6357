/** What is done through every real proxy, whatever it speaks: an upload that is given up, WebSockets, load. */
import assert from 'node:assert/strict'
import { type Dispatcher, WebSocket } from '../../src/index.ts'
import { eventually } from '../support/fake-clock.ts'
import { digest, pattern, SMALL } from './content.ts'

export const UPLOAD: Buffer = pattern(10 * 1024 * 1024)
const PIECE = 64 * 1024

/** Reads the small file, and checks it. */
export async function getSmallFrom(agent: Dispatcher, origin: string): Promise<void> {
  const { statusCode, body } = await agent.request({ origin, path: '/small.txt', method: 'GET' })
  assert.equal(statusCode, 200)
  assert.deepEqual(Buffer.from(await body.bytes()), SMALL)
}

/** Aborts a POST in the middle of its body. */
export async function abortUpload(agent: Dispatcher, origin: string, path: string): Promise<void> {
  const controller = new AbortController()
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < UPLOAD.length; at += PIECE) {
      if (at >= UPLOAD.length / 10) controller.abort()
      yield UPLOAD.subarray(at, at + PIECE)
    }
  }
  const upload = agent.request({ origin, path, method: 'POST', body: pieces(), signal: controller.signal })
  await assert.rejects(upload, { name: 'AbortError' })
}

/** Sends a text and 10 MB, and has both back. */
export async function echoThroughWebSocket(agent: Dispatcher, url: string): Promise<void> {
  const socket = new WebSocket(url, { dispatcher: agent })
  socket.binaryType = 'arraybuffer'
  const received: unknown[] = []
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      socket.send('hello')
      socket.send(UPLOAD)
    })
    socket.addEventListener('message', ({ data }) => {
      if (received.push(data) === 2) resolve()
    })
    socket.addEventListener('error', reject)
  })
  assert.equal(received[0], 'hello')
  assert.equal(digest(new Uint8Array(received[1] as ArrayBuffer)), digest(UPLOAD))
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
  socket.close()
  await closed
}

/** Keeps 20 requests running, kills the proxy under them, and returns how they failed: all settle. */
export async function failuresUnderLoad(
  agent: Dispatcher,
  origin: string,
  kill: () => Promise<void>,
): Promise<Error[]> {
  let isOver = false
  let succeeded = 0
  const failures: Error[] = []
  const load = Array.from({ length: 20 }, async () => {
    while (!isOver) {
      try {
        await getSmallFrom(agent, origin)
        succeeded++
      } catch (error) {
        failures.push(error as Error)
        isOver = true
      }
    }
  })
  await eventually(() => succeeded >= 100 || isOver)
  await kill()
  await Promise.all(load)
  return failures
}
