/** A body of the caller that fails, with whatever code: neither the server nor the connection is to blame. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import {
  type BodyInput,
  type Dispatcher,
  type Interceptor,
  interceptors,
  MockAgent,
} from '../../src/index.ts'
import { contentOf, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'

/** A file that is missing, the client of a gateway that has gone, the response of another server that was lost. */
const CODES = ['ENOENT', 'ECONNRESET', 'UND_ERR_SOCKET']

const BODIES: Readonly<Record<string, (error: Error) => BodyInput>> = {
  'a stream that fails before it is read': (error) => {
    const stream = new Readable({ read() {} })
    setImmediate(() => stream.destroy(error))
    return stream
  },
  'a stream that fails after some data': (error) => {
    const stream = new Readable({ read() {} })
    stream.push('a')
    setImmediate(() => stream.destroy(error))
    return stream
  },
  'an iterable that can be read again': (error) => ({
    async *[Symbol.asyncIterator]() {
      yield Buffer.from('a')
      throw error
    },
  }),
}

async function checkFault(
  compose: (...interceptors: Interceptor[]) => Dispatcher,
  origin: string,
): Promise<void> {
  for (const code of CODES) {
    for (const body of Object.values(BODIES)) {
      let attempts = 0
      const counted: Interceptor = (dispatch) => (opts, handler) => {
        attempts++
        return dispatch(opts, handler)
      }
      const breaker = interceptors.circuitBreaker({ minRequests: 1, halfOpenAfter: 60_000 })
      const dispatcher = compose(counted, breaker, interceptors.retry({ minTimeout: 1, maxTimeout: 1 }))
      const error = Object.assign(new Error('of the body'), { code })
      const failed = dispatcher.request({ origin, path: '/', method: 'PUT', body: body(error) })
      assert.equal(await failure(failed), error)
      assert.equal(attempts, 1)
      const { body: answer } = await dispatcher.request({ origin, path: '/', method: 'PUT', body: 'whole' })
      assert.equal(await answer.text(), 'taken')
    }
  }
}

overEachWire('a body that fails', (wire) => {
  it('is not sent again, and opens no circuit', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      response.on('error', () => {})
      contentOf(request).then(
        () => response.end('taken'),
        () => {},
      )
    })
    await checkFault((...given) => origin.client().compose(...given), origin.url)
  })
})

describe('a body that fails, of a mocked request', () => {
  it('is not sent again, and opens no circuit', async (t) => {
    const agent = new MockAgent()
    t.after(() => agent.destroy())
    agent.get('http://a.test').intercept({ path: '/', method: 'PUT' }).reply(200, 'taken').persist()
    await checkFault((...given) => agent.compose(...given), 'http://a.test')
  })
})
