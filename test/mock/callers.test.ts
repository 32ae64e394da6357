/** Mocks under every way to make a request: `request`, `stream`, `pipeline`, `fetch`, the runtime's `fetch`, interceptors. */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  DecoratorHandler,
  type Dispatcher,
  fetch,
  interceptors,
  type MockAgent,
  RetryAgent,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { mocking, ORIGIN } from './mocking.ts'

type Send = (dispatcher: Dispatcher) => Promise<{ status: number; header: unknown; text: string }>

const CALLERS: Record<string, Send> = {
  request: async (dispatcher) => {
    const { statusCode, headers, body } = await dispatcher.request({
      origin: ORIGIN,
      path: '/',
      method: 'POST',
      body: 'sent',
    })
    return { status: statusCode, header: headers['x-a'], text: await body.text() }
  },
  stream: async (dispatcher) => {
    let received = ''
    let head: { statusCode: number; headers: Record<string, unknown> } | null = null
    const { trailers } = await dispatcher.stream(
      { origin: ORIGIN, path: '/', method: 'POST', body: 'sent' },
      (data) => {
        head = data
        return new Writable({
          write(chunk: Buffer, _, done) {
            received += chunk
            done()
          },
        })
      },
    )
    assert.deepEqual(trailers, { 'x-t': '1' })
    return { status: head!.statusCode, header: head!.headers['x-a'], text: received }
  },
  pipeline: async (dispatcher) => {
    let head: { statusCode: number; headers: Record<string, unknown> } | null = null
    const duplex = dispatcher.pipeline({ origin: ORIGIN, path: '/', method: 'POST' }, (data) => {
      head = data
      return data.body
    })
    duplex.end('sent')
    const received = await text(duplex)
    return { status: head!.statusCode, header: head!.headers['x-a'], text: received }
  },
  fetch: async (dispatcher) => {
    const response = await fetch(`${ORIGIN}/`, { method: 'POST', body: 'sent', dispatcher })
    return { status: response.status, header: response.headers.get('x-a'), text: await response.text() }
  },
  'the fetch of the runtime': async (dispatcher) => {
    const response = await globalThis.fetch(`${ORIGIN}/`, {
      method: 'POST',
      body: 'sent',
      dispatcher,
    } as object)
    return { status: response.status, header: response.headers.get('x-a'), text: await response.text() }
  },
}

const options = { headers: { 'x-a': 'b' }, trailers: { 'x-t': '1' } }
type Define = (interceptor: ReturnType<ReturnType<MockAgent['get']>['intercept']>) => unknown
const FORMS: Record<string, Define> = {
  'a fixed reply': (interceptor) => interceptor.reply(201, 'got', options),
  'a data function': (interceptor) => interceptor.reply(201, () => 'got', options),
  'an async data function': (interceptor) => interceptor.reply(201, async () => 'got', options),
  'a function that reads the body': (interceptor) =>
    interceptor.reply(201, async ({ body }) => ((await textOf(body)) === 'sent' ? 'got' : ''), options),
  'a reply function': (interceptor) =>
    interceptor.reply(() => ({ statusCode: 201, data: 'got', responseOptions: options })),
  'an async reply function': (interceptor) =>
    interceptor.reply(async () => ({ statusCode: 201, data: 'got', responseOptions: options })),
  'a delayed reply': (interceptor) => interceptor.reply(201, 'got', options).delay(2),
  'a streamed reply': (interceptor) => interceptor.reply(201, () => ['g', 'ot'].values(), options),
}

/** A stream comes in pieces. */
async function textOf(body: unknown): Promise<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return String(body)
  let text = ''
  for await (const piece of body as AsyncIterable<unknown>) text += String(piece)
  return text
}

for (const [caller, send] of Object.entries(CALLERS)) {
  describe(caller, () => {
    for (const [form, define] of Object.entries(FORMS)) {
      test(`${caller} gets ${form}`, async (t) => {
        const { agent, pool } = mocking(t)
        define(pool.intercept({ path: '/', method: 'POST' }))
        assert.deepEqual(await send(agent), { status: 201, header: 'b', text: 'got' })
        assert.deepEqual(agent.pendingInterceptors(), [])
      })
    }

    test(`${caller} gets an error of a mock`, async (t) => {
      const { agent, pool } = mocking(t)
      const error = new Error('mocked')
      pool.intercept({ path: '/', method: 'POST' }).replyWithError(error)
      const reason = await failure(send(agent))
      assert.ok(reason === error || reason.cause === error)
    })
  })
}

