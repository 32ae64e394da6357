import assert from 'node:assert/strict'
import nodeDns from 'node:dns'
import { PassThrough, Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import {
  type Dispatcher,
  type DnsAddress,
  type DnsLookup,
  type DnsOptions,
  type DnsRecords,
  type DnsStorage,
  errors,
  interceptors,
} from '../../src/index.ts'
import { ScriptedDispatcher, uncaughtDuring } from '../api/scripted-dispatcher.ts'
import { RecordingHandler } from '../support/recording-handler.ts'

const GET = { origin: 'http://api.test', path: '/', method: 'GET' } as const

const V4: DnsAddress = { address: '10.0.0.1', family: 4 }
const V4_OTHER: DnsAddress = { address: '10.0.0.2', family: 4 }
const V6: DnsAddress = { address: '::1', family: 6 }
const V6_OTHER: DnsAddress = { address: '::2', family: 6 }

type Callback = Parameters<DnsLookup>[2]

/** A lookup that answers at once, unless it is held; counts by host name. */
class Names {
  readonly asked: string[] = []
  readonly held: Callback[] = []
  readonly #addresses: Iterable<DnsAddress> | null

  constructor(addresses: Iterable<DnsAddress> | null = [V4]) {
    this.#addresses = addresses
  }

  readonly lookup: DnsLookup = (origin, _options, callback) => {
    this.asked.push(origin.hostname)
    if (this.#addresses === null) this.held.push(callback)
    else callback(null, this.#addresses)
  }
}

interface Setting {
  readonly base: ScriptedDispatcher
  readonly dispatcher: Dispatcher
  send(opts?: object): RecordingHandler
  /** The origins of the requests that were sent. */
  origins(): unknown[]
}

function setting(options?: DnsOptions): Setting {
  const base = new ScriptedDispatcher()
  const dispatcher = base.compose(interceptors.dns(options))
  return {
    base,
    dispatcher,
    send: (opts) => {
      const handler = new RecordingHandler()
      dispatcher.dispatch({ ...GET, ...opts }, handler)
      return handler
    },
    origins: () => base.exchanges.map(({ opts }) => opts.origin),
  }
}

/** Both clocks stand still until they are moved. */
function stopClocks(t: TestContext): (milliseconds: number) => void {
  let at = 50_000
  t.mock.method(performance, 'now', () => at)
  t.mock.method(Date, 'now', () => at)
  return (milliseconds) => {
    at += milliseconds
  }
}

/** As a client fails a request whose connection could not be made. */
function connectError(code = 'ECONNREFUSED', retrySafety = 'safe', phase = 'connecting'): Error {
  return Object.assign(new Error(code), { code, phase, retrySafety })
}

function refuseLast({ base }: Setting, error: Error = connectError()): void {
  base.last.handler.onResponseError?.(undefined, error)
}

function plainStorage(
  maxItems = Number.POSITIVE_INFINITY,
): DnsStorage & { entries: Map<string, DnsRecords> } {
  const entries = new Map<string, DnsRecords>()
  return {
    entries,
    get: (name) => entries.get(name),
    set: (name, records) => void entries.set(name, records),
    delete: (name) => void entries.delete(name),
    full: () => entries.size >= maxItems,
  }
}

describe('interceptors.dns: options', () => {
  const refused: [object, string][] = [
    [{ maxTTL: -1 }, 'Invalid maxTTL. Must be a positive number'],
    [{ maxTTL: Number.NaN }, 'Invalid maxTTL. Must be a positive number'],
    [{ maxTTL: '1' }, 'Invalid maxTTL. Must be a positive number'],
    [{ maxItems: 0 }, 'Invalid maxItems. Must be a positive number and greater than zero'],
    [{ maxItems: Number.NaN }, 'Invalid maxItems. Must be a positive number and greater than zero'],
    [{ dualStack: 1 }, 'Invalid dualStack. Must be a boolean'],
    [{ affinity: 5 }, 'Invalid affinity. Must be either 4 or 6'],
    [{ lookup: 'x' }, 'Invalid lookup. Must be a function'],
    [{ pick: {} }, 'Invalid pick. Must be a function'],
    [{ storage: new Map() }, 'Invalid storage. Must be a object with methods: { get, set, full, delete }'],
  ]
  for (const [options, message] of refused) {
    it(`refuses ${JSON.stringify(options)} when it is made`, () => {
      const isRight = (error: Error): boolean =>
        error instanceof errors.InvalidArgumentError && error.message === message
      assert.throws(() => interceptors.dns(options as DnsOptions), isRight)
    })
  }

  it('takes null for a default, and any limit that is a number', () => {
    assert.throws(() => interceptors.dns(7 as never), errors.InvalidArgumentError)
    interceptors.dns(null)
    interceptors.dns({ maxTTL: null, maxItems: null, dualStack: null, affinity: null, lookup: null })
    interceptors.dns({ maxTTL: Number.POSITIVE_INFINITY, maxItems: 1.5, pick: null, storage: null })
  })

  it('security row 10: a polluted prototype configures nothing', async () => {
    const seen: string[] = []
    const evil: Record<string, unknown> = {
      lookup: () => seen.push('lookup'),
      pick: () => seen.push('pick'),
      storage: plainStorage(),
      maxTTL: -1,
      full: () => seen.push('full'),
      delete: () => seen.push('delete'),
      servername: 'evil.test',
    }
    const names = new Names()
    try {
      Object.assign(Object.prototype, evil)
      const all = setting({ lookup: names.lookup })
      all.send()
      all.send()
      assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://10.0.0.1'])
      assert.equal(all.base.last.opts.servername, 'api.test')
      assert.equal(Object.hasOwn(Object.prototype, 'servername'), true)
      const methods = { storage: { get() {}, set() {} } } as unknown as DnsOptions
      assert.throws(() => interceptors.dns(methods), /Invalid storage/)
    } finally {
      for (const name of Object.keys(evil)) delete (Object.prototype as Record<string, unknown>)[name]
    }
    assert.deepEqual(seen, [])
    assert.deepEqual(names.asked, ['api.test'])
  })
})

describe('interceptors.dns: rewriting', () => {
  it('replaces the name by an address, and takes it along for certificate and host header', () => {
    const all = setting({ lookup: new Names([V4]).lookup })
    const opts = { ...GET, origin: 'https://api.test:8443', headers: { a: 'b' } }
    const before = structuredClone(opts)
    all.send(opts)
    const sent = all.base.last.opts
    assert.equal(sent.origin, 'https://10.0.0.1:8443')
    assert.equal(sent.servername, 'api.test')
    assert.deepEqual(sent.headers, { host: 'api.test:8443', a: 'b' })
    assert.deepEqual(opts, before)
  })

  it('writes IPv6 in brackets, and prefers the port of a record', () => {
    const ported = { address: '::1', port: 81 }
    const all = setting({ lookup: new Names([ported]).lookup })
    all.send({ origin: new URL('http://api.test:80/') })
    assert.deepEqual(all.origins(), ['http://[::1]:81'])
    assert.deepEqual(all.base.last.opts.headers, { host: 'api.test' })
  })

  it('adds the host to headers of every shape, unless the caller has one', () => {
    const all = setting({ lookup: new Names().lookup })
    const sent = (headers: unknown): unknown => {
      all.send({ headers })
      return all.base.last.opts.headers
    }
    const pairs: [string, string][] = [['a', 'b']]
    assert.deepEqual(sent(undefined), { host: 'api.test' })
    assert.deepEqual(sent(null), { host: 'api.test' })
    assert.deepEqual(sent({ host: undefined }), { host: 'api.test' })
    assert.deepEqual(sent(['a', 'b']), ['host', 'api.test', 'a', 'b'])
    assert.deepEqual(sent(pairs), ['a', 'b', 'host', 'api.test'])
    assert.deepEqual(sent(new Map(pairs)), ['a', 'b', 'host', 'api.test'])
    assert.deepEqual(sent(pairs.values()), ['host', 'api.test', 'a', 'b'])
    assert.deepEqual(sent({ HOST: 'x' }), { HOST: 'x' })
    assert.deepEqual(sent(['Host', 'x']), ['Host', 'x'])
    assert.equal(sent('wrong'), 'wrong')
  })

  it("keeps a caller's server name", () => {
    const all = setting({ lookup: new Names().lookup })
    all.send({ servername: 'other.test' })
    assert.equal(all.base.last.opts.servername, 'other.test')
  })

  it('leaves alone what has no name: IP literals, no origin, and origins that a dispatcher refuses', () => {
    const names = new Names()
    const all = setting({ lookup: names.lookup })
    const untouched = [
      'http://127.0.0.1',
      'http://[::1]:80',
      'http://0x7f.1',
      new URL('http://[::1]'),
      undefined,
      '',
      'nonsense',
      'ftp://api.test',
      'http://api.test/path',
      7,
    ]
    for (const origin of untouched) all.send({ origin })
    assert.deepEqual(all.origins(), untouched)
    for (const { opts } of all.base.exchanges) assert.equal('servername' in opts, false)
    assert.deepEqual(names.asked, [])
  })

  it('passes on every call, an upgrade among them, and returns what the dispatcher returns', () => {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(
      (dispatch) => (opts, handler) => {
        dispatch(opts, handler)
        return false
      },
      interceptors.dns({ lookup: new Names().lookup }),
    )
    const queued: unknown[] = []
    const handler = Object.assign(new RecordingHandler(), { onRequestQueued: () => queued.push('queued') })
    assert.equal(dispatcher.dispatch({ ...GET, upgrade: 'websocket' }, handler as never), false)
    const { last } = base
    last.handler.onRequestQueued?.(() => {})
    last.start()
    last.handler.onBodySent?.('x')
    last.handler.onRequestSent?.()
    last.handler.onResponseStarted?.()
    const socket = new PassThrough()
    last.head(103).upgrade(101, {}, socket)
    assert.deepEqual(queued, ['queued'])
    assert.equal(handler.socket, socket)
    assert.deepEqual(handler.story, [
      'onRequestStart',
      'onBodySent',
      'onRequestSent',
      'onResponseStarted',
      'onResponseStart 103',
      'onRequestUpgrade 101',
    ])
  })

  it('by default asks the resolver of the runtime', (t) => {
    const calls: unknown[][] = []
    t.mock.method(nodeDns, 'lookup', (name: string, options: object, callback: Callback) => {
      calls.push([name, { ...options }])
      callback(null, [V4, V4, V6])
    })
    const all = setting()
    for (let i = 0; i < 4; i++) all.send()
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://[::1]', 'http://10.0.0.1', 'http://[::1]'])
    setting({ dualStack: false }).send()
    setting({ dualStack: false, affinity: 6 }).send()
    setting({ affinity: 6 }).send()
    const asked = (family: number): unknown[] => ['api.test', { all: true, family, order: 'ipv4first' }]
    assert.deepEqual(calls, [asked(0), asked(4), asked(6), asked(0)])
  })

  it('gives a lookup what it needs to know', () => {
    let given: unknown[] = []
    const lookup: DnsLookup = (origin, options, callback) => {
      given = [origin, { ...options }]
      callback(null, [V4])
    }
    setting({ lookup, affinity: 6, dualStack: false, maxTTL: 5, maxItems: 9 }).send()
    assert.deepEqual(given, [
      new URL('http://api.test'),
      {
        all: true,
        family: 6,
        order: 'ipv4first',
        affinity: 6,
        dualStack: false,
        maxTTL: 5,
        maxItems: 9,
      },
    ])
  })
})

describe('interceptors.dns: turns', () => {
  const both = [V4, V4_OTHER, V6, V6_OTHER]
  const sent = (options: DnsOptions, count: number, addresses: Iterable<DnsAddress> = both): unknown[] => {
    const all = setting({ lookup: new Names(addresses).lookup, ...options })
    for (let i = 0; i < count; i++) all.send()
    return all.origins().map((origin) => String(origin).slice('http://'.length))
  }

  it('takes families and addresses in turn', () => {
    assert.deepEqual(sent({}, 5), ['10.0.0.1', '[::1]', '10.0.0.2', '[::2]', '10.0.0.1'])
  })

  it('prefers the family of `affinity`, and falls back to the other one', () => {
    assert.deepEqual(sent({ affinity: 6 }, 3), ['[::1]', '[::2]', '[::1]'])
    assert.deepEqual(sent({ affinity: 6 }, 1, [V4]), ['10.0.0.1'])
    assert.deepEqual(sent({ affinity: 4 }, 1, [V6]), ['[::1]'])
  })

  it('without `dualStack` uses one family only', () => {
    assert.deepEqual(sent({ dualStack: false }, 3), ['10.0.0.1', '10.0.0.2', '10.0.0.1'])
    const { send } = setting({ dualStack: false, affinity: 6, lookup: new Names([V4]).lookup })
    assert.equal(send().error?.message, 'No DNS entries found')
  })

  it('`pick` chooses', () => {
    const asked: unknown[] = []
    const pick: DnsOptions['pick'] = (origin, { records }, affinity) => {
      asked.push([origin.href, records[4]?.ips.length, records[6]?.ips.length, affinity])
      return records[6]!.ips[1]
    }
    assert.deepEqual(sent({ pick }, 2), ['[::2]', '[::2]'])
    assert.deepEqual(asked, Array(2).fill(['http://api.test/', 2, 2, null]))
  })

  it('a `pick` that throws, or returns no address, fails its request', () => {
    const fails = (pick: unknown): Error | undefined =>
      setting({ lookup: new Names().lookup, pick: pick as DnsOptions['pick'] & {} }).send().error
    const thrown = new Error('mine')
    const throws = (): never => {
      throw thrown
    }
    assert.equal(fails(throws), thrown)
    for (const record of [null, undefined, {}, { address: 'evil.test' }, { address: '10.0.0.1/x@' }]) {
      assert.equal(fails(() => record)?.message, 'No DNS entries found')
    }
  })
})

describe('interceptors.dns: records', () => {
  it('keeps addresses for their ttl, at most for maxTTL', (t) => {
    const pass = stopClocks(t)
    const names = new Names([
      { ...V4, ttl: 100 },
      { ...V4_OTHER, ttl: 1e9 },
      { ...V6, ttl: -1 },
    ])
    const all = setting({ lookup: names.lookup, maxTTL: 1000, affinity: 4 })
    all.send()
    pass(99)
    all.send()
    all.send()
    pass(1)
    all.send()
    all.send()
    assert.deepEqual(
      all.origins(),
      ['1', '2', '1', '2', '2'].map((last) => `http://10.0.0.${last}`),
    )
    assert.equal(names.asked.length, 1)
    pass(900)
    all.send()
    assert.equal(names.asked.length, 2)
  })

  it('a clock that was set back makes them too old', (t) => {
    const pass = stopClocks(t)
    const names = new Names()
    const all = setting({ lookup: names.lookup })
    all.send()
    pass(-1)
    all.send()
    assert.equal(names.asked.length, 2)
  })

  it('with maxTTL 0 every request has its lookup', () => {
    const names = new Names()
    const all = setting({ lookup: names.lookup, maxTTL: 0 })
    all.send()
    all.send()
    assert.equal(names.asked.length, 2)
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://10.0.0.1'])
  })

  it('stores by host name, with the lowest ttl', (t) => {
    stopClocks(t)
    const stored: unknown[] = []
    const storage = { ...plainStorage(), set: (...given: unknown[]) => void stored.push(given) }
    const addresses = [
      { ...V4, ttl: 50 },
      { ...V4_OTHER, port: 81 },
      { address: 'name.test' },
      V4,
      { address: 'fe80::1%lo' },
    ]
    setting({ lookup: new Names(addresses).lookup, storage }).send({ origin: 'http://api.test:8080' })
    const first = { address: '10.0.0.1', family: 4, ttl: 50, timestamp: 50_000 }
    const second = { address: '10.0.0.2', family: 4, ttl: 10_000, timestamp: 50_000, port: 81 }
    const offsets = { offset: 0 }
    const entry = { records: { 4: { ips: [first, second], ...offsets }, 6: null }, ...offsets }
    assert.deepEqual(stored, [['api.test', entry, { ttl: 50 }]])
  })

  it('reads what a storage has, whoever put it there', () => {
    const names = new Names()
    const storage = plainStorage()
    const record = { address: '10.9.9.9', family: 4, ttl: 1 } as const
    storage.entries.set('api.test', { records: { 4: { ips: [record] }, 6: null } })
    const all = setting({ lookup: names.lookup, storage })
    all.send()
    assert.deepEqual(all.origins(), ['http://10.9.9.9'])
    for (const wrong of [null, 7, {}, { records: null }, { records: {} }]) {
      storage.entries.set('api.test', wrong as never)
      all.send()
      assert.equal(all.base.last.opts.origin, 'http://10.0.0.1')
    }
    assert.equal(names.asked.length, 5)
  })

  it('a storage that throws fails the request', () => {
    const thrown = new Error('mine')
    const throws = (): never => {
      throw thrown
    }
    for (const method of ['get', 'set', 'full'] as const) {
      const storage = { ...plainStorage(), [method]: throws }
      const all = setting({ lookup: new Names().lookup, storage })
      assert.equal(all.send().error, thrown, method)
      assert.deepEqual(all.origins(), [])
    }
  })

  for (const kind of ['own', "a caller's"]) {
    it(`evicts the least recently used name when the storage is full: ${kind}`, () => {
      const names = new Names()
      const storage = kind === 'own' ? null : plainStorage(2)
      const all = setting({ lookup: names.lookup, maxItems: 2, storage })
      for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) all.send({ origin: `http://${name}.test` })
      assert.deepEqual(names.asked, ['a.test', 'b.test', 'c.test', 'b.test'])
    })
  }

  it('a storage that stays full is not written to, and requests go on', () => {
    const names = new Names()
    const storage = { ...plainStorage(), full: () => true, set: () => assert.fail() }
    const all = setting({ lookup: names.lookup, storage })
    all.send()
    all.send()
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://10.0.0.1'])
    assert.equal(names.asked.length, 2)
  })

  it('forgets names that are too old, however many there are', (t) => {
    const pass = stopClocks(t)
    const storage = plainStorage()
    const all = setting({ lookup: new Names().lookup, storage, maxTTL: 100 })
    for (let i = 0; i < 50; i++) {
      all.send({ origin: `http://${i}.test` })
      pass(50)
    }
    assert.deepEqual([...storage.entries.keys()], ['48.test', '49.test'])
  })
})

describe('interceptors.dns: lookups', () => {
  it('concurrent requests to a name share one lookup', () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const origins = ['http://api.test', 'http://api.test:81', 'https://api.test', 'http://b.test']
    for (const origin of origins) all.send({ origin })
    assert.deepEqual(names.asked, ['api.test', 'b.test'])
    assert.deepEqual(all.origins(), [])
    names.held[0]!(null, [V4, V4_OTHER])
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://10.0.0.2:81', 'https://10.0.0.1'])
    names.held[0]!(null, [V6])
    names.held[1]!(null, [V6])
    assert.equal(all.base.exchanges.length, 4)
  })

  it('a lookup that fails fails those who wait, with its own error, and the next request tries again', () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const handlers = [all.send(), all.send()]
    const error = Object.assign(new Error('x'), { code: 'ENOTFOUND' })
    names.held[0]!(error)
    for (const handler of handlers) {
      assert.equal(handler.error, error)
      assert.deepEqual(handler.story, ['onResponseError'])
    }
    all.send()
    assert.equal(names.asked.length, 2)
  })

  it('no usable address is an error that names the request', () => {
    for (const addresses of [null, [], [{ address: 'localhost' }], [null]]) {
      const lookup: DnsLookup = (_origin, _options, callback) => callback(null, addresses as never)
      const { error } = setting({ lookup }).send({ path: '/a?b' })
      assert.ok(error instanceof errors.InformationalError)
      assert.equal(error.message, 'No DNS entries found')
      const { origin, path, phase, retrySafety } = error as unknown as Record<string, unknown>
      assert.deepEqual([origin, path, phase, retrySafety], ['http://api.test', '/a', 'connecting', 'safe'])
    }
  })

  it('an error of the runtime names the request; each request has its own', (t) => {
    let answer: Callback = () => {}
    t.mock.method(nodeDns, 'lookup', (_name: string, _options: object, callback: Callback) => {
      answer = callback
    })
    const all = setting()
    const handlers = [all.send(), all.send({ path: '/b' })]
    answer(Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' }))
    const paths = handlers.map(({ error }) => (error as unknown as { path: string }).path)
    assert.deepEqual(paths, ['/', '/b'])
    assert.equal((handlers[0]!.error as unknown as { code: string }).code, 'EAI_AGAIN')
  })

  it('a lookup that throws, rejects, or gives no list fails the request', async () => {
    const thrown = new Error('mine')
    const throws: DnsLookup = () => {
      throw thrown
    }
    assert.equal(setting({ lookup: throws }).send().error, thrown)
    const rejects = (async () => {
      throw thrown
    }) as unknown as DnsLookup
    const handler = setting({ lookup: rejects }).send()
    await handler.settled
    assert.equal(handler.error, thrown)
    // biome-ignore lint/suspicious/noThenProperty: what another library may return
    const later = { then: (_: unknown, reject: (reason: Error) => void) => reject(thrown) }
    const thenable = setting({ lookup: (() => later) as never }).send()
    await thenable.settled
    assert.equal(thenable.error, thrown)
    const wrong = {
      lookup: ((_a: URL, _b: object, callback: Callback) => callback(null, 7 as never)) as DnsLookup,
    }
    assert.ok(setting(wrong).send().error instanceof TypeError)
  })

  it('an abort while the lookup runs settles at once, with the reason, and leaves the others alone', async () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const reason = new Error('enough')
    const controller = new AbortController()
    const gone = all.dispatcher.request({ ...GET, signal: controller.signal })
    const other = all.send()
    controller.abort(reason)
    await assert.rejects(gone, (error) => error === reason)
    names.held[0]!(null, [V4])
    assert.equal(all.base.exchanges.length, 1)
    all.base.last.start().head().end()
    assert.equal(other.status, 200)
  })

  it('an abort without a reason is a RequestAbortedError; the body is destroyed', () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    let abort: (reason?: unknown) => void = () => {}
    const body = new Readable({ read() {} })
    body.on('error', () => {})
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: (reason?: unknown) => void) => {
        abort = given
      },
    })
    assert.equal(all.dispatcher.dispatch({ ...GET, method: 'POST', body }, handler), true)
    abort()
    abort()
    assert.ok(handler.error instanceof errors.RequestAbortedError)
    assert.equal(handler.errors.length, 1)
    assert.equal(body.destroyed, true)
    names.held[0]!(null, [V4])
    assert.deepEqual(all.origins(), [])
  })

  it('a body that fails while the lookup runs fails the request, and not the process', async () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const body = new PassThrough()
    const handler = all.send({ method: 'POST', body })
    const other = all.send()
    const error = new Error('the file is gone')
    assert.deepEqual(await uncaughtDuring(() => body.destroy(error)), [])
    assert.deepEqual([handler.errors, handler.story], [[error], ['onResponseError']])
    names.held[0]!(null, [V4])
    assert.equal(all.base.exchanges.length, 1)
    all.base.last.start().head().end()
    assert.equal(other.status, 200)
  })

  it('a body that waited for the lookup is left to the dispatcher', () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const body = new PassThrough()
    all.send({ method: 'POST', body })
    assert.equal(body.listenerCount('error'), 1)
    names.held[0]!(null, [V4])
    assert.deepEqual([all.base.last.opts.body, body.listenerCount('error')], [body, 0])
  })

  it('an abort after the lookup reaches the request, and is not repeated elsewhere', () => {
    const all = setting({ lookup: new Names([V4, V4_OTHER]).lookup })
    let abort: (reason?: unknown) => void = () => {}
    let queued = 0
    const handler = Object.assign(new RecordingHandler(), {
      onRequestQueued: (given: (reason?: unknown) => void) => {
        abort = given
        queued++
      },
    })
    all.dispatcher.dispatch(GET, handler)
    const reasons: unknown[] = []
    all.base.last.handler.onRequestQueued?.(() => {})
    refuseLast(all)
    all.base.last.handler.onRequestQueued?.((reason) => reasons.push(reason))
    abort('x')
    assert.deepEqual(reasons, ['x'])
    assert.equal(queued, 1)
    refuseLast(all)
    assert.equal(all.base.exchanges.length, 2)
    assert.equal(handler.errors.length, 1)
  })

  it('handlers that throw harm neither the process nor each other', async () => {
    const names = new Names(null)
    const all = setting({ lookup: names.lookup })
    const thrown = new Error('mine')
    const throws = (): never => {
      throw thrown
    }
    const queueing = Object.assign(new RecordingHandler(), { onRequestQueued: throws })
    all.dispatcher.dispatch(GET, queueing)
    assert.equal(queueing.error, thrown)
    all.dispatcher.dispatch(GET, new RecordingHandler({ onResponseError: throws }))
    const last = all.send()
    const uncaught = await uncaughtDuring(() => names.held[0]!(new Error('x')))
    assert.deepEqual(uncaught, [])
    assert.equal(last.error?.message, 'x')
  })
})

