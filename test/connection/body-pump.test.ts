import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { BodyPump, type PumpedSource } from '../../src/connection/body-pump.ts'
import type { BodyStream } from '../../src/request/body-source.ts'
import type { Request } from '../../src/request/request.ts'
import { turns } from '../support/fake-clock.ts'

const REQUEST: Pick<Request, 'inContext' | 'onBodyRead'> = {
  inContext: (fn, thisArg, ...args) => fn.apply(thisArg, args),
  onBodyRead() {},
}

class Sink extends BodyPump {
  readonly log: string[] = []
  /** The return value of `onChunk`. */
  takes = true
  onEach: (() => void) | null = null

  constructor() {
    super(REQUEST as Request, 0)
  }

  protected override onChunk(chunk: string | Uint8Array): boolean {
    this.log.push(Buffer.from(chunk).toString())
    this.onEach?.()
    return this.takes
  }

  protected override onSourceEnd(): void {
    this.log.push('END')
  }

  override onSourceError(error: Error): void {
    this.log.push(`ERROR ${error.message}`)
  }

  protected override onUnsendable(error: Error): void {
    this.log.push(`LATE ${error.message}`)
  }
}

async function* generate(...chunks: unknown[]): AsyncGenerator<unknown> {
  for (const chunk of chunks) yield chunk
}

const sources: readonly (readonly [title: string, make: (...chunks: string[]) => PumpedSource])[] = [
  ['a stream', (...chunks) => Readable.from(chunks, { objectMode: false })],
  [
    'an async iterable',
    (...chunks) =>
      () =>
        generate(...chunks),
  ],
  [
    'an iterable',
    (...chunks) =>
      () =>
        chunks,
  ],
]

describe('BodyPump', () => {
  for (const [title, make] of sources) {
    test(`${title}: pieces, then the end`, async () => {
      const sink = new Sink()
      sink.start(make('a', 'b', 'c'))
      await turns(3)
      assert.deepEqual(sink.log, ['a', 'b', 'c', 'END'])
    })

    test(`${title}: waits when the sink cannot take more`, async () => {
      const sink = new Sink()
      sink.takes = false
      sink.start(make('a', 'b', 'c'))
      for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
        await turns(3)
        // A stream may end without further reads.
        assert.deepEqual(
          sink.log.filter((entry) => entry !== 'END'),
          expected,
        )
        sink.resume()
      }
      await turns(3)
      assert.deepEqual(sink.log, ['a', 'b', 'c', 'END'])
      sink.resume()
    })

    test(`${title}: is silent after it was stopped, inside a call or while waiting`, async () => {
      const sink = new Sink()
      sink.onEach = () => sink.stop()
      sink.start(make('a', 'b'))
      await turns(3)
      assert.deepEqual(sink.log, ['a'])
      const waiting = new Sink()
      waiting.takes = false
      waiting.start(make('a', 'b'))
      await turns(3)
      waiting.stop()
      waiting.resume()
      await turns(3)
      assert.deepEqual(waiting.log, ['a'])
    })
  }

  test('a blob', async () => {
    const sink = new Sink()
    sink.start(() => new Blob(['hello']).stream())
    await turns(10)
    assert.deepEqual(sink.log, ['hello', 'END'])
  })

  test('empty pieces are left out', async () => {
    const sink = new Sink()
    sink.start(() => ['', 'a', new Uint8Array(0)])
    await turns(2)
    assert.deepEqual(sink.log, ['a', 'END'])
  })

  test('a source that fails', async () => {
    const sink = new Sink()
    sink.start(() =>
      (async function* () {
        yield 'a'
        throw new Error('broken')
      })(),
    )
    const stream = new Readable({ read() {} })
    const other = new Sink()
    other.start(stream)
    stream.destroy(new Error('broken'))
    await turns(2)
    assert.deepEqual(sink.log, ['a', 'ERROR broken'])
    assert.deepEqual(other.log, ['ERROR broken'])
  })

  test('a stream that is closed before its end', async () => {
    const stream = new Readable({ read() {} })
    const sink = new Sink()
    sink.start(stream)
    stream.destroy()
    await turns(2)
    assert.deepEqual(sink.log, ['ERROR Request aborted'])
  })

  test('a stream that has ended or was destroyed before', async () => {
    const ended = Readable.from([])
    ended.resume()
    await turns(2)
    const sink = new Sink()
    sink.start(ended)
    assert.deepEqual(sink.log, ['END'])
    for (const error of [undefined, new Error('broken')]) {
      const destroyed = new Readable({ read() {} }).on('error', () => {})
      destroyed.destroy(error)
      const other = new Sink()
      other.start(destroyed)
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
      sink.start(() => [bad, 'a'])
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
    sink.onEach = () => sink.stop()
    sink.start(() => source)
    await turns(2)
    assert.equal(returned, true)
  })

  test('an old emitter with pipe and on is a stream', async () => {
    const old = Object.assign(new EventEmitter(), { pipe() {} }) as unknown as BodyStream & EventEmitter
    const sink = new Sink()
    sink.start(old)
    old.emit('data', 'a')
    old.emit('end')
    old.emit('data', 'late')
    assert.deepEqual(sink.log, ['a', 'END'])
  })
})
