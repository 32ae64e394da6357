/**
 * Functions and streams of a caller that never answer: an abort settles the request, and so does `destroy()` of the
 * dispatcher, whoever has the request at that time.
 */
import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import {
  Agent,
  type BodyInput,
  type CacheStore,
  Client,
  type Dispatcher,
  fetch,
  type Interceptor,
  interceptors,
  MockAgent,
  ProxyAgent,
  RetryAgent,
} from '../../src/index.ts'
import { failure } from '../support/exchange.ts'
import { RecordingHandler } from '../support/recording-handler.ts'
import { overEachWire, startOrigin, WIRES, type Wire } from '../support/wire.ts'

const never = (): Promise<never> => new Promise(() => {})

/** Says that it was called, and nothing else. */
interface Silence {
  (): undefined
  readonly called: Promise<void>
}

function silence(): Silence {
  let note!: () => void
  const called = new Promise<void>((resolve) => {
    note = resolve
  })
  return Object.assign(() => void note(), { called })
}

function silentIterable(silent: Silence): AsyncIterable<never> {
  const next = (): Promise<never> => {
    silent()
    return never()
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: never }) }
}

interface Case {
  readonly make: (url: string, silent: Silence) => Dispatcher
  readonly path?: string
  readonly body?: (silent: Silence) => BodyInput
}

const composed =
  (interceptor: (silent: Silence) => Interceptor): Case['make'] =>
  (url, silent) =>
    new Client(url).compose(interceptor(silent))

const asked = (silent: Silence) => (): Promise<never> => {
  silent()
  return never()
}

const store = (methods: Partial<CacheStore>): CacheStore => ({
  get: () => undefined,
  createWriteStream: () => undefined,
  delete() {},
  ...methods,
})

const stored = (body: Readable | AsyncIterable<never>): CacheStore => {
  const now = Date.now()
  const times = { cachedAt: now, staleAt: now + 60_000, deleteAt: now + 60_000 }
  return store({
    get: () => ({
      statusCode: 200,
      statusMessage: '',
      headers: {},
      cacheControlDirectives: {},
      ...times,
      body,
    }),
  })
}

/** A reply to a request with a body that the matcher has to read. */
function mocked(url: string, reply: () => Promise<never>): MockAgent {
  const agent = new MockAgent()
  agent.disableNetConnect()
  agent
    .get(url)
    .intercept({ path: '/', method: 'POST', body: () => true })
    .reply(200, reply)
  agent.get(url).intercept({ path: '/', method: 'GET' }).reply(200, reply)
  return agent
}

const CASES: Record<string, Case> = {
  'the connect function of a client': { make: (url, silent) => new Client(url, { connect: silent }) },
  'the connect function of an agent': { make: (_url, silent) => new Agent({ connect: silent }) },
  'the lookup function of a connector': {
    make: (url, silent) => new Client(url, { connect: { lookup: silent } }),
  },
  'the lookup function of dns': { make: composed((silent) => interceptors.dns({ lookup: silent })) },
  'the policy of retry': {
    make: composed((silent) => interceptors.retry({ retry: silent })),
    path: '/busy',
  },
  'the policy of retry for a response that it holds': {
    make: composed((silent) => interceptors.retry({ throwOnError: false, retry: silent })),
    path: '/busy',
  },
  'the policy of RetryAgent': {
    make: (url, silent) => new RetryAgent(new Client(url), { retry: silent }),
    path: '/busy',
  },
  'the policy of RetryAgent for a response that it holds': {
    make: (url, silent) => new RetryAgent(new Client(url), { throwOnError: false, retry: silent }),
    path: '/busy',
  },
  'get() of a cache store': {
    make: composed((silent) => interceptors.cache({ store: store({ get: asked(silent) }) })),
  },
  'a stored body that is a stream': {
    make: composed((silent) => interceptors.cache({ store: stored(new Readable({ read: silent })) })),
  },
  'a stored body that is an iterable': {
    make: composed((silent) => interceptors.cache({ store: stored(silentIterable(silent)) })),
  },
  'an asynchronous interceptor': {
    make: composed((silent) => {
      const waiting = async (_opts: unknown, _handler: unknown): Promise<never> => {
        silent()
        return never()
      }
      return () => waiting as unknown as ReturnType<Interceptor>
    }),
  },
  'the token function of a proxy that forwards': {
    make: (url, silent) => new ProxyAgent({ uri: url, token: asked(silent) }),
  },
  'the token function of a proxy that tunnels': {
    make: (url, silent) => new ProxyAgent({ uri: url, proxyTunnel: true, token: asked(silent) }),
  },
  'a reply function of a mock': { make: (url, silent) => mocked(url, asked(silent)) },
  'an iterable as body of a mocked request': { make: (url) => mocked(url, never), body: silentIterable },
  'a stream as body of a mocked request': {
    make: (url) => mocked(url, never),
    body: (silent) => new Readable({ read: silent }),
  },
}

