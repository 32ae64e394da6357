import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import type { Dispatch, Interceptor } from '../../src/dispatcher/compose.ts'
import {
  Agent,
  BalancedPool,
  Client,
  Dispatcher,
  Dispatcher1Wrapper,
  H2CClient,
  Pool,
  RoundRobinPool,
} from '../../src/index.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../../src/request/dispatch-handler.ts'
import type { DispatchOptions } from '../../src/request/dispatch-options.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'

const GET = { path: '/', method: 'GET' } as const

describe('Dispatcher', () => {
  it('can be made, and asks for dispatch, close and destroy', () => {
    const dispatcher = new Dispatcher()
    assert.ok(dispatcher instanceof EventEmitter)
    const abstract = { name: 'Error', message: 'not implemented' }
    assert.throws(() => dispatcher.dispatch(GET, {}), abstract)
    assert.throws(() => dispatcher.close(), abstract)
    assert.throws(() => dispatcher.destroy(), abstract)
    class Partly extends Dispatcher {}
    assert.throws(() => new Partly().dispatch(GET, {}), abstract)
  })

  it('rejects requests when dispatch is not implemented', async () => {
    await assert.rejects(new Dispatcher().request(GET), { message: 'not implemented' })
  })

  it('has real methods and shows no state', () => {
    const names = 'dispatch close destroy compose request stream pipeline upgrade connect'.split(' ')
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(Dispatcher.prototype, name)
      assert.equal(typeof descriptor?.value, 'function', name)
      assert.equal(descriptor?.enumerable, false, name)
    }
    assert.deepEqual(Object.keys(new Dispatcher()), Object.keys(new EventEmitter()))
  })
})

/** Represents the library's classes: state in private fields, which a Proxy does not have. */
class OwnOrigin extends ScriptedDispatcher {
  #closed = 0
  #pipelining = 1

  override composedOrigin(): string {
    return `http://own.test${this.#closed === 0 ? '' : '/closed'}`
  }

  get pipelining(): number {
    return this.#pipelining
  }

  set pipelining(value: number) {
    this.#pipelining = value
  }

  get closeCalls(): number {
    return this.#closed
  }

  override close(): Promise<void> {
    this.#closed++
    return Promise.resolve()
  }

  override destroy(): Promise<void> {
    this.#closed += 10
    return Promise.resolve()
  }

  /** A user-defined method, built on the public ones. */
  async greet(): Promise<number> {
    return (await this.request(GET)).statusCode
  }
}

const noop = (): void => {}

const BUILT_ON_DISPATCH = new Set<PropertyKey>([
  'constructor',
  'dispatch',
  'request',
  'stream',
  'pipeline',
  'connect',
  'upgrade',
  'compose',
])

function tag(log: string[], name: string): Interceptor {
  return (dispatch) => (opts, handler) => {
    log.push(name)
    return dispatch(opts, handler)
  }
}

