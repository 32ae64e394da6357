import assert from 'node:assert/strict'
import { EventEmitter, getEventListeners, once } from 'node:events'
import { PassThrough } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import type { DumpOptions } from '../../src/body/dump.ts'
import type { BodyReadable } from '../../src/body/readable.ts'
import { AbortError, NotSupportedError, RequestAbortedError } from '../../src/errors.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { EagerSignal, HastySignal } from '../support/eager-signal.ts'
import { turn } from '../support/fake-clock.ts'
import { arrived, closed, makeBody, piece, record } from './made-body.ts'

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const euro = Buffer.from('€')

describe('collecting a body', () => {
  it('text(): held chunks, later chunks, split characters', async () => {
    assert.equal(await arrived([]).text(), '')
    assert.equal(await arrived(['one']).text(), 'one')
    assert.equal(await arrived(['one ', euro.subarray(0, 1), euro.subarray(1)]).text(), 'one €')
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    const text = body.text()
    body.receive(Buffer.from('b'))
    await turn()
    body.receive(Buffer.alloc(0))
    body.receive(Buffer.from('c'))
    body.complete()
    body.complete()
    body.receive(Buffer.from('late'))
    assert.equal(await text, 'abc')
  })

  it('text(): removes a leading byte order mark only', async () => {
    assert.equal(await arrived([BOM, 'x']).text(), 'x')
    assert.equal(await arrived([BOM.subarray(0, 1), BOM.subarray(1), 'x\ufeff']).text(), 'x\ufeff')
    assert.equal(await arrived([BOM.subarray(0, 2)]).text(), '\ufffd')
    assert.deepEqual(await arrived([BOM, '{"a":1}']).json(), { a: 1 })
    assert.deepEqual(Buffer.from(await arrived([BOM]).bytes()), BOM)
  })

  for (const [name, length] of [
    ['exact', '10'],
    ['too short', '4'],
    ['too long', '25'],
    ['beyond the limit for memory in advance', String(2 ** 40)],
    ['not a number', 'ten'],
  ] as const) {
    it(`puts chunks together whatever was announced: ${name}`, async () => {
      for (const read of ['text', 'bytes', 'arrayBuffer'] as const) {
        const { body } = makeBody({ headers: { 'content-length': length } })
        body.receive(Buffer.from('01'))
        const result = body[read]()
        await turn()
        for (const chunk of ['23456', '7', '89']) body.receive(Buffer.from(chunk))
        body.complete()
        const value = await result
        const text = typeof value === 'string' ? value : Buffer.from(new Uint8Array(value)).toString()
        assert.equal(text, '0123456789')
      }
    })
  }

  it('bytes() and arrayBuffer() own their memory', async () => {
    const pool = Buffer.from('abcdef')
    for (const chunks of [[pool.subarray(1, 3)], [pool.subarray(1, 2), pool.subarray(2, 3)]]) {
      const { body } = makeBody()
      for (const chunk of chunks) body.receive(chunk)
      body.complete()
      const bytes = await body.bytes()
      assert.equal(bytes.constructor, Uint8Array)
      assert.equal(Buffer.from(bytes).toString(), 'bc')
      assert.equal(bytes.buffer.byteLength, 2)
      bytes[0] = 0x7a
      assert.equal(pool.toString(), 'abcdef')
    }
    const buffer = await arrived(['xyz']).arrayBuffer()
    assert.ok(buffer instanceof ArrayBuffer)
    assert.equal(buffer.byteLength, 3)
    const { body } = makeBody({ headers: { 'content-length': '4' } })
    const announced = body.bytes()
    await turn()
    body.receive(Buffer.from('abcd'))
    body.complete()
    assert.equal((await announced).buffer.byteLength, 4)
  })

  it('json(): a value, or a SyntaxError and a destroyed body', async () => {
    assert.deepEqual(await arrived(['[1,', '2]']).json(), [1, 2])
    for (const chunks of [[], ['{"a":']]) {
      const body = arrived(chunks)
      await assert.rejects(body.json(), SyntaxError)
      assert.equal(body.destroyed, true)
      await turn()
    }
  })

  it('blob(): has the content type of the response', async () => {
    const blob = await arrived(['a', 'b'], { headers: { 'content-type': 'text/x' } }).blob()
    assert.equal(blob.type, 'text/x')
    assert.equal(await blob.text(), 'ab')
    assert.equal((await arrived(['a'], { headers: { 'content-type': ['b/c', 'd/e'] } }).blob()).type, 'b/c')
    assert.equal((await arrived(['a']).blob()).type, '')
  })

  it('formData(): not supported', async () => {
    await assert.rejects(arrived(['a']).formData(), NotSupportedError)
  })

  it('bodyUsed turns true after the tick of the call', async () => {
    const body = arrived(['a'])
    assert.equal(body.bodyUsed, false)
    const text = body.text()
    assert.equal(body.bodyUsed, false)
    await text
    assert.equal(body.bodyUsed, true)
  })

  it('ends like a stream that was read', async () => {
    const body = arrived(['a'])
    const events = record(body)
    const done = finished(body)
    assert.equal(await body.text(), 'a')
    await done
    assert.deepEqual(events, ['end', 'close'])
    assert.equal(body.readableEnded, true)
    assert.equal(body.destroyed, true)
    assert.equal(body.errored, null)
    await finished(body)
  })

  it('a second reading is refused', async () => {
    const body = arrived(['a'])
    const first = body.text()
    await assert.rejects(body.json(), { name: 'TypeError', message: 'unusable' })
    assert.equal(await first, 'a')
    await assert.rejects(body.text(), { name: 'TypeError', message: 'unusable' })
    await turn()
    await assert.rejects(body.bytes(), { name: 'TypeError', message: 'unusable' })
  })

  it('a failure rejects, and needs no error listener', async () => {
    const { body, source } = makeBody()
    const text = body.text()
    await turn()
    body.receive(Buffer.from('half'))
    const failure = new Error('lost')
    body.fail(failure)
    body.fail(new Error('again'))
    await assert.rejects(text, failure)
    await assert.rejects(body.text(), failure)
    assert.equal(body.errored, failure)
    assert.deepEqual(source.aborts, [failure])
    await turn()
  })

  it('a failure in the tick of the call', async () => {
    for (const body of [makeBody().body, arrived(['a'])]) {
      const text = body.text()
      body.destroy()
      await assert.rejects(text, RequestAbortedError)
      await assert.rejects(body.text(), RequestAbortedError)
      await turn()
    }
  })

  it('a second reading in the tick of the first is refused', async () => {
    for (const body of [makeBody().body, arrived(['a'])]) {
      const text = body.text()
      await assert.rejects(body.text(), { name: 'TypeError', message: 'unusable' })
      body.complete()
      await text
      assert.equal(body.bodyUsed, true)
    }
  })

  it('keeps a falsy reason', async () => {
    const { body } = makeBody()
    body.fail(0)
    assert.equal(await body.text().catch((reason: unknown) => reason), 0)
    await turn()
    assert.equal(body.destroyed, true)
  })

  it('after destroy(err): err; after destroy(): RequestAbortedError', async () => {
    const failure = new Error('mine')
    const first = makeBody().body
    first.destroy(failure)
    await assert.rejects(first.text(), failure)
    const second = makeBody().body
    second.destroy()
    await assert.rejects(second.json(), RequestAbortedError)
    await turn()
  })

  it('a body read to its end is unusable, or empty when there was no data', async () => {
    const read = arrived(['a'])
    read.resume()
    await once(read, 'end')
    await assert.rejects(read.text(), { message: 'unusable' })
    const empty = arrived([])
    empty.resume()
    await once(empty, 'close')
    assert.equal(await empty.text(), '')
    const closedEmpty = arrived([])
    closedEmpty.resume()
    await once(closedEmpty, 'close')
    await assert.rejects(closedEmpty.json(), SyntaxError)
  })
})

