/** Iterating over a body while it arrives: its chunks are taken as they come, and the stream does not run for them. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import type { BodyReadable } from '../../src/body/readable.ts'
import { turns } from '../support/fake-clock.ts'
import { closed, makeBody, piece, record } from './made-body.ts'

const text = ({ value, done }: IteratorResult<Buffer>): string | null => (done ? null : String(value))

async function settled(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  promise.then(settle, settle)
  await turns(2)
  return isSettled
}

describe('a body that is iterated while it arrives', () => {
  it('is waited for, and gives the chunks of one read together', async () => {
    const { body, source } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const first = iterator.next()
    assert.equal(await settled(first), false)
    const memory = Buffer.from('onetwothree')
    body.receiveLent(memory, 0, 3)
    body.receiveLent(memory, 3, 6)
    body.receive(Buffer.from('four'))
    memory.fill(0)
    assert.equal(text(await first), 'onetwofour')
    const second = iterator.next()
    body.receive(Buffer.from('last'))
    body.complete()
    assert.equal(text(await second), 'last')
    assert.deepEqual([body.readableEnded, body.destroyed, body.bodyUsed], [true, true, true])
    assert.equal(text(await iterator.next()), null)
    assert.deepEqual(source.log, ['closed'])
  })

  it('gives memory that holds nothing else', async () => {
    for (const length of [10, 100, 4096, 5000]) {
      const { body } = makeBody()
      const next = body[Symbol.asyncIterator]().next()
      const memory = Buffer.alloc(length + 2, 'x')
      body.receiveLent(memory, 1, length + 1)
      const { value } = await next
      assert.equal(value.length, length)
      assert.notEqual(value.buffer, memory.buffer)
      assert.equal(value.buffer.byteLength, length)
    }
  })

  it('ends for those who wait when it is complete', async () => {
    const { body } = makeBody()
    const events = record(body)
    const seen: string[] = []
    const iteration = (async () => {
      for await (const chunk of body) seen.push(String(chunk))
    })()
    body.receive(Buffer.from('a'))
    await turns(1)
    body.complete()
    await iteration
    await turns(1)
    assert.deepEqual(seen, ['a'])
    assert.deepEqual(events, ['end', 'close'])
  })

  it('fails for those who wait', async () => {
    for (const end of ['fail', 'destroy'] as const) {
      const { body } = makeBody()
      const iterator = body[Symbol.asyncIterator]()
      const next = iterator.next()
      await turns(1)
      const reason = new Error('broken')
      body[end](reason)
      await assert.rejects(next, reason)
      assert.equal(text(await iterator.next()), null)
    }
    const { body } = makeBody()
    const next = body[Symbol.asyncIterator]().next()
    body.destroy()
    await assert.rejects(next, { name: 'AbortError', code: 'UND_ERR_ABORTED' })
  })

  it('holds no more than its high-water mark, and is resumed when it was read', async () => {
    const { body, source } = makeBody({ highWaterMark: 4 })
    const iterator = body[Symbol.asyncIterator]()
    body.receive(Buffer.from('1234'))
    assert.deepEqual(source.log, ['pause'])
    assert.equal(text(await iterator.next()), '1234')
    assert.deepEqual(source.log, ['pause', 'resume'])
    const next = iterator.next()
    await turns(1)
    body.receive(Buffer.from('5678'))
    assert.equal(text(await next), '5678')
    assert.deepEqual(source.log, ['pause', 'resume', 'pause', 'resume'])
  })

  it('with a high-water mark of 0 arrives while somebody waits', async () => {
    const { body, source } = makeBody({ highWaterMark: 0 })
    body.receive(Buffer.from('a'))
    const iterator = body[Symbol.asyncIterator]()
    assert.equal(text(await iterator.next()), 'a')
    assert.deepEqual(source.log, ['pause'])
    const next = iterator.next()
    assert.deepEqual(source.log, ['pause', 'resume'])
    body.receive(Buffer.from('b'))
    assert.equal(text(await next), 'b')
    source.onResume = () => body.receive(Buffer.from('c'))
    assert.equal(text(await iterator.next()), 'c')
  })

  it('may arrive and end while it is resumed', async () => {
    const { body, source } = makeBody({ highWaterMark: 1 })
    body.receive(Buffer.from('a'))
    source.onResume = () => {
      body.receive(Buffer.from('b'))
      body.complete()
    }
    const seen: string[] = []
    for await (const chunk of body) seen.push(String(chunk))
    assert.deepEqual(seen, ['a', 'b'])
  })

  it('may fail while it is resumed: what was taken before is delivered', async () => {
    const { body, source } = makeBody({ highWaterMark: 1 })
    body.receive(Buffer.from('a'))
    const reason = new Error('broken')
    source.onResume = () => body.fail(reason)
    const iterator = body[Symbol.asyncIterator]()
    assert.equal(text(await iterator.next()), 'a')
    await assert.rejects(iterator.next(), reason)
  })

  it('may end and fail while it is resumed', async () => {
    const { body, source } = makeBody({ highWaterMark: 1 })
    body.receive(Buffer.from('a'))
    const reason = new Error('broken')
    source.onResume = () => {
      body.complete()
      body.fail(reason)
    }
    const iterator = body[Symbol.asyncIterator]()
    assert.equal(text(await iterator.next()), 'a')
    await assert.rejects(iterator.next(), reason)
  })

  it('answers in order when it is asked several times', async () => {
    const { body } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const order: number[] = []
    const answers = [0, 1, 2, 3].map(async (index) => {
      const answer = text(await iterator.next())
      order.push(index)
      return answer
    })
    await turns(1)
    for (const word of ['one', 'two']) {
      body.receive(Buffer.from(word))
      await turns(1)
    }
    body.complete()
    assert.deepEqual(await Promise.all(answers), ['one', 'two', null, null])
    assert.deepEqual(order, [0, 1, 2, 3])
  })

  it('that fails is over for those who asked before', async () => {
    const { body } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const answers = [iterator.next(), iterator.next()]
    await turns(1)
    body.fail(new Error('broken'))
    await assert.rejects(answers[0]!, /broken/)
    assert.equal(text(await answers[1]!), null)
  })

  it('is destroyed when its iterator leaves, even one that waits', async () => {
    const { body, source } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const next = iterator.next()
    await turns(1)
    assert.equal(text(await iterator.return!()), null)
    assert.equal(text(await next), null)
    await closed(body)
    assert.deepEqual(source.log, ['abort', 'closed'])
    const other = makeBody()
    other.body.receive(Buffer.from('a'))
    for await (const chunk of other.body) {
      assert.equal(String(chunk), 'a')
      break
    }
    assert.equal(other.body.destroyed, true)
  })

  it('is left alone by an iterator that was not asked', async () => {
    const { body } = makeBody()
    await body[Symbol.asyncIterator]().return!()
    body.receive(Buffer.from('a'))
    body.complete()
    assert.equal(await body.text(), 'a')
  })

  it('is shared by two iterators', async () => {
    const { body } = makeBody()
    const [one, other] = [body[Symbol.asyncIterator](), body[Symbol.asyncIterator]()]
    const answers = [one.next(), other.next()]
    await turns(1)
    body.receive(Buffer.from('a'))
    await turns(1)
    body.receive(Buffer.from('b'))
    assert.deepEqual((await Promise.all(answers)).map(text), ['a', 'b'])
    body.complete()
    assert.deepEqual((await Promise.all([one.next(), other.next()])).map(text), [null, null])
  })

  it('goes on as a stream when somebody else reads it as one', async () => {
    const { body } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    body.receive(Buffer.from('a'))
    assert.equal(text(await iterator.next()), 'a')
    const next = iterator.next()
    await turns(1)
    body.setEncoding('hex')
    body.receive(Buffer.from('b'))
    body.complete()
    assert.equal(text(await next), '62')
    assert.equal(text(await iterator.next()), null)
  })

  it('keeps what its iterator has not taken when somebody else lets it flow', async () => {
    const uses: Record<string, (body: BodyReadable, hear: (data: Buffer) => unknown) => unknown> = {
      resume: (body) => body.resume(),
      data: (body, hear) => body.on('data', hear),
      pipe: (body, hear) => body.pipe(new PassThrough().on('data', hear)),
    }
    for (const [name, use] of Object.entries(uses)) {
      const { body } = makeBody()
      const heard: string[] = []
      body.receive(Buffer.from('a'))
      let seen = ''
      for await (const chunk of body) {
        seen += chunk
        if (seen === 'a') {
          body.receive(Buffer.from('b'))
          use(body, (data) => heard.push(String(data)))
        } else if (seen === 'ab') body.receive(Buffer.from('c'))
        else body.complete()
        await turns(2)
      }
      assert.equal(seen, 'abc', name)
      assert.equal(heard.join(''), name === 'resume' ? '' : 'bc', name)
    }
  })

  it('can be dumped after it has become a stream', async () => {
    const { body } = makeBody()
    body.receive(Buffer.from('a'))
    await body[Symbol.asyncIterator]().next()
    body.setEncoding('utf8')
    const dumped = body.dump()
    body.receive(Buffer.from('b'))
    body.complete()
    assert.equal(await dumped, null)
  })

  it('ends for those who wait when it is dumped', async () => {
    const { body } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const next = iterator.next()
    await turns(1)
    const dumped = body.dump()
    body.receive(Buffer.from('a'))
    assert.equal(await settled(next), false)
    body.complete()
    assert.equal(await dumped, null)
    assert.equal(text(await next), null)
  })

  it('fails for those who wait when it is dumped and too long', async () => {
    const { body } = makeBody()
    const next = body[Symbol.asyncIterator]().next()
    await turns(1)
    const dumped = body.dump({ limit: 1 })
    const failed = assert.rejects(next, { name: 'AbortError' })
    body.receive(Buffer.from('ab'))
    await failed
    await dumped.catch(() => {})
  })

  it('cannot be collected', async () => {
    const { body } = makeBody()
    const next = body[Symbol.asyncIterator]().next()
    await assert.rejects(body.text(), { name: 'TypeError', message: 'unusable' })
    body.receive(Buffer.from('a'))
    assert.equal(text(await next), 'a')
  })

  it('gives large chunks one by one', async () => {
    const { body } = makeBody()
    const iterator = body[Symbol.asyncIterator]()
    const next = iterator.next()
    body.receive(Buffer.from(piece('a')))
    body.receive(Buffer.from(piece('b')))
    body.complete()
    assert.equal(text(await next), piece('a'))
    assert.equal(text(await iterator.next()), piece('b'))
    assert.equal(text(await iterator.next()), null)
  })
})
