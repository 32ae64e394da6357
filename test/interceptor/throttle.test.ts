import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { Client, errors, interceptors, type ThrottleOptions } from '../../src/index.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { memory } from '../load/watch.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { AbortableHandler, GET, setting } from './throttle-support.ts'

/** How many requests are queued and aborted; more can be asked for by hand. */
const MANY = Number(process.env['THROTTLED_REQUESTS'] ?? 20_000)

describe('interceptors.throttle: concurrency', () => {
  it('sends so many at a time, and the others in order as responses end', (t) => {
    const { send, sent, answer, exchange } = setting(t, { concurrency: 2 })
    for (const path of ['/1', '/2', '/3', '/4', '/5']) send(path)
    assert.deepEqual(sent, ['/1', '/2'])
    exchange('/1').start().head(103).head(200).data('x')
    assert.deepEqual(sent, ['/1', '/2'])
    exchange('/1').end()
    assert.deepEqual(sent, ['/1', '/2', '/3'])
    answer('/3')
    answer('/2')
    assert.deepEqual(sent, ['/1', '/2', '/3', '/4', '/5'])
  })

  it('an error and an upgrade leave their place to another', (t) => {
    const { send, sent, exchange } = setting(t, { concurrency: 1 })
    const handlers = ['/1', '/2', '/3'].map((path) => send(path))
    exchange('/1').start().error(new errors.SocketError('lost'))
    assert.deepEqual(sent, ['/1', '/2'])
    exchange('/2').start().upgrade(101, {}, new PassThrough())
    assert.deepEqual(sent, ['/1', '/2', '/3'])
    exchange('/3').error(new errors.ConnectTimeoutError())
    assert.deepEqual(
      handlers.map(({ story }) => story),
      [
        ['onRequestStart', 'onResponseError'],
        ['onRequestStart', 'onRequestUpgrade 101'],
        ['onResponseError'],
      ],
    )
  })

  it('a handler that throws in its final call loses no place', (t) => {
    const { dispatcher, base, send, sent } = setting(t, { concurrency: 1 })
    const thrown = new Error('thrown')
    const handler = new RecordingHandler((method) => {
      if (method === 'onResponseEnd') throw thrown
    })
    dispatcher.dispatch(GET, handler)
    send('/2')
    base.last.start().head(200).end()
    assert.deepEqual(sent, ['/', '/2'])
    // As a dispatcher of another library may do.
    base.exchanges[0]!.error(thrown)
    assert.deepEqual(handler.errors, [thrown])
    send('/3')
    assert.deepEqual(sent, ['/', '/2'])
  })

  it('each origin has its own limit', (t) => {
    const { send, sent } = setting(t, { concurrency: 1 })
    send('/a1')
    send('/a2')
    send('/b1', { origin: 'http://b.test' })
    send('/b2', { origin: new URL('http://b.test') })
    assert.deepEqual(sent, ['/a1', '/b1'])
  })

  it('all spellings of an origin are one', (t) => {
    const { send, sent } = setting(t, { concurrency: 1 })
    send('/1')
    for (const origin of ['http://a.test/', 'HTTP://A.test:80', new URL('http://a.test')])
      send('/2', { origin })
    assert.deepEqual(sent, ['/1'])
  })

  it('one interceptor on two dispatchers is one throttle', () => {
    const shared = interceptors.throttle({ concurrency: 1 })
    const [first, second] = [new ScriptedDispatcher(), new ScriptedDispatcher()]
    first.compose(shared).dispatch(GET, new RecordingHandler())
    second.compose(shared).dispatch(GET, new RecordingHandler())
    assert.equal(second.exchanges.length, 0)
    first.last.start().head().end()
    assert.equal(second.exchanges.length, 1)
  })

  it('a dispatcher that answers at once is not called recursively', () => {
    const exchanges: (() => void)[] = []
    let ended = 0
    const base = new ScriptedDispatcher((exchange) => {
      const answer = (): unknown => exchange.start().head().end()
      if (exchanges.length === 0) exchanges.push(answer)
      else answer()
    })
    const dispatcher = base.compose(interceptors.throttle({ concurrency: 1 }))
    const handler = { onResponseEnd: () => void ended++ }
    for (let i = 0; i < 20_000; i++) dispatcher.dispatch(GET, handler)
    exchanges[0]!()
    assert.equal(ended, 20_000)
  })
})

