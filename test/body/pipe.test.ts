import assert from 'node:assert/strict'
import { once } from 'node:events'
import { finished, PassThrough, type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import type { BodyReadable } from '../../src/body/readable.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turns } from '../support/fake-clock.ts'
import { arrived, makeBody, piece, plain } from './made-body.ts'

const WORDS = [piece('a'), piece('b'), piece('c')]

/** What a stream does here without a listener; a body fails quietly. */
const ignore = (): void => {}

/** A destination that tells what it gets, and a stream that is piped to it. */
interface Scene {
  readonly stream: Readable
  readonly target: Target
  readonly log: string[]
}

class Target extends Writable {
  readonly log: string[]
  onWrite: ((written: number) => void) | null = null
  #written = 0

  constructor(log: string[], highWaterMark = 65_536) {
    super({ highWaterMark })
    this.log = log
    for (const name of ['finish', 'close']) this.on(name, () => log.push(`target ${name}`))
    this.on('error', (error: Error & { code?: string }) => log.push(`target ${error.code ?? error.message}`))
  }

  override _write(chunk: Buffer, _: string, callback: () => void): void {
    this.log.push(`write ${chunk.length} ${String.fromCharCode(chunk[0]!)}`)
    this.onWrite?.(++this.#written)
    setImmediate(callback)
  }

  override _final(callback: () => void): void {
    this.log.push('final')
    callback()
  }
}

/** What is done with a stream that has arrived as a whole, in the tick of the call. */
const USES: Record<string, (scene: Scene) => unknown> = {
  pipe: ({ stream, target }) => stream.pipe(target),
  'pipe, and more in the same tick': ({ stream, target, log }) => {
    stream.pipe(target)
    log.push('after')
    process.nextTick(() => log.push('next tick'))
  },
  'pipe to one that is full': ({ stream, target }) => {
    target.write('x'.repeat(70_000))
    stream.pipe(target)
  },
  'pipe without an end': ({ stream, target }) => stream.pipe(target, { end: false }),
  'pipe with options': ({ stream, target }) => stream.pipe(target, {}),
  'pipe to two': ({ stream, target, log }) => {
    stream.pipe(target)
    stream.pipe(new Target(log))
  },
  'pipe to one that hears of it': ({ stream, target, log }) => {
    for (const name of ['pipe', 'unpipe']) {
      target.on(name, (from) => log.push(`${name} ${from === stream}`))
    }
    stream.pipe(target)
  },
  'pipe to one that hears of its end': ({ stream, target, log }) => {
    stream.pipe(target)
    target.on('unpipe', (from) => log.push(`unpipe ${from === stream}`))
  },
  'a listener for the data': ({ stream, target, log }) => {
    stream.pipe(target)
    stream.on('data', (chunk: Buffer) => log.push(`data ${chunk.length}`))
  },
  'listeners for the end': ({ stream, target, log }) => {
    stream.on('end', () => log.push('end'))
    stream.pipe(target)
    stream.on('close', () => log.push('close'))
  },
  'pipe, pause': ({ stream, target }) => stream.pipe(target) && stream.pause(),
  'pipe, pause, resume': ({ stream, target }) => {
    stream.pipe(target)
    stream.pause()
    setImmediate(() => stream.resume())
  },
  'pipe, unpipe': ({ stream, target }) => stream.pipe(target) && stream.unpipe(target),
  'pipe, unpipe all': ({ stream, target }) => stream.pipe(target) && stream.unpipe(),
  'pipe, read': ({ stream, target, log }) => {
    stream.pipe(target)
    log.push(String(stream.read(3)))
  },
  'pipe, unshift': ({ stream, target }) => stream.pipe(target) && stream.unshift(Buffer.from('x')),
  'pipe, setEncoding': ({ stream, target }) => stream.pipe(target) && stream.setEncoding('hex'),
  'pipe to one that is destroyed then': ({ stream, target }) => stream.pipe(target) && target.destroy(),
  'pipe to one that fails then': ({ stream, target }) =>
    stream.pipe(target) && target.destroy(new Error('lost')),
  'pipe to one that is ended then': ({ stream, target }) => stream.pipe(target) && target.end(),
  'taken away by the second write': ({ stream, target }) => {
    target.onWrite = (count) => count === 2 && stream.unpipe(target)
    stream.pipe(target)
  },
}

/** Everything that happens with a stream of this kind. */
async function logOf(
  stream: Readable,
  highWaterMark: number,
  use: (scene: Scene) => unknown,
): Promise<string[]> {
  const log: string[] = []
  stream.on('error', ignore)
  use({ stream, target: new Target(log, highWaterMark), log })
  await turns(30)
  return log
}

describe('a body that has arrived is piped like a Readable of the runtime', () => {
  for (const [name, use] of Object.entries(USES)) {
    it(name, async () => {
      for (const words of [WORDS, WORDS.slice(0, 1), []]) {
        for (const highWaterMark of [65_536, 20_000, 1]) {
          const expected = await logOf(plain(words), highWaterMark, use)
          assert.deepEqual(
            await logOf(arrived(words), highWaterMark, use),
            expected,
            `${words.length} pieces`,
          )
        }
      }
    })
  }

  it('in the asynchronous context of the call', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks')
    const storage = new AsyncLocalStorage<string>()
    const log: string[] = []
    const target = new Target(log)
    target.onWrite = () => log.push(storage.getStore() ?? 'none')
    storage.run('mine', () => arrived(['a']).pipe(target))
    await turns(4)
    assert.deepEqual(log.slice(0, 2), ['write 1 a', 'mine'])
  })

  it('and is collected, iterated or dumped beside that', async () => {
    for (const collect of [
      (body: BodyReadable) => body.text(),
      (body: BodyReadable) => new Response(body.body).text(),
    ]) {
      const log: string[] = []
      const body = arrived(['abc'])
      body.pipe(new Target(log))
      const text = await collect(body)
      await turns(4)
      assert.ok(text === 'abc' || text === '', text)
      assert.deepEqual(log.at(0), 'write 3 a')
      assert.ok(log.includes('final'))
    }
    const log: string[] = []
    const body = arrived(['abc'])
    body.pipe(new Target(log))
    await body.dump()
    await turns(4)
    assert.deepEqual(log, ['write 3 a', 'final', 'target finish', 'target close'])
  })

  it('a body that is destroyed meanwhile writes no more', async () => {
    const log: string[] = []
    const body = arrived(WORDS)
    body.pipe(new Target(log))
    body.destroy()
    await turns(4)
    assert.deepEqual(log, [])
    const other = arrived(WORDS)
    const target = new Target(log)
    target.onWrite = () => other.destroy()
    other.pipe(target)
    await turns(4)
    assert.deepEqual(log, ['write 16384 a'])
  })

  it('a body that was destroyed ends neither a destination nor itself', async () => {
    const log: string[] = []
    const body = arrived(['abc'])
    body.on('end', () => log.push('end'))
    finished(body, (error) => log.push(error?.name ?? 'well'))
    body.destroy()
    body.pipe(new Target(log))
    await turns(4)
    assert.deepEqual(log, ['AbortError'])
  })

  it('a destination that is destroyed takes the body without an end', async () => {
    for (const [name, use] of Object.entries({
      before: (body: BodyReadable, target: Target) => target.destroy() && body.pipe(target),
      after: (body: BodyReadable, target: Target) => body.pipe(target).destroy(),
      'for itself': (body: BodyReadable, target: Target) => {
        target.onWrite = () => target.destroy()
        body.pipe(target)
      },
    })) {
      const { body, source } = makeBody()
      for (const word of WORDS) body.receive(Buffer.from(word))
      body.complete()
      const log: string[] = []
      const target = new Target(log)
      finished(target, (error) => log.push((error as Error & { code?: string }).code!))
      use(body, target)
      await turns(4)
      assert.deepEqual(log.slice(-2), ['target close', 'ERR_STREAM_PREMATURE_CLOSE'], name)
      assert.ok(!log.includes('final'), name)
      assert.deepEqual([body.readableEnded, source.log], [true, ['closed']], name)
    }
  })

  it('and does not keep it from others', async () => {
    const body = arrived(['abc'])
    body.pipe(new Target([])).destroy()
    assert.equal(await body.text(), 'abc')
  })

  it('a body that is destroyed meanwhile does not end its destination later', async () => {
    const uses: ((body: BodyReadable) => unknown)[] = [
      (body) => body.dump(),
      (body) => body.unpipe(),
      (body) => body.resume(),
    ]
    for (const use of uses) {
      for (const isLate of [false, true]) {
        const log: string[] = []
        const body = arrived(['abc'])
        body.pipe(new Target(log))
        body.destroy()
        if (isLate) await turns(4)
        use(body)
        await turns(4)
        assert.deepEqual(log, [])
      }
    }
  })

  it('a destination may destroy the body when it ends, and later, without an error', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('abc'))
    body.complete()
    const errors: Error[] = []
    body.on('error', (error) => errors.push(error))
    const target = new Writable({
      write: (_chunk, _encoding, done) => done(),
      final(done) {
        body.destroy()
        done()
      },
    })
    target.on('close', () => body.destroy(new Error('closed')))
    body.pipe(target)
    await once(target, 'close')
    await turns(4)
    assert.deepEqual(errors, [])
    assert.deepEqual([body.errored, body.readableEnded, body.readableAborted], [null, true, false])
  })

  it('a body that is destroyed after its end is over, not aborted', async () => {
    const body = arrived(['abc'])
    const errors: Error[] = []
    body.on('error', (error) => errors.push(error))
    body.pipe(new Target([]))
    await turns(4)
    body.destroy(new Error('late'))
    await turns(4)
    assert.deepEqual(errors, [])
    assert.deepEqual([body.errored, body.readableEnded, body.readableAborted], [null, true, false])
    await pipeline(body, new Target([]))
  })

  it('somebody may begin to listen within a write', async () => {
    const log: string[] = []
    const heard: string[] = []
    const body = arrived(WORDS)
    const target = new Target(log)
    target.onWrite = (count) => {
      if (count === 1) body.on('data', (chunk: Buffer) => heard.push(String.fromCharCode(chunk[0]!)))
    }
    body.pipe(target)
    await turns(10)
    assert.deepEqual(heard, ['b', 'c'])
    const written = ['a', 'b', 'c'].map((letter) => `write 16384 ${letter}`)
    assert.deepEqual(log, [...written, 'final', 'target finish', 'target close'])
  })

  it('gives memory of its own, and lets its source go', async () => {
    const { body, source } = makeBody()
    body.receive(Buffer.from('abc'))
    body.complete()
    const chunks: Buffer[] = []
    body.pipe(new PassThrough()).on('data', (chunk: Buffer) => chunks.push(chunk))
    assert.equal(body.listenerCount('data'), 0, 'the stream runs')
    await turns(4)
    assert.deepEqual(chunks.map(String), ['abc'])
    assert.equal(chunks[0]!.buffer.byteLength, 3)
    assert.deepEqual(source.log, ['closed'])
    assert.deepEqual([body.readableEnded, body.destroyed, body.bodyUsed], [true, true, true])
    await assert.rejects(body.text(), TypeError)
  })

  it('an exception of the destination is uncaught, as from a stream, and ends the body', async () => {
    const body = arrived(['abc'])
    const own = new Error('mine')
    const uncaught = await uncaughtDuring(async () => {
      body.pipe(
        new Writable({
          write() {
            throw own
          },
        }),
      )
      await turns(4)
    })
    assert.deepEqual(uncaught, [own])
    assert.equal(body.errored, own)
  })
})
