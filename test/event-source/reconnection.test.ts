import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, type TestContext, test } from 'node:test'
import { Reconnection, type StreamEnd } from '../../src/event-source/reconnection.ts'
import { readStreamOptions } from '../../src/event-source/stream-options.ts'
import type { EventSourceNodeOptions, StreamErrorEvent } from '../../src/index.ts'
import { eventually, FakeClock, turns } from '../support/fake-clock.ts'
import { sourceLoader, sourceUrl } from '../support/sources.ts'
import {
  type Answer,
  ended,
  h1,
  lines,
  listen,
  lost,
  type Recorded,
  type Stage,
  setStage,
  status,
  stream,
} from './stage.ts'

const LOST: StreamEnd = { kind: 'lost' }
const ENDED: StreamEnd = { kind: 'ended', isEmpty: false }
const EMPTY: StreamEnd = { kind: 'ended', isEmpty: true }

function reconnection(options: EventSourceNodeOptions): Reconnection {
  return new Reconnection(readStreamOptions(options, 'always'))
}

describe('a fake clock may be advanced by the announced delay', () => {
  for (const how of ['in a listener', 'by who awaits the event']) {
    test(how, async (t) => {
      const clock = FakeClock.install(t)
      const stage = await setStage(t, h1, [ended('data: x\n\n'), stream()])
      const { source } = listen(t, stage, '/', { reconnectionTime: 5000 })
      const event = await new Promise<StreamErrorEvent>((resolve) => {
        source.addEventListener('error', (error) => {
          if (how === 'in a listener') clock.jump(error.delay!)
          resolve(error)
        })
      })
      assert.equal(event.delay, 5000)
      if (how !== 'in a listener') clock.jump(5000)
      await eventually(() => stage.requests.length === 2)
    })
  }
})

describe('the wait', () => {
  test('is the same each time', () => {
    const waits = reconnection({})
    for (let i = 0; i < 3; i++) assert.equal(waits.after(i === 1 ? LOST : ENDED), 3000)
  })

  test('is read as Web IDL reads an unsigned long', () => {
    for (const [given, time] of [
      ['x', 0],
      ['250', 250],
      [21.9, 21],
      [-1, 4_294_967_295],
      [2 ** 32 + 50, 50],
      [Number.NaN, 0],
      [undefined, 3000],
    ] as const) {
      const wait = Math.max(10, Math.min(time, 2 ** 31 - 1))
      assert.equal(reconnection({ reconnectionTime: given as number }).after(ENDED), wait)
    }
  })

  test('is set by the server', () => {
    const waits = reconnection({ reconnectionTime: 50 })
    waits.serverTime = 700
    assert.equal(waits.after(ENDED), 700)
    waits.serverTime = 0
    assert.equal(waits.after(ENDED), 10)
    waits.serverTime = 99_999_999_999
    assert.equal(waits.after(ENDED), 2 ** 31 - 1)
  })

  test('is at least 100 ms after a failed or empty stream, and 10 ms after one with events', () => {
    const waits = reconnection({ reconnectionTime: 0 })
    assert.equal(waits.after(ENDED), 10)
    assert.equal(waits.after(EMPTY), 100)
    assert.equal(waits.after(LOST), 100)
  })
})

describe('backoff', () => {
  const options = { backoff: true, reconnectionTime: 1000 }

  test('waits for a random time, between bounds that grow up to a limit', (t) => {
    const rows: [random: number, expected: number[]][] = [
      [0, [1000, 1000, 1000, 1000, 1000, 1000]],
      [0.5, [1500, 2500, 4500, 8500, 16_500, 30_000]],
      [1, [2000, 4000, 8000, 16_000, 30_000, 30_000]],
    ]
    for (const [random, expected] of rows) {
      t.mock.method(Math, 'random', () => random)
      const waits = reconnection(options)
      const drawn: (number | null)[] = expected.map(() => waits.after(LOST))
      assert.deepEqual(drawn, expected)
    }
  })

  test('starts again after an event', (t) => {
    t.mock.method(Math, 'random', () => 1)
    const waits = reconnection(options)
    waits.after(LOST)
    waits.after(LOST)
    waits.attempts = 0
    assert.equal(waits.after(LOST), 2000)
  })

  test('never waits less than the server asked for', (t) => {
    t.mock.method(Math, 'random', () => 0)
    const waits = reconnection({ ...options, maxReconnectionTime: 2000 })
    waits.serverTime = 60_000
    assert.equal(waits.after(LOST), 60_000)
  })

  test('grows from a reconnection time of 0, too', (t) => {
    t.mock.method(Math, 'random', () => 1)
    const waits = reconnection({ backoff: true, reconnectionTime: 0 })
    assert.deepEqual([waits.after(LOST), waits.after(LOST)], [200, 400])
  })

  test('never overflows', (t) => {
    t.mock.method(Math, 'random', () => 1)
    const waits = reconnection(options)
    for (let i = 0; i < 2000; i++) assert.ok(waits.after(LOST)! <= 30_000)
  })
})

