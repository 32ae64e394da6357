/**
 * What a peer can make a client keep by sending a body in single bytes: the memory of those bytes, not an object for
 * each. Memory is measured after the collector has run.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Client, type Dispatcher, events, fetch, interceptors } from '../../src/index.ts'
import { DATA } from '../../src/protocol/http2/constants.ts'
import { frameBytes } from '../support/frame-peer.ts'
import { garbageCollector } from '../support/garbage.ts'
import { startH2Pair } from '../support/h2-server.ts'
import { UNLESS_INSTRUMENTED } from '../support/instrumented.ts'
import { memoryPair } from '../support/memory-client.ts'

/** As much as a server may send on one stream that nobody reads from. */
const WINDOW = 262_144

/** The bytes, in memory that grows by doubling, what was read of the next ones, and the objects around them. */
const MOST = 2e6

const collectGarbage = garbageCollector()

function usedMemory(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Text of any length that cannot be compressed to less than half. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let state = 1
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    bytes[i] = 0x21 + ((state >> 16) % 90)
  }
  return bytes
}

interface Stage {
  readonly client: Client
  readonly origin: string
  readonly url: string
  /** Answers the next request with a body in single bytes, and waits until the client has seen all it wants to. */
  answer(singles: Buffer, fields: readonly string[]): Promise<void>
}

async function startHttp1(t: TestContext): Promise<Stage> {
  const { client, settle, say } = memoryPair(t)
  return {
    client,
    origin: 'http://localhost:1',
    // `fetch` does not go to that port.
    url: 'http://localhost:8080',
    async answer(singles, fields) {
      await settle()
      const lines = fields.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
      await say(`HTTP/1.1 200 OK\r\n${lines}transfer-encoding: chunked\r\n\r\n`)
      await say(singles.toString('latin1'))
      await turn()
    },
  }
}

async function startHttp2(t: TestContext): Promise<Stage> {
  const { client, server } = await startH2Pair(t)
  let peer: Awaited<ReturnType<typeof server.accept>> | null = null
  return {
    client,
    origin: server.url,
    url: server.url,
    async answer(singles, fields) {
      peer ??= await server.accept()
      const { id } = await peer.request()
      peer.head(id, 200, fields)
      for (let at = 5; at < singles.length; at += 10) singles.writeUInt32BE(id, at)
      peer.socket.write(singles)
      await peer.settled()
      await turn()
    },
  }
}

/** Each byte in a chunk. */
function chunksOf(bytes: Buffer): Buffer {
  const all = Buffer.from('1\r\nx\r\n'.repeat(bytes.length))
  for (let i = 0; i < bytes.length; i++) all[i * 6 + 3] = bytes[i]!
  return all
}

/** Each byte in a DATA frame. */
function framesOf(bytes: Buffer): Buffer {
  const all = Buffer.concat(Array<Buffer>(bytes.length).fill(frameBytes(DATA, 0, 1, Buffer.alloc(1))))
  for (let i = 0; i < bytes.length; i++) all[i * 10 + 9] = bytes[i]!
  return all
}

interface Wire {
  readonly name: string
  /** Bytes to send: HTTP/1.1 stops reading after 65536, HTTP/2 at the end of the window. */
  readonly length: number
  start(t: TestContext): Promise<Stage>
  singles(bytes: Buffer): Buffer
}

const WIRES: readonly Wire[] = [
  { name: 'h1', length: 81_920, start: startHttp1, singles: chunksOf },
  { name: 'h2c', length: WINDOW, start: startHttp2, singles: framesOf },
]

/** A program that asks for something and does not read it. What it returns is kept. */
interface Idler {
  readonly name: string
  readonly fields?: readonly string[]
  readonly body?: Buffer
  readonly compose?: (client: Client) => Dispatcher
  ask(dispatcher: Dispatcher, origin: string, url: string): Promise<unknown>
}

const PLAIN = noise(WINDOW)

