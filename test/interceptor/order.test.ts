/** The recommended order of interceptors: for each pair, what it gains and what the other order does. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  Agent,
  type AgentOptions,
  cacheStores,
  type Dispatcher,
  type DnsLookup,
  errors,
  type Interceptor,
  interceptors,
} from '../../src/index.ts'
import { ScriptedDispatcher } from '../api/scripted-dispatcher.ts'
import { failure } from '../support/exchange.ts'
import { loseConnection } from '../support/lose-connection.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { type Listener, startOrigin, type Wire, wireOptions } from '../support/wire.ts'
import { steadyClock } from './retry-support.ts'
import { overTwoWires } from './two-wires.ts'

const { cache, circuitBreaker, cookies, decompress, deduplicate, dns, guard } = interceptors
const { hedge, redirect, responseError, retry, throttle } = interceptors

const FRESH = { 'cache-control': 'max-age=60' }
const QUICK = { minTimeout: 1, jitter: 0 }
const follow = (): Interceptor => redirect({ maxRedirections: 5 })

type LookupCallback = (error: Error | null, addresses?: { address: string; family: number }[]) => void

/** An agent whose connector knows no names but localhost: only `dns` finds others. */
function agentOf(t: TestContext, wire: Wire, ...order: Interceptor[]): Dispatcher {
  const lookup = (name: string, _options: unknown, callback: LookupCallback): void => {
    if (name === 'localhost') callback(null, [{ address: '127.0.0.1', family: 4 }])
    else callback(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  }
  const agent = new Agent({ ...wireOptions(wire), connect: { lookup } } as AgentOptions)
  t.after(() => agent.destroy())
  return agent.compose(...order)
}

async function textOf(dispatcher: Dispatcher, origin: string, path = '/'): Promise<string> {
  const { statusCode, body } = await dispatcher.request({ origin, path, method: 'GET' })
  const text = await body.text()
  assert.equal(statusCode, 200, text)
  return text
}

/** Records the paths that arrive, and answers them. */
async function site(
  t: TestContext,
  wire: Wire,
  listener: Listener,
): Promise<{ url: string; port: number; paths: string[] }> {
  const paths: string[] = []
  const { url, port } = await startOrigin(t, wire, (request, response) => {
    paths.push(request.url!)
    listener(request, response)
  })
  return { url, port, paths }
}

/** Fails the first time that a path is asked for. */
function flaky(path: string, listener: Listener): Listener {
  let failed = false
  return (request, response) => {
    if (request.url !== path || failed) listener(request, response)
    else {
      failed = true
      response.writeHead(503).end()
    }
  }
}

const redirecting: Listener = (request, response) => {
  if (request.url === '/') response.writeHead(302, { ...FRESH, location: '/target' }).end()
  else response.writeHead(200, FRESH).end('target')
}

/** Sends half of the content, and the rest when it is asked for. */
function breaking(content: Buffer, fields: Record<string, string>): Listener {
  return (request, response) => {
    const { range } = request.headers
    const first = range === undefined ? 0 : Number(/\d+/.exec(range)![0])
    response.writeHead(range === undefined ? 200 : 206, {
      ...fields,
      etag: '"a"',
      'content-length': content.length - first,
      ...(range === undefined
        ? null
        : { 'content-range': `bytes ${first}-${content.length - 1}/${content.length}` }),
    })
    if (range !== undefined) response.end(content.subarray(first))
    else {
      response.write(content.subarray(0, content.length / 2), () =>
        setImmediate(() => loseConnection(request)),
      )
    }
  }
}

overTwoWires('the order of interceptors', (wire) => {
  const local: DnsLookup = (_origin, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }])

  test('dns inside redirect: the names that redirects lead to are looked up as well', async (t) => {
    const { port } = await site(t, wire, (request, response) => {
      if (request.url === '/') response.writeHead(302, { location: `http://b.test:${port}/b` }).end()
      else response.end('b')
    })
    const origin = `http://a.test:${port}`
    assert.equal(await textOf(agentOf(t, wire, dns({ lookup: local }), follow()), origin), 'b')
    const wrong = agentOf(t, wire, follow(), dns({ lookup: local }))
    assert.equal((await failure(textOf(wrong, origin)))['code'], 'ENOTFOUND')
  })

  test('dns inside retry: another attempt takes another address', async (t) => {
    const bad = await site(t, wire, (_request, response) => response.writeHead(503).end())
    const good = await site(t, wire, (_request, response) => response.end('good'))
    const lookup: DnsLookup = (_origin, _options, callback) =>
      callback(
        null,
        [bad, good].map(({ port }) => ({ address: '127.0.0.1', family: 4, ttl: 1000, port })),
      )
    const again = retry({ ...QUICK, maxRetries: 1 })
    assert.equal(await textOf(agentOf(t, wire, dns({ lookup }), again), 'http://a.test'), 'good')
    assert.equal(bad.paths.length, 1)
    const wrong = await failure(textOf(agentOf(t, wire, again, dns({ lookup })), 'http://a.test'))
    assert.deepEqual([wrong['statusCode'], bad.paths.length], [503, 3])
  })

  test('circuitBreaker inside retry: every attempt counts, and none is sent to a server that is down', async (t) => {
    const { url, paths } = await site(t, wire, (_request, response) => response.writeHead(503).end())
    const breaker = (): Interceptor => circuitBreaker({ minRequests: 3 })
    const again = retry({ ...QUICK, maxRetryAfter: 100 })
    const right = await failure(textOf(agentOf(t, wire, breaker(), again), url))
    assert.deepEqual([right['code'], paths.length], ['UND_ERR_CIRCUIT_OPEN', 3])
    paths.length = 0
    const wrong = await failure(textOf(agentOf(t, wire, again, breaker()), url))
    assert.deepEqual([wrong['statusCode'], paths.length], [503, 6])
  })

  test('circuitBreaker inside cache: what is stored is served while the circuit is open', async (t) => {
    const { url } = await site(t, wire, (request, response) => {
      if (request.url === '/down') response.writeHead(503).end()
      else response.writeHead(200, FRESH).end('stored')
    })
    const breaker = (): Interceptor => circuitBreaker({ minRequests: 2 })
    const after = async (...order: Interceptor[]): Promise<string> => {
      const dispatcher = agentOf(t, wire, ...order)
      await textOf(dispatcher, url)
      // One failure of two requests.
      await (await dispatcher.request({ origin: url, path: '/down', method: 'GET' })).body.dump()
      return textOf(dispatcher, url)
    }
    assert.equal(await after(breaker(), cache()), 'stored')
    assert.equal((await failure(after(cache(), breaker())))['code'], 'UND_ERR_CIRCUIT_OPEN')
  })

  test('retry inside redirect: only the request that failed is sent again', async (t) => {
    const right = await site(t, wire, flaky('/target', redirecting))
    assert.equal(await textOf(agentOf(t, wire, retry(QUICK), follow()), right.url), 'target')
    assert.deepEqual(right.paths, ['/', '/target', '/target'])
    const wrong = await site(t, wire, flaky('/target', redirecting))
    assert.equal(await textOf(agentOf(t, wire, follow(), retry(QUICK)), wrong.url), 'target')
    assert.deepEqual(wrong.paths, ['/', '/target', '/', '/target'])
  })

  test('retry inside cache: a response that was completed is stored', async (t) => {
    const content = Buffer.alloc(50_000, 'abcdefghij')
    const { url, paths } = await site(t, wire, breaking(content, FRESH))
    for (const [order, requests] of [
      [[retry(QUICK), cache()], 2],
      [[cache(), retry(QUICK)], 4],
    ] as const) {
      paths.length = 0
      const dispatcher = agentOf(t, wire, ...order)
      for (let i = 0; i < 2; i++) assert.equal(await textOf(dispatcher, url), String(content))
      assert.equal(paths.length, requests)
    }
  })

  test('retry inside deduplicate: one more request for all callers', async (t) => {
    const { url, paths } = await site(
      t,
      wire,
      flaky('/', (_request, response) => response.end('x')),
    )
    const dispatcher = agentOf(t, wire, retry(QUICK), deduplicate())
    await Promise.all([1, 2, 3].map(() => textOf(dispatcher, url)))
    assert.equal(paths.length, 2)
  })

  test('retry inside decompress: a coded response that breaks off is completed', async (t) => {
    const text = Array.from({ length: 20_000 }, (_, i) => i * i).join()
    const { url } = await site(t, wire, breaking(gzipSync(text), { 'content-encoding': 'gzip' }))
    assert.equal(await textOf(agentOf(t, wire, retry(QUICK), decompress()), url), text)
    // Byte n of the decoded body is not byte n on the server: the failure is passed on.
    await failure(textOf(agentOf(t, wire, decompress(), retry(QUICK)), url))
  })

  test('retry inside responseError: the error of the last attempt has the body', async (t) => {
    const { url, paths } = await site(t, wire, (_request, response) =>
      response.writeHead(503, { 'content-type': 'text/plain' }).end('come back later'),
    )
    const again = retry({ ...QUICK, maxRetries: 1, throwOnError: false })
    for (const order of [
      [again, responseError()],
      // retry reads the status of such an error, and may be outside.
      [responseError(), again],
    ]) {
      paths.length = 0
      const error = await failure(textOf(agentOf(t, wire, ...order), url))
      assert.ok(error instanceof errors.ResponseError)
      assert.deepEqual([error.body, paths.length], ['come back later', 2])
    }
  })

  test('cache inside decompress: it stores what was sent, not what it becomes', async (t) => {
    const text = 'many words '.repeat(10_000)
    const { url, paths } = await site(t, wire, (_request, response) =>
      response.writeHead(200, { ...FRESH, 'content-encoding': 'gzip' }).end(gzipSync(text)),
    )
    const stored = async (make: (store: Interceptor) => Interceptor[]): Promise<number> => {
      const store = new cacheStores.MemoryCacheStore()
      const dispatcher = agentOf(t, wire, ...make(cache({ store })))
      paths.length = 0
      for (let i = 0; i < 2; i++) assert.equal(await textOf(dispatcher, url), text)
      assert.equal(paths.length, 1)
      return store.size
    }
    assert.ok((await stored((inner) => [inner, decompress()])) < 5_000)
    assert.ok((await stored((outer) => [decompress(), outer])) > text.length)
  })

  test('cache inside redirect: every URL on the way is stored', async (t) => {
    const { url, paths } = await site(t, wire, redirecting)
    for (const [order, requests] of [
      [
        [cache(), follow()],
        ['/', '/target'],
      ],
      // Stored under the first URL alone.
      [
        [follow(), cache()],
        ['/', '/target', '/target'],
      ],
    ] as const) {
      paths.length = 0
      const dispatcher = agentOf(t, wire, ...order)
      for (const path of ['/', '/target', '/']) assert.equal(await textOf(dispatcher, url, path), 'target')
      assert.deepEqual(paths, requests)
    }
  })

  test('all of them, in the recommended order', async (t) => {
    const text = 'hello '.repeat(1_000)
    const { port, paths } = await site(
      t,
      wire,
      flaky('/target', (request, response) => {
        if (request.url === '/') response.writeHead(302, { ...FRESH, location: '/target' }).end()
        else response.writeHead(200, { ...FRESH, 'content-encoding': 'gzip' }).end(gzipSync(text))
      }),
    )
    const dispatcher = agentOf(
      t,
      wire,
      guard({ allow: ['127.0.0.1'] }),
      dns({ lookup: local }),
      throttle({ concurrency: 1, rate: 1000 }),
      circuitBreaker(),
      retry(QUICK),
      hedge({ delay: 10_000 }),
      deduplicate(),
      cache(),
      cookies(),
      decompress({ acceptEncoding: true }),
      follow(),
      responseError(),
    )
    for (let i = 0; i < 2; i++) assert.equal(await textOf(dispatcher, `http://a.test:${port}`), text)
    assert.deepEqual(paths, ['/', '/target', '/target'])
  })
})

