import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import type { DispatchController, DispatchHandler } from '../../src/index.ts'
import { interceptors, type RetryOptions } from '../../src/index.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { errors, failed, GET, POST, REFUSED, RESET, retrying } from './retry-support.ts'

const holding: RetryOptions = { throwOnError: false }

describe('interceptors.retry: one request over several attempts', () => {
  it('the handler gets every hook of each attempt until a head was passed on', async (t) => {
    const { base, clock, send } = retrying(t)
    const handler = send()
    base.last.start('context').handler.onRequestSent?.()
    base.last.error(RESET())
    await clock.advance(500)
    const { last } = base
    last.start('context').handler.onRequestSent?.()
    last.handler.onResponseStarted?.()
    last.head(103).head(200, { a: 'b' }, 'Fine').data('x').end({ t: '1' })
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onRequestSent',
      'onRequestStart',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 103',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual([handler.context, handler.statusText, handler.trailers], ['context', 'Fine', { t: '1' }])
    assert.equal(new Set(handler.controllers).size, 1)
  })

  it('has the optional hooks only if the handler has them', (t) => {
    const { base, dispatcher } = retrying(t)
    dispatcher.dispatch(GET, { onRequestStart() {} })
    assert.equal(base.last.handler.onRequestQueued, undefined)
    assert.equal(typeof base.last.handler.onBodySent, 'undefined')
    const chunks: unknown[] = []
    dispatcher.dispatch(GET, { onRequestStart() {}, onBodySent: (chunk) => void chunks.push(chunk) })
    base.last.handler.onBodySent?.('x')
    assert.deepEqual(chunks, ['x'])
  })

  it('one controller: it shows the attempt that runs, and a pause outlives it', async (t) => {
    const { base, clock, send } = retrying(t)
    const handler = send()
    base.last.start()
    const controller = handler.controller!
    assert.deepEqual([controller.paused, controller.aborted, controller.reason], [false, false, null])
    controller.pause()
    assert.deepEqual(base.last.log, ['pause'])
    base.last.head(200, { etag: '"a"', 'content-length': '2' }).data('a').error(RESET())
    await clock.advance(500)
    base.last.start().head(206, { etag: '"a"', 'content-range': 'bytes 1-1/2' })
    assert.deepEqual(base.last.log, ['pause'])
    controller.resume()
    controller.resume()
    assert.deepEqual(base.last.log, ['pause', 'resume'])
    base.last.data('b').end()
    assert.equal(handler.body, 'ab')
    controller.pause()
    controller.abort(new Error('late'))
    assert.equal(controller.aborted, false)
  })

  it('raw fields and timings are those of the attempt whose head was passed on', async (t) => {
    const { base, clock, send } = retrying(t)
    const handler = send()
    const raw = (text: string): Partial<DispatchController> =>
      ({
        rawHeaders: [Buffer.from(text)],
        rawTrailers: [Buffer.from(text)],
        timings: { queued: text.length },
        maxResponseSize: 9,
      }) as never
    const first = base.last.newController(raw('first'))
    const { handler: inner } = base.last
    inner.onRequestStart?.(first, null)
    inner.onResponseStart?.(first, 200, { etag: '"a"', 'content-length': '1' }, '')
    inner.onResponseError?.(first, RESET())
    await clock.advance(500)
    const second = base.last.newController(raw('second'))
    base.last.handler.onRequestStart?.(second, null)
    const range = { etag: '"a"', 'content-range': 'bytes 0-0/1' }
    base.last.handler.onResponseStart?.(second, 206, range, '')
    base.last.handler.onResponseData?.(second, Buffer.from('a'))
    base.last.handler.onResponseEnd?.(second, {})
    const controller = handler.controller!
    assert.equal(rawList(controller.rawHeaders)?.join(), 'first')
    assert.equal(rawList(controller.rawTrailers)?.join(), 'second')
    assert.equal(controller.timings?.queued, 5)
    assert.equal(controller.maxResponseSize, 9)
    controller.rawHeaders = null
    controller.rawTrailers = null
    assert.deepEqual([first.rawHeaders, second.rawTrailers], [null, null])
  })

  it('abort reaches the attempt that runs', async (t) => {
    const { base, clock, send } = retrying(t)
    const handler = send()
    base.last.start().error(RESET())
    await clock.advance(500)
    base.last.failOnAbort().start()
    const reason = new Error('enough')
    handler.controller!.abort(reason)
    handler.controller!.abort(new Error('again'))
    assert.deepEqual(base.last.aborts, [reason])
    assert.equal(handler.error, reason)
    assert.equal(handler.controller!.reason, reason)
    assert.equal('attempts' in reason, false)
  })

  it('abort in the wait settles at once, with the reason of the caller', (t) => {
    const { base, send, delays } = retrying(t)
    const handler = send()
    base.last.start().error(RESET())
    const reason = failed('MINE')
    handler.controller!.abort(reason)
    assert.equal(handler.error, reason)
    assert.equal('attempts' in reason, false)
    assert.deepEqual(delays(), [])
  })

  it('abort before the first attempt has started, and while a later one waits in a queue', async (t) => {
    for (const announces of [true, false]) {
      const { base, clock, dispatcher } = retrying(t)
      let abort: (reason?: unknown) => void = () => {}
      const handler = new RecordingHandler() as RecordingHandler & DispatchHandler
      handler.onRequestQueued = (given) => {
        abort = given
      }
      dispatcher.dispatch(GET, handler)
      const queue = (): unknown[] => {
        const aborts: unknown[] = []
        const { last } = base
        last.handler.onRequestQueued?.((reason) => {
          aborts.push(reason)
          last.handler.onResponseError?.(undefined, reason as Error)
        })
        return aborts
      }
      if (announces) queue()
      // The dispatcher knows no queue, or the attempt fails before it starts.
      base.last.error(REFUSED())
      await clock.advance(500)
      const aborts = queue()
      const reason = new Error('enough')
      abort(reason)
      assert.deepEqual(aborts, [reason])
      assert.equal(handler.error, reason)
      assert.equal(handler.lastController, null)
    }
  })

  it('an abort that no attempt knows of yet settles, and ends the attempt when it starts', (t) => {
    const { base, dispatcher } = retrying(t)
    let abort: (reason?: unknown) => void = () => {}
    const handler = new RecordingHandler() as RecordingHandler & DispatchHandler
    handler.onRequestQueued = (given) => {
      abort = given
    }
    dispatcher.dispatch(GET, handler)
    base.last.error(REFUSED())
    abort()
    assert.equal((handler.error as { code?: string }).code, 'UND_ERR_ABORTED')
    base.last.start()
    assert.equal(base.last.aborts.length, 1)
    base.last.error(RESET())
    assert.equal(handler.errors.length, 1)
  })

  it('what the dispatcher throws at a later attempt, or the handler in the wait, is contained', async (t) => {
    const { clock } = retrying(t)
    let fails = false
    const throwing = new ScriptedDispatcher(() => {
      if (fails) throw new Error('no')
    }).compose(interceptors.retry({ jitter: 0 }))
    const handler = new RecordingHandler({
      onResponseError: () => {
        throw new Error('in the handler')
      },
    })
    throwing.dispatch(GET, handler)
    const exchanges = (throwing as ScriptedDispatcher).exchanges
    exchanges[0]!.start().error(RESET())
    fails = true
    await clock.advance(500)
    assert.equal(handler.error?.message, 'no')
    assert.equal(handler.errors.length, 1)
  })

  it('an exception in onResponseEnd reaches onResponseError', (t) => {
    const { base, dispatcher } = retrying(t)
    const thrown = new Error('at the end')
    const handler = new RecordingHandler({
      onResponseEnd: () => {
        throw thrown
      },
    })
    dispatcher.dispatch(GET, handler)
    base.last.start().head(200).end()
    assert.equal(handler.error, thrown)
  })

  it('an upgrade is passed on, with the controller of the request', (t) => {
    const { base, send } = retrying(t)
    const handler = send({ upgrade: 'x' })
    const socket = new Readable() as never
    base.last.start().upgrade(101, { a: 'b' }, socket)
    assert.deepEqual([handler.status, handler.socket, handler.headers], [101, socket, { a: 'b' }])
  })

  it('options that the caller changes later are sent as they were', async (t) => {
    const { base, clock, dispatcher } = retrying(t)
    const options = { ...GET, path: '/one' }
    dispatcher.dispatch(options, new RecordingHandler())
    options.path = '/two'
    base.last.start().error(RESET())
    await clock.advance(500)
    assert.equal(base.last.opts.path, '/one')
  })

  it('headers that can be read only once are the same in every attempt', async (t) => {
    const { base, clock, send } = retrying(t)
    send({ headers: new Map([['authorization', 'x']]).entries() })
    const first = base.last.opts.headers
    assert.deepEqual([...(first as Iterable<unknown>)], ['authorization', 'x'])
    base.last.start().error(RESET())
    await clock.advance(500)
    assert.equal(base.last.opts.headers, first)
  })
})

