/** Bodies of requests and responses: their sources, states, clones, streams. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { FormData, Headers, Request, type RequestInit, Response } from '../../src/index.ts'
import { failure } from '../support/exchange.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array | ArrayBuffer): string => new TextDecoder().decode(bytes)

function streamOf(...chunks: unknown[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

async function* generate(...chunks: (string | Uint8Array)[]): AsyncGenerator<string | Uint8Array> {
  yield* chunks
}

async function chunksOf(stream: AsyncIterable<unknown> | null): Promise<string[]> {
  const chunks: string[] = []
  for await (const chunk of stream!) chunks.push(decode(chunk as Uint8Array))
  return chunks
}

const UNUSABLE = { name: 'TypeError', message: 'Body is unusable: Body has already been read' }

/** A class that only looks like the platform's. */
const tagged = (tag: string, members: object): object => Object.assign({ [Symbol.toStringTag]: tag }, members)

describe('what a body can be made from', () => {
  const rows: [title: string, make: () => unknown, type: string | null, text: string][] = [
    ['a string', () => 'grün\ud800', 'text/plain;charset=UTF-8', 'grün\ufffd'],
    ['an empty string', () => '', 'text/plain;charset=UTF-8', ''],
    ['a number', () => 12, 'text/plain;charset=UTF-8', '12'],
    ['an object', () => ({}), 'text/plain;charset=UTF-8', '[object Object]'],
    ['a Uint8Array', () => encode('abc').subarray(1), null, 'bc'],
    ['a DataView', () => new DataView(encode('abc').buffer as ArrayBuffer, 1, 1), null, 'b'],
    ['an ArrayBuffer', () => encode('abc').buffer, null, 'abc'],
    [
      'a URLSearchParams',
      () => new URLSearchParams({ a: 'b c' }),
      'application/x-www-form-urlencoded;charset=UTF-8',
      'a=b+c',
    ],
    ['a Blob', () => new Blob(['blob'], { type: 'a/b' }), 'a/b', 'blob'],
    ['a Blob without type', () => new Blob(['blob']), null, 'blob'],
    ['a stream', () => streamOf(encode('a'), encode('b')), null, 'ab'],
    ['an async iterable', () => generate('a', encode('b')), null, 'ab'],
    ['a Readable', () => Readable.from([Buffer.from('a'), Buffer.from('b')]), null, 'ab'],
    [
      'URLSearchParams of another class',
      () => tagged('URLSearchParams', { toString: () => 'a=1' }),
      'application/x-www-form-urlencoded;charset=UTF-8',
      'a=1',
    ],
    [
      'a Blob of another class',
      () => tagged('Blob', { size: 2, type: 'x/y', stream: () => generate('hi') }),
      'x/y',
      'hi',
    ],
    [
      'a stream of another class',
      () => {
        const inner = streamOf(encode('theirs'))
        return tagged('ReadableStream', { locked: false, getReader: () => inner.getReader() })
      },
      null,
      'theirs',
    ],
  ]
  for (const [title, make, type, text] of rows) {
    test(title, async () => {
      const response = new Response(make() as never)
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(await response.text(), text)
      const init = { method: 'POST', body: make() as never, duplex: 'half' } as const
      const request = new Request('http://a.test', init)
      assert.equal(request.headers.get('content-type'), type)
      assert.equal(decode(await request.bytes()), text)
      // The same through the stream.
      assert.equal((await chunksOf(new Response(make() as never).body)).join(''), text)
    })
  }

  test('a form, of the runtime or of another class', async () => {
    const form = new FormData()
    form.append('a"\n', 'x\ny')
    form.append('file', new File(['content'], 'name.txt', { type: 'a/b' }))
    const foreign = tagged('FormData', { append() {}, [Symbol.iterator]: () => form.entries() })
    for (const body of [form, foreign]) {
      const response = new Response(body as never)
      const type = response.headers.get('content-type')!
      const [, boundary] = /^multipart\/form-data; ?boundary=(.+)$/.exec(type)!
      assert.equal(
        await response.text(),
        `--${boundary}\r\nContent-Disposition: form-data; name="a%22%0D%0A"\r\n\r\nx\r\ny\r\n--${boundary}\r\n` +
          'Content-Disposition: form-data; name="file"; filename="name.txt"\r\nContent-Type: a/b\r\n\r\ncontent\r\n' +
          `--${boundary}--\r\n`,
      )
    }
    const boundaries = [1, 2].map(() => new Response(form).headers.get('content-type'))
    assert.notEqual(boundaries[0], boundaries[1])
  })

  test('bytes are copied: who writes there later changes nothing', async () => {
    const bytes = encode('abc')
    const response = new Response(bytes)
    bytes.fill(0)
    assert.equal(await response.text(), 'abc')
  })

  test('chunks that are no bytes', async () => {
    assert.equal((await failure(new Response(streamOf('text')).text())).name, 'TypeError')
    assert.equal((await failure(new Response(generate(1 as never) as never).text())).name, 'TypeError')
  })

  test('not a Readable that was read, or destroyed', async () => {
    const read = Readable.from(['a'])
    for await (const _ of read);
    const destroyed = new Readable({ read() {} }).destroy()
    for (const body of [read, destroyed]) {
      assert.throws(() => new Response(body as never), {
        name: 'TypeError',
        message: 'Response body object should not be disturbed or locked',
      })
    }
  })

  test('a stream that fails', async () => {
    const broken = (): ReadableStream =>
      new ReadableStream({
        pull() {
          throw new Error('broken')
        },
      })
    assert.equal((await failure(new Response(broken()).text())).message, 'broken')
    const iterable = (async function* () {
      yield 'x'
      throw new Error('generator')
    })()
    assert.equal((await failure(new Response(iterable).text())).message, 'generator')
    const unwilling = {
      [Symbol.asyncIterator]: () => ({
        next() {
          throw new Error('at once')
        },
      }),
    }
    assert.equal((await failure(new Response(unwilling as never).text())).message, 'at once')
  })
})

