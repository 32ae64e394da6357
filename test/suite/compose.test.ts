import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Agent,
  Client,
  DecoratorHandler,
  Dispatcher,
  type DispatchOptions,
  type Interceptor,
  Pool,
} from '../../src/index.ts'
import { echo, readEcho } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { loadOf, overEachWay, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' }

function named(name: string, log: string[]): Interceptor {
  return (dispatch) => (opts, handler) => {
    log.push(name)
    return dispatch(opts, handler)
  }
}

overEachWay('compose()', (way) => {
  test('the last interceptor sees a request first', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const list of [true, false]) {
      const log: string[] = []
      const given = [named('inner', log), null, named('outer', log), undefined]
      const composed = list ? client.compose(given) : client.compose(...given)
      assert.equal((await readEcho(await composed.request(GET))).url, '/')
      assert.deepEqual(log, ['outer', 'inner'])
    }
  })

  test('an interceptor may change the request and the response', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const composed = client.compose((dispatch) => (opts, handler) => {
      class Shout extends DecoratorHandler {
        override onResponseStart(...args: Parameters<DecoratorHandler['onResponseStart']>): void {
          const [controller, , headers, text] = args
          super.onResponseStart(controller, 299, headers, text)
        }
      }
      return dispatch({ ...opts, headers: { 'x-added': 'yes' } }, new Shout(handler))
    })
    const response = await composed.request(GET)
    assert.equal(response.statusCode, 299)
    assert.equal((await readEcho(response)).headers['x-added'], 'yes')
  })

  test('fills in the origin on a copy of the options; an explicit one stays', async (t) => {
    if (way.kind === 'Agent') return t.skip('an agent has no origin to fill in')
    const origin = await startOrigin(t, way, echo)
    const seen: (string | URL | null | undefined)[] = []
    const composed = origin.dispatcher().compose((dispatch) => (opts, handler) => {
      seen.push(opts.origin)
      return dispatch(opts, handler)
    })
    const options: DispatchOptions = { ...GET }
    await readEcho(await composed.request(options))
    await readEcho(await composed.request({ ...GET, origin: 'http://explicit.test' }))
    assert.deepEqual(seen, [origin.url, 'http://explicit.test'])
    assert.equal(options.origin, undefined)
  })

  test('leaves the original as it was', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const log: string[] = []
    const composed = client.compose(named('seen', log))
    await readEcho(await client.request(GET))
    assert.deepEqual(log, [])
    await readEcho(await composed.request(GET))
    assert.deepEqual(log, ['seen'])
  })

  test('composed of composed', async (t) => {
    const log: string[] = []
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const twice = client.compose(named('a', log)).compose(named('b', log))
    await readEcho(await twice.request(GET))
    assert.deepEqual(log, ['b', 'a'])
  })

  test('is the original in everything else', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const composed = client.compose(named('x', []))
    assert.equal(composed instanceof { Client, Pool, Agent }[way.kind], true)
    assert.equal(composed instanceof Dispatcher, true)
    assert.deepEqual(loadOf(composed), loadOf(client))
    if (composed instanceof Client && client instanceof Client) {
      composed.pipelining = 7
      assert.equal(client.pipelining, 7)
    }
    let connected = false
    composed.on('connect', () => {
      connected = true
    })
    await readEcho(await composed.request(GET))
    assert.equal(connected, true)
    await composed.close()
    assert.equal(client.closed, true)
    assert.equal(composed.destroyed, true)
  })

  test('an interceptor may answer by itself', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    const composed = client.compose((_dispatch) => (_opts, handler) => {
      const controller = {
        abort() {},
        pause() {},
        resume() {},
        aborted: false,
        paused: false,
        reason: null,
      }
      handler.onRequestStart?.(controller, 'a context')
      handler.onResponseStart?.(controller, 203, { a: 'b' }, '')
      handler.onResponseData?.(controller, Buffer.from('made up'))
      handler.onResponseEnd?.(controller, {})
      return true
    })
    const response = await composed.request({ ...GET, responseHeaders: 'raw' })
    assert.equal(response.statusCode, 203)
    assert.deepEqual(response.headers, ['a', 'b'])
    assert.equal(response.context, 'a context')
    assert.equal(await response.body.text(), 'made up')
    assert.equal(loadOf(client).connected, 0)
  })

  test('handlers of the older generation are brought up to date for interceptors', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    let modern = false
    const composed = client.compose((dispatch) => (opts, handler) => {
      modern = typeof handler.onRequestStart === 'function'
      return dispatch(opts, handler)
    })
    await new Promise<void>((resolve, reject) => {
      composed.dispatch(GET, {
        onConnect() {},
        onHeaders: () => true,
        onData: () => true,
        onComplete: () => resolve(),
        onError: reject,
      })
    })
    assert.equal(modern, true)
    const recorded = new RecordingHandler()
    composed.dispatch(GET, recorded)
    await recorded.settled
    assert.equal(recorded.error, undefined)
  })

  test('wrong interceptors', async (t) => {
    const client = (await startOrigin(t, way, echo)).dispatcher()
    for (const wrong of ['x', 1, {}]) {
      assert.throws(() => client.compose(wrong as never), {
        name: 'TypeError',
        message: `invalid interceptor, expected function received ${typeof wrong}`,
      })
    }
    for (const returned of [null, 'x', () => true, (_a: unknown) => true]) {
      assert.throws(() => client.compose(() => returned as never), {
        name: 'TypeError',
        message: 'invalid interceptor',
      })
    }
  })
})