describe('interceptors.throttle: rate', () => {
  it('spaces requests evenly', (t) => {
    const { send, sent, clock } = setting(t, { rate: 10 })
    for (let i = 0; i < 5; i++) send(`/${i}`)
    assert.equal(sent.length, 1)
    clock.jump(99)
    assert.equal(sent.length, 1)
    clock.jump(1)
    assert.equal(sent.length, 2)
    clock.jump(250)
    assert.deepEqual(sent, ['/0', '/1', '/2', '/3'])
    clock.jump(50)
    assert.equal(sent.length, 5)
  })

  it('an idle key may send a burst, and no more', (t) => {
    const { send, sent, clock } = setting(t, { rate: 10, burst: 3 })
    for (let i = 0; i < 5; i++) send()
    assert.equal(sent.length, 3)
    clock.jump(200)
    assert.equal(sent.length, 5)
    clock.jump(200)
    for (let i = 0; i < 9; i++) send()
    assert.equal(sent.length, 7)
    clock.jump(700)
    assert.equal(sent.length, 14)
    clock.jump(60_000)
    for (let i = 0; i < 9; i++) send()
    assert.equal(sent.length, 17)
  })

  it('may be less than one per second', (t) => {
    const { send, sent, clock } = setting(t, { rate: 0.1 })
    send()
    send()
    clock.jump(9999)
    assert.equal(sent.length, 1)
    clock.jump(1)
    assert.equal(sent.length, 2)
  })

  it('is reached although timers fire late', (t) => {
    const { send, sent, clock } = setting(t, { rate: 5000 })
    for (let i = 0; i < 6000; i++) send()
    for (let passed = 0; passed < 1000; passed++) clock.jump(1)
    assert.ok(sent.length >= 4990 && sent.length <= 5001, `${sent.length}`)
  })

  it('makes up for a little lateness only', (t) => {
    const { send, sent, clock } = setting(t, { rate: 100 })
    for (let i = 0; i < 1000; i++) send()
    // As if the program had been busy for ten seconds.
    const [timer] = clock.active
    clock.now += 10_000
    timer!.fire()
    assert.equal(sent.length, 7)
  })

  it('a wait beyond the longest timer is waited for', (t) => {
    const { send, sent, clock } = setting(t, { rate: 1e-7 })
    send()
    send()
    clock.jump(2 ** 31)
    assert.equal(sent.length, 1)
    clock.jump(1e10)
    assert.equal(sent.length, 2)
  })

  it('works with concurrency', (t) => {
    const { send, sent, clock, answer } = setting(t, { rate: 10, burst: 2, concurrency: 1 })
    for (let i = 0; i < 4; i++) send(`/${i}`)
    assert.equal(sent.length, 1)
    answer('/0')
    assert.equal(sent.length, 2)
    answer('/1')
    assert.equal(sent.length, 2)
    clock.jump(100)
    assert.equal(sent.length, 3)
    clock.jump(1000)
    assert.equal(sent.length, 3)
    answer('/2')
    assert.equal(sent.length, 4)
  })

  it('has one timer for each key, which keeps the process alive as long as a request waits', (t) => {
    const { send, clock } = setting(t, { rate: 1 })
    send()
    const waiting = [1, 2, 3].map(() => send())
    send('/', { origin: 'http://b.test' })
    assert.equal(clock.active.size, 1)
    for (const timer of clock.active) assert.equal(timer.referenced, true)
    for (const handler of waiting) handler.abort()
    assert.equal(clock.active.size, 0)
  })

  it('goes by timers that are mocked without the clock', (t) => {
    const clock = FakeClock.install(t)
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(interceptors.throttle({ rate: 0.001 }))
    for (let i = 0; i < 4; i++) dispatcher.dispatch(GET, new RecordingHandler())
    for (const count of [1, 2, 3, 4]) {
      assert.equal(base.exchanges.length, count)
      clock.jump(1_000_000)
    }
  })
})

