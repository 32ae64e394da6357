import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import {
  Agent,
  BalancedPool,
  Client,
  type DeduplicateOptions,
  type DispatchOptions,
  type DnsLookup,
  interceptors,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { turn } from '../support/fake-clock.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { deduplicating, GET, pendingMessages } from './deduplicate-support.ts'

describe('interceptors.deduplicate: which requests', () => {
  const shares = (options: Partial<DispatchOptions>, settings?: DeduplicateOptions): boolean =>
    deduplicating(settings).shares(options)

  it('methods', () => {
    assert.equal(shares({}), true)
    for (const method of ['HEAD', 'OPTIONS', 'TRACE']) {
      assert.equal(shares({ method }), false)
      assert.equal(shares({ method }, { methods: [method as 'HEAD'] }), true)
    }
    assert.equal(shares({}, { methods: [] }), false)
    for (const method of ['POST', 'PUT', 'QUERY', 'get']) assert.equal(shares({ method }), false)
  })

  it('not with a body, trailers, an upgrade, a range, no-store, or an effect', () => {
    for (const body of ['x', '', Buffer.from('x'), () => 'x']) assert.equal(shares({ body }), false)
    assert.equal(shares({ body: null }), true)
    assert.equal(shares({ trailers: { a: 'b' } }), false)
    assert.equal(shares({ upgrade: 'x' }), false)
    assert.equal(shares({ idempotent: false }), false)
    assert.equal(shares({ headers: { Range: 'bytes=0-1' } }), false)
    assert.equal(shares({ headers: ['Cache-Control', 'max-age=0, No-Store'] }), false)
    assert.equal(shares({ headers: { 'cache-control': ['max-age=1', 'no-store'] } }), false)
    assert.equal(shares({ headers: { 'cache-control': 'no-cache' } }), true)
  })

  it('skipHeaderNames: a request with such a header is sent on its own', () => {
    const settings = { skipHeaderNames: ['X-Own'] }
    assert.equal(shares({ headers: { 'x-OWN': '1' } }, settings), false)
    assert.equal(shares({ headers: [['x-own', '']] as never }, settings), false)
    assert.equal(shares({ headers: { other: '1' } }, settings), true)
  })

  it('excludeHeaderNames: such a header may differ', () => {
    const { shares } = deduplicating({ excludeHeaderNames: ['X-Request-Id'] })
    assert.equal(shares({ headers: { 'x-request-id': '1' } }, { headers: { 'X-REQUEST-ID': '2' } }), true)
    assert.equal(shares({ headers: { 'x-request-id': '1' } }, {}), true)
    assert.equal(shares({ headers: { 'x-request-id': '1' } }, { headers: { a: '1' } }), false)
  })

  it('a caller has its own time limits: those with others do not share', () => {
    const { shares } = deduplicating()
    for (const name of ['headersTimeout', 'bodyTimeout']) {
      assert.equal(shares({ [name]: 1000 }, { [name]: 2000 }), false, name)
      assert.equal(shares({ [name]: 1000 }, {}), false, name)
      assert.equal(shares({ [name]: 0 }, {}), false, name)
      assert.equal(shares({ [name]: null }, {}), true, name)
      assert.equal(shares({ [name]: 1000 }, { [name]: 1000 }), true, name)
    }
    assert.equal(shares({ headersTimeout: 1000 }, { bodyTimeout: 1000 }), false)
  })

  it('what redirect further inside is told is part of the request', () => {
    const { shares } = deduplicating()
    assert.equal(shares({ throwOnMaxRedirect: true }, {}), false)
    assert.equal(shares({ stripHeadersOnRedirect: ['a'] }, { stripHeadersOnRedirect: ['b'] }), false)
    assert.equal(shares({ stripHeadersOnRedirect: ['a'] }, { stripHeadersOnRedirect: ['a'] }), true)
    assert.equal(shares({ stripHeadersOnCrossOriginRedirect: '*' }, {}), false)
  })

  it('a value that no text can be made of does not make dispatch() throw', () => {
    const { shares } = deduplicating()
    assert.equal(shares({ servername: 1n as never }, {}), false)
    assert.equal(shares({ bodyTimeout: 1n as never }, {}), false)
    assert.equal(shares({ stripHeadersOnRedirect: [1n] as never }, {}), false)
  })

  it('the key: origin, method, path with query, headers in any shape and order', () => {
    const { shares } = deduplicating({ methods: ['GET', 'HEAD'] })
    assert.equal(shares({ origin: 'http://a.test' }, { origin: new URL('HTTP://A.test:80/') }), true)
    assert.equal(shares({}, { origin: 'http://b.test' }), false)
    assert.equal(shares({}, { origin: 'https://a.test' }), false)
    assert.equal(shares({}, { method: 'HEAD' }), false)
    assert.equal(shares({}, { path: '/a' }), false)
    assert.equal(shares({ query: { a: 1 } }, { path: '/?a=1' }), true)
    assert.equal(shares({ query: { a: 1 } }, { query: { a: 2 } }), false)
    assert.equal(shares({}, { servername: 'b.test' }), false)
    const shapes: DispatchOptions['headers'][] = [
      { A: '1', b: '2' },
      { b: 2, a: '1' },
      ['B', '2', 'a', '1'],
      new Map([
        ['b', '2'],
        ['A', '1'],
      ]),
      new Headers({ a: '1', b: '2' }),
      { a: '1', b: '2', c: undefined },
    ]
    for (const headers of shapes) assert.equal(shares({ headers: shapes[0] }, { headers }), true)
    assert.equal(shares({ headers: { a: '1', b: '2' } }, { headers: { a: '1' } }), false)
    assert.equal(shares({ headers: { a: '1' } }, { headers: { a: ['1', '2'] } }), false)
  })

  it('the key: what interceptors further inside make of the response', () => {
    const { shares } = deduplicating()
    for (const name of ['maxRedirections', 'dumpMaxSize']) {
      assert.equal(shares({ [name]: 1 }, { [name]: 1 }), true)
      assert.equal(shares({ [name]: 1 }, { [name]: 2 }), false, name)
      assert.equal(shares({ [name]: 1 }, {}), false, name)
      assert.equal(shares({}, { [name]: 1 }), false, name)
    }
    assert.equal(shares({ dumpMaxSize: null }, {}), true)
    assert.equal(shares({ maxRedirections: 1, dumpMaxSize: 1 }, { maxRedirections: 1 }), false)
  })

  it('the key: how it is retried', () => {
    const { shares } = deduplicating()
    const alike = (one: object | null, other: object | null): boolean =>
      shares({ retryOptions: one }, { retryOptions: other })
    const retry = (): void => {}
    assert.equal(alike({ maxRetries: 1, methods: ['GET'] }, { methods: ['GET'], maxRetries: 1 }), true)
    assert.equal(alike({ maxRetries: 1 }, { maxRetries: 2 }), false)
    assert.equal(alike({ maxRetries: 1 }, null), false)
    assert.equal(alike({ methods: ['GET'] }, { methods: ['GET', 'PUT'] }), false)
    assert.equal(alike({ budget: { ttl: 1 } }, { budget: { ttl: 2 } }), false)
    assert.equal(alike({ retry }, { retry }), true)
    assert.equal(alike({ retry }, { retry: () => {} }), false)
    const endless: Record<string, unknown> = {}
    endless['self'] = endless
    assert.equal(alike(endless, endless), true)
  })

  it('headers that can be read once are sent', () => {
    const { exchanges, send } = deduplicating()
    send({ headers: new Map([['A', '1']]).entries() })
    assert.deepEqual(exchanges[0]!.opts.headers, ['A', '1'])
    send({ path: '/2', headers: new Map([['range', 'x']]).entries() })
    assert.deepEqual(exchanges[1]!.opts.headers, ['range', 'x'])
  })

  it('steps aside where the server is not known; the origin of the dispatcher counts', async (t) => {
    const sent: DispatchOptions[] = []
    const intercept = interceptors.deduplicate()
    const dispatch = (opts: DispatchOptions): boolean => {
      sent.push(opts)
      return true
    }
    const twice = (origin: string | null | undefined, opts: object): number => {
      sent.length = 0
      const composed = intercept(dispatch, origin)
      assert.equal(composed.length, 2)
      for (let i = 0; i < 2; i++) composed({ path: '/', method: 'GET', ...opts }, new RecordingHandler())
      return sent.length
    }
    assert.equal(twice(null, {}), 2)
    assert.equal(twice(null, { origin: 'http://a.test' }), 2)
    assert.equal(twice('http://a.test', { origin: 'http://b.test' }), 1)
    assert.equal(twice('http://a.test', { origin: 'no URL' }), 1)
    assert.equal(twice('http://a.test', { origin: 'http://a.test:80' }), 1)
    assert.equal(twice('http://a.test', {}), 1)
    assert.equal(twice(undefined, {}), 2)
    assert.equal(twice(undefined, { origin: 'ftp://a.test' }), 2)
    assert.equal(twice(undefined, { origin: 'http://a.test' }), 1)
    const messages = pendingMessages(t)
    for (const dispatcher of [
      new BalancedPool('http://127.0.0.1:1'),
      new Client('http://127.0.0.1:1'),
      new Agent(),
    ]) {
      const request = dispatcher
        .compose(intercept)
        .request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' })
      await assert.rejects(request, { code: 'ECONNREFUSED' })
      await dispatcher.destroy()
    }
    assert.equal(messages.length, 4)
  })

  it('goes by the name of an origin that was replaced with an address', async () => {
    const base = new ScriptedDispatcher()
    const lookup: DnsLookup = (_origin, _options, done) =>
      done(null, [
        { address: '127.0.0.1', family: 4, ttl: 1000 },
        { address: '127.0.0.2', family: 4, ttl: 1000 },
      ])
    const dispatcher = base.compose(interceptors.deduplicate(), interceptors.dns({ lookup }))
    const send = (origin: string): void => {
      dispatcher.dispatch({ ...GET, origin, headers: { host: 'same' } }, new RecordingHandler())
    }
    send('http://a.test')
    send('http://a.test')
    await turn()
    assert.equal(base.exchanges.length, 1, 'one name, two addresses')
    send('http://b.test')
    send('http://c.test')
    await turn()
    assert.equal(base.exchanges.length, 3, 'two names, one address')
  })

  it('one interceptor on two dispatchers: they share nothing', () => {
    const intercept = interceptors.deduplicate()
    const bases = [new ScriptedDispatcher(), new ScriptedDispatcher()]
    for (const base of bases) base.compose(intercept).dispatch(GET, new RecordingHandler())
    for (const base of bases) assert.equal(base.exchanges.length, 1)
  })

  it('a wrong call is for the dispatcher to refuse', () => {
    const { base, dispatcher } = deduplicating()
    const wrong: [unknown, unknown][] = [
      [null, new RecordingHandler()],
      [GET, null],
      [GET, {}],
      [{ ...GET, path: 'x' }, new RecordingHandler()],
      [{ ...GET, headers: ['a'] }, new RecordingHandler()],
      [{ ...GET, headers: { a: {} } }, new RecordingHandler()],
      [{ ...GET, origin: 5 }, new RecordingHandler()],
    ]
    for (const [opts, handler] of wrong) {
      const sent = base.exchanges.length
      dispatcher.dispatch(opts as never, handler as never)
      assert.equal(base.exchanges.length, sent + 1)
      assert.equal(base.last.opts, opts)
      if (!(handler instanceof RecordingHandler)) continue
      base.last.error(new Error('refused'))
      assert.equal(handler.error?.message, 'refused')
    }
    const handler = new RecordingHandler()
    function* headers(): Generator<[string, string]> {
      yield ['a', 'b']
      throw new Error('no more')
    }
    assert.equal(dispatcher.dispatch({ ...GET, headers: headers() }, handler), false)
    assert.equal(handler.error?.message, 'no more')
  })
})

describe('interceptors.deduplicate: vary', () => {
  for (const vary of ['X-Id', 'accept, x-id', '*', ['accept', 'x-id']]) {
    it(`${vary}: names an excluded header, so waiters are sent on their own`, async () => {
      const { exchanges, send } = deduplicating({ excludeHeaderNames: ['x-id'] })
      const callers = ['1', '2', '3'].map((id) => send({ headers: { 'x-id': id } }))
      const gone = send({ headers: { 'x-id': '4' } })
      exchanges[0]!.start()
      gone.controller!.abort()
      exchanges[0]!.head(200, { vary })
      send()
      assert.equal(exchanges.length, 4, 'a later one does not join')
      assert.deepEqual(
        exchanges.slice(1, 3).map(({ opts }) => opts.headers),
        [{ 'x-id': '2' }, { 'x-id': '3' }],
      )
      exchanges[0]!.data('1').end()
      exchanges[1]!.start().head(200, { vary }).data('2').end()
      exchanges[2]!.start().error(new Error('lost'))
      await turn()
      assert.deepEqual(callers[0]!.story, callers[1]!.story)
      assert.deepEqual(
        callers.map(({ body, error }) => error?.message ?? body),
        ['1', '2', 'lost'],
      )
      for (const caller of callers)
        assert.equal(caller.calls.filter((call) => call === 'onRequestStart').length, 1)
    })
  }

  it('the caller whose request was sent is gone: the response is for none', () => {
    const { exchanges, send } = deduplicating({ excludeHeaderNames: ['x-id'] })
    const [first, waiter] = ['1', '2'].map((id) => send({ headers: { 'x-id': id } })) as [
      RecordingHandler,
      RecordingHandler,
    ]
    exchanges[0]!.failOnAbort().start()
    first.controller!.abort()
    exchanges[0]!.head(200, { vary: 'x-id' })
    assert.deepEqual([exchanges.length, exchanges[0]!.aborts.length], [2, 1])
    exchanges[1]!.start().head().data('2').end()
    assert.deepEqual([waiter.body, waiter.errors], ['2', []])
  })

  it('a pause holds for the request that is sent on its own, and an abort reaches it', () => {
    const { exchanges, send } = deduplicating({ excludeHeaderNames: ['x-id'] })
    send()
    const waiter = send({ headers: { 'x-id': '2' } })
    exchanges[0]!.start()
    waiter.controller!.pause()
    exchanges[0]!.head(200, { vary: 'x-id' })
    assert.deepEqual(exchanges[1]!.start().log, ['pause'])
    waiter.controller!.abort()
    assert.deepEqual([exchanges[1]!.aborts.length, exchanges[0]!.aborts.length], [1, 0])
  })

  it('other names are part of the key', () => {
    const { exchanges, send } = deduplicating({ excludeHeaderNames: ['x-id'] })
    const callers = [send({ headers: { accept: 'a' } }), send({ headers: { accept: 'a' } })]
    exchanges[0]!.start().head(200, { vary: 'accept' }).data('x').end()
    for (const caller of callers) assert.equal(caller.body, 'x')
    const all = deduplicating()
    const both = [all.send(), all.send()]
    all.exchanges[0]!.start().head(200, { vary: '*' }).data('x').end()
    for (const caller of both) assert.equal(caller.body, 'x')
  })
})

describe('interceptors.deduplicate: options and channel', () => {
  it('refuses wrong options when it is made', () => {
    const wrong: [unknown, string][] = [
      [5, 'expected type of opts to be an Object, got number'],
      ['x', 'expected type of opts to be an Object, got string'],
      [null, 'expected type of opts to be an Object, got null'],
      [{ methods: 'GET' }, 'expected opts.methods to be an array, got string'],
      [{ methods: null }, 'expected opts.methods to be an array, got object'],
      [{ methods: ['GET', 'POST'] }, 'expected opts.methods to only contain safe HTTP methods, got POST'],
      [{ methods: ['QUERY'] }, 'expected opts.methods to only contain safe HTTP methods, got QUERY'],
      [{ methods: ['get'] }, 'expected opts.methods to only contain safe HTTP methods, got get'],
      [{ methods: [1] }, 'expected opts.methods to only contain safe HTTP methods, got 1'],
      [{ skipHeaderNames: 'a' }, 'expected opts.skipHeaderNames to be an array, got string'],
      [{ excludeHeaderNames: {} }, 'expected opts.excludeHeaderNames to be an array, got object'],
      [{ skipHeaderNames: [1] }, 'expected opts.skipHeaderNames[0] to be a string, got number'],
      ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null].map((value): [unknown, string] => [
        { maxBufferSize: value },
        `expected opts.maxBufferSize to be a positive finite number, got ${value}`,
      ]),
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => interceptors.deduplicate(options as never), { name: 'TypeError', message })
    }
    interceptors.deduplicate({ methods: undefined, skipHeaderNames: undefined, maxBufferSize: undefined })
  })

  it('publishes what is added and removed', (t) => {
    const messages = pendingMessages(t)
    const { exchanges, send } = deduplicating()
    send()
    send()
    send({ path: '/other' })
    const [one] = messages
    assert.deepEqual(JSON.parse(one!.key), ['http://a.test', 'GET', '/', {}])
    exchanges[0]!.start().head().data('x')
    assert.equal(messages.length, 2)
    exchanges[0]!.end()
    exchanges[1]!.error(new Error('lost'))
    const gone = send()
    exchanges[2]!.failOnAbort().start()
    gone.controller!.abort()
    assert.deepEqual(
      messages.map(({ size, type, key }) => `${size} ${type} ${JSON.parse(key)[2]}`),
      ['1 added /', '2 added /other', '1 removed /', '0 removed /other', '1 added /', '0 removed /'],
    )
  })
})

