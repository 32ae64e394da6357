/** The order of upstreams: the same sequences as undici's BalancedPool for the same events. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts'
import { BalancedPool, type BalancedPoolOptions } from '../../src/dispatcher/pool/balanced-pool.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { http1Only, overEachWire, startOrigin, type Wire, wireOptions } from '../support/wire.ts'

const GET = { path: '/', method: 'GET' } as const

/** An upstream whose events and state the test controls. */
class Puppet extends Dispatcher {
  room = true
  closed = false
  destroyed = false
  readonly #name: string
  readonly #log: string[]

  constructor(name: string, log: string[]) {
    super()
    this.#name = name
    this.#log = log
  }

  override dispatch(): boolean {
    this.#log.push(this.#name)
    return this.room
  }

  override close(callback?: unknown): Promise<void> {
    this.closed = true
    ;(callback as (() => void) | undefined)?.()
    return Promise.resolve()
  }

  override destroy(_error?: unknown, callback?: unknown): Promise<void> {
    this.destroyed = true
    ;(callback as (() => void) | undefined)?.()
    return Promise.resolve()
  }

  fail(): void {
    this.emit('connectionError', null, [this], new Error('refused'))
  }

  lose(code = 'UND_ERR_SOCKET'): void {
    this.emit('disconnect', null, [this], Object.assign(new Error('lost'), { code }))
  }

  rise(): void {
    this.emit('connect', null, [this])
  }
}

class Scene {
  readonly #log: string[] = []
  readonly #puppets = new Map<string, Puppet>()
  readonly pool: BalancedPool

