/** `fetch` as the handler of a dispatcher: when it pauses, and what it aborts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type DispatchController,
  type DispatchHandler,
  type DispatchOptions,
  fetch,
  type LegacyDispatchHandler,
  Request,
  Response,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'

const URL_ = 'http://a.test/'
const CHUNK = Buffer.alloc(16_384, 'x')

class Controller implements DispatchController {
  paused = false
  aborted = false
  reason: Error | null = null

  abort(reason?: unknown): void {
    this.aborted = true
    this.reason = reason as Error
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }
}

/** Leaves everything to the test. */
class Held {
  handler: (DispatchHandler & LegacyDispatchHandler) | null = null
  options: DispatchOptions | null = null

  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean {
    this.options = options
    this.handler = handler as DispatchHandler & LegacyDispatchHandler
    return true
  }
}

describe('a body that nobody reads', () => {
  test('pauses its response at 64 KB', async () => {
    const dispatcher = new Held()
    const fetched = fetch(URL_, { dispatcher })
    const controller = new Controller()
    const handler = dispatcher.handler!
    handler.onRequestStart!(controller, null)
    handler.onResponseStart!(controller, 200, {}, 'OK')
    const response = await fetched
    let given = 0
    while (!controller.paused && given < 1_000_000) {
      handler.onResponseData!(controller, Buffer.from(CHUNK))
      given += CHUNK.length
    }
    assert.equal(given, 65_536)
    const read = response.text()
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(!controller.paused)
    handler.onResponseEnd!(controller, {})
    assert.equal((await read).length, given)
  })

  test('does so for dispatchers of the older generation', async () => {
    const dispatcher = new Held()
    const fetched = fetch(URL_, { dispatcher })
    let resumed = 0
    const handler = dispatcher.handler!
    handler.onConnect!(() => {}, null)
    assert.equal(
      handler.onHeaders!(200, [], () => resumed++, 'OK'),
      true,
    )
    const response = await fetched
    const answers = [1, 2, 3, 4].map(() => handler.onData!(Buffer.from(CHUNK)))
    assert.deepEqual(answers, [true, true, true, false])
    const read = response.text()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(resumed, 1)
    handler.onComplete!([])
    assert.equal((await read).length, 65_536)
  })
})

test('a request that starts after it was aborted is aborted', async () => {
  const dispatcher = new Held()
  const aborting = new AbortController()
  const fetched = failure(fetch(URL_, { dispatcher, signal: aborting.signal }))
  const reason = new Error('enough')
  aborting.abort(reason)
  assert.equal(await fetched, reason)
  const controller = new Controller()
  dispatcher.handler!.onRequestStart!(controller, null)
  assert.deepEqual([controller.aborted, controller.reason], [true, reason])
})

test('a failed request cancels the stream of its body', async () => {
  for (const error of [new Error('lost'), null]) {
    let cancelled: unknown
    const stream = new ReadableStream({
      cancel(reason) {
        cancelled = reason
      },
    })
    const dispatcher = new Held()
    const fetched = failure(fetch(URL_, { dispatcher, method: 'POST', body: stream, duplex: 'half' }))
    const controller = new Controller()
    const handler = dispatcher.handler!
    handler.onRequestStart!(controller, null)
    if (error === null) handler.onResponseEnd!(controller, {})
    else handler.onResponseError!(controller, error)
    const { cause } = await fetched
    assert.equal(cancelled, cause)
    if (error !== null) assert.equal(cause, error)
  }
})

test('a request whose body is sent is used', async () => {
  for (const body of ['text', new Uint8Array(3), new Blob(['x'])]) {
    const request = new Request(URL_, { method: 'POST', body })
    void fetch(request, { dispatcher: new Held() })
    assert.ok(request.bodyUsed)
    await assert.rejects(fetch(request, { dispatcher: new Held() }), TypeError)
  }
})

test('the length of a Blob is told, unless the caller tells one', () => {
  const sent = (headers: Record<string, string>): unknown => {
    const dispatcher = new Held()
    void fetch(URL_, { dispatcher, method: 'POST', body: new Blob(['abc']), headers })
    return (dispatcher.options!.headers as Record<string, string>)['content-length']
  }
  assert.equal(sent({}), '3')
  assert.equal(sent({ 'content-length': '5' }), '5')
})

test('a stream is locked while its body is collected', async () => {
  const response = new Response('text')
  const { body } = response
  const read = response.text()
  assert.ok(body!.locked)
  assert.equal(await read, 'text')
})

test('a form without a boundary says so', async () => {
  const response = new Response('x', { headers: { 'content-type': 'multipart/form-data' } })
  const error = await failure(response.formData())
  assert.match(String((error.cause as Error | undefined)?.message ?? error.message), /boundary/)
})