describe('interceptors.throttle: a request that need not wait', () => {
  it('is passed on as it is', (t) => {
    const { dispatcher, base } = setting(t, { rate: 1 })
    const handler = new AbortableHandler()
    dispatcher.dispatch(GET, handler)
    assert.equal(base.last.opts, GET)
    assert.equal(handler.queued, 0)
    base.last.handler.onRequestQueued?.(() => {})
    assert.equal(handler.queued, 1)
    base.last.start().head(200, { a: 'b' }, 'Fine').data('x').end({ c: 'd' })
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual(
      [handler.headers, handler.statusText, handler.trailers],
      [{ a: 'b' }, 'Fine', { c: 'd' }],
    )
  })

  it('returns what the dispatcher returns, and throws what it throws', () => {
    const busy = interceptors.throttle({ concurrency: 1 })((_opts, _handler) => false)
    assert.equal(busy(GET, new RecordingHandler()), false)
    const throwing = interceptors.throttle({ concurrency: 1, rate: 1 })((_opts, _handler) => {
      throw new Error('no such call')
    })
    for (let i = 0; i < 3; i++) {
      assert.throws(() => throwing(GET, new RecordingHandler()), { message: 'no such call' })
    }
  })

  it('has hooks only if its handler has them', (t) => {
    const { dispatcher, base } = setting(t)
    dispatcher.dispatch(GET, { onRequestStart() {}, onResponseError() {} })
    assert.equal(base.last.handler.onRequestQueued, undefined)
    assert.equal(base.last.handler.onBodySent, undefined)
  })
})

