/** A throttle that processes share: with a store of the test that answers when it is told to, and with Redis. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { interceptors, type SharedStoreOptions, type ThrottleOptions } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { eventually, type FakeClock } from '../support/fake-clock.ts'
import { noRedis, startRedis, TestRedisClient } from '../support/redis-server.ts'
import { AbortableHandler, GET, setting } from './throttle-support.ts'

/** Its questions, and the answers that they wait for. */
class FakeStore {
  readonly questions: { key: string; args: readonly string[] }[] = []
  answer: (question: { key: string; args: readonly string[] }) => unknown = () => new Promise(() => {})

  eval(_script: string, key: string, args: readonly string[]): Promise<unknown> {
    this.questions.push({ key, args })
    return Promise.resolve(this.answer({ key, args }))
  }
}

const share = (times: number, leases: number, sharers = 1, delay = 0, wait = 0): unknown[] => [
  times,
  `${delay}`,
  leases,
  sharers,
  `${wait}`,
]

/** The answer gives what is wanted. */
const generous = ({ args }: { args: readonly string[] }): unknown[] => share(Number(args[3]), Number(args[4]))

function shared(t: TestContext, options: ThrottleOptions, more: Partial<SharedStoreOptions> = {}) {
  t.mock.method(Date, 'now', () => performance.now())
  const store = new FakeStore()
  return { store, ...setting(t, { ...options, store: { client: store, ...more } }) }
}

/** In small steps: what an answer causes may set a timer. */
async function pass(clock: FakeClock, milliseconds: number): Promise<void> {
  for (let step = 0; step < milliseconds; step += 10) await clock.advance(Math.min(10, milliseconds - step))
}

describe('interceptors.throttle: a store', () => {
  it('says when requests may go, and is asked once for many', async (t) => {
    const { store, send, sent, clock } = shared(t, { rate: 10 })
    store.answer = ({ args }) => share(Number(args[3]), 0, 1, 50)
    for (let i = 0; i < 20; i++) send()
    assert.equal(sent.length, 0)
    await pass(clock, 70)
    assert.equal(sent.length, 1)
    await pass(clock, 1800)
    assert.equal(sent.length, 19)
    assert.ok(store.questions.length <= 4, `${store.questions.length} questions`)
    const [{ key, args }] = store.questions as [{ key: string; args: string[] }]
    assert.deepEqual([key, args.slice(0, 4)], ['ventuno:throttle:http://a.test', ['10', '1', '0', '20']])
  })

  it('is asked again, a moment later, when it has nothing to give', async (t) => {
    const { store, send, sent, clock } = shared(t, { rate: 10 })
    store.answer = () => (store.questions.length < 3 ? share(0, 0, 4, 600, 100) : share(1, 0, 4))
    send()
    await pass(clock, 140)
    assert.deepEqual([store.questions.length, sent.length], [1, 0])
    await pass(clock, 300)
    assert.equal(store.questions.length >= 3, true)
    assert.equal(sent.length, 1)
  })

  it('times that nobody used in time are lost', async (t) => {
    const { store, send, sent, clock } = shared(t, { rate: 10 })
    store.answer = generous
    send()
    await clock.advance(0)
    assert.equal(sent.length, 1)
    clock.now += 5000
    store.answer = () => share(0, 0, 1, 0, 1e6)
    send()
    await clock.advance(0)
    assert.equal(sent.length, 1)
  })

  it('lends places, which are given back when they are not used', async (t) => {
    const { store, send, sent, answer, clock } = shared(t, { concurrency: 8 })
    store.answer = ({ args }) => share(0, Math.min(2, Number(args[4])))
    for (let i = 1; i <= 3; i++) send(`/${i}`)
    await clock.advance(0)
    assert.deepEqual(sent, ['/1', '/2'])
    answer('/1')
    assert.deepEqual(sent, ['/1', '/2', '/3'])
    answer('/2')
    answer('/3')
    await pass(clock, 200)
    assert.equal(store.questions.at(-1)!.args[4], '0')
    const asked = store.questions.length
    await pass(clock, 60_000)
    assert.equal(store.questions.length, asked)
  })

  it('places of requests that run are renewed', async (t) => {
    const { store, send, clock } = shared(t, { concurrency: 8 })
    store.answer = generous
    send()
    await pass(clock, 10_000)
    assert.ok(store.questions.length >= 9 && store.questions.length <= 12, `${store.questions.length}`)
    assert.deepEqual(store.questions.at(-1)!.args.slice(4, 6), ['1', '1'])
  })

  const away: readonly [without: NonNullable<SharedStoreOptions['without']>, sent: number][] = [
    ['open', 50],
    ['closed', 0],
    ['local', 25],
  ]
  for (const [without, count] of away) {
    it(`without an answer, ${without}: ${count} in a second, and the rest when it is back`, async (t) => {
      const { store, send, sent, clock } = shared(t, { rate: 100 }, { without, timeout: 50 })
      store.answer = () => share(1, 0, 4)
      send()
      await pass(clock, 1000)
      assert.equal(sent.length, 1)
      store.answer = () => new Promise(() => {})
      for (let i = 0; i < 50; i++) send()
      // The store has its time to answer, and then it is away.
      await pass(clock, 50)
      await pass(clock, 1000)
      assert.ok(Math.abs(sent.length - 1 - count) <= 2, `${sent.length} were sent`)
      store.answer = generous
      await pass(clock, 2000)
      assert.equal(sent.length, 51)
    })
  }

  for (const answer of [null, 'OK', [1, 2], [1, 'x', 1, 1, 1], new Error('READONLY')]) {
    it(`${answer} is the same as no answer`, async (t) => {
      const { store, send, sent, clock } = shared(t, { rate: 10 })
      store.answer = async () => {
        if (answer instanceof Error) throw answer
        return answer
      }
      send()
      await clock.advance(5)
      assert.equal(sent.length, 1)
    })
  }

  it('an answer that comes too late counts', async (t) => {
    const { store, send, sent, clock } = shared(t, { rate: 10 }, { without: 'closed', timeout: 50 })
    let late: (answer: unknown) => void = () => {}
    store.answer = () => new Promise((resolve) => (late = resolve))
    send()
    await pass(clock, 60)
    assert.equal(sent.length, 0)
    late(share(1, 0))
    await clock.advance(0)
    assert.equal(sent.length, 1)
  })

  it('a request that waits for it can be given up', async (t) => {
    const { store, send, sent, clock } = shared(t, { rate: 10 }, { without: 'closed' })
    const handler = send()
    handler.abort(new Error('enough'))
    await pass(clock, 1000)
    assert.deepEqual([handler.error?.message, sent.length, store.questions.length], ['enough', 0, 1])
  })

  it('wrong options', () => {
    const wrong: [unknown, string][] = [
      [{}, 'store.client must be a client of redis or ioredis, or have eval'],
      [
        { client: { get() {}, set() {}, delete() {} } },
        'store.client must be a client of redis or ioredis, or have eval',
      ],
      [{ client: new FakeStore(), without: 'half' }, 'store.without must be open, closed or local'],
      [{ client: new FakeStore(), timeout: 0 }, 'store.timeout must be a positive integer'],
      [{ client: new FakeStore(), prefix: 5 }, 'store.prefix must be a string'],
      [5, 'invalid store'],
    ]
    for (const [store, message] of wrong)
      assert.throws(() => interceptors.throttle({ rate: 1, store: store as never }), { message })
    assert.throws(() => interceptors.throttle({ adaptive: true, store: { client: new FakeStore() } }), {
      message: 'adaptive cannot be shared by a store',
    })
  })
})

