/** Encoded bodies: which codings are decoded, piece by piece, and which are not; hashes of the output. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { ContentDecoding, openDecoding } from '../../src/content-coding/content-decoding.ts'
import { fetch } from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** Not in the types of Node 20, and not in Node 20. */
const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }

const CODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  'raw deflate': deflateRawSync,
  br: brotliCompressSync,
  ...(zstdCompressSync === undefined ? {} : { zstd: zstdCompressSync }),
}

/** `at once`: all of the body comes before the next tick. `apart`: streams decode it. */
type Arrival = 'at once' | 'apart'
const ARRIVALS: readonly Arrival[] = ['at once', 'apart']

const FLOW = { pause() {}, resume() {} }

class Output {
  readonly chunks: Buffer[] = []
  isOver = false
  readonly #over = deferred()

  onDecoded(chunk: Buffer): void {
    this.chunks.push(chunk)
  }

  onDecodedEnd(): void {
    this.isOver = true
    this.#over.resolve()
  }

  onDecodeError(error: Error): void {
    this.isOver = true
    this.#over.reject(error)
  }

  async content(): Promise<Buffer> {
    await this.#over.promise
    return Buffer.concat(this.chunks)
  }
}

function open(coding: string, output: Output): ContentDecoding {
  const decoding = openDecoding(coding.replace('raw ', ''), output, FLOW)
  assert.ok(decoding instanceof ContentDecoding)
  return decoding
}

function decode(coding: string, pieces: readonly Buffer[], arrival: Arrival): Promise<Buffer> {
  const output = new Output()
  const decoding = open(coding, output)
  if (arrival === 'apart') decoding.stream()
  for (const piece of pieces) decoding.write(piece)
  decoding.end()
  return output.content()
}

/** A gzip body that says another length of its content. */
function withLength(bytes: Buffer, length: number): Buffer {
  bytes.writeUInt32LE(length, bytes.length - 4)
  return bytes
}

