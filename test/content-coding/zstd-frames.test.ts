/** Bodies of several zstd frames, and such that end too early. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import zlib from 'node:zlib'
import { ZstdFrames } from '../../src/content-coding/zstd-frames.ts'
import { fetch, interceptors } from '../../src/index.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }
const SKIPPABLE = Buffer.from('5f2a4d1804000000aabbccdd', 'hex')
const FRAME = Buffer.from('28b52ffd241e750000406120746578742c200100530a17f0ea4f93', 'hex')

describe('the frames of a body in zstd', () => {
  /** A decoder that delivers what it gets. */
  const open = (): PassThrough => new PassThrough()

  for (const size of [1, 7, 1000]) {
    test(`in pieces of ${size}: each has its decoder, and the skippable ones none`, async () => {
      const body = Buffer.concat([SKIPPABLE, FRAME, SKIPPABLE, SKIPPABLE, FRAME, FRAME])
      let count = 0
      const frames = new ZstdFrames(() => {
        count++
        return open()
      })
      for (let at = 0; at < body.length; at += size) frames.write(body.subarray(at, at + size))
      frames.end()
      assert.deepEqual(await contentOf(frames), Buffer.concat([FRAME, FRAME, FRAME]))
      assert.equal(count, 3)
    })
  }

  for (const [what, frame] of [
    ['skippable', '502a4d1800000000'],
    ['empty', '28b52ffd2000010000'],
    ['empty, with a checksum', '28b52ffd240001000099e9d851'],
    ['empty, with a window', '28b52ffd0058010000'],
    ['empty, with a long size', '28b52ffdc0580000000000000000010000'],
  ] as const) {
    test(`a hundred thousand ${what} frames need no decoder`, async () => {
      const bytes = Buffer.from(frame, 'hex')
      const some = Buffer.concat(Array.from({ length: 1000 }, () => bytes))
      let count = 0
      const frames = new ZstdFrames(() => {
        count++
        return open()
      })
      // Pieces that end anywhere.
      frames.write(some.subarray(0, 3))
      const content = contentOf(frames)
      for (let i = 0; i < 100; i++) frames.write(Buffer.concat([some.subarray(3), some.subarray(0, 3)]))
      frames.end(Buffer.concat([some.subarray(3), FRAME]))
      assert.deepEqual(await content, FRAME)
      assert.equal(count, 1)
    })
  }

  test('a frame without content that announces some is left to the decoder', async () => {
    for (const frame of ['28b52ffd2001010000', '28b52ffd600000010000', '28b52ffd210100010000']) {
      const bytes = Buffer.from(frame, 'hex')
      const frames = new ZstdFrames(open)
      frames.end(bytes)
      assert.deepEqual(await contentOf(frames), bytes)
    }
  })

  test('frames of a few bytes each: an error instead of a decoder for each', async () => {
    // One byte of content.
    const tiny = Buffer.from('28b52ffd200109000078', 'hex')
    let count = 0
    const frames = new ZstdFrames(() => {
      count++
      return open()
    })
    frames.resume()
    frames.end(Buffer.concat(Array.from({ length: 10_000 }, () => tiny)))
    const error = await failure(new Promise((_, reject) => frames.on('error', reject)))
    assert.deepEqual([error.code, error.message], ['ZSTD_TOO_MANY_FRAMES', 'too many zstd frames'])
    assert.ok(count < 6000, `${count} decoders`)
  })

  test('any number of frames of some length are decoded', async () => {
    const size = 70
    const frame = Buffer.concat([
      Buffer.from('28b52ffd20', 'hex'),
      Buffer.from([size, ((size << 3) | 1) & 255, size >> 5, 0]),
      Buffer.alloc(size, 'x'),
    ])
    const frames = new ZstdFrames(open)
    frames.end(Buffer.concat(Array.from({ length: 10_000 }, () => frame)))
    assert.equal((await contentOf(frames)).length, 10_000 * frame.length)
  })

  test('an empty body is empty', async () => {
    const frames = new ZstdFrames(open)
    frames.end()
    assert.equal((await contentOf(frames)).length, 0)
  })

  for (const [what, body] of [
    ['a frame', FRAME.subarray(0, -1)],
    ['the second frame', Buffer.concat([FRAME, FRAME.subarray(0, 2)])],
    ['a skippable frame', SKIPPABLE.subarray(0, -1)],
  ] as const) {
    test(`an end within ${what} is an error, after what was decoded`, async () => {
      const frames = new ZstdFrames(open)
      const got: Buffer[] = []
      frames.on('data', (chunk: Buffer) => void got.push(chunk))
      frames.end(body)
      const error = await failure(new Promise((_, reject) => frames.on('error', reject)))
      assert.deepEqual([error.code, error.message], ['Z_BUF_ERROR', 'unexpected end of file'])
      if (what !== 'a skippable frame') assert.ok(Buffer.concat(got).length >= FRAME.length - 1)
    })
  }
})

const skip = zstdCompressSync === undefined ? 'this runtime has no zstd' : false

overEachWire('a body in zstd', (wire) => {
  const parts = ['a', 'b', 'c'].map((letter) => letter.repeat(100_000))
  const whole = (): Buffer =>
    Buffer.concat(parts.flatMap((part) => [SKIPPABLE, zstdCompressSync!(Buffer.from(part))]))

  for (const how of ['fetch', 'decompress']) {
    const get = async (t: Parameters<typeof startOrigin>[0], body: Buffer): Promise<string> => {
      const origin = await startOrigin(t, wire, (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'zstd, identity' }).end(body)
      })
      const client = origin.client()
      if (how === 'fetch') return (await fetch(origin.url, { dispatcher: client })).text()
      const dispatcher = client.compose(interceptors.decompress())
      return (await dispatcher.request({ path: '/', method: 'GET' })).body.text()
    }

    test(`${how}: all of its frames are decoded`, { skip }, async (t) => {
      assert.equal(await get(t, whole()), parts.join(''))
    })

    test(`${how}: a truncated one is an error`, { skip }, async (t) => {
      const error = await failure(get(t, whole().subarray(0, -1)))
      assert.match(String((error.cause as Error | undefined) ?? error), /unexpected end of file/)
    })
  }
})

overEachWire('a body in gzip', (wire) => {
  for (const how of ['fetch', 'decompress']) {
    test(`${how}: identity beside it changes nothing`, async (t) => {
      const origin = await startOrigin(t, wire, (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip, identity' }).end(zlib.gzipSync('text'))
      })
      const client = origin.client()
      if (how === 'fetch') {
        assert.equal(await (await fetch(origin.url, { dispatcher: client })).text(), 'text')
        return
      }
      const { body } = await client.compose(interceptors.decompress()).request({ path: '/', method: 'GET' })
      assert.equal(await body.text(), 'text')
    })
  }

  test('decompress: what was decoded of a truncated one in a single chunk comes before the error', async (t) => {
    const text = Buffer.from(Array.from({ length: 3000 }, (_, i) => `line ${i}`).join(' '))
    const coded = zlib.gzipSync(text)
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(coded.subarray(0, -10))
    })
    const dispatcher = origin.client().compose(interceptors.decompress())
    const { body } = await dispatcher.request({ path: '/', method: 'GET' })
    let got = ''
    body.on('data', (chunk: Buffer) => {
      got += chunk.toString()
    })
    const error = await failure(new Promise((_, reject) => body.on('error', reject)))
    assert.equal(error.code, 'Z_BUF_ERROR')
    assert.ok(got.length > 0 && text.toString().startsWith(got))
  })
})
