import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { type DispatchHandler, errors, interceptors } from '../../src/index.ts'
import { NO_FACTS, stateFacts } from '../../src/relay/response-facts.ts'
import { rawList } from '../../src/request/received-fields.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turn } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { deduplicating, GET } from './deduplicate-support.ts'

describe('interceptors.deduplicate: one exchange for several callers', () => {
  it('all get head, raw headers, data and trailers', async () => {
    const { exchanges, send } = deduplicating()
    const callers = [send(), send(), send()]
    assert.equal(exchanges.length, 1)
    const exchange = exchanges[0]!
    const rawHeaders = [Buffer.from('X-Raw'), Buffer.from('1')]
    const controller = exchange.newController({
      rawHeaders,
      rawTrailers: [Buffer.from('T'), Buffer.from('2')],
    })
    exchange.handler.onRequestStart?.(controller, 'context')
    exchange.handler.onRequestSent?.()
    exchange.handler.onResponseStarted?.()
    exchange.handler.onResponseStart?.(controller, 103, { link: 'x' }, '')
    exchange.handler.onResponseStart?.(controller, 201, { 'x-raw': '1' }, 'Made')
    exchange.data('one ', 'two')
    exchange.handler.onResponseEnd?.(controller, { t: '2' })
    for (const caller of callers) {
      assert.deepEqual(caller.story, [
        'onRequestStart',
        'onRequestSent',
        'onResponseStarted',
        'onResponseStart 103',
        'onResponseStart 201',
        'onResponseData',
        'onResponseEnd',
      ])
      assert.deepEqual([caller.context, caller.statusText, caller.body], ['context', 'Made', 'one two'])
      assert.deepEqual([caller.headers, caller.trailers], [{ 'x-raw': '1' }, { t: '2' }])
      assert.deepEqual(rawList(caller.controller!.rawHeaders)?.map(String), ['X-Raw', '1'])
      assert.deepEqual(rawList(caller.controller!.rawTrailers)?.map(String), ['T', '2'])
    }
  })

  it('a dispatcher without raw headers: they are made of the others', () => {
    const { exchanges, send } = deduplicating()
    const callers = [send(), send()]
    exchanges[0]!.start().head(200, { a: ['1', '2'] })
    for (const { controller } of callers) {
      assert.deepEqual(rawList(controller!.rawHeaders)?.map(String), ['a', '1', 'a', '2'])
    }
  })

  it('a caller that changes what it gets does not change it for others', async () => {
    const { exchanges, send } = deduplicating()
    const spoil: Partial<DispatchHandler> = {
      onResponseStart: (controller, _status, headers) => {
        headers['a'] = 'spoiled'
        ;(headers['set-cookie'] as string[])[0] = 'spoiled'
        rawList(controller.rawHeaders)?.[1]?.fill(0x21)
        rawList(controller.rawHeaders)?.splice(0)
      },
      onResponseData: (_controller, chunk) => void chunk.fill(0x21),
      onResponseEnd: (_controller, trailers) => {
        trailers['t'] = 'spoiled'
      },
    }
    send({}, spoil)
    const second = send()
    const exchange = exchanges[0]!
    const controller = exchange.newController({ rawHeaders: [Buffer.from('a'), Buffer.from('1')] })
    exchange.handler.onRequestStart?.(controller, null)
    const head = { a: '1', 'set-cookie': ['b', 'c'] }
    exchange.handler.onResponseStart?.(controller, 200, structuredClone(head), 'OK')
    const third = send()
    await turn()
    exchange.data('body').end({ t: '1' })
    for (const caller of [second, third]) {
      assert.deepEqual([caller.headers, caller.body, caller.trailers], [head, 'body', { t: '1' }])
      assert.deepEqual(rawList(caller.controller!.rawHeaders)?.map(String), ['a', '1'])
    }
  })

  it('a request can join until the first byte of the body', async () => {
    const { exchanges, send } = deduplicating()
    const first = send()
    exchanges[0]!.start('context')
    const started = send()
    await turn()
    assert.deepEqual(started.story, ['onRequestStart'])
    exchanges[0]!.head(200)
    const headed = send()
    assert.deepEqual(headed.story, [], 'nothing is called within dispatch()')
    await turn()
    assert.deepEqual(headed.story, ['onRequestStart', 'onResponseStart 200'])
    assert.equal(headed.context, 'context')
    const late = send()
    exchanges[0]!.data('x')
    assert.equal(exchanges.length, 1)
    send()
    assert.equal(exchanges.length, 2)
    exchanges[0]!.data('y').end()
    await turn()
    for (const caller of [first, started, headed, late]) {
      assert.equal(caller.body, 'xy')
      assert.deepEqual(caller.calls.slice(0, 2), ['onRequestStart', 'onResponseStart'])
    }
  })

  it('a request that came too late can be joined in its turn', () => {
    const { exchanges, send } = deduplicating()
    send()
    exchanges[0]!.start().head().data('x')
    send()
    send()
    assert.equal(exchanges.length, 2)
    exchanges[0]!.end()
    send()
    assert.equal(exchanges.length, 2)
    exchanges[1]!.start().head().end()
    send()
    assert.equal(exchanges.length, 3)
  })

  it('a response without a body', async () => {
    const { exchanges, send } = deduplicating({ methods: ['HEAD'] })
    const callers = [send({ method: 'HEAD' }), send({ method: 'HEAD' })]
    exchanges[0]!.start().head(204)
    callers.push(send({ method: 'HEAD' }))
    exchanges[0]!.end({ t: '1' })
    await turn()
    for (const caller of callers) {
      assert.deepEqual(caller.story, ['onRequestStart', 'onResponseStart 204', 'onResponseEnd'])
    }
  })

  it('a failure reaches each; an outer retry acts for each', async () => {
    const { exchanges, send } = deduplicating()
    const early = [send(), send()]
    const error = new errors.SocketError('lost')
    exchanges[0]!.error(error)
    for (const caller of early) assert.deepEqual(caller.errors, [error])
    exchanges.length = 0
    const halfway = [send(), send()]
    exchanges[0]!.start().head()
    halfway[1]!.controller!.pause()
    exchanges[0]!.data('x').error(error)
    for (const caller of halfway) assert.deepEqual(caller.errors, [error])
    assert.deepEqual(
      halfway.map(({ body }) => body),
      ['x', ''],
    )

    let sent = 0
    const base = new ScriptedDispatcher((exchange) => {
      if (++sent > 1) setImmediate(() => exchange.start().head().data('again').end())
    })
    const retrying = base.compose(
      interceptors.deduplicate(),
      interceptors.retry({ minTimeout: 0, jitter: 0, maxRetries: 1 }),
    )
    const callers = [new RecordingHandler(), new RecordingHandler()]
    for (const caller of callers) retrying.dispatch(GET, caller)
    base.exchanges[0]!.start().error(Object.assign(new Error('x'), { code: 'ECONNRESET' }))
    for (const caller of callers) assert.equal((await caller.settled).body, 'again')
  })

  it('a dispatcher that throws fails each', () => {
    const base = new ScriptedDispatcher(() => {
      throw new Error('no')
    })
    const handler = new RecordingHandler()
    assert.equal(base.compose(interceptors.deduplicate()).dispatch(GET, handler), true)
    assert.equal(handler.error?.message, 'no')
  })

  it('an outer retry does not resume a body that an inner interceptor has changed', () => {
    const base = new ScriptedDispatcher()
    const caller = new RecordingHandler()
    base.compose(interceptors.deduplicate(), interceptors.retry({ minTimeout: 0 })).dispatch(GET, caller)
    const exchange = base.exchanges[0]!
    stateFacts(exchange.controller, { ...NO_FACTS, isTransformed: true })
    exchange.start().head(200, { etag: '"a"', 'content-length': '4' }).data('ab')
    exchange.error(Object.assign(new Error('cut'), { code: 'ECONNRESET' }))
    assert.equal(caller.error?.message, 'cut')
  })

  it('the headersTimeout of the first is its own: the others are sent alone', () => {
    const { exchanges, send } = deduplicating()
    const [first, second] = [send(), send()]
    exchanges[0]!.start().error(new errors.HeadersTimeoutError())
    assert.equal(first.error?.message, 'Headers Timeout Error')
    exchanges[1]!.start().head().data('late').end()
    assert.deepEqual([second.errors, second.body], [[], 'late'])
  })

  it('an upgrade that was not asked for goes to the first; others are sent on their own', () => {
    const { exchanges, send } = deduplicating()
    const [first, second] = [send(), send()]
    const socket = new PassThrough()
    exchanges[0]!.start().upgrade(101, {}, socket)
    assert.equal(first.socket, socket)
    exchanges[1]!.start().head().end()
    assert.deepEqual([second.status, second.socket], [200, null])
    const late = new PassThrough()
    exchanges[0]!.upgrade(101, {}, late)
    assert.equal(late.destroyed, true)
  })
})

