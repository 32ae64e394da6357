/**
 * What a caller's handler throws may have any code, such as that of another connection. It says nothing about
 * the server.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import { it } from 'node:test'
import { type DispatchHandler, type DnsLookup, type Interceptor, interceptors } from '../../src/index.ts'
import { type Listener, startOrigin } from '../support/wire.ts'
import { composedAgent, overTwoWires } from './two-wires.ts'

const HOOKS = ['onRequestQueued', 'onRequestStart', 'onResponseStart', 'onResponseData'] as const

/** The reset of another connection, which the handler writes to. */
function reset(): Error {
  return Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', syscall: 'write' })
}

/** A handler with a method that fails; `ended` is emitted with the error that it gets. */
function failingIn(
  hook: (typeof HOOKS)[number],
  error: Error,
  isAsync: boolean,
): [DispatchHandler, EventEmitter] {
  const events = new EventEmitter()
  const fail = (): unknown => {
    if (isAsync) return Promise.reject(error)
    throw error
  }
  const handler: DispatchHandler = {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd: () => void events.emit('ended', null),
    onResponseError: (_controller, got) => void events.emit('ended', got),
    [hook]: fail,
  }
  return [handler, events]
}

/** Leaves a failing request time to fail. */
const answer: Listener = (request, response) => {
  if (request.url === '/failing') response.write('hello')
  else response.end('hello')
}

overTwoWires('an error with a network code', (wire) => {
  const stacks: Record<string, () => Interceptor[]> = {
    'a circuit breaker': () => [breaker()],
    'a circuit breaker within other interceptors': () => [
      breaker(),
      interceptors.redirect(),
      interceptors.decompress(),
    ],
    'a circuit breaker around others': () => [interceptors.redirect(), interceptors.decompress(), breaker()],
  }
  const breaker = (): Interceptor => interceptors.circuitBreaker({ minRequests: 1, threshold: 0.1 })

  for (const hook of HOOKS) {
    for (const isAsync of [false, true]) {
      const from = `${isAsync ? 'rejected' : 'thrown'} by ${hook}`
      for (const [stack, make] of Object.entries(stacks)) {
        it(`${from} is not counted by ${stack}`, async (t) => {
          const origin = await startOrigin(t, wire, answer)
          const agent = composedAgent(t, wire, ...make())
          const error = reset()
          const [handler, events] = failingIn(hook, error, isAsync)
          const ended = once(events, 'ended')
          agent.dispatch({ origin: origin.url, path: '/failing', method: 'GET' }, handler)
          assert.deepEqual(await ended, [error])
          const { statusCode, body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
          assert.equal(statusCode, 200)
          assert.equal(await body.text(), 'hello')
        })
      }

      it(`${from} does not repeat the request`, async (t) => {
        let requests = 0
        const origin = await startOrigin(t, wire, (request, response) => {
          if (request.url === '/failing') requests++
          answer(request, response)
        })
        const retries: unknown[] = []
        const listen = (message: unknown): void => void retries.push(message)
        subscribe('ventuno:request:retry', listen)
        t.after(() => unsubscribe('ventuno:request:retry', listen))
        const agent = composedAgent(t, wire, interceptors.retry({ minTimeout: 0, jitter: 0 }))
        const error = reset()
        const [handler, events] = failingIn(hook, error, isAsync)
        const ended = once(events, 'ended')
        agent.dispatch({ origin: origin.url, path: '/failing', method: 'GET' }, handler)
        assert.deepEqual(await ended, [error])
        assert.deepEqual(Object.keys(error), ['code', 'syscall'])
        const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
        assert.equal(await body.text(), 'hello')
        assert.ok(requests <= 1, `${requests} requests`)
        assert.deepEqual(retries, [])
      })
    }
  }

  it('does not bring a stored response', async (t) => {
    const origin = await startOrigin(t, wire, (_request, response) => {
      response.setHeader('cache-control', 'max-age=0, stale-if-error=3600')
      response.setHeader('etag', '"1"')
      response.end('hello')
    })
    const agent = composedAgent(t, wire, interceptors.cache())
    const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    await body.text()
    const error = reset()
    const [handler, events] = failingIn('onRequestStart', error, false)
    const ended = once(events, 'ended')
    agent.dispatch({ origin: origin.url, path: '/', method: 'GET' }, handler)
    assert.deepEqual(await ended, [error])
  })

  it('does not make the dns interceptor forget the name', async (t) => {
    const origin = await startOrigin(t, wire, answer)
    let lookups = 0
    const lookup: DnsLookup = (_origin, _options, callback) => {
      lookups++
      callback(null, [{ address: '127.0.0.1', family: 4 }])
    }
    const agent = composedAgent(t, wire, interceptors.dns({ lookup }))
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    const [handler, events] = failingIn('onResponseStart', error, false)
    const ended = once(events, 'ended')
    agent.dispatch({ origin: origin.url, path: '/failing', method: 'GET' }, handler)
    assert.deepEqual(await ended, [error])
    const { body } = await agent.request({ origin: origin.url, path: '/', method: 'GET' })
    assert.equal(await body.text(), 'hello')
    assert.equal(lookups, 1)
  })
})