for (const [name, send] of [
  ['fetch', fetch],
  ['the fetch of the runtime', globalThis.fetch as unknown as typeof fetch],
] as const) {
  describe(`${name} on mocks`, () => {
    test(`${name} on mocks follows redirects between origins, decodes, and sees each cookie`, async (t) => {
      const { agent, pool } = mocking(t)
      pool.intercept({ path: '/' }).reply(302, '', { headers: { location: 'http://b.test/next' } })
      agent
        .get('http://b.test')
        .intercept({ path: '/next' })
        .reply(200, gzipSync('unpacked'), {
          headers: { 'content-encoding': 'gzip', 'set-cookie': ['a=1', 'b=2'] },
        })
      const response = await send(`${ORIGIN}/`, { dispatcher: agent } as object)
      assert.deepEqual([response.redirected, await response.text()], [true, 'unpacked'])
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
    })

    test(`${name} on mocks gets a 401, an empty 204, and aborts a delay`, async (t) => {
      const { agent, pool } = mocking(t)
      pool.intercept({ path: '/' }).reply(401, 'no', { headers: { 'www-authenticate': 'Basic' } })
      pool.intercept({ path: '/' }).reply(204)
      pool.intercept({ path: '/' }).reply(200).delay(60_000)
      const init = { dispatcher: agent } as object
      assert.equal((await send(`${ORIGIN}/`, init)).status, 401)
      assert.equal((await send(`${ORIGIN}/`, init)).status, 204)
      const signal = AbortSignal.timeout(5)
      assert.equal((await failure(send(`${ORIGIN}/`, { ...init, signal }))).name, 'TimeoutError')
    })

    test(`${name} on mocks gets a large body, read slowly`, async (t) => {
      const { agent, pool } = mocking(t)
      function* pieces(): Generator<Buffer> {
        for (let i = 0; i < 64; i++) yield Buffer.alloc(64 * 1024, 'x')
      }
      pool.intercept({ path: '/' }).reply(200, () => pieces())
      const response = await send(`${ORIGIN}/`, { dispatcher: agent } as object)
      let length = 0
      for await (const chunk of response.body!) length += chunk.length
      assert.equal(length, 64 * 64 * 1024)
    })
  })
}

test('a composed view: each attempt of an interceptor uses up a match', async (t) => {
  const { agent, pool } = mocking(t)
  pool.intercept({ path: '/' }).reply(503).times(2)
  pool.intercept({ path: '/' }).reply(200, 'at last')
  const retrying = agent.compose((dispatch) => (opts, handler) => {
    let left = 2
    const attempt = (): boolean =>
      dispatch(
        opts,
        new (class extends DecoratorHandler {
          #retries = false
          override onResponseStart(...args: Parameters<DecoratorHandler['onResponseStart']>): void {
            this.#retries = args[1] === 503 && left-- > 0
            if (!this.#retries) super.onResponseStart(...args)
          }
          override onResponseData(...args: Parameters<DecoratorHandler['onResponseData']>): void {
            if (!this.#retries) super.onResponseData(...args)
          }
          override onResponseEnd(...args: Parameters<DecoratorHandler['onResponseEnd']>): void {
            if (this.#retries) attempt()
            else super.onResponseEnd(...args)
          }
        })(handler),
      )
    return attempt()
  })
  const { statusCode, body } = await retrying.request({ origin: ORIGIN, path: '/', method: 'GET' })
  assert.deepEqual([statusCode, await body.text()], [200, 'at last'])
})

test('interceptors.retry: each attempt uses up a match', async (t) => {
  const { agent, pool } = mocking(t)
  pool.intercept({ path: '/' }).reply(503).times(2)
  pool.intercept({ path: '/' }).reply(200, 'at last')
  const retrying = agent.compose(interceptors.retry({ minTimeout: 1, maxTimeout: 1 }))
  const { statusCode, body } = await retrying.request({ origin: ORIGIN, path: '/', method: 'GET' })
  assert.deepEqual([statusCode, await body.text()], [200, 'at last'])
  assert.deepEqual(agent.pendingInterceptors(), [])
})

test('interceptors.redirect: between two mocked origins', async (t) => {
  const { agent, pool } = mocking(t)
  pool.intercept({ path: '/' }).reply(302, '', { headers: { location: 'http://b.test/next' } })
  agent.get('http://b.test').intercept({ path: '/next' }).reply(200, 'there')
  const following = agent.compose(interceptors.redirect({ maxRedirections: 3 }))
  const { statusCode, body } = await following.request({ origin: ORIGIN, path: '/', method: 'GET' })
  assert.deepEqual([statusCode, await body.text()], [200, 'there'])
})

test('RetryAgent: an error of a mock, then a reply; a fault, then a reply', async (t) => {
  const { agent, pool } = mocking(t)
  const retrying = new RetryAgent(agent, { minTimeout: 1, maxTimeout: 1 })
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  pool.intercept({ path: '/' }).replyWithError(reset)
  pool.intercept({ path: '/' }).reply(200, 'first')
  pool.intercept({ path: '/' }).fault('reset-before-head')
  pool.intercept({ path: '/' }).reply(200, 'second')
  for (const expected of ['first', 'second']) {
    const { body } = await retrying.request({ origin: ORIGIN, path: '/', method: 'GET' })
    assert.equal(await body.text(), expected)
  }
})