describe('interceptors.throttle: a request that waits', () => {
  it('is announced once, and can be aborted and paused when it was sent', (t) => {
    const { send, exchange, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const handler = send('/2')
    assert.equal(handler.queued, 1)
    assert.deepEqual(handler.calls, [])
    answer('/1')
    exchange('/2').handler.onRequestQueued?.(() => {})
    assert.equal(handler.queued, 1)
    const sent = exchange('/2').failOnAbort().start()
    handler.controller!.pause()
    handler.controller!.resume()
    assert.deepEqual(sent.log, ['pause', 'resume'])
    const reason = new Error('enough')
    handler.abort(reason)
    assert.deepEqual([sent.aborts, handler.errors], [[reason], [reason]])
  })

  it('is sent with the options that it came with', (t) => {
    const { dispatcher, base, answer, send } = setting(t, { concurrency: 1 })
    send('/1')
    function* headers(): Generator<[string, string]> {
      yield ['a', 'b']
    }
    const opts = { ...GET, path: '/2', headers: headers() as Iterable<[string, string]> }
    dispatcher.dispatch(opts, new RecordingHandler())
    opts.path = '/changed'
    ;[...opts.headers]
    answer('/1')
    assert.equal(base.last.opts.path, '/2')
    assert.deepEqual(base.last.opts.headers, ['a', 'b'])
  })

  it('that cannot be read fails at once', (t) => {
    const { dispatcher, send, sent, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const thrown = new Error('from the iterator')
    // biome-ignore lint/correctness/useYield: it throws before
    const headers = (function* (): Generator<[string, string]> {
      throw thrown
    })()
    const handler = new RecordingHandler()
    assert.equal(dispatcher.dispatch({ ...GET, headers }, handler), false)
    assert.deepEqual(handler.errors, [thrown])
    answer('/1')
    assert.deepEqual(sent, ['/1'])
  })

  it('can be given up: it leaves at once, fails once, and its body is destroyed unread', (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const body = new Readable({ read: () => assert.fail('it was read') })
    const second = send('/2', { method: 'POST', body })
    send('/3')
    const reason = new Error('enough')
    second.abort(reason)
    second.abort(new Error('again'))
    assert.deepEqual(second.errors, [reason])
    assert.deepEqual(second.story, ['onResponseError'])
    assert.equal(second.lastController, null)
    assert.equal(body.destroyed, true)
    answer('/1')
    assert.deepEqual(sent, ['/1', '/3'])
  })

  it('given up without a reason fails with a RequestAbortedError that describes it', (t) => {
    const { send, clock } = setting(t, { concurrency: 1 })
    send()
    const handler = send('/2?secret=1')
    clock.jump(70)
    handler.abort()
    const { error } = handler
    assert.ok(error instanceof errors.RequestAbortedError)
    const { method, origin, path, phase, retrySafety, timings } = error
    assert.deepEqual(
      { method, origin, path, phase, retrySafety },
      { method: 'GET', origin: 'http://a.test', path: '/2', phase: 'queued', retrySafety: 'no' },
    )
    assert.equal(timings!.end! - timings!.queued, 70)
  })

  it('can be given up after it was sent', (t) => {
    const { send, exchange, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const handler = send('/2')
    answer('/1')
    const reasons: unknown[] = []
    exchange('/2').handler.onRequestQueued?.((reason) => void reasons.push(reason))
    handler.abort('why')
    assert.deepEqual(reasons, ['why'])
    exchange('/2').error(new Error('why'))
    handler.abort('late')
    assert.deepEqual(reasons, ['why'])
    assert.equal(handler.errors.length, 1)
  })

  it('can be given up below a dispatcher that does not announce requests', (t) => {
    const { send, exchange, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const handler = send('/2')
    const third = send('/3')
    answer('/1')
    handler.abort('why')
    exchange('/2').failOnAbort().start()
    assert.deepEqual(exchange('/2').aborts, ['why'])
    assert.deepEqual(handler.story, ['onResponseError'])
    third.abort('early')
    third.abort('early')
    exchange('/3').handler.onRequestQueued?.((reason) => exchange('/3').aborts.push(reason))
    assert.deepEqual(exchange('/3').aborts, ['early'])
  })

  it('whose handler throws when it is announced fails', (t) => {
    const { dispatcher, send, sent, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const thrown = new Error('thrown')
    const handler = new AbortableHandler()
    handler.onRequestQueued = () => {
      throw thrown
    }
    dispatcher.dispatch({ ...GET, path: '/2' }, handler)
    assert.deepEqual(handler.errors, [thrown])
    answer('/1')
    assert.deepEqual(sent, ['/1'])
  })

  it('whose handler throws at its failure is over all the same, and nobody else gets that', async (t) => {
    const { dispatcher, send, sent, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const ways: ((handler: AbortableHandler, body: PassThrough) => void)[] = [
      (handler) => handler.abort(new Error('enough')),
      (_handler, body) => body.destroy(new Error('the file is gone')),
    ]
    for (const fail of ways) {
      const body = new PassThrough()
      const handler = new AbortableHandler({
        onResponseError() {
          throw new Error('thrown')
        },
      })
      dispatcher.dispatch({ ...GET, method: 'POST', path: '/2', body }, handler)
      assert.deepEqual(await uncaughtDuring(() => fail(handler, body)), [])
      assert.equal(handler.errors.length, 1)
    }
    answer('/1')
    assert.deepEqual(sent, ['/1'])
  })

  it('fails with the error of its body', async (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1 })
    send('/1')
    const body = new PassThrough()
    const handler = send('/2', { method: 'POST', body })
    const thrown = new Error('the file is gone')
    assert.deepEqual(await uncaughtDuring(() => body.destroy(thrown)), [])
    assert.deepEqual(handler.errors, [thrown])
    const kept = new PassThrough()
    send('/3', { method: 'POST', body: kept })
    assert.equal(kept.listenerCount('error'), 1)
    answer('/1')
    assert.deepEqual(sent, ['/1', '/3'])
    assert.equal(kept.listenerCount('error'), 0)
  })

  it('fails if the dispatcher throws at it', () => {
    let calls = 0
    const base = new ScriptedDispatcher(() => {
      if (++calls === 2) throw new Error('no such call')
    })
    const dispatcher = base.compose(interceptors.throttle({ concurrency: 1 }))
    const body = new PassThrough()
    const handlers = [1, 2, 3].map((name) => {
      const handler = new RecordingHandler({
        onResponseError() {
          throw new Error(`thrown by ${name}`)
        },
      })
      dispatcher.dispatch({ ...GET, path: `/${name}`, ...(name === 2 ? { body } : null) }, handler)
      return handler
    })
    base.last.start().head().end()
    assert.equal(handlers[1]!.error?.message, 'no such call')
    assert.equal(base.last.opts.path, '/3')
    assert.equal(body.destroyed, true)
  })

  it('fails at once when its dispatcher is closed, and those after it', (t) => {
    for (const error of [new errors.ClientClosedError(), new errors.ClientDestroyedError()]) {
      const { send, clock, base } = setting(t, { rate: 1 })
      const handlers = Array.from({ length: 50 }, () => send())
      base.last.start().head().end()
      const isFirst = base.exchanges.length
      t.mock.method(base, 'dispatch', (_opts: unknown, handler: RecordingHandler) => {
        handler.onResponseError(null, error)
        return false
      })
      clock.jump(1000)
      assert.equal(handlers.slice(isFirst).filter((handler) => handler.error === error).length, 49)
      assert.equal(clock.active.size, 0)
      t.mock.restoreAll()
    }
  })

  it('has its body destroyed if its dispatcher is closed when its turn comes', async (t) => {
    for (const error of [new errors.ClientClosedError(), new errors.ClientDestroyedError()]) {
      const { send, base, answer } = setting(t, { concurrency: 1 })
      send('/1')
      const body = new PassThrough()
      const handler = send('/2', { method: 'POST', body })
      t.mock.method(base, 'dispatch', (_opts: unknown, below: RecordingHandler) => {
        below.onResponseError(null, error)
        return false
      })
      assert.deepEqual(await uncaughtDuring(() => answer('/1')), [])
      assert.deepEqual([handler.errors, body.errored], [[error], error])
      t.mock.restoreAll()
    }
  })

  it(`${MANY} that are queued and aborted leave no memory`, async (t) => {
    const { dispatcher, sent } = setting(t, { concurrency: 1, rate: 100 })
    dispatcher.dispatch(GET, new RecordingHandler())
    const before = await memory()
    let failed = 0
    let aborts: ((reason?: unknown) => void)[] = []
    for (let i = 0; i < MANY; i++) {
      const handler = {
        onRequestQueued: (abort: (reason?: unknown) => void) => void aborts.push(abort),
        onRequestStart() {},
        onResponseError: () => void failed++,
      }
      dispatcher.dispatch({ ...GET, body: Buffer.alloc(64) }, handler)
    }
    const most = await memory()
    // From the middle: a queue that is searched for each would take minutes for a million.
    const reason = new Error('enough')
    for (let i = 0; i < MANY; i++) aborts[(i + MANY / 2) % MANY]!(reason)
    aborts = []
    const after = await memory()
    t.diagnostic(`bytes: ${before} before, ${most} with ${MANY} waiting, ${after} after`)
    assert.equal(failed, MANY)
    assert.ok(most - before > 100 * MANY, 'they took memory')
    // The smallest object for each would be more; code that the runtime compiles meanwhile is less.
    assert.ok(after - before < 25 * MANY, `${after - before} bytes are left`)
    assert.deepEqual(sent, ['/'])
  })
})

describe('interceptors.throttle: retry-after', () => {
  for (const status of [429, 503]) {
    it(`of a ${status} holds its key up, in seconds and as a date`, (t) => {
      t.mock.method(Date, 'now', () => Date.UTC(2026, 0, 1))
      for (const value of ['3', 'Thu, 01 Jan 2026 00:00:03 GMT', '2.9991']) {
        const { send, sent, answer, clock } = setting(t, { concurrency: 5 })
        send('/1')
        send('/2')
        answer('/1', status, { 'retry-after': value })
        send('/3')
        send('/4')
        const other = send('/b', { origin: 'http://b.test' })
        assert.deepEqual(sent, ['/1', '/2', '/b'])
        assert.equal(other.queued, 0)
        clock.jump(2999)
        assert.equal(sent.length, 3)
        clock.jump(1)
        assert.deepEqual(sent, ['/1', '/2', '/b', '/3', '/4'])
        send('/5')
        assert.equal(sent.length, 6)
      }
    })
  }

  it('the longest of several counts', (t) => {
    const { send, sent, answer, clock } = setting(t)
    for (const path of ['/1', '/2', '/3']) send(path)
    answer('/1', 429, { 'retry-after': '5' })
    answer('/2', 429, { 'retry-after': '1' })
    answer('/3', 503)
    send('/4')
    clock.jump(4999)
    assert.equal(sent.length, 3)
    clock.jump(1)
    assert.equal(sent.length, 4)
  })

  it('of five minutes is waited for by default', (t) => {
    const { send, sent, answer, clock } = setting(t)
    send('/1')
    answer('/1', 429, { 'retry-after': '300' })
    send('/2')
    clock.jump(299_999)
    assert.equal(sent.length, 1)
    clock.jump(1)
    assert.equal(sent.length, 2)
  })

  it('that is longer fails what waits and what comes, with its time, and never another origin', (t) => {
    const { send, sent, answer, clock } = setting(t, { concurrency: 1, maxRetryAfter: 5000 })
    send('/1')
    const waiting = send('/waiting')
    answer('/1', 429, { 'retry-after': '999999999' })
    clock.jump(1000)
    const next = send('/next')
    for (const [handler, asked] of [
      [waiting, 999_999_999_000],
      [next, 999_999_998_000],
    ] as const) {
      const error = handler.error as errors.ThrottledError
      assert.deepEqual(
        [error.code, error.retrySafety, error.retryAfter],
        ['UND_ERR_THROTTLED', 'safe', asked],
      )
    }
    send('/b', { origin: 'http://b.test' })
    assert.deepEqual(sent, ['/1', '/b'])
    clock.jump(4000)
    send('/later')
    assert.deepEqual(sent, ['/1', '/b', '/later'])
  })

  it('what waited for it leaves at the rate, without a burst', (t) => {
    const { send, sent, answer, clock } = setting(t, { rate: 10, burst: 5 })
    send('/1')
    answer('/1', 429, { 'retry-after': '2' })
    for (let i = 0; i < 9; i++) send()
    clock.jump(2000)
    assert.equal(sent.length, 2)
    clock.jump(300)
    assert.equal(sent.length, 5)
  })

  it('arrives while requests wait for a token', (t) => {
    const { send, sent, answer, clock } = setting(t, { rate: 10 })
    send('/1')
    send('/2')
    answer('/1', 429, { 'retry-after': '1' })
    clock.jump(999)
    assert.equal(sent.length, 1)
    clock.jump(1)
    assert.equal(sent.length, 2)
  })

  it('of another status, or that cannot be read, means nothing', (t) => {
    const { send, sent, answer } = setting(t)
    send('/1')
    answer('/1', 200, { 'retry-after': '9' })
    send('/2')
    answer('/2', 500, { 'retry-after': '9' })
    send('/3')
    answer('/3', 429)
    send('/4')
    answer('/4', 429, { 'retry-after': 'soon' })
    send('/5')
    assert.equal(sent.length, 5)
  })
})

describe('interceptors.throttle: priority', () => {
  it('a higher one leaves first, and equals in order', (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1 })
    send('/first')
    send('/low', { priority: -10 })
    send('/none')
    send('/null', { priority: null })
    send('/high1', { priority: 10 })
    send('/mid', { priority: 3 })
    send('/high2', { priority: 10 })
    while (sent.length < 7) answer(sent.at(-1)!)
    assert.deepEqual(sent, ['/first', '/high1', '/high2', '/mid', '/none', '/null', '/low'])
  })

  it('the longest wait gets every eighth place', (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1 })
    send('/first')
    send('/low1', { priority: -1 })
    send('/low2', { priority: -2 })
    for (let i = 0; i < 30; i++) send(`/${i}`, { priority: 5 })
    for (let i = 0; i < 17; i++) {
      answer(sent.at(-1)!)
      send(`/more${i}`, { priority: 5 })
    }
    assert.equal(sent.indexOf('/low1'), 8)
    assert.equal(sent.indexOf('/low2'), 16)
  })

  it('a request can be given up in each', (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1 })
    send('/first')
    const high = send('/high', { priority: 1 })
    const low = send('/low', { priority: -1 })
    send('/mid')
    high.abort()
    low.abort()
    answer('/first')
    answer('/mid')
    assert.deepEqual(sent, ['/first', '/mid'])
  })

  it('is an integer from -10 to 10', (t) => {
    const { dispatcher, base } = setting(t)
    for (const priority of [11, -11, 0.5, Number.NaN, '1', 'high', {}]) {
      const handler = new RecordingHandler()
      assert.equal(dispatcher.dispatch({ ...GET, priority: priority as number }, handler), false)
      assert.ok(handler.error instanceof errors.InvalidArgumentError)
      assert.equal(handler.error.message, 'invalid priority')
    }
    assert.equal(base.exchanges.length, 0)
  })
})

