import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import zlib from 'node:zlib'
import {
  type Agent,
  type DecompressOptions,
  type DispatchOptions,
  errors,
  fetch,
  interceptors,
  type ResponseData,
} from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, startOrigin, type TestOrigin, WIRES, type Wire } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

/** Not in the types of Node 20, and not in Node 20. */
const { zstdCompressSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }

const TEXT = 'a text that is long enough to be coded as more than a literal: a text, a text, a text'
const MIB = 1024 * 1024

const CODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  'x-gzip': (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ...(zstdCompressSync === undefined ? {} : { zstd: zstdCompressSync }),
}

function encode(bytes: Buffer, ...codings: string[]): Buffer {
  return codings.reduce((coded, coding) => CODERS[coding]!(coded), bytes)
}

interface Setting {
  readonly origin: TestOrigin
  readonly agent: Agent
  get(opts?: Partial<DispatchOptions>): Promise<ResponseData>
}

async function setting(
  t: TestContext,
  wire: Wire,
  listener: Listener,
  options: DecompressOptions = {},
): Promise<Setting> {
  const origin = await startOrigin(t, wire, listener)
  const agent = composedAgent(t, wire, interceptors.decompress(options))
  return {
    origin,
    agent,
    get: (opts) => agent.request({ origin: origin.url, path: '/', method: 'GET', ...opts }),
  }
}

/** Answers with these bytes under this `content-encoding`. */
function answering(
  body: Buffer,
  coding: string | string[],
  status = 200,
  fields: Record<string, string> = {},
): Listener {
  return (_request, response) => {
    response.setHeader('content-encoding', coding)
    response.writeHead(status, { 'content-length': body.length, ...fields })
    response.end(body)
  }
}

