import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { InfoData } from '../../src/api/api-handler.ts'
import type { RequestOptions, ResponseData } from '../../src/api/request.ts'
import type { BodyReadable } from '../../src/body/readable.ts'
import { InvalidArgumentError, RequestAbortedError, type Timings } from '../../src/errors.ts'
import { turn } from '../support/fake-clock.ts'
import { garbageCollector } from '../support/garbage.ts'
import { ScriptedDispatcher, uncaughtDuring } from './scripted-dispatcher.ts'

const GET = { path: '/', method: 'GET' } as const

/** For arguments that the types forbid. */
function bad(value: unknown): RequestOptions {
  return value as RequestOptions
}

describe('request(): arguments', () => {
  const cases: [string, unknown, string][] = [
    ['opts undefined', undefined, 'invalid opts'],
    ['opts null', null, 'invalid opts'],
    ['opts a string', 'GET', 'invalid opts'],
    ['highWaterMark a string', { ...GET, highWaterMark: '16' }, 'invalid highWaterMark'],
    ['highWaterMark NaN', { ...GET, highWaterMark: Number.NaN }, 'invalid highWaterMark'],
    ['highWaterMark negative', { ...GET, highWaterMark: -1 }, 'invalid highWaterMark'],
    ['signal without methods', { ...GET, signal: {} }, 'signal must be an EventEmitter or EventTarget'],
    ['signal a string', { ...GET, signal: 'no' }, 'signal must be an EventEmitter or EventTarget'],
    ['method CONNECT', { ...GET, method: 'CONNECT' }, 'invalid method'],
    ['onInfo no function', { ...GET, onInfo: 'x' }, 'invalid onInfo callback'],
    ['highWaterMark before signal', { ...GET, highWaterMark: -1, signal: {} }, 'invalid highWaterMark'],
    [
      'signal before method',
      { path: '/', method: 'CONNECT', signal: {} },
      'signal must be an EventEmitter or EventTarget',
    ],
    ['method before onInfo', { path: '/', method: 'CONNECT', onInfo: 1 }, 'invalid method'],
  ]
  for (const [name, opts, message] of cases) {
    it(`rejects ${name}, and dispatches nothing`, async () => {
      const dispatcher = new ScriptedDispatcher()
      await assert.rejects(dispatcher.request(bad(opts)), (error: Error) => {
        assert.ok(error instanceof InvalidArgumentError)
        assert.equal(error.message, message)
        return true
      })
      assert.equal(dispatcher.exchanges.length, 0)
    })
  }

  it('tells the callback of a bad argument in a microtask, with opaque as given', async () => {
    const dispatcher = new ScriptedDispatcher()
    const calls: unknown[][] = []
    const result = dispatcher.request({ ...bad({ ...GET, highWaterMark: -1 }), opaque: null }, (...args) =>
      calls.push(args),
    )
    assert.equal(result, undefined)
    assert.equal(calls.length, 0)
    await Promise.resolve()
    dispatcher.request(bad(null), (...args) => calls.push(args))
    assert.equal(calls.length, 1)
    await Promise.resolve()
    const [first, second] = calls as [[Error, unknown], [Error, unknown]]
    assert.equal(first[0].message, 'invalid highWaterMark')
    assert.deepEqual(first[1], { opaque: null })
    assert.equal(second[0].message, 'invalid opts')
    assert.deepEqual(second[1], { opaque: undefined })
  })

  it('throws for a callback that is neither function nor undefined', () => {
    const dispatcher = new ScriptedDispatcher()
    for (const callback of [null, 'cb', {}, 0]) {
      assert.throws(() => dispatcher.request(GET, callback as never), {
        code: 'UND_ERR_INVALID_ARG',
        message: 'invalid callback',
      })
      assert.throws(() => dispatcher.request(bad(null), callback as never), { message: 'invalid opts' })
    }
  })

  it('destroys a stream body when an argument is bad', async () => {
    const dispatcher = new ScriptedDispatcher()
    const body = new Readable({ read() {} })
    const failure = dispatcher.request(bad({ path: '/', method: 'PUT', body, highWaterMark: -1 }))
    const error = await failure.catch((reason: unknown) => reason)
    assert.equal(body.errored, error)
    const second = new Readable({ read() {} })
    assert.throws(() => dispatcher.request({ path: '/', method: 'PUT', body: second }, null as never))
    assert.equal(second.destroyed, true)
    const third = new Readable({ read() {} })
    dispatcher.request(bad({ path: '/', method: 'PUT', body: third, signal: 1 }), () => {})
    assert.equal(third.destroyed, true)
    await turn()
  })

  it('leaves other bodies alone when the request fails', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.error(new Error('refused')))
    for (const body of ['text', Buffer.from('x'), null, { [Symbol.asyncIterator]() {} }]) {
      await assert.rejects(dispatcher.request(bad({ path: '/', method: 'PUT', body })), {
        message: 'refused',
      })
    }
  })

  it('destroys an incoming message without its socket, on which a proxy still has to answer', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.error(new Error('refused')))
    const socket = {}
    const seen: unknown[] = []
    const stream = new Readable({
      read() {},
      destroy(error, callback) {
        seen.push(body.socket)
        callback(error)
      },
    })
    const body = Object.assign(stream, { httpVersion: '1.1', socket })
    await assert.rejects(dispatcher.request({ path: '/', method: 'PUT', body }), { message: 'refused' })
    assert.equal(body.destroyed, true)
    assert.deepEqual(seen, [null])
    assert.equal(body.socket, socket)
    assert.equal(body.listenerCount('error'), 1)
  })
})

