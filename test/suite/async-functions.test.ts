/**
 * Asynchronous functions of a caller: an interceptor may wait before it sends a request on, and may fail meanwhile; where an
 * answer must come at once, a promise is refused. No rejection ends the process, and every request settles once.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  type DispatchController,
  Dispatcher,
  Dispatcher1Wrapper,
  type DispatchHandler,
  type DispatchOptions,
  EventSource,
  fetch,
  type Interceptor,
  interceptors,
  Pool,
  ProxyAgent,
  RetryAgent,
  RoundRobinPool,
  WebSocket,
} from '../../src/index.ts'
import { echo, failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const
const FAILED = new Error('no token')

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type AsyncDispatch = (opts: DispatchOptions, handler: DispatchHandler) => Promise<boolean>

/** The types of `compose` know interceptors that answer at once. */
function asynchronous(make: (dispatch: Parameters<Interceptor>[0]) => AsyncDispatch): Interceptor {
  return make as unknown as Interceptor
}

const refusing = asynchronous(() => async (_opts, _handler) => {
  await turn()
  throw FAILED
})

/** The runtime reports a rejection that nobody handles at the end of a turn. */
function watchRejections(t: TestContext): unknown[] {
  const seen: unknown[] = []
  const note = (error: unknown): void => void seen.push(error)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  return seen
}

const causeOf = async (call: Promise<unknown>): Promise<unknown> => (await failure(call)).cause

overEachWire('asynchronous interceptors', (wire) => {
  test('send the request on when they are ready', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const waiting = asynchronous((dispatch) => async (opts, handler) => {
      await turn()
      return dispatch(opts, { ...handler })
    })
    const client = origin.client().compose(waiting)
    assert.equal((await client.request(GET)).statusCode, 200)
    assert.equal((await fetch(origin.url, { dispatcher: client })).status, 200)
  })

  test('fail the request that they refuse, and its body', async (t) => {
    const unhandled = watchRejections(t)
    const origin = await startOrigin(t, wire, echo)
    const client = origin.client().compose(refusing)
    assert.equal(await failure(client.request(GET)), FAILED)
    assert.equal(await causeOf(fetch(origin.url, { dispatcher: client })), FAILED)
    const body = new Readable({ read() {} })
    const handler = new RecordingHandler()
    client.dispatch({ path: '/', method: 'POST', body }, handler)
    await handler.settled
    assert.deepEqual([handler.calls, handler.error], [['onResponseError'], FAILED])
    assert.equal(body.destroyed, true)
    await turn()
    assert.deepEqual(unhandled, [])
  })

  test('fail a request that is on its way, and not one that has settled', async (t) => {
    const unhandled = watchRejections(t)
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/done') response.end('x')
    })
    const arrived = once(origin.server, 'request')
    const late = asynchronous((dispatch) => async (opts, handler) => {
      let settled!: () => void
      const done = new Promise<void>((resolve) => {
        settled = resolve
      })
      dispatch(opts, {
        ...handler,
        onResponseEnd(controller, trailers) {
          handler.onResponseEnd!(controller, trailers)
          settled()
        },
      })
      await (opts.path === '/done' ? done : arrived)
      throw FAILED
    })
    const client = origin.client().compose(late)
    const pending = new RecordingHandler()
    client.dispatch(GET, pending)
    assert.equal((await pending.settled).error, FAILED)
    const complete = new RecordingHandler()
    client.dispatch({ path: '/done', method: 'GET' }, complete)
    await complete.settled
    await turn()
    assert.deepEqual([complete.errors, complete.calls.at(-1)], [[], 'onResponseEnd'])
    assert.deepEqual([pending.errors.length, unhandled], [1, []])
  })

  test('one behind the other fail a request once', async (t) => {
    const unhandled = watchRejections(t)
    const origin = await startOrigin(t, wire, echo)
    const passing = asynchronous((dispatch) => async (opts, handler) => dispatch(opts, handler))
    const handler = new RecordingHandler()
    origin.client().compose(refusing, passing, passing).dispatch(GET, handler)
    await handler.settled
    await turn()
    assert.deepEqual([handler.calls, unhandled], [['onResponseError'], []])
  })
})

/** A plain function: nothing but what it returns tells that it waits. */
const returnsPromise = asynchronous(() => (_opts, _handler) => turn().then(() => Promise.reject(FAILED)))

