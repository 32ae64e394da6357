import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BINARY, CONTINUATION, serverFrame } from '../protocol/websocket/server-frames.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'
import { startRawServer } from './raw-server.ts'

const MEGABYTE = 2 ** 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Memory in use outside the heap, where the bytes of messages are. */
function buffers(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

it('64 MB in many frames flow through in little memory', UNLESS_INSTRUMENTED, async (t) => {
  const raw = await startRawServer(t)
  const [socket, peer] = await raw.pair()
  const piece = serverFrame(BINARY, Buffer.alloc(64 * 1024))
  const pieces = 1024
  let received = 0
  let most = 0
  const before = buffers()
  const done = new Promise<void>((resolve) => {
    socket.onmessage = ({ data }) => {
      received += (data as ArrayBuffer).byteLength
      if ((received / piece.length) % 16 < 1) most = Math.max(most, buffers() - before)
      if (received === pieces * 64 * 1024) resolve()
    }
  })
  let left = pieces
  const write = (): void => {
    while (left > 0) {
      left--
      if (!peer.socket.write(piece)) {
        peer.socket.once('drain', write)
        return
      }
    }
  }
  write()
  await done
  assert.ok(most < 16 * MEGABYTE, `${most} bytes at the most`)
})

it('a message in single bytes takes the memory of its bytes', async (t) => {
  const raw = await startRawServer(t)
  const [socket, peer] = await raw.pair()
  const fragment = serverFrame(CONTINUATION, 'x', { fin: false })
  const count = 100_000
  const frames = Buffer.concat([
    serverFrame(BINARY, 'x', { fin: false }),
    ...Array<Buffer>(count - 1).fill(fragment),
    serverFrame(CONTINUATION),
  ])
  const message = new Promise<ArrayBuffer>((resolve) => {
    socket.onmessage = ({ data }) => resolve(data as ArrayBuffer)
  })
  const before = buffers()
  peer.send(frames)
  assert.equal((await message).byteLength, count)
  // The frames themselves, once sent and once read, and a few blocks.
  const more = buffers() - before
  assert.ok(more < 2 * MEGABYTE, `${more} bytes`)
})