describe('request(): result', () => {
  it('resolves at the final head, with the listed keys in order', async () => {
    const dispatcher = new ScriptedDispatcher()
    const opaque = { id: 7 }
    const opts = { ...GET, opaque }
    const promise = dispatcher.request(opts)
    assert.equal(dispatcher.last.opts, opts)
    dispatcher.last.start('the context').head(203, { 'content-type': 'text/plain' }, 'Fine')
    const data = await promise
    assert.deepEqual(Object.keys(data), [
      'statusCode',
      'statusText',
      'headers',
      'trailers',
      'opaque',
      'body',
      'context',
    ])
    assert.equal(data.statusCode, 203)
    assert.equal(data.statusText, 'Fine')
    assert.deepEqual(data.headers, { 'content-type': 'text/plain' })
    assert.deepEqual(data.trailers, {})
    assert.equal(data.opaque, opaque)
    assert.equal(data.context, 'the context')
    assert.ok(data.body instanceof Readable)
    assert.equal(data.timings, null)
    dispatcher.last.end()
  })

  it('turns falsy opaque values into null', async () => {
    for (const opaque of [0, '', false, undefined, null]) {
      const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().end())
      const data = await dispatcher.request<unknown>({ ...GET, opaque })
      assert.equal(data.opaque, null)
    }
  })

  it('gives the timings of the controller, outside of its keys', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request(GET)
    const timings: Timings = { queued: 1, connect: 2, secured: null, sent: 3, firstByte: 4, end: null }
    const controller = dispatcher.last.newController({ timings })
    dispatcher.last.handler.onRequestStart?.(controller, null)
    dispatcher.last.handler.onResponseStart?.(controller, 200, {}, 'OK')
    const data = await promise
    assert.equal(data.timings, timings)
    assert.equal('timings' in { ...data }, false)
    dispatcher.last.end()
  })

  it('gives raw headers as received', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request({ ...GET, responseHeaders: 'raw' })
    const rawHeaders = ['X-One', 'é', 'x-one', '2'].map((part) => Buffer.from(part, 'latin1'))
    const controller = dispatcher.last.newController({ rawHeaders })
    dispatcher.last.handler.onResponseStart?.(controller, 200, { 'x-one': ['é', '2'] }, 'OK')
    const { headers } = await promise
    assert.deepEqual(headers, ['X-One', 'é', 'x-one', '2'])
    dispatcher.last.end()
  })

  it('makes the raw list from the object where the dispatcher kept none', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) =>
      exchange
        .start()
        .head(200, { a: '1', b: ['2', '3'] })
        .end(),
    )
    const { headers } = await dispatcher.request({ ...GET, responseHeaders: 'raw' })
    assert.deepEqual(headers, ['a', '1', 'b', '2', 'b', '3'])
  })

  it('fills the trailers object before the body ends', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request(GET)
    dispatcher.last.start().head()
    const { trailers, body } = await promise
    const hostile = JSON.parse('{"x-sum":"1","__proto__":"evil"}')
    body.on('end', () => assert.equal(trailers['x-sum'], '1'))
    body.resume()
    dispatcher.last.data('x').end(hostile)
    await turn()
    assert.equal(trailers['x-sum'], '1')
    assert.equal(Object.getPrototypeOf(trailers), Object.prototype)
    assert.equal(Object.hasOwn(trailers, '__proto__'), true)
  })

  it('takes missing trailers of another dispatcher for none', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => {
      exchange.start().head().data('x')
      exchange.handler.onResponseEnd?.(exchange.controller, null as never)
    })
    const { body, trailers } = await dispatcher.request(GET)
    assert.equal(await body.text(), 'x')
    assert.deepEqual(trailers, {})
  })

  it('calls back with (null, data), once', async () => {
    const dispatcher = new ScriptedDispatcher()
    const calls: unknown[][] = []
    dispatcher.request(GET, (...args) => calls.push(args))
    dispatcher.last.start().head(201)
    const [[error, data]] = calls as [[null, ResponseData]]
    assert.equal(calls.length, 1)
    assert.equal(error, null)
    assert.equal(data.statusCode, 201)
    dispatcher.last.end()
  })

  it('calls back with the error and opaque, never inside dispatch', async () => {
    const failure = new Error('refused')
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.error(failure))
    const calls: unknown[][] = []
    dispatcher.request({ ...GET, opaque: 'mine' }, (...args) => calls.push(args))
    assert.equal(calls.length, 0)
    await Promise.resolve()
    assert.deepEqual(calls, [[failure, { opaque: 'mine' }]])
  })

  it('destroys the body when the callback throws, and lets the error be seen', async () => {
    const dispatcher = new ScriptedDispatcher()
    const failure = new Error('in the callback')
    let body: Readable | undefined
    const uncaught = await uncaughtDuring(() => {
      dispatcher.request(GET, (_error, data) => {
        body = data.body
        throw failure
      })
      dispatcher.last.failOnAbort().start().head()
    })
    assert.deepEqual(uncaught, [failure])
    assert.equal(body?.errored, failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])
  })

  it('runs callback and onInfo in the async context of the call', async () => {
    const storage = new AsyncLocalStorage<string>()
    const dispatcher = new ScriptedDispatcher()
    const seen: unknown[] = []
    storage.run('the call', () => {
      const onInfo = (): void => void seen.push(storage.getStore())
      dispatcher.request({ ...GET, onInfo }, () => seen.push(storage.getStore()))
      dispatcher.request(GET, () => seen.push(storage.getStore()))
    })
    dispatcher.exchanges[0]?.start().head(103).head(200).end()
    dispatcher.exchanges[1]?.error(new Error('lost'))
    await turn()
    assert.deepEqual(seen, ['the call', 'the call', 'the call'])
  })

  it('rejects with what dispatch throws, and destroys a stream body', async () => {
    const failure = new Error('no dispatch')
    const dispatcher = new ScriptedDispatcher(() => {
      throw failure
    })
    const body = new Readable({ read() {} })
    const signal = new EventEmitter()
    await assert.rejects(dispatcher.request({ path: '/', method: 'PUT', body, signal }), failure)
    assert.equal(body.errored, failure)
    assert.equal(signal.listenerCount('abort'), 0)
  })

  it('ignores what a dispatcher says after the failure', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request(GET)
    dispatcher.last.start().error(new Error('lost')).head().data('x').end().error(new Error('again'))
    await assert.rejects(promise, { message: 'lost' })
  })

  it('drops data that comes before any head', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().data('x'))
    const promise = dispatcher.request(GET)
    dispatcher.last.head().data('y').end()
    assert.equal(await (await promise).body.text(), 'y')
  })
})

