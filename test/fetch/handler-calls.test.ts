/** `fetch` as the handler of a dispatcher: when it pauses, and what it aborts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fetch, type LegacyDispatchHandler, Request, Response } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { failure } from '../support/exchange.ts'

const URL_ = 'http://a.test/'
const CHUNK = Buffer.alloc(16_384, 'x')

describe('a body that nobody reads', () => {
  test('pauses its response at 64 KB', async () => {
    const dispatcher = new ScriptedDispatcher()
    const fetched = fetch(URL_, { dispatcher })
    const exchange = dispatcher.last.start().head()
    const response = await fetched
    let given = 0
    while (exchange.log.length === 0 && given < 1_000_000) {
      exchange.data(CHUNK)
      given += CHUNK.length
    }
    assert.deepEqual([given, exchange.log], [65_536, ['pause']])
    const read = response.text()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(exchange.log, ['pause', 'resume'])
    exchange.end()
    assert.equal((await read).length, given)
  })

  test('does so for dispatchers of the older generation', async () => {
    const dispatcher = new ScriptedDispatcher()
    const fetched = fetch(URL_, { dispatcher })
    let resumed = 0
    const handler = dispatcher.last.handler as LegacyDispatchHandler
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
  const dispatcher = new ScriptedDispatcher()
  const aborting = new AbortController()
  const fetched = failure(fetch(URL_, { dispatcher, signal: aborting.signal }))
  const reason = new Error('enough')
  aborting.abort(reason)
  assert.equal(await fetched, reason)
  assert.deepEqual(dispatcher.last.start().aborts, [reason])
})

test('a failed request cancels the stream of its body', async () => {
  for (const error of [new Error('lost'), null]) {
    let cancelled: unknown
    const stream = new ReadableStream({
      cancel(reason) {
        cancelled = reason
      },
    })
    const dispatcher = new ScriptedDispatcher()
    const fetched = failure(fetch(URL_, { dispatcher, method: 'POST', body: stream, duplex: 'half' }))
    const exchange = dispatcher.last.start()
    if (error === null) exchange.end()
    else exchange.error(error)
    const { cause } = await fetched
    assert.equal(cancelled, cause)
    if (error !== null) assert.equal(cause, error)
  }
})

test('a request whose body is sent is used', async () => {
  for (const body of ['text', new Uint8Array(3), new Blob(['x'])]) {
    const request = new Request(URL_, { method: 'POST', body })
    void fetch(request, { dispatcher: new ScriptedDispatcher() })
    assert.ok(request.bodyUsed)
    await assert.rejects(fetch(request, { dispatcher: new ScriptedDispatcher() }), TypeError)
  }
})

test('the length of a body is told, unless the caller tells one', () => {
  type Sent = NonNullable<Parameters<typeof fetch>[1]>['body']
  const sent = (body: Sent, headers: Record<string, string> = {}): Record<string, string> => {
    const dispatcher = new ScriptedDispatcher()
    void fetch(URL_, { dispatcher, method: 'POST', body, headers, duplex: 'half' })
    return dispatcher.last.opts.headers as Record<string, string>
  }
  const form = new FormData()
  form.append('a', 'b')
  const known = [new Blob(['é!']), 'é!', Buffer.from('é!'), new URLSearchParams('a=b')]
  for (const body of known) assert.equal(sent(body)['content-length'], '3')
  assert.ok(Number(sent(form)['content-length']) > 100)
  for (const body of known) {
    const { 'Content-Length': given, 'content-length': added } = sent(body, { 'Content-Length': '5' })
    assert.deepEqual([given, added], ['5', undefined])
  }
  assert.equal(sent(null)['content-length'], undefined)
  assert.equal(sent(new Blob(['x']).stream())['content-length'], undefined)
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