describe('interceptors.throttle: maxQueue', () => {
  it('more waiting requests fail with a ThrottledError, for each key', (t) => {
    const { send, sent, answer } = setting(t, { concurrency: 1, maxQueue: 2 })
    for (const path of ['/1', '/2', '/3']) send(path)
    const body = new PassThrough()
    const { error, story, lastController, queued } = send('/4?secret=1', { method: 'POST', body })
    assert.ok(error instanceof errors.ThrottledError)
    assert.ok(error instanceof errors.UndiciError)
    const { name, code, message, method, origin, path, phase, retrySafety, timings } = error
    assert.deepEqual(
      { name, code, message, method, origin, path, phase, retrySafety },
      {
        name: 'ThrottledError',
        code: 'UND_ERR_THROTTLED',
        message: 'Too many requests are waiting',
        method: 'POST',
        origin: 'http://a.test',
        path: '/4',
        phase: 'queued',
        retrySafety: 'safe',
      },
    )
    assert.equal(typeof timings?.queued, 'number')
    assert.deepEqual(story, ['onResponseError'])
    assert.deepEqual([lastController, queued], [null, 0])
    assert.deepEqual([body.destroyed, body.errored], [true, error])
    assert.equal(send('/b', { origin: 'http://b.test' }).error, undefined)
    answer('/1')
    assert.equal(send('/5').error, undefined)
    assert.ok(send('/6').error instanceof errors.ThrottledError)
    assert.deepEqual(sent, ['/1', '/b', '/2'])
  })

  it('what the handler throws at that comes out of dispatch(), as with a client that is closed', async (t) => {
    const { dispatcher, send } = setting(t, { concurrency: 1, maxQueue: 0 })
    send('/1')
    const closed = new Client('http://a.test')
    await closed.destroy()
    const thrown = new Error('thrown')
    const hooks = {
      onResponseError() {
        throw thrown
      },
    }
    for (const refusing of [dispatcher, closed]) {
      assert.throws(() => refusing.dispatch(GET, new RecordingHandler(hooks)), thrown)
    }
    const body = new PassThrough()
    assert.throws(() => dispatcher.dispatch({ ...GET, body }, new RecordingHandler(hooks)), thrown)
    assert.equal(body.destroyed, true)
  })

  it('an aborted request leaves its place', (t) => {
    const { send } = setting(t, { concurrency: 1, maxQueue: 1 })
    send('/1')
    send('/2').abort()
    assert.equal(send('/3').error, undefined)
  })

  it('0 lets none wait', (t) => {
    const { send, sent, clock } = setting(t, { rate: 1, maxQueue: 0 })
    send()
    assert.ok(send().error instanceof errors.ThrottledError)
    clock.jump(1000)
    assert.equal(send().error, undefined)
    assert.equal(sent.length, 2)
  })
})

