/**
 * The socket that `upgrade()` and `connect()` hand over delivers to every kind of reader, whenever the bytes arrive.
 * The table is in docs/reliability.md.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { Duplex, PassThrough, pipeline, Readable, Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { authority, localhost } from '../support/certificates.ts'
import { contentOf, deferred } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { OWN_WIRES, openTunnel, TUNNEL_KINDS } from '../support/tunnel.ts'

/**
 * `early`: with the head of the response. `late`: once the reader is attached. `large`: the same with much data.
 * `flood`: much data, with the head and after it, before there is a reader.
 */
type Arrival = 'early' | 'late' | 'large' | 'flood'

const ARRIVALS: readonly Arrival[] = ['early', 'late', 'large', 'flood']
const SMALL = Buffer.from('a few bytes')
const LARGE = Buffer.alloc(1_500_000, Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz'))

function payload(arrival: Arrival): Buffer {
  return arrival === 'large' || arrival === 'flood' ? LARGE : SMALL
}

/** The data that the socket delivers until its end. */
type Consumer = (socket: net.Socket) => Promise<Buffer>

class Collector extends Writable {
  readonly chunks: Buffer[] = []

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk)
    globalThis.setImmediate(done)
  }
}

/** Like libraries that wrap a socket in another Duplex. */
class Wrapper extends Duplex {
  readonly #socket: net.Socket

  constructor(socket: net.Socket) {
    super()
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause()
    })
    socket.on('end', () => this.push(null))
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(chunk, done)
  }
}

const CONSUMERS: Record<string, Consumer> = {
  data: async (socket) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    await once(socket, 'end')
    return Buffer.concat(chunks)
  },
  readable: async (socket) => {
    const chunks: Buffer[] = []
    socket.on('readable', () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) chunks.push(chunk)
    })
    await once(socket, 'end')
    return Buffer.concat(chunks)
  },
  'read(1000)': async (socket) => {
    const chunks: Buffer[] = []
    socket.on('readable', () => {
      for (let chunk = socket.read(1000); chunk !== null; chunk = socket.read(1000)) chunks.push(chunk)
    })
    await once(socket, 'end')
    return Buffer.concat(chunks)
  },
  iteration: contentOf,
  pipe: async (socket) => {
    const collector = new Collector()
    socket.pipe(collector)
    await once(collector, 'finish')
    return Buffer.concat(collector.chunks)
  },
  'stream.pipeline': (socket) => {
    const collector = new Collector()
    return new Promise((resolve, reject) => {
      pipeline(socket, new PassThrough(), collector, (error) => {
        if (error) reject(error)
        else resolve(Buffer.concat(collector.chunks))
      })
    })
  },
  'Duplex.toWeb': async (socket) => {
    // Node 20 ends the web stream when both sides have ended; over HTTP/2 our side does not end automatically.
    socket.once('end', () => socket.end())
    const reader = Duplex.toWeb(socket).readable.getReader()
    const chunks: Uint8Array[] = []
    for (let read = await reader.read(); !read.done; read = await reader.read()) chunks.push(read.value)
    return Buffer.concat(chunks)
  },
  'Duplex around it': (socket) => contentOf(new Wrapper(socket)),
  'Readable.wrap': (socket) => contentOf(new Readable().wrap(socket)),
}

/** Readers that send first, through the proxy to a server. */
const PROTOCOLS: Record<
  string,
  {
    readonly arrivals: readonly Arrival[]
    serve(content: Buffer): net.Server
    consume(socket: net.Socket): Promise<Buffer>
  }
