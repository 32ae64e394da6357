import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { describe, it } from 'node:test'
import type { BodyReadable } from '../../src/body/readable.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turn } from '../support/fake-clock.ts'
import { arrived, makeBody, piece, plain, record } from './made-body.ts'

describe('a body beside a Readable of the runtime', () => {
  it('gives memory that holds nothing else, where the runtime joins or cuts chunks', () => {
    const { body } = makeBody()
    assert.equal(body.read(), null)
    body.receive(Buffer.alloc(100, 'a'))
    body.receive(Buffer.alloc(100, 'b'))
    let text = ''
    // Node 26 does not join them.
    for (let chunk = body.read(); chunk !== null; chunk = body.read()) {
      assert.equal(chunk.buffer.byteLength, chunk.length)
      text += chunk
    }
    assert.equal(text, 'a'.repeat(100) + 'b'.repeat(100))
    body.receive(Buffer.alloc(300, 'c'))
    const cut = body.read(100) as Buffer<ArrayBuffer>
    structuredClone(cut.buffer, { transfer: [cut.buffer] })
    assert.equal(String(body.read()), 'c'.repeat(200))
  })

  it('gives what was put back, also to who collects', async () => {
    for (const method of ['text', 'bytes', 'arrayBuffer', 'blob'] as const) {
      for (const chunk of ['a', Buffer.from('a')]) {
        const body = arrived(['b', 'c'])
        body.unshift(chunk)
        const events = record(body)
        const value = await body[method]()
        const text = typeof value === 'string' ? value : Buffer.from(await new Blob([value]).arrayBuffer())
        assert.equal(String(text), 'abc')
        await turn()
        assert.deepEqual(events, ['end', 'close'])
      }
    }
    const asked = arrived(['b'])
    const text = asked.text()
    asked.unshift('a')
    assert.equal(await text, 'ab')
  })

  it('is disturbed when it was iterated, collected or dumped, even in part; not when it was empty', async () => {
    const uses: ((body: BodyReadable) => Promise<unknown>)[] = [
      (body) => body[Symbol.asyncIterator]().next(),
      (body) => body.toArray(),
      (body) => body.text(),
      (body) => body.dump(),
    ]
    for (const use of uses) {
      const body = arrived(['a', 'b'])
      assert.deepEqual([Readable.isDisturbed(body), body.readableDidRead], [false, false])
      await use(body)
      assert.deepEqual([Readable.isDisturbed(body), body.readableDidRead], [true, true])
      const empty = arrived([])
      await use(empty)
      assert.deepEqual([Readable.isDisturbed(empty), empty.readableDidRead], [false, false])
    }
  })

  it('that is empty ends with a read(0), and with a pipe that was taken away', async () => {
    const uses: ((stream: Readable) => void)[] = [
      (stream) => void stream.read(0),
      (stream) => {
        const target = new PassThrough()
        stream.pipe(target)
        stream.unpipe(target)
      },
    ]
    for (const use of uses) {
      const body = arrived([])
      const events = record(body)
      const other = plain([])
      const expected: string[] = []
      for (const name of ['end', 'close']) other.on(name, () => expected.push(name))
      use(body)
      use(other)
      await turn()
      await turn()
      assert.deepEqual(events, expected)
      assert.deepEqual(events, ['end', 'close'])
      assert.equal(await body.text(), '')
    }
  })

  it('ends well when an iterator took all of it, and is aborted as the runtime does when it left', async () => {
    const whole = arrived(['a'])
    const events = record(whole)
    assert.equal((await whole.take(1).toArray()).join(), 'a')
    await turn()
    assert.deepEqual(events, ['end', 'close'])
    for (const leave of [
      (stream: Readable) => stream.take(1).toArray(),
      async (stream: Readable) => {
        for await (const _ of stream) break
      },
    ]) {
      const body = arrived(['a', 'b'])
      // Reads all it has at once, so that more data must follow.
      const endless = new Readable({ read() {} })
      endless.push('a')
      await leave(body)
      await leave(endless)
      await turn()
      const [error, expected] = [body.errored, endless.errored] as (Error & { code: string })[]
      assert.deepEqual(
        [error!.name, error!.code, error!.message],
        [expected!.name, expected!.code, expected!.message],
      )
    }
  })

  it('gives a byte to whoever reads it or to whoever collects it', async () => {
    for (const size of [2, undefined]) {
      const body = arrived(['abc', 'def'])
      const rest = body.arrayBuffer()
      const read = String(body.read(size))
      assert.equal(read + Buffer.from(await rest).toString(), 'abcdef')
      // Without a size, Node 26 gives one chunk where earlier ones give all that is buffered.
      assert.equal(read, String(plain(['abc', 'def']).read(size)))
    }
  })

  it('can be read in another way, and by another iterator, between two pieces', async () => {
    const body = arrived([piece('a'), piece('b'), 'c'])
    const pieces = body[Symbol.asyncIterator]()
    const others = body[Symbol.asyncIterator]()
    assert.equal(String((await pieces.next()).value), piece('a'))
    assert.equal(String((await others.next()).value), piece('b'))
    assert.equal(String(body.read()), 'c')
    assert.equal((await pieces.next()).done, true)
    assert.equal((await others.next()).done, true)
  })

  it('an error that is thrown into its iterator comes back and destroys it', async () => {
    const body = arrived([piece('a'), 'b'])
    const pieces = body[Symbol.asyncIterator]()
    await pieces.next()
    const own = new Error('mine')
    await assert.rejects(pieces.throw!(own), own)
    assert.equal(body.destroyed, true)
    const asked = arrived(['a'])
    await assert.rejects(asked[Symbol.asyncIterator]().throw!(own), own)
    assert.equal(await asked.text(), 'a')
  })

  it('says how much can be read, also before it is streamed', async () => {
    const body = arrived([piece('a'), 'd'])
    assert.equal(body.readableLength, 16_385)
    await body[Symbol.asyncIterator]().next()
    assert.equal(body.readableLength, 1)
    assert.equal(body.setEncoding('hex').readableLength, 2)
  })
})