describe('interceptors.dns: addresses that cannot be reached', () => {
  const addresses = [V4, V4_OTHER, V6]

  it('tries all in turn on any connect error; the caller gets the last error', () => {
    const all = setting({ lookup: new Names(addresses).lookup })
    const handler = all.send({ method: 'POST', body: 'x' })
    refuseLast(all, connectError('UND_ERR_CONNECT_TIMEOUT'))
    refuseLast(all, connectError('EHOSTUNREACH'))
    assert.deepEqual(handler.story, [])
    const last = connectError('CERT_HAS_EXPIRED')
    refuseLast(all, last)
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://[::1]', 'http://10.0.0.2'])
    assert.deepEqual(handler.errors, [last])
    assert.equal(all.base.last.opts.body, 'x')
  })

  it('never repeats a request that may have been written', () => {
    const failures: [string, Error, boolean][] = [
      ['started', connectError('ETIMEDOUT'), true],
      ['written once before', connectError('ECONNREFUSED', 'idempotent-only'), false],
      ['another phase', connectError('ETIMEDOUT', 'safe', 'headers'), false],
      ['of another dispatcher', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), false],
      ['not even an error', 'x' as never, false],
      ['nothing', null as never, false],
    ]
    for (const [what, error, started] of failures) {
      const all = setting({ lookup: new Names(addresses).lookup })
      const handler = all.send({ method: 'POST', body: 'x' })
      if (started) all.base.last.start()
      refuseLast(all, error)
      assert.equal(all.base.exchanges.length, 1, what)
      assert.deepEqual(handler.errors, [error], what)
    }
  })

  it('never sends what is left of a body', () => {
    const all = setting({ lookup: new Names(addresses).lookup })
    const body = Readable.from(['x'])
    const handler = all.send({ method: 'POST', body })
    body.destroy()
    refuseLast(all)
    assert.equal(all.base.exchanges.length, 1)
    assert.equal(handler.errors.length, 1)
  })

  it('a bad address rests for ten seconds, for its name', (t) => {
    const pass = stopClocks(t)
    const all = setting({ lookup: new Names([V4, V4_OTHER]).lookup, maxTTL: 1e6 })
    const next = (origin?: string): unknown => {
      all.send(origin === undefined ? {} : { origin })
      return all.base.last.opts.origin
    }
    assert.equal(next(), 'http://10.0.0.1')
    refuseLast(all)
    for (let i = 0; i < 3; i++) assert.equal(next(), 'http://10.0.0.2')
    assert.equal(next('http://other.test'), 'http://10.0.0.1')
    pass(9_999)
    assert.equal(next(), 'http://10.0.0.2')
    pass(1)
    assert.deepEqual(new Set([next(), next()]), new Set(['http://10.0.0.1', 'http://10.0.0.2']))
  })

  it('if all rest, they are tried all the same; one that is reached rests no longer', (t) => {
    stopClocks(t)
    const all = setting({ lookup: new Names([V4, V4_OTHER]).lookup })
    all.send()
    refuseLast(all)
    refuseLast(all)
    all.send()
    const { origin } = all.base.last.opts
    all.base.last.start().head().end()
    for (let i = 0; i < 3; i++) {
      all.send()
      assert.equal(all.base.last.opts.origin, origin)
    }
  })

  it('`pick` is offered those that are left', () => {
    const offered: number[] = []
    const pick: DnsOptions['pick'] = (_origin, { records }) => {
      const left = [...(records[4]?.ips ?? []), ...(records[6]?.ips ?? [])]
      offered.push(left.length)
      return left[0]
    }
    const all = setting({ lookup: new Names(addresses).lookup, pick })
    const handler = all.send()
    for (let i = 0; i < 3; i++) refuseLast(all)
    assert.deepEqual(all.origins(), ['http://10.0.0.1', 'http://10.0.0.2', 'http://[::1]'])
    assert.deepEqual(offered, [3, 2, 1])
    assert.equal(handler.errors.length, 1)
  })

  it('a `pick` that insists on one address ends the request', () => {
    const pick: DnsOptions['pick'] = () => ({ address: '10.0.0.7', family: 4, ttl: 1 })
    const all = setting({ lookup: new Names(addresses).lookup, pick })
    const handler = all.send()
    refuseLast(all)
    assert.equal(all.base.exchanges.length, 1)
    assert.equal(handler.errors.length, 1)
  })

  it('ENOTFOUND drops the records', () => {
    const names = new Names()
    const all = setting({ lookup: names.lookup })
    all.send()
    refuseLast(all, Object.assign(new Error('x'), { code: 'ENOTFOUND' }))
    all.send()
    assert.equal(names.asked.length, 2)
  })

  it('a dispatcher that throws fails the request', () => {
    const thrown = new Error('mine')
    const base = new ScriptedDispatcher(() => {
      throw thrown
    })
    const handler = new RecordingHandler()
    base.compose(interceptors.dns({ lookup: new Names().lookup })).dispatch(GET, handler)
    assert.deepEqual(handler.errors, [thrown])
  })
})

