import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { type Dispatcher, fetch, H2CClient } from '../../../src/index.ts'
import { type Exchange, ScriptedDispatcher, uncaughtDuring } from '../../api/scripted-dispatcher.ts'
import { turn } from '../../support/fake-clock.ts'
import { garbageCollector } from '../../support/garbage.ts'

function answer(exchange: Exchange): void {
  exchange.start().head().data('ok').end()
}

const MANY = 8

/** Turns of programs that keep going, in which other responses come. */
const PATIENCE = 20_000

/** The response as its caller gets it. */
type Open = (dispatcher: Dispatcher, signal?: AbortSignal) => Promise<{ text(): Promise<string> }>

const APIS: [string, Open][] = [
  [
    'request()',
    async (dispatcher, signal) =>
      (await dispatcher.request({ origin: 'http://a.test', path: '/', method: 'GET', signal })).body,
  ],
  ['fetch()', (dispatcher, signal) => fetch('http://a.test/', { dispatcher, ...(signal ? { signal } : {}) })],
]

const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))

for (const [name, open] of APIS) {
  describe(`responses of ${name}`, () => {
    /** The requests that were answered, in the order in which their callers went on. */
    function start(count: number): {
      dispatcher: ScriptedDispatcher
      done: number[]
      all: Promise<unknown>[]
    } {
      const dispatcher = new ScriptedDispatcher()
      const done: number[] = []
      const all = Array.from({ length: count }, async (_, index) => {
        assert.equal(await (await open(dispatcher)).text(), 'ok')
        done.push(index)
      })
      return { dispatcher, done, all }
    }

    it('go to their callers together, when all that arrived in a turn was read', async () => {
      const { dispatcher, done, all } = start(MANY + 1)
      for (let index = 0; index < MANY; index++) {
        answer(dispatcher.exchanges[index]!)
        await tick()
        assert.deepEqual(done, [])
      }
      await turn()
      assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7])
      answer(dispatcher.last)
      await Promise.all(all)
      assert.equal(done.length, MANY + 1)
    })

    async function answersAtOnce(): Promise<void> {
      const { dispatcher, done, all } = start(1)
      answer(dispatcher.last)
      await tick()
      await tick()
      assert.deepEqual(done, [0])
      await Promise.all(all)
    }

    it('go to the only caller at once', answersAtOnce)

    it('are counted out when they fail', async () => {
      for (const _ of [1, 2, 3]) {
        const dispatcher = new ScriptedDispatcher()
        const failing = Array.from({ length: MANY * 2 }, () => open(dispatcher))
        for (const exchange of dispatcher.exchanges) exchange.start().error(new Error('lost'))
        for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
      }
      await answersAtOnce()
    })

    it('are counted out when they end without a head', async () => {
      const dispatcher = new ScriptedDispatcher((exchange) => exchange.start().end())
      const failing = Array.from({ length: MANY * 2 }, () => open(dispatcher))
      for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
      await answersAtOnce()
    })

    it('are not delivered if their caller gives up before', async () => {
      const { dispatcher, all } = start(MANY)
      const abort = new AbortController()
      const aborted = open(dispatcher, abort.signal)
      for (const exchange of dispatcher.exchanges.slice(0, MANY)) answer(exchange)
      const late = dispatcher.last.failOnAbort().start().head()
      const reason = new Error('enough')
      abort.abort(reason)
      await assert.rejects(aborted, reason)
      assert.deepEqual(late.aborts, [reason])
      await Promise.all(all)
    })

    it('are not delivered if their caller gives up before, although nothing more follows', async () => {
      const { dispatcher, all } = start(MANY)
      const abort = new AbortController()
      const aborted = open(dispatcher, abort.signal)
      for (const exchange of dispatcher.exchanges.slice(0, MANY)) answer(exchange)
      dispatcher.last.failOnAbort().start().head(204).end()
      const reason = new Error('enough')
      abort.abort(reason)
      await assert.rejects(aborted, reason)
      await Promise.all(all)
    })

    it('take their listener off the signal if nothing more follows', async () => {
      const { dispatcher, all } = start(MANY)
      const { signal } = new AbortController()
      const empty = open(dispatcher, signal)
      for (const exchange of dispatcher.exchanges.slice(0, MANY)) answer(exchange)
      dispatcher.last.start().head(204).end()
      assert.equal(getEventListeners(signal, 'abort').length, 1)
      await empty
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      await Promise.all(all)
    })

    it('take their listener with them if they are dropped unread', async () => {
      const collect = garbageCollector()
      const { signal } = new AbortController()
      // A function of its own, whose variables are gone when the garbage is collected.
      await (async () => {
        const { dispatcher, all } = start(MANY)
        const unread = open(dispatcher, signal)
        dispatcher.exchanges.forEach(answer)
        await Promise.all([unread, ...all])
      })()
      for (let count = 0; count < 50 && getEventListeners(signal, 'abort').length > 0; count++) {
        await turn()
        collect()
      }
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    })

    it('are delivered if the connection fails before', async () => {
      const { dispatcher, all } = start(MANY)
      const lost = open(dispatcher)
      for (const exchange of dispatcher.exchanges.slice(0, MANY)) answer(exchange)
      const error = new Error('lost')
      dispatcher.last.start().head().error(error)
      const response = await lost
      await assert.rejects(response.text(), (reason: Error) => reason === error || reason.cause === error)
      await Promise.all(all)
    })
  })
}

