import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import zlib from 'node:zlib'
import {
  Client,
  type CompressOptions,
  type DispatchOptions,
  FormData,
  interceptors,
} from '../../src/index.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { startOrigin, type Wire } from '../support/wire.ts'
import { steadyClock } from './retry-support.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

/** Not in the types of Node 20, and not in Node 20. */
const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync?: (bytes: Uint8Array) => Buffer }

const TEXT = 'a text that is worth it, '.repeat(100)
const LONG = 'a longer text, '.repeat(100_000)
const POST = { origin: 'http://a.test', path: '/', method: 'POST' }
const NOISE = randomBytes(4000)

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gunzipSync(bytes),
  br: (bytes) => zlib.brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync!(bytes),
}

interface Seen {
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

type Answer = (seen: Seen) => number | readonly [number, Record<string, string>]

async function setting(
  t: TestContext,
  wire: Wire,
  options: CompressOptions = {},
  answer: Answer = () => 200,
) {
  const seen: Seen[] = []
  const { url } = await startOrigin(t, wire, async (request, response) => {
    const bytes = await contentOf(request)
    const coding = request.headers['content-encoding']
    const text = (coding === undefined ? bytes : DECODERS[coding]!(bytes)).toString()
    seen.push({ headers: request.headers, bytes, text })
    const [status, headers] = [answer(seen.at(-1)!), {}].flat() as [number, Record<string, string>]
    response.writeHead(status, headers).end('answer')
  })
  const agent = composedAgent(t, wire, interceptors.compress(options))
  const post = async (opts: Partial<DispatchOptions>): Promise<number> => {
    const { statusCode, body } = await agent.request({ ...POST, origin: url, ...opts } as never)
    assert.equal(await body.text(), 'answer')
    return statusCode
  }
  return { seen, agent, url, post }
}

const BODIES: Record<string, () => unknown> = {
  'a string': () => TEXT,
  bytes: () => Buffer.from(TEXT),
  'a long string': () => LONG,
  'a stream': () => Readable.from([TEXT, TEXT]),
  'a web stream': () => new Blob([TEXT]).stream(),
  'a blob': () => new Blob([TEXT], { type: 'text/blob' }),
  'an array': () => [TEXT, TEXT],
  'a generator': async function* () {
    yield TEXT
    yield Buffer.from(TEXT)
  },
}

overTwoWires('interceptors.compress', (wire) => {
  for (const [kind, make] of Object.entries(BODIES)) {
    test(`${kind} arrives in its coding`, async (t) => {
      const { seen, post } = await setting(t, wire)
      const made = make()
      await post({ body: (typeof made === 'function' ? made() : made) as never })
      const [{ headers, bytes, text }] = seen as [Seen]
      assert.equal(headers['content-encoding'], 'gzip')
      assert.match(text, /^(?:a text that is worth it, )+$|^(?:a longer text, )+$/)
      assert.ok(bytes.length < text.length / 10)
      if (kind === 'a string' || kind === 'bytes') assert.equal(headers['content-length'], `${bytes.length}`)
      else assert.equal(headers['content-length'], undefined)
      assert.equal(headers['content-type'], kind === 'a blob' ? 'text/blob' : undefined)
    })
  }

  for (const coding of ['gzip', 'br', 'zstd'] as const) {
    const skip = coding === 'zstd' && zstdDecompressSync === undefined && 'the runtime has no zstd'
    test(`in the coding ${coding}`, { skip }, async (t) => {
      const { seen, post } = await setting(t, wire, { coding })
      await post({ body: TEXT })
      await post({ body: Readable.from([LONG]), headers: { 'content-length': `${LONG.length}` } })
      assert.deepEqual(
        seen.map(({ headers, text }) => [
          headers['content-encoding'],
          headers['content-length'],
          text.length,
        ]),
        [
          [coding, `${seen[0]!.bytes.length}`, TEXT.length],
          [coding, undefined, LONG.length],
        ],
      )
    })
  }

  test('after a 415 it is sent as it was given, and so are the next ones', async (t) => {
    const { seen, post } = await setting(t, wire, {}, ({ headers }) =>
      headers['content-encoding'] ? 415 : 200,
    )
    const headers = { 'content-length': `${TEXT.length}` }
    assert.deepEqual([await post({ body: TEXT, headers }), await post({ body: TEXT })], [200, 200])
    assert.deepEqual(
      seen.map(({ headers }) => [headers['content-encoding'], headers['content-length']]),
      [
        ['gzip', `${seen[0]!.bytes.length}`],
        [undefined, `${TEXT.length}`],
        [undefined, `${TEXT.length}`],
      ],
    )
  })

  test('a 415 with the body still on its way', async (t) => {
    let requests = 0
    const { url } = await startOrigin(t, wire, async (request, response) => {
      requests++
      if (request.headers['content-encoding']) response.writeHead(415).end('no')
      else response.end(`${(await contentOf(request)).length}`)
    })
    const agent = composedAgent(t, wire, interceptors.compress())
    const pieces = Array.from({ length: 200 }, () => NOISE)
    const { statusCode, body } = await agent.request({ ...POST, origin: url, body: pieces })
    assert.deepEqual([statusCode, await body.text(), requests], [200, `${200 * NOISE.length}`, 2])
  })

  test('a stream cannot be sent again: the caller gets the 415, and the next one is sent as it is', async (t) => {
    const { seen, post } = await setting(t, wire, {}, ({ headers }) =>
      headers['content-encoding'] ? 415 : 200,
    )
    assert.equal(await post({ body: Readable.from([TEXT]) }), 415)
    assert.equal(await post({ body: Readable.from([TEXT]) }), 200)
    assert.equal(seen.length, 2)
  })

  test('a 415 that is not about the coding', async (t) => {
    const { seen, post } = await setting(t, wire, {}, () => 415)
    assert.deepEqual([await post({ body: TEXT }), await post({ body: TEXT })], [415, 415])
    const codings = seen.map(({ headers }) => headers['content-encoding'])
    assert.deepEqual(codings, ['gzip', undefined, 'gzip', undefined])
  })

  test('a 415 of a server that accepts the coding is delivered', async (t) => {
    const accept = { 'accept-encoding': 'br;q=0.5, gzip' }
    const { seen, post } = await setting(t, wire, {}, () => [415, accept])
    assert.deepEqual([await post({ body: TEXT }), seen.length], [415, 1])
    const refusing = await setting(t, wire, {}, ({ headers }) =>
      headers['content-encoding'] ? [415, { 'accept-encoding': 'gzip;q=0, br' }] : 200,
    )
    assert.deepEqual([await refusing.post({ body: TEXT }), refusing.seen.length], [200, 2])
  })

  test('a retry further in gets all of a body again that begins anew', async (t) => {
    const texts: string[] = []
    const { url } = await startOrigin(t, wire, async (request, response) => {
      texts.push(zlib.gunzipSync(await contentOf(request)).toString())
      response.writeHead(texts.length === 1 ? 503 : 200).end()
    })
    const retry = interceptors.retry({ minTimeout: 1, methods: ['POST'] })
    const agent = composedAgent(t, wire, retry, interceptors.compress())
    for (const body of [[TEXT], new Blob([TEXT]), Buffer.from(LONG)] as const) {
      texts.length = 0
      const response = await agent.request({ ...POST, origin: url, body })
      await response.body.dump()
      assert.equal(response.statusCode, 200)
      assert.deepEqual([texts.length, texts[0]], [2, texts[1]])
    }
  })

  test('an abort destroys a stream that is being sent', async (t) => {
    const { agent, url, seen } = await setting(t, wire)
    const controller = new AbortController()
    const body = new PassThrough()
    body.write(TEXT)
    const failed = failure(agent.request({ ...POST, origin: url, body, signal: controller.signal }))
    await eventually(() => body.readableDidRead)
    controller.abort(new Error('enough'))
    assert.deepEqual([(await failed).message, body.destroyed, seen.length], ['enough', true, 0])
  })

  test('the error of a stream fails the request', async (t) => {
    const { agent, url } = await setting(t, wire)
    const body = new PassThrough()
    body.write(TEXT)
    const failed = failure(agent.request({ ...POST, origin: url, body }))
    await eventually(() => body.readableDidRead)
    body.destroy(new Error('the disk is gone'))
    assert.equal((await failed).message, 'the disk is gone')
  })
})

describe('interceptors.compress', () => {
  function sent(opts: Partial<DispatchOptions>, options: CompressOptions = {}): DispatchOptions {
    const base = new ScriptedDispatcher()
    base
      .compose(interceptors.compress(options))
      .dispatch({ ...POST, ...opts } as never, new RecordingHandler())
    return base.last.opts as DispatchOptions
  }

  const isCoded = (opts: Partial<DispatchOptions>, options?: CompressOptions): boolean =>
    [sent(opts, options).headers ?? []].flat().includes('content-encoding')

  const form = new FormData()
  form.set('a', TEXT)
  const PLAIN: Record<string, Partial<DispatchOptions>> = {
    'a small body': { body: 'x'.repeat(1023) },
    'a small blob': { body: new Blob(['small']) },
    'a stream of which few bytes are announced': {
      body: new PassThrough(),
      headers: { 'content-length': '9' },
    },
    'what does not get smaller': { body: NOISE },
    'a body with a coding': { body: TEXT, headers: { 'Content-Encoding': 'deflate' } },
    'a part of a body': { body: TEXT, headers: { 'content-range': 'bytes 0-1/5' } },
    'a body with a digest': { body: TEXT, headers: ['Content-Digest', 'sha-256=:x=:'] },
    'a body that contradicts its length': { body: TEXT, headers: { 'content-length': '3' } },
    'a form': { body: form as never },
    'an upgrade': { body: TEXT, upgrade: 'x' },
  }
  for (const type of [
    'image/png',
    'video/mp4',
    'application/zip',
    'application/gzip',
    'application/x-7z-compressed',
    'application/epub+zip',
    'application/grpc+proto',
    'multipart/form-data; boundary=x',
    ' font/woff2',
  ])
    PLAIN[type] = { body: TEXT, headers: { 'content-type': type } }

  for (const [what, opts] of Object.entries(PLAIN)) {
    test(`${what} is left alone`, () => {
      const { body, headers } = sent(opts)
      assert.deepEqual([body, headers], [opts.body, opts.headers])
    })
  }

  test('other types are compressed', () => {
    for (const type of ['text/plain', 'application/json', 'image/svg+xml', 'application/zipcode+json'])
      assert.equal(isCoded({ body: TEXT, headers: { 'content-type': type } }), true, type)
  })

  test('minSize and level', () => {
    assert.equal(isCoded({ body: 'x'.repeat(1024) }), true)
    assert.equal(isCoded({ body: 'x'.repeat(100) }, { minSize: 100 }), true)
    assert.equal(isCoded({ body: 'x'.repeat(99) }, { minSize: 100 }), false)
    const sizeAt = (level: number): number =>
      (sent({ body: LONG.slice(0, 60_000) }, { level }).body as Buffer).length
    assert.ok(sizeAt(9) < sizeAt(1))
  })

  test('wrong options', () => {
    const wrong: [CompressOptions, string][] = [
      [{ coding: 'deflate' as never }, 'coding must be gzip, br or zstd'],
      [{ level: 10 }, 'invalid level'],
      [{ level: 0 }, 'invalid level'],
      [{ coding: 'br', level: 12 }, 'invalid level'],
      [{ level: 1.5 }, 'invalid level'],
      [{ minSize: -1 }, 'invalid minSize'],
    ]
    for (const [options, message] of wrong)
      assert.throws(() => interceptors.compress(options), { code: 'UND_ERR_INVALID_ARG', message })
    if (zstdDecompressSync === undefined)
      assert.throws(() => interceptors.compress({ coding: 'zstd' }), {
        message: 'this runtime cannot encode zstd',
      })
  })

  test('a refusal is forgotten after an hour', (t) => {
    const clock = steadyClock(t)
    const base = new ScriptedDispatcher(({ opts }) => void codings.push([opts.headers ?? []].flat()[1]))
    const codings: unknown[] = []
    const dispatcher = base.compose(interceptors.compress())
    const post = (origin: string): void =>
      void dispatcher.dispatch({ ...POST, origin, body: Readable.from([TEXT]) }, new RecordingHandler())
    post('http://a.test')
    base.last.start().head(415).end()
    post('http://a.test')
    post('http://b.test')
    clock.now += 3_600_001
    post('http://a.test')
    assert.deepEqual(codings, ['gzip', undefined, 'gzip', 'gzip'])
  })

  test('a stream is not read before it is wanted, and its error does not end the process', async () => {
    const body = new Readable({ read: () => assert.fail('it was read') })
    const { body: coded } = sent({ body })
    const uncaught = await uncaughtDuring(async () => {
      ;(coded as Readable).on('error', () => {})
      body.destroy(new Error('gone'))
      await turns(3)
    })
    assert.deepEqual([(coded as Readable).destroyed, uncaught], [true, []])
  })

  for (const [kind, wrong] of Object.entries({
    'an iterable': () => [TEXT, 5],
    'a stream of objects': () => Readable.from([TEXT, {}]),
    'an asynchronous iterable': async function* () {
      yield TEXT
      yield new Uint16Array(4)
    },
  })) {
    test(`what ${kind} must not yield fails the request, not the process`, async () => {
      const uncaught = await uncaughtDuring(async () => {
        const { body: coded } = sent({ body: wrong() as DispatchOptions['body'] })
        const error = await failure(contentOf(Readable.from(coded as Readable)))
        assert.match(error.message, /The "chunk" argument must be of type string/)
      })
      assert.deepEqual(uncaught, [])
    })
  }

  test('a stream is read no faster than its coded form', async () => {
    const total = 4 * 1024 * 1024
    const noise = (): Readable & { size?: number } => {
      const body: Readable & { size?: number } = new Readable({
        read() {
          body.size = (body.size ?? 0) + NOISE.length
          this.push(body.size < total ? randomBytes(NOISE.length) : null)
        },
      })
      return body
    }
    const source = noise()
    ;(sent({ body: source }).body as Readable).read(0)
    // In this time it would be read to its end.
    for (let i = 0; i < 3; i++) await contentOf(sent({ body: noise() }).body as Readable)
    assert.ok(source.size! < total / 4, `${source.size}`)
  })

  test('a stream whose request is refused is destroyed', async () => {
    const body = new Readable({ read: () => assert.fail('it was read') })
    const handler = new RecordingHandler()
    const client = new Client('http://a.test').compose(interceptors.compress())
    client.dispatch({ path: 'x', method: 'POST', body }, handler)
    await turns(3)
    assert.deepEqual([handler.errors.length, body.destroyed], [1, true])
  })

  test('an abort while the 415 is read ends the request', async () => {
    const base = new ScriptedDispatcher()
    const handler = new RecordingHandler()
    base.compose(interceptors.compress()).dispatch({ ...POST, body: TEXT }, handler)
    const reason = new Error('enough')
    base.last.start().head(415).data('no')
    handler.controller!.abort(reason)
    await turns(3)
    assert.deepEqual([handler.errors, handler.story.length, base.exchanges.length], [[reason], 2, 1])
  })
})
