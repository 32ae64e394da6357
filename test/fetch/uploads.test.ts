/** Request bodies that a caller produces while they are sent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, errors, Request } from '../../src/index.ts'
import { fetch } from '../support/any-fetch.ts'
import { deferred, type Echo, echo, failure } from '../support/exchange.ts'
import { overEachWire, startOrigin } from '../support/wire.ts'
import { agentFor } from './agent-for.ts'

overEachWire('an upload', (wire) => {
  test('from a generator that fills the same memory again and again', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const memory = new Uint8Array(4)
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (const text of ['once', 'more', 'then', 'over']) {
        memory.set(Buffer.from(text))
        yield memory
      }
    }
    const init = { method: 'POST', duplex: 'half', dispatcher: agentFor(t, wire) } as const
    const sent = (await (await fetch(origin.url, { ...init, body: pieces() })).json()) as Echo
    assert.equal(sent.body, 'oncemorethenover')
    assert.equal(memory.byteLength, 4)
    const collected = await new Request(origin.url, { ...init, body: pieces() }).text()
    assert.equal(collected, 'oncemorethenover')
  })

  test('a chunk is asked for when the one before has been taken', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    let made = 0
    const gate = deferred()
    async function* pieces(): AsyncGenerator<string> {
      for (made = 1; made <= 1000; made++) yield `${made},`
    }
    const dispatcher = agentFor(t, wire)
    // The pieces fit into every buffer on the way: only a dispatcher that does not ask holds them back.
    const waiting = dispatcher.compose((dispatch) => (options, handler) => {
      const body = options.body as AsyncIterable<Uint8Array>
      const held = (async function* () {
        const iterator = body[Symbol.asyncIterator]()
        yield (await iterator.next()).value
        await gate.promise
        yield* { [Symbol.asyncIterator]: () => iterator }
      })()
      return dispatch({ ...options, body: held }, handler)
    })
    const fetched = fetch(origin.url, { method: 'POST', body: pieces(), duplex: 'half', dispatcher: waiting })
    while (made === 0) await new Promise(setImmediate)
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    assert.ok(made <= 2, `${made} were made`)
    gate.resolve()
    const { body } = (await (await fetched).json()) as Echo
    assert.equal(body.split(',').length, 1001)
  })

  test('one that fails rejects with its error as the cause, and the next fetch works', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    const dispatcher = agentFor(t, wire)
    const broken = new Error('the source broke')
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async function* atOnce(): AsyncGenerator<string> {
      throw broken
    }
    async function* later(): AsyncGenerator<string> {
      yield 'a piece'
      throw broken
    }
    const webStream = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        pull: (controller) => controller.error(broken),
      })
    for (const body of [atOnce(), later(), webStream()]) {
      const error = await failure(fetch(origin.url, { method: 'POST', body, duplex: 'half', dispatcher }))
      assert.equal(error.message, 'fetch failed')
      assert.equal(error.cause, broken)
    }
    assert.equal((await fetch(origin.url, { dispatcher })).status, 200)
  })

  test('a chunk of another kind is refused', async (t) => {
    const origin = await startOrigin(t, wire, echo)
    async function* numbers(): AsyncGenerator<never> {
      yield 21 as never
    }
    const init = { method: 'POST', body: numbers(), duplex: 'half', dispatcher: agentFor(t, wire) } as const
    const error = await failure(fetch(origin.url, init))
    assert.equal(error.message, 'fetch failed')
    assert.match((error.cause as Error).message, /non-Uint8Array chunk/)
  })

  test('the response may come before the body has been sent', async (t) => {
    const origin = await startOrigin(t, wire, (request, response) => {
      response.writeHead(200).write('early')
      request.once('end', () => response.end(' and late')).resume()
    })
    const gate = deferred()
    async function* slow(): AsyncGenerator<string> {
      yield 'a piece'
      await gate.promise
      yield 'another'
    }
    const init = { method: 'POST', body: slow(), duplex: 'half', dispatcher: agentFor(t, wire) } as const
    const response = await fetch(origin.url, init)
    assert.equal(response.status, 200)
    gate.resolve()
    assert.equal(await response.text(), 'early and late')
  })

  test('an abort while it is sent ends the generator', async (t) => {
    const origin = await startOrigin(t, wire, (request) => void request.resume())
    const ended = deferred()
    const started = deferred()
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) {
          yield 'x'.repeat(1024)
          started.resolve()
          await new Promise(setImmediate)
        }
      } finally {
        ended.resolve()
      }
    }
    const aborter = new AbortController()
    const { signal } = aborter
    const init = { method: 'POST', body: endless(), duplex: 'half', signal } as const
    const fetched = fetch(origin.url, { ...init, dispatcher: agentFor(t, wire) })
    await started.promise
    aborter.abort()
    await assert.rejects(fetched, { name: 'AbortError' })
    await ended.promise
  })
})

test('a header that cannot be sent fails the fetch, and says so in the cause', async (t) => {
  const agent = new Agent()
  t.after(() => agent.destroy())
  const headers = { 'transfer-encoding': 'gzip' }
  const error = await failure(fetch('http://127.0.0.1:1234/', { headers, dispatcher: agent }))
  assert.equal(error.message, 'fetch failed')
  assert.ok(error.cause instanceof errors.InvalidArgumentError)
})
