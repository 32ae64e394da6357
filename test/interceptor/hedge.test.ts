import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it, type TestContext, test } from 'node:test'
import {
  type DispatchHandler,
  errors,
  type HedgeOptions,
  type Interceptor,
  interceptors,
  Pool,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { deferred } from '../support/exchange.ts'
import { turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { steadyClock } from './retry-support.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

function hedging(t: TestContext, options: Partial<HedgeOptions> = {}) {
  const clock = steadyClock(t)
  const base = new ScriptedDispatcher()
  const dispatcher = base.compose(interceptors.hedge({ delay: 100, ...options }))
  const send = (given = {}, handler = new RecordingHandler()): RecordingHandler => {
    assert.equal(dispatcher.dispatch({ ...GET, ...given }, handler), true)
    return handler
  }
  return { clock, base, dispatcher, send, exchanges: base.exchanges }
}

describe('interceptors.hedge', () => {
  it('adds nothing to a request that is answered in time', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send()
    exchanges[0]!.start('context').handler.onRequestSent?.()
    exchanges[0]!.handler.onBodySent?.('x')
    exchanges[0]!.handler.onResponseStarted?.()
    exchanges[0]!.head(103).head(200).data('x').end({ t: '1' })
    assert.equal(clock.active.size, 0)
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onRequestSent',
      'onBodySent',
      'onResponseStarted',
      'onResponseStart 103',
      'onResponseStart 200',
      'onResponseData',
      'onResponseEnd',
    ])
    assert.deepEqual([handler.context, handler.trailers], ['context', { t: '1' }])
  })

  it('the first good head wins, and the other attempt is aborted', async (t) => {
    for (const winner of [0, 1]) {
      const { clock, exchanges, send } = hedging(t)
      const handler = send()
      exchanges[0]!.start()
      await clock.advance(99)
      assert.equal(exchanges.length, 1)
      await clock.advance(1)
      assert.equal(exchanges.length, 2)
      assert.deepEqual([...clock.active], [])
      exchanges[1]!.start().handler.onRequestSent?.()
      exchanges[1]!.head(103)
      const loser = exchanges[1 - winner]!.failOnAbort()
      exchanges[winner]!.head(201).data('won').end()
      loser.head(200).data('lost').end()
      assert.deepEqual(handler.story, [
        'onRequestStart',
        'onResponseStart 201',
        'onResponseData',
        'onResponseEnd',
      ])
      assert.equal(handler.body, 'won')
      assert.equal(loser.aborts.length, 1)
    }
  })

  it('maxAttempts, one after each delay', async (t) => {
    const { clock, exchanges, send } = hedging(t, { maxAttempts: 4 })
    send()
    for (const count of [2, 3, 4, 4]) {
      await clock.advance(100)
      assert.equal(exchanges.length, count)
    }
  })

  it('the delay does not keep the process alive', (t) => {
    const { clock, send } = hedging(t)
    send()
    assert.deepEqual(
      [...clock.active].map(({ referenced }) => referenced),
      [false],
    )
  })

  it('is for methods and bodies that may be sent twice', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const sentTwice = async (options: object): Promise<boolean> => {
      exchanges.length = 0
      send(options)
      await clock.advance(100)
      return exchanges.length === 2
    }
    function* generate(): Generator<string> {}
    for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(await sentTwice({ method }), true)
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'QUERY'])
      assert.equal(await sentTwice({ method }), false)
    assert.equal(await sentTwice({ body: 'x' }), true)
    assert.equal(await sentTwice({ body: generate() }), false)
    assert.equal(await sentTwice({ body: new PassThrough() }), false)
    assert.equal(await sentTwice({ idempotent: false }), false)
    assert.equal(await sentTwice({ upgrade: 'x' }), false)
    let made = 0
    assert.equal(await sentTwice({ body: () => `${++made}` }), true)
    assert.deepEqual(
      exchanges.map(({ opts }) => opts.body),
      ['1', '2'],
    )
    assert.equal(await sentTwice({ headers: new Map([['a', 'b']]).entries() }), true)
    assert.deepEqual([...(exchanges[1]!.opts.headers as Iterable<unknown>)], ['a', 'b'])
  })

  it('a bad head is kept for the case that there is no better one', async (t) => {
    for (const status of [429, 500, 503]) {
      const better = hedging(t)
      const one = better.send()
      better.exchanges[0]!.start()
      await better.clock.advance(100)
      better.exchanges[0]!.head(status)
      better.exchanges[1]!.start().head(200).end()
      assert.deepEqual(one.statuses, [200])
      assert.equal(better.exchanges[0]!.aborts.length, 1)

      const none = hedging(t)
      const two = none.send()
      none.exchanges[0]!.start()
      await none.clock.advance(100)
      none.exchanges[0]!.head(status)
      none.exchanges[1]!.start().error(new errors.SocketError())
      none.exchanges[0]!.data('sorry').end()
      assert.deepEqual([two.status, two.body], [status, 'sorry'])
    }
  })

  it('a bad head that has ended meanwhile is delivered whole; two bad heads: the second', async (t) => {
    const ended = hedging(t)
    const one = ended.send()
    ended.exchanges[0]!.start()
    await ended.clock.advance(100)
    ended.exchanges[0]!.head(503).data('sorry').end({ t: '1' })
    ended.exchanges[1]!.start().error(new errors.SocketError())
    assert.deepEqual([one.status, one.body, one.trailers], [503, 'sorry', { t: '1' }])
    const both = hedging(t)
    const two = both.send()
    both.exchanges[0]!.start()
    await both.clock.advance(100)
    both.exchanges[0]!.head(503)
    both.exchanges[1]!.start().head(500).end()
    assert.equal(two.status, 500)
    assert.equal(both.exchanges[0]!.aborts.length, 1)
  })

  it('a bad response that is too long to keep wins', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send()
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[0]!.head(503).data('x'.repeat(65_536))
    assert.deepEqual(handler.statuses, [])
    exchanges[0]!.data('y')
    assert.deepEqual(handler.statuses, [503])
    exchanges[0]!.data('z').end()
    assert.deepEqual([handler.status, handler.body.slice(65_535)], [503, 'xyz'])
    assert.equal(handler.calls.at(-1), 'onResponseEnd')
  })

  it('a pause holds back what was kept of a bad response', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send(
      {},
      new RecordingHandler((method, { controller, chunks }) => {
        if (method === 'onResponseStart' || (method === 'onResponseData' && chunks.length === 1)) {
          controller!.pause()
        }
      }),
    )
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[0]!.head(503).data('1').data('2').end({ t: '1' })
    exchanges[1]!.start().error(new errors.SocketError())
    assert.deepEqual([handler.status, handler.body], [503, ''])
    handler.controller!.resume()
    assert.deepEqual([handler.body, handler.trailers], ['1', null])
    handler.controller!.resume()
    assert.deepEqual([handler.body, handler.trailers], ['12', { t: '1' }])
  })

  it('a call without a handler is for the dispatcher to refuse', (t) => {
    const { base, dispatcher } = hedging(t)
    dispatcher.dispatch(GET, null as never)
    assert.equal(base.last.handler, null)
  })

  it('a bad head alone is delivered at once', (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send()
    exchanges[0]!.start().head(503)
    assert.equal(handler.status, 503)
    assert.equal(clock.active.size, 0)
  })

  it('retry-after stops further attempts', async (t) => {
    const { clock, exchanges, send } = hedging(t, { maxAttempts: 3 })
    send()
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[0]!.head(503, { 'retry-after': '1' })
    await clock.advance(1000)
    assert.equal(exchanges.length, 2)
  })

  it('fails when the last attempt has failed, and at once if there is only one', async (t) => {
    const alone = hedging(t)
    const one = alone.send()
    const first = new errors.SocketError('first')
    alone.exchanges[0]!.start().error(first)
    assert.equal(one.error, first)
    assert.equal(alone.clock.active.size, 0)
    const both = hedging(t)
    const two = both.send()
    both.exchanges[0]!.start()
    await both.clock.advance(100)
    both.exchanges[0]!.error(first)
    assert.equal(two.errors.length, 0)
    const second = new errors.SocketError('second')
    both.exchanges[1]!.start().error(second)
    assert.deepEqual(two.errors, [second])
  })

  it('a held response that fails is no answer', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send()
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[0]!.head(503).error(new errors.SocketError('first'))
    const second = new errors.SocketError('second')
    exchanges[1]!.start().error(second)
    assert.deepEqual(handler.errors, [second])
  })

  it('a body that breaks off fails the request', async (t) => {
    const { exchanges, send } = hedging(t)
    const handler = send()
    const error = new errors.SocketError()
    exchanges[0]!.start().head(200).data('x').error(error)
    assert.deepEqual(handler.errors, [error])
  })

  it('one controller: a pause holds for the winner, an abort ends all attempts at once', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const paused = send()
    exchanges[0]!.start()
    paused.controller!.pause()
    await clock.advance(100)
    exchanges[1]!.start().head(200)
    assert.deepEqual(exchanges[1]!.log, ['pause'])
    exchanges.length = 0
    const aborted = send()
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[1]!.start()
    const reason = new Error('enough')
    aborted.controller!.abort(reason)
    assert.equal(aborted.error, reason)
    for (const exchange of exchanges) assert.deepEqual(exchange.aborts, [reason])
    exchanges[0]!.error(new Error('late'))
    assert.equal(aborted.errors.length, 1)
  })

  it('an abort while the attempts wait in a queue', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    let abort: (reason?: unknown) => void = () => {}
    const handler = new RecordingHandler() as RecordingHandler & DispatchHandler
    handler.onRequestQueued = (given) => {
      abort = given
    }
    send({}, handler)
    const aborts: unknown[] = []
    const queue = (index: number): void =>
      exchanges[index]!.handler.onRequestQueued?.((reason) => aborts.push(reason))
    queue(0)
    await clock.advance(100)
    queue(1)
    abort()
    assert.equal((handler.error as { code?: string }).code, 'UND_ERR_ABORTED')
    assert.equal(handler.lastController, null)
    assert.equal(aborts.length, 2)
    exchanges[0]!.start()
    queue(1)
    assert.equal(exchanges[0]!.aborts.length, 1)
    assert.equal(aborts.length, 3)
  })

  it('a handler that throws is contained', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = new RecordingHandler({
      onResponseStart: () => {
        throw new Error('in the head')
      },
    })
    send({}, handler)
    exchanges[0]!.start()
    await clock.advance(100)
    exchanges[0]!.head(503)
    exchanges[1]!.start().error(new errors.SocketError())
    assert.equal(handler.error?.message, 'in the head')
    assert.equal(exchanges[0]!.aborts.length, 1)
    const ending = new RecordingHandler({
      onResponseEnd: () => {
        throw new Error('at the end')
      },
    })
    exchanges.length = 0
    send({}, ending)
    exchanges[0]!.start().head(200).end()
    assert.equal(ending.error?.message, 'at the end')
  })

  it('a dispatcher that throws at the second attempt changes nothing', async (t) => {
    const clock = steadyClock(t)
    let calls = 0
    const base = new ScriptedDispatcher(() => {
      if (++calls === 2) throw new Error('no')
    })
    const handler = new RecordingHandler()
    base.compose(interceptors.hedge({ delay: 1 })).dispatch(GET, handler)
    await clock.advance(1)
    base.exchanges[0]!.start().head(200).end()
    assert.equal(handler.status, 200)
    const first = new ScriptedDispatcher(() => {
      throw new Error('no')
    })
    assert.throws(() => first.compose(interceptors.hedge({ delay: 1 })).dispatch(GET, handler), {
      message: 'no',
    })
    assert.equal(clock.active.size, 0)
    await turns(1)
  })

  it('an upgrade that was not asked for is passed on once', async (t) => {
    const { clock, exchanges, send } = hedging(t)
    const handler = send()
    exchanges[0]!.start()
    await clock.advance(100)
    const sockets = [new PassThrough(), new PassThrough()]
    exchanges[1]!.start().upgrade(101, {}, sockets[1]!)
    exchanges[0]!.upgrade(101, {}, sockets[0]!)
    assert.equal(handler.socket, sockets[1])
    assert.deepEqual([sockets[0]!.destroyed, sockets[1]!.destroyed], [true, false])
  })

  it('the budget limits the additional attempts', async (t) => {
    const { clock, exchanges, send } = hedging(t, { budget: { ratio: 0.5, minPerSecond: 0 } })
    for (let i = 0; i < 10; i++) send()
    await clock.advance(100)
    assert.equal(exchanges.length, 15)
  })

  it('refuses wrong options when it is made', (t) => {
    const wrong: [string, unknown[]][] = [
      ['delay', [undefined, null, -1, 'one', Number.POSITIVE_INFINITY]],
      ['maxAttempts', [0, 6, 1.5, 'two']],
      ['methods', ['GET', [1]]],
      ['budget', [5]],
    ]
    for (const [name, values] of wrong) {
      for (const value of values) {
        assert.throws(() => interceptors.hedge({ delay: 1, [name]: value } as HedgeOptions), {
          name: 'InvalidArgumentError',
          message: `invalid ${name}`,
        })
      }
    }
    assert.throws(() => interceptors.hedge(undefined as never), { message: 'options must be an object' })
    const { base, dispatcher } = hedging(t, { maxAttempts: 1 })
    dispatcher.dispatch(null as never, {})
    assert.equal(base.last.opts, null)
  })
})