function asked(dispatcher: Dispatcher, origin: string) {
  return dispatcher.request({ origin, path: '/', method: 'GET' })
}

const IDLERS: readonly Idler[] = [
  { name: 'request()', ask: asked },
  {
    name: 'request() with a stream that waits for `readable`',
    async ask(dispatcher, origin) {
      const { body } = await asked(dispatcher, origin)
      return body.on('readable', () => {})
    },
  },
  {
    name: 'request() with a stream that was paused',
    async ask(dispatcher, origin) {
      const { body } = await asked(dispatcher, origin)
      return body.on('data', () => body.pause())
    },
  },
  {
    name: 'request() with a web stream',
    async ask(dispatcher, origin) {
      const { body } = await asked(dispatcher, origin)
      const reader = body.body!.getReader()
      await reader.read()
      return [body, reader]
    },
  },
  {
    name: 'a loop that stands still',
    async ask(dispatcher, origin) {
      const iterator = (await asked(dispatcher, origin)).body[Symbol.asyncIterator]()
      await iterator.next()
      return iterator
    },
  },
  {
    name: 'dispatch() with a handler that pauses',
    ask: (dispatcher, origin) =>
      new Promise((resolve) => {
        dispatcher.dispatch(
          { origin, path: '/', method: 'GET' },
          {
            onRequestStart() {},
            onResponseStart(controller) {
              controller.pause()
              resolve(controller)
            },
            onResponseData() {},
            onResponseEnd() {},
            onResponseError() {},
          },
        )
      }),
  },
  {
    name: 'pipeline()',
    ask: (dispatcher, origin) =>
      new Promise((resolve) => {
        const duplex = dispatcher.pipeline({ origin, path: '/', method: 'GET' }, ({ body }) => {
          queueMicrotask(() => resolve(duplex))
          return body
        })
        duplex.on('error', () => {}).end()
      }),
  },
  { name: 'fetch()', ask: (dispatcher, _, url) => fetch(url, { dispatcher }) },
  {
    name: 'fetch() with a reader that stands still',
    async ask(dispatcher, _, url) {
      const response = await fetch(url, { dispatcher })
      const reader = response.body!.getReader()
      await reader.read()
      return [response, reader]
    },
  },
  {
    name: 'fetch() that decodes',
    fields: ['content-encoding', 'gzip'],
    body: gzipSync(noise(2 * WINDOW)).subarray(0, WINDOW),
    ask: (dispatcher, _, url) => fetch(url, { dispatcher }),
  },
  {
    name: 'decompress',
    fields: ['content-encoding', 'gzip'],
    body: gzipSync(noise(2 * WINDOW)).subarray(0, WINDOW),
    compose: (client) => client.compose(interceptors.decompress()),
    ask: asked,
  },
  {
    name: 'cache',
    fields: ['cache-control', 'max-age=60'],
    compose: (client) => client.compose(interceptors.cache()),
    ask: asked,
  },
  {
    name: 'deduplicate',
    compose: (client) => client.compose(interceptors.deduplicate()),
    async ask(dispatcher, origin) {
      return Promise.all([asked(dispatcher, origin), asked(dispatcher, origin)])
    },
  },
]

/** Runs once with a few bytes, so that what is loaded or made once does not count, and then with all. */
async function cost(t: TestContext, wire: Wire, idler: Idler): Promise<number> {
  const { fields = [], body = PLAIN, compose, ask } = idler
  let more = 0
  for (const length of [12, wire.length]) {
    const singles = wire.singles(body.subarray(0, length))
    const { client, origin, url, answer } = await wire.start(t)
    const dispatcher = compose?.(client) ?? client
    const before = usedMemory()
    const asking = ask(dispatcher, origin, url)
    await answer(singles, fields)
    const kept = [await asking]
    await turn()
    more = usedMemory() - before
    assert.equal(kept.length, 1)
    assert.ok(singles.length > 0)
  }
  return more
}

