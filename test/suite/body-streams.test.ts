/** Every kind of stream and iterable as a request body over each wire: the bytes that arrive, and its final state. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { PassThrough, Readable, Transform } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { after, before, type TestContext, test } from 'node:test'
import zlib from 'node:zlib'
import type { BodyInput } from '../../src/index.ts'
import { contentOf, deferred, echo, failure, readEcho } from '../support/exchange.ts'
import { CollectedParts, Dispenser, SecondGeneration, Talker } from '../support/old-streams.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ONE_AT_A_TIME, overEachWire, startOrigin } from '../support/wire.ts'

/** More than sockets and windows accept at once. */
const CONTENT = Buffer.alloc(700_000)
for (let at = 0; at < CONTENT.length; at++) CONTENT[at] = (at * 31 + (at >> 9)) & 0xff
const PIECES = cut(CONTENT, 10_000)
const TEXT = 'grün, '.repeat(20_000)

function cut(bytes: Buffer, size: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
  return pieces
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ventuno-bodies-'))
const file = path.join(folder, 'content')
const warnings: Error[] = []
const onWarning = (warning: Error): void => void warnings.push(warning)

before(() => {
  fs.writeFileSync(file, CONTENT)
  process.on('warning', onWarning)
})

after(() => {
  fs.rmSync(folder, { recursive: true })
  process.off('warning', onWarning)
  assert.deepEqual(warnings, [], 'warnings')
})

interface Kind {
  readonly name: string
  make(t: TestContext): unknown
  /** The expected bytes, if not the whole content. */
  readonly expected?: Buffer
  /** The length is known before the first byte. */
  readonly known?: true
  /** Decodes the received bytes. */
  decode?(bytes: Buffer): Buffer
}

const KINDS: readonly Kind[] = [
  { name: 'collected parts', make: () => new CollectedParts(PIECES), known: true },
  {
    name: 'collected parts of text and bytes',
    make: () => new CollectedParts(['grün', Buffer.from('-'), '']),
    expected: Buffer.from('grün-'),
    known: true,
  },
  { name: 'an old stream that can be paused', make: () => new Dispenser(PIECES) },
  {
    name: 'a bare emitter',
    make: () => new Talker(['data', 'a'], ['data', Buffer.from('b')], ['end'], ['close']),
    expected: Buffer.from('ab'),
  },
  {
    name: 'a bare emitter that ends twice, says null, and goes on',
    make: () => new Talker(['data', null], ['data', 'a'], ['end'], ['end'], ['data', 'b'], ['close']),
    expected: Buffer.from('a'),
  },
  {
    name: 'a stream of the second generation',
    make: () => {
      const stream = new SecondGeneration()
      Readable.from(PIECES).pipe(stream)
      return stream
    },
  },
  {
    name: 'a stream of the second generation that has ended',
    make: async () => {
      const stream = new SecondGeneration()
      stream.end()
      stream.resume()
      await once(stream, 'end')
      return stream
    },
    expected: Buffer.alloc(0),
    known: true,
  },
  { name: 'a file', make: () => fs.createReadStream(file) },
  {
    name: 'a part of a file',
    make: () => fs.createReadStream(file, { start: 5, end: 14 }),
    expected: CONTENT.subarray(5, 15),
  },
  { name: 'a file that is not closed', make: () => fs.createReadStream(file, { autoClose: false }) },
  {
    name: 'a file handle',
    make: async () => (await fs.promises.open(file)).createReadStream(),
  },
  { name: 'gzip', make: () => Readable.from(PIECES).pipe(zlib.createGzip()), decode: zlib.gunzipSync },
  {
    name: 'brotli',
    make: () =>
      Readable.from(PIECES).pipe(
        zlib.createBrotliCompress({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
      ),
    decode: zlib.brotliDecompressSync,
  },
  {
    name: 'a transform',
    make: () =>
      Readable.from(PIECES).pipe(
        new Transform({
          transform(chunk, _encoding, done) {
            setImmediate(done, null, chunk)
          },
        }),
      ),
  },
  {
    name: 'a PassThrough that ended before',
    make: () => new PassThrough().end('all'),
    expected: Buffer.from('all'),
    known: true,
  },
  {
    name: 'a PassThrough that ends late',
    make: () => {
      const stream = new PassThrough()
      stream.write('a')
      setImmediate(() => setImmediate(() => stream.end('b')))
      return stream
    },
    expected: Buffer.from('ab'),
  },
  {
    name: 'the output of a process',
    make: () =>
      spawn(process.execPath, [
        '-e',
        `require('fs').createReadStream(${JSON.stringify(file)}).pipe(process.stdout)`,
      ]).stdout,
  },
  { name: 'a socket', make: socketWithContent },
  { name: 'a request to a server of ours', make: incomingRequest },
  { name: 'an array as a stream', make: () => Readable.from(PIECES) },
  {
    name: 'text in object mode',
    make: () => Readable.from([TEXT, TEXT]),
    expected: Buffer.from(TEXT + TEXT),
  },
  {
    name: 'text of a stream with an encoding',
    make: () => Readable.from(cut(Buffer.from(TEXT), 1001), { objectMode: false }).setEncoding('utf8'),
    expected: Buffer.from(TEXT),
  },
  {
    name: 'text of a stream with an encoding that has ended',
    make: () => new PassThrough().setEncoding('utf8').end('grün'),
    expected: Buffer.from('grün'),
  },
  { name: 'a web stream', make: () => ReadableStream.from(PIECES) },
  { name: 'a web stream of bytes', make: byteStream },
  {
    name: 'one of two branches of a web stream',
    make: () => {
      const [one, other] = ReadableStream.from(PIECES).tee()
      void contentOf(other)
      return one
    },
  },
  {
    name: 'what a web transform gives',
    make: () => ReadableStream.from(PIECES).pipeThrough(new TransformStream()),
  },
  { name: 'the body of a Response', make: () => new Response(CONTENT).body },
  { name: 'the stream of a Blob', make: () => new Blob([CONTENT]).stream() },
  {
    name: 'an async generator',
    make: async function* () {
      for (const piece of PIECES) {
        await null
        yield piece
      }
    },
  },
]

function byteStream(): ReadableStream {
  const pieces = [...PIECES]
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(new Uint8Array(piece))
    },
  })
}

