/** `fetch` on other dispatchers: those that know only the older handlers, and those that know only the newer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Agent,
  type DispatchHandler,
  type DispatchOptions,
  type LegacyDispatchHandler,
  Request,
} from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { deferred, type Echo, echo, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

/** Exposes a handler's methods of only one generation, as a dispatcher of that generation calls them. */
class OneGeneration {
  readonly #agent: Agent
  readonly #names: readonly string[]
  readonly seen: DispatchOptions[] = []

  constructor(agent: Agent, names: readonly string[]) {
    this.#agent = agent
    this.#names = names
  }

  dispatch(options: DispatchOptions, handler: DispatchHandler & LegacyDispatchHandler): boolean {
    this.seen.push(options)
    const known: Record<string, unknown> = {}
    for (const name of this.#names) {
      const method = (handler as unknown as Record<string, unknown>)[name]
      assert.equal(typeof method, 'function', name)
      known[name] = (...args: unknown[]) => Reflect.apply(method as () => unknown, handler, args)
    }
    return this.#agent.dispatch(options, known as DispatchHandler)
  }
}

const OLDER = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError']
const NEWER = ['onRequestStart', 'onResponseStart', 'onResponseData', 'onResponseEnd', 'onResponseError']

for (const [generation, names] of [
  ['older', OLDER],
  ['newer', NEWER],
] as const) {
  overEachWire(`a dispatcher of the ${generation} generation`, (wire) => {
    test('a request and its response', async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        response.setHeader('x-many', ['1', '2'])
        echo(request, response)
      })
      const dispatcher = new OneGeneration(agentFor(t, wire), names)
      const response = await fetch(`${origin.url}/x`, { dispatcher, method: 'POST', body: 'text' })
      assert.deepEqual([response.status, response.type], [200, 'basic'])
      assert.deepEqual(response.headers.getSetCookie(), ['a=1', 'b=2'])
      assert.equal(response.headers.get('x-many'), '1, 2')
      const got = (await response.json()) as Echo
      assert.deepEqual([got.method, got.url, got.body], ['POST', '/x', 'text'])
      assert.equal(dispatcher.seen[0]!.body, 'text')
    })

    test('a large body waits until it is read', async (t) => {
      const size = 4_000_000
      const origin = await startOrigin(t, wire, (_, response) => response.end(Buffer.alloc(size, 'x')))
      const dispatcher = new OneGeneration(agentFor(t, wire), names)
      const response = await fetch(origin.url, { dispatcher })
      await new Promise(setImmediate)
      let read = 0
      for await (const chunk of response.body!) read += chunk.length
      assert.equal(read, size)
      assert.equal((await (await fetch(origin.url, { dispatcher })).bytes()).length, size)
    })

    test('aborts, cancels and failures', async (t) => {
      const arrived = deferred()
      const closed: Promise<void>[] = []
      const origin = await startOrigin(t, wire, (request, response) => {
        const { promise, resolve } = deferred()
        closed.push(promise)
        response.on('close', resolve)
        if (request.url === '/wait') arrived.resolve()
        else if (request.url === '/die') response.write('x', () => origin.sockets.at(-1)!.destroy())
        else response.write('x')
      })
      const dispatcher = new OneGeneration(agentFor(t, wire), names)
      const controller = new AbortController()
      const waiting = failure(fetch(`${origin.url}/wait`, { dispatcher, signal: controller.signal }))
      await arrived.promise
      controller.abort('mine')
      assert.equal(await waiting, 'mine' as never)
      await (await fetch(origin.url, { dispatcher })).body!.cancel()
      await Promise.all(closed)
      const dying = await fetch(`${origin.url}/die`, { dispatcher })
      const error = await failure(dying.text())
      assert.equal(error.message, 'terminated')
      assert.ok(error.cause instanceof Error)
    })

    test('a redirect', async (t) => {
      const origin = await startOrigin(t, wire, (request, response) => {
        if (request.url === '/there') response.end('there')
        else response.writeHead(302, { location: '/there' }).end('moved')
      })
      const dispatcher = new OneGeneration(agentFor(t, wire), names)
      const response = await fetch(origin.url, { dispatcher })
      assert.deepEqual([await response.text(), response.redirected], ['there', true])
    })
  })
}

overEachWire('what a dispatcher gets', (wire) => {
  test('origin, path, method, headers, body; and the time limits of init', async (t) => {
    const seen: DispatchOptions[] = []
    const dispatcher = {
      dispatch(options: DispatchOptions, handler: DispatchHandler): boolean {
        seen.push(options)
        handler.onResponseError!(null, new Error('mine'))
        return true
      },
    }
    const scheme = wire.secure ? 'https' : 'http'
    const error = await failure(
      fetch(`${scheme}://a.test/x?#f`, {
        dispatcher,
        method: 'PUT',
        body: new Uint8Array([1]),
        headersTimeout: 1,
        bodyTimeout: 2,
      }),
    )
    assert.deepEqual([error.message, (error.cause as Error).message], ['fetch failed', 'mine'])
    const { origin, path, method, body, headersTimeout, bodyTimeout, headers } = seen[0]!
    assert.deepEqual(
      { origin, path, method, body, headersTimeout, bodyTimeout },
      {
        origin: `${scheme}://a.test`,
        path: '/x?',
        method: 'PUT',
        body: Buffer.from([1]),
        headersTimeout: 1,
        bodyTimeout: 2,
      },
    )
    assert.equal((headers as Record<string, string>)['accept'], '*/*')
    assert.equal(seen[0]!.maxRedirections, 0)
    t.diagnostic(wire.name)
  })

  test('time limits of init take effect', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      if (request.url === '/body') response.write('x')
    })
    const dispatcher = agentFor(t, wire)
    const head = await failure(fetch(origin.url, { dispatcher, headersTimeout: 20 }))
    assert.equal((head.cause as NodeJS.ErrnoException).code, 'UND_ERR_HEADERS_TIMEOUT')
    const response = await fetch(new Request(`${origin.url}/body`, { bodyTimeout: 20 }), { dispatcher })
    const body = await failure(response.text())
    assert.equal(body.message, 'terminated')
    assert.equal((body.cause as NodeJS.ErrnoException).code, 'UND_ERR_BODY_TIMEOUT')
  })

  test("one of the runtime's, taken with its body and its signal", async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = agentFor(t, wire)
    const request = new globalThis.Request(`${origin.url}/theirs`, {
      method: 'POST',
      body: 'text',
      headers: { 'X-Own': '1' },
    })
    const response = await fetch(request, { dispatcher })
    const got = (await response.json()) as Echo
    assert.deepEqual([got.method, got.url, got.body, got.headers['x-own']], ['POST', '/theirs', 'text', '1'])
    const aborted = new globalThis.Request(origin.url, { signal: AbortSignal.abort('theirs') })
    assert.equal(await failure(fetch(aborted, { dispatcher })), 'theirs' as never)
  })
})
