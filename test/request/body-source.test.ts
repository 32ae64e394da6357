import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import {
  type BodyStream,
  classifyBody,
  destroyStream,
  destroysItself,
  isReplayable,
  isStream,
  settleLength,
} from '../../src/request/body-source.ts'

function kindOf(body: unknown): string | undefined {
  return classifyBody(body)?.kind
}

describe('kinds of bodies', () => {
  test('each is told apart', () => {
    assert.equal(kindOf(null), 'none')
    assert.equal(kindOf(undefined), 'none')
    for (const empty of ['', Buffer.alloc(0), new ArrayBuffer(0), new Float64Array(0)]) {
      assert.equal(kindOf(empty), 'none')
    }
    assert.equal(kindOf('x'), 'bytes')
    assert.equal(kindOf(new Uint8Array(1)), 'bytes')
    assert.equal(kindOf(new Float64Array(1)), 'bytes')
    assert.equal(kindOf(new ArrayBuffer(1)), 'bytes')
    assert.equal(kindOf(new Readable()), 'stream')
    assert.equal(kindOf(Object.assign(new EventEmitter(), { pipe() {} })), 'stream')
    assert.equal(kindOf(new FormData()), 'form')
    assert.equal(kindOf(new Blob([])), 'blob')
    assert.equal(kindOf(new File([], 'x')), 'blob')
    assert.equal(kindOf([]), 'iterable')
    assert.equal(kindOf(new URLSearchParams()), 'blob')
    assert.equal(kindOf(new ReadableStream()), 'iterable')
    assert.equal(kindOf((async function* () {})()), 'iterable')
    assert.equal(kindOf({ [Symbol.asyncIterator]() {} }), 'iterable')
  })

  test('a short text is at hand as latin1 if each character is one byte', () => {
    const latin1Of = (body: unknown): string | null | undefined => {
      const source = classifyBody(body)
      return source?.kind === 'bytes' ? source.latin1 : undefined
    }
    assert.equal(latin1Of('{"a":1}'), '{"a":1}')
    assert.equal(latin1Of('x'.repeat(8192)), 'x'.repeat(8192))
    for (const other of ['\u00e9', '\u20ac', '\ud800', 'x'.repeat(8193), Buffer.from('x')]) {
      assert.equal(latin1Of(other), null)
    }
  })

  test('what cannot be a body', () => {
    for (const wrong of [0, 1n, true, Symbol('x'), () => {}, {}, /x/, new Date(), new EventEmitter()]) {
      assert.equal(classifyBody(wrong), null)
    }
    // Looks like a Blob, but is not one.
    assert.equal(classifyBody({ size: 1, type: '', stream() {}, [Symbol.toStringTag]: 'Blob' }), null)
    assert.equal(classifyBody({ [Symbol.toStringTag]: 'FormData' }), null)
  })

  test('views give the viewed bytes, without a copy', () => {
    const memory = new Uint8Array([1, 2, 3, 4])
    const source = classifyBody(new DataView(memory.buffer, 1, 2))
    assert.equal(source?.kind, 'bytes')
    assert.deepEqual(source?.kind === 'bytes' && [...source.bytes], [2, 3])
    memory[1] = 9
    assert.deepEqual(source?.kind === 'bytes' && [...source.bytes], [9, 3])
  })

  test('a string is its bytes, and shows them in memory of their own', () => {
    for (const text of ['x', '\x00\x7f\r\n', 'x'.repeat(8193), 'na\u00efve', '\ud83d\ude00', '\ud800']) {
      const source = classifyBody(text)
      assert.ok(source?.kind === 'bytes')
      assert.deepEqual([...source.bytes], [...Buffer.from(text)])
      assert.equal(source.byteLength, Buffer.byteLength(text))
      const shown = source.given
      assert.deepEqual([...shown], [...source.bytes])
      assert.equal(shown.buffer.byteLength, source.byteLength)
    }
  })

  test('bytes of another realm are bytes', () => {
    assert.equal(kindOf(runInNewContext('new Uint8Array([1])')), 'bytes')
  })

  test('isStream', () => {
    assert.equal(isStream(null), false)
    assert.equal(isStream('x'), false)
    assert.equal(isStream({ pipe() {} }), false)
    assert.equal(isStream({ pipe() {}, on() {} }), true)
  })

  test('streams and iterables cannot be sent twice', () => {
    assert.equal(isReplayable(classifyBody('x')!), true)
    assert.equal(isReplayable(classifyBody(null)!), true)
    assert.equal(isReplayable(classifyBody(new Blob([]))!), true)
    assert.equal(isReplayable(classifyBody(new FormData())!), true)
    assert.equal(isReplayable(classifyBody([])!), false)
    assert.equal(isReplayable(classifyBody(new Readable())!), false)
  })
})

