import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it, type TestContext, test } from 'node:test'
import { type CircuitBreakerOptions, type Dispatcher, errors, interceptors } from '../../src/index.ts'
import { type Exchange, ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const
const OPTIONS: CircuitBreakerOptions = { minRequests: 4, halfOpenAfter: 1000 }

interface Setting {
  readonly base: ScriptedDispatcher
  readonly dispatcher: Dispatcher
  /** Sets the clock forward. */
  pass(milliseconds: number): void
  send(origin?: string): RecordingHandler
  /** Sends a request and answers it. */
  answer(statusCode: number, origin?: string): RecordingHandler
}

function setting(t: TestContext, options: CircuitBreakerOptions = OPTIONS): Setting {
  let at = 50_000
  t.mock.method(performance, 'now', () => at)
  const base = new ScriptedDispatcher()
  const dispatcher = base.compose(interceptors.circuitBreaker(options))
  const send = (origin: string = GET.origin): RecordingHandler => {
    const handler = new RecordingHandler()
    assert.equal(dispatcher.dispatch({ ...GET, origin }, handler), true)
    return handler
  }
  return {
    base,
    dispatcher,
    send,
    pass: (milliseconds) => {
      at += milliseconds
    },
    answer: (statusCode, origin) => {
      const handler = send(origin)
      base.last.start().head(statusCode).end()
      return handler
    },
  }
}

function isRefused(handler: RecordingHandler): boolean {
  return handler.error instanceof errors.CircuitOpenError
}

function open({ answer }: Setting): void {
  for (let i = 0; i < 4; i++) answer(500)
}

describe('interceptors.circuitBreaker', () => {
  it('fails requests at once when most have failed, with an error that is safe to retry', (t) => {
    const all = setting(t)
    open(all)
    const before = all.base.exchanges.length
    all.pass(400)
    const { error, story, lastController } = all.send()
    assert.ok(error instanceof errors.CircuitOpenError)
    assert.ok(error instanceof errors.UndiciError)
    assert.equal(error.message, 'Circuit is open')
    assert.equal(error.name, 'CircuitOpenError')
    assert.equal(error.code, 'UND_ERR_CIRCUIT_OPEN')
    assert.equal(error.retrySafety, 'safe')
    assert.equal(error.retryAfter, 600)
    assert.equal(error.origin, 'http://a.test')
    assert.equal(lastController, null)
    assert.deepEqual(story, ['onResponseError'])
    assert.equal(all.base.exchanges.length, before)
  })

  it('destroys the body of a request that it fails', async (t) => {
    const all = setting(t)
    open(all)
    const body = new PassThrough()
    const handler = new RecordingHandler()
    const uncaught = await uncaughtDuring(() =>
      all.dispatcher.dispatch({ ...GET, method: 'POST', body }, handler),
    )
    assert.deepEqual(
      [isRefused(handler), body.destroyed, body.errored, uncaught],
      [true, true, handler.error, []],
    )
  })

  it('all spellings of an origin have one circuit', (t) => {
    const all = setting(t)
    for (const origin of ['http://a.test', 'http://a.test/', 'HTTP://a.test', 'http://A.TEST:80']) {
      all.answer(500, origin)
    }
    const handler = all.send('http://a.test:80/')
    assert.equal(isRefused(handler), true)
    assert.equal((handler.error as unknown as { origin: string }).origin, 'http://a.test')
    assert.equal(isRefused(all.answer(200, 'http://a.test:8080')), false)
    assert.equal(isRefused(all.answer(200, 'https://a.test')), false)
  })

  it('each origin has its own circuit', (t) => {
    const all = setting(t)
    open(all)
    assert.equal(isRefused(all.send()), true)
    assert.equal(isRefused(all.answer(200, 'http://b.test')), false)
    const url = new RecordingHandler()
    all.dispatcher.dispatch({ ...GET, origin: new URL('http://a.test') }, url)
    assert.equal(isRefused(url), true)
  })

  it('stays closed below the number of requests and below the share', (t) => {
    const all = setting(t, { minRequests: 5, threshold: 0.5 })
    for (let i = 0; i < 4; i++) all.answer(503)
    for (let i = 0; i < 5; i++) all.answer(200)
    assert.equal(isRefused(all.answer(503)), false)
    assert.equal(isRefused(all.send()), true)
  })

  it('by default half of twenty requests within ten seconds open it, for five', (t) => {
    const all = setting(t, {})
    for (let i = 0; i < 10; i++) all.answer(200)
    for (let i = 0; i < 10; i++) assert.equal(isRefused(all.answer(500)), false)
    assert.equal((all.send().error as errors.CircuitOpenError).retryAfter, 5000)
    for (const [milliseconds, opens] of [
      [9999, true],
      [10_000, false],
    ] as const) {
      all.pass(5000)
      all.answer(200)
      for (let i = 0; i < 19; i++) all.answer(500)
      all.pass(milliseconds)
      all.answer(500)
      assert.equal(isRefused(all.send()), opens)
    }
  })

  it('forgets what is older than the window', (t) => {
    const all = setting(t, { minRequests: 4, window: 1000 })
    for (let i = 0; i < 3; i++) all.answer(500)
    all.pass(1100)
    for (let i = 0; i < 3; i++) all.answer(500)
    assert.equal(isRefused(all.answer(500)), false)
    assert.equal(isRefused(all.send()), true)
  })

  it('counts errors of the server and of the way to it, and no others', (t) => {
    const all = setting(t)
    const fail = (error: Error, begin = (exchange: Exchange): unknown => exchange.start()): void => {
      all.send()
      begin(all.base.last)
      all.base.last.error(error)
    }
    for (let i = 0; i < 20; i++) {
      fail(new Error('an error of the caller'))
      fail(new errors.InvalidArgumentError('x'))
      fail(new errors.ClientDestroyedError())
      fail(new errors.ThrottledError())
      fail(new DOMException('x', 'AbortError'))
      fail('a string' as unknown as Error)
      fail(new errors.SocketError('aborted'), ({ handler, newController }) =>
        handler.onRequestStart?.(newController(), null),
      )
      all.base.last.handler.onResponseError?.(
        all.base.last.newController({ aborted: true }),
        new errors.SocketError(),
      )
      assert.equal(isRefused(all.answer(404)), false)
      all.pass(60_000)
    }
    fail(new errors.ConnectTimeoutError(), () => {})
    fail(new errors.SocketError())
    fail(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))
    fail(new errors.HeadersTimeoutError(), (exchange) => exchange.start().head(200).data('x'))
    assert.equal(isRefused(all.send()), true)
  })

  it('a request that is given up while it waits is not counted', (t) => {
    const all = setting(t)
    for (let i = 0; i < 8; i++) {
      const reasons: unknown[] = []
      let abort = (_reason?: unknown): void => {}
      const handler: RecordingHandler & { onRequestQueued?: typeof abortable } = new RecordingHandler()
      const abortable = (given: (reason?: unknown) => void): void => {
        abort = given
      }
      handler.onRequestQueued = abortable
      all.dispatcher.dispatch(GET, handler)
      const { last } = all.base
      last.handler.onRequestQueued?.((reason) => {
        reasons.push(reason)
        last.handler.onResponseError?.(undefined, reason as Error)
      })
      abort(Object.assign(new Error('mine'), { code: 'ECONNRESET' }))
      assert.equal(reasons.length, 1)
      assert.equal(handler.error?.message, 'mine')
    }
    assert.equal(isRefused(all.send()), false)
  })

  it('half open lets exactly so many through', (t) => {
    for (const halfOpenMax of [1, 3]) {
      const all = setting(t, { ...OPTIONS, halfOpenMax })
      open(all)
      all.pass(999)
      assert.equal(isRefused(all.send()), true)
      all.pass(1)
      for (let i = 0; i < halfOpenMax; i++) assert.equal(isRefused(all.send()), false)
      const refused = all.send()
      assert.equal(isRefused(refused), true)
      assert.equal((refused.error as errors.CircuitOpenError).retryAfter, 0)
      t.mock.restoreAll()
    }
  })

  it('a trial that succeeds closes the circuit with its head', (t) => {
    const all = setting(t)
    open(all)
    all.pass(1000)
    all.send()
    all.base.last.start().head(103)
    assert.equal(isRefused(all.send()), true)
    all.base.last.head(200)
    for (let i = 0; i < 3; i++) assert.equal(isRefused(all.answer(500)), false)
  })

  it('a trial that fails opens it again for the same time', (t) => {
    const all = setting(t)
    open(all)
    all.pass(1000)
    all.answer(502)
    all.pass(999)
    assert.equal(isRefused(all.send()), true)
    all.pass(1)
    assert.equal(isRefused(all.answer(200)), false)
    assert.equal(isRefused(all.send()), false)
  })

  it('a trial that is aborted, refused or thrown out leaves its place to another', (t) => {
    const all = setting(t)
    open(all)
    all.pass(1000)
    all.send()
    all.base.last
      .start()
      .handler.onResponseError?.(all.base.last.newController({ aborted: true }), new Error('enough'))
    assert.equal(isRefused(all.send()), false)
    all.base.last.error(new errors.ClientClosedError())
    const throwing = new ScriptedDispatcher(() => {
      throw new Error('no such call')
    }).compose(interceptors.circuitBreaker(OPTIONS))
    assert.throws(() => throwing.dispatch(GET, new RecordingHandler()), { message: 'no such call' })
    assert.equal(isRefused(all.send()), false)
    assert.equal(isRefused(all.send()), true)
  })

  it('what was sent before the circuit opened does not decide about the trial', (t) => {
    const all = setting(t)
    all.send()
    const { last: old } = all.base
    open(all)
    all.pass(1000)
    all.send()
    old.start().head(200).end()
    assert.equal(isRefused(all.send()), true)
  })

  it('an upgrade is a success', (t) => {
    const all = setting(t)
    open(all)
    all.pass(1000)
    const handler = all.send()
    all.base.last.start().upgrade(101, {}, new PassThrough())
    assert.equal(handler.status, 101)
    assert.equal(isRefused(all.send()), false)
  })

  it('refuses wrong options when it is made', () => {
    const wrong: [keyof CircuitBreakerOptions, unknown[]][] = [
      ['threshold', [0, -1, 1.1, Number.NaN, 'one']],
      ['window', [0, -1, Number.POSITIVE_INFINITY, 'one']],
      ['minRequests', [0, 1.5, 'one']],
      ['halfOpenAfter', [0, Number.NaN, 'one']],
      ['halfOpenMax', [0, 1.5, 'one']],
    ]
    for (const [name, values] of wrong) {
      for (const value of values) {
        assert.throws(() => interceptors.circuitBreaker({ [name]: value }), {
          name: 'InvalidArgumentError',
          message: `invalid ${name}`,
        })
      }
    }
    assert.throws(() => interceptors.circuitBreaker(5 as never), { message: 'options must be an object' })
    assert.equal(typeof interceptors.circuitBreaker(null), 'function')
  })

  it('security row 10: a polluted prototype configures nothing', (t) => {
    const polluted = Object.prototype as { minRequests?: number; threshold?: number }
    polluted.minRequests = 1
    polluted.threshold = 0.001
    t.after(() => {
      delete polluted.minRequests
      delete polluted.threshold
    })
    const all = setting(t, {})
    for (let i = 0; i < 19; i++) all.answer(500)
    assert.equal(isRefused(all.answer(500)), false)
    assert.equal(isRefused(all.send()), true)
  })

  it('keeps a bounded number of origins', (t) => {
    const all = setting(t)
    open(all)
    for (let i = 0; i < 1024; i++) all.answer(200, `http://${i}.test`)
    assert.equal(isRefused(all.send()), false)
  })

  it('a wrong call reaches the dispatcher', async () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.circuitBreaker())
    dispatcher.dispatch(null as never, new RecordingHandler())
    assert.equal(base.last.opts, null)
    dispatcher.dispatch(GET, null as never)
    assert.equal(base.last.handler, null)
  })
})

