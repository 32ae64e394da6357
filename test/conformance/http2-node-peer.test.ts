/** The engine on a loopback socket against the server of node:http2, an independent implementation. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { ProtocolFailure } from '../../src/protocol/failure.ts'
import type { HeaderBlock } from '../../src/protocol/header-block.ts'
import { ClientEngine } from '../../src/protocol/http2/client-engine.ts'
import type { ConnectionSink } from '../../src/protocol/http2/connection-sink.ts'
import type { Stream } from '../../src/protocol/http2/stream.ts'
import type { StreamSink } from '../../src/protocol/http2/stream-sink.ts'

/** One exchange, as the sink of its stream. */
class Exchange implements StreamSink {
  stream!: Stream
  readonly #engine: ClientEngine
  status = 0
  head: HeaderBlock | null = null
  trailers: HeaderBlock | null = null
  readonly interim: number[] = []
  readonly chunks: Buffer[] = []
  readonly done: Promise<Exchange>
  settle: (failure: ProtocolFailure | null) => void = () => {}

  constructor(engine: ClientEngine) {
    this.#engine = engine
    this.done = new Promise((resolve, reject) => {
      this.settle = (failure) => {
        if (failure === null) resolve(this)
        else reject(new Error(failure.message, { cause: failure }))
      }
    })
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks)
  }

  onInformational(status: number): void {
    this.interim.push(status)
  }

  onHead(status: number, head: HeaderBlock): void {
    this.status = status
    this.head = head
  }

  onData(buf: Buffer, start: number, end: number): void {
    this.chunks.push(Buffer.from(buf.subarray(start, end)))
    this.#engine.release(this.stream, end - start)
  }

  onEnd(trailers: HeaderBlock | null): void {
    this.trailers = trailers
    this.settle(null)
  }

  onReset(failure: ProtocolFailure): void {
    this.settle(failure)
  }

  onSpoiled(): void {}

  onWritable(): void {}

  onClosed(): void {}
}

/** The smallest connection that could work: a socket, the engine, one flush per read and call. */
class Connection implements ConnectionSink {
  readonly engine: ClientEngine
  readonly #socket: net.Socket
  readonly failures: ProtocolFailure[] = []
  goaways = 0

  constructor(port: number) {
    this.engine = new ClientEngine(this, {
      initialWindowSize: 65_536,
      connectionWindowSize: 131_072,
      maxConcurrentStreams: 100,
      maxHeaderSize: 16_384,
    })
    this.#socket = net.connect(port, '127.0.0.1')
    this.#socket.on('data', (chunk: Buffer) => {
      this.engine.receive(chunk, 0, chunk.length, performance.now())
      this.flush()
    })
    this.#socket.on('drain', () => this.flush())
    this.flush()
  }

  request(
    path: string,
    body: Uint8Array | null,
    extra: readonly string[] = [],
    trailers?: string[],
  ): Exchange {
    const exchange = new Exchange(this.engine)
    const method = body === null ? 'GET' : 'POST'
    const pseudo = [':method', method, ':scheme', 'http', ':authority', 'localhost', ':path', path]
    const stream = this.engine.open([...pseudo, ...extra], body === null, exchange)
    exchange.stream = stream
    if (body !== null) {
      this.engine.send(stream, body, trailers === undefined)
      if (trailers !== undefined) this.engine.sendTrailers(stream, trailers)
    }
    this.flush()
    return exchange
  }

  flush(): void {
    while (!this.#socket.writableNeedDrain) {
      const output = this.engine.takeOutput()
      if (output === null) return
      this.#socket.cork()
      for (const part of output) this.#socket.write(part)
      this.#socket.uncork()
    }
  }

  async close(): Promise<void> {
    this.#socket.destroy()
    await once(this.#socket, 'close')
  }

  onFailure(failure: ProtocolFailure): void {
    this.failures.push(failure)
  }

  onGoaway(): void {
    this.goaways++
  }

  onClosed(): void {}
  onSettings(): void {}
  onPong(): void {}
}