describe('reading a body', () => {
  test('as each kind', async () => {
    assert.equal(await new Response('\ufeffx\ufeff').text(), 'x\ufeff')
    assert.equal(await new Response(encode('\ufeffx')).text(), 'x')
    assert.deepEqual(await new Response('{"a":1}').json(), { a: 1 })
    assert.ok((await new Response('x').bytes()) instanceof Uint8Array)
    assert.ok((await new Response('x').arrayBuffer()) instanceof ArrayBuffer)
    const blob = await new Response('x', { headers: { 'content-type': 'Text/Plain; a=b' } }).blob()
    assert.deepEqual([await blob.text(), blob.type], ['x', 'text/plain;a=b'])
    assert.equal((await new Response(encode('x')).blob()).type, '')
  })

  test('bytes are memory of their own', async () => {
    const bytes = encode('abc')
    const clone = new Response(bytes).clone()
    const first = await new Response(bytes).bytes()
    first.fill(0)
    assert.equal(await clone.text(), 'abc')
    assert.equal(first.buffer.byteLength, 3)
  })

  test('without a body', async () => {
    const none = new Response()
    assert.deepEqual([await none.text(), (await none.bytes()).length, none.bodyUsed], ['', 0, false])
    assert.equal((await none.blob()).size, 0)
    assert.equal((await failure(none.json())).name, 'SyntaxError')
    assert.equal((await failure(new Response('').json())).message, 'Unexpected end of JSON input')
    assert.equal((await failure(new Response('x').json())).name, 'SyntaxError')
    assert.deepEqual(await chunksOf(none.textStream()), [])
  })

  test('only once', async () => {
    for (const make of [
      () => new Response('x'),
      () => new Response(encode('x')),
      () => new Response(new Blob(['x'])),
      () => new Response(streamOf(encode('x'))),
      () => new Response(generate('x')),
    ]) {
      const response = make()
      assert.equal(response.bodyUsed, false)
      const text = response.text()
      assert.equal(response.bodyUsed, true)
      assert.equal(response.body?.locked, true)
      await assert.rejects(response.text(), UNUSABLE)
      assert.equal(await text, 'x')
      for (const name of ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const) {
        await assert.rejects(response[name](), UNUSABLE)
      }
      assert.throws(() => response.textStream(), UNUSABLE)
      assert.equal(response.body?.locked, true)
    }
  })

  test('not while somebody reads the stream, nor after', async () => {
    const locked = new Response('x')
    const reader = locked.body!.getReader()
    await assert.rejects(locked.text(), UNUSABLE)
    assert.equal(locked.bodyUsed, false)
    reader.releaseLock()
    assert.equal(await locked.text(), 'x')
    const read = new Response('x')
    await read.body!.getReader().read()
    assert.equal(read.bodyUsed, true)
    const cancelled = new Response('x')
    await cancelled.body!.cancel()
    assert.equal(cancelled.bodyUsed, true)
    await assert.rejects(cancelled.text(), UNUSABLE)
  })

  test('form data: both types, and what is neither', async () => {
    const form = new FormData()
    form.append('a', 'grün')
    form.append('a', '')
    form.append('file', new File(['\r\n--content'], 'grün.txt', { type: 'a/b' }))
    const parsed = await new Response(form).formData()
    assert.ok(parsed instanceof FormData)
    assert.deepEqual(parsed.getAll('a'), ['grün', ''])
    const file = parsed.get('file') as File
    assert.deepEqual([file.name, file.type, await file.text()], ['grün.txt', 'a/b', '\r\n--content'])
    const encoded = await new Response(new URLSearchParams('a=1&a=2&b=+')).formData()
    assert.deepEqual([encoded.getAll('a'), encoded.get('b')], [['1', '2'], ' '])
    const typed = (type: string, text = 'x') =>
      new Response(text, { headers: { 'content-type': type } }).formData()
    assert.equal(
      (await failure(typed('text/plain'))).message,
      'Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".',
    )
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=a']) {
      const error = await failure(typed(type))
      assert.deepEqual([error.name, error.message], ['TypeError', 'Failed to parse body as FormData.'])
      assert.ok((error.cause as Error).message.length > 0)
    }
  })

  test('as a stream of text', async () => {
    const bytes = encode('grün')
    const response = new Response(streamOf(bytes.subarray(0, 3), bytes.subarray(3)))
    const texts: string[] = []
    for await (const text of response.textStream()) texts.push(text)
    assert.equal(texts.join(''), 'grün')
    assert.equal(response.bodyUsed, true)
  })
})