overEachWire('interceptors.hedge', (wire) => {
  test('a server that answers the second attempt only', async (t) => {
    let requests = 0
    const aborted = deferred()
    const origin = await startOrigin(t, wire, (request, response) => {
      if (++requests === 2) response.end('second')
      else request.on('close', () => aborted.resolve())
    })
    const pool = new Pool(origin.url, wireOptions(wire))
    t.after(() => pool.destroy())
    const { body } = await pool
      .compose(interceptors.hedge({ delay: 1 }))
      .request({ path: '/', method: 'GET' })
    assert.equal(await body.text(), 'second')
    await aborted.promise
    assert.equal(requests, 2)
  })

  test('a bad response on the only connection does not wait for an attempt behind it', async (t) => {
    const first = deferred()
    let requests = 0
    const origin = await startOrigin(t, wire, async (_request, response) => {
      requests++
      if (requests === 1) await first.promise
      response.statusCode = 503
      response.end('sorry')
    })
    const pool = new Pool(origin.url, { ...wireOptions(wire), connections: 1, pipelining: 1 })
    t.after(() => pool.destroy())
    const counting: Interceptor = (dispatch) => {
      let sent = 0
      return (opts, handler) => {
        if (++sent === 2) setImmediate(first.resolve)
        return dispatch(opts, handler)
      }
    }
    const { statusCode, body } = await pool
      .compose(counting, interceptors.hedge({ delay: 1 }))
      .request({ path: '/', method: 'GET' })
    assert.deepEqual([statusCode, await body.text()], [503, 'sorry'])
  })
})
