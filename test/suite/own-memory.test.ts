/**
 * Data passed to callers is theirs: its memory holds nothing else, and transferring it, for example to another thread,
 * breaks nothing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import {
  type BodyReadable,
  Client,
  type DispatchController,
  type DispatchHandler,
  WebSocket,
} from '../../src/index.ts'
import { deferred } from '../support/exchange.ts'
import { eventually } from '../support/fake-clock.ts'
import { OWN_WIRES, openTunnel, TUNNEL_KINDS } from '../support/tunnel.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

/** Detaches the memory. */
function transfer(chunk: Uint8Array): void {
  structuredClone(chunk.buffer, { transfer: [chunk.buffer as ArrayBuffer] })
  assert.equal(chunk.length, 0)
}

function assertOwn(chunk: Uint8Array): void {
  assert.equal(chunk.byteOffset, 0)
  assert.equal(chunk.buffer.byteLength, chunk.length, 'there is something else in its memory')
}

/** Inspects each chunk, keeps its text, and transfers it. */
class TransferringHandler implements DispatchHandler {
  readonly done = deferred<string>()
  text = ''
  raw: Buffer[] = []

  onRequestStart(): void {}

  onResponseStart(controller: DispatchController): void {
    this.raw.push(...((controller as { rawHeaders?: Buffer[] }).rawHeaders ?? []))
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    assertOwn(chunk)
    this.text += chunk.toString('latin1')
    transfer(chunk)
  }

  onResponseEnd(controller: DispatchController): void {
    this.raw.push(...((controller as { rawTrailers?: Buffer[] }).rawTrailers ?? []))
    this.done.resolve(this.text)
  }

  onResponseError(_controller: DispatchController | null, error: Error): void {
    this.done.reject(error)
  }
}

async function chunksOf(source: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source) chunks.push(chunk)
  return chunks
}

/** Ways to read a body that yield its memory. */
const READERS: readonly [string, (body: BodyReadable) => Promise<Iterable<Uint8Array>>][] = [
  ['iterated', async (body) => chunksOf(body)],
  [
    'streamed',
    async (body) =>
      chunksOf(
        body
          .on('error', () => {})
          .resume()
          .pause(),
      ),
  ],
  ['bytes()', async (body) => [await body.bytes()]],
  ['arrayBuffer()', async (body) => [new Uint8Array(await body.arrayBuffer())]],
  ['as a web stream', async (body) => chunksOf(body.body)],
]

const SIZES = [1, 63, 64, 65, 200, 4000, 5000, 40_000, 65_536, 70_000, 1_000_000]

function content(size: number): string {
  return 'body'.repeat(size / 4 + 1).slice(0, size)
}

function answer(response: ServerResponse, size: number, framing: string): void {
  const body = content(size)
  if (framing === 'counted') response.setHeader('content-length', size)
  response.setHeader('x-secret', 'another')
  if (framing === 'trailers') response.setHeader('trailer', 'x-sum')
  for (let at = 0; at < size; at += 30_000) response.write(body.slice(at, at + 30_000))
  if (framing === 'trailers') response.addTrailers({ 'x-sum': '12' })
  response.end()
}

