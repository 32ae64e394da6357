/** The class `BalancedPool`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { BalancedPool } from '../../src/dispatcher/pool/balanced-pool.ts'
import { Pool } from '../../src/dispatcher/pool/pool.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, wireOptions } from '../support/wire.ts'
import { refused } from './pool-support.ts'

const GET = { path: '/', method: 'GET' } as const

overEachWire('BalancedPool', (wire) => {
  test('requests go to all upstreams in turn', async (t) => {
    const hits = [0, 0]
    const origins = await Promise.all(
      hits.map((_, i) =>
        startOrigin(t, wire, (_request, response) => {
          hits[i]!++
          response.end('ok')
        }),
      ),
    )
    const pool = new BalancedPool(
      origins.map(({ url }) => url),
      wireOptions(wire),
    )
    t.after(() => pool.destroy())
    assert.deepEqual(
      pool.upstreams,
      origins.map(({ url }) => url),
    )
    for (let i = 0; i < 10; i++) assert.equal(await (await pool.request(GET)).body.text(), 'ok')
    assert.deepEqual(hits, [5, 5])
    assert.equal(pool.stats.connected, 2)
    await pool.close()
    assert.equal(pool.stats.connected, 0)
  })

  test('one that cannot be reached gets less and less', async (t) => {
    let hits = 0
    const origin = await startOrigin(t, wire, (_request, response) => {
      hits++
      response.end()
    })
    const dead = origin.url.replace(/\d+$/, '1')
    const pool = new BalancedPool([dead, origin.url], { ...wireOptions(wire), errorPenalty: 50 })
    t.after(() => pool.destroy())
    const targets = once(pool, 'connectionError')
    let failed = 0
    for (let i = 0; i < 30; i++) {
      await pool.request(GET).then(
        ({ body }) => body.dump(),
        () => failed++,
      )
    }
    assert.equal(hits + failed, 30)
    assert.ok(failed >= 2 && failed <= 4, `${failed} went to the dead one`)
    const [, [first, second]] = await targets
    assert.equal(first, pool)
    assert.ok(second instanceof Pool)
  })
})

/** Emits the events that a test triggers. */
class Puppet extends Dispatcher {
  readonly paths: string[] = []
  room = true
  closed = false
  override dispatch(options: { path: string }): boolean {
    this.paths.push(options.path)
    return this.room
  }
  override close(callback?: unknown): Promise<void> {
    this.closed = true
    ;(callback as () => void)()
    return Promise.resolve()
  }
  override destroy(_error?: unknown, callback?: unknown): Promise<void> {
    ;(callback as () => void)()
    return Promise.resolve()
  }
}

function puppets(t: { after(fn: () => unknown): void }, count: number, options = {}) {
  const made: Puppet[] = []
  const pool = new BalancedPool(
    Array.from({ length: count }, (_, i) => `http://upstream-${i}`),
    {
      ...options,
      factory: () => {
        made.push(new Puppet())
        return made.at(-1)!
      },
    },
  )
  t.after(() => pool.destroy())
  const send = (times: number): number[] => {
    const before = made.map(({ paths }) => paths.length)
    for (let i = 0; i < times; i++) pool.dispatch(GET, new RecordingHandler())
    return made.map(({ paths }, i) => paths.length - (before[i] ?? 0))
  }
  return { pool, made, send }
}

describe('BalancedPool: weights', () => {
  test('shares follow the weights, which failures lower and connects raise', (t) => {
    const { made, send } = puppets(t, 2, { maxWeightPerServer: 100, errorPenalty: 50 })
    assert.deepEqual(send(20), [10, 10])
    made[0]!.emit('connectionError', null, [made[0]], refused())
    assert.deepEqual(send(30), [10, 20])
    made[0]!.emit('disconnect', null, [made[0]], Object.assign(new Error('gone'), { code: 'UND_ERR_SOCKET' }))
    // Not below 1, and other disconnect reasons do not affect the weight.
    made[0]!.emit('disconnect', null, [made[0]], Object.assign(new Error('idle'), { code: 'UND_ERR_INFO' }))
    made[0]!.emit('disconnect', null, [made[0]])
    assert.deepEqual(send(101), [1, 100])
    for (let i = 0; i < 3; i++) made[0]!.emit('connect', null, [made[0]])
    const [few, many] = send(20) as [number, number]
    assert.ok(Math.abs(few - many) <= 2)
  })

  test('one that was away has nothing to catch up on', (t) => {
    const { made, send } = puppets(t, 2)
    made[0]!.room = false
    assert.deepEqual(send(100), [1, 99])
    made[0]!.room = true
    made[0]!.emit('drain')
    const [back, other] = send(10) as [number, number]
    assert.ok(Math.abs(back - other) <= 2)
  })

  test('nobody has room: what comes waits, and the one that drains takes it', (t) => {
    const { pool, made, send } = puppets(t, 2)
    for (const puppet of made) puppet.room = false
    assert.deepEqual(send(5), [1, 1])
    assert.equal(pool.stats.queued, 3)
    made[1]!.room = true
    made[1]!.emit('drain')
    assert.deepEqual(
      made.map(({ paths }) => paths.length),
      [1, 4],
    )
    assert.equal(pool.stats.queued, 0)
  })
})