test('security row 7: two users who differ in one credential header never share', () => {
  for (const name of ['Authorization', 'Cookie', 'Proxy-Authorization', 'X-Api-Key']) {
    const { shares } = deduplicating()
    assert.equal(shares({ headers: { [name]: 'a' } }, { headers: { [name]: 'b' } }), false)
    assert.equal(shares({ headers: { [name]: 'a' } }, { headers: { [name]: 'A' } }), false)
    assert.equal(shares({ headers: { [name]: 'a' } }, {}), false)
    assert.equal(shares({ headers: { [name]: 'a' } }, { headers: { [name]: ['a', 'a'] } }), false)
    assert.equal(shares({ headers: { [name]: 'a' } }, { headers: { [name.toLowerCase()]: 'a' } }), true)
  }
})

test('security row 7: delimiters in values do not make one request look like another', () => {
  const { shares } = deduplicating()
  const pairs: [DispatchOptions['headers'], DispatchOptions['headers']][] = [
    [{ a: '1', b: '2' }, { a: '1,b:2' }],
    [{ a: '1;b=2' }, { a: '1', b: '2' }],
    [{ a: '1","b":"2' }, { a: '1', b: '2' }],
    [{ a: '["1","2"]' }, { a: ['1', '2'] }],
    [{ a: '1, 2' }, { a: ['1', '2'] }],
    [{ a: ['1,2', '3'] }, { a: ['1', '2,3'] }],
    [{ a: '' }, {}],
    [['__proto__', 'x'], {}],
    [
      ['__proto__', 'x'],
      ['__proto__', 'y'],
    ],
  ]
  for (const [one, two] of pairs) {
    assert.equal(shares({ headers: one }, { headers: two }), false)
    assert.equal(shares({ headers: two }, { headers: one }), false)
  }
  assert.equal(shares({ path: '/","x' }, { path: '/' }), false)
})

test('security row 10: a polluted prototype configures nothing', (t) => {
  const polluted = Object.prototype as Record<string, unknown>
  Object.assign(polluted, { methods: ['HEAD'], excludeHeaderNames: ['authorization'], maxBufferSize: 1 })
  t.after(() => {
    for (const name of ['methods', 'excludeHeaderNames', 'maxBufferSize']) delete polluted[name]
  })
  for (const options of [{}, undefined]) {
    const { shares } = deduplicating(options)
    assert.equal(shares({}), true)
    assert.equal(shares({ method: 'HEAD' }), false)
    assert.equal(shares({ headers: { authorization: 'a' } }, { headers: { authorization: 'b' } }), false)
  }
})