overEachWire('the memory of a chunk', (wire) => {
  for (const framing of ['counted', 'streamed', 'trailers']) {
    test(`is its own, and can be given away: ${framing}`, async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        // Node 22 resets HTTP/2 streams whose request was not read completely.
        request.resume()
        request.on('end', () => answer(response, Number(request.url!.slice(1)), framing))
      })
      const client = origin.client({ pipelining: 10 })
      for (const size of SIZES) {
        // Again, since a repeated head takes another code path; and together, since they share reads.
        for (let round = 0; round < 3; round++) {
          const handlers = Array.from({ length: 4 }, () => new TransferringHandler())
          for (const handler of handlers) {
            client.dispatch({ path: `/${size}`, method: 'GET', blocking: false }, handler)
          }
          for (const handler of handlers) assert.equal(await handler.done.promise, content(size))
        }
      }
      assert.equal(origin.sockets.length, 1)
    })
  }

  test('is not that of bodies which are decoded beside it and after it', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      const [, letter, size] = request.url!.split('/')
      request.resume()
      request.on('end', () => {
        response.setHeader('content-length', size!)
        response.end(letter!.repeat(Number(size)))
      })
    })
    const clients = new Map(['a', 'b', 'c', 'd', 'e'].map((letter) => [letter, origin.client()]))
    const read = async (letter: string, size: number, way: 'text' | 'bytes'): Promise<() => void> => {
      const { body } = await clients.get(letter)!.request({ path: `/${letter}/${size}`, method: 'GET' })
      const got = await body[way]()
      return () => {
        assert.equal(typeof got === 'string' ? got : Buffer.from(got).toString(), letter.repeat(size))
        if (typeof got !== 'string') assertOwn(got)
      }
    }
    for (let round = 0; round < 3; round++) {
      const checks = await Promise.all([
        read('a', 300_000, 'text'),
        read('b', 400_000, 'bytes'),
        read('c', 200_000, 'text'),
        read('d', 300_000, 'bytes'),
        read('e', 40_000, 'text'),
      ])
      for (const check of checks) check()
    }
  })

  test('so is that of raw headers and trailers', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => answer(response, 10, 'trailers'))
    const handler = new TransferringHandler()
    origin.client().dispatch({ path: '/', method: 'GET' }, handler)
    await handler.done.promise
    assert.ok(handler.raw.length >= 6)
    const memories = new Set(handler.raw.map((part) => part.buffer))
    for (const memory of memories) {
      const parts = handler.raw.filter((part) => part.buffer === memory)
      assert.equal(
        parts.reduce((sum, part) => sum + part.length, 0),
        memory.byteLength,
      )
    }
    for (const memory of memories) transfer(new Uint8Array(memory as ArrayBuffer))
  })

  for (const [way, read] of READERS) {
    test(`of a body that had arrived before: ${way}`, async (t) => {
      const origin = await startOrigin(t, wire, (request, response) =>
        answer(response, Number(request.url!.slice(1)), 'counted'),
      )
      const client = origin.client({ pipelining: 10 })
      for (const size of SIZES.filter((each) => each < 60_000)) {
        const options = { path: `/${size}`, method: 'GET', blocking: false } as const
        const bodies = (await Promise.all([1, 2, 3].map(() => client.request(options)))).map(
          ({ body }) => body,
        )
        await eventually(() => bodies.every((body) => body.readableLength === size))
        for (const body of bodies) {
          let text = ''
          for (const chunk of await read(body)) {
            assertOwn(chunk)
            text += Buffer.from(chunk).toString('latin1')
            transfer(chunk)
          }
          assert.equal(text, content(size))
        }
      }
    })
  }

  test('a handler that copies gets memory that is lent', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => answer(response, 100_000, 'streamed'))
    const done = deferred<string>()
    let text = ''
    origin.client().dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: () => assert.fail('called as well'),
        onResponseBytes(_controller: DispatchController, memory: Buffer, start: number, end: number) {
          text += memory.toString('latin1', start, end)
        },
        onResponseEnd: () => done.resolve(text),
        onResponseError: (_controller: unknown, error: Error) => done.reject(error),
      },
    )
    assert.equal(await done.promise, content(100_000))
  })

  test('a handler that throws over lent memory fails its request', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => answer(response, 100, 'streamed'))
    const thrown = new Error('not this one')
    const failed = deferred<Error>()
    origin.client().dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseBytes() {
          throw thrown
        },
        onResponseEnd: () => failed.reject(new Error('ended')),
        onResponseError: (_controller: unknown, error: Error) => failed.resolve(error),
      },
    )
    assert.equal(await failed.promise, thrown)
  })

  test('of a body that is listened to', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => answer(response, 200_000, 'streamed'))
    const client = origin.client()
    for (let round = 0; round < 3; round++) {
      let text = ''
      const { body } = await client.request({ path: '/', method: 'GET' })
      body.on('data', (chunk: Buffer) => {
        assertOwn(chunk)
        text += chunk.toString('latin1')
        transfer(chunk)
      })
      await once(body, 'end')
      assert.equal(text, content(200_000))
    }
  })
})

test('two responses in one read, the second behind a body that was given away', async (t) => {
  const response = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      const count = String(bytes).split('\r\n\r\n').length - 1
      socket.write((response + content(100)).repeat(count))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { pipelining: 5 })
  t.after(() => {
    server.close()
    return client.destroy()
  })
  for (let round = 0; round < 3; round++) {
    const handlers = Array.from({ length: 5 }, () => new TransferringHandler())
    for (const handler of handlers) client.dispatch({ path: '/', method: 'GET', blocking: false }, handler)
    for (const handler of handlers) assert.equal(await handler.done.promise, content(100))
  }
})

for (const kind of TUNNEL_KINDS) {
  for (const wire of OWN_WIRES) {
    // The runtime's own reads do not fill their memory.
    const skip = wire.endsWith('given') && "data of a caller's socket belongs to the caller"
    test(`what comes through ${kind}() over ${wire}`, { skip }, async (t) => {
      const socket = await openTunnel(t, wire, kind, (peer) => {
        peer.on('data', (bytes) => peer.write(`you said ${bytes}`)).resume()
        return 'early'
      })
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        assertOwn(chunk)
        text += String(chunk)
        transfer(chunk)
      })
      await eventually(() => text === 'early')
      socket.write('hello')
      await eventually(() => text === 'earlyyou said hello')
    })
  }
}

describe('messages of a WebSocket', () => {
  for (const binaryType of ['arraybuffer', 'blob'] as const) {
    test(binaryType, async (t) => {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
      await once(server, 'listening')
      server.on('connection', (socket) => {
        for (const size of SIZES) socket.send(Buffer.from(content(size)))
      })
      const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
      t.after(() => {
        socket.close()
        server.close()
      })
      socket.binaryType = binaryType
      const received: (ArrayBuffer | Blob)[] = []
      socket.onmessage = ({ data }) => received.push(data as ArrayBuffer | Blob)
      await eventually(() => received.length === SIZES.length)
      for (const [i, data] of received.entries()) {
        const memory = data instanceof ArrayBuffer ? data : await data.arrayBuffer()
        assert.equal(Buffer.from(memory).toString('latin1'), content(SIZES[i]!))
        structuredClone(memory, { transfer: [memory] })
      }
    })
  }
})