describe('interceptors.retry: bad statuses', () => {
  it('throwOnError: the response is withheld, and the last one is an error', async (t) => {
    const { base, clock, send } = retrying(t, { maxRetries: 1 })
    const handler = send()
    base.last.start().head(503, { a: 'b' }).data('x').end()
    await clock.advance(500)
    base.last.start().head(429, { 'retry-after': '2' }).data('x').end()
    assert.deepEqual(handler.story, ['onRequestStart', 'onRequestStart', 'onResponseError'])
    const error = handler.error as errors.RequestRetryError
    assert.ok(error instanceof errors.RequestRetryError)
    assert.equal(error.message, 'Request failed')
    assert.equal(error.statusCode, 429)
    assert.deepEqual(error.headers, { 'retry-after': '2' })
    assert.deepEqual(error.data, { count: 2 })
    assert.equal(error.retryAfter, 2000)
  })

  it('a method that is never retried gets the response', (t) => {
    const { base, send } = retrying(t)
    const handler = send(POST)
    base.last.start().head(503).data('sorry').end()
    assert.deepEqual([handler.status, handler.body], [503, 'sorry'])
  })

  it('a request with a spent body gets the response', (t) => {
    const { base, send } = retrying(t)
    function* body(): Generator<string> {
      yield 'x'
    }
    const handler = send({ method: 'PUT', body: body() })
    base.last.start().head(503).data('sorry').end()
    assert.deepEqual([handler.status, handler.body], [503, 'sorry'])
  })

  it('throwOnError: false delivers the last response whole', async (t) => {
    const { base, clock, send } = retrying(t, { ...holding, maxRetries: 1 })
    const handler = send()
    base.last.start().head(503).data('first').end()
    await clock.advance(500)
    base.last.start().head(503, {}, 'Busy').data('second').end({ t: '1' })
    assert.deepEqual([handler.status, handler.statusText, handler.body], [503, 'Busy', 'second'])
    assert.deepEqual(handler.trailers, { t: '1' })
  })

  it('holds no connection during a wait: the body is read, up to 64 KiB and one second', async (t) => {
    const { base, clock, send, delays } = retrying(t)
    send()
    base.last.start().head(503).data(Buffer.alloc(65_536))
    assert.deepEqual(base.last.aborts, [])
    base.last.failOnAbort().data('x')
    assert.equal(base.last.aborts.length, 1)
    assert.deepEqual(delays(), [500])
    clock.active.clear()

    send()
    base.last.failOnAbort().start().head(503, { 'content-length': '65537' })
    assert.equal(base.last.aborts.length, 1)
    clock.active.clear()

    send({ method: 'HEAD' })
    base.last.failOnAbort().start().head(503, { 'content-length': '65537' })
    assert.equal(base.last.aborts.length, 0)
    clock.active.clear()

    send()
    base.last.failOnAbort().start().head(503)
    await clock.advance(999)
    assert.equal(base.last.aborts.length, 0)
    await clock.advance(1)
    assert.equal(base.last.aborts.length, 1)
    assert.deepEqual(delays(), [500])
  })

  it('a body that fails while it is thrown away changes nothing', async (t) => {
    const { base, clock, send } = retrying(t)
    const handler = send()
    base.last.start().head(503).error(new errors.BodyTimeoutError())
    await clock.advance(500)
    base.last.start().head(200).end()
    assert.equal(handler.status, 200)
  })

  it('an abort while the body is thrown away settles at once', (t) => {
    const { base, send, delays } = retrying(t)
    const handler = send()
    base.last.start().head(503).data('x')
    handler.controller!.abort(new Error('enough'))
    assert.equal(handler.error?.message, 'enough')
    assert.equal(base.last.aborts.length, 1)
    base.last.end()
    assert.equal(handler.errors.length, 1)
    assert.deepEqual(delays(), [])
  })
})

