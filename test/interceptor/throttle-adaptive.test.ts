import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type Dispatcher, interceptors, type ThrottleOptions } from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { GET, setting, steadyClock } from './throttle-support.ts'

/** Decides whether a server accepts a request at a time. */
type Limiter = (at: number) => boolean

/** Counts anew each second. */
function fixedWindow(limit: number): Limiter {
  let second = 0
  let count = 0
  return (at) => {
    if (Math.floor(at / 1000) !== second) count = 0
    second = Math.floor(at / 1000)
    return ++count <= limit
  }
}

/** So many within any second. */
function slidingLog(limit: number): Limiter {
  const accepted: number[] = []
  return (at) => {
    while (accepted.length > 0 && accepted[0]! <= at - 1000) accepted.shift()
    if (accepted.length >= limit) return false
    accepted.push(at)
    return true
  }
}

function bucket(limit: number, burst: number): Limiter {
  let tokens = burst
  let filled = 0
  return (at) => {
    tokens = Math.min(burst, tokens + ((at - filled) * limit) / 1000)
    filled = at
    if (tokens < 1) return false
    tokens--
    return true
  }
}

interface Counts {
  accepted: number
  refused: number
}

interface Simulation {
  /** Lets seconds pass in which so many requests are always waiting. */
  run(seconds: number, waiting?: number): Counts
  /** Lets seconds pass with so many requests in each. */
  drip(seconds: number, perSecond: number): Counts
}

const LATENCY = 40

const HANDLER = { onRequestStart() {}, onResponseError() {} }

function simulate(
  t: TestContext,
  server: { accepts: Limiter; retryAfter?: string; status?: number },
  options: ThrottleOptions,
): Simulation {
  const clock = steadyClock(t)
  let counts: Counts = { accepted: 0, refused: 0 }
  let waiting = 0
  const base = new ScriptedDispatcher((exchange) => {
    base.exchanges.pop()
    const accepts = server.accepts(clock.now)
    if (accepts) counts.accepted++
    else counts.refused++
    globalThis.setTimeout(() => {
      waiting--
      exchange.start()
      if (accepts) exchange.head(200)
      else exchange.head(server.status ?? 429, server.retryAfter ? { 'retry-after': server.retryAfter } : {})
      exchange.end()
    }, LATENCY)
  })
  const dispatcher: Dispatcher = base.compose(interceptors.throttle(options))
  const send = (): void => {
    waiting++
    dispatcher.dispatch(GET, HANDLER)
  }
  const pass = (seconds: number, step: () => void): Counts => {
    counts = { accepted: 0, refused: 0 }
    for (let i = 0; i < seconds * 100; i++) {
      step()
      clock.jump(10)
    }
    return counts
  }
  return {
    run: (seconds, most = 100) =>
      pass(seconds, () => {
        while (waiting < most) send()
      }),
    drip: (seconds, perSecond) => {
      let due = 0
      return pass(seconds, () => {
        for (due += perSecond / 100; due >= 1; due--) send()
      })
    },
  }
}

function share({ accepted, refused }: Counts): number {
  return refused / (accepted + refused)
}

const SERVERS: Record<string, { accepts: Limiter; retryAfter?: string; status?: number }> = {
  'counts by the second': { accepts: fixedWindow(100) },
  'counts by the second and asks to wait': { accepts: fixedWindow(100), retryAfter: '1' },
  'counts the last second': { accepts: slidingLog(100) },
  'counts the last second and asks to wait': { accepts: slidingLog(100), retryAfter: '1', status: 503 },
  'has a bucket of a second': { accepts: bucket(100, 100) },
  'has a bucket of a tenth of a second': { accepts: bucket(100, 10), status: 503 },
}