describe('a body as a stream', () => {
  it('stays asleep until it is read', async () => {
    const { body, source } = makeBody()
    const events = record(body)
    body.receive(Buffer.from('a'))
    body.complete()
    await turn()
    assert.deepEqual(events, [])
    assert.equal(body.readableLength, 1)
    assert.deepEqual(source.log, [])
    body.resume()
    await turn()
    assert.deepEqual(events, ['end', 'close'])
    assert.deepEqual(source.log, ['closed'])
  })

  it('gives what was held and what comes, in order', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    const seen: string[] = []
    body.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    await turn()
    body.receive(Buffer.from('b'))
    body.receive(Buffer.from('c'))
    body.complete()
    await once(body, 'end')
    assert.deepEqual(seen, ['a', 'b', 'c'])
    assert.equal(body.bodyUsed, true)
  })

  it('can be iterated', async () => {
    const seen: string[] = []
    for await (const chunk of arrived(['a', 'b'])) seen.push(String(chunk))
    assert.equal(seen.join(''), 'ab')
  })

  it('that has arrived is handed out piece by piece, small ones together', async () => {
    const { body, source } = makeBody()
    for (const text of [piece('a'), 'b', 'c']) body.receive(Buffer.from(text))
    body.complete()
    const pieces = body[Symbol.asyncIterator]()
    assert.equal(body.bodyUsed, false)
    assert.deepEqual(await pieces.next(), { value: Buffer.from(piece('a')), done: false })
    assert.equal(body.bodyUsed, true)
    assert.equal(body.destroyed, false)
    await assert.rejects(body.text(), { message: 'unusable' })
    assert.deepEqual(source.log, [])
    assert.deepEqual(await pieces.next(), { value: Buffer.from('bc'), done: false })
    assert.deepEqual(source.log, ['closed'])
    for (let i = 0; i < 2; i++) assert.deepEqual(await pieces.next(), { value: undefined, done: true })
    assert.deepEqual(source.log, ['closed'])
    assert.equal(body.readableEnded, true)
    assert.equal(body.closed, true)
  })

  it('that nobody asked an iterator for can be read in another way', async () => {
    const body = arrived(['a'])
    const pieces = body[Symbol.asyncIterator]()
    assert.deepEqual(await pieces.return?.(), { value: undefined, done: true })
    assert.equal(await body.text(), 'a')
    assert.deepEqual(await pieces.next(), { value: undefined, done: true })
  })

  it('that is left before its end is destroyed, without an error event', async () => {
    for (const chunks of [[piece('a'), 'b'], ['a']]) {
      const { body, source } = makeBody()
      for (const chunk of chunks) body.receive(Buffer.from(chunk))
      body.complete()
      for await (const chunk of body) {
        assert.equal(String(chunk), chunks[0])
        break
      }
      assert.equal(body.destroyed, true)
      assert.deepEqual(source.log, ['closed'])
      await turn()
      assert.equal(body.closed, true)
    }
  })

  it('that fails between two pieces fails the iteration', async () => {
    const body = arrived([piece('a'), 'b'])
    const pieces = body[Symbol.asyncIterator]()
    await pieces.next()
    const reason = new Error('aborted')
    body.fail(reason)
    await assert.rejects(pieces.next(), reason)
    assert.deepEqual(await pieces.next(), { value: undefined, done: true })
    await turn()
    assert.equal(body.errored, reason)
  })

  it('that failed before fails the iteration', async () => {
    const { body } = makeBody()
    const reason = new Error('lost')
    body.on('error', () => {})
    body.fail(reason)
    await assert.rejects(body[Symbol.asyncIterator]().next(), reason)
  })

  it('says its end to those who listen while it is iterated', async () => {
    const body = arrived(['a'])
    const events = record(body)
    for await (const piece of body) assert.equal(String(piece), 'a')
    await turn()
    assert.deepEqual(events, ['end', 'close'])
  })

  it('that has been unshifted to is iterated with what was added', async () => {
    const body = arrived(['b'])
    body.unshift(Buffer.from('a'))
    let seen = ''
    for await (const piece of body) seen += String(piece)
    assert.equal(seen, 'ab')
  })

  it('goes through a pipeline of generators', async () => {
    for (const body of [arrived(['a', 'b']), arrived([])]) {
      const end = new PassThrough()
      await pipeline(
        body,
        async function* (source: AsyncIterable<Buffer>) {
          for await (const piece of source) yield `(${piece})`
        },
        end,
      )
      assert.equal(body.closed, true)
      assert.match((await end.toArray()).join(''), /^(\(a\)\(b\)|\(ab\)|)$/)
    }
  })

  it('locks its web stream while it is iterated', async () => {
    const body = arrived(['a'])
    const { body: web } = body
    for await (const piece of body) assert.equal(String(piece), 'a')
    assert.equal(web.locked, true)
  })

  it('can be disposed of and dumped when nobody goes on to iterate', async () => {
    const disposed = arrived(['a', 'b'])
    await disposed[Symbol.asyncIterator]().next()
    await disposed[Symbol.asyncDispose]()
    assert.equal(disposed.destroyed, true)
    const dumped = arrived(['a', 'b'])
    const pieces = dumped[Symbol.asyncIterator]()
    await pieces.next()
    assert.equal(await dumped.dump(), null)
    assert.equal(dumped.closed, true)
    assert.deepEqual(await pieces.next(), { value: undefined, done: true })
  })

  it('can be let go of with its iterator', async () => {
    const body = arrived(['a', 'b'])
    const pieces = body[Symbol.asyncIterator]()
    await pieces.next()
    await pieces[Symbol.asyncDispose]()
    assert.equal(body.destroyed, true)
  })

  it('pauses an unread body at the mark, and goes on when it is read', async () => {
    const { body, source } = makeBody({ highWaterMark: 4 })
    body.receive(Buffer.from('abc'))
    assert.deepEqual(source.log, [])
    body.receive(Buffer.from('d'))
    body.receive(Buffer.from('e'))
    assert.deepEqual(source.log, ['pause'])
    assert.equal(body.read(2)?.toString(), 'ab')
    assert.deepEqual(source.log, ['pause', 'resume'])
    body.receive(Buffer.from('fgh'))
    assert.deepEqual(source.log, ['pause', 'resume', 'pause'])
    source.onResume = () => body.complete()
    const rest: string[] = []
    for await (const chunk of body) rest.push(String(chunk))
    assert.equal(rest.join(''), 'cdefgh')
  })

  it('a mark of zero pauses at the first byte', () => {
    const { body, source } = makeBody({ highWaterMark: 0 })
    body.receive(Buffer.from('a'))
    assert.deepEqual(source.log, ['pause'])
  })

  it('never pauses while it is collected', async () => {
    const { body, source } = makeBody({ highWaterMark: 2 })
    body.receive(Buffer.from('abc'))
    const text = body.text()
    body.receive(Buffer.from('def'))
    await turn()
    assert.deepEqual(source.log, ['pause', 'resume'])
    body.receive(Buffer.from('ghi'))
    body.complete()
    assert.equal(await text, 'abcdefghi')
    assert.deepEqual(source.log.slice(0, 3), ['pause', 'resume', 'closed'])
  })

  it('data listeners added after text() get the data too', async () => {
    for (const complete of [true, false]) {
      const { body } = makeBody()
      body.receive(Buffer.from('a'))
      if (complete) body.complete()
      const text = body.text()
      const seen: string[] = []
      body.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
      const events = record(body)
      if (!complete) {
        await turn()
        body.receive(Buffer.from('b'))
        body.complete()
      }
      const whole = complete ? 'a' : 'ab'
      assert.equal(await text, whole)
      assert.equal(seen.join(''), whole)
      await turn()
      assert.deepEqual(events, ['end', 'close'])
    }
  })

  it('data listeners added while text() is under way get what still comes', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    const text = body.text()
    await turn()
    const seen: string[] = []
    body.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
    await turn()
    body.receive(Buffer.from('b'))
    body.complete()
    assert.equal(await text, 'ab')
    assert.deepEqual(seen, ['b'])
  })

  it('text() after a listener was attached, before anything was read', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    body.on('readable', () => {})
    await turn()
    body.receive(Buffer.from('b'))
    const text = body.text()
    body.receive(Buffer.from('c'))
    await turn()
    body.receive(Buffer.from('d'))
    body.complete()
    assert.equal(await text, 'abcd')
  })

  it('text() after something was read is refused', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    assert.equal(String(body.read()), 'a')
    body.receive(Buffer.from('b'))
    await assert.rejects(body.text(), { message: 'unusable' })
  })

  it('setEncoding decodes across chunks; collecting still sees the bytes', async () => {
    const body = arrived(['a', euro.subarray(0, 2), euro.subarray(2)])
    body.setEncoding('utf8')
    const seen: string[] = []
    for await (const chunk of body) seen.push(chunk)
    assert.equal(seen.join(''), 'a€')
    assert.equal(await arrived(['ab']).setEncoding('hex').text(), '6162')
    assert.equal(
      await arrived([BOM, 'a'])
        .setEncoding('UTF-8' as BufferEncoding)
        .text(),
      'a',
    )
    assert.deepEqual(Buffer.from(await arrived([euro]).setEncoding('hex').bytes()), euro)
    assert.equal(
      await arrived(['ab'])
        .setEncoding('klingon' as BufferEncoding)
        .text(),
      'ab',
    )
  })
})

