/** What holds for the handler of a mocked request, whichever mock answers it with whatever reply. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import fc from 'fast-check'
import { type Dispatcher, type DispatchOptions, MockAgent, type MockInterceptor } from '../../src/index.ts'
import { uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { steadyClock } from '../interceptor/retry-support.ts'
import { turns } from '../support/fake-clock.ts'
import { CheckedHandler, DEEDS, type Deed, METHODS, type Method, REASON } from './contract-support.ts'

const ORIGIN = 'http://a.test'

const MOCKS: Readonly<Record<string, (agent: MockAgent) => Dispatcher>> = {
  MockAgent: (agent) => agent,
  MockPool: (agent) => agent.get(ORIGIN),
  MockClient: (agent) => agent.get(ORIGIN),
}

const THROWN = new Error('thrown by a reply')

const REPLIES: Readonly<Record<string, (interceptor: MockInterceptor) => unknown>> = {
  plain: (interceptor) => interceptor.reply(200, 'abc'),
  empty: (interceptor) => interceptor.reply(204),
  delayed: (interceptor) => interceptor.reply(200, 'abc').delay(100),
  error: (interceptor) => interceptor.replyWithError(THROWN),
  'delayed error': (interceptor) => interceptor.replyWithError(THROWN).delay(100),
  function: (interceptor) => interceptor.reply(() => ({ statusCode: 200, data: 'abc' })),
  throwing: (interceptor) =>
    interceptor.reply(() => {
      throw THROWN
    }),
  promise: (interceptor) => interceptor.reply(200, async () => 'abc'),
  rejecting: (interceptor) => interceptor.reply(200, () => Promise.reject(THROWN) as never),
  streamed: (interceptor) => interceptor.reply(200, () => Readable.from(['a', 'b', 'c']) as never),
  none: () => {},
}

const BODIES: Readonly<Record<string, () => DispatchOptions['body']>> = {
  none: () => null,
  text: () => 'sent',
  stream: () => Readable.from(['sent']),
}

const EVENTS: Readonly<Record<string, (handler: CheckedHandler) => unknown>> = {
  abort: (handler) => handler.abort(REASON),
  abortWithout: (handler) => handler.abort(),
  abortQueued: (handler) => handler.abortQueued?.(REASON),
  pause: (handler) => handler.controller?.pause(),
  resume: (handler) => handler.controller?.resume(),
  turn: () => turns(2),
}

function mocked(t: TestContext, over: (agent: MockAgent) => Dispatcher, reply: string) {
  const agent = new MockAgent({ connections: over === MOCKS.MockClient ? 1 : 2 })
  agent.disableNetConnect()
  t.after(() => agent.destroy())
  const interceptor = agent.get(ORIGIN).intercept({ path: '/', method: 'POST' })
  REPLIES[reply]!(interceptor as MockInterceptor)
  const dispatcher = over(agent)
  return (handler: CheckedHandler, body: DispatchOptions['body'] = null): void => {
    dispatcher.dispatch({ origin: ORIGIN, path: '/', method: 'POST', body }, handler)
  }
}

const scripts = fc.record({
  reply: fc.constantFrom(...Object.keys(REPLIES)),
  body: fc.constantFrom(...Object.keys(BODIES)),
  deeds: fc.dictionary(fc.constantFrom(...METHODS), fc.constantFrom(...Object.keys(DEEDS)), { maxKeys: 2 }),
  events: fc.array(fc.constantFrom('time', ...Object.keys(EVENTS)), { maxLength: 8 }),
})

for (const [name, over] of Object.entries(MOCKS)) {
  describe(`the contract of a mock: ${name}`, () => {
    it('exactly one final call, whatever the reply and whatever the handler does', async (t) => {
      const clock = steadyClock(t)
      const thrown = new Set<unknown>()
      const property = fc.asyncProperty(scripts, async ({ reply, body, deeds: chosen, events }) => {
        const deeds = Object.fromEntries(Object.entries(chosen).map(([at, deed]) => [at, DEEDS[deed]!]))
        const handler = new CheckedHandler(deeds)
        try {
          mocked(t, over, reply)(handler, BODIES[body]!())
        } catch (error) {
          // A reply comes within the call, and so does what the handler throws in its last one.
          if (handler.thrown.includes(error)) return
          // A call that no interceptor matches throws.
          assert.deepEqual([(error as Error).name, handler.calls], ['MockNotMatchedError', []])
          return
        }
        for (const event of events) await (EVENTS[event]?.(handler) ?? clock.advance(100))
        for (let round = 0; round < 5 && !handler.settled; round++) {
          handler.controller?.resume()
          await clock.advance(1000)
        }
        assert.deepEqual(handler.violations, [], `after ${handler.calls}`)
        assert.equal(handler.settled, true, `never settled: ${handler.calls}`)
        for (const error of handler.thrown) thrown.add(error)
      })
      const uncaught = await uncaughtDuring(() => fc.assert(property, { numRuns: 300 }))
      // There is nobody else to report what a handler throws in its last call.
      assert.deepEqual(
        uncaught.filter((error) => !thrown.has(error)),
        [],
      )
    })

    it('an abort at each point reaches the handler with its reason', async (t) => {
      const clock = steadyClock(t)
      for (const method of METHODS.slice(0, 5)) {
        for (const reply of ['plain', 'delayed', 'promise', 'streamed']) {
          const handler = new CheckedHandler({ [method]: (caller: CheckedHandler) => caller.abort(REASON) })
          mocked(t, over, reply)(handler)
          await clock.advance(100)
          assert.deepEqual([handler.errors, handler.violations], [[REASON], []], `${reply}, ${method}`)
        }
      }
    })

    it('the body of a request that is aborted while it waits is destroyed once', async (t) => {
      steadyClock(t)
      for (const reply of ['delayed', 'promise']) {
        const destroyed: unknown[] = []
        const body = new Readable({
          read() {},
          destroy(error, done) {
            destroyed.push(error)
            done(null)
          },
        })
        const handler = new CheckedHandler()
        mocked(t, over, reply)(handler, body)
        handler.abort(REASON)
        await turns(3)
        assert.deepEqual([handler.errors, destroyed.length], [[REASON], 1], reply)
      }
    })

    it('a paused handler gets neither data nor end', async (t) => {
      const clock = steadyClock(t)
      for (const reply of ['plain', 'delayed', 'promise', 'streamed']) {
        const pause: Deed = ({ controller }) => controller!.pause()
        const handler = new CheckedHandler({ onResponseStart: pause })
        mocked(t, over, reply)(handler)
        await clock.advance(100)
        assert.deepEqual([handler.calls.at(-1), handler.body], ['onResponseStart', ''], reply)
        handler.controller!.resume()
        await turns(8)
        assert.deepEqual([handler.calls.at(-1), handler.body], ['onResponseEnd', 'abc'], reply)
        assert.deepEqual(handler.violations, [], reply)
      }
    })

    it('what a handler throws reaches no other request', async (t) => {
      const clock = steadyClock(t)
      for (const method of METHODS.slice(1, 6) as Method[]) {
        const throwing = new CheckedHandler({ [method]: DEEDS.throw! })
        const other = new CheckedHandler()
        const agent = new MockAgent()
        agent.disableNetConnect()
        agent.get(ORIGIN).intercept({ path: '/' }).reply(200, 'abc').delay(100).times(2)
        for (const handler of [throwing, other]) {
          agent.dispatch({ origin: ORIGIN, path: '/', method: 'GET' }, handler)
        }
        await clock.advance(100)
        assert.deepEqual([throwing.errors, other.calls.at(-1)], [throwing.thrown, 'onResponseEnd'], method)
        await agent.close()
      }
    })
  })
}
