/** What ends the reading of a body early. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type DispatchController,
  type DispatchHandler,
  type DispatchOptions,
  Request,
  Response,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** A stream with this chunk, whose source never answers when it is cancelled. */
function stuck(chunk: unknown): { readonly stream: ReadableStream; readonly reasons: unknown[] } {
  const reasons: unknown[] = []
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(chunk),
    cancel(reason) {
      reasons.push(reason)
      return new Promise(() => {})
    },
  })
  return { stream, reasons }
}

const REFUSED = { name: 'TypeError', message: 'Received non-Uint8Array chunk' }

describe('a chunk that is no Uint8Array', () => {
  const CHUNKS: unknown[] = ['text', 5, null, {}, new ArrayBuffer(1), new Uint16Array(1)]

  test('rejects at once, and the stream is cancelled', async () => {
    for (const chunk of CHUNKS) {
      for (const method of ['text', 'json', 'bytes', 'arrayBuffer', 'blob'] as const) {
        const { stream, reasons } = stuck(chunk)
        const error = await failure(new Response(stream)[method]())
        assert.deepEqual([error.name, error.message], [REFUSED.name, REFUSED.message])
        assert.deepEqual(reasons, [error])
      }
    }
  })

  test('on both sides of a clone, whichever is read', async () => {
    for (const chunk of CHUNKS) {
      const { stream } = stuck(chunk)
      const first = new Response(stream)
      const second = first.clone()
      await assert.rejects(first.text(), REFUSED)
      await assert.rejects(second.text(), REFUSED)
      const request = new Request('http://a.test', {
        method: 'POST',
        body: stuck(chunk).stream,
        duplex: 'half',
      })
      const copy = request.clone()
      await assert.rejects(copy.text(), REFUSED)
      await assert.rejects(request.text(), REFUSED)
    }
  })
})

overEachWire('an upload with a chunk that is no bytes', (wire) => {
  test('fails at once, and the stream is cancelled', async (t) => {
    const origin = await startOrigin(t, wire, (request) => void request.resume())
    const dispatcher = agentFor(t, wire)
    for (const clone of [false, true]) {
      const { stream, reasons } = stuck(5)
      const request = new Request(origin.url, { method: 'POST', body: stream, duplex: 'half' })
      const error = await failure(fetch(clone ? request.clone() : request, { dispatcher }))
      assert.deepEqual([error.message, (error.cause as Error).message], ['fetch failed', REFUSED.message])
      if (!clone) assert.deepEqual(reasons, [error.cause])
    }
  })
})

/** Answers each request completely, before `dispatch` returns. */
function answering(content: string): {
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean
} {
  return {
    dispatch(_, handler) {
      const controller = { abort() {}, pause() {}, resume() {} } as unknown as DispatchController
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, 200, {}, 'OK')
      handler.onResponseData?.(controller, Buffer.from(content))
      handler.onResponseEnd?.(controller, {})
      return true
    },
  }
}

describe('an abort while a body is read that has arrived', () => {
  test('rejects with its reason, as long as the promise is not settled', async () => {
    for (const method of ['text', 'json', 'bytes', 'arrayBuffer', 'blob'] as const) {
      const abort = new AbortController()
      const { signal } = abort
      const response = await fetch('http://a.test', { dispatcher: answering('{}'), signal })
      const copy = response.clone()
      const reason = new Error('enough')
      const read = [response[method](), copy[method]()]
      abort.abort(reason)
      for (const promise of read) assert.equal(await failure(promise), reason)
      assert.deepEqual([response.bodyUsed, copy.bodyUsed], [true, true])
    }
  })

  test('comes too late once it is settled', async () => {
    const abort = new AbortController()
    const { signal } = abort
    const response = await fetch('http://a.test', { dispatcher: answering('text'), signal })
    const text = response.text()
    await text
    abort.abort()
    assert.equal(await text, 'text')
  })

  test('without a signal nothing waits', async () => {
    const response = await fetch('http://a.test', { dispatcher: answering('text') })
    assert.equal(await response.text(), 'text')
  })
})