describe('interceptors.throttle: per', () => {
  it('a function says what shares a limit, and what has none', (t) => {
    const { send, sent } = setting(t, {
      concurrency: 1,
      per: ({ path }) => (path.startsWith('/free') ? null : path.split('/')[1]),
    })
    for (const path of ['/a/1', '/a/2', '/b/1', '/free/1', '/free/2']) send(path)
    assert.deepEqual(sent, ['/a/1', '/b/1', '/free/1', '/free/2'])
    assert.deepEqual(send('', { path: 'undefined' }).errors, [])
  })

  it('a function that throws, or returns something else, fails the request', async (t) => {
    const thrown = new Error('thrown')
    const { dispatcher, sent } = setting(t, {
      per: ({ path }) => {
        if (path === '/throws') throw thrown
        return path === '/rejects' ? (Promise.reject(thrown) as never) : (7 as never)
      },
    })
    const errorOf = (path: string): Error => {
      const handler = new RecordingHandler()
      assert.equal(dispatcher.dispatch({ ...GET, path }, handler), false)
      assert.equal(handler.errors.length, 1)
      return handler.error!
    }
    assert.deepEqual(await uncaughtDuring(() => errorOf('/rejects')), [])
    assert.equal(errorOf('/throws'), thrown)
    assert.ok(errorOf('/') instanceof errors.InvalidArgumentError)
    assert.equal(errorOf('/').message, 'the key of a throttle must be a string')
    assert.deepEqual(sent, [])
  })

  it('keys that are idle are forgotten when there are many, and those in use are not', (t) => {
    const { send, sent, base } = setting(t, { rate: 0.001, per: ({ path }) => path })
    const answered = (path: string): void => {
      send(path)
      if (sent.at(-1) === path) base.last.start().head().end()
    }
    answered('/idle')
    send('/busy')
    const waiting = send('/busy')
    for (let i = 0; i < 10_000; i++) answered(`/${i}`)
    const before = sent.length
    // Its bucket was empty, and is full because it is new.
    answered('/idle')
    assert.equal(sent.length, before + 1)
    answered('/9999')
    send('/busy')
    assert.equal(sent.length, before + 1)
    assert.equal(waiting.calls.length, 0)
  })
})