describe('BalancedPool: upstreams', () => {
  test('none: an error of its own', async (t) => {
    const pool = new BalancedPool()
    t.after(() => pool.destroy())
    assert.deepEqual(pool.upstreams, [])
    const error = await failure(pool.request(GET))
    assert.equal(error.code, 'UND_ERR_BPL_MISSING_UPSTREAM')
    assert.equal(error.name, 'MissingUpstreamError')
  })

  test('one, as a string or a URL; added, found and removed', (t) => {
    const pool = new BalancedPool('http://a.test')
    t.after(() => pool.destroy())
    assert.equal(pool.addUpstream(new URL('http://b.test/')), pool)
    pool.addUpstream('http://A.test:80')
    assert.deepEqual(pool.upstreams, ['http://a.test', 'http://b.test'])
    assert.ok(pool.getUpstream('http://b.test') instanceof Pool)
    assert.equal(pool.getUpstream('http://c.test'), undefined)
    assert.equal(pool.removeUpstream('http://b.test'), pool)
    pool.removeUpstream('http://b.test')
    assert.deepEqual(pool.upstreams, ['http://a.test'])
    assert.throws(() => pool.addUpstream('http://a.test/path'), { message: 'invalid url' })
  })

  test('a removed one finishes what it has; what waited for it has nowhere to go', (t) => {
    const { pool, made } = puppets(t, 1)
    made[0]!.room = false
    const waiting = new RecordingHandler()
    pool.dispatch(GET, new RecordingHandler())
    pool.dispatch(GET, waiting)
    pool.removeUpstream('http://upstream-0')
    assert.equal(made[0]!.closed, true)
    assert.equal((waiting.error as NodeJS.ErrnoException).code, 'UND_ERR_BPL_MISSING_UPSTREAM')
  })

  test('options go to the factory as they are, functions among them', (t) => {
    const lookup = (): void => {}
    const seen: unknown[] = []
    const pool = new BalancedPool(['http://a.test'], {
      connect: { lookup },
      connections: 3,
      maxWeightPerServer: 7,
      factory: (origin, options) => {
        seen.push(String(origin), options)
        return new Puppet()
      },
    })
    t.after(() => pool.destroy())
    assert.deepEqual(seen, ['http://a.test/', { connect: { lookup }, connections: 3 }])
  })

  test('checks', () => {
    assert.throws(() => new BalancedPool('http://a.test', { factory: 1 as never }), {
      message: 'factory must be a function.',
    })
    assert.throws(() => new BalancedPool('ftp://a.test'), { code: 'UND_ERR_INVALID_ARG' })
    assert.throws(() => new BalancedPool('http://a.test', null as never), TypeError)
    assert.throws(() => new BalancedPool('http://a.test', { connections: -1 }), {
      message: 'invalid connections',
    })
  })

  test('through interceptors', (t) => {
    const { pool } = puppets(t, 1)
    const view = pool.compose((dispatch) => (opts, handler) => dispatch(opts, handler))
    view.addUpstream('http://more.test')
    assert.deepEqual(view.upstreams, ['http://upstream-0', 'http://more.test'])
    assert.ok(view.getUpstream('http://more.test'))
    view.removeUpstream('http://more.test')
    assert.deepEqual(pool.upstreams, ['http://upstream-0'])
  })

  test('destroy fails what waits', async (t) => {
    const { pool, made } = puppets(t, 1)
    made[0]!.room = false
    pool.dispatch(GET, new RecordingHandler())
    const waiting = failure(pool.request(GET))
    await pool.destroy()
    assert.equal((await waiting).code, 'UND_ERR_DESTROYED')
  })
})