overEachWire('interceptors.circuitBreaker', (wire) => {
  test('a server that answers 503 is left alone', async (t) => {
    let requests = 0
    const origin = await startOrigin(t, wire, (_request, response) => {
      requests++
      response.statusCode = 503
      response.end('no')
    })
    const client = origin.client().compose(interceptors.circuitBreaker({ minRequests: 3 }))
    for (let i = 0; i < 3; i++) {
      const { statusCode, body } = await client.request({ path: '/', method: 'POST', body: 'x' })
      assert.equal(statusCode, 503)
      assert.equal(await body.text(), 'no')
    }
    const error = await failure(client.request({ path: '/', method: 'GET' }))
    assert.equal(error['code'], 'UND_ERR_CIRCUIT_OPEN')
    assert.equal(requests, 3)
  })
})

overEachWire('interceptors.circuitBreaker: a field that cannot be sent', (wire) => {
  test('is no failure of the server', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => response.end('x'))
    const dispatcher = origin.client().compose(interceptors.circuitBreaker({ minRequests: 2 }))
    for (let i = 0; i < 4; i++) {
      const sent = dispatcher.request({ ...GET, origin: origin.url, headers: { te: 'gzip' } })
      if (wire.multiplexes) assert.match((await failure(sent)).message, /headers are forbidden: "te"/)
      else await (await sent).body.text()
    }
    const { body } = await dispatcher.request({ ...GET, origin: origin.url })
    assert.equal(await body.text(), 'x')
  })
})