describe('interceptors.throttle: totalConcurrency', () => {
  it('ten keys take turns, however many requests each has', (t) => {
    const { send, sent, base } = setting(t, { totalConcurrency: 4, per: ({ path }) => path })
    for (let key = 0; key < 10; key++) {
      for (let i = 0; i < (key === 0 ? 500 : 50); i++) send(`/${key}`)
    }
    for (let i = 0; i < 500; i++) base.exchanges[i]!.start().head().end()
    const counts = Array.from({ length: 10 }, (_, key) => sent.filter((path) => path === `/${key}`).length)
    for (const count of counts.slice(1)) assert.ok(count >= 49, `${counts}`)
    // No key is ever passed over for more than a round.
    for (let key = 1; key < 10; key++) {
      const places = sent.flatMap((path, place) => (path === `/${key}` ? [place] : []))
      for (const [i, place] of places.entries()) {
        assert.ok(i === 0 || place - places[i - 1]! <= 10, `${place}`)
      }
    }
  })

  it('a key that waits for its rate does not hold the others up', (t) => {
    const { send, sent, clock, base } = setting(t, {
      totalConcurrency: 1,
      rate: 1,
      per: ({ path }) => path,
    })
    for (const path of ['/a', '/a', '/b', '/c']) send(path)
    for (let i = 0; i < 3; i++) base.exchanges[i]!.start().head().end()
    assert.deepEqual(sent, ['/a', '/b', '/c'])
    clock.jump(1000)
    assert.deepEqual(sent, ['/a', '/b', '/c', '/a'])
  })

  it('a key whose requests were all given up loses its turn only', (t) => {
    const { send, sent, base } = setting(t, { totalConcurrency: 1, per: ({ path }) => path })
    send('/a')
    const gone = send('/b')
    send('/c')
    gone.abort()
    base.last.start().head().end()
    base.last.start().head().end()
    send('/b')
    assert.deepEqual(sent, ['/a', '/c', '/b'])
  })

  it('a key that was asked to wait meanwhile does', (t) => {
    const { send, sent, base, clock } = setting(t, { totalConcurrency: 1 })
    send('/1')
    send('/2')
    base.last.start().head(429, { 'retry-after': '1' }).end()
    assert.deepEqual(sent, ['/1'])
    clock.jump(1000)
    assert.deepEqual(sent, ['/1', '/2'])
  })
})