overTwoWires('interceptors.decompress', (wire) => {
  for (const [coding, code] of Object.entries(CODERS)) {
    test(`${coding}: decoded, and the fields about the coding are gone`, async (t) => {
      const listener = answering(code(Buffer.from(TEXT)), coding.toUpperCase(), 200, {
        etag: '"x"',
        vary: 'accept',
      })
      const { get } = await setting(t, wire, listener)
      const { headers, body } = await get()
      assert.equal(await body.text(), TEXT)
      assert.deepEqual(
        [headers['content-encoding'], headers['content-length'], headers['etag'], headers['vary']],
        [undefined, undefined, '"x"', 'accept'],
      )
      const raw = await (await get({ responseHeaders: 'raw' } as never)).headers
      const names = (raw as unknown as string[])
        .filter((_, i) => i % 2 === 0)
        .map((name) => name.toLowerCase())
      assert.ok(names.includes('etag'))
      assert.ok(!names.includes('content-encoding') && !names.includes('content-length'))
    })

    test(`${coding}: truncated`, async (t) => {
      const { get } = await setting(t, wire, answering(code(Buffer.from(TEXT)).subarray(0, -9), coding))
      const error = await failure((await get()).body.text())
      assert.match(String(error.code), coding === 'br' ? /^Z_BUF_ERROR$/ : /^Z_BUF_ERROR$|^ZSTD_error/)
    })

    test(`${coding}: an empty body is empty`, async (t) => {
      const { get } = await setting(t, wire, answering(Buffer.alloc(0), coding))
      assert.equal(await (await get()).body.text(), '')
    })
  }

  test('deflate without the zlib header', async (t) => {
    const { get } = await setting(t, wire, answering(zlib.deflateRawSync(TEXT), 'deflate'))
    assert.equal(await (await get()).body.text(), TEXT)
  })

  test('lists, repeated lines, identity: the last coding is undone first', async (t) => {
    const coded = encode(Buffer.from(TEXT), 'gzip', 'br', 'deflate')
    for (const value of ['gzip, br, deflate', 'GZIP ,,identity, br,deflate', ['gzip', 'br, deflate']]) {
      // Over HTTP/2 the runtime joins them; a list says the same.
      const sent = wire.multiplexes && Array.isArray(value) ? value.join(', ') : value
      const { get } = await setting(t, wire, answering(coded, sent))
      assert.equal(await (await get()).body.text(), TEXT)
    }
  })

  test('an unknown coding, or identity alone: untouched', async (t) => {
    const coded = zlib.gzipSync(TEXT)
    for (const coding of ['compress', 'gzip, compress', 'unknown, gzip', 'identity']) {
      const { get } = await setting(t, wire, answering(coded, coding))
      const { headers, body } = await get()
      assert.equal(headers['content-encoding'], coding)
      assert.equal(headers['content-length'], String(coded.length))
      assert.deepEqual(Buffer.from(await body.arrayBuffer()), coded)
    }
  })

  test('more than five codings', async (t) => {
    const { get } = await setting(t, wire, answering(Buffer.from('x'), 'gzip,gzip,gzip,gzip,gzip,gzip'))
    const error = await failure(get())
    assert.ok(error instanceof errors.ResponseExceededMaxSizeError)
    assert.equal(error.message, 'too many content-encodings in response: 6, maximum allowed is 5')
  })

  test('HEAD, 206, 204, 304, and errors are untouched; errors are decoded on request', async (t) => {
    const coded = zlib.gzipSync(TEXT)
    const head = await (await setting(t, wire, answering(coded, 'gzip'))).get({ method: 'HEAD' })
    assert.equal(head.headers['content-encoding'], 'gzip')
    for (const status of [204, 206, 304, 400, 500]) {
      const { get } = await setting(
        t,
        wire,
        answering(status === 204 ? Buffer.alloc(0) : coded, 'gzip', status),
      )
      const { headers, body } = await get()
      assert.equal(headers['content-encoding'], 'gzip', String(status))
      const hasBody = status !== 204 && status !== 304
      assert.equal((await body.arrayBuffer()).byteLength, hasBody ? coded.length : 0)
    }
    const { get } = await setting(t, wire, answering(coded, 'gzip', 500), { skipErrorResponses: false })
    assert.equal(await (await get()).body.text(), TEXT)
    const skipping = await setting(t, wire, answering(coded, 'gzip', 203), { skipStatusCodes: [203] })
    assert.equal((await (await skipping.get()).body.arrayBuffer()).byteLength, coded.length)
  })

  test('several members of gzip are joined; other bytes behind the end are an error', async (t) => {
    const member = zlib.gzipSync(TEXT)
    const joined = await setting(t, wire, answering(Buffer.concat([member, member]), 'gzip'))
    assert.equal(await (await joined.get()).body.text(), TEXT + TEXT)
    const more = await setting(t, wire, answering(Buffer.concat([member, Buffer.from('more')]), 'gzip'))
    assert.equal((await failure((await more.get()).body.text())).code, 'Z_DATA_ERROR')
  })

  test('bytes that are not of the coding', async (t) => {
    const { get } = await setting(t, wire, answering(Buffer.from('nonsense'), 'gzip'))
    assert.equal((await failure((await get()).body.text())).code, 'Z_DATA_ERROR')
  })

  test('trailers and informational responses pass', async (t) => {
    const { get } = await setting(t, wire, (_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.writeHead(200, { 'content-encoding': 'gzip', trailer: 'check' })
      response.addTrailers({ check: 'sum' })
      response.end(zlib.gzipSync(TEXT))
    })
    const infos: number[] = []
    const { trailers, body } = await get({
      onInfo: ({ statusCode }: { statusCode: number }) => infos.push(statusCode),
    } as never)
    assert.equal(await body.text(), TEXT)
    assert.equal(trailers['check'], 'sum')
    assert.deepEqual(infos, [103])
  })

  test('maxSize: exactly, and one byte more', async (t) => {
    const listener = answering(zlib.gzipSync(TEXT), 'gzip')
    const exact = await setting(t, wire, listener, { maxSize: TEXT.length })
    assert.equal(await (await exact.get()).body.text(), TEXT)
    const short = await setting(t, wire, listener, { maxSize: TEXT.length - 1 })
    const error = await failure((await short.get()).body.text())
    assert.ok(error instanceof errors.ResponseExceededMaxSizeError)
    assert.equal(
      error.message,
      `Decompressed response size (${TEXT.length}) exceeded maxSize (${TEXT.length - 1})`,
    )
  })

  test('maxSize holds for each stage', async (t) => {
    // The inner form is larger than the content.
    const stored = zlib.gzipSync(TEXT, { level: 0 })
    assert.ok(stored.length > TEXT.length + 10)
    const coded = zlib.gzipSync(stored)
    const { get } = await setting(t, wire, answering(coded, 'gzip, gzip'), { maxSize: TEXT.length + 10 })
    const error = await failure((await get()).body.text())
    assert.equal(
      error.message,
      `Decompressed response size (${stored.length}) exceeded maxSize (${TEXT.length + 10})`,
    )
  })

  test('maxRatio, from 1 MiB on', async (t) => {
    const zeros = zlib.gzipSync(Buffer.alloc(4 * MIB))
    assert.ok(zeros.length * 1000 < 4 * MIB)
    const { get } = await setting(t, wire, answering(zeros, 'gzip'))
    const error = await failure((await get()).body.arrayBuffer())
    assert.ok(error instanceof errors.ResponseExceededMaxSizeError)
    assert.equal(error.message, 'Decompressed response is more than 1000 times its encoded size')
    for (const maxRatio of [0, 2000, Number.POSITIVE_INFINITY]) {
      const free = await setting(t, wire, answering(zeros, 'gzip'), { maxRatio })
      assert.equal((await (await free.get()).body.arrayBuffer()).byteLength, 4 * MIB)
    }
    const from = async (length: number): Promise<number> => {
      const some = await setting(t, wire, answering(zlib.gzipSync(Buffer.alloc(length)), 'gzip'), {
        maxRatio: 10,
      })
      return (await (await some.get()).body.arrayBuffer()).byteLength
    }
    assert.equal(await from(MIB), MIB)
    assert.equal((await failure(from(MIB + 1))).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  })

  test('maxResponseSize of the client is for the decoded body, too', async (t) => {
    const origin = await startOrigin(t, wire, answering(zlib.gzipSync(Buffer.alloc(5000)), 'gzip'))
    const client = origin.client({ maxResponseSize: 4999 }).compose(interceptors.decompress())
    const { body } = await client.request({ path: '/', method: 'GET' })
    assert.equal((await failure(body.text())).code, 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
  })

  test('acceptEncoding asks for what can be decoded, unless the caller asks, or wants a range', async (t) => {
    const seen: unknown[] = []
    const listener: Listener = (request, response) => {
      seen.push(request.headers['accept-encoding'])
      response.end()
    }
    const asking = await setting(t, wire, listener, { acceptEncoding: true })
    const silent = await setting(t, wire, listener)
    const all = zstdCompressSync === undefined ? 'gzip, deflate, br' : 'gzip, deflate, br, zstd'
    await asking.get()
    await asking.get({ headers: { a: 'b' } })
    await asking.get({ headers: ['a', 'b'], method: 'HEAD' })
    await asking.get({ headers: new Map([['a', 'b']]) })
    await asking.get({ headers: { 'Accept-Encoding': 'br' } })
    await asking.get({ headers: { Range: 'bytes=0-1' } })
    await silent.get()
    assert.deepEqual(seen, [all, all, all, all, 'br', undefined, undefined])
  })

  test('back-pressure reaches the server, and a paused body is complete after all', async (t) => {
    const block = zlib.gzipSync(Buffer.alloc(64 * 1024, 'x'), { level: 0 })
    let written = 0
    const blocks = 400
    const { get } = await setting(t, wire, (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      const write = (): void => {
        while (written < blocks) {
          written++
          if (!response.write(block)) return
        }
        response.end()
      }
      response.on('drain', write)
      write()
    })
    const { body } = await get({ highWaterMark: 1024 } as never)
    let before = -1
    await eventually(() => {
      const still = before === written
      before = written
      return still && written > 0
    })
    await turns(50)
    assert.ok(written < blocks, `${written} of ${blocks} blocks were sent to a reader that does not read`)
    assert.equal((await contentOf(body)).length, blocks * 64 * 1024)
  })

  test('stream() and fetch', async (t) => {
    const { agent, origin } = await setting(t, wire, answering(zlib.brotliCompressSync(TEXT), 'br'))
    const chunks: Buffer[] = []
    await agent.stream(
      { origin: origin.url, path: '/', method: 'GET' },
      () =>
        new Writable({
          write(chunk, _encoding, done) {
            chunks.push(chunk)
            done()
          },
        }),
    )
    assert.equal(Buffer.concat(chunks).toString(), TEXT)
    const response = await fetch(origin.url, { dispatcher: agent })
    assert.equal(await response.text(), TEXT)
    assert.equal(response.headers.get('content-encoding'), null)
  })

  test('an abort: before the head, and while the body is decoded', async (t) => {
    const { get } = await setting(t, wire, (request, response) => {
      if (request.url === '/wait') return
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.write(zlib.gzipSync(TEXT))
    })
    const reason = new Error('enough')
    const first = new AbortController()
    const waiting = failure(get({ path: '/wait', signal: first.signal } as never))
    first.abort(reason)
    assert.equal(await waiting, reason)
    const second = new AbortController()
    const { body } = await get({ signal: second.signal } as never)
    const text = failure(body.text())
    second.abort(reason)
    assert.equal(await text, reason)
  })

  test('a connection that is lost fails the body', async (t) => {
    const { get } = await setting(t, wire, (request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      response.write(zlib.gzipSync(TEXT).subarray(0, -5))
      const { stream } = request as unknown as { stream?: { destroy(): void } }
      setTimeout(() => (stream ?? request.socket).destroy(), 5)
    })
    const { body } = await get()
    await assert.rejects(body.text())
  })
})

describe('interceptors.decompress: handlers', () => {
  const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const
  const GZIP = { 'content-encoding': 'gzip' }

  test('pause and resume, also after the connection is done with the response', async () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    base.compose(interceptors.decompress()).dispatch(GET, handler)
    base.last.start().head(200, GZIP)
    assert.deepEqual(base.last.log, ['pause'])
    const controller = handler.controllers[0]!
    controller.resume()
    assert.deepEqual(base.last.log, ['pause', 'resume'])
    base.last.data(zlib.gzipSync(Buffer.alloc(300_000, 'x')))
    controller.pause()
    assert.equal(controller.paused, true)
    base.last.end()
    await turns(20)
    assert.equal(handler.calls.includes('onResponseEnd'), false)
    controller.resume()
    await handler.settled
    assert.equal(handler.body.length, 300_000)
  })

  for (const codings of [...Object.keys(CODERS).map((coding) => [coding]), ['gzip', 'br']]) {
    const name = codings.join(', ')
    const coded = encode(Buffer.from(TEXT), ...codings)

    /**
     * The handler pauses at each piece that it gets, and has got all. A body that comes at once is decoded in one call.
     * One that was held up has been decoded completely when the handler takes its first piece.
     */
    const pausedAtTheLast = async (way: string): Promise<RecordingHandler> => {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler({ onResponseData: (controller) => controller.pause() })
      base.compose(interceptors.decompress()).dispatch(GET, handler)
      base.last.start().head(200, { 'content-encoding': name })
      base.last.data(coded.subarray(0, -12))
      if (way === 'held up') handler.controller!.pause()
      if (way === 'in pieces') await turns(5)
      base.last.data(coded.subarray(-12)).end({ check: 'sum' })
      if (way === 'held up') await turns(50)
      await eventually(() => {
        if (handler.body === TEXT) return true
        handler.controller!.resume()
        return false
      })
      await turns(20)
      return handler
    }

    for (const way of ['at once', 'in pieces', 'held up']) {
      test(`${name}, ${way}: a handler that pauses at the last bytes gets the end when it resumes`, async () => {
        const handler = await pausedAtTheLast(way)
        assert.equal(handler.calls.at(-1), 'onResponseData')
        handler.controller!.resume()
        await handler.settled
        assert.deepEqual([handler.body, handler.trailers, handler.errors], [TEXT, { check: 'sum' }, []])
        handler.controller!.abort()
        handler.controller!.resume()
        await turns(5)
        assert.equal(handler.story.at(-1), 'onResponseEnd')
      })

      test(`${name}, ${way}: a handler that pauses at the last bytes and aborts gets one error`, async () => {
        const handler = await pausedAtTheLast(way)
        const reason = new Error('enough')
        handler.controller!.abort(reason)
        handler.controller!.resume()
        await turns(20)
        assert.deepEqual(handler.errors, [reason])
        assert.equal(handler.calls.includes('onResponseEnd'), false)
      })
    }
  }

  test('a handler that pauses when all is decoded gets the end of the response when it resumes', async () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.decompress()).dispatch(GET, handler)
    // The byte behind the data tells the decoder that it is done.
    const coded = Buffer.concat([zlib.brotliCompressSync(TEXT), Buffer.from('x')])
    base.last.start().head(200, { 'content-encoding': 'br' }).data(coded)
    await eventually(() => handler.body === TEXT)
    await turns(5)
    handler.controller!.pause()
    base.last.end()
    await turns(5)
    assert.equal(handler.calls.at(-1), 'onResponseData')
    handler.controller!.resume()
    await handler.settled
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
  })

  test('a body that cannot be decoded, or decodes to too much, is given up', async () => {
    for (const [bytes, options, code] of [
      [Buffer.from('not gzip'), {}, 'Z_DATA_ERROR'],
      [zlib.gzipSync(Buffer.alloc(100)), { maxSize: 99 }, 'UND_ERR_RES_EXCEEDED_MAX_SIZE'],
    ] as const) {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(interceptors.decompress(options)).dispatch(GET, handler)
      base.last.start().head(200, GZIP).data(bytes)
      const { error } = await handler.settled
      assert.equal((error as { code?: unknown }).code, code)
      assert.deepEqual(base.last.aborts, [error])
    }
  })

  test('an abort after the connection is done with the response', async () => {
    const base = new ScriptedDispatcher()
    const reason = new Error('enough')
    const handler = new RecordingHandler({ onResponseData: (controller) => controller.abort(reason) })
    base.compose(interceptors.decompress()).dispatch(GET, handler)
    base.last
      .start()
      .head(200, GZIP)
      .data(zlib.gzipSync(Buffer.alloc(300_000, 'x')))
      .end()
    await handler.settled
    await turns(20)
    assert.deepEqual(handler.errors, [reason])
    assert.equal(handler.chunks.length, 1)
    assert.equal(handler.controllers[0]!.aborted, true)
  })

  test('a handler that throws while data is decoded fails its request', async () => {
    for (const method of ['onResponseData', 'onResponseEnd'] as const) {
      const thrown = new Error(method)
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler({
        [method]: () => {
          throw thrown
        },
        onResponseError: () => {
          throw new Error('again')
        },
      })
      base.compose(interceptors.decompress()).dispatch(GET, handler)
      base.last.start().head(200, GZIP).data(zlib.gzipSync(TEXT)).end()
      await eventually(() => handler.errors.length > 0)
      await turns(5)
      assert.deepEqual(handler.errors, [thrown])
    }
  })

  test('the headers and the controller of the dispatcher below stay as they are', async () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.decompress()).dispatch(GET, handler)
    const rawHeaders = ['Content-Encoding', 'gzip', 'ETag', '"x"'].map((part) => Buffer.from(part))
    const controller = Object.freeze(
      base.last.newController({ rawHeaders: Object.freeze(rawHeaders) as Buffer[] }),
    )
    const headers = Object.freeze({ ...GZIP, etag: '"x"' })
    const { handler: ours } = base.last
    ours.onRequestStart!(controller, null)
    ours.onResponseStart!(controller, 200, headers, '')
    assert.deepEqual(handler.headers, { etag: '"x"' })
    assert.deepEqual(rawList(handler.controllers[0]!.rawHeaders)!.map(String), ['ETag', '"x"'])
    ours.onResponseEnd!(controller, {})
    assert.equal((await handler.settled).body, '')
  })

  test('upgrades and CONNECT pass', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.decompress())
    for (const opts of [{ upgrade: 'websocket' }, { method: 'CONNECT', path: 'a.test:1' }]) {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ ...GET, ...opts }, handler)
      base.last.start().head(200, { 'content-encoding': 'gzip' }).data('as it is').end()
      assert.equal(handler.body, 'as it is')
    }
  })

  test('wrong options', () => {
    const integer = 'maxSize must be a non-negative integer'
    const wrong: [object, string][] = [
      [{ maxSize: -1 }, integer],
      [{ maxSize: 1.5 }, integer],
      [{ maxSize: 'one' }, integer],
      [{ maxRatio: -1 }, 'maxRatio must be a non-negative number'],
      [{ maxRatio: Number.NaN }, 'maxRatio must be a non-negative number'],
      [{ skipStatusCodes: 204 }, 'skipStatusCodes must be an array of status codes'],
      [{ skipErrorResponses: 2 }, 'skipErrorResponses must be a boolean'],
      [{ acceptEncoding: 'gzip' }, 'acceptEncoding must be a boolean'],
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => interceptors.decompress(options as DecompressOptions), {
        name: 'InvalidArgumentError',
        message,
      })
    }
    assert.throws(() => interceptors.decompress('x' as never), { message: 'options must be an object' })
  })
})