describe('whether', () => {
  const refused = (statusCode: number, retryAfter = 0): StreamEnd => ({
    kind: 'refused',
    statusCode,
    retryAfter,
  })

  test('the mode decides', () => {
    for (const [reconnect, after] of [
      ['always', [3000, 3000, null, null]],
      ['on-error', [null, 3000, null, null]],
      [false, [null, null, null, null]],
    ] as const) {
      const ends: StreamEnd[] = [ENDED, LOST, refused(503), { kind: 'excessive' }]
      assert.deepEqual(
        ends.map((end) => reconnection({ reconnect }).after(end)),
        after,
      )
    }
  })

  test('statuses may be among those to try again, after the time they ask for', () => {
    const waits = reconnection({ retryStatus: [429, 503] })
    assert.equal(waits.after(refused(503)), 3000)
    assert.equal(waits.after(refused(429, 60_000)), 60_000)
    assert.equal(waits.after(refused(429, 1e15)), 2 ** 31 - 1)
    assert.equal(waits.after(refused(404)), null)
  })

  test('maxRetries counts attempts in a row without an event', () => {
    const waits = reconnection({ maxRetries: 2 })
    assert.deepEqual([waits.after(LOST), waits.after(LOST), waits.after(LOST)], [3000, 3000, null])
    const others = reconnection({ maxRetries: 1 })
    for (let i = 0; i < 5; i++) {
      others.attempts = 0
      assert.equal(others.after(ENDED), 3000)
    }
    assert.equal(reconnection({ maxRetries: 0 }).after(LOST), null)
  })
})

interface Played extends Recorded {
  readonly clock: FakeClock
  readonly stage: Stage
}

/** A source under a fake clock. */
async function play(t: TestContext, answers: Answer[], node: EventSourceNodeOptions): Promise<Played> {
  const clock = FakeClock.install(t)
  const stage = await setStage(t, h1, answers)
  return { clock, stage, ...listen(t, stage, '/', node) }
}

/** The next attempt comes after exactly this time. */
async function attemptAfter({ clock, stage }: Played, milliseconds: number): Promise<void> {
  const before = stage.requests.length
  await eventually(() => [...clock.active].some(({ due }) => due === clock.now + milliseconds))
  await clock.advance(milliseconds - 1)
  await turns(5)
  assert.equal(stage.requests.length, before)
  await clock.advance(1)
  await eventually(() => stage.requests.length > before)
}