/** As promises of other libraries. */
const returnsThenable = asynchronous(() => (_opts, _handler) => {
  // biome-ignore lint/suspicious/noThenProperty: it is what this is about
  const thenable = { then: (_ok: unknown, fail: (error: Error) => void) => void setImmediate(fail, FAILED) }
  return thenable as unknown as Promise<boolean>
})

overEachWire('interceptors that return promises', (wire) => {
  for (const [name, refuse] of Object.entries({ refusing, returnsPromise, returnsThenable })) {
    test(`fail the request once: ${name}`, async (t) => {
      const unhandled = watchRejections(t)
      const origin = await startOrigin(t, wire, echo)
      const ignoring: Interceptor = (dispatch) => (opts, handler) => {
        dispatch(opts, { ...handler })
        return true
      }
      const { retry, redirect, decompress, dump, responseError, throttle, dns } = interceptors
      const stacks: Record<string, Interceptor[]> = {
        alone: [refuse],
        'behind one that ignores it': [refuse, ignoring],
        'behind those of the library': [
          refuse,
          retry({ maxRetries: 0 }),
          redirect(),
          decompress(),
          dump(),
          responseError(),
          throttle({ concurrency: 9 }),
          dns(),
        ],
      }
      for (const [stack, list] of Object.entries(stacks)) {
        const client = origin.client().compose(...list)
        assert.equal(await failure(client.request(GET)), FAILED, stack)
        assert.equal(await failure(client.stream(GET, () => assert.fail())), FAILED, stack)
        assert.equal(await failure(client.upgrade({ path: '/' })), FAILED, stack)
        assert.equal(await failure(client.connect({ path: 'a:1' })), FAILED, stack)
        const duplex = client.pipeline({ path: '/', method: 'POST' }, ({ body }) => body)
        assert.equal((await once(duplex, 'error'))[0], FAILED, stack)
        assert.equal(await causeOf(fetch(origin.url, { dispatcher: client })), FAILED, stack)
        const body = new Readable({ read() {} })
        const handler = new RecordingHandler()
        client.dispatch({ path: '/', method: 'POST', body }, handler)
        await handler.settled
        await turn()
        assert.deepEqual([handler.error, handler.errors.length, body.destroyed], [FAILED, 1, true], stack)
      }
      await turn()
      assert.deepEqual(unhandled, [])
    })
  }

  test('may resolve with anything', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const answering = asynchronous((dispatch) => (opts, handler) => {
      dispatch(opts, { ...handler })
      return Promise.resolve(false)
    })
    const client = origin.client().compose(answering)
    assert.equal((await client.request(GET)).statusCode, 200)
    assert.equal((await fetch(origin.url, { dispatcher: client })).status, 200)
  })
})

/** A dispatcher that is not ours. */
class Foreign extends Dispatcher {
  readonly #answers: boolean

  constructor(answers = false) {
    super()
    this.#answers = answers
  }

  override dispatch(_opts: DispatchOptions, handler: DispatchHandler): boolean {
    return this.#answer(handler) as unknown as boolean
  }
  async #answer(handler: DispatchHandler): Promise<never> {
    if (this.#answers) {
      const controller = { abort() {}, pause() {}, resume() {} } as unknown as DispatchController
      handler.onRequestStart?.(controller, null)
      handler.onResponseStart?.(controller, 200, {}, 'OK')
      handler.onResponseData?.(controller, Buffer.from('whole'))
      handler.onResponseEnd?.(controller, {})
    }
    await turn()
    throw FAILED
  }
  override close(...args: unknown[]): Promise<void> {
    for (const done of args) if (typeof done === 'function') queueMicrotask(done as () => void)
    return Promise.resolve()
  }
  override destroy(...args: unknown[]): Promise<void> {
    return this.close(...args)
  }
}

type Make = (answers?: boolean) => Dispatcher

const FOREIGN: Record<string, Make> = {
  itself: (answers) => new Foreign(answers),
  'composed with nothing': (answers) => new Foreign(answers).compose(),
  composed: (answers) => new Foreign(answers).compose(interceptors.retry(), interceptors.redirect()),
  'in a Dispatcher1Wrapper': (answers) => new Dispatcher1Wrapper(new Foreign(answers)),
  'of a RetryAgent': (answers) => new RetryAgent(new Foreign(answers), { maxRetries: 1, minTimeout: 1 }),
  'made for an Agent': (answers) => new Agent({ factory: () => new Foreign(answers) }),
  'made for a Pool': (answers) => new Pool('http://a.test', { factory: () => new Foreign(answers) }),
  'made for a BalancedPool': (answers) =>
    new BalancedPool('http://a.test', { factory: () => new Foreign(answers) }),
  'made for a ProxyAgent': (answers) =>
    new ProxyAgent({
      uri: 'http://a.test',
      proxyTunnel: false,
      clientFactory: () => new Foreign(answers),
    }),
}