describe('interceptors.throttle: Redis', { skip: noRedis }, () => {
  async function members(t: TestContext, count: number, options: ThrottleOptions) {
    const server = await startRedis()
    t.after(() => server.stop())
    return Array.from({ length: count }, () => {
      const client = new TestRedisClient(server.port)
      t.after(() => client.close())
      const base = new ScriptedDispatcher()
      // A machine that is busy must not take the store for one that is away.
      const store = { client, timeout: 30_000 }
      return { base, client, dispatcher: base.compose(interceptors.throttle({ ...options, store })) }
    })
  }
  const sentBy = (all: readonly { base: ScriptedDispatcher }[]): number =>
    all.reduce((total, { base }) => total + base.exchanges.length, 0)

  it('three members together keep a rate, and ask seldom', async (t) => {
    const all = await members(t, 3, { rate: 100 })
    const begin = performance.now()
    for (const { dispatcher } of all)
      for (let i = 0; i < 60; i++) dispatcher.dispatch({ ...GET }, new AbortableHandler())
    await eventually(() => sentBy(all) >= 150)
    const seconds = (performance.now() - begin) / 1000
    const sent = sentBy(all)
    assert.ok(sent <= seconds * 100 + 2, `${sent} in ${seconds} s`)
    for (const { client } of all) assert.ok(client.commands <= 12 * seconds, `${client.commands} questions`)
    for (const { base } of all) assert.ok(base.exchanges.length >= 20, `${base.exchanges.length} of one`)
  })

  it('three members together keep to a number of requests, and pass their places on', async (t) => {
    const all = await members(t, 3, { concurrency: 4 })
    for (const { dispatcher } of all)
      for (let i = 0; i < 10; i++) dispatcher.dispatch({ ...GET }, new AbortableHandler())
    let answered = 0
    let most = 0
    await eventually(() => {
      most = Math.max(most, sentBy(all) - answered)
      for (const { base } of all) {
        const open = base.exchanges.find(
          (exchange) => exchange.opts.body === undefined && !done.has(exchange),
        )
        if (open === undefined) continue
        done.add(open)
        answered++
        open.start().head(200).end()
      }
      return answered === 30
    })
    assert.ok(most <= 4, `${most} at a time`)
  })
  const done = new WeakSet<object>()

  it('the places of a member that is gone are free after a while', async (t) => {
    const [gone, other] = await members(t, 2, { concurrency: 1 })
    gone!.dispatcher.dispatch({ ...GET }, new AbortableHandler())
    await eventually(() => gone!.base.exchanges.length === 1)
    other!.dispatcher.dispatch({ ...GET }, new AbortableHandler())
    await eventually(() => other!.client.commands >= 2)
    assert.equal(other!.base.exchanges.length, 0)
    gone!.client.sendCommand = () => Promise.reject(new Error('gone'))
    await eventually(() => other!.base.exchanges.length === 1)
  })
})
