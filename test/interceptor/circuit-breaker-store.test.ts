/** A circuit breaker that processes share: with a store of the test, and with Redis. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type errors, interceptors } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { eventually, turns } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { noRedis, startRedis, TestRedisClient } from '../support/redis-server.ts'
import { steadyClock } from './throttle-support.ts'

const GET = { origin: 'http://a.test', path: '/', method: 'GET' } as const

type Client =
  | { eval(script: string, key: string, args: readonly string[]): Promise<unknown> }
  | TestRedisClient

function member(client: Client, timeout = 30_000) {
  const base = new ScriptedDispatcher(() => {})
  const options = { minRequests: 2, halfOpenAfter: 600_000, store: { client, timeout } }
  const dispatcher = base.compose(interceptors.circuitBreaker(options))
  const send = (): RecordingHandler => {
    const handler = new RecordingHandler()
    dispatcher.dispatch({ ...GET }, handler)
    return handler
  }
  const isOpen = (): boolean =>
    (send().error as errors.CircuitOpenError | undefined)?.code === 'UND_ERR_CIRCUIT_OPEN'
  const fail = (): void => {
    send()
    base.last.start().head(500).end()
  }
  return { base, send, fail, isOpen }
}

describe('interceptors.circuitBreaker: a store', () => {
  function setting(t: TestContext, answer: (args: readonly string[]) => unknown) {
    const clock = steadyClock(t)
    t.mock.method(Date, 'now', () => performance.now())
    const questions: (readonly string[])[] = []
    const client = {
      eval: async (_script: string, _key: string, args: readonly string[]) => {
        questions.push(args)
        return answer(args)
      },
    }
    return { clock, questions, ...member(client, 50) }
  }

  it('is told of a circuit that opens', async (t) => {
    const { questions, fail } = setting(t, () => [])
    fail()
    fail()
    await turns(3)
    assert.deepEqual(questions, [[], ['http://a.test', '600000']])
  })

  it('opens a circuit for the time that is left, once for each opening', async (t) => {
    let open: unknown[] = []
    const { clock, send, isOpen } = setting(t, () => open)
    assert.equal(isOpen(), false)
    open = ['http://a.test', '77', '2000']
    await turns(3)
    await clock.advance(200)
    await turns(3)
    const error = send().error as errors.CircuitOpenError
    assert.ok(error.retryAfter! > 1500 && error.retryAfter! <= 2000, `${error.retryAfter}`)
    await clock.advance(1000)
    await clock.advance(1100)
    // The same entry does not open it again.
    assert.equal(isOpen(), false)
  })

  it('is asked a few times a second, and no more when there are no requests', async (t) => {
    const { clock, send, questions } = setting(t, () => [])
    for (let i = 0; i < 1000; i++) {
      send()
      await clock.advance(1)
    }
    assert.ok(questions.length >= 7 && questions.length <= 9, `${questions.length}`)
    for (let i = 0; i < 200; i++) await clock.advance(100)
    const asked = questions.length
    for (let i = 0; i < 100; i++) await clock.advance(100)
    assert.equal(questions.length, asked)
  })

  for (const answer of [
    null,
    'no',
    [1],
    ['http://a.test', 'x', 'y'],
    new Error('down'),
    new Promise(() => {}),
  ]) {
    it(`${answer} leaves each process to itself`, async (t) => {
      const { clock, fail, isOpen } = setting(t, async () => {
        if (answer instanceof Error) throw answer
        return answer
      })
      assert.equal(isOpen(), false)
      for (let i = 0; i < 5; i++) await clock.advance(100)
      assert.equal(isOpen(), false)
      fail()
      fail()
      fail()
      assert.equal(isOpen(), true)
    })
  }
})

describe('interceptors.circuitBreaker: Redis', { skip: noRedis }, () => {
  it('what opens in one opens in all', async (t) => {
    const server = await startRedis()
    t.after(() => server.stop())
    const all = Array.from({ length: 3 }, () => {
      const client = new TestRedisClient(server.port)
      t.after(() => client.close())
      return member(client)
    })
    for (const { isOpen } of all) assert.equal(isOpen(), false)
    all[0]!.fail()
    all[0]!.fail()
    all[0]!.fail()
    assert.equal(all[0]!.isOpen(), true)
    await eventually(() => all.every(({ isOpen }) => isOpen()))
    const { retryAfter } = all[2]!.send().error as errors.CircuitOpenError
    assert.ok(retryAfter! > 500_000 && retryAfter! <= 600_000, `${retryAfter}`)
  })
})