function serve(): http2.Http2Server {
  const server = http2.createServer({ settings: { maxConcurrentStreams: 50 } })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    const path = headers[':path']
    if (path === '/echo') {
      stream.respond({ ':status': 200 })
      stream.pipe(stream)
    } else if (path === '/trailers') {
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-checksum': 'abc' }))
      stream.end('content')
    } else if (path === '/hints') {
      stream.additionalHeaders({ ':status': 103, link: '</a.css>' })
      stream.respond({ ':status': 204 }, { endStream: true })
    } else if (path === '/fields') {
      const fields: Record<string, string> = {}
      for (const [name, value] of Object.entries(headers))
        if (name.startsWith('x-')) fields[name] = String(value)
      stream.respond({ ':status': 200, ...fields })
      stream.end()
    } else if (path === '/bye') {
      stream.session?.close()
      stream.respond({ ':status': 200 })
      stream.end('bye')
    } else if (path === '/reset') {
      stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM)
    } else if (path === '/request-trailers') {
      stream.resume()
      stream.on('trailers', (trailers) => {
        stream.respond({ ':status': 200 })
        stream.end(String(trailers['x-after']))
      })
    } else {
      stream.respond({ ':status': 200, 'content-type': 'text/plain' })
      stream.end(`you asked for ${path}`)
    }
  })
  return server
}

describe('against node:http2', () => {
  const server = serve()
  let port = 0
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  after(() => {
    server.close()
  })

  test('a request and its answer', async () => {
    const connection = new Connection(port)
    const { status, body, head } = await connection.request('/x', null).done
    assert.equal(status, 200)
    assert.equal(head?.toObject()['content-type'], 'text/plain')
    assert.equal(body.toString(), 'you asked for /x')
    assert.equal(connection.engine.areSettingsAcknowledged, true)
    await connection.close()
  })

  test('three hundred requests on one connection, fifty at a time', async () => {
    const connection = new Connection(port)
    await connection.request('/first', null).done
    assert.equal(connection.engine.remoteSettings.maxConcurrentStreams, 50)
    for (let round = 0; round < 6; round++) {
      const batch: Exchange[] = []
      while (connection.engine.freeStreams > 0)
        batch.push(connection.request(`/${batch.length}`, null, ['x-n', `${round}`]))
      assert.equal(batch.length, 50)
      const answers = await Promise.all(batch.map((exchange) => exchange.done))
      answers.forEach((answer, i) => {
        assert.equal(answer.body.toString(), `you asked for /${i}`)
      })
    }
    await connection.close()
  })

  test('bodies far beyond all windows, both ways at once', async () => {
    const connection = new Connection(port)
    connection.engine.growth.addRoundTrip(1)
    const bodies = [1, 2, 3].map((seed) => Buffer.alloc(1_500_000, `body ${seed} `))
    const exchanges = bodies.map((body) => connection.request('/echo', body))
    const answers = await Promise.all(exchanges.map((exchange) => exchange.done))
    answers.forEach((answer, i) => {
      assert.equal(answer.body.equals(bodies[i]!), true)
    })
    await connection.close()
  })

  test('trailers both ways, interim responses, large and repeated fields', async () => {
    const connection = new Connection(port)
    const trailers = await connection.request('/trailers', null).done
    assert.deepEqual(trailers.trailers?.flat, ['x-checksum', 'abc'])
    const after = await connection.request('/request-trailers', Buffer.from('b'), [], ['x-after', 'yes']).done
    assert.equal(after.body.toString(), 'yes')
    const hints = await connection.request('/hints', null).done
    assert.deepEqual([hints.interim, hints.status], [[103], 204])
    const fields: string[] = []
    for (let i = 0; i < 8; i++) fields.push(`x-${i}`, `${i}`.repeat(1000))
    const large = await connection.request('/fields', null, fields).done
    for (let i = 0; i < 8; i++) assert.equal(large.head?.toObject()[`x-${i}`], `${i}`.repeat(1000))
    await connection.close()
  })

  test('a reset concerns its stream only', async () => {
    const connection = new Connection(port)
    const reset = connection.request('/reset', null)
    const other = connection.request('/other', null)
    await assert.rejects(reset.done, /ENHANCE_YOUR_CALM/)
    assert.equal((await other.done).status, 200)
    assert.deepEqual(connection.failures, [])
    await connection.close()
  })

  test('a graceful end of the session lets what runs finish', async () => {
    const connection = new Connection(port)
    assert.equal((await connection.request('/bye', null).done).body.toString(), 'bye')
    assert.ok(connection.goaways >= 1)
    assert.equal(connection.engine.canOpen, false)
    await connection.close()
  })
})