describe('destroying a body', () => {
  it('before the end: aborts the request with RequestAbortedError', async () => {
    const { body, source } = makeBody()
    const events = record(body)
    body.receive(Buffer.from('a'))
    body.destroy()
    assert.ok(source.aborts[0] instanceof RequestAbortedError)
    body.receive(Buffer.from('late'))
    body.complete()
    await closed(body)
    assert.deepEqual(events, ['error AbortError', 'close'])
  })

  it('gives a promise user time to listen for the error', async () => {
    const { body } = makeBody()
    body.destroy(new Error('early'))
    await Promise.resolve()
    process.nextTick(() => {})
    await Promise.resolve()
    const [error] = await once(body, 'error')
    assert.equal((error as Error).message, 'early')
  })

  it('tells a listener of data at once', async () => {
    const { body } = makeBody()
    body.on('data', () => {})
    const events = record(body)
    body.destroy()
    await new Promise<void>((resolve) => process.nextTick(resolve))
    assert.deepEqual(events, ['error AbortError', 'close'])
  })

  it('after everything has come: fails the body but aborts nothing', async () => {
    const { body, source } = makeBody()
    body.receive(Buffer.from('a'))
    body.complete()
    const events = record(body)
    body.destroy()
    await closed(body)
    assert.deepEqual(source.log, ['closed'])
    assert.deepEqual(events, ['error AbortError', 'close'])
  })

  it('asyncDispose: quiet for an unread body, waits for a consumed one', async () => {
    const { body, source } = makeBody()
    const uncaught = await uncaughtDuring(async () => {
      await body[Symbol.asyncDispose]()
      await body[Symbol.asyncDispose]()
    })
    assert.deepEqual(uncaught, [])
    assert.equal(body.closed, true)
    assert.equal(source.aborts.length, 1)
    const consumed = arrived(['a'])
    await consumed.text()
    await consumed[Symbol.asyncDispose]()
    assert.equal(consumed.closed, true)
    assert.equal(consumed.errored, null)
    const streamed = arrived(['a'])
    streamed.resume()
    await once(streamed, 'end')
    await streamed[Symbol.asyncDispose]()
    assert.equal(streamed.errored, null)
  })

  it('asyncDispose of an empty unread body does not abort', async () => {
    const { body, source } = makeBody()
    body.complete()
    await body[Symbol.asyncDispose]()
    assert.deepEqual(source.aborts, [])
    assert.equal(body.closed, true)
  })
})

