import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RequestQueue } from '../../src/dispatcher/session/request-queue.ts'
import { Request } from '../../src/request/request.ts'
import { FieldsMemory } from '../../src/request/request-fields.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

function queueOf(count: number): { queue: RequestQueue; requests: Request[] } {
  const queue = new RequestQueue()
  const host = {
    onRequestAborted: (request: Request) => queue.onSettled(request),
    onRequestResumed() {},
    onHandlerError() {},
  }
  const setting = {
    origin: 'http://localhost',
    protocol: 'http:',
    fields: new FieldsMemory(),
    maxResponseSize: -1,
  } as const
  const requests = Array.from(
    { length: count },
    (_, index) => new Request({ path: `/${index}`, method: 'GET' }, new RecordingHandler(), setting, host),
  )
  for (const request of requests) {
    queue.push(request)
    request.announceQueued()
  }
  return { queue, requests }
}

const paths = (requests: readonly Request[]): string[] => requests.map((request) => request.path)

describe('RequestQueue', () => {
  test('first in, first out', () => {
    const { queue, requests } = queueOf(3)
    assert.equal(queue.peek(), requests[0])
    assert.deepEqual([queue.shift(), queue.shift(), queue.shift(), queue.shift()], [...requests, null])
    assert.equal(queue.peek(), null)
  })

  test('what is put back stands in front, in its order', () => {
    const { queue, requests } = queueOf(3)
    const taken = [queue.shift()!, queue.shift()!]
    queue.putBack(taken)
    assert.deepEqual(queue.drain(), requests)
    assert.equal(queue.size, 0)
  })

  test('passes over requests that were given up', () => {
    const { queue, requests } = queueOf(4)
    requests[0]!.abort()
    requests[2]!.abort()
    assert.equal(queue.size, 2)
    assert.equal(queue.shift(), requests[1])
    assert.equal(queue.size, 1)
    assert.equal(queue.shift(), requests[3])
    assert.equal(queue.shift(), null)
    assert.equal(queue.size, 0)
  })

  test('keeps its count and order when many are given up behind one that waits', () => {
    const { queue, requests } = queueOf(500)
    for (let i = 1; i < 499; i++) {
      requests[i]!.abort()
      assert.equal(queue.size, 500 - i)
    }
    assert.deepEqual(paths(queue.drain()), ['/0', '/499'])
  })

  test('drain with a predicate takes out what is meant, and leaves the others in their order', () => {
    const { queue, requests } = queueOf(5)
    requests[1]!.abort()
    assert.deepEqual(paths(queue.drain(({ path }) => path === '/0' || path === '/3')), ['/0', '/3'])
    assert.equal(queue.size, 2)
    assert.deepEqual(paths(queue.drain()), ['/2', '/4'])
  })

  test('a request that was taken out to be failed does not count when it is given up', () => {
    const { queue } = queueOf(2)
    for (const request of queue.drain()) request.abort()
    assert.equal(queue.size, 0)
  })
})
