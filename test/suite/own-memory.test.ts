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
import { Client, type DispatchController, type DispatchHandler, WebSocket } from '../../src/index.ts'
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
    // The runtime's own reads do not fill their memory; data of a caller's socket belongs to the caller.
    const isGiven = wire.endsWith('given')
    test(`what comes through ${kind}() over ${wire}`, { skip: isGiven }, async (t) => {
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
