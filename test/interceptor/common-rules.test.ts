/** What holds for each interceptor alike: its shape, what it passes on, what it leaves alone. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import {
  BalancedPool,
  Client,
  type Dispatcher,
  type Interceptor,
  interceptors,
  Pool,
  RedirectHandler,
  RetryHandler,
} from '../../src/index.ts'
import type { DispatchController, DispatchHandler } from '../../src/request/dispatch-handler.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { Telemetry } from '../support/telemetry.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' }

const all: Record<string, () => Interceptor> = {
  auth: () => interceptors.auth({ bearer: () => 'token', origins: 'http://a.test' }),
  cache: () => interceptors.cache(),
  circuitBreaker: () => interceptors.circuitBreaker(),
  compress: () => interceptors.compress(),
  cookies: () => interceptors.cookies(),
  decompress: () => interceptors.decompress(),
  deduplicate: () => interceptors.deduplicate(),
  dns: () =>
    interceptors.dns({
      lookup: (_origin, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4, ttl: 1 }]),
    }),
  dump: () => interceptors.dump(),
  guard: () => interceptors.guard({ hosts: ['a.test'] }),
  hedge: () => interceptors.hedge({ delay: 10_000 }),
  metrics: () => interceptors.metrics({ meter: new Telemetry().meter, details: true }),
  redirect: () => interceptors.redirect({ maxRedirections: 1 }),
  responseError: () => interceptors.responseError(),
  retry: () => interceptors.retry(),
  throttle: () => interceptors.throttle({ concurrency: 10, rate: 100 }),
}

/**
 * Metrics only watches, the guard passes the handler itself on, and so does compress with a request without a body. Those that are not listed
 * keep the body, look at it, or drop it.
 */
const LENDING = new Set(['auth', 'guard', 'compress', 'decompress', 'metrics', 'redirect', 'retry'])

/** These leave the controller of the dispatcher to the handler. */
const WATCHING = new Set(['guard', 'compress', 'metrics'])

class CopyingHandler extends RecordingHandler {
  text = ''
  /** How many pieces came without memory of their own. */
  lent = 0

  override onResponseData(_controller: DispatchController, chunk: Buffer): void {
    this.text += chunk
  }

  onResponseBytes(_controller: DispatchController, memory: Buffer, start: number, end: number): void {
    this.text += memory.toString('latin1', start, end)
    this.lent++
  }
}

class WatchedRedirect extends RedirectHandler {
  seen = ''

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.seen += chunk
    super.onResponseData(controller, chunk)
  }
}

class WatchedRetry extends RetryHandler {
  seen = ''

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.seen += chunk
    super.onResponseData(controller, chunk)
  }
}

test('the list is complete', () => {
  assert.deepEqual(Object.keys(all), Object.keys(interceptors).sort())
})

for (const [name, make] of Object.entries(all)) {
  describe(`interceptors.${name}`, () => {
    test('makes a dispatch function of two parameters, which returns true', () => {
      const base = new ScriptedDispatcher()
      const dispatch = make()((opts, handler) => base.dispatch(opts, handler as never), undefined)
      assert.equal(dispatch.length, 2)
      assert.equal(dispatch(GET, new RecordingHandler()), true)
      assert.equal(base.exchanges.length, 1)
    })

    test('passes on every call, informational heads too', async () => {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(make()).dispatch(GET, handler)
      const { last } = base
      last.start()
      last.handler.onRequestSent?.()
      last.handler.onBodySent?.('x')
      last.handler.onResponseStarted?.()
      last.head(103, { link: '</a>' }).head(200, { a: 'b' }).data('body').end({ t: '1' })
      await turns(5)
      assert.deepEqual(handler.story, [
        'onRequestStart',
        'onRequestSent',
        // It never shares a request with a body.
        ...(name === 'deduplicate' ? [] : ['onBodySent']),
        'onResponseStarted',
        'onResponseStart 103',
        'onResponseStart 200',
        ...(name === 'dump' ? [] : ['onResponseData']),
        'onResponseEnd',
      ])
      assert.deepEqual([handler.headers, handler.trailers], [{ a: 'b' }, { t: '1' }])
    })

    test('a handler that copies gets all bytes, lent or not', async () => {
      const base = new ScriptedDispatcher()
      const handler = new CopyingHandler()
      base.compose(make()).dispatch(GET, handler)
      base.last.start().head(200, { a: 'b' }).lend('one').lend('two').end()
      await turns(5)
      assert.equal(handler.text, name === 'dump' ? '' : 'onetwo')
      assert.equal(handler.lent, LENDING.has(name) ? 2 : 0)
    })

    test('a handler that has paused gets lent bytes later, unchanged', async () => {
      const base = new ScriptedDispatcher()
      const handler = new CopyingHandler()
      base.compose(make()).dispatch(GET, handler)
      const { last } = base
      last.start().head(200, { a: 'b' }).lend('one')
      handler.controller!.pause()
      last.lend('two')
      const atPause = handler.text
      handler.controller!.resume()
      last.end()
      await turns(5)
      // Whoever passes the controller on leaves it to the dispatcher to hold bytes back, and this one does not.
      if (LENDING.has(name) && !WATCHING.has(name)) assert.equal(atPause, 'one')
      assert.equal(handler.text, name === 'dump' ? '' : 'onetwo')
    })

    test('passes on a failure, once', async () => {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(make()).dispatch(GET, handler)
      const error = new Error('failed')
      base.last.start().error(error)
      await turns(5)
      assert.deepEqual(handler.errors, [error])
    })

    test('passes on an upgrade', async () => {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(make()).dispatch({ ...GET, upgrade: 'echo' }, handler)
      const socket = new PassThrough()
      base.last.start().upgrade(101, { upgrade: 'echo' }, socket)
      await turns(5)
      assert.deepEqual(handler.story, ['onRequestStart', 'onRequestUpgrade 101'])
      assert.equal(handler.socket, socket)
    })

    test('leaves the options of the caller as they are', () => {
      const base = new ScriptedDispatcher()
      const headers = Object.freeze({ accept: 'text/html' })
      const opts = Object.freeze({ ...GET, headers, query: Object.freeze({ a: '1' }) })
      base.compose(make()).dispatch(opts, new RecordingHandler())
      assert.equal(base.exchanges.length, 1)
      assert.deepEqual(opts, { ...GET, headers: { accept: 'text/html' }, query: { a: '1' } })
    })

    test('an abort reaches a request that waits in a queue', async () => {
      const base = new ScriptedDispatcher()
      let abort: (reason?: unknown) => void = () => assert.fail('no way to abort')
      const handler = Object.assign(new RecordingHandler(), {
        onRequestQueued: (given: (reason?: unknown) => void) => {
          abort = given
        },
      })
      base.compose(make()).dispatch(GET, handler)
      const { last } = base
      const reason = new Error('enough')
      const reasons: unknown[] = []
      last.handler.onRequestQueued?.((given) => {
        reasons.push(given)
        last.handler.onResponseError?.(null, given as Error)
      })
      abort(reason)
      await turns(5)
      assert.deepEqual([reasons, handler.errors], [[reason], [reason]])
    })

    test('options of a polluted prototype do not count', (t) => {
      const polluted = Object.prototype as Record<string, unknown>
      const names = ['maxRetries', 'maxSize', 'methods', 'storage', 'store', 'maxRedirections', 'threshold']
      for (const option of names) polluted[option] = 'polluted'
      t.after(() => {
        for (const option of names) delete polluted[option]
      })
      const base = new ScriptedDispatcher()
      assert.equal(base.compose(make()).dispatch(GET, new RecordingHandler()), true)
      assert.equal(base.exchanges.length, 1)
    })
  })
}

