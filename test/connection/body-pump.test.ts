import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { BodyPump, type BodyPumpSink, type PumpedSource } from '../../src/connection/body-pump.ts'
import type { BodyStream } from '../../src/request/body-source.ts'
import { turns } from '../support/fake-clock.ts'

class Sink implements BodyPumpSink {
  readonly request: BodyPumpSink['request'] = { inContext: (fn, thisArg, ...args) => fn.apply(thisArg, args) }
  readonly log: string[] = []
  readonly pump: BodyPump = new BodyPump(this)
  /** The return value of `onChunk`. */
  takes = true
  onEach: (() => void) | null = null

  onChunk(chunk: string | Uint8Array): boolean {
    this.log.push(Buffer.from(chunk).toString())
    this.onEach?.()
    return this.takes
  }

  onSourceEnd(): void {
    this.log.push('END')
  }

  onSourceError(error: Error): void {
    this.log.push(`ERROR ${error.message}`)
  }

  onSourceLate(error: Error): void {
    this.log.push(`LATE ${error.message}`)
  }
}

async function* generate(...chunks: unknown[]): AsyncGenerator<unknown> {
  for (const chunk of chunks) yield chunk
}

const sources: readonly (readonly [title: string, make: (...chunks: string[]) => PumpedSource])[] = [
  ['a stream', (...chunks) => ({ kind: 'stream', stream: Readable.from(chunks, { objectMode: false }) })],
  ['an async iterable', (...chunks) => ({ kind: 'iterable', source: generate(...chunks) })],
  ['an iterable', (...chunks) => ({ kind: 'iterable', source: chunks })],
]

describe('BodyPump', () => {
  for (const [title, make] of sources) {
    test(`${title}: pieces, then the end`, async () => {
      const sink = new Sink()
      sink.pump.start(make('a', 'b', 'c'))
      await turns(3)
      assert.deepEqual(sink.log, ['a', 'b', 'c', 'END'])
    })

    test(`${title}: waits when the sink cannot take more`, async () => {
      const sink = new Sink()
      sink.takes = false
      sink.pump.start(make('a', 'b', 'c'))
      for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
        await turns(3)
        // A stream may end without further reads.
        assert.deepEqual(
          sink.log.filter((entry) => entry !== 'END'),
          expected,
        )
        sink.pump.resume()
      }
      await turns(3)
      assert.deepEqual(sink.log, ['a', 'b', 'c', 'END'])
      sink.pump.resume()
    })

    test(`${title}: is silent after it was stopped, inside a call or while waiting`, async () => {
      const sink = new Sink()
      sink.onEach = () => sink.pump.stop()
      sink.pump.start(make('a', 'b'))
      await turns(3)
      assert.deepEqual(sink.log, ['a'])
      const waiting = new Sink()
      waiting.takes = false
      waiting.pump.start(make('a', 'b'))
      await turns(3)
      waiting.pump.stop()
      waiting.pump.resume()
      await turns(3)
      assert.deepEqual(waiting.log, ['a'])
    })
  }

  test('a blob', async () => {
    const sink = new Sink()
    sink.pump.start({ kind: 'blob', blob: new Blob(['hello']) })
    await turns(10)
    assert.deepEqual(sink.log, ['hello', 'END'])
  })

  test('empty pieces are left out', async () => {
    const sink = new Sink()
    sink.pump.start({ kind: 'iterable', source: ['', 'a', new Uint8Array(0)] })
    await turns(2)
    assert.deepEqual(sink.log, ['a', 'END'])
  })

  test('a source that fails', async () => {
    const sink = new Sink()
    sink.pump.start({
      kind: 'iterable',
      source: (async function* () {
        yield 'a'
        throw new Error('broken')
      })(),
    })
    const stream = new Readable({ read() {} })
    const other = new Sink()
    other.pump.start({ kind: 'stream', stream })
    stream.destroy(new Error('broken'))
    await turns(2)
    assert.deepEqual(sink.log, ['a', 'ERROR broken'])
    assert.deepEqual(other.log, ['ERROR broken'])
  })

  test('a stream that is closed before its end', async () => {
    const stream = new Readable({ read() {} })
    const sink = new Sink()
    sink.pump.start({ kind: 'stream', stream })
    stream.destroy()
    await turns(2)
    assert.deepEqual(sink.log, ['ERROR Request aborted'])
  })

  test('a stream that has ended or was destroyed before', async () => {
    const ended = Readable.from([])
    ended.resume()
    await turns(2)
    const sink = new Sink()
    sink.pump.start({ kind: 'stream', stream: ended })
    assert.deepEqual(sink.log, ['END'])
    for (const error of [undefined, new Error('broken')]) {
      const destroyed = new Readable({ read() {} }).on('error', () => {})
      destroyed.destroy(error)
      const other = new Sink()
      other.pump.start({ kind: 'stream', stream: destroyed })
      assert.deepEqual(other.log, [`ERROR ${error?.message ?? 'Request aborted'}`])
    }
  })

  test('a piece that is none', async () => {
    for (const [bad, type] of [
      [1, 'number'],
      [null, 'null'],
      [{}, 'object'],
    ] as const) {
      const sink = new Sink()
      let code: string | undefined
      sink.onSourceError = (error) => {
        code = (error as NodeJS.ErrnoException).code
        sink.log.push(error.message.replace(/^.*Received /, ''))
      }
      sink.pump.start({ kind: 'iterable', source: [bad, 'a'] })
      await turns(2)
      assert.deepEqual([sink.log, code], [[type], 'ERR_INVALID_ARG_TYPE'])
    }
  })

  test('an iterator is told when nothing more is wanted', async () => {
    let returned = false
    const source = {
      [Symbol.iterator]: () => ({
        next: () => ({ done: false as const, value: 'a' }),
        return: () => {
          returned = true
          return { done: true as const, value: undefined }
        },
      }),
    }
    const sink = new Sink()
    sink.onEach = () => sink.pump.stop()
    sink.pump.start({ kind: 'iterable', source })
    await turns(2)
    assert.equal(returned, true)
  })

  test('an old emitter with pipe and on is a stream', async () => {
    const old = Object.assign(new EventEmitter(), { pipe() {} }) as unknown as BodyStream & EventEmitter
    const sink = new Sink()
    sink.pump.start({ kind: 'stream', stream: old })
    old.emit('data', 'a')
    old.emit('end')
    old.emit('data', 'late')
    assert.deepEqual(sink.log, ['a', 'END'])
  })
})
