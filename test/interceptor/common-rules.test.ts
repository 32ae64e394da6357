/** What holds for each interceptor alike: its shape, what it passes on, what it leaves alone. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { BalancedPool, type Interceptor, interceptors, Pool } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' }

const all: Record<string, () => Interceptor> = {
  cache: () => interceptors.cache(),
  circuitBreaker: () => interceptors.circuitBreaker(),
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
  redirect: () => interceptors.redirect({ maxRedirections: 1 }),
  responseError: () => interceptors.responseError(),
  retry: () => interceptors.retry(),
  throttle: () => interceptors.throttle({ concurrency: 10, rate: 100 }),
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
