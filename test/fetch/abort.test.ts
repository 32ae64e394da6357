/** Aborts in every phase of a fetch: which promises reject, with which reason, and the fate of the connection. */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  type DispatchController,
  type DispatchHandler,
  type DispatchOptions,
  Request,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { EagerSignal, HastySignal } from '../support/eager-signal.ts'
import { deferred, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** A body that never ends, and records why it was cancelled. */
function endless(): { body: ReadableStream<Uint8Array>; cancelled: Promise<unknown> } {
  const { promise, resolve } = deferred<unknown>()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        controller.enqueue(new Uint8Array(10))
        return new Promise(setImmediate)
      },
      cancel: resolve,
    },
    { highWaterMark: 0 },
  )
  return { body, cancelled: promise }
}

/** The methods of a handler, as an object of its own. */
function bound(handler: DispatchHandler): DispatchHandler {
  return {
    onResponseStart: (...args) => handler.onResponseStart!(...args),
    onResponseData: (...args) => handler.onResponseData!(...args),
    onResponseEnd: (...args) => handler.onResponseEnd!(...args),
    onResponseError: (...args) => handler.onResponseError!(...args),
  }
}

overEachWire('an abort', (wire) => {
  test('before: nothing is sent, and the body is cancelled', async () => {
    const dispatcher = { dispatch: () => assert.fail('sent') }
    const { body, cancelled } = endless()
    const init = { dispatcher, method: 'POST', body, duplex: 'half' } as const
    const reason = { any: 'value' }
    const url = wire.secure ? 'https://a.test' : 'http://a.test'
    assert.equal(await failure(fetch(url, { ...init, signal: AbortSignal.abort(reason) })), reason)
    assert.equal(await cancelled, reason)
    const request = new Request(url, {
      method: 'POST',
      body: 'x',
      signal: AbortSignal.abort(reason),
      dispatcher,
    })
    assert.equal(await failure(fetch(request)), reason)
    assert.equal(request.bodyUsed, true)
    const order: string[] = []
    fetch(url, { dispatcher, signal: AbortSignal.abort() }).catch(() => order.push('fetch'))
    await Promise.resolve().then(() => order.push('microtask'))
    assert.deepEqual(order, ['fetch', 'microtask'])
    const eager = endless()
    const fetched = fetch(url, {
      ...init,
      body: eager.body,
      signal: new EagerSignal(reason) as unknown as AbortSignal,
    })
    assert.equal(await failure(fetched), reason)
    assert.equal(await eager.cancelled, reason)
    const hasty = endless()
    const missed = fetch(url, {
      ...init,
      body: hasty.body,
      signal: new HastySignal(reason) as unknown as AbortSignal,
    })
    assert.equal(await failure(missed), reason)
    assert.equal(await hasty.cancelled, reason)
  })

  test('while it waits in the queue, and while it connects', async (t) => {
    const held = deferred<ServerResponse>()
    let seen = 0
    const origin = await startOrigin(t, wire, (_request, response) => {
      seen++
      held.resolve(response)
    })
    const client = origin.client(wire.multiplexes ? { maxConcurrentStreams: 1 } : {})
    const connecting = new AbortController()
    const early = failure(fetch(origin.url, { dispatcher: client, signal: connecting.signal }))
    connecting.abort('connecting')
    assert.equal(await early, 'connecting' as never)
    const first = fetch(origin.url, { dispatcher: client })
    const response = await held.promise
    const queued = new AbortController()
    const waiting = failure(fetch(origin.url, { dispatcher: client, signal: queued.signal }))
    queued.abort('queued')
    assert.equal(await waiting, 'queued' as never)
    response.end('first')
    assert.equal(await (await first).text(), 'first')
    assert.deepEqual([client.stats.size, seen], [0, 1])
  })

  test('while it sends: the body is cancelled with the reason, the server sees the end', async (t) => {
    const arrived = deferred()
    const gone = deferred()
    const origin = await startOrigin(t, wire, (request) => {
      request.on('error', () => {})
      request.on('close', () => gone.resolve())
      request.once('data', () => arrived.resolve())
    })
    const { body, cancelled } = endless()
    const controller = new AbortController()
    const init = { dispatcher: agentFor(t, wire), method: 'POST', body, duplex: 'half' } as const
    const failed = failure(fetch(origin.url, { ...init, signal: controller.signal }))
    await arrived.promise
    const reason = new Error('mine')
    controller.abort(reason)
    assert.equal(await failed, reason)
    assert.equal(await cancelled, reason)
    await gone.promise
  })

  test('while the body comes: stream, clone and pending text() end with the reason', async (t) => {
    const gone = deferred()
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.on('close', () => gone.resolve())
      response.write('some')
    })
    const controller = new AbortController()
    const response = await fetch(origin.url, { dispatcher: agentFor(t, wire), signal: controller.signal })
    const clone = response.clone()
    const third = clone.clone()
    const text = failure(clone.text())
    const reader = response.body!.getReader()
    await reader.read()
    const read = failure(reader.read())
    const reason = new Error('mine')
    controller.abort(reason)
    assert.deepEqual([await text, await read], [reason, reason])
    assert.equal(await failure(third.text()), reason)
    assert.equal(await failure(third.body!.getReader().read()), reason)
    await gone.promise
  })

  test('of a body that has come and is not read; one that was read stays', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end('all'))
    const dispatcher = agentFor(t, wire)
    const controller = new AbortController()
    const { signal } = controller
    const unread = await fetch(origin.url, { dispatcher, signal })
    const read = await fetch(origin.url, { dispatcher, signal })
    assert.equal(await read.text(), 'all')
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    controller.abort('late')
    assert.equal(await failure(unread.text()), 'late' as never)
    assert.equal((await fetch(origin.url, { dispatcher })).status, 200)
  })

  test('one listener on a signal, however many fetches; none when they are done', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end('ok'))
    const dispatcher = agentFor(t, wire)
    const { signal } = new AbortController()
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => fetch(origin.url, { dispatcher, signal })),
    )
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    await Promise.all(responses.map((response) => response.text()))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    await failure(fetch('http://a.test:1/', { signal }))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    const empty = await fetch(origin.url, { dispatcher, signal, method: 'HEAD' })
    assert.equal(empty.body, null)
    await new Promise(setImmediate)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  test('the signal of a request, and one that init gives instead', async (t) => {
    const origin = await startOrigin(t, wire, () => {})
    const dispatcher = agentFor(t, wire)
    const controller = new AbortController()
    const request = new Request(origin.url, { signal: controller.signal, dispatcher })
    const failed = failure(fetch(request))
    const cloned = failure(fetch(request.clone()))
    const other = new AbortController()
    const replaced = failure(fetch(request, { signal: other.signal }))
    controller.abort('request')
    assert.deepEqual([await failed, await cloned], ['request', 'request'])
    other.abort('init')
    assert.equal(await replaced, 'init' as never)
  })

  test('cancel() and leaving a loop give the exchange up', async (t) => {
    const closed: Promise<void>[] = []
    const origin = await startOrigin(t, wire, (_request, response) => {
      const { promise, resolve } = deferred()
      closed.push(promise)
      response.on('close', resolve)
      response.write('endless')
    })
    const dispatcher = agentFor(t, wire)
    for await (const _chunk of (await fetch(origin.url, { dispatcher })).body!) break
    await (await fetch(origin.url, { dispatcher })).body!.cancel('enough')
    assert.equal(closed.length, 2)
    await Promise.all(closed)
  })

  test('while a stream is read: its reads and `closed` reject with the reason', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.write('some'))
    const controller = new AbortController()
    const { signal } = controller
    const dispatcher = agentFor(t, wire)
    const response = await fetch(origin.url, { dispatcher, signal })
    const order: string[] = []
    const { body } = response
    const reader = body!.getReader()
    await reader.read()
    const ended = [
      reader.closed.catch((reason) => order.push(`closed ${reason}`)),
      reader.read().catch((reason) => order.push(`read ${reason}`)),
    ]
    signal.addEventListener('abort', () => order.push('listener'))
    controller.abort('why')
    assert.deepEqual(order, ['listener'])
    await Promise.all(ended)
    assert.deepEqual(order.sort(), ['closed why', 'listener', 'read why'])
    assert.deepEqual([response.bodyUsed, body!.locked], [true, true])
  })

  test('without a reason it is an AbortError', async (t) => {
    const origin = await startOrigin(t, wire, () => {})
    const dispatcher = agentFor(t, wire)
    const foreign = (aborted: boolean) => Object.assign(new EventTarget(), { aborted, reason: undefined })
    const expected = ['AbortError', 20, true]
    const facts = (error: Error & Record<string, unknown>): unknown[] => [
      error.name,
      error['code'],
      error instanceof DOMException,
    ]
    // Aborted without a reason, and an event of a signal that is not aborted.
    for (const [signal, aborted] of [
      [foreign(false), true],
      [foreign(false), false],
      [new AbortController().signal, false],
    ] as const) {
      const failed = failure(fetch(origin.url, { dispatcher, signal: signal as never }))
      if (aborted) Object.assign(signal, { aborted })
      signal.dispatchEvent(new Event('abort'))
      assert.deepEqual(facts(await failed), expected)
    }
    for (const url of [origin.url, 'data:,x']) {
      const early = await failure(fetch(url, { dispatcher, signal: foreign(true) as never }))
      assert.deepEqual(facts(early), expected)
    }
  })

  test('a body that is cancelled without a reason aborts with an AbortError', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      request.resume()
      response.write('never ends')
    })
    const dispatcher = agentFor(t, wire)
    const reasons: unknown[] = []
    const told = {
      dispatch: (options: DispatchOptions, handler: DispatchHandler) =>
        dispatcher.dispatch(options as never, {
          ...bound(handler),
          onRequestStart(controller, context) {
            const abort = controller.abort.bind(controller)
            controller.abort = (reason) => {
              reasons.push(reason)
              abort(reason as never)
            }
            handler.onRequestStart!(controller, context)
          },
        }),
    }
    const { body, cancelled } = endless()
    const init = { dispatcher: told, method: 'POST', duplex: 'half' } as const
    const upload = await fetch(origin.url, { ...init, body })
    await upload.body!.cancel()
    assert.equal(((await cancelled) as Error).name, 'AbortError')
    const response = await fetch(origin.url, { dispatcher: told })
    const copy = response.clone()
    await Promise.all([response.body!.cancel(), copy.body!.cancel()])
    assert.deepEqual(
      reasons.map((reason) => (reason as Error).name),
      ['AbortError', 'AbortError'],
    )
  })
})

test('an abort of a body that has arrived fails its stream', async () => {
  const dispatcher = {
    dispatch(_: DispatchOptions, handler: DispatchHandler): boolean {
      const controller = {
        aborted: false,
        paused: false,
        reason: null,
        abort() {},
        pause() {},
        resume() {},
      } as unknown as DispatchController
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, 200, {}, 'OK')
      handler.onResponseData?.(controller, Buffer.from('arrived'))
      handler.onResponseEnd?.(controller, {})
      return true
    },
  }
  const abort = new AbortController()
  const response = await fetch('http://a.test', { dispatcher, signal: abort.signal })
  const copy = response.clone()
  const reason = new Error('mine')
  abort.abort(reason)
  for (const { body } of [response, copy]) await assert.rejects(body!.getReader().read(), reason)
})