describe('responses of request()', () => {
  const options = { origin: 'http://a.test', path: '/', method: 'GET' }

  it('go to their callers although one of them breaks what it gets, and throws', async () => {
    const dispatcher = new ScriptedDispatcher()
    const mistake = new Error('mistake')
    const seen = await uncaughtDuring(async () => {
      dispatcher.request(options, (_error, data) => {
        Object.assign(data, { body: null })
        throw mistake
      })
      const others = Array.from({ length: MANY }, () => dispatcher.request(options))
      for (const exchange of dispatcher.exchanges) answer(exchange)
      for (const { body } of await Promise.all(others)) assert.equal(await body.text(), 'ok')
    })
    assert.deepEqual(seen, [mistake])
  })

  it('go to the only caller at once after signals that threw', async () => {
    const dispatcher = new ScriptedDispatcher()
    const signal = {
      aborted: false,
      addEventListener() {
        throw new Error('no listeners')
      },
      removeEventListener() {},
    }
    for (let count = 0; count < MANY * 2; count++) {
      await assert.rejects(dispatcher.request({ ...options, signal: signal as never }), /no listeners/)
    }
    let isDone = false
    void dispatcher.request(options).then(() => {
      isDone = true
    })
    answer(dispatcher.last)
    await tick()
    await tick()
    assert.equal(isDone, true)
  })

  it('are delivered if the dispatcher answers twice', async () => {
    const dispatcher = new ScriptedDispatcher()
    const all = Array.from({ length: MANY + 1 }, () => dispatcher.request(options))
    for (const exchange of dispatcher.exchanges) exchange.failOnAbort().start().head().head()
    for (const { body } of await Promise.all(all)) {
      await assert.rejects(body.text(), /a second final response head came/)
    }
  })
})

it('HTTP/2 requests leave while callers get responses all the time', async (t) => {
  const server = http2.createServer((_request, response) => response.end('h2'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new H2CClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  t.after(async () => {
    await client.destroy()
    server.close()
  })
  const { body } = await client.request({ path: '/', method: 'GET' })
  await body.text()
  // Answers without a turn of the event loop.
  const cache = new ScriptedDispatcher((exchange) => queueMicrotask(() => answer(exchange)))
  let turns = 0
  let isOver = false
  // As programs do with a cache: each waits for nothing a few times in a row, and then for something.
  const hits = Array.from({ length: 100 }, async (_, lane) => {
    for (let count = 0; count < lane; count++) await turn()
    for (let count = 0; !isOver && turns < PATIENCE; count++, turns++) {
      for (let row = (lane * 7 + count * 3) % 10; row >= 0; row--) {
        const { body: hit } = await cache.request({ origin: 'http://a.test', path: '/', method: 'GET' })
        await hit.text()
      }
      await turn()
    }
  })
  for (let count = 0; count < 20; count++) await turn()
  const sent = Array.from({ length: MANY }, () => client.request({ path: '/', method: 'GET' }))
  for (const response of await Promise.all(sent)) assert.equal(await response.body.text(), 'h2')
  isOver = true
  assert.ok(turns < PATIENCE)
  await Promise.all(hits)
})