describe('interceptors.deduplicate: aborts', () => {
  it('a waiter that aborts fails alone', () => {
    const { exchanges, send } = deduplicating()
    const [first, waiter] = [send(), send()]
    exchanges[0]!.start()
    const reason = new Error('enough')
    waiter.controller!.abort(reason)
    assert.deepEqual([waiter.error, exchanges[0]!.aborts], [reason, []])
    exchanges[0]!.head().data('x').end()
    assert.deepEqual([first.body, waiter.story], ['x', ['onRequestStart', 'onResponseError']])
  })

  for (const at of ['start', 'head', 'body']) {
    it(`the first that aborts at the ${at} fails alone; the exchange ends with the last`, () => {
      const { exchanges, send } = deduplicating()
      const [first, waiter] = [send(), send()]
      const exchange = exchanges[0]!.failOnAbort().start()
      if (at !== 'start') exchange.head()
      if (at === 'body') exchange.data('x')
      first.controller!.abort()
      assert.equal((first.error as { code?: string }).code, 'UND_ERR_ABORTED')
      assert.deepEqual([first.controller!.aborted, exchange.aborts, waiter.errors], [true, [], []])
      const reason = new Error('enough')
      waiter.controller!.abort(reason)
      assert.deepEqual([exchange.aborts, waiter.errors, first.errors.length], [[reason], [reason], 1])
      waiter.controller!.abort(new Error('again'))
      assert.deepEqual([exchange.aborts.length, waiter.errors.length], [1, 1])
      send()
      assert.equal(exchanges.length, 2, 'an aborted exchange is not joined')
    })
  }

  it('in a queue: the abort of one, and of all', () => {
    const { dispatcher, exchanges } = deduplicating()
    const aborts: ((reason?: unknown) => void)[] = []
    const queue = (): RecordingHandler => {
      const handler = new RecordingHandler() as RecordingHandler & DispatchHandler
      handler.onRequestQueued = (abort) => void aborts.push(abort)
      dispatcher.dispatch(GET, handler)
      return handler
    }
    const first = queue()
    const upstream: unknown[] = []
    exchanges[0]!.handler.onRequestQueued?.((reason) => void upstream.push(reason))
    const waiter = queue()
    assert.equal(aborts.length, 2)
    const reason = new Error('enough')
    aborts[0]!(reason)
    assert.deepEqual([first.errors, first.lastController, waiter.errors, upstream], [[reason], null, [], []])
    aborts[1]!(reason)
    assert.deepEqual([waiter.errors, upstream], [[reason], [reason]])
    // A dispatcher that goes on nevertheless.
    exchanges[0]!.handler.onRequestQueued?.((late) => void upstream.push(late))
    exchanges[0]!.start()
    assert.deepEqual([upstream.length, exchanges[0]!.aborts], [2, [reason]])
    exchanges[0]!.head().data('x').end()
    assert.deepEqual(waiter.story, ['onResponseError'])
  })

  it('a paused caller can abort after the exchange has ended', () => {
    const { exchanges, send } = deduplicating()
    const [first, slow] = [send(), send()]
    exchanges[0]!.start().head()
    slow.controller!.pause()
    exchanges[0]!.data('x').end()
    assert.equal(first.body, 'x')
    slow.controller!.abort()
    slow.controller!.resume()
    assert.deepEqual(slow.story.slice(-2), ['onResponseStart 200', 'onResponseError'])
    assert.deepEqual(exchanges[0]!.aborts, [])
  })
})