describe('a failure that nobody listens for', () => {
  const reason = new Error('lost')

  it('is quiet, whatever has been done with the body, and is told to who asks later', async () => {
    const uses: Record<string, (body: BodyReadable) => unknown> = {
      nothing: () => {},
      data: (body) => body.on('data', () => {}),
      readable: (body) => body.on('readable', () => {}),
      close: (body) => body.on('close', () => {}),
      pipe: (body) => body.pipe(new PassThrough()),
      pause: (body) => body.pause(),
      'a look at the web stream': (body) => body.body,
      'listeners that were taken away': (body) => body.on('error', () => {}).removeAllListeners(),
    }
    for (const [name, use] of Object.entries(uses)) {
      for (const body of [makeBody().body, arrived(['a'])]) {
        const uncaught = await uncaughtDuring(async () => {
          use(body)
          body.fail(reason)
          body.removeAllListeners('error')
          await turn()
          await turn()
        })
        assert.deepEqual(uncaught, [], name)
        assert.equal(body.errored, reason)
        await assert.rejects(body.text(), reason)
        await assert.rejects(finished(body), reason)
        await assert.rejects(pipeline(body, new PassThrough()), reason)
        await assert.rejects(body.toArray(), reason)
        await assert.rejects(body.body.getReader().read(), reason)
      }
    }
  })

  it('reaches every listener that was there in time', async () => {
    const { body } = makeBody()
    const heard: unknown[] = []
    body.on('error', (error) => heard.push(error))
    body.fail(reason)
    body.on('error', (error) => heard.push(error))
    await turn()
    assert.deepEqual(heard, [reason, reason])
  })

  it('is not quiet when a listener of the data threw it', async () => {
    for (const listens of [true, false]) {
      const { body, source } = makeBody()
      const heard: unknown[] = []
      const uncaught = await uncaughtDuring(async () => {
        if (listens) body.on('error', (error) => heard.push(error))
        body.on('data', () => {
          throw reason
        })
        await turn()
        body.receive(Buffer.from('a'))
        await turn()
      })
      assert.deepEqual([uncaught, heard], listens ? [[], [reason]] : [[reason], []])
      assert.deepEqual(source.aborts, [reason])
    }
  })
})