describe('request(): backpressure', () => {
  it('holds 64 KiB unread by default, or highWaterMark bytes', async () => {
    for (const highWaterMark of [undefined, null, 65_536, 10]) {
      const dispatcher = new ScriptedDispatcher()
      const promise = dispatcher.request({ ...GET, highWaterMark })
      const exchange = dispatcher.last.start().head()
      const { body } = await promise
      const mark = highWaterMark ?? 65_536
      exchange.data(Buffer.alloc(mark - 1))
      assert.deepEqual(exchange.log, [])
      exchange.data('x')
      assert.deepEqual(exchange.log, ['pause'])
      const text = body.text()
      await turn()
      assert.deepEqual(exchange.log, ['pause', 'resume'])
      exchange.data(Buffer.alloc(mark)).end()
      assert.equal((await text).length, 2 * mark)
      assert.deepEqual(exchange.log, ['pause', 'resume'])
    }
  })
})

describe('request(): informational responses', () => {
  it('reports each but 100 and 101', async () => {
    const seen: InfoData[] = []
    const dispatcher = new ScriptedDispatcher((exchange) =>
      exchange.start().head(100).head(101).head(102, { a: '1' }).head(103, { link: '</x>' }).head(200).end(),
    )
    const { statusCode } = await dispatcher.request({ ...GET, onInfo: (info) => seen.push(info) })
    assert.equal(statusCode, 200)
    assert.deepEqual(seen, [
      { statusCode: 102, headers: { a: '1' } },
      { statusCode: 103, headers: { link: '</x>' } },
    ])
  })

  it('gives raw headers there too, and needs no onInfo', async () => {
    const seen: InfoData<string[]>[] = []
    const script = new ScriptedDispatcher((exchange) =>
      exchange.start().head(103, { a: '1' }).head(200).end(),
    )
    await script.request({ ...GET, responseHeaders: 'raw', onInfo: (info) => seen.push(info) })
    assert.deepEqual(seen, [{ statusCode: 103, headers: ['a', '1'] }])
    assert.equal((await script.request(GET)).statusCode, 200)
  })

  it('aborts with what onInfo throws', async () => {
    const failure = new Error('in onInfo')
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request({
      ...GET,
      onInfo() {
        throw failure
      },
    })
    dispatcher.last.start().head(103).head(200).data('x')
    await assert.rejects(promise, failure)
    assert.deepEqual(dispatcher.last.aborts, [failure])
  })
})