describe('interceptors.decompress: security', () => {
  const LIMIT = MIB
  const ALLOWED = LIMIT + 32 * MIB

  /** How much the resident set grows at most while `run` runs. */
  async function growth(run: () => Promise<void>): Promise<number> {
    const before = process.memoryUsage.rss()
    let most = before
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss())
    }, 1)
    await run()
    clearInterval(watch)
    return Math.max(most, process.memoryUsage.rss()) - before
  }

  const BOMBS: [name: string, coding: string, make: () => Buffer][] = [
    ...['gzip', 'deflate', 'br', ...(zstdCompressSync === undefined ? [] : ['zstd'])].map(
      (coding): [string, string, () => Buffer] => [
        coding,
        coding,
        () => encode(Buffer.alloc(64 * MIB), coding),
      ],
    ),
    [
      'five nested gzips',
      'gzip, gzip, gzip, gzip, gzip',
      () => encode(Buffer.alloc(64 * MIB), 'gzip', 'gzip', 'gzip', 'gzip', 'gzip'),
    ],
  ]
  for (const [name, coding, make] of BOMBS) {
    test(`row 5: a bomb of ${name} fails, or waits for its reader, in little memory`, async (t) => {
      const bomb = make()
      const limited = await setting(t, WIRES[0]!, answering(bomb, coding), { maxSize: LIMIT, maxRatio: 0 })
      const unlimited = await setting(t, WIRES[0]!, answering(bomb, coding), { maxRatio: 0 })
      await (await limited.get()).body.dump()
      const grown = await growth(async () => {
        const error = await failure((await limited.get()).body.text())
        assert.match(error.message, /^Decompressed response size \(\d+\) exceeded maxSize \(1048576\)$/)
        const { body } = await unlimited.get()
        await turns(200)
        body.destroy()
      })
      assert.ok(grown < ALLOWED, `the process grew by ${Math.round(grown / MIB)} MiB`)
    })
  }

  test('row 5: zstd with a window of 2 GiB is refused', async (t) => {
    if (zstdCompressSync === undefined) return t.skip('this runtime has no zstd')
    // RFC 8878 §3.1.1: magic number, frame header with a window descriptor (exponent 21: 2³¹ bytes), a last raw block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0x00, 0x00, 0x41])
    const { get } = await setting(t, WIRES[0]!, answering(frame, 'zstd'))
    let code: unknown
    const grown = await growth(async () => {
      code = (await failure((await get()).body.text())).code
    })
    assert.match(String(code), /windowTooLarge/)
    assert.ok(grown < ALLOWED)
    return undefined
  })

  test('row 10: a polluted prototype changes no limit', async (t) => {
    const polluted = Object.prototype as Record<string, unknown>
    const { get } = await (async () => {
      polluted['maxSize'] = 1
      polluted['acceptEncoding'] = true
      try {
        return await setting(t, WIRES[0]!, answering(zlib.gzipSync(TEXT), 'gzip'), {})
      } finally {
        delete polluted['maxSize']
        delete polluted['acceptEncoding']
      }
    })()
    assert.equal(await (await get()).body.text(), TEXT)
  })
})