for (const [name, make] of Object.entries(FOREIGN)) {
  if (name === 'itself') continue
  test(`a dispatcher that answers and then rejects settles the request once: ${name}`, async (t) => {
    const unhandled = watchRejections(t)
    const dispatcher = make(true)
    t.after(() => dispatcher.destroy())
    const handler = new RecordingHandler()
    dispatcher.dispatch({ ...GET, origin: 'http://a.test' }, handler)
    await handler.settled
    for (let i = 0; i < 5; i++) await turn()
    assert.deepEqual([handler.body, handler.calls.at(-1), handler.errors], ['whole', 'onResponseEnd', []])
    assert.deepEqual(unhandled, [])
  })
}

for (const [name, make] of Object.entries(FOREIGN)) {
  test(`a dispatcher that rejects fails the request once: ${name}`, async (t) => {
    const unhandled = watchRejections(t)
    const dispatcher = make()
    t.after(() => dispatcher.destroy())
    const call = { ...GET, origin: 'http://a.test' } as const
    assert.equal((await failure(dispatcher.request(call))).message, FAILED.message)
    assert.equal((await failure(dispatcher.stream(call, () => assert.fail()))).message, FAILED.message)
    assert.equal((await failure(dispatcher.upgrade({ ...call, protocol: 'x' }))).message, FAILED.message)
    assert.equal((await failure(dispatcher.connect({ ...call, path: 'a:1' }))).message, FAILED.message)
    const duplex = dispatcher.pipeline({ ...call, method: 'POST' }, ({ body }) => body)
    assert.equal((await once(duplex, 'error'))[0].message, FAILED.message)
    const cause = (await causeOf(fetch('http://a.test', { dispatcher }))) as Error
    assert.equal(cause.message, FAILED.message)
    const socket = new WebSocket('ws://a.test', { dispatcher })
    const [{ error }] = (await once(socket, 'error')) as [{ error: Error }]
    assert.equal((error.cause as Error).message, FAILED.message)
    const source = new EventSource('http://a.test', { dispatcher })
    await once(source, 'error')
    source.close()
    if (name !== 'itself') {
      const body = new Readable({ read() {} })
      const handler = new RecordingHandler()
      dispatcher.dispatch({ ...call, method: 'POST', body }, handler)
      await handler.settled
      await turn()
      const failures = handler.errors.map(({ message }) => message)
      assert.deepEqual([failures, body.destroyed], [[FAILED.message], true])
    }
    await turn()
    assert.deepEqual(unhandled, [])
  })
}

/** A function that must answer at once. */
const rejecting = async (): Promise<never> => {
  throw FAILED
}

const MAKERS: Record<string, (url: string) => Dispatcher> = {
  'factory of Agent': () => new Agent({ factory: rejecting as never }),
  'factory of Pool': (url) => new Pool(url, { factory: rejecting as never }),
  'factory of RoundRobinPool': (url) => new RoundRobinPool(url, { factory: rejecting as never }),
  'factory of BalancedPool': (url) => new BalancedPool(url, { factory: rejecting as never }),
  'clientFactory of ProxyAgent': (url) => new ProxyAgent({ uri: url, clientFactory: rejecting as never }),
}

overEachWire('functions that must answer at once and reject', (wire) => {
  for (const [name, make] of Object.entries(MAKERS)) {
    test(name, async (t) => {
      const unhandled = watchRejections(t)
      const { url } = await startOrigin(t, wire, echo)
      await assert.rejects(async () => {
        const dispatcher = make(url)
        t.after(() => dispatcher.destroy())
        await dispatcher.request({ ...GET, origin: url })
      }, TypeError)
      await turn()
      assert.deepEqual(unhandled, [])
    })
  }

  test('an interceptor, the factory of stream() and the handler of pipeline()', async (t) => {
    const unhandled = watchRejections(t)
    const client = (await startOrigin(t, wire, echo)).client()
    assert.throws(() => client.compose(rejecting as never), /^TypeError: invalid interceptor$/)
    assert.equal((await failure(client.stream(GET, rejecting as never))).message, 'expected Writable')
    const duplex = client.pipeline(GET, rejecting as never)
    const [error] = await once(duplex.end(), 'error')
    assert.equal(error.message, 'expected Readable')
    await turn()
    assert.deepEqual(unhandled, [])
  })
})