describe('interceptors.deduplicate: callers of different speed', () => {
  it('the server is paused when all callers are', () => {
    const { exchanges, send } = deduplicating()
    const [one, two] = [send(), send()]
    const { log } = exchanges[0]!.start().head()
    one.controller!.pause()
    assert.deepEqual([log, one.controller!.paused, two.controller!.paused], [[], true, false])
    two.controller!.pause()
    assert.deepEqual(log, ['pause'])
    two.controller!.resume()
    assert.deepEqual(log, ['pause', 'resume'])
    exchanges[0]!.data('x')
    assert.deepEqual([one.body, two.body], ['', 'x'])
    two.controller!.pause()
    one.controller!.resume()
    assert.deepEqual([one.body, log], ['x', ['pause', 'resume', 'pause', 'resume']])
    one.controller!.pause()
    one.controller!.abort()
    two.controller!.resume()
    exchanges[0]!.data('y').end()
    assert.deepEqual([one.body, two.body, log.length], ['x', 'xy', 6])
  })

  it('one caller alone: pause and resume reach the server, also from before it started', () => {
    const { exchanges, send } = deduplicating()
    const caller = send({}, { onRequestStart: (controller) => controller.pause() })
    const { log } = exchanges[0]!.start()
    assert.deepEqual(log, ['pause'])
    caller.controller!.resume()
    exchanges[0]!.head().data('x')
    caller.controller!.pause()
    assert.deepEqual([log, caller.body], [['pause', 'resume', 'pause'], 'x'])
  })

  it('a request that joins lets a paused server go on', async () => {
    const { exchanges, send } = deduplicating()
    const first = send()
    const { log } = exchanges[0]!.start().head()
    first.controller!.pause()
    send()
    await turn()
    assert.deepEqual(log, ['pause', 'resume'])
  })

  for (const slow of ['first', 'waiter']) {
    it(`the ${slow} that pauses is kept up to maxBufferSize, and then fails alone`, () => {
      const { exchanges, send } = deduplicating({ maxBufferSize: 100_000 })
      const [first, waiter] = [send(), send()]
      const [lazy, eager] = slow === 'first' ? [first, waiter] : [waiter, first]
      const exchange = exchanges[0]!.start().head()
      lazy.controller!.pause()
      for (let i = 0; i < 10; i++) exchange.data('x'.repeat(10_000))
      lazy.controller!.resume()
      assert.equal(lazy.body.length, 100_000)
      lazy.controller!.pause()
      for (let i = 0; i < 10; i++) exchange.data('x'.repeat(10_000))
      assert.equal(lazy.errors.length, 0)
      exchange.data('x')
      assert.equal(
        lazy.error?.message,
        'Deduplicated waiting handler exceeded maxBufferSize (100000 bytes) while paused',
      )
      assert.ok(lazy.error instanceof errors.RequestAbortedError)
      exchange.data('end').end({ t: '1' })
      assert.equal(eager.body.length, 200_004)
      assert.deepEqual([eager.trailers, eager.errors, exchange.aborts], [{ t: '1' }, [], []])
      lazy.controller!.resume()
      assert.deepEqual([lazy.errors.length, lazy.body.length], [1, 100_000])
    })
  }

  it('maxBufferSize is 5 MiB by default', () => {
    const { exchanges, send } = deduplicating()
    const [lazy] = [send(), send()]
    const exchange = exchanges[0]!.start().head()
    lazy.controller!.pause()
    exchange.data(Buffer.alloc(5_242_880))
    assert.equal(lazy.errors.length, 0)
    exchange.data('x')
    assert.match(lazy.error!.message, /exceeded maxBufferSize \(5242880 bytes\)/)
  })

  it('single bytes take no more memory than their number', () => {
    const { exchanges, send } = deduplicating()
    const [lazy] = [send(), send()]
    const exchange = exchanges[0]!.start().head()
    lazy.controller!.pause()
    const byte = Buffer.from('x')
    for (let i = 0; i < 20_000; i++) exchange.handler.onResponseData?.(exchange.controller, byte)
    lazy.controller!.resume()
    assert.equal(lazy.body.length, 20_000)
    assert.ok(lazy.chunks.length < 5)
  })

  it('a caller that pauses within its callback gets the rest when it resumes', () => {
    const { exchanges, send } = deduplicating()
    const step = send({}, { onResponseData: (controller) => controller.pause() })
    const whole = send()
    exchanges[0]!.start().head().data('a').data('b').end({ t: '1' })
    assert.deepEqual([whole.body, whole.trailers, step.body], ['ab', { t: '1' }, 'a'])
    step.controller!.resume()
    assert.deepEqual([step.body, step.trailers], ['ab', null])
    step.controller!.resume()
    assert.deepEqual([step.trailers, step.calls.at(-1)], [{ t: '1' }, 'onResponseEnd'])
  })
})