describe('known lengths', () => {
  const lengthOf = (body: unknown) => settleLength(classifyBody(body)!)

  test('of what is at hand', () => {
    assert.equal(lengthOf(null), 0)
    assert.equal(lengthOf('grün'), 5)
    assert.equal(lengthOf(new Blob(['abc'])), 3)
    assert.equal(lengthOf(['abc']), null)
    assert.equal(lengthOf(new FormData()), null)
  })

  test('of a stream that has ended, or ends when it is first read', () => {
    assert.equal(lengthOf(new PassThrough().end('abc')), 3)
    const eager = new Readable({
      read() {
        this.push('ab')
        this.push(null)
      },
    })
    assert.equal(lengthOf(eager), 2)
  })

  test('of a stream that was read to its end, although it is destroyed by then', async () => {
    const stream = new PassThrough().end('abc').resume()
    await new Promise<void>((resolve) => stream.on('close', resolve))
    assert.equal(stream.destroyed, true)
    assert.equal(lengthOf(stream), 0)
  })

  test('of no other stream', () => {
    assert.equal(lengthOf(new Readable({ read() {} })), null)
    assert.equal(lengthOf(Readable.from(['abc'])), null)
    const written = new PassThrough()
    written.write('abc')
    assert.equal(lengthOf(written), null)
    assert.equal(lengthOf(new PassThrough().end('abc').destroy()), null)
    assert.equal(lengthOf({ pipe() {}, on() {} }), null)
    assert.equal(lengthOf({ pipe() {}, on() {}, _readableState: { ended: true, length: 4 } }), 4)
    assert.equal(lengthOf(new PassThrough().setEncoding('utf8').end('grün')), null)
  })

  test('a stream of another make, whose read() takes a piece whatever it is told, is not read', () => {
    const read = () => assert.fail('read')
    assert.equal(lengthOf({ pipe() {}, on() {}, read, _readableState: { buffered: 3 } }), null)
  })
})

describe('letting a stream go', () => {
  test('with an error that nobody else has to hear', async () => {
    const stream = new Readable({ read() {} })
    const error = new Error('gone')
    destroyStream(stream, error)
    assert.equal(stream.errored, error)
    await new Promise<void>((resolve) => stream.on('close', resolve))
    destroyStream(stream, new Error('again'))
    assert.equal(stream.errored, error)
  })

  test('without an error', () => {
    const stream = new Readable({ read() {} })
    destroyStream(stream, null)
    assert.equal(stream.destroyed, true)
    assert.equal(stream.errored, null)
  })

  test('what cannot be destroyed stays', () => {
    destroyStream({ pipe() {}, on() {} } as unknown as BodyStream, null)
  })

  test('which streams destroy themselves at their end', () => {
    assert.equal(destroysItself(new Readable()), true)
    assert.equal(destroysItself(new Readable({ autoDestroy: false })), false)
    assert.equal(destroysItself({ pipe() {}, on() {} } as unknown as BodyStream), false)
  })
})