describe('request(): signals', () => {
  it('an aborted signal: rejects at once with its reason, dispatches nothing, destroys the body', async () => {
    const dispatcher = new ScriptedDispatcher()
    const reason = { any: 'value' }
    const body = new Readable({ read() {} })
    const signal = AbortSignal.abort(reason)
    const error = await dispatcher
      .request({ path: '/', method: 'PUT', body, signal })
      .catch((e: unknown) => e)
    assert.equal(error, reason)
    assert.equal(dispatcher.exchanges.length, 0)
    assert.equal(body.destroyed, true)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('an emitter or a null reason: RequestAbortedError', async () => {
    const dispatcher = new ScriptedDispatcher()
    const ee = new EventEmitter()
    const promise = dispatcher.request({ ...GET, signal: ee })
    ee.emit('abort')
    await assert.rejects(promise, { code: 'UND_ERR_ABORTED', name: 'AbortError' })
    await assert.rejects(dispatcher.request({ ...GET, signal: AbortSignal.abort(null) }), RequestAbortedError)
  })

  it('aborted while queued: rejects at once through onRequestQueued', async () => {
    const dispatcher = new ScriptedDispatcher()
    const controller = new AbortController()
    const promise = dispatcher.request({ ...GET, signal: controller.signal })
    const given: unknown[] = []
    dispatcher.last.handler.onRequestQueued?.((reason) => {
      given.push(reason)
      dispatcher.last.handler.onResponseError?.(undefined, reason as Error)
    })
    controller.abort()
    await assert.rejects(promise, controller.signal.reason)
    assert.deepEqual(given, [controller.signal.reason])
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('aborted while queued elsewhere: rejects at once, and aborts when its turn comes', async () => {
    const dispatcher = new ScriptedDispatcher()
    const controller = new AbortController()
    const promise = dispatcher.request({ ...GET, signal: controller.signal })
    controller.abort(0)
    assert.equal(await promise.catch((e: unknown) => e), 0)
    dispatcher.last.start()
    assert.deepEqual(dispatcher.last.aborts, [0])
    const late: unknown[] = []
    dispatcher.last.handler.onRequestQueued?.((reason) => late.push(reason))
    assert.deepEqual(late, [0])
  })

  it('aborted while it waits to be sent again: the new wait is given up', async () => {
    const dispatcher = new ScriptedDispatcher()
    const ee = new EventEmitter()
    const promise = dispatcher.request({ ...GET, signal: ee })
    dispatcher.last.start()
    let given = 0
    dispatcher.last.handler.onRequestQueued?.(() => given++)
    ee.emit('abort')
    await assert.rejects(promise, RequestAbortedError)
    assert.equal(given, 1)
    assert.equal(dispatcher.last.aborts.length, 0)
  })

  it('aborted while waiting for the head: the reason wins over what the dispatcher reports', async () => {
    const dispatcher = new ScriptedDispatcher()
    const controller = new AbortController()
    const promise = dispatcher.request({ ...GET, signal: controller.signal })
    const exchange = dispatcher.last.start()
    exchange.onAbort = () => exchange.error(new Error('another'))
    controller.abort()
    assert.equal(await promise.catch((e: unknown) => e), controller.signal.reason)
    assert.deepEqual(exchange.aborts, [controller.signal.reason])
  })

  it('settles even when the controller throws', async () => {
    const dispatcher = new ScriptedDispatcher()
    const ee = new EventEmitter()
    const promise = dispatcher.request({ ...GET, signal: ee })
    const thrown = new Error('controller')
    dispatcher.last.onAbort = () => {
      throw thrown
    }
    dispatcher.last.start()
    const uncaught = await uncaughtDuring(async () => {
      ee.emit('abort')
      await assert.rejects(promise, RequestAbortedError)
    })
    assert.deepEqual(uncaught, [thrown])
  })

  it('aborted after the head: the body fails with the reason, later bytes are dropped', async () => {
    const dispatcher = new ScriptedDispatcher()
    const controller = new AbortController()
    const promise = dispatcher.request({ ...GET, signal: controller.signal })
    dispatcher.last.failOnAbort().start().head().data('some')
    const { body } = await promise
    const text = body.text()
    controller.abort()
    dispatcher.last.data('more').end()
    await assert.rejects(text, controller.signal.reason)
    assert.equal(body.errored, controller.signal.reason)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('one listener for all requests of a dispatcher, none after', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start())
    const ee = new EventEmitter()
    const pending = Array.from({ length: 50 }, () => dispatcher.request({ ...GET, signal: ee }))
    assert.equal(ee.listenerCount('abort'), 1)
    for (const exchange of dispatcher.exchanges) exchange.head().data('ok').end()
    for (const one of pending) assert.equal(await (await one).body.text(), 'ok')
    assert.equal(ee.listenerCount('abort'), 0)
  })

  it('an empty body holds no listener even when nobody reads it', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head(204).end())
    const ee = new EventEmitter()
    await dispatcher.request({ ...GET, signal: ee })
    assert.equal(ee.listenerCount('abort'), 0)
  })

  it('a complete body that is not read yet can still be aborted', async () => {
    const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().head().data('x').end())
    const ee = new EventEmitter()
    const { body } = await dispatcher.request({ ...GET, signal: ee })
    assert.equal(ee.listenerCount('abort'), 1)
    ee.emit('abort')
    await assert.rejects(body.text(), RequestAbortedError)
    assert.equal(ee.listenerCount('abort'), 0)
  })

  it('a response that is dropped unread takes its listener with it', async () => {
    const collect = garbageCollector()
    const dispatcher = new ScriptedDispatcher()
    const ee = new EventEmitter()
    await (async () => {
      const promise = dispatcher.request({ ...GET, signal: ee })
      dispatcher.exchanges.pop()?.start().head().data('unread').end()
      await promise
    })()
    assert.equal(ee.listenerCount('abort'), 1)
    for (let i = 0; i < 1000 && ee.listenerCount('abort') > 0; i++) {
      await turn()
      collect()
    }
    assert.equal(ee.listenerCount('abort'), 0)
  })
})

describe('request(): what a response keeps', () => {
  const ways: Record<string, (body: BodyReadable) => Promise<unknown>> = {
    'read as text': (body) => body.text(),
    streamed: (body) => body.toArray(),
    dumped: (body) => body.dump(),
  }
  for (const [name, read] of Object.entries(ways)) {
    it(`nothing of its request once it was ${name}`, async () => {
      const collect = garbageCollector()
      const [response, sent] = await (async () => {
        const dispatcher = new ScriptedDispatcher()
        const body = Buffer.from('sent')
        const promise = dispatcher.request({ ...GET, method: 'POST', body })
        dispatcher.exchanges.pop()?.start().head().data('received').end()
        return [await promise, new WeakRef(body)]
      })()
      await read(response.body)
      for (let i = 0; i < 1000 && sent.deref() !== undefined; i++) {
        await turn()
        collect()
      }
      assert.equal(sent.deref(), undefined)
      assert.equal(response.statusCode, 200)
    })
  }
})

describe('request(): sent again', () => {
  it('goes on with the new controller before the head', async () => {
    const dispatcher = new ScriptedDispatcher()
    const ee = new EventEmitter()
    const promise = dispatcher.request({ ...GET, signal: ee })
    dispatcher.last.start()
    const aborted: unknown[] = []
    const second = dispatcher.last.newController({ abort: (reason?: unknown) => void aborted.push(reason) })
    dispatcher.last.handler.onRequestStart?.(second, 'second')
    ee.emit('abort')
    await assert.rejects(promise, RequestAbortedError)
    assert.equal(aborted.length, 1)
    assert.equal(dispatcher.last.aborts.length, 0)
  })

  it('is refused once the head was handed out', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request(GET)
    dispatcher.last.start().head().data('half')
    const { body } = await promise
    dispatcher.last.start()
    await assert.rejects(body.text(), { code: 'UND_ERR_ABORTED', message: /started again/ })
    assert.equal(dispatcher.last.aborts.length, 1)
  })

  it('a second final head is refused', async () => {
    const dispatcher = new ScriptedDispatcher()
    const promise = dispatcher.request(GET)
    dispatcher.last.start().head().head()
    const { body } = await promise
    await assert.rejects(body.text(), { code: 'UND_ERR_ABORTED', message: /second final/ })
  })
})