> = {
  'tls.connect': {
    arrivals: ['late', 'large'],
    serve: (content) => tls.createServer(localhost, (socket) => socket.end(content)),
    consume: (socket) => contentOf(tls.connect({ socket, servername: 'localhost', ca: authority })),
  },
  'http.request': {
    arrivals: ['late', 'large'],
    serve: (content) => http.createServer((_request, response) => response.end(content)),
    consume: (socket) => getThrough(socket),
  },
  'http.request over tls.connect': {
    arrivals: ['late', 'large'],
    serve: (content) =>
      tls.createServer(localhost, (socket) => {
        http.createServer((_request, response) => response.end(content)).emit('connection', socket)
      }),
    consume: (socket) => getThrough(tls.connect({ socket, servername: 'localhost', ca: authority })),
  },
  'http2.connect': {
    arrivals: ['early', 'late', 'large'],
    serve: (content) =>
      http2.createServer((_request, response) => response.end(content)) as unknown as net.Server,
    consume: (socket) => getMultiplexed(socket),
  },
  'http2.connect over tls.connect': {
    arrivals: ['late', 'large'],
    serve: (content) => http2.createSecureServer(localhost, (_request, response) => response.end(content)),
    consume: (socket) =>
      getMultiplexed(tls.connect({ socket, servername: 'localhost', ca: authority, ALPNProtocols: ['h2'] })),
  },
}

async function getThrough(socket: net.Socket): Promise<Buffer> {
  const request = http.request({ createConnection: () => socket })
  request.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return contentOf(response)
}

async function getMultiplexed(socket: net.Socket): Promise<Buffer> {
  const session = http2.connect('http://localhost', { createConnection: () => socket })
  const content = await contentOf(session.request({ ':path': '/' }))
  session.close()
  return content
}

/** A server that is reached through the proxy, and the proxy's connection to it. */
async function upstream(t: TestContext, server: net.Server): Promise<net.Socket> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => void socket.destroy())
  return socket.on('error', () => {})
}

function assertSame(actual: Buffer, expected: Buffer): void {
  assert.equal(actual.length, expected.length)
  assert.ok(actual.equals(expected), 'the bytes are others')
}

let cells = 0

for (const kind of TUNNEL_KINDS) {
  for (const wire of OWN_WIRES) {
    describe(`${kind}() over ${wire}`, () => {
      for (const [name, consume] of Object.entries(CONSUMERS)) {
        for (const arrival of ARRIVALS) {
          cells++
          test(`${name}: ${arrival}`, { timeout: 30_000 }, async (t) => {
            const content = payload(arrival)
            const go = deferred()
            const socket = await openTunnel(t, wire, kind, (peer) => {
              switch (arrival) {
                case 'early':
                  // Not in the same write, so that a reader is attached by then.
                  void go.promise.then(() => peer.end())
                  return content
                case 'flood':
                  // A server that never reads resets an HTTP/2 stream after its end, and this reader discards the data
                  // that it holds when its source closes.
                  if (name === 'Readable.wrap') peer.resume()
                  void turns(1).then(() => peer.end(content.subarray(1000)))
                  return content.subarray(0, 1000)
                default:
                  void once(peer, 'data').then(() => peer.end(content))
                  peer.resume()
                  return ''
              }
            })
            if (arrival === 'flood') await turns(20)
            const consumed = consume(socket)
            await turns(5)
            go.resolve()
            if (arrival === 'late' || arrival === 'large') socket.write('go')
            assertSame(await consumed, content)
          })
        }
      }

      for (const [name, { arrivals, serve, consume }] of Object.entries(PROTOCOLS)) {
        for (const arrival of arrivals) {
          cells++
          test(`${name}: ${arrival}`, { timeout: 30_000 }, async (t) => {
            const content = payload(arrival)
            const target = await upstream(t, serve(content))
            const socket = await openTunnel(t, wire, kind, async (peer) => {
              const early = arrival === 'early' ? ((await once(target, 'data'))[0] as Buffer) : ''
              target.pause()
              setImmediate(() => peer.pipe(target).pipe(peer))
              return early
            })
            await turns(5)
            assertSame(await consume(socket), content)
          })
        }
      }
    })
  }
}

test('the table has as many cells as the documentation says', () => {
  assert.equal(cells, 564)
})