describe('interceptors.throttle with adaptive: true', () => {
  for (const [name, server] of Object.entries(SERVERS)) {
    it(`uses most of a hidden limit of 100 per second of a server that ${name}`, (t) => {
      const simulation = simulate(t, server, { adaptive: true })
      simulation.run(30)
      const counts = simulation.run(30)
      t.diagnostic(`${counts.accepted / 30} per second, ${(100 * share(counts)).toFixed(2)} % refused`)
      assert.ok(counts.accepted / 30 >= 85, `${counts.accepted / 30} per second`)
      assert.ok(share(counts) < 0.01, `${counts.refused} were refused`)
    })
  }

  it('finds low and high limits as well', (t) => {
    for (const limit of [2, 1000]) {
      const simulation = simulate(t, { accepts: bucket(limit, Math.max(1, limit / 10)) }, { adaptive: true })
      simulation.run(60)
      const seconds = 2000 / limit + 10
      const counts = simulation.run(seconds)
      assert.ok(counts.accepted / seconds >= 0.8 * limit, `${counts.accepted / seconds} of ${limit}`)
      assert.ok(share(counts) < 0.02, `${counts.refused} of ${counts.accepted} were refused`)
    }
  })

  it('follows a limit that falls and rises', (t) => {
    const server = { accepts: fixedWindow(100) }
    const simulation = simulate(t, server, { adaptive: true })
    simulation.run(30)
    server.accepts = fixedWindow(20)
    simulation.run(20)
    const low = simulation.run(20)
    assert.ok(low.accepted / 20 >= 15 && share(low) < 0.02, `${low.accepted} ${low.refused}`)
    server.accepts = fixedWindow(200)
    simulation.run(60)
    const high = simulation.run(20)
    assert.ok(high.accepted / 20 >= 160 && share(high) < 0.02, `${high.accepted} ${high.refused}`)
  })

  it('never exceeds the rate that is given', (t) => {
    const simulation = simulate(t, { accepts: () => true }, { adaptive: true, rate: 50, burst: 1 })
    const first = simulation.run(1)
    assert.ok(first.accepted >= 49 && first.accepted <= 51, `${first.accepted}`)
    assert.ok(simulation.run(10).accepted <= 501)
  })

  it('begins with ten at once and ten per second, and doubles as long as nothing is refused', (t) => {
    const simulation = simulate(t, { accepts: () => true }, { adaptive: true })
    const counts = [1, 2, 3, 4].map(() => simulation.run(1, 1000).accepted)
    assert.ok(counts[0]! >= 20 && counts[0]! <= 40, `${counts}`)
    for (const [i, count] of counts.entries()) {
      if (i > 1) assert.ok(count / counts[i - 1]! > 1.5 && count / counts[i - 1]! < 2.5, `${counts}`)
    }
  })

  it('does not take a rate for granted that was not used', (t) => {
    const server = { accepts: (() => true) as Limiter }
    const simulation = simulate(t, server, { adaptive: true })
    simulation.drip(120, 8)
    server.accepts = fixedWindow(100)
    assert.equal(simulation.run(1).refused, 0)
  })

  it('is cut by half at most by one refusal, and once by those of a second', (t) => {
    const server = { accepts: (() => true) as Limiter }
    const simulation = simulate(t, server, { adaptive: true, rate: 100 })
    simulation.run(5)
    server.accepts = () => false
    simulation.run(1)
    server.accepts = () => true
    const after = simulation.run(1)
    assert.ok(after.accepted >= 45 && after.accepted <= 100, `${after.accepted}`)
  })

  it('tries a server that refuses everything now and then, and comes back', (t) => {
    const server = { accepts: (() => false) as Limiter }
    const simulation = simulate(t, server, { adaptive: true })
    simulation.run(60)
    const { refused } = simulation.run(100)
    assert.ok(refused >= 9 && refused <= 12, `${refused}`)
    server.accepts = fixedWindow(100)
    simulation.run(60)
    assert.ok(simulation.run(20).accepted / 20 >= 85)
  })

  it('the rate is found for each key', (t) => {
    const { send, sent, clock, answer, exchange } = setting(t, { adaptive: true, rate: 10, burst: 1 })
    send('/1')
    answer('/1', 429)
    for (const path of ['/2', '/3']) send(path)
    for (const path of ['/b1', '/b2']) send(path, { origin: 'http://b.test' })
    clock.jump(100)
    assert.deepEqual(sent, ['/1', '/b1', '/b2'])
    clock.jump(100)
    assert.deepEqual(sent, ['/1', '/b1', '/b2', '/2'])
    // Neither a refusal nor a sign that the rate is borne.
    exchange('/2').start().head(500).end()
    exchange('/b1').error(new Error('lost'))
  })
})