// biome-ignore lint/correctness/useYield: it throws before
function* unreadable(): Generator<[string, string]> {
  throw new Error('no more')
}

/** Calls that the dispatcher, or an interceptor before it, refuses. */
const WRONG: Record<string, (base: ScriptedDispatcher) => [Dispatcher, object]> = {
  'a client': () => [new Client('http://a.test'), { path: 'x' }],
  auth: (base) => [base.compose(all['auth']!()), { headers: unreadable() }],
  cache: (base) => [base.compose(interceptors.cache()), { headers: unreadable() }],
  compress: (base) => [base.compose(interceptors.compress()), { headers: unreadable() }],
  cookies: (base) => [base.compose(interceptors.cookies()), { cookies: 5 }],
  dns: (base) => [base.compose(all['dns']!()), { headers: unreadable() }],
  dump: (base) => [base.compose(interceptors.dump()), { dumpMaxSize: -1 }],
  redirect: (base) => [base.compose(interceptors.redirect()), { maxRedirections: -1 }],
  throttle: (base) => [base.compose(interceptors.throttle()), { priority: 99 }],
}

for (const [name, make] of Object.entries(WRONG)) {
  test(`${name}: the body of a call that is refused is destroyed`, async () => {
    const base = new ScriptedDispatcher()
    const [dispatcher, wrong] = make(base)
    const body = new PassThrough()
    const handler = new RecordingHandler()
    const uncaught = await uncaughtDuring(() => {
      dispatcher.dispatch({ ...GET, method: 'POST', body, ...wrong }, handler)
    })
    assert.deepEqual([handler.errors.length, body.errored, uncaught], [1, handler.error, []])
    assert.equal(base.exchanges.length, 0)
  })
}

for (const [name, make] of [
  ['RedirectHandler', (handler: DispatchHandler) => new WatchedRedirect(() => true, 1, GET, handler)],
  ['RetryHandler', (handler: DispatchHandler) => new WatchedRetry(GET, { dispatch: () => true, handler })],
] as const) {
  test(`a subclass of ${name} sees all of the body`, () => {
    const handler = new CopyingHandler()
    const watched = make(handler)
    new ScriptedDispatcher((exchange) => {
      exchange.start().head(200).lend('one').lend('two').end()
    }).dispatch(GET, watched)
    assert.deepEqual([watched.seen, handler.text], ['onetwo', 'onetwo'])
  })
}

test('an interceptor gets the origin of a pool, null of a BalancedPool, undefined of others', async (t) => {
  const seen: unknown[] = []
  const watching: Interceptor = (dispatch, origin) => {
    seen.push(origin)
    return dispatch
  }
  const pools = [new Pool('http://a.test'), new BalancedPool(['http://a.test', 'http://b.test'])]
  t.after(() => Promise.all(pools.map((pool) => pool.destroy())))
  for (const pool of pools) pool.compose(watching)
  new ScriptedDispatcher().compose(watching)
  assert.deepEqual(seen, ['http://a.test', null, undefined])
})
