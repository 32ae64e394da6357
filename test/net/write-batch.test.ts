import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { describe, test } from 'node:test'
import { WriteBatch } from '../../src/net/write-batch.ts'

/** Each write is one entry; corked writes that arrive together are one `writev`. */
function target(): { stream: Writable; writes: string[] } {
  const writes: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk.toString('latin1'))
      done()
    },
    writev(chunks, done) {
      writes.push(chunks.map(({ chunk }) => (chunk as Buffer).toString('latin1')).join('|'))
      done()
    },
  })
  return { stream, writes }
}

/** Missing from the target language version, but present in all runtimes. */
function resizable(bytes: number): ArrayBuffer & { resize?(bytes: number): void } {
  return Reflect.construct(ArrayBuffer, [bytes, { maxByteLength: bytes }])
}

function unexpected(error: Error): void {
  throw error
}

const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

describe('WriteBatch', () => {
  test('what is added in one tick is one write', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['GET / HTTP/1.1\r\n'])
    batch.addAll(['\r\n'])
    assert.deepEqual(writes, [])
    assert.equal(batch.waiting, 18)
    await tick()
    assert.deepEqual(writes, ['GET / HTTP/1.1\r\n\r\n'])
    assert.equal(batch.waiting, 0)
  })

  test('the next tick is another write', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['a'])
    await tick()
    batch.addAll(['b'])
    await tick()
    assert.deepEqual(writes, ['a', 'b'])
  })

  test('a small body is joined with its head, in order', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['head '])
    batch.addAll([Buffer.from('body ')])
    batch.addAll(['tail'])
    await tick()
    assert.deepEqual(writes, ['head body tail'])
  })

  test('what is put waits for a flush, which takes what was added before along', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.put('a')
    await tick()
    assert.deepEqual(writes, [])
    batch.addAll(['b'])
    batch.put('c')
    batch.flush()
    assert.deepEqual(writes, ['abc'])
    batch.addAll(['d'])
    await tick()
    assert.deepEqual(writes, ['abc', 'd'])
  })

  test('bytes that leave alone are not copied', () => {
    const given: unknown[] = []
    const stream = new Writable()
    stream.write = (chunk: unknown): boolean => given.push(chunk) > 0
    const batch = new WriteBatch(stream, unexpected)
    const bytes = Buffer.from('body')
    batch.put(bytes)
    batch.flush()
    assert.equal(given[0], bytes)
  })

  test('a larger body is not copied: the parts leave together', () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    for (const part of ['head', Buffer.alloc(5000, 'x'), 'tail']) batch.put(part)
    batch.flush()
    assert.deepEqual(writes, [`head|${'x'.repeat(5000)}|tail`])
  })

  test('past 64 KiB it does not wait for the end of the tick', () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['head'])
    batch.addAll([Buffer.alloc(64 * 1024, 'x')])
    assert.equal(writes.length, 1)
    assert.equal(batch.waiting, 0)
  })

  test('strings are latin1', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['\xe9'])
    await tick()
    batch.addAll(['\xe9'])
    batch.addAll([Buffer.from([0xff])])
    await tick()
    assert.deepEqual(writes, ['\xe9', '\xe9\xff'])
  })

  test('flush writes at once, and has nothing to do at the end of the tick', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.flush()
    assert.deepEqual(writes, [])
    batch.addAll(['a'])
    batch.flush()
    assert.deepEqual(writes, ['a'])
    await tick()
    assert.deepEqual(writes, ['a'])
  })

  test('a destroyed target gets nothing and raises nothing', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    batch.addAll(['a'])
    batch.addAll([Buffer.from('b')])
    stream.destroy()
    await tick()
    assert.deepEqual(writes, [])
    assert.equal(batch.waiting, 0)
  })

  test('what is added is taken as it is: it may be changed or given away before it leaves', async () => {
    const { stream, writes } = target()
    const batch = new WriteBatch(stream, unexpected)
    const small = new Uint8Array(5).fill(0x61)
    batch.addAll(['<', small, '>'])
    small.fill(0x62)
    structuredClone(small.buffer, { transfer: [small.buffer] })
    await tick()
    assert.deepEqual(writes, ['<aaaaa>'])

    const large = new Uint8Array(20_000).fill(0x61)
    batch.addAll(['<', large, '>'])
    assert.deepEqual(writes.splice(0), ['<aaaaa>', `<|${'a'.repeat(20_000)}|>`])
  })

  test('what would wait in the socket is copied', async () => {
    const given: unknown[] = []
    const stream = new Writable({
      write(chunk, _encoding, done) {
        given.push(chunk)
        setImmediate(done)
      },
    })
    const batch = new WriteBatch(stream, unexpected)
    const first = Buffer.alloc(20_000, 'a')
    const added = Buffer.alloc(20_000, 'b')
    const put = Buffer.alloc(20_000, 'c')
    batch.addAll([first])
    assert.equal(given[0], first)
    batch.addAll([added])
    batch.put('-')
    batch.put(put)
    batch.flush()
    added.fill('x')
    put.fill('x')
    await new Promise((resolve) => stream.end(resolve))
    assert.deepEqual(
      given.map((chunk) => String(chunk).slice(0, 2)),
      ['aa', 'bb', '-', 'cc'],
    )
  })

  test('what the target throws goes to the owner, and leaves nothing behind', async () => {
    for (const method of ['write', 'cork'] as const) {
      const { stream } = target()
      const thrown = new Error(`from ${method}`)
      const told: unknown[] = []
      const batch = new WriteBatch(stream, (error) => told.push(error))
      stream[method] = () => {
        throw thrown
      }
      batch.addAll(['head', Buffer.alloc(8192), 'tail'])
      await tick()
      assert.deepEqual(told, [thrown])
      assert.equal(batch.waiting, 0)
    }
  })

  test('bytes whose memory was taken or shortened meanwhile are not written, nor is what stood there', () => {
    for (const change of ['transfer', 'resize'] as const) {
      const { stream, writes } = target()
      const told: Error[] = []
      const batch = new WriteBatch(stream, (error) => told.push(error))
      const memory = resizable(1000)
      batch.put('head')
      batch.put(new Uint8Array(memory))
      if (change === 'transfer') structuredClone(memory, { transfer: [memory] })
      else memory.resize!(10)
      batch.flush()
      assert.equal(told.length, 1)
      assert.deepEqual(writes, [])
    }
  })
})