describe('compose()', () => {
  it('the last interceptor sees a request first; null ones are skipped; both call forms', async () => {
    for (const asList of [true, false]) {
      const log: string[] = []
      const base = new ScriptedDispatcher((exchange) => exchange.start().head().end())
      const list = [tag(log, 'a'), null, tag(log, 'b'), undefined]
      const composed = asList ? base.compose(list) : base.compose(...list)
      assert.equal((await composed.request(GET)).statusCode, 200)
      assert.deepEqual(log, ['b', 'a'])
      await base.request(GET)
      assert.deepEqual(log, ['b', 'a'])
    }
  })

  it('refuses what is no interceptor', () => {
    const base = new ScriptedDispatcher()
    for (const [value, type] of [
      ['x', 'string'],
      [{}, 'object'],
      [5, 'number'],
    ]) {
      assert.throws(() => base.compose(value as never), {
        name: 'TypeError',
        message: `invalid interceptor, expected function received ${type}`,
      })
    }
    for (const result of [undefined, null, {}, () => true, (_one: unknown) => true]) {
      assert.throws(() => base.compose(() => result as Dispatch), {
        name: 'TypeError',
        message: 'invalid interceptor',
      })
    }
  })

  it('all but dispatch is that of the original, private state included', async () => {
    const base = new OwnOrigin()
    const composed = base.compose(tag([], 'a'))
    assert.ok(composed instanceof OwnOrigin)
    composed.pipelining = 7
    assert.equal(base.pipelining, 7)
    assert.equal(composed.pipelining, 7)
    await composed.close()
    assert.equal(base.closeCalls, 1)
    await composed.destroy()
    assert.equal(base.closeCalls, 11)
    const heard: unknown[] = []
    assert.equal(
      composed.on('drain', (value) => heard.push(value)),
      composed,
    )
    base.emit('drain', 1)
    composed.emit('drain', 2)
    assert.deepEqual(heard, [1, 2])
  })

  it('a method that is built on request goes through the interceptors', async () => {
    const log: string[] = []
    const base = new OwnOrigin((exchange) => exchange.start().head(299).end())
    assert.equal(await base.compose(tag(log, 'a')).greet(), 299)
    assert.deepEqual(log, ['a'])
  })

  it('runs every method of the library where its private fields are', async () => {
    const classes = [
      Dispatcher,
      Client,
      H2CClient,
      Pool,
      RoundRobinPool,
      BalancedPool,
      Agent,
      Dispatcher1Wrapper,
    ]
    for (const kind of classes) {
      const make = kind as new (url: unknown) => Dispatcher
      const original = new make(
        kind === Dispatcher1Wrapper ? new Client('http://own.test') : 'http://own.test',
      )
      const view = original.compose(tag([], 'a')) as unknown as Record<PropertyKey, unknown>
      assert.equal(view['constructor'], kind)
      const names = new Set<PropertyKey>()
      for (let type = kind.prototype; type !== EventEmitter.prototype; type = Object.getPrototypeOf(type)) {
        for (const name of Reflect.ownKeys(type)) names.add(name)
      }
      for (const name of names) {
        const member = view[name]
        if (typeof member !== 'function' || BUILT_ON_DISPATCH.has(name)) continue
        try {
          await member.call(view, noop, noop)
        } catch (error) {
          assert.doesNotMatch(String(error), /private/, `${kind.name}.${String(name)}`)
        }
      }
      if (kind !== Dispatcher) await original.destroy()
    }
  })

  it('returns the view where a method returns the dispatcher', () => {
    const pool = new BalancedPool('http://own.test')
    const view = pool.compose(tag([], 'a'))
    assert.equal(view.addUpstream('http://more.test'), view)
    assert.equal(view.removeUpstream('http://more.test'), view)
    assert.notEqual(view, pool)
  })

  it('a function that a program has added runs on the outermost view', () => {
    let owner: unknown
    const client = new Client('http://own.test') as Client & { look?: () => void }
    client.look = function (this: unknown) {
      owner = this
    }
    const inner = client.compose(tag([], 'a'))
    const outer = inner.compose(tag([], 'b'))
    for (const view of [inner, outer]) {
      view.look!()
      assert.equal(owner, view)
    }
  })

  it('can be composed again', async () => {
    const log: string[] = []
    const base = new OwnOrigin((exchange) => exchange.start().head().end())
    const composed = base.compose(tag(log, 'a')).compose(tag(log, 'b'))
    await composed.request(GET)
    assert.deepEqual(log, ['b', 'a'])
    await composed.close()
    assert.equal(base.closeCalls, 1)
    assert.equal(base.exchanges[0]?.opts.origin, 'http://own.test')
  })

  it('fills in the origin on a copy, and keeps one that is there', () => {
    const base = new OwnOrigin()
    const composed = base.compose(tag([], 'a'))
    const opts: DispatchOptions = { ...GET }
    composed.dispatch(opts, { onRequestStart() {} })
    assert.equal(base.last.opts.origin, 'http://own.test')
    assert.equal('origin' in opts, false)
    for (const origin of [undefined, '']) {
      composed.dispatch({ ...GET, origin }, { onRequestStart() {} })
      assert.equal(base.last.opts.origin, 'http://own.test')
    }
    const explicit: DispatchOptions = { ...GET, origin: 'http://other.test' }
    composed.dispatch(explicit, { onRequestStart() {} })
    assert.equal(base.last.opts, explicit)
    const plain = new ScriptedDispatcher()
    plain.compose(tag([], 'a')).dispatch(opts, { onRequestStart() {} })
    assert.equal(plain.last.opts, opts)
    composed.dispatch(null as never, {})
    assert.equal(base.last.opts, null)
  })

  it('a polluted prototype adds nothing to the copy', (t) => {
    const polluted = Object.prototype as Record<string, unknown>
    polluted['body'] = 'polluted'
    t.after(() => delete polluted['body'])
    const base = new OwnOrigin()
    base.compose(tag([], 'a')).dispatch({ ...GET }, { onRequestStart() {} })
    assert.deepEqual([base.last.opts.origin, base.last.opts.body], ['http://own.test', undefined])
  })

  it('what a program replaces on the view or on the original is used', async () => {
    const base = new OwnOrigin((exchange) => exchange.start().head(299).end())
    const view = base.compose(tag([], 'a'))
    const sent: DispatchOptions[] = []
    const { dispatch } = view
    view.dispatch = (opts, handler) => {
      sent.push(opts)
      return dispatch(opts, handler)
    }
    assert.equal((await view.request(GET)).statusCode, 299)
    assert.equal(sent.length, 1)
    await base.request(GET)
    assert.equal(sent.length, 1)
    const later = (status: number) => async () => ({ statusCode: status }) as never
    base.request = later(201)
    assert.equal((await view.request(GET)).statusCode, 201)
    view.request = later(202)
    assert.equal((await view.request(GET)).statusCode, 202)
    assert.equal((await base.request(GET)).statusCode, 202)
  })

  it('gives interceptors the origin, null where several are possible, undefined where the request decides', () => {
    const seen: unknown[] = []
    const look: Interceptor = (dispatch, origin) => {
      seen.push(origin)
      return dispatch
    }
    const url = 'http://own.test'
    const client = new Client(url)
    client.compose(look).compose(look)
    new Pool(url).compose(look)
    new RoundRobinPool(url).compose(look)
    assert.deepEqual(seen.splice(0), [url, url, url, url])
    new BalancedPool(url).compose(look)
    new Agent().compose(look)
    new ScriptedDispatcher().compose(look)
    assert.deepEqual(seen, [null, undefined, undefined])
  })

  it('interceptors see handlers of the newer generation only', () => {
    const base = new ScriptedDispatcher()
    const seen: DispatchHandler[] = []
    const composed = base.compose((dispatch) => (opts, handler) => {
      seen.push(handler)
      return dispatch(opts, handler)
    })
    const legacy: LegacyDispatchHandler = { onConnect: () => {}, onError: () => {} }
    composed.dispatch(GET, legacy)
    assert.equal(typeof seen[0]?.onRequestStart, 'function')
    let starts = 0
    const modern: DispatchHandler = { onRequestStart: () => void starts++ }
    composed.dispatch(GET, modern)
    const given = seen[1]!
    assert.equal(given.onResponseStart, undefined)
    given.onRequestStart!(null!, null)
    // As interceptors do that change one method.
    const changed: DispatchHandler = { ...given, onResponseStart() {} }
    changed.onRequestStart!(null!, null)
    assert.equal(starts, 2)
  })

  it('signals work on a composed view', async () => {
    const base = new ScriptedDispatcher()
    const composed = base.compose(tag([], 'a'))
    const signal = new EventEmitter()
    const pending = [composed.request({ ...GET, signal }), composed.request({ ...GET, signal })]
    assert.equal(signal.listenerCount('abort'), 1)
    signal.emit('abort')
    for (const one of pending) await assert.rejects(one, { code: 'UND_ERR_ABORTED' })
    assert.equal(signal.listenerCount('abort'), 0)
  })
})