const answer = (t: TestContext, wire: Wire) =>
  startOrigin(t, wire, (request, response) => {
    request.on('error', () => {})
    response.statusCode = request.url === '/busy' ? 503 : 200
    response.end('x')
  })

async function open(
  t: TestContext,
  name: string,
): Promise<{
  dispatcher: Dispatcher
  silent: Silence
  url: string
  options: Parameters<Dispatcher['request']>[0]
}> {
  const { make, path = '/', body } = CASES[name]!
  const { url } = await answer(t, WIRES[0]!)
  const silent = silence()
  const dispatcher = make(url, silent)
  t.after(() => dispatcher.destroy())
  const options = { origin: url, path, method: body ? 'POST' : 'GET', body: body?.(silent) ?? null } as const
  return { dispatcher, silent, url, options }
}

for (const name of Object.keys(CASES)) {
  const whole = async (
    dispatcher: Dispatcher,
    options: Parameters<Dispatcher['request']>[0],
  ): Promise<string> => {
    const { body } = await dispatcher.request(options)
    return body.text()
  }

  test(`${name} never answers: an abort`, async (t) => {
    const { dispatcher, silent, options } = await open(t, name)
    const aborter = new AbortController()
    const reason = new Error('enough')
    const failed = failure(whole(dispatcher, { ...options, signal: aborter.signal }))
    await silent.called
    const closed = dispatcher.close()
    aborter.abort(reason)
    assert.equal(await failed, reason)
    // Nothing is left of it.
    await closed
    if (options.body instanceof Readable) assert.equal(options.body.destroyed, true)
  })

  test(`${name} never answers: destroy()`, async (t) => {
    const { dispatcher, silent, url, options } = await open(t, name)
    const failed = failure(whole(dispatcher, options))
    await silent.called
    const destroyed = dispatcher.destroy()
    assert.equal(((await failed) as { code?: string }).code, 'UND_ERR_DESTROYED')
    await destroyed
    if (options.body instanceof Readable) assert.equal(options.body.destroyed, true)

    const again = await open(t, name)
    const pending = fetch(again.url + again.options.path, {
      dispatcher: again.dispatcher,
      method: again.options.method,
      body: again.options.body as never,
      duplex: 'half',
    }).then((response) => response.text())
    const fetched = failure(pending)
    await again.silent.called
    const reason = new Error('shut down')
    await again.dispatcher.destroy(reason)
    const { cause } = await fetched
    assert.equal(cause, reason)
    assert.ok(url)
  })

  test(`${name} never answers: a call after destroy()`, async (t) => {
    const { dispatcher, options } = await open(t, name)
    await dispatcher.destroy(new Error('shut down'))
    const failed = await failure(whole(dispatcher, options))
    assert.equal((failed as { code?: string }).code, 'UND_ERR_DESTROYED')
    if (options.body instanceof Readable) assert.equal(options.body.destroyed, true)
  })
}