describe('textStream()', () => {
  const read = async (stream: AsyncIterable<string>): Promise<string[]> => {
    const texts: string[] = []
    for await (const text of stream) {
      assert.equal(typeof text, 'string')
      texts.push(text)
    }
    return texts
  }
  const owners: [name: string, make: (body: unknown) => Request | Response][] = [
    ['Response', (body) => new Response(body as never)],
    [
      'Request',
      (body) => new Request('http://a.test', { method: 'POST', body, duplex: 'half' } as RequestInit),
    ],
  ]
  for (const [name, make] of owners) {
    test(`of a ${name}: of strings, bytes, Blobs, forms, streams and nothing`, async () => {
      const rows: [body: unknown, text: string][] = [
        ['grün', 'grün'],
        ['', ''],
        [null, ''],
        [encode('grün'), 'grün'],
        [new Blob(['blob']), 'blob'],
        [new URLSearchParams('a=b'), 'a=b'],
        [streamOf(encode('a'), encode('b')), 'ab'],
        [generate('a', encode('b')), 'ab'],
      ]
      for (const [body, text] of rows) assert.equal((await read(make(body).textStream())).join(''), text)
    })

    test(`of a ${name}: a character in two chunks, a mark, bytes that are no text`, async () => {
      const bytes = encode('\ufeffa€b')
      for (let at = 0; at <= bytes.length; at++) {
        const split = streamOf(bytes.subarray(0, at), bytes.subarray(at))
        assert.equal((await read(make(split).textStream())).join(''), 'a€b', String(at))
      }
      const wrong = streamOf(new Uint8Array([0x61, 0xff, 0x62, 0xe2]))
      assert.equal((await read(make(wrong).textStream())).join(''), 'a\ufffdb\ufffd')
    })

    test(`of a ${name}: uses the body, and needs one that is not used`, async () => {
      const owner = make('x')
      const stream = owner.textStream()
      assert.deepEqual([owner.body!.locked, stream.locked], [true, false])
      assert.throws(() => owner.textStream(), UNUSABLE)
      assert.throws(() => owner.clone(), TypeError)
      await assert.rejects(owner.text(), UNUSABLE)
      assert.deepEqual(await read(stream), ['x'])
      assert.equal(owner.bodyUsed, true)
      const locked = make(streamOf(encode('x')))
      locked.body!.getReader()
      assert.throws(() => locked.textStream(), UNUSABLE)
    })

    test(`of a ${name}: a failure and a cancel go through`, async () => {
      const broken = new ReadableStream({
        pull() {
          throw new Error('broken')
        },
      })
      await assert.rejects(read(make(broken).textStream()), { message: 'broken' })
      const reasons: unknown[] = []
      const source = new ReadableStream({ cancel: (reason) => void reasons.push(reason) })
      await make(source).textStream().cancel('why')
      await new Promise(setImmediate)
      assert.deepEqual(reasons, ['why'])
    })
  }
})

