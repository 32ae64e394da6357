import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { ownBytes } from '../../src/base/bytes/own-bytes.ts'
import { ConnectDetails } from '../../src/net/connect-details.ts'
import { type BuildConnectorOptions, buildClientConnector } from '../../src/net/connector.ts'
import { reclaimInlet } from '../../src/net/slab-inlet.ts'
import type { TransportSink } from '../../src/net/stream-transport.ts'
import { StreamTransport } from '../../src/net/stream-transport.ts'
import { authority, localhost } from '../support/certificates.ts'
import { deferred } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'

type Wire = 'http:' | 'https:'

/** Records its input and wakes pending waits. */
class Sink implements TransportSink {
  readonly calls: string[] = []
  readonly pieces: Buffer[] = []
  onPiece: (piece: Buffer) => void = () => {}
  #waiting: (() => void)[] = []

  onBytes(memory: Buffer, length: number): void {
    const bytes = ownBytes(memory, 0, length)
    this.pieces.push(bytes)
    this.#note('bytes')
    this.onPiece(bytes)
  }

  onDrain(): void {}

  onEof(): void {
    this.#note('eof')
  }

  onTransportClosed(error: Error | null): void {
    this.#note(`closed ${error?.message ?? 'in order'}`)
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1')
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #note(call: string): void {
    if (this.calls.at(-1) !== call) this.calls.push(call)
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

async function listen(t: TestContext, wire: Wire): Promise<{ port: number; accept: Promise<net.Socket> }> {
  const server = wire === 'https:' ? tls.createServer(localhost) : net.createServer()
  const accept = once(server, wire === 'https:' ? 'secureConnection' : 'connection').then(([socket]) => {
    t.after(() => void socket.destroy())
    return socket.on('error', () => {}) as net.Socket
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { port: (server.address() as net.AddressInfo).port, accept }
}

/** As a client connects, or as others do, without `details`. */
function connect(
  t: TestContext,
  wire: Wire,
  port: number,
  details: ConnectDetails | undefined,
  options: BuildConnectorOptions = {},
): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const connector = buildClientConnector({ ca: authority, ...options })
    connector(
      { hostname: 'localhost', protocol: wire, port },
      (error, socket) => {
        if (error !== null) return reject(error)
        t.after(() => void socket.destroy())
        resolve(socket)
      },
      details,
    )
  })
}

async function open(
  t: TestContext,
  wire: Wire,
  sink = new Sink(),
): Promise<{ transport: StreamTransport; sink: Sink; peer: net.Socket; socket: net.Socket }> {
  const { port, accept } = await listen(t, wire)
  const details = new ConnectDetails()
  const socket = await connect(t, wire, port, details)
  const transport = new StreamTransport(socket, details.inlet)
  transport.attach(sink)
  return { transport, sink, peer: await accept, socket }
}

for (const wire of ['http:', 'https:'] as const) {
  describe(`sockets of a client, ${wire}`, () => {
    test('what was handed on stays as it was while more is read on this and other sockets', async (t) => {
      const first = await open(t, wire)
      const second = await open(t, wire)
      first.peer.write('one')
      await first.sink.until(() => first.sink.text === 'one')
      second.peer.write('other')
      await second.sink.until(() => second.sink.text === 'other')
      first.peer.write('two')
      await first.sink.until(() => first.sink.text === 'onetwo')
      assert.equal(second.sink.text, 'other')
    })

    test('many megabytes arrive as they were sent, small pieces in between', async (t) => {
      const { sink, peer } = await open(t, wire)
      const sent: Buffer[] = []
      for (let i = 0; i < 40; i++) {
        sent.push(Buffer.alloc(200_000, i), Buffer.from(`piece ${i}`))
      }
      const whole = Buffer.concat(sent)
      let received = 0
      sink.onPiece = (piece) => {
        received += piece.length
      }
      for (const part of sent) peer.write(part)
      await sink.until(() => received === whole.length)
      assert.ok(Buffer.concat(sink.pieces).equals(whole))
    })

    test('a pause holds everything back, also what the runtime had read already', async (t) => {
      const { transport, sink, peer } = await open(t, wire)
      const whole = Buffer.alloc(300_000, 'abcdefg')
      let paused = false
      sink.onPiece = () => {
        assert.equal(paused, false)
        paused = true
        transport.setReading(false)
        setImmediate(() => {
          paused = false
          transport.setReading(true)
          transport.setReading(true)
        })
      }
      peer.end(whole)
      await sink.until(() => sink.calls.includes('eof'))
      assert.ok(Buffer.concat(sink.pieces).equals(whole))
    })

    test('the end waits for what came before it', async (t) => {
      const { transport, sink, peer, socket } = await open(t, wire)
      sink.onPiece = () => transport.setReading(false)
      // Separate records over TLS: some are read although reading was stopped.
      for (let i = 0; i < 3; i++) peer.write(String(i))
      peer.end()
      await sink.until(() => sink.calls.length > 0)
      await turns(4)
      assert.ok(!sink.calls.includes('eof') || sink.text === '012')
      sink.onPiece = () => {}
      transport.setReading(true)
      await sink.until(() => sink.calls.at(-1) === 'closed in order')
      assert.deepEqual(sink.calls, ['bytes', 'eof', 'closed in order'])
      assert.equal(sink.text, '012')
      assert.equal(socket.listenerCount('data'), 0)
    })

    test('destroying with something held back ends it', async (t) => {
      const { transport, sink, peer } = await open(t, wire)
      sink.onPiece = () => transport.setReading(false)
      for (let i = 0; i < 3; i++) peer.write(String(i))
      await sink.until(() => sink.calls.length > 0)
      transport.destroy(new Error('enough'))
      await sink.until(() => sink.calls.at(-1) === 'closed enough')
      assert.deepEqual(sink.calls, ['bytes', 'closed enough'])
    })

    test('a mistake in the sink costs the connection, not the process', async (t) => {
      const { sink, peer } = await open(t, wire)
      sink.onPiece = () => {
        throw new Error('mistake')
      }
      peer.write('x')
      await sink.until(() => sink.calls.at(-1) === 'closed mistake')
    })

    test('after a detach it is a socket like any other', async (t) => {
      const { transport, sink, peer, socket } = await open(t, wire)
      sink.onPiece = () => transport.setReading(false)
      peer.write('first')
      await sink.until(() => sink.text === 'first')
      peer.write('second')
      await turns(2)
      assert.equal(transport.detach(Buffer.from('unread ')), socket)
      let text = ''
      const all = `unread second${'x'.repeat(200_000)}`
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        socket.pause()
        setImmediate(() => socket.resume())
      })
      peer.end('x'.repeat(200_000))
      await once(socket, 'end')
      assert.equal(text, all)
      assert.equal(sink.text, 'first')
    })

    test('a socket that comes back unused is read as before', async (t) => {
      const { transport, sink, peer, socket } = await open(t, wire)
      peer.write('first')
      await sink.until(() => sink.text === 'first')
      transport.detach(Buffer.from('unread '))
      peer.write('second')
      await eventually(() => socket.readableLength === 'unread second'.length)
      const inlet = reclaimInlet(socket)
      assert.notEqual(inlet, null)
      assert.equal(reclaimInlet(socket), null)
      const later = new Sink()
      const again = new StreamTransport(socket, inlet)
      again.attach(later)
      await later.until(() => later.text === 'unread second')
      const large = 'x'.repeat(200_000)
      peer.write(large)
      await later.until(() => later.text === `unread second${large}`)
      assert.equal(socket.listenerCount('data'), 0)
      assert.equal(sink.text, 'first')
      // It may be handed over once more.
      again.detach(Buffer.alloc(0))
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
      })
      peer.end('last')
      await once(socket, 'end')
      assert.equal(text, 'last')
    })

    test('a socket that comes back with its end still has the bytes before it', async (t) => {
      const { transport, peer, socket } = await open(t, wire)
      transport.detach(Buffer.from('unread '))
      peer.end('last')
      await eventually(() => socket.readableLength === 'unread last'.length)
      await turns(4)
      const sink = new Sink()
      new StreamTransport(socket, reclaimInlet(socket)).attach(sink)
      await sink.until(() => sink.calls.at(-1) === 'closed in order')
      assert.deepEqual(sink.calls, ['bytes', 'eof', 'closed in order'])
      assert.equal(sink.text, 'unread last')
    })

    test('a socket with a reader does not come back', async (t) => {
      for (const event of ['data', 'readable']) {
        const { transport, socket } = await open(t, wire)
        assert.equal(reclaimInlet(socket), null, 'not handed over')
        transport.detach(Buffer.alloc(0))
        socket.on(event, () => {})
        assert.equal(reclaimInlet(socket), null, event)
        socket.destroy()
        socket.removeAllListeners(event)
        assert.equal(reclaimInlet(socket), null, 'destroyed')
      }
    })

    test('what arrives before anybody listens is kept', async (t) => {
      const { port, accept } = await listen(t, wire)
      const details = new ConnectDetails()
      const socket = await connect(t, wire, port, details)
      const peer = await accept
      await new Promise<void>((resolve) => void peer.end('early', () => resolve()))
      await turns(4)
      const sink = new Sink()
      new StreamTransport(socket, details.inlet).attach(sink)
      await sink.until(() => sink.calls.at(-1) === 'closed in order')
      assert.equal(sink.text, 'early')
      assert.deepEqual(sink.calls, ['bytes', 'eof', 'closed in order'])
    })
  })
}