describe('the order of interceptors', () => {
  it('retry inside hedge: the wait for a retry does not hold another attempt back', async (t) => {
    const clock = steadyClock(t)
    const sent = async (...order: Interceptor[]): Promise<number> => {
      const base = new ScriptedDispatcher()
      const handler = new RecordingHandler()
      base.compose(...order).dispatch({ origin: 'http://a.test', path: '/', method: 'GET' }, handler)
      base.last.start().head(503).end()
      await clock.advance(100)
      const { length } = base.exchanges
      handler.controller?.abort(new Error('enough'))
      return length
    }
    const slow = retry({ minTimeout: 10_000, jitter: 0 })
    assert.equal(await sent(slow, hedge({ delay: 100 })), 2)
    assert.equal(await sent(hedge({ delay: 100 }), slow), 1)
  })

  /** Requests that the test answers itself, and their paths in the order in which they were sent. */
  function scripted(...order: Interceptor[]): {
    base: ScriptedDispatcher
    paths: () => string[]
    send: (path: string) => RecordingHandler
  } {
    const base = new ScriptedDispatcher()
    const dispatcher = base.compose(...order)
    return {
      base,
      paths: () => base.exchanges.map(({ opts }) => opts.path),
      send: (path) => {
        const handler = new RecordingHandler()
        dispatcher.dispatch({ origin: 'http://a.test', path, method: 'GET' }, handler)
        return handler
      },
    }
  }

  it('throttle inside circuitBreaker: while the circuit is open, no request waits for its turn', async (t) => {
    const clock = steadyClock(t)
    const third = async (...order: Interceptor[]): Promise<RecordingHandler> => {
      const { base, send } = scripted(...order)
      for (const path of ['/1', '/2']) {
        send(path)
        base.last.start().head(503).end()
      }
      const handler = send('/3')
      await clock.advance(1)
      return handler
    }
    const slow = (): Interceptor => throttle({ rate: 1, burst: 2 })
    const breaker = (): Interceptor => circuitBreaker({ minRequests: 2 })
    const right = await third(slow(), breaker())
    assert.equal((right.error as errors.UndiciError).code, 'UND_ERR_CIRCUIT_OPEN')
    const wrong = await third(breaker(), slow())
    assert.deepEqual(wrong.calls, [])
    await clock.advance(1000)
    assert.equal((wrong.error as errors.UndiciError).code, 'UND_ERR_CIRCUIT_OPEN')
  })

  it('throttle inside retry: a request holds no place while it waits for its retry, which takes its turn', async (t) => {
    const clock = steadyClock(t)
    const sent = async (...order: Interceptor[]): Promise<string[][]> => {
      const { base, paths, send } = scripted(...order)
      send('/a')
      send('/b')
      base.last.start().head(503).end()
      const before = paths()
      await clock.advance(1000)
      return [before, paths()]
    }
    const one = (): Interceptor => throttle({ concurrency: 1 })
    const slow = (): Interceptor => retry({ minTimeout: 1000, jitter: 0 })
    assert.deepEqual(await sent(one(), slow()), [
      ['/a', '/b'],
      ['/a', '/b'],
    ])
    assert.deepEqual(await sent(slow(), one()), [['/a'], ['/a', '/a']])
  })

  it('throttle inside cache: a stored response neither waits nor counts', async (t) => {
    const clock = steadyClock(t)
    const sent = async (...order: Interceptor[]): Promise<string[]> => {
      const { base, paths, send } = scripted(...order)
      send('/a')
      base.last.start().head(200, FRESH).data('stored').end()
      await clock.advance(1000)
      const hit = send('/a')
      await clock.advance(0)
      // Has a turn of its own, unless the hit has taken it.
      send('/b')
      await clock.advance(0)
      assert.equal(hit.body, 'stored')
      return paths()
    }
    const slow = (): Interceptor => throttle({ rate: 1 })
    assert.deepEqual(await sent(slow(), cache()), ['/a', '/b'])
    assert.deepEqual(await sent(cache(), slow()), ['/a'])
  })

  it('throttle inside redirect: every request of a chain takes its turn', async (t) => {
    const clock = steadyClock(t)
    const sent = async (...order: Interceptor[]): Promise<string[][]> => {
      const { base, paths, send } = scripted(...order)
      send('/')
      base.last.start().head(302, { location: '/target' }).end()
      await clock.advance(1)
      const before = paths()
      await clock.advance(1000)
      return [before, paths()]
    }
    const slow = (): Interceptor => throttle({ rate: 1 })
    assert.deepEqual(await sent(slow(), follow()), [['/'], ['/', '/target']])
    assert.deepEqual(await sent(follow(), slow()), [
      ['/', '/target'],
      ['/', '/target'],
    ])
  })
})