describe('a decoder', () => {
  const text = Buffer.from('content that is long enough to be coded as more than a literal: content, content')
  for (const [coding, code] of Object.entries(CODERS)) {
    for (const arrival of ARRIVALS) {
      test(`${coding}, ${arrival}: wherever the bytes are split`, async () => {
        const bytes = code(text)
        for (let at = 0; at <= bytes.length; at++) {
          const decoded = await decode(coding, [bytes.subarray(0, at), bytes.subarray(at)], arrival)
          assert.equal(decoded.toString(), text.toString(), `split at ${at}`)
        }
      })

      test(`${coding}, ${arrival}: byte by byte, and in any three pieces`, async () => {
        const bytes = code(text)
        const single = [...bytes].map((byte) => Buffer.of(byte))
        assert.equal((await decode(coding, single, arrival)).toString(), text.toString())
        for (let at = 0; at < bytes.length; at += 11) {
          for (let to = at; to <= bytes.length; to += 9) {
            const pieces = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
            assert.equal((await decode(coding, pieces, arrival)).toString(), text.toString(), `${at}, ${to}`)
          }
        }
      })

      test(`${coding}, ${arrival}: large bodies, and none`, async () => {
        const large = Buffer.alloc(300_000, 'some text ')
        assert.equal(Buffer.compare(await decode(coding, [code(large)], arrival), large), 0)
        assert.equal((await decode(coding, [], arrival)).length, 0)
      })

      if (coding !== 'br' && coding !== 'zstd') {
        test(`${coding}, ${arrival}: what follows the end of the data is ignored`, async () => {
          const rest = Buffer.alloc(100_000)
          for (const body of [text, Buffer.alloc(300_000, 'some text ')]) {
            for (const pieces of [
              [code(body), rest],
              [Buffer.concat([code(body), rest])],
              [code(body), rest, rest],
            ]) {
              assert.ok((await decode(coding, pieces, arrival)).equals(body))
            }
          }
        })
      }

      test(`${coding}, ${arrival}: what is cut off ends where it ends, and fails if it is zstd`, async () => {
        const bytes = code(text)
        for (let length = 0; length < bytes.length; length++) {
          if (coding === 'zstd' && length > 0) {
            await failure(decode(coding, [bytes.subarray(0, length)], arrival))
            continue
          }
          const decoded = await decode(coding, [bytes.subarray(0, length)], arrival)
          assert.ok(text.subarray(0, decoded.length).equals(decoded), `after ${length}`)
        }
      })
    }

    test(`${coding}: a small body that is there is decoded when it ends`, async () => {
      const output = new Output()
      const decoding = open(coding, output)
      decoding.write(code(text))
      assert.equal(output.chunks.length, 0)
      decoding.end()
      assert.ok(output.isOver)
      assert.equal((await output.content()).toString(), text.toString())
    })
  }

  test('what expands to much is decoded piece by piece', async () => {
    const bytes = gzipSync(Buffer.alloc(10_000_000))
    const output = new Output()
    const decoding = open('gzip', output)
    decoding.write(bytes)
    decoding.end()
    assert.ok(!output.isOver)
    assert.equal((await output.content()).length, 10_000_000)
    for (const chunk of output.chunks) assert.ok(chunk.length <= 65_536)
  })

  test('a caller that has paused gets nothing', async () => {
    const output = new Output()
    const decoding = open('gzip', output)
    decoding.write(gzipSync(text))
    decoding.pause()
    decoding.end()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(output.chunks, [])
    decoding.resume()
    assert.equal((await output.content()).toString(), text.toString())
  })

  test('what fails when a body begins to stream fails that body', async () => {
    const output = Object.assign(new Output(), {
      onDecoders() {
        throw new Error('no decoders')
      },
    })
    const decoding = openDecoding('gzip', output, FLOW) as ContentDecoding
    decoding.write(gzipSync(text).subarray(0, 20))
    await assert.rejects(output.content(), { message: 'no decoders' })
  })

  test('one that is destroyed gives nothing', async () => {
    for (const arrival of ARRIVALS) {
      const output = new Output()
      const decoding = open('gzip', output)
      if (arrival === 'apart') decoding.stream()
      decoding.write(gzipSync(text))
      decoding.destroy()
      decoding.end()
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([output.chunks, output.isOver], [[], false])
    }
  })

  test('a body that is none fails in the same way', async () => {
    for (const [coding, bytes] of [
      ['deflate', Buffer.from('nonsense')],
      ['deflate', Buffer.from([0x78, 0x9c, 0xff, 0xff])],
      ['gzip', Buffer.from('nonsense')],
      ['gzip', withLength(gzipSync(text), 0)],
      ['gzip', withLength(gzipSync(text), 0xff_ff_ff)],
      ['gzip', withLength(gzipSync(text), 0xff_ff_ff_ff)],
      ['br', Buffer.from('nonsense')],
    ] as const) {
      const errors = await Promise.all(ARRIVALS.map((arrival) => failure(decode(coding, [bytes], arrival))))
      const [first, second] = errors.map(({ code, message }: NodeJS.ErrnoException) => ({ code, message }))
      assert.deepEqual(first, second)
      assert.ok(first!.code)
    }
  })

  test('which codings', () => {
    const isDecoded = (value: string | null): boolean => openDecoding(value, new Output(), FLOW) !== null
    assert.deepEqual(['gzip', ' X-GZIP ,, br', Array(5).fill('gzip').join()].map(isDecoded), [
      true,
      true,
      true,
    ])
    assert.deepEqual([null, '', 'identity', 'gzip, unknown', 'unknown, gzip'].filter(isDecoded), [])
    assert.deepEqual(openDecoding(Array(6).fill('gzip').join(), new Output(), FLOW), {
      problem: 'too many content-encodings in response: 6, maximum allowed is 5',
    })
  })
})