describe('interceptors.deduplicate: handlers that throw', () => {
  const thrown = new Error('thrown')
  const fail = (): never => {
    throw thrown
  }
  const methods = [
    'onRequestStart',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
    'onResponseEnd',
  ] as const
  for (const method of methods) {
    for (const turnOf of [0, 1, 2]) {
      it(`${method} of caller ${turnOf + 1} fails that caller alone`, async () => {
        const { exchanges, send } = deduplicating()
        const callers = [0, 1, 2].map((i) => send({}, i === turnOf ? { [method]: fail } : {}))
        const exchange = exchanges[0]!.failOnAbort().start()
        exchange.handler.onRequestSent?.()
        exchange.handler.onResponseStarted?.()
        exchange.head().data('x').end()
        await turn()
        for (const [i, caller] of callers.entries()) {
          assert.deepEqual(caller.errors, i === turnOf ? [thrown] : [])
          if (i !== turnOf) assert.equal(caller.body, 'x')
        }
        assert.deepEqual(exchange.aborts, [])
      })
    }
    it(`${method} of the only caller fails it`, () => {
      const { exchanges, send } = deduplicating()
      const caller = send({}, { [method]: fail })
      const exchange = exchanges[0]!.failOnAbort().start()
      exchange.handler.onRequestSent?.()
      exchange.handler.onResponseStarted?.()
      exchange.head().data('x').end()
      assert.deepEqual(caller.errors, [thrown])
      assert.deepEqual(exchange.aborts, method === 'onResponseEnd' ? [] : [thrown])
    })
  }

  it('onResponseError: the others get theirs, and the dispatcher what was thrown', () => {
    const { exchanges, send } = deduplicating()
    const callers = [send({}, { onResponseError: fail }), send(), send({}, { onResponseError: fail })]
    const error = new Error('lost')
    assert.throws(() => exchanges[0]!.start().error(error), thrown)
    for (const caller of callers) assert.deepEqual(caller.errors, [error])
  })

  it('nothing reaches the process', async () => {
    const { exchanges, send } = deduplicating({ maxBufferSize: 1 })
    const seen = await uncaughtDuring(() => {
      const hooks = { onResponseStart: fail, onResponseError: fail }
      const slow = send({}, { onResponseStart: (controller) => controller.pause(), onResponseError: fail })
      const other = send()
      exchanges[0]!.start().head()
      send({}, hooks)
      return turn().then(() => {
        exchanges[0]!.data('xx').end()
        assert.deepEqual([slow.errors.length, other.body], [1, 'xx'])
      })
    })
    assert.deepEqual(seen, [])
  })
})