test('a throttled request that waits fails when its dispatcher is destroyed', async (t) => {
  const { url } = await answer(t, WIRES[0]!)
  const throttle = interceptors.throttle({ rate: 0.001, burst: 1 })
  const client = new Client(url).compose(throttle)
  const other = new Client(url).compose(throttle)
  t.after(() => other.destroy())
  await (await client.request({ path: '/', method: 'GET' })).body.dump()
  const waiting = new RecordingHandler()
  const beside = new RecordingHandler()
  client.dispatch({ path: '/', method: 'GET' }, waiting)
  other.dispatch({ path: '/', method: 'GET' }, beside)
  const reason = new Error('shut down')
  const destroyed = client.destroy(reason)
  assert.deepEqual([waiting.errors, beside.errors], [[reason], []])
  await destroyed
})

test('a throttled request after destroy() does not wait for its turn', async (t) => {
  const { url } = await answer(t, WIRES[0]!)
  const client = new Client(url).compose(interceptors.throttle({ rate: 0.001, burst: 1 }))
  await (await client.request({ path: '/', method: 'GET' })).body.dump()
  await client.destroy()
  const late = client.compose(interceptors.dns({ lookup() {} }))
  for (const dispatcher of [client, late]) {
    const { code } = await failure(dispatcher.request({ path: '/', method: 'GET' }))
    assert.equal(code, 'UND_ERR_DESTROYED')
  }
})

test('what an interceptor holds outlasts close()', async (t) => {
  const { url } = await answer(t, WIRES[0]!)
  let answerLookup!: () => void
  const client = new Client(url).compose(
    interceptors.dns({
      lookup(_origin, _options, callback) {
        answerLookup = () => callback(null, [{ address: '127.0.0.1', family: 4 }])
      },
    }),
  )
  const handler = new RecordingHandler()
  client.dispatch({ path: '/', method: 'GET' }, handler)
  await client.close()
  assert.deepEqual(handler.errors, [])
  answerLookup()
  await handler.settled
  assert.deepEqual(
    handler.errors.map((error) => (error as { code?: string }).code),
    ['UND_ERR_DESTROYED'],
  )
})

test('a handler that throws does not keep destroy() from the others', async (t) => {
  const { url } = await answer(t, WIRES[0]!)
  const client = new Client(url).compose(interceptors.dns({ lookup() {} }))
  const throwing = { onRequestStart() {}, onResponseError: () => assert.fail('thrown by the caller') }
  const handler = new RecordingHandler()
  client.dispatch({ path: '/', method: 'GET' }, throwing)
  client.dispatch({ path: '/', method: 'GET' }, handler)
  await client.destroy()
  assert.equal(handler.errors.length, 1)
})

overEachWire('a Writable that never finishes', (wire) => {
  const targets: Record<string, (silent: Silence) => Writable> = {
    'its write()': (silent) => new Writable({ write: silent }),
    'its final()': (silent) => new Writable({ write: (_chunk, _encoding, done) => done(), final: silent }),
    'its write() and destroy()': (silent) => new Writable({ write: silent, destroy() {} }),
  }
  for (const [name, make] of Object.entries(targets)) {
    test(`${name}: an abort after the end of the response settles stream()`, async (t) => {
      const origin = await answer(t, wire)
      const client = origin.client()
      const silent = silence()
      const aborter = new AbortController()
      const reason = new Error('enough')
      let target!: Writable
      const failed = failure(
        client.stream({ path: '/', method: 'GET', signal: aborter.signal }, () => {
          target = make(silent)
          target.on('error', () => {})
          return target
        }),
      )
      await silent.called
      // The connection is free when the response has ended.
      const { body } = await client.request({ path: '/', method: 'GET' })
      await body.dump()
      aborter.abort(reason)
      assert.equal(await failed, reason)
      assert.equal(target.destroyed, true)
    })
  }

  test('an abort when all was written does not fail stream()', async (t) => {
    const client = (await answer(t, wire)).client()
    const aborter = new AbortController()
    await client.stream({ path: '/', method: 'GET', signal: aborter.signal }, () =>
      new Writable({ write: (_chunk, _encoding, done) => done(), destroy() {} }).on('finish', () =>
        aborter.abort(),
      ),
    )
  })
})