describe('interceptors.retry: a policy decides about a response', () => {
  function asking(t: Parameters<typeof retrying>[0]) {
    const answers: ((error?: Error | null) => void)[] = []
    const all = retrying(t, { ...holding, retry: (_e, _c, callback) => void answers.push(callback) })
    return { ...all, answer: (error: Error | null) => answers.shift()!(error) }
  }

  it('gives up: the response is delivered whole', (t) => {
    const { base, send, answer } = asking(t)
    const handler = send(POST)
    base.last.start().head(503, { a: 'b' }, 'Busy')
    assert.deepEqual(base.last.log, ['pause'])
    assert.equal(handler.status, undefined)
    answer(new Error('no more'))
    assert.deepEqual(base.last.log, ['pause', 'resume'])
    base.last.data('sorry').end({ t: '1' })
    assert.deepEqual([handler.status, handler.statusText, handler.body], [503, 'Busy', 'sorry'])
    assert.deepEqual(handler.trailers, { t: '1' })
  })

  it('gives up on a response that has arrived meanwhile', (t) => {
    const { base, send, answer } = asking(t)
    const handler = send()
    base.last.start().head(503).data('sor', 'ry').end({ t: '1' })
    answer(new Error('no more'))
    assert.deepEqual([handler.body, handler.trailers], ['sorry', { t: '1' }])
    assert.deepEqual(base.last.log, ['pause'])
  })

  it('gives up on a response that has failed meanwhile', (t) => {
    const { base, send, answer } = asking(t)
    const handler = send()
    const lost = RESET()
    base.last.start().head(503).error(lost)
    answer(new Error('no more'))
    assert.deepEqual(handler.errors, [lost])
  })

  it('sends again, when the body was read or has ended', async (t) => {
    const { base, send, answer } = asking(t)
    const handler = send()
    base.last.start().head(503)
    answer(null)
    assert.deepEqual(base.last.log, ['pause', 'resume'])
    assert.equal(base.exchanges.length, 1)
    base.last.data('x').end()
    assert.equal(base.exchanges.length, 2)
    base.last.start().head(503).end()
    answer(null)
    assert.equal(base.exchanges.length, 3)
    base.last.start().head(200).end()
    assert.equal(handler.status, 200)
    await turns(1)
  })

  it('a handler that pauses, aborts or throws at the head is obeyed', (t) => {
    const { base, dispatcher, answer } = asking(t)
    const pausing = new RecordingHandler({ onResponseStart: (controller) => controller.pause() })
    dispatcher.dispatch(GET, pausing)
    base.last.start().head(503)
    answer(new Error('no more'))
    assert.deepEqual(base.last.log, ['pause'])

    const aborting = new RecordingHandler({
      onResponseStart: (controller) => controller.abort(new Error('enough')),
    })
    dispatcher.dispatch(GET, aborting)
    base.last.failOnAbort().start().head(503).data('x').end()
    answer(new Error('no more'))
    assert.deepEqual([aborting.error?.message, aborting.chunks.length], ['enough', 0])

    const throwing = new RecordingHandler({
      onResponseStart: () => {
        throw new Error('in the head')
      },
    })
    dispatcher.dispatch(GET, throwing)
    base.last.failOnAbort().start().head(503)
    answer(new Error('no more'))
    assert.equal(throwing.error?.message, 'in the head')
    assert.equal(throwing.errors.length, 1)
    assert.equal(base.last.aborts.length, 1)
  })

  it('an abort meanwhile settles at once', (t) => {
    const { base, send, answer } = asking(t)
    const handler = send()
    base.last.start().head(503)
    handler.controller!.abort(new Error('enough'))
    assert.equal(handler.error?.message, 'enough')
    assert.equal(base.last.aborts.length, 1)
    answer(null)
    assert.equal(base.exchanges.length, 1)
  })
})

