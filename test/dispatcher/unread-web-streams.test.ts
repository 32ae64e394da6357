/** A web stream as the body of a request that is given up before anybody reads it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  type Dispatcher,
  fetch,
  interceptors,
  Pool,
  RetryAgent,
} from '../../src/index.ts'
import { deferred, failure } from '../support/exchange.ts'
import { startOrigin, WIRES } from '../support/wire.ts'

const ORIGIN = 'http://localhost:8080'
/** Nobody listens there. */
const CLOSED = 'http://127.0.0.1:1'

/** Never connects. */
const connect = (): void => {}

class Source {
  readonly cancelled: unknown[] = []
  readonly stream: ReadableStream<Uint8Array> = new ReadableStream({
    cancel: (reason) => {
      this.cancelled.push(reason)
    },
  })
}

const DISPATCHERS: Readonly<Record<string, () => Dispatcher>> = {
  Client: () => new Client(ORIGIN, { connect }),
  Pool: () => new Pool(ORIGIN, { connect, connections: 1 }),
  BalancedPool: () => new BalancedPool(ORIGIN, { connect }),
  Agent: () => new Agent({ connect }),
  RetryAgent: () => new RetryAgent(new Agent({ connect })),
  throttle: () => new Agent({ connect }).compose(interceptors.throttle({ concurrency: 1 })),
  dns: () => new Agent({ connect }).compose(interceptors.dns({ lookup: () => {} })),
  redirect: () => new Agent({ connect }).compose(interceptors.redirect()),
  hedge: () => new Agent({ connect }).compose(interceptors.hedge({ delay: 1000 })),
  cache: () => new Agent({ connect }).compose(interceptors.cache()),
}

describe('a web stream that nobody has read', () => {
  for (const [name, make] of Object.entries(DISPATCHERS)) {
    test(`is cancelled when its request is aborted: ${name}`, async (t) => {
      const dispatcher = make()
      t.after(() => dispatcher.destroy())
      const reason = new Error('not wanted')
      for (const method of ['PUT', 'POST'] as const) {
        const source = new Source()
        const controller = new AbortController()
        const call = { origin: ORIGIN, path: '/', method, body: source.stream, signal: controller.signal }
        const failed = failure(dispatcher.request(call))
        controller.abort(reason)
        assert.equal(await failed, reason)
        assert.deepEqual(source.cancelled, [reason])
      }
    })

    test(`is cancelled when its handler gives it up: ${name}`, async (t) => {
      const dispatcher = make()
      t.after(() => dispatcher.destroy())
      const source = new Source()
      const reason = new Error('not wanted')
      const { promise, resolve } = deferred<unknown>()
      let abort: ((reason?: unknown) => void) | null = null
      dispatcher.dispatch(
        { origin: ORIGIN, path: '/', method: 'PUT', body: source.stream },
        {
          onRequestQueued: (give) => {
            abort = give
          },
          onRequestStart: () => {},
          onResponseStart: () => {},
          onResponseData: () => {},
          onResponseEnd: () => {},
          onResponseError: (_controller, error) => resolve(error),
        },
      )
      abort!(reason)
      assert.equal(await promise, reason)
      assert.deepEqual(source.cancelled, [reason])
    })
  }

  test('is cancelled when fetch is aborted', async (t) => {
    const dispatcher = new Agent({ connect })
    t.after(() => dispatcher.destroy())
    const source = new Source()
    const controller = new AbortController()
    const init = { method: 'PUT', body: source.stream, duplex: 'half', signal: controller.signal, dispatcher }
    const failed = failure(fetch(ORIGIN, init as never))
    const reason = new Error('not wanted')
    controller.abort(reason)
    assert.equal(await failed, reason)
    assert.deepEqual(source.cancelled, [reason])
  })

  test('is cancelled when the options are refused', async (t) => {
    const client = new Client(ORIGIN, { connect })
    t.after(() => client.destroy())
    const source = new Source()
    const error = await failure(client.request({ path: 'no path', method: 'PUT', body: source.stream }))
    assert.equal(error.code, 'UND_ERR_INVALID_ARG')
    assert.deepEqual(source.cancelled, [error])
  })

  test('is sent again after an attempt that did not read it', async (t) => {
    const server = await startOrigin(t, WIRES[0]!, async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      response.end(Buffer.concat(parts))
    })
    let attempts = 0
    const agent = new Agent().compose(
      (dispatch) => (opts, handler) => {
        if (attempts++ > 0) return dispatch(opts, handler)
        return dispatch({ ...opts, origin: CLOSED }, handler)
      },
      interceptors.retry({ minTimeout: 1, methods: ['PUT'] }),
    )
    t.after(() => agent.destroy())
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('whole'))
        controller.close()
      },
    })
    const response = await agent.request({ origin: server.url, path: '/', method: 'PUT', body })
    assert.equal(await response.body.text(), 'whole')
    assert.equal(attempts, 2)
  })
})