describe('interceptors.dns: a lookup that never answers', () => {
  it('fails the requests that wait for it after ten seconds, and the next asks again', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const base = new ScriptedDispatcher()
    const answers: ((error: Error | null, addresses: { address: string; family: number }[]) => void)[] = []
    const lookup = (_origin: URL, _options: unknown, answer: (typeof answers)[number]): void =>
      void answers.push(answer)
    const dispatcher = base.compose(interceptors.dns({ lookup: lookup as never }))
    const call = { origin: 'http://never.test', path: '/', method: 'POST' } as const
    const body = new Readable({ read() {} })
    const handlers = [new RecordingHandler(), new RecordingHandler(), new RecordingHandler()]
    dispatcher.dispatch({ ...call, body }, handlers[0]!)
    dispatcher.dispatch(call, handlers[1]!)
    t.mock.timers.tick(9_999)
    assert.deepEqual([handlers[0]!.errors, answers.length], [[], 1])
    t.mock.timers.tick(1)
    for (const { errors } of handlers.slice(0, 2)) {
      const [error] = errors as (Error & { code?: string })[]
      assert.deepEqual(
        [errors.length, error!.code, error!.message],
        [1, 'UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error (lookup of: never.test, timeout: 10000ms)'],
      )
    }
    assert.equal(body.destroyed, true)
    dispatcher.dispatch(call, handlers[2]!)
    answers[0]!(null, [{ address: '127.0.0.1', family: 4 }])
    assert.equal(handlers[2]!.errors.length, 0)
    answers[1]!(null, [{ address: '127.0.0.2', family: 4 }])
    assert.equal(String(base.last.opts.origin), 'http://127.0.0.2')
  })
})