overEachWire('a coded response', (wire) => {
  const serve = (t: TestContext, coding: string, ...pieces: Buffer[]) =>
    startOrigin(t, wire, (_, response) => {
      response.writeHead(200, { 'content-encoding': coding })
      for (const piece of pieces) response.write(piece)
      response.end()
    })

  test('comes piece by piece', async (t) => {
    const next = deferred()
    const origin = await startOrigin(t, wire, async (_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      const coder = zlib.createGzip()
      coder.pipe(response)
      coder.write('one')
      coder.flush()
      await next.promise
      coder.end('two')
    })
    const reader = (await fetch(origin.url, { dispatcher: agentFor(t, wire) })).body!.getReader()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'one')
    next.resolve()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'two')
    assert.equal((await reader.read()).done, true)
  })

  test('cut off it ends where it ends; garbage fails', async (t) => {
    const whole = gzipSync('content that is cut off')
    const cut = await serve(t, 'gzip', whole.subarray(0, whole.length - 8))
    const dispatcher = agentFor(t, wire)
    assert.equal(await (await fetch(cut.url, { dispatcher })).text(), 'content that is cut off')
    const wrong = await serve(t, 'gzip', Buffer.from('no gzip at all'))
    const response = await fetch(wrong.url, { dispatcher })
    const error = await failure(response.text())
    assert.deepEqual([error.name, error.message], ['TypeError', 'terminated'])
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'Z_DATA_ERROR')
    const streamed = await fetch(wrong.url, { dispatcher })
    assert.equal((await failure(streamed.body!.getReader().read())).message, 'terminated')
  })

  test('with too many codings fails', async (t) => {
    const origin = await serve(t, 'gzip,gzip,gzip,gzip,gzip,gzip', Buffer.from('x'))
    const error = await failure(fetch(origin.url, { dispatcher: agentFor(t, wire) }))
    assert.equal(
      (error.cause as Error).message,
      'too many content-encodings in response: 6, maximum allowed is 5',
    )
  })

  test('is unpacked as it is read, and bounded by maxResponseSize', async (t) => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const origin = await serve(t, 'gzip', bomb)
    const dispatcher = agentFor(t, wire, { maxResponseSize: 1_000_000 })
    const error = await failure((await fetch(origin.url, { dispatcher })).text())
    assert.equal(error.message, 'terminated')
    assert.equal((error.cause as NodeJS.ErrnoException).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    const before = process.memoryUsage().arrayBuffers
    const unread = await fetch(origin.url, { dispatcher: agentFor(t, wire) })
    for (let i = 0; i < 20; i++) await new Promise(setImmediate)
    assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000)
    let size = 0
    for await (const chunk of unread.body!) size += chunk.length
    assert.equal(size, 50_000_000)
  })

  test('integrity is that of what comes out', async (t) => {
    const origin = await serve(t, 'gzip', gzipSync('content'))
    const dispatcher = agentFor(t, wire)
    const hash = (algorithm: string, text = 'content', form: 'base64' | 'base64url' = 'base64') =>
      `${algorithm}-${createHash(algorithm).update(text).digest(form)}`
    for (const integrity of [
      hash('sha256'),
      hash('sha384'),
      hash('sha512', 'content', 'base64url'),
      `${hash('sha256', 'weaker')} ${hash('sha512')}?option`,
      `${hash('sha512', 'other')} ${hash('sha512')}`,
      'md5-unknown',
    ]) {
      const response = await fetch(origin.url, { dispatcher, integrity })
      assert.equal(await response.text(), 'content', integrity)
    }
    for (const integrity of [hash('sha256', 'other'), `${hash('sha256')} ${hash('sha512', 'other')}`]) {
      const error = await failure(fetch(origin.url, { dispatcher, integrity }))
      assert.deepEqual(
        [error.message, (error.cause as Error).message],
        ['fetch failed', 'integrity mismatch'],
      )
    }
  })

  test('a failure or an abort while it is verified fails the fetch', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      response.write('x', () => {
        if (request.url === '/die') origin.sockets.at(-1)!.destroy()
        else controller.abort('late')
      })
    })
    const controller = new AbortController()
    const dispatcher = agentFor(t, wire)
    const init = { dispatcher, integrity: 'sha256-AAAA' }
    const aborted = failure(fetch(origin.url, { ...init, signal: controller.signal }))
    assert.equal(await aborted, 'late' as never)
    const error = await failure(fetch(`${origin.url}/die`, init))
    assert.equal(error.message, 'fetch failed')
    assert.ok((error.cause as NodeJS.ErrnoException).code)
  })

  const skip = zstdCompressSync === undefined && 'this runtime has no zstd'
  test('zstd with a window that is too large fails', { skip }, async (t) => {
    // Magic number, a descriptor without content size, a window of 2^24 bytes, one raw block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70, 0x09, 0x00, 0x00, 0x78])
    const origin = await serve(t, 'zstd', frame)
    const dispatcher = agentFor(t, wire)
    const error = await failure((await fetch(origin.url, { dispatcher })).text())
    assert.equal(error.message, 'terminated')
  })
})