describe('the stream of a body', () => {
  test('is made once, and is a byte stream', async () => {
    const response = new Response('hello')
    assert.equal(response.body, response.body)
    const reader = response.body!.getReader({ mode: 'byob' })
    const first = await reader.read(new Uint8Array(2))
    assert.equal(decode(first.value!), 'he')
    const second = await reader.read(new Uint8Array(10))
    assert.equal(decode(second.value!), 'llo')
    assert.equal((await reader.read(new Uint8Array(1))).done, true)
  })

  test('an empty body ends at once', async () => {
    for (const body of ['', new Uint8Array()]) {
      const reader = new Response(body).body!.getReader()
      await reader.closed
    }
    const reader = new Response(new Blob([])).body!.getReader({ mode: 'byob' })
    assert.equal((await reader.read(new Uint8Array(1))).done, true)
  })

  test('asks for a chunk only when one is wanted', async () => {
    let asked = 0
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: encode(String(++asked)) }),
        return: async () => ({ done: true, value: undefined }),
      }),
    }
    const response = new Response(source as never)
    const reader = response.body!.getReader()
    assert.equal(asked, 0)
    await reader.read()
    await new Promise(setImmediate)
    assert.ok(asked < 70_000, String(asked))
    await reader.cancel()
  })

  test('cancel reaches the source', async () => {
    const reasons: unknown[] = []
    const source = new ReadableStream({ cancel: (reason) => void reasons.push(reason) })
    await new Response(source).body!.cancel('why')
    let returned = false
    const iterable = (async function* () {
      try {
        yield 'x'
        yield 'y'
      } finally {
        returned = true
      }
    })()
    const reader = new Response(iterable).body!.getReader()
    await reader.read()
    await reader.cancel()
    await new Promise(setImmediate)
    assert.deepEqual([reasons, returned], [['why'], true])
  })

  test("a caller's stream is the body itself", () => {
    const stream = streamOf()
    assert.equal(new Response(stream).body, stream)
  })
})

