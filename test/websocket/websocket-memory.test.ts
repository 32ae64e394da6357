import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { WebSocketStream } from '../../src/index.ts'
import { DATA, RST_STREAM } from '../../src/protocol/http2/constants.ts'
import { BINARY, CONTINUATION, PING, PONG, serverFrame, TEXT } from '../protocol/websocket/server-frames.ts'
import { turns } from '../support/fake-clock.ts'
import { frameBytes } from '../support/frame-peer.ts'
import { garbageCollector } from '../support/garbage.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'
import { closed, startRawServer } from './raw-server.ts'

const MEGABYTE = 2 ** 20

const collectGarbage = garbageCollector()

/** Memory in use outside the heap, where the bytes of messages are. */
function buffers(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** All memory in use. */
function memory(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
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

it(
  'a message that never ends takes the memory of its bytes until it has maxFragments',
  UNLESS_INSTRUMENTED,
  async (t) => {
    const raw = await startRawServer(t)
    const [socket, peer] = await raw.pair()
    const end = closed(socket)
    const fragment = serverFrame(CONTINUATION, 'x', { fin: false })
    // The default.
    const most = 131_072
    const frames = Buffer.concat([
      serverFrame(BINARY, 'x', { fin: false }),
      ...Array<Buffer>(most - 1).fill(fragment),
      serverFrame(PING),
    ])
    const before = memory()
    peer.send(frames)
    assert.equal((await peer.frame())!.opcode, PONG)
    const more = memory() - before
    assert.ok(more < 2 * MEGABYTE, `${more} bytes`)
    peer.send(fragment)
    assert.equal(await peer.closeFrame(), '1008 Too many message fragments')
    assert.equal((await end).code, 1006)
  },
)

/** A connection whose messages nobody reads, and how its server sends bytes, each by itself. */
interface Unread {
  readonly stream: WebSocketStream
  /** The client has seen all that it wants to. */
  send(bytes: Buffer): Promise<void>
}

async function overHttp1(t: TestContext): Promise<Unread> {
  const raw = await startRawServer(t)
  const stream = new WebSocketStream(`ws://127.0.0.1:${raw.port}`, { dispatcher: raw.client })
  const peer = await raw.accept()
  return {
    stream,
    async send(bytes) {
      peer.send(bytes)
      await turns(20)
    },
  }
}

async function overHttp2(t: TestContext): Promise<Unread> {
  const ENABLE_CONNECT_PROTOCOL = 8
  const { client, server } = await startH2Pair(t, {}, { settings: [[ENABLE_CONNECT_PROTOCOL, 1]] })
  const stream = new WebSocketStream(server.url.replace('http', 'ws'), { dispatcher: client })
  const peer = await server.accept()
  const { id } = await peer.request()
  peer.head(id, 200)
  return {
    stream,
    async send(bytes) {
      const frames = Buffer.concat(Array<Buffer>(bytes.length).fill(frameBytes(DATA, 0, id, Buffer.alloc(1))))
      for (let i = 0; i < bytes.length; i++) frames[i * 10 + 9] = bytes[i]!
      peer.socket.write(frames)
      await peer.settled()
      assert.equal(peer.pending(RST_STREAM).length, 0)
    },
  }
}

for (const [wire, start] of [
  ['h1', overHttp1],
  ['h2c', overHttp2],
] as const) {
  it(
    `${wire}: messages of one byte that nobody reads take the memory of their bytes`,
    UNLESS_INSTRUMENTED,
    async (t) => {
      const { stream, send } = await start(t)
      const { readable } = await stream.opened
      // As many as fit into the window of a stream.
      const bytes = Buffer.concat(Array<Buffer>(87_381).fill(serverFrame(TEXT, 'x')))
      const before = memory()
      await send(bytes)
      const more = memory() - before
      assert.ok(more < 4 * MEGABYTE, `${more} bytes`)
      let count = 0
      for await (const message of readable) {
        assert.equal(message, 'x')
        if (++count === 1000) break
      }
    },
  )
}