  /** Upstreams are called a, b, c … */
  constructor(count: number, options: BalancedPoolOptions = {}) {
    const names = [...'abcdefgh'].slice(0, count)
    this.pool = new BalancedPool(
      names.map((name) => `http://${name}.test`),
      {
        ...options,
        factory: ({ hostname }) => {
          const puppet = new Puppet(hostname[0]!, this.#log)
          this.#puppets.set(hostname[0]!, puppet)
          return puppet
        },
      },
    )
  }

  of(name: string): Puppet {
    return this.#puppets.get(name)!
  }

  /** The upstreams of the next requests. */
  next(times: number): string {
    for (let i = 0; i < times; i++) this.pool.dispatch(GET, new RecordingHandler())
    return this.#log.splice(0).join('')
  }
}

describe('BalancedPool: turns', () => {
  test('equal weights: one after another', () => {
    assert.equal(new Scene(3).next(20), 'abcabcabcabcabcabcab')
  })

  test('after one failure with the defaults', () => {
    const scene = new Scene(2)
    scene.of('a').fail()
    assert.equal(scene.next(60), `bbb${'ab'.repeat(17)}bbb${'ab'.repeat(10)}`)
  })

  test('after ten failures: one of a hundred', () => {
    const scene = new Scene(2)
    for (let i = 0; i < 10; i++) scene.of('a').fail()
    assert.equal(scene.next(101), `${'b'.repeat(99)}ab`)
  })

  test('down to the least weight and up again', () => {
    const scene = new Scene(3, { maxWeightPerServer: 10, errorPenalty: 5 })
    assert.equal(scene.next(9), 'abcabcabc')
    scene.of('b').fail()
    assert.equal(scene.next(12), 'abcacabcacab')
    scene.of('b').fail()
    assert.equal(scene.next(30), 'cacacacabcacacacacacacacacacab')
    scene.of('b').rise()
    assert.equal(scene.next(20), 'cacacacacabcabcabcab')
    scene.of('b').rise()
    assert.equal(scene.next(20), 'cabcabcabcabcabcabca')
  })

  test('three different weights; only lost connections count', () => {
    const scene = new Scene(3, { maxWeightPerServer: 4, errorPenalty: 1 })
    scene.of('a').fail()
    scene.of('b').lose()
    scene.of('b').lose()
    assert.equal(scene.next(24), 'cacabcabccacabcabccacabc')
    scene.of('c').lose('UND_ERR_INFO')
    assert.equal(scene.next(12), 'abccacabcabc')
    scene.of('c').lose()
    assert.equal(scene.next(20), 'acabcabcacabcabcacab')
    for (const name of ['a', 'a', 'b']) scene.of(name).rise()
    assert.equal(scene.next(20), 'cabcaabcabcabcaabcab')
  })

  test('a heavy penalty', () => {
    const scene = new Scene(4, { maxWeightPerServer: 100, errorPenalty: 50 })
    scene.of('c').fail()
    assert.equal(scene.next(21), 'abdabcdabdabcdabdabcd')
    scene.of('d').fail()
    scene.of('d').fail()
    assert.equal(scene.next(230), `${'abc'.repeat(49)}d${'ab'.repeat(41)}`)
  })

  test('weights that are no whole numbers, and options that say nothing', () => {
    const scene = new Scene(2, { maxWeightPerServer: 7.5, errorPenalty: 2 })
    scene.of('a').fail()
    assert.equal(scene.next(20), 'bbbbabababababababab')
    const light = new Scene(3, { maxWeightPerServer: 1, errorPenalty: 7 })
    light.of('a').fail()
    assert.equal(light.next(10), 'abcabcabca')
    const zero = new Scene(2, { maxWeightPerServer: 0, errorPenalty: 0 })
    zero.of('a').fail()
    assert.equal(zero.next(40), `bbb${'ab'.repeat(17)}bbb`)
  })

  test('upstreams that come and go', () => {
    const scene = new Scene(3)
    assert.equal(scene.next(4), 'abca')
    scene.pool.addUpstream('http://d.test')
    assert.equal(scene.next(10), 'bcdabcdabc')
    scene.pool.removeUpstream('http://b.test')
    assert.equal(scene.next(10), 'acdacdacda')
    assert.deepEqual(scene.pool.upstreams, ['http://a.test', 'http://c.test', 'http://d.test'])
  })

  test('one without room is passed over until it drains', () => {
    const scene = new Scene(3)
    scene.of('b').room = false
    assert.equal(scene.next(9), 'abcacacac')
    scene.of('b').room = true
    scene.of('b').emit('drain', null, [])
    assert.equal(scene.next(6), 'abcabc')
  })
})

describe('BalancedPool: an upstream that its owner has', () => {
  for (const state of ['closed', 'destroyed'] as const) {
    test(`${state} is none any more`, () => {
      const scene = new Scene(2)
      scene.of('b')[state] = true
      assert.equal(scene.pool.getUpstream('http://b.test'), undefined)
      assert.equal(scene.pool.getUpstream('http://a.test'), scene.of('a'))
      assert.deepEqual(scene.pool.upstreams, ['http://a.test'])
      assert.equal(scene.next(4), 'aaaa')
      scene.pool.addUpstream('http://b.test')
      assert.deepEqual(scene.pool.upstreams, ['http://a.test', 'http://b.test'])
      assert.equal(scene.next(4), 'baba')
    })
  }

  test('all closed: nothing waits for them', () => {
    const scene = new Scene(2)
    scene.of('a').room = false
    scene.of('b').room = false
    assert.equal(scene.next(2), 'ab')
    const waiting = new RecordingHandler()
    scene.pool.dispatch(GET, waiting)
    scene.of('a').closed = true
    scene.of('b').closed = true
    scene.of('a').emit('drain', null, [])
    assert.equal((waiting.error as NodeJS.ErrnoException).code, 'UND_ERR_BPL_MISSING_UPSTREAM')
    const late = new RecordingHandler()
    scene.pool.dispatch(GET, late)
    assert.equal((late.error as NodeJS.ErrnoException).code, 'UND_ERR_BPL_MISSING_UPSTREAM')
  })
})

function turnsOfFailingServers(wire: Wire): void {
  test('servers that fail and recover', async (t) => {
    const failing = new Set<string>()
    const origins = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        startOrigin(t, wire, (request, response) => {
          if (failing.has(name)) request.socket.end()
          else response.end(name)
        }),
      ),
    )
    const pool = new BalancedPool(
      origins.map(({ url }) => url),
      { ...wireOptions(wire), maxWeightPerServer: 20, errorPenalty: 5, keepAliveTimeout: 60_000 },
    )
    t.after(() => pool.destroy())
    const next = async (times: number): Promise<string> => {
      let text = ''
      for (let i = 0; i < times; i++) {
        text += await pool.request(GET).then(
          ({ body }) => body.text(),
          () => '!',
        )
      }
      return text
    }
    assert.equal(await next(6), 'abcabc')
    failing.add('b')
    assert.equal(await next(20), 'a!ca!ca!ca!caca!ca!c')
    failing.clear()
    assert.equal(await next(30), 'abc'.repeat(10))
    failing.add('a').add('c')
    assert.equal(await next(20), '!b!!b!!b!b!b!!b!!b!b')
    failing.clear()
    assert.equal(await next(40), `${'abc'.repeat(13)}a`)
  })
}

overEachWire(
  'BalancedPool: turns',
  turnsOfFailingServers,
  http1Only('a GOAWAY before the end is not a failure'),
)