describe('interceptors.retry: request bodies', () => {
  const again = async (t: Parameters<typeof retrying>[0], body: unknown, error = RESET) => {
    const { base, clock, send } = retrying(t)
    const handler = send({ method: 'PUT', body: body as never })
    base.last.start().error(error())
    await clock.advance(500)
    return { sent: base.exchanges.length, body: base.last.opts.body, handler }
  }

  it('those that begin anew each time are sent again', async (t) => {
    const form = new FormData()
    form.set('a', 'b')
    const iterable = { async *[Symbol.asyncIterator]() {} }
    for (const body of [
      'x',
      Buffer.from('x'),
      new DataView(new ArrayBuffer(1)),
      new Blob(['x']),
      form,
      ['x'],
      iterable,
    ]) {
      const result = await again(t, body)
      assert.equal(result.sent, 2)
      assert.equal(result.body, body)
    }
    // The dispatcher says that they are spent.
    for (const body of [['x'], iterable]) {
      assert.equal((await again(t, body, () => failed('ECONNRESET', 'no'))).sent, 2)
    }
  })

  it('those that are spent are not', async (t) => {
    async function* generate(): AsyncGenerator<string> {
      yield 'x'
    }
    const destroyed = Readable.from(['x'])
    destroyed.on('error', () => {})
    destroyed.destroy()
    const read = Readable.from(['x'])
    for await (const _ of read);
    const locked = new ReadableStream()
    locked.getReader()
    const used = new ReadableStream({ start: (controller) => controller.close() })
    for await (const _ of used as unknown as AsyncIterable<unknown>);
    const iterator = { next: () => ({ done: true }), [Symbol.iterator]: () => iterator }
    for (const body of [
      generate(),
      Readable.from(['x']),
      destroyed,
      read,
      new ReadableStream(),
      locked,
      used,
      iterator,
    ]) {
      const { sent, handler } = await again(t, body)
      assert.equal(sent, 1)
      assert.equal(handler.errors.length, 1)
    }
    for (const body of [destroyed, read, locked, used]) assert.equal((await again(t, body, REFUSED)).sent, 1)
  })

  it('one that no attempt has read is sent, if the dispatcher knows that', async (t) => {
    async function* generate(): AsyncGenerator<string> {
      yield 'x'
    }
    for (const body of [generate(), new ReadableStream()]) {
      const result = await again(t, body, REFUSED)
      assert.equal(result.sent, 2)
      assert.equal(result.body, body)
    }
  })

  for (const [who, options] of [
    ['a timer', {}],
    ['the policy of the caller', { retry: () => null }],
  ] as const) {
    it(`one that fails while the next attempt waits for ${who} fails the request, not the process`, async (t) => {
      const { base, send, delays } = retrying(t, options)
      const body = new PassThrough()
      const handler = send({ ...POST, body })
      base.last.error(REFUSED())
      assert.equal(body.destroyed, false)
      const error = new Error('the file is gone')
      assert.deepEqual(await uncaughtDuring(() => body.destroy(error)), [])
      assert.deepEqual([handler.errors, delays(), base.exchanges.length], [[error], [], 1])
    })
  }

  it('one that waited is left to the next attempt, and destroyed if there is none', async (t) => {
    const { base, clock, dispatcher, send } = retrying(t, { maxRetries: 1 })
    const body = new PassThrough()
    send({ ...POST, body })
    base.last.error(REFUSED())
    assert.equal(body.listenerCount('error'), 1)
    await clock.advance(500)
    assert.deepEqual([base.last.opts.body, body.listenerCount('error')], [body, 0])
    const last = REFUSED()
    assert.deepEqual(await uncaughtDuring(() => base.last.error(last)), [])
    assert.deepEqual([body.destroyed, body.errored], [true, last])

    const given = new PassThrough()
    let abort: (reason?: unknown) => void = () => assert.fail('no way to abort')
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (way: (reason?: unknown) => void) => {
        abort = way
      },
    })
    dispatcher.dispatch({ ...POST, body: given }, handler)
    base.last.error(REFUSED())
    assert.deepEqual(await uncaughtDuring(() => abort()), [])
    assert.deepEqual([handler.error?.name, given.destroyed], ['AbortError', true])
  })

  it('a function makes one for each attempt', async (t) => {
    let made = 0
    const { base, clock, send } = retrying(t)
    send({ method: 'PUT', body: () => `body ${++made}` })
    assert.equal(base.last.opts.body, 'body 1')
    base.last.start().error(failed('ECONNRESET', 'no'))
    await clock.advance(500)
    assert.equal(base.last.opts.body, 'body 2')
  })

  it('a function that rejects does not end the process', async (t) => {
    const { base, send } = retrying(t)
    send({ method: 'PUT', body: (() => Promise.reject(new Error('no body'))) as never })
    assert.ok(base.last.opts.body instanceof Promise, 'for the dispatcher to refuse')
    await turns(1)
  })

  it('a function that throws fails the request', async (t) => {
    let made = 0
    const { base, clock, dispatcher } = retrying(t)
    const body = (): string => {
      if (made++ > 0) throw new Error('no body')
      return 'x'
    }
    const handler = new RecordingHandler()
    dispatcher.dispatch({ ...GET, method: 'PUT', body }, handler)
    base.last.start().error(RESET())
    await clock.advance(500)
    assert.equal(handler.error?.message, 'no body')
    const request = dispatcher.request({ ...GET, method: 'PUT', body })
    await assert.rejects(request, { message: 'no body' })
  })
})