describe('the memory that is read into', () => {
  /** Sends this many bytes, and returns the memories that they came in. */
  async function memoriesOf(
    t: TestContext,
    size: number,
    take: (memory: Buffer, length: number) => void,
  ): Promise<number> {
    const sink = new Sink()
    const memories = new Set<ArrayBufferLike>()
    let received = 0
    sink.onBytes = (memory, length) => {
      memories.add(memory.buffer)
      received += length
      take(memory, length)
      if (received === size) sink.onEof()
    }
    const { peer } = await open(t, 'http:', sink)
    peer.write(Buffer.alloc(size))
    await sink.until(() => sink.calls.includes('eof'))
    return memories.size
  }

  test('stays the same for a receiver that copies what it needs', async (t) => {
    const size = 8_000_000
    assert.ok((await memoriesOf(t, size, () => {})) <= size / 65_536 / 16)
  })

  test('is another one after each that the receiver keeps', async (t) => {
    const kept: Buffer[] = []
    await memoriesOf(t, 8_000_000, (memory, length) => {
      const bytes = ownBytes(memory, 0, length)
      if (bytes === memory) kept.push(bytes)
    })
    assert.equal(new Set(kept.map((bytes) => bytes.buffer)).size, kept.length)
  })
})

describe('who gets such sockets', () => {
  test('not callers without details, who listen for data', async (t) => {
    const { port, accept } = await listen(t, 'http:')
    const socket = await connect(t, 'http:', port, undefined)
    ;(await accept).write('hello')
    const [data] = await once(socket, 'data')
    assert.equal(String(data), 'hello')
  })

  test('not those who bring an onread of their own', async (t) => {
    const { port, accept } = await listen(t, 'http:')
    const read = deferred<string>()
    const details = new ConnectDetails()
    await connect(t, 'http:', port, details, {
      onread: {
        buffer: Buffer.alloc(16),
        callback: (length, memory) => {
          read.resolve(Buffer.from(memory).toString('latin1', 0, length))
          return true
        },
      },
    })
    assert.equal(details.inlet, null)
    ;(await accept).write('hello')
    assert.equal(await read.promise, 'hello')
  })
})
