/** What holds for owners of an attempt whose caller has no handler: one outcome, and none after they were given up. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { HeaderList } from '../../src/fetch/headers/header-list.ts'
import { ConnectExchange } from '../../src/proxy/connect-exchange.ts'
import type { Dispatching } from '../../src/request/dispatching.ts'
import { OpeningHandshake } from '../../src/websocket/opening-handshake.ts'
import { steadyClock } from '../interceptor/retry-support.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { turns } from '../support/fake-clock.ts'
import { type Manner, type ScriptedAttempt, ScriptedBelow } from './contract-support.ts'

/** Sends a request, reports each outcome, and returns what gives the request up. */
type Start = (below: Dispatching, report: (outcome: unknown) => void) => () => void

const OWNERS: Readonly<Record<string, Start>> = {
  CONNECT: (below, report) => {
    const exchange = new ConnectExchange(report)
    exchange.start(below, { origin: 'http://proxy.test', path: 'a.test:443', method: 'CONNECT' })
    return () => exchange.cancel(new Error('given up'))
  },
  'WebSocket handshake': (below, report) => {
    const url = new URL('ws://user:secret@a.test/')
    const handshake = new OpeningHandshake(
      { url, protocols: [], headers: new HeaderList(), dispatcher: below },
      { onOpened: report, onFailed: report },
    )
    handshake.start()
    return () => handshake.abort()
  },
}

const EVENTS: Readonly<Record<string, (attempt: ScriptedAttempt, clock: FakeClock) => unknown>> = {
  start: (attempt) => attempt.start(),
  hint: (attempt) => attempt.head(103),
  refusal: (attempt) => attempt.head(407),
  unauthorized: (attempt) => attempt.head(401),
  data: (attempt) => attempt.data('x'.repeat(5000)),
  end: (attempt) => attempt.end(),
  error: (attempt) => attempt.error(new Error('failed below')),
  upgrade: (attempt) => attempt.upgrade(new PassThrough().end()),
  time: (_attempt, clock) => clock.advance(1000),
  turn: () => turns(2),
}

const scripts = fc.record({
  manner: fc.constantFrom<Manner>('own', 'foreign'),
  events: fc.array(fc.constantFrom('giveUp', ...Object.keys(EVENTS)), { maxLength: 12 }),
})

for (const [name, start] of Object.entries(OWNERS)) {
  describe(`the outcome of an attempt: ${name}`, () => {
    it('exactly one, or none after the request was given up, whatever comes in whatever order', async (t) => {
      const clock = steadyClock(t)
      await fc.assert(
        fc.asyncProperty(scripts, async ({ manner, events }) => {
          const below = new ScriptedBelow(manner)
          const outcomes: unknown[] = []
          const giveUp = start(below, (outcome) => outcomes.push(outcome))
          await turns(1)
          let most = 1
          for (const event of events) {
            if (event !== 'giveUp') await EVENTS[event]!(below.last, clock)
            else {
              giveUp()
              most = outcomes.length
            }
          }
          for (const attempt of below.attempts) if (attempt.state !== 'over') attempt.error(new Error('lost'))
          await clock.advance(60_000)
          await turns(2)
          assert.equal(outcomes.length, most)
        }),
        { numRuns: 300 },
      )
    })

    it('giving up reaches an attempt that waits, that runs, and that starts later', async (t) => {
      steadyClock(t)
      for (const [manner, isStarted] of [
        ['own', false],
        ['own', true],
        ['foreign', false],
      ] as const) {
        const below = new ScriptedBelow(manner)
        const giveUp = start(below, () => assert.fail('an outcome that nobody wants'))
        await turns(1)
        if (isStarted) below.last.start()
        giveUp()
        if (manner === 'foreign') below.last.start()
        assert.equal(below.last.aborts.length, 1)
      }
    })

    it('a socket that comes after the request was given up is destroyed', async (t) => {
      steadyClock(t)
      const below = new ScriptedBelow('foreign')
      const giveUp = start(below, () => assert.fail('an outcome that nobody wants'))
      await turns(1)
      below.last.start()
      giveUp()
      const socket = new PassThrough()
      below.last.upgrade(socket)
      assert.equal(socket.destroyed, true)
    })

    it('a dispatcher that throws or rejects is a failure', async (t) => {
      steadyClock(t)
      const failures: readonly (() => unknown)[] = [
        () => {
          throw new Error('no')
        },
        () => Promise.reject(new Error('no')),
      ]
      for (const dispatch of failures) {
        const outcomes: unknown[] = []
        start({ dispatch } as Dispatching, (outcome) => outcomes.push(outcome))
        await turns(2)
        assert.equal(outcomes.length, 1)
      }
    })
  })
}