describe('a clone', () => {
  for (const [title, make] of [
    ['a string', () => 'hello'],
    ['bytes', () => encode('hello')],
    ['a Blob', () => new Blob(['hello'])],
    ['a stream', () => streamOf(encode('he'), encode('llo'))],
    ['an iterable', () => generate('he', 'llo')],
  ] as const) {
    test(`of ${title}: both have all of it, in any order and way`, async () => {
      const one = new Response(make() as never)
      const two = one.clone()
      const three = two.clone()
      assert.equal(await three.text(), 'hello')
      assert.deepEqual([one.bodyUsed, two.bodyUsed], [false, false])
      assert.equal((await chunksOf(one.body)).join(''), 'hello')
      assert.equal(decode(await two.arrayBuffer()), 'hello')
      const streamed = new Response(make() as never)
      const before = streamed.body
      const copy = streamed.clone()
      assert.equal(before!.locked, true)
      assert.notEqual(streamed.body, before)
      const [first, second] = await Promise.all([chunksOf(streamed.body), chunksOf(copy.body)])
      assert.deepEqual([first.join(''), second.join('')], ['hello', 'hello'])
    })
  }

  test('has copies: who detaches or writes does no harm', async () => {
    for (const make of [
      () => generate(encode('hello')),
      () => encode('hello'),
      () => streamOf(encode('hello')),
    ]) {
      const one = new Response(make() as never)
      const two = one.clone()
      const { value } = await one.body!.getReader().read()
      structuredClone(value!.buffer, { transfer: [value!.buffer as ArrayBuffer] })
      const other = await two.body!.getReader().read()
      assert.equal(decode(other.value!), 'hello')
    }
  })

  test('of a stream of any chunks: structured clones', async () => {
    const chunk = { a: [1] }
    const one = new Response(streamOf(chunk, 'text', 12))
    const two = one.clone()
    const first = one.body!.getReader()
    const second = two.body!.getReader()
    assert.equal((await first.read()).value, chunk as never)
    const copy = (await second.read()).value as unknown
    assert.deepEqual(copy, chunk)
    assert.notEqual(copy, chunk)
    assert.equal((await second.read()).value, 'text' as never)
    const reasons: Error[] = []
    const source = new ReadableStream({
      start: (controller) => controller.enqueue(() => {}),
      cancel: (reason) => void reasons.push(reason),
    })
    const uncloneable = new Response(source)
    uncloneable.clone()
    assert.equal((await failure(uncloneable.body!.getReader().read())).name, 'DataCloneError')
    assert.deepEqual(
      reasons.map(({ name }) => name),
      ['DataCloneError'],
    )
  })

  const VIEWS = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    DataView,
    ArrayBuffer,
    Blob,
  ]
  const chunkOf = (View: (typeof VIEWS)[number], buffer: ArrayBuffer): object => {
    if (View === ArrayBuffer) return buffer
    return View === Blob ? new Blob([buffer]) : new (View as unknown as Uint8ArrayConstructor)(buffer)
  }
  for (const View of VIEWS) {
    test(`of a stream of ${View.name}: the copy has memory of its own`, async () => {
      const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8])
      const chunk = chunkOf(View, buffer)
      const one = new Response(streamOf(chunk))
      const two = one.clone()
      const [first, second] = [one.body!.getReader(), two.body!.getReader()]
      assert.equal((await first.read()).value, chunk as never)
      const copy = (await second.read()).value as unknown as ArrayBufferView
      assert.notEqual(copy, chunk as never)
      assert.equal(Object.prototype.toString.call(copy), Object.prototype.toString.call(chunk))
      if (View === Blob) return
      const memory = View === ArrayBuffer ? (copy as unknown as ArrayBuffer) : copy.buffer
      assert.notEqual(memory, buffer)
      new Uint8Array(buffer).fill(0)
      assert.deepEqual([...new Uint8Array(memory)], [1, 2, 3, 4, 5, 6, 7, 8])
    })
  }

  test('the faster reader decides; the slower one finds all of it', async () => {
    let asked = 0
    const source = new ReadableStream(
      {
        pull(controller) {
          if (++asked > 10) controller.close()
          else controller.enqueue(encode('x'))
        },
      },
      { highWaterMark: 0 },
    )
    const one = new Response(source)
    const two = one.clone()
    assert.equal(await one.text(), 'x'.repeat(10))
    assert.equal(asked, 11)
    assert.equal(await two.text(), 'x'.repeat(10))
  })

  test('the source is cancelled when both are, with both reasons', async () => {
    const reasons: unknown[] = []
    const source = new ReadableStream({ cancel: (reason) => void reasons.push(reason) })
    const one = new Response(source)
    const two = one.clone()
    const first = one.body!.cancel('a')
    assert.deepEqual(reasons, [])
    await Promise.all([first, two.body!.cancel('b')])
    assert.deepEqual(reasons, [['a', 'b']])
    let returned = 0
    const iterable = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => ({ done: true, value: void returned++ }),
      }),
    }
    const third = new Response(iterable as never)
    const fourth = third.clone()
    await third.body!.cancel()
    assert.equal(returned, 0)
    await fourth.body!.cancel()
    assert.equal(returned, 1)
  })

  test('a failure reaches both', async () => {
    const broken = (async function* () {
      yield 'x'
      throw new Error('broken')
    })()
    const one = new Response(broken)
    const two = one.clone()
    const [first, second] = await Promise.all([failure(one.text()), failure(chunksOf(two.body))])
    assert.deepEqual([first.message, second.message], ['broken', 'broken'])
    const stream = new Response(
      new ReadableStream({
        pull() {
          throw new Error('stream')
        },
      }),
    )
    const copy = stream.clone()
    assert.equal((await failure(copy.text())).message, 'stream')
    assert.equal((await failure(stream.text())).message, 'stream')
    let fail = (_: Error): void => {}
    const silent = new Response(
      new ReadableStream({
        start(controller) {
          fail = (error) => controller.error(error)
        },
      }),
    )
    const readers = [silent.clone(), silent].map(({ body }) => body!.getReader())
    fail(new Error('before a read'))
    for (const { closed } of readers) assert.equal((await failure(closed)).message, 'before a read')
  })
})