describe('dump()', () => {
  it('takes what was held and what comes, and resolves null at the close', async () => {
    const { body, source } = makeBody({ highWaterMark: 1 })
    body.receive(Buffer.from('ab'))
    const events = record(body)
    const dumped = body.dump()
    assert.deepEqual(source.log, ['pause', 'resume'])
    body.receive(Buffer.from('cd'))
    body.complete()
    assert.equal(await dumped, null)
    assert.deepEqual(events, ['end', 'close'])
    assert.equal(body.bodyUsed, true)
    await assert.rejects(body.text(), { message: 'unusable' })
    assert.equal(await body.dump(), null)
    assert.equal(await arrived(['a']).dump(), null)
  })

  it('of what has arrived leaves nothing to be done', async () => {
    const { body, source } = makeBody({ headers: { 'content-length': '2' } })
    body.receive(Buffer.from('ab'))
    body.complete()
    const dumped = body.dump()
    assert.deepEqual(source.log, ['closed'])
    assert.equal(body.bodyUsed, true)
    assert.equal(body.closed, true)
    assert.equal(await dumped, null)
    await assert.rejects(body.text(), { message: 'unusable' })
    assert.equal(await body.dump(), null)
    const events = record(body)
    await turn()
    assert.deepEqual(events, ['end', 'close'])
    assert.deepEqual(source.log, ['closed'])
  })

  it('of what has arrived resolves behind the events of those who listen', async () => {
    const body = arrived(['a'])
    const events = record(body)
    await body.dump()
    assert.deepEqual(events, ['end', 'close'])
  })

  it('destroys what has arrived and is longer than the limit', async () => {
    const { body, source } = makeBody()
    body.receive(Buffer.from('abc'))
    body.complete()
    assert.equal(await body.dump({ limit: 2 }), null)
    assert.deepEqual(source.log, ['closed'])
    assert.ok(body.errored instanceof AbortError)
  })

  it('destroys a body that is longer than the limit, and still resolves', async () => {
    const announced = makeBody({ headers: { 'content-length': '11' } })
    assert.equal(await announced.body.dump({ limit: 10 }), null)
    assert.ok(announced.source.aborts[0] instanceof AbortError)
    const held = makeBody()
    held.body.receive(Buffer.alloc(11))
    assert.equal(await held.body.dump({ limit: 10 }), null)
    assert.ok(held.source.aborts[0] instanceof AbortError)
    const coming = makeBody()
    const dumped = coming.body.dump({ limit: 10 })
    coming.body.receive(Buffer.alloc(6))
    assert.equal(coming.source.aborts.length, 0)
    coming.body.receive(Buffer.alloc(6))
    assert.equal(await dumped, null)
    assert.ok(coming.source.aborts[0] instanceof AbortError)
  })

  it('has a limit of 128 KiB; zero and infinity mean that too', async () => {
    for (const limit of [undefined, 0, Number.POSITIVE_INFINITY]) {
      const options: DumpOptions = { limit }
      const { body, source } = makeBody()
      const dumped = body.dump(options)
      body.receive(Buffer.alloc(131_072))
      assert.deepEqual(source.aborts, [])
      body.receive(Buffer.alloc(1))
      await dumped
      assert.equal(source.aborts.length, 1)
    }
  })

  it('does not take the announcement of a HEAD response for a body', async () => {
    const { body, source } = makeBody({ headers: { 'content-length': '999999999' }, isHead: true })
    const dumped = body.dump()
    body.complete()
    await dumped
    assert.deepEqual(source.aborts, [])
  })

  it('resolves when the response fails', async () => {
    const { body } = makeBody()
    const dumped = body.dump()
    body.fail(new Error('lost'))
    assert.equal(await dumped, null)
  })

  it('counts what a running stream yields', async () => {
    const { body, source } = makeBody()
    body.setEncoding('utf8')
    body.receive(Buffer.from('a'))
    body.on('readable', () => {})
    body.removeAllListeners('readable')
    body.on('data', () => {})
    const dumped = body.dump({ limit: 4 })
    await turn()
    body.receive(Buffer.from('bc'))
    assert.deepEqual(source.aborts, [])
    body.receive(Buffer.from('de'))
    assert.equal(await dumped, null)
    assert.equal(source.aborts.length, 1)
    const short = arrived(['abc'])
    short.on('data', () => {})
    assert.equal(await short.dump(), null)
    assert.equal(short.errored, null)
  })

  it('waits for a collection that is under way', async () => {
    const body = arrived(['abc'])
    const text = body.text()
    assert.equal(await body.dump({ limit: 1 }), null)
    assert.equal(await text, 'abc')
  })

  it('signals', async () => {
    const { body, source } = makeBody()
    for (const signal of ['x', {}] as never[]) {
      await assert.rejects(body.dump({ signal }), {
        code: 'UND_ERR_INVALID_ARG',
        message: 'signal must be an AbortSignal',
      })
    }
    await assert.rejects(body.dump({ signal: AbortSignal.abort('no') }), (error) => error === 'no')
    const wordless = { aborted: true, addEventListener() {}, removeEventListener() {} }
    await assert.rejects(body.dump({ signal: wordless as never }), AbortError)
    assert.deepEqual(source.log, [])
    const controller = new AbortController()
    const dumped = body.dump({ signal: controller.signal })
    controller.abort()
    await assert.rejects(dumped, controller.signal.reason)
    assert.equal(body.errored, controller.signal.reason)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('a signal that fires while it gets its listener', async () => {
    for (const Signal of [EagerSignal, HastySignal]) {
      const { body, source } = makeBody()
      const reason = new Error('enough')
      await assert.rejects(body.dump({ signal: new Signal(reason) as never }), reason)
      assert.deepEqual([body.destroyed, body.errored], [true, reason])
      assert.deepEqual(source.log, ['abort', 'closed'])
    }
  })

  it('a signal without a reason', async () => {
    const { body } = makeBody()
    const listeners: (() => void)[] = []
    const signal = {
      aborted: false,
      addEventListener: (_type: string, listener: () => void) => void listeners.push(listener),
      removeEventListener: () => void listeners.pop(),
    }
    const dumped = body.dump({ signal: signal as never })
    signal.aborted = true
    listeners[0]?.()
    await assert.rejects(dumped, AbortError)
    assert.equal(listeners.length, 0)
  })

  it('a signal that cannot be asked, or has no way to take a listener off', async () => {
    const refuse = (): never => {
      throw new Error('no')
    }
    const odd: readonly object[] = [
      { aborted: false, addEventListener() {} },
      { aborted: false, addEventListener() {}, removeEventListener: refuse },
      Object.assign(new EventEmitter(), { aborted: false }),
    ]
    for (const signal of odd) assert.equal(await arrived(['a']).dump({ signal: signal as never }), null)

    const { body } = makeBody()
    const listeners: (() => void)[] = []
    const unexplained = {
      aborted: false,
      addEventListener: (_type: string, listener: () => void) => void listeners.push(listener),
      removeEventListener: () => {},
      get reason() {
        return refuse()
      },
    }
    const dumped = body.dump({ signal: unexplained as never })
    listeners[0]?.()
    await assert.rejects(dumped, { message: 'no' })
    assert.equal(body.destroyed, true)
  })

  it('takes its listener off a signal that never fires', async () => {
    const { signal } = new AbortController()
    await arrived(['a']).dump({ signal })
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })
})

describe('the web stream of a body', () => {
  it('is one object, made of bytes that nobody shares', async () => {
    const chunk = Buffer.from('abc')
    const { body } = makeBody()
    body.receive(chunk)
    body.complete()
    const web = body.body
    assert.equal(body.body, web)
    assert.equal(body.bodyUsed, false)
    const seen: Uint8Array[] = []
    for await (const piece of web) seen.push(piece)
    assert.equal(Buffer.concat(seen).toString(), 'abc')
    assert.equal(chunk.toString(), 'abc')
    assert.equal(body.bodyUsed, true)
  })

  it('reads into a buffer of the reader', async () => {
    const reader = arrived(['abc']).body.getReader({ mode: 'byob' })
    const first = await reader.read(new Uint8Array(10))
    assert.equal(Buffer.from(first.value ?? []).toString(), 'abc')
    const last = await reader.read(new Uint8Array(10))
    assert.equal(last.done, true)
  })

  it('gives bytes also after setEncoding', async () => {
    const body = arrived([euro])
    body.setEncoding('hex')
    const { value } = await body.body.getReader().read()
    assert.deepEqual(Buffer.from(value ?? []), euro)
  })

  it('is locked when the body is collected or dumped, and locks it', async () => {
    const collected = arrived(['a'])
    const before = collected.body
    const text = collected.text()
    assert.equal(before.locked, true)
    assert.equal(await text, 'a')
    const later = arrived(['a'])
    await later.text()
    assert.equal(later.body.locked, true)
    const dumped = arrived(['a'])
    await dumped.dump()
    assert.equal(dumped.body.locked, true)
    const locked = arrived(['a'])
    locked.body.getReader()
    await assert.rejects(locked.text(), { message: 'unusable' })
  })

  it('errors with the body, and destroys it when cancelled', async () => {
    const { body } = makeBody()
    const reader = body.body.getReader()
    const read = reader.read()
    const failure = new Error('lost')
    body.fail(failure)
    await assert.rejects(read, failure)
    const other = makeBody()
    const reason = new Error('enough')
    await other.body.body.cancel(reason)
    assert.deepEqual(other.source.aborts, [reason])
    await turn()
  })
})

describe('a body that was collected, long after its end', () => {
  /** Collected without a listener, and some turns of the event loop later. */
  async function slept(): Promise<BodyReadable> {
    const body = arrived(['all of it'])
    assert.equal(await body.text(), 'all of it')
    await turn()
    await turn()
    return body
  }

  it('says that it is over', async () => {
    const body = await slept()
    assert.deepEqual(
      [body.closed, body.destroyed, body.readable, body.readableEnded, body.bodyUsed, body.errored],
      [true, true, false, true, true, null],
    )
    assert.equal(await body.dump(), null)
    await body[Symbol.asyncDispose]()
    await assert.rejects(body.text(), TypeError)
  })

  for (const method of ['on', 'once', 'addListener', 'prependListener', 'prependOnceListener'] as const) {
    it(`tells who listens then: ${method}`, async () => {
      const body = await slept()
      const events: string[] = []
      body.on('error', () => events.push('error'))
      const over = new Promise<void>((resolve) => {
        body[method]('end', () => events.push('end'))
        body[method]('close', () => {
          events.push('close')
          resolve()
        })
      })
      await over
      assert.deepEqual(events, ['end', 'close'])
      assert.deepEqual(
        [body.closed, body.destroyed, body.readable, body.readableEnded],
        [true, true, false, true],
      )
    })
  }

  it('ends for whoever waits, reads, iterates or pipes', async () => {
    await finished(await slept())
    assert.equal((await slept()).read(), null)
    for await (const chunk of await slept()) assert.fail(String(chunk))
    const target = new PassThrough().resume()
    ;(await slept()).pipe(target)
    await once(target, 'end')
  })

  it('can be destroyed without an error', async () => {
    const errors = await uncaughtDuring(async () => {
      const body = await slept()
      body.destroy()
      await turn()
    })
    assert.deepEqual(errors, [])
  })
})