async function socketWithContent(t: TestContext): Promise<net.Socket> {
  const server = net.createServer((socket) => socket.on('error', () => {}).end(CONTENT))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => {
    socket.destroy()
    server.close()
  })
  await once(socket, 'connect')
  return socket
}

/** A request that a proxy has received and forwards. */
async function incomingRequest(t: TestContext): Promise<http.IncomingMessage> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const request = http.request({ port: (server.address() as AddressInfo).port, method: 'POST' })
  request.on('error', () => {})
  Readable.from(PIECES).pipe(request)
  const [incoming] = (await once(server, 'request')) as [http.IncomingMessage]
  return incoming
}

/** Destroyed, or not destroyable. */
function isLetGo(body: unknown): boolean {
  if (body instanceof Talker || body instanceof CollectedParts) return body.destroys > 0
  const { destroyed } = body as { destroyed?: boolean }
  return destroyed !== false
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

function digest(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('hex')
}

const FAILURES: readonly (readonly [name: string, make: (t: TestContext) => unknown, expected: RegExp])[] = [
  ['a file that is missing', () => fs.createReadStream(path.join(folder, 'missing')), /^ENOENT /],
  [
    'a bare emitter that closes before its end',
    () => new Talker(['data', 'x'], ['close'], ['end']),
    /^UND_ERR_ABORTED /,
  ],
  ['a bare emitter that fails', () => new Talker(['data', 'x'], ['error', new Error('mine')]), / mine$/],
  ['a bare emitter of objects', () => new Talker(['data', { a: 1 }], ['end']), /^ERR_INVALID_ARG_TYPE /],
  ['a stream that was destroyed', () => new PassThrough().destroy(), /^UND_ERR_ABORTED /],
  [
    'a stream that has failed',
    () => new PassThrough().on('error', () => {}).destroy(new Error('mine')),
    / mine$/,
  ],
  [
    'a stream of the second generation that was destroyed',
    () => new SecondGeneration().destroy(),
    /^UND_ERR_ABORTED /,
  ],
  [
    'broken compressed data',
    () => Readable.from([Buffer.from('not gzip')]).pipe(zlib.createGunzip()),
    /^Z_DATA_ERROR /,
  ],
  ['a request to a server of ours that was aborted', abortedRequest, /^ECONNRESET aborted$/],
  [
    'a stream that throws when it is read',
    () =>
      new Readable({
        read() {
          throw new Error('mine')
        },
      }),
    / mine$/,
  ],
  [
    'a web stream that fails',
    () =>
      new ReadableStream({
        pull(controller) {
          controller.error(new Error('mine'))
        },
      }),
    / mine$/,
  ],
  ['a web stream that somebody else reads', lockedStream, /^ERR_INVALID_STATE /],
]

async function abortedRequest(t: TestContext): Promise<http.IncomingMessage> {
  const incoming = await incomingRequest(t)
  incoming.on('error', () => {})
  incoming.socket.destroy()
  await new Promise((resolve) => incoming.on('close', resolve))
  return incoming
}

function lockedStream(): ReadableStream {
  const stream = ReadableStream.from(['x'])
  stream.getReader()
  return stream
}

overEachWire('streams as bodies', (wire) => {
  for (const kind of KINDS) {
    test(`${kind.name} arrives`, async (t) => {
      const received: { headers: http.IncomingHttpHeaders; body: Buffer }[] = []
      const origin = await startOrigin(t, wire, async (request, response) => {
        received.push({ headers: request.headers, body: await contentOf(request) })
        response.end('done')
      })
      const body = (await kind.make(t)) as BodyInput
      const response = await origin.client().request({ path: '/', method: 'POST', body })
      assert.equal(await response.body.text(), 'done')

      assert.equal(received.length, 1)
      const { headers } = received[0]!
      const bytes = kind.decode?.(received[0]!.body) ?? received[0]!.body
      const expected = kind.expected ?? CONTENT
      assert.equal(bytes.length, expected.length)
      assert.equal(digest(bytes), digest(expected))
      // A short stream may have ended before the connection was up, and so may one that compresses in its own turn.
      const isShort = kind.expected !== undefined || kind.decode !== undefined
      const known = kind.known ?? (isShort && headers['content-length'] !== undefined)
      assert.equal(headers['content-length'], known ? String(received[0]!.body.length) : undefined)
      assert.equal(headers['transfer-encoding'], known || wire.multiplexes ? undefined : 'chunked')
      await until(() => isLetGo(body))
    })

    if (kind.expected !== undefined) continue
    test(`${kind.name} is let go when its request is given up`, async (t) => {
      const arrived = deferred()
      const origin = await startOrigin(t, wire, (request) => {
        request.on('error', () => {})
        request.once('data', () => {
          request.pause()
          arrived.resolve()
        })
      })
      const client = origin.client()
      const body = (await kind.make(t)) as BodyInput
      const abort = new AbortController()
      const given = failure(client.request({ path: '/', method: 'POST', body, signal: abort.signal }))
      await arrived.promise
      abort.abort(new Error('given up'))
      assert.equal((await given).message, 'given up')
      await until(() => isLetGo(body))
      await client.close()
    })
  }

  for (const [name, make, expected] of FAILURES) {
    test(`${name} fails its request, and nothing else`, async (t) => {
      const origin = await startOrigin(t, wire, echo)
      const client = origin.client()
      const body = await make(t)
      const error = await failure(client.request({ path: '/', method: 'POST', body: body as BodyInput }))
      assert.match(`${error.code} ${error.message}`, expected)
      await until(() => isLetGo(body))
      const next = await client.request({
        path: '/',
        method: 'POST',
        body: new CollectedParts(['next']) as never,
      })
      assert.equal((await readEcho(next)).body, 'next')
      await client.close()
    })
  }

  test('a bare emitter that fails after its end fails its request, unless that has settled', async (t) => {
    const client = (await startOrigin(t, wire, echo)).client()
    await (await client.request({ path: '/', method: 'GET' })).body.dump()
    const early = new Talker()
    const failed = failure(client.request({ path: '/', method: 'POST', body: early as never }))
    early.emit('data', 'x')
    early.emit('end')
    early.emit('error', new Error('late'))
    assert.equal((await failed).message, 'late')

    const late = new Talker(['data', 'x'], ['end'])
    const response = await client.request({ path: '/', method: 'POST', body: late as never })
    assert.equal((await readEcho(response)).body, 'x')
    late.emit('error', new Error('much later'))
    late.emit('close')
  })

  test('a stream that waits for its request loses nothing, and its error is told at once', async (t) => {
    const entered = deferred()
    const release = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url !== '/first') return echo(request, response)
      entered.resolve()
      release.promise.then(() => response.end())
    })
    const client = origin.client(ONE_AT_A_TIME)
    const first = client.request({ path: '/first', method: 'POST' })
    await entered.promise
    const talker = new Talker(['data', 'a'], ['data', 'b'], ['end'], ['close'])
    const second = client.request({ path: '/', method: 'POST', body: talker as never })
    const failed = failure(
      client.request({ path: '/', method: 'POST', body: new Talker(['error', new Error('mine')]) as never }),
    )
    assert.equal((await failed).message, 'mine')
    await new Promise((resolve) => talker.once('close', resolve))
    release.resolve()
    await (await first).body.dump()
    const received = await readEcho(await second)
    assert.deepEqual([received.body, received.headers['content-length']], ['ab', '2'])
  })

  test('a stream that has more at once is not read on when its client is destroyed within it', async (t) => {
    const client = (await startOrigin(t, wire, echo)).client()
    let reads = 0
    // Ends only to let this test fail: without an end, the process would read for ever.
    const endless = new Readable({
      highWaterMark: 1_000,
      read() {
        this.push(++reads < 200_000 ? 'x' : null)
      },
    })
    const handler = new RecordingHandler({ onBodySent: () => void client.destroy(new Error('mine')) })
    client.dispatch({ path: '/', method: 'POST', body: endless }, handler)
    assert.equal((await handler.settled).error?.message, 'mine')
    assert.ok(reads < 20_000, `${reads} reads`)
    assert.equal(endless.destroyed, true)
  })

  test('an emitter that cannot be destroyed emits the error once it is given up, if somebody listens', async (t) => {
    const arrived = deferred()
    const client = (await startOrigin(t, wire, () => arrived.resolve())).client()
    const reason = new Error('mine')
    const aborting = new AbortController()
    const give = (opts: object, listens = true) => {
      const body = Object.assign(new EventEmitter(), { pipe() {} })
      const seen: unknown[] = []
      if (listens) body.on('error', (error) => seen.push(error))
      const failed = failure(client.request({ path: '/', method: 'POST', body: body as never, ...opts }))
      assert.deepEqual(seen, [], 'not within the call')
      return { body, seen, failed }
    }
    const invalid = give({ path: 'x' })
    assert.deepEqual(invalid.seen, [await invalid.failed])
    const unheard = give({ path: 'x' }, false)
    await unheard.failed
    const early = give({ signal: AbortSignal.abort(reason) })
    assert.equal(await early.failed, reason)
    assert.deepEqual(early.seen, [reason])
    const running = give({ signal: aborting.signal })
    running.body.emit('data', 'x')
    await arrived.promise
    aborting.abort(reason)
    assert.deepEqual(running.seen, [], 'in a later microtask')
    assert.equal(await running.failed, reason)
    await new Promise(setImmediate)
    assert.deepEqual(running.seen, [reason])
    const broken = give({})
    broken.body.emit('error', reason)
    assert.equal(await broken.failed, reason)
    await new Promise(setImmediate)
    assert.deepEqual(broken.seen, [reason], 'its own error is not repeated')
  })

  test('collected parts are empty when they are sent again', async (t) => {
    const client = (await startOrigin(t, wire, echo)).client()
    const parts = new CollectedParts(['once'])
    for (const expected of ['once', '']) {
      const response = await client.request({ path: '/', method: 'POST', body: parts as never })
      const received = await readEcho(response)
      assert.deepEqual(
        [received.body, received.headers['content-length']],
        [expected, String(expected.length)],
      )
    }
  })
})

overEachWire('a stream that ends without data', (wire) => {
  test('is destroyed right after its end, as one with data is', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    for (const method of ['GET', 'POST']) {
      for (const parts of [[], ['x']]) {
        for (const hasEnded of [false, true]) {
          const left = [...parts]
          const body = new Readable({
            autoDestroy: false,
            read() {
              this.push(left.shift() ?? null)
            },
          })
          // Its end is in its buffer before anybody reads it.
          if (hasEnded) for (const part of [...left.splice(0), null]) body.push(part)
          const ended = once(body, 'end')
          const answer = client.request({ path: '/', method, body })
          await ended
          assert.equal(body.destroyed, true, `${method} ${parts} ${hasEnded}`)
          assert.equal((await readEcho(await answer)).body, parts.join(''))
        }
      }
    }
  })
})