for (const wire of WIRES) {
  describe(`${wire.name}: a body in single bytes that nobody reads takes the memory of its bytes`, () => {
    for (const idler of IDLERS) {
      test(idler.name, UNLESS_INSTRUMENTED, async (t) => {
        const more = await cost(t, wire, idler)
        assert.ok(more < MOST, `${more} bytes more`)
      })
    }
  })
}

test('h2c: a tunnel that nobody reads from', UNLESS_INSTRUMENTED, async (t) => {
  const more = await cost(t, WIRES[1]!, {
    name: 'connect()',
    ask: async (dispatcher) => (await dispatcher.connect({ path: 'a.test:443' })).socket,
  })
  assert.ok(more < MOST, `${more} bytes more`)
})

for (const read of ['text', 'arrayBuffer', 'blob'] as const) {
  test(
    `${read}() of 2 MB in single bytes takes the memory of its bytes while they arrive`,
    UNLESS_INSTRUMENTED,
    async (t) => {
      const { client, settle, say } = memoryPair(t)
      const asking = client.request({ path: '/', method: 'GET' })
      await settle()
      await say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const { body } = await asking
      const reading = body[read]()
      const part = chunksOf(PLAIN).toString('latin1')
      await settle()
      const before = usedMemory()
      let most = 0
      for (let sent = 0; sent < 2 ** 21; sent += WINDOW) {
        await say(part)
        most = Math.max(most, usedMemory() - before)
      }
      await say('0\r\n\r\n')
      const value = await reading
      assert.equal(
        typeof value === 'string' ? value.length : 'size' in value ? value.size : value.byteLength,
        2 ** 21,
      )
      assert.ok(most < 8e6, `${most} bytes at the most`)
    },
  )
}

test(
  'an event in single bytes takes the memory of its bytes while it arrives',
  UNLESS_INSTRUMENTED,
  async (t) => {
    const { client, settle, say } = memoryPair(t)
    const received = events('http://localhost:8080/', { dispatcher: client }).next()
    await settle()
    await say('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n')
    const part = chunksOf(PLAIN).toString('latin1')
    await say(chunksOf(Buffer.from('data:')).toString('latin1'))
    const before = usedMemory()
    let most = 0
    for (let sent = 0; sent < 2 ** 20; sent += WINDOW) {
      await say(part)
      await turn()
      most = Math.max(most, usedMemory() - before)
    }
    await say('2\r\n\n\n\r\n0\r\n\r\n')
    assert.equal((await received).value?.data.length, 2 ** 20)
    assert.ok(most < 6e6, `${most} bytes at the most`)
  },
)

test('a listener gets each piece by itself, and one that stops for a while gets all of them', async (t) => {
  const { client, settle, say } = memoryPair(t)
  const asking = client.request({ path: '/', method: 'GET' })
  await settle()
  await say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
  const { body } = await asking
  const pieces: string[] = []
  body.on('data', (chunk) => pieces.push(String(chunk)))
  const part = PLAIN.subarray(0, 1000)
  await say(chunksOf(part).toString('latin1'))
  assert.deepEqual(pieces, [...part.toString('latin1')])
  body.pause()
  for (let i = 0; i < 3; i++) await say(chunksOf(part).toString('latin1'))
  assert.equal(pieces.length, 1000)
  body.resume()
  await say('0\r\n\r\n')
  assert.equal(pieces.join(''), part.toString('latin1').repeat(4))
})

test('a stream with many small pieces can be read by any number of bytes', async (t) => {
  const { client, settle, say } = memoryPair(t)
  const asking = client.request({ path: '/', method: 'GET' })
  await settle()
  await say('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
  const { body } = await asking
  let read = ''
  body.on('readable', () => {
    for (let chunk = body.read(700); chunk !== null; chunk = body.read(700)) read += String(chunk)
  })
  const part = PLAIN.subarray(0, 2100)
  await say(chunksOf(part).toString('latin1'))
  await say('0\r\n\r\n')
  await settle()
  assert.equal(read, part.toString('latin1'))
})