describe('interceptors.throttle: options', () => {
  it('are checked when it is made', () => {
    const counts = [0, -1, 1.5, Number.NaN, 'one']
    const wrong: [keyof ThrottleOptions, unknown[]][] = [
      ['concurrency', counts],
      ['totalConcurrency', counts],
      ['rate', [0, -1, Number.NaN, 'one']],
      ['burst', [...counts, Number.POSITIVE_INFINITY]],
      ['per', ['host', 1, {}]],
      ['adaptive', [2, 'true']],
      ['maxQueue', [-1, 1.5, 'one']],
      ['maxRetryAfter', [-1, Number.POSITIVE_INFINITY, 'one']],
    ]
    for (const [name, values] of wrong) {
      for (const value of values) {
        assert.throws(() => interceptors.throttle({ [name]: value }), {
          name: 'InvalidArgumentError',
          message: `invalid ${name}`,
        })
      }
    }
    assert.throws(() => interceptors.throttle(5 as never), { message: 'options must be an object' })
    const none = Number.POSITIVE_INFINITY
    interceptors.throttle({ concurrency: none, totalConcurrency: none, rate: none, maxQueue: none })
    interceptors.throttle(null)
  })

  it('a polluted prototype configures nothing', (t) => {
    const polluted = Object.prototype as { concurrency?: number; maxQueue?: number; priority?: string }
    polluted.concurrency = 1
    polluted.maxQueue = 0
    polluted.priority = 'x'
    t.after(() => {
      delete polluted.concurrency
      delete polluted.maxQueue
      delete polluted.priority
    })
    const { send, sent } = setting(t, {})
    send()
    send()
    assert.equal(sent.length, 2)
  })

  it('a wrong call reaches the dispatcher', (t) => {
    const { base, dispatcher } = setting(t, { concurrency: 1 })
    dispatcher.dispatch(null as never, new RecordingHandler())
    assert.equal(base.last.opts, null)
    dispatcher.dispatch(GET, null as never)
    assert.equal(base.last.handler, null)
  })
})
