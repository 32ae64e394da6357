/** Bodies whose memory is transferred, resized or overwritten before it is written. */
import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { constants, type Http2ServerRequest } from 'node:http2'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { type BodyInput, errors } from '../../src/index.ts'
import { contentOf, deferred, type Echo, echo, failure, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { ONE_AT_A_TIME, overEachWire, startOrigin, type TestOrigin, type Wire } from '../support/wire.ts'

const POST = { path: '/', method: 'POST' }
const LOST = 'the memory of the body was transferred or resized before it was sent'

function bytesOf(letter: string, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(length).fill(letter.charCodeAt(0))
}

/** Detaches the memory, as a message to a worker does. */
function giveAway(bytes: ArrayBufferView | ArrayBuffer): void {
  const buffer = ArrayBuffer.isView(bytes) ? (bytes.buffer as ArrayBuffer) : bytes
  structuredClone(buffer, { transfer: [buffer] })
}

/** Present in the runtime, but missing from the type declarations. */
type Resizable = ArrayBuffer & { resize(length: number): void }
type Growable = SharedArrayBuffer & { grow(length: number): void }

function resizable(length: number, maxByteLength: number): Resizable {
  return Reflect.construct(ArrayBuffer, [length, { maxByteLength }]) as Resizable
}

function growable(length: number, maxByteLength: number): Growable {
  return Reflect.construct(SharedArrayBuffer, [length, { maxByteLength }]) as Growable
}

function assertLost(error: unknown): void {
  assert.ok(error instanceof errors.InvalidArgumentError, String(error))
  assert.ok(error.message.startsWith(LOST), error.message)
}

interface Case {
  readonly name: string
  /** The body, and the change made to it while it is queued. */
  make(): [body: BodyInput, spoil: () => void]
  /** The text that arrives; null if the request fails. */
  readonly expected: string | null
}

const CASES: readonly Case[] = [
  {
    name: 'a Uint8Array that is given away',
    make: () => {
      const body = bytesOf('a', 9)
      return [body, () => giveAway(body)]
    },
    expected: null,
  },
  {
    name: 'a large Buffer that is given away',
    make: () => {
      const body = Buffer.from(bytesOf('a', 300_000).buffer)
      return [body, () => giveAway(body)]
    },
    expected: null,
  },
  {
    name: 'a DataView that is given away',
    make: () => {
      const body = new DataView(bytesOf('a', 9).buffer, 1)
      return [body, () => giveAway(body)]
    },
    expected: null,
  },
  {
    name: 'an ArrayBuffer that is given away',
    make: () => {
      const body = bytesOf('a', 9).buffer
      return [body, () => giveAway(body)]
    },
    expected: null,
  },
  {
    name: 'memory that shrinks',
    make: () => {
      const buffer = resizable(9, 20)
      return [new Uint8Array(buffer), () => buffer.resize(3)]
    },
    expected: null,
  },
  {
    name: 'memory that grows',
    make: () => {
      const buffer = resizable(3, 20)
      const body = new Uint8Array(buffer).fill(0x61)
      return [body, () => buffer.resize(9)]
    },
    expected: 'aaa',
  },
  {
    name: 'an ArrayBuffer that grows',
    make: () => {
      const buffer = resizable(3, 20)
      new Uint8Array(buffer).fill(0x61)
      return [buffer, () => buffer.resize(9)]
    },
    expected: 'aaa',
  },
  {
    name: 'shared memory that grows',
    make: () => {
      const buffer = growable(3, 20)
      const body = new Uint8Array(buffer).fill(0x61)
      return [body, () => buffer.grow(9)]
    },
    expected: 'aaa',
  },
]

/** Later requests continue, over HTTP/2 on the same connection. */
async function assertAlive(
  client: ReturnType<TestOrigin['client']>,
  origin: TestOrigin,
  wire: Wire,
): Promise<void> {
  const connections = origin.sockets.length
  const response = await client.request({ ...POST, body: 'next' })
  assert.equal((await readEcho(response)).body, 'next')
  if (wire.multiplexes) assert.equal(origin.sockets.length, connections)
  await client.close()
}

overEachWire('the memory of bodies', (wire) => {
  const skip = !wire.multiplexes && 'only HTTP/2 has streams'
  for (const { name, make, expected } of CASES) {
    test(`${name} while the request waits`, async (t) => {
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
      const [body, spoil] = make()
      const second = client.request({ ...POST, body })
      const outcome = expected === null ? failure(second) : second.then(readEcho)
      spoil()
      release.resolve()
      await (await first).body.dump()
      if (expected === null) assertLost(await outcome)
      else {
        const { headers, body: received } = (await outcome) as Echo
        assert.deepEqual([received, headers['content-length']], [expected, String(expected.length)])
      }
      await assertAlive(client, origin, wire)
    })
  }

  test('given away before the call', async (t) => {
    const client = (await startOrigin(t, wire, echo)).client()
    for (const body of [bytesOf('a', 9), new DataView(new ArrayBuffer(9)), new ArrayBuffer(9)]) {
      giveAway(body)
      assertLost(await failure(client.request({ ...POST, body })))
    }
  })

  test('given away when the handler hears of the start', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    const body = bytesOf('a', 9)
    const handler = new RecordingHandler({ onRequestStart: () => giveAway(body) })
    client.dispatch({ ...POST, body }, handler)
    await handler.settled
    assertLost(handler.error)
    await assertAlive(client, origin, wire)
  })

  test('given away between the head and the body', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    const body = bytesOf('a', 9)
    const headers = channel('undici:client:sendHeaders')
    const spoil = (message: unknown): void => {
      if ((message as { request: { body: unknown } }).request.body === body) giveAway(body)
    }
    headers.subscribe(spoil)
    t.after(() => headers.unsubscribe(spoil))
    assertLost(await failure(client.request({ ...POST, body })))
    const response = await client.request({ ...POST, body: 'next' })
    assert.equal((await readEcho(response)).body, 'next')
    await client.close()
  })

  test('given away before the request is sent a second time', { skip }, async (t) => {
    let refused = false
    const origin = await startOrigin(t, wire, (request, response) => {
      if (refused) return echo(request, response)
      refused = true
      const { stream } = request as unknown as Http2ServerRequest
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
    })
    const client = origin.client()
    const body = bytesOf('a', 9)
    let starts = 0
    const handler = new RecordingHandler({
      onRequestStart: () => {
        if (++starts === 2) giveAway(body)
      },
    })
    client.dispatch({ ...POST, body }, handler)
    await handler.settled
    assert.equal(starts, 2)
    assertLost(handler.error)
    await assertAlive(client, origin, wire)
  })

  for (const size of [9, 5_000, 40_000]) {
    test(`pieces of ${size} bytes that are given away once they are yielded`, async (t) => {
      const origin = await startOrigin(t, wire, echo)
      const client = origin.client()
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        for (const letter of ['a', 'b', 'c']) {
          const piece = bytesOf(letter, size)
          yield piece
          giveAway(piece)
        }
      }
      const stream = Readable.from(pieces())
      for (const body of [pieces(), stream]) {
        const sent = client.request({ ...POST, body })
        // Over HTTP/2 a piece waits for its turn; over HTTP/1.1 it was passed to the socket, or copied.
        const outcome = await sent.then(readEcho, (error: unknown) => error)
        // A stream reads ahead from its generator: its buffered chunks are detached before we see them.
        if (outcome instanceof Error && (body === stream || wire.multiplexes)) assertLost(outcome)
        else assert.ok((outcome as Echo).body === 'a'.repeat(size) + 'b'.repeat(size) + 'c'.repeat(size))
      }
      await assertAlive(client, origin, wire)
    })
  }

  test('what a handler or a subscriber is shown of a body, and gives away', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client()
    for (const body of ['text', 'täxt', bytesOf('a', 9)]) {
      const shown: Uint8Array[] = []
      const handler = new RecordingHandler({
        onBodySent: (chunk) => {
          shown.push(chunk as Uint8Array)
          if (typeof body === 'string') assert.equal((chunk as Uint8Array).buffer.byteLength, chunk.length)
          giveAway(chunk as Uint8Array)
        },
      })
      client.dispatch({ ...POST, body }, handler)
      await handler.settled
      assert.equal(shown.length, 1)
      const mayFail = typeof body !== 'string' && wire.multiplexes
      if (mayFail) assertLost(handler.error)
      else assert.match(handler.body, typeof body === 'string' ? /t.+xt/ : /aaaaaaaaa/)
    }
    await assertAlive(client, origin, wire)
  })

  test('given away while the server takes no more', { skip }, async (t) => {
    const arrived = deferred()
    const proceed = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url !== '/slow') return echo(request, response)
      request.on('error', () => {})
      request.once('data', () => {
        request.pause()
        arrived.resolve()
        proceed.promise
          .then(() => contentOf(request))
          .then(
            (rest) => response.end(String(rest.length)),
            () => {},
          )
      })
    })
    const client = origin.client()
    const body = bytesOf('a', 2_000_000)
    const sent = client.request({ path: '/slow', method: 'POST', body })
    await arrived.promise
    giveAway(body)
    proceed.resolve()
    assertLost(await failure(sent))
    await assertAlive(client, origin, wire)
  })
})

overEachWire(
  'memory that is filled again for each piece',
  (wire) => {
    for (const size of [9, 5_000, 20_000]) {
      test(`pieces of ${size} bytes`, async (t) => {
        const client = (await startOrigin(t, wire, echo)).client()
        const pieces = function* (): Generator<Uint8Array> {
          const piece = new Uint8Array(size)
          for (const letter of ['a', 'b', 'c']) yield piece.fill(letter.charCodeAt(0))
        }
        const received = await readEcho(await client.request({ ...POST, body: pieces() }))
        assert.ok(received.body === 'a'.repeat(size) + 'b'.repeat(size) + 'c'.repeat(size))
      })
    }
  },
  { 'h2+tls': 'pieces wait for their turn there', h2c: 'pieces wait for their turn there' },
)