describe('what somebody put on Object.prototype', () => {
  const put = (t: { after(fn: () => void): void }, name: string, value: unknown): void => {
    t.after(() => Reflect.deleteProperty(Object.prototype, name))
    Object.defineProperty(Object.prototype, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }

  test('then: does not answer for a stream', async (t) => {
    const response = new Response(streamOf(encode('hello')))
    put(t, 'then', (resolve: (value: unknown) => void) => {
      Reflect.deleteProperty(Object.prototype, 'then')
      resolve({ done: false, value: encode('bye') })
    })
    const text = response.text()
    assert.equal(await text, 'hello')
  })

  test('options of streams: do not change ours', async (t) => {
    let started = 0
    put(t, 'start', () => void started++)
    put(t, 'highWaterMark', 1000)
    put(t, 'autoAllocateChunkSize', 4)
    put(t, 'size', () => assert.fail('asked for a size'))
    const response = new Response('hello')
    const clone = response.clone()
    assert.deepEqual(await chunksOf(response.body), ['hello'])
    assert.equal(await clone.text(), 'hello')
    assert.equal(started, 0)
  })

  test('options of a request: are not its own', (t) => {
    put(t, 'method', 'POST')
    put(t, 'body', 'polluted')
    put(t, 'headers', { polluted: '1' })
    const request = new Request('http://a.test', { cache: 'reload' })
    assert.deepEqual([request.method, request.body, [...request.headers]], ['GET', null, []])
  })

  test('options of a response: are not its own', (t) => {
    put(t, 'status', 404)
    put(t, 'headers', { polluted: '1' })
    const response = new Response('x', {})
    assert.deepEqual([response.status, response.headers.has('polluted')], [200, false])
    assert.ok(response.headers instanceof Headers)
  })
})

describe('a source that fails', () => {
  const lost = (): Uint8Array => {
    const bytes = new Uint8Array(8)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    return bytes
  }
  const rows: [title: string, make: () => unknown, error: object][] = [
    ['memory that was given away', () => generate(lost()), { name: 'TypeError' }],
    [
      'an iterator that brings no result',
      () => ({ [Symbol.asyncIterator]: () => ({ next: async () => undefined }) }),
      { name: 'TypeError' },
    ],
    [
      'an iterable without an iterator',
      () => ({
        [Symbol.asyncIterator]() {
          throw new Error('none')
        },
      }),
      { message: 'none' },
    ],
  ]
  for (const [title, make, error] of rows) {
    test(`${title}: whoever reads the body gets the failure`, async () => {
      await assert.rejects(new Response(make() as never).text(), error)
    })
  }

  test('a Readable that fails before it is read: the failure waits for a reader', async () => {
    const source = new Readable({ read() {} })
    const response = new Response(source as never)
    source.destroy(new Error('early'))
    await new Promise((resolve) => setImmediate(resolve))
    await assert.rejects(response.text(), { message: 'early' })
  })

  test('an iterator that throws when it is given up: cancel() resolves', async () => {
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return() {
          throw new Error('never mind')
        },
      }),
    }
    await new Response(source as never).body!.cancel()
  })
})