describe('a source', () => {
  test('waits the same time each time', async (t) => {
    const played = await play(t, [ended('data: 1\n\n'), ended(), lost(), stream()], { reconnectionTime: 777 })
    for (const count of [3, 5, 6]) {
      await lines(played.log, count)
      await attemptAfter(played, 777)
    }
  })

  test('does not ask in a busy loop when the server wants to be asked at once', async (t) => {
    const played = await play(t, [ended('retry: 0\ndata: x\n\n'), stream()], {})
    await lines(played.log, 3)
    assert.equal(played.errors[0]!.delay, 10)
    await attemptAfter(played, 10)
  })

  test('waits as long as the server asked for without an empty line', async (t) => {
    const played = await play(t, [ended('retry: 4321\n'), stream()], {})
    await lines(played.log, 2)
    await attemptAfter(played, 4321)
  })

  test('obeys retry-after in seconds and as a date', async (t) => {
    const date = new Date(Date.now() + 50_000).toUTCString()
    const played = await play(
      t,
      [
        status(429, { 'retry-after': '7' }),
        status(503, { 'retry-after': date }),
        status(503, { 'retry-after': 'soon' }),
        stream(),
      ],
      { retryStatus: [429, 503], reconnectionTime: 1234 },
    )
    await lines(played.log, 1)
    await attemptAfter(played, 7000)
    await lines(played.log, 2)
    const { delay, statusCode, willReconnect } = played.errors[1]!
    assert.deepEqual([statusCode, willReconnect], [503, true])
    assert.ok(delay! > 40_000 && delay! <= 50_000, `${delay}`)
    await eventually(() => [...played.clock.active].some((timer) => timer.delay === delay))
    await played.clock.advance(delay!)
    await lines(played.log, 3)
    await attemptAfter(played, 1234)
    assert.deepEqual(await lines(played.log, 4), ['error 0', 'error 0', 'error 0', 'open 1'])
  })

  test('gives up after maxRetries', async (t) => {
    const played = await play(t, [lost(), lost(), lost()], { maxRetries: 1, reconnectionTime: 777 })
    await lines(played.log, 1)
    await attemptAfter(played, 777)
    assert.deepEqual(await lines(played.log, 2), ['error 0', 'error 2'])
    assert.deepEqual(
      played.errors.map(({ attempt, willReconnect }) => [attempt, willReconnect]),
      [
        [1, true],
        [2, false],
      ],
    )
  })

  for (const [name, shouldReconnect] of [
    ['false', () => false],
    ['a promise of false', async () => false],
  ] as const) {
    test(`asks shouldReconnect, which returns ${name}`, async (t) => {
      const asked: StreamErrorEvent[] = []
      const played = await play(t, [lost()], {
        shouldReconnect(event) {
          asked.push(event)
          return shouldReconnect()
        },
      })
      await lines(played.log, 1)
      assert.deepEqual(played.log, ['error 2'])
      assert.deepEqual([asked[0]!.willReconnect, asked[0]!.delay], [true, 3000])
      assert.equal(played.errors[0]!.willReconnect, false)
    })
  }

  test('ends with the error that shouldReconnect throws', async (t) => {
    const error = new Error('mine')
    const played = await play(t, [lost()], {
      shouldReconnect() {
        throw error
      },
    })
    assert.deepEqual(await lines(played.log, 1), ['error 2'])
    assert.equal(played.errors[0]!.error, error)
  })

  test('close() in shouldReconnect: nothing after it', async (t) => {
    const played = await play(t, [lost()], {
      shouldReconnect() {
        played.source.close()
        return true
      },
    })
    await eventually(() => played.source.readyState === 2)
    await turns(5)
    assert.deepEqual(played.log, [])
  })

  test('shouldReconnect is not asked where there is nothing to decide', async (t) => {
    const played = await play(t, [status(404)], { shouldReconnect: () => assert.fail() })
    assert.deepEqual(await lines(played.log, 1), ['error 2'])
  })

  test('does not ask again for a stream that ended normally, with on-error', async (t) => {
    const played = await play(t, [ended('data: 1\n\n')], { reconnect: 'on-error' })
    assert.deepEqual(await lines(played.log, 3), ['open 1', 'message 1', 'error 2'])
    assert.equal(played.errors[0]!.error, null)
    assert.equal(played.errors[0]!.message, 'The server has ended the stream')
  })

  test('idleTimeout: silence restarts, a comment is life, and bodyTimeout does not count', async (t) => {
    const clock = FakeClock.install(t)
    const stage = await setStage(t, h1, [stream(':\n'), stream()], { bodyTimeout: 500 })
    const played = { clock, stage, ...listen(t, stage, '/', { idleTimeout: 1000, reconnectionTime: 777 }) }
    await lines(played.log, 1)
    for (let i = 0; i < 3; i++) {
      await turns(5)
      await clock.advance(900)
      stage.responses[0]!.write(':\n')
      await eventually(() => [...clock.active].some(({ due }) => due === clock.now + 1000))
    }
    assert.deepEqual(played.log, ['open 1'])
    await clock.advance(1000)
    await lines(played.log, 2)
    assert.equal((played.errors[0]!.error as { code: string }).code, 'UND_ERR_BODY_TIMEOUT')
    await attemptAfter(played, 777)
    await lines(played.log, 3)
    assert.deepEqual(played.log, ['open 1', 'error 0', 'open 1'])
  })
})

describe('a process with nothing else to do', () => {
  const library = sourceUrl('src/index.ts')
  const run = (before: string): string => {
    const script = `
      const { EventSource } = await import(${JSON.stringify(library)})
      const source = new EventSource('data:text/event-stream,', { node: { reconnectionTime: 250 } })
      let waits = 0
      ${before}
      source.onerror = () => {
        console.log('wait')
        if (++waits === 2) source.close()
      }`
    const args = [...sourceLoader, '--input-type=module', '--eval', script]
    return spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 }).stdout
  }

  test('ends while a source waits', () => {
    assert.equal(run(''), 'wait\n')
  })

  test('goes on after ref, and ends after unref', () => {
    assert.equal(run("source[Symbol.for('nodejs.ref')]()"), 'wait\nwait\n')
    const both = "source[Symbol.for('nodejs.ref')](); source[Symbol.for('nodejs.unref')]()"
    assert.equal(run(both), 'wait\n')
  })
})
