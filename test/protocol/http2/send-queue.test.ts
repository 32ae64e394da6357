import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameWriter } from '../../../src/protocol/http2/frame-writer.ts'
import { SendQueue } from '../../../src/protocol/http2/send-queue.ts'

function drain(queue: SendQueue, count: number): string {
  const writer = new FrameWriter()
  queue.moveTo(writer, count)
  return Buffer.concat(writer.take() ?? []).toString('latin1')
}

test('bytes leave in the order they came, cut anywhere', () => {
  const queue = new SendQueue()
  for (const chunk of ['abc', '', 'de', 'f']) queue.push(Buffer.from(chunk))
  assert.equal(queue.bytes, 6)
  assert.equal(drain(queue, 2), 'ab')
  assert.equal(drain(queue, 2), 'cd')
  queue.push(Buffer.from('g'))
  assert.equal(queue.bytes, 3)
  assert.equal(drain(queue, 3), 'efg')
  assert.equal(queue.bytes, 0)
  queue.push(Buffer.from('h'))
  assert.equal(drain(queue, 1), 'h')
})

test('many small chunks that never run empty are dropped as they leave', () => {
  const queue = new SendQueue()
  let sent = ''
  let expected = ''
  for (let i = 0; i < 500; i++) {
    queue.push(Buffer.from('ab'))
    queue.push(Buffer.from('c'))
    expected += 'abc'
    sent += drain(queue, 2)
  }
  sent += drain(queue, queue.bytes)
  assert.equal(sent, expected)
})

test('clear forgets everything', () => {
  const queue = new SendQueue()
  queue.push(Buffer.from('abc'))
  drain(queue, 1)
  queue.clear()
  assert.equal(queue.bytes, 0)
  queue.push(Buffer.from('x'))
  assert.equal(drain(queue, 1), 'x')
})
