/**
 * Every function of a caller runs in the AsyncLocalStorage context of its own call, although the calls share a connection
 * that yet another one has opened.
 */
import diagnosticsChannel from 'node:diagnostics_channel'
import { type Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import {
  cacheStores,
  type Dispatcher,
  EventSource,
  events,
  FormData,
  fetch,
  interceptors,
  type LegacyDispatchHandler,
} from '../../src/index.ts'
import {
  type Call,
  check,
  GET,
  listen,
  type Note,
  NotingHandler,
  openStage,
  source,
  storage,
  testKinds,
} from '../support/call-contexts.ts'
import { overEachWire } from '../support/wire.ts'

async function* pieces(note: Note): AsyncGenerator<string> {
  for (const piece of ['a', 'b', 'c']) {
    note('a generator as body')
    yield piece.repeat(40_000)
  }
  note('the end of a generator')
}

function legacyHandler(note: Note, settle: () => void): LegacyDispatchHandler {
  return {
    onConnect: () => note('onConnect'),
    onBodySent: () => note('onBodySent'),
    onRequestSent: () => note('onRequestSent'),
    onResponseStarted: () => note('onResponseStarted'),
    onHeaders(_status, _headers, resume) {
      note('onHeaders')
      setImmediate(resume)
      return false
    },
    onData: () => note('onData'),
    onComplete() {
      note('onComplete')
      settle()
    },
    onError() {
      note('onError')
      settle()
    },
  }
}

const CALLS: Record<string, Call> = {
  async 'request() by promise'({ client }, note) {
    const { body } = await client.request({ ...GET, onInfo: () => note('onInfo') })
    note('the promise')
    const closed = listen(body, ['data', 'end', 'close', 'pause', 'resume'], note)
    await closed
  },
  async 'readable events'({ client }, note) {
    const { body } = await client.request(GET)
    body.on('readable', () => {
      note("'readable' of a body")
      while (body.read() !== null);
    })
    await listen(body, ['end', 'close'], note)
  },
  async 'for await'({ client }, note) {
    const { body } = await client.request(GET)
    for await (const _ of body) note('for await')
  },
  async 'text()'({ client }, note) {
    const { body } = await client.request(GET)
    await body.text()
    note('text()')
  },
  async 'request() by callback'({ client }, note) {
    await new Promise<void>((resolve, reject) => {
      client.request({ ...GET, method: 'POST', body: source(note) }, (error, data) => {
        if (error) return reject(error)
        note('the callback')
        listen(data.body, ['data', 'end', 'close'], note).then(() => resolve())
      })
    })
  },
  async 'a body from a generator'({ client }, note) {
    const { body } = await client.request({
      path: '/',
      method: 'POST',
      body: pieces(note),
      trailers: () => {
        note('trailers')
        return { 'x-a': '1' }
      },
    })
    await body.text()
  },
  async 'a response that is reset'({ client }, note) {
    const { body } = await client.request({ path: '/reset', method: 'POST', reset: true })
    await listen(body, ['error', 'close'], note)
  },
  async 'an aborted body'({ client }, note) {
    const controller = new AbortController()
    const { body } = await client.request({ ...GET, signal: controller.signal })
    const closed = listen(body, ['error', 'close'], note)
    storage.run('the one who aborts', () => controller.abort())
    await closed
  },
  async 'stream()'({ client }, note) {
    await client.stream({ ...GET, onInfo: () => note('onInfo') }, () => {
      note('factory')
      return new Writable({
        write(_chunk, _encoding, done) {
          note('write() of a destination')
          done()
        },
        final(done) {
          note('final() of a destination')
          done()
        },
        destroy(error, done) {
          note('destroy() of a destination')
          done(error)
        },
      })
    })
    note('the promise')
  },
  async 'pipeline()'({ client }, note) {
    const duplex = client.pipeline({ ...GET, method: 'POST', onInfo: () => note('onInfo') }, ({ body }) => {
      note('handler of pipeline()')
      body.on('data', () => note("'data' of the body in pipeline()"))
      body.on('end', () => note("'end' of the body in pipeline()"))
      return body
    })
    const closed = listen(duplex, ['data', 'end', 'finish', 'close'], note)
    duplex.write('x'.repeat(100_000), () => note('write callback of pipeline()'))
    duplex.end('y')
    await closed
  },
  async 'dispatch()'({ client, url }, note) {
    const handler = new NotingHandler(note)
    client.dispatch({ ...GET, origin: url, method: 'POST', body: source(note) }, handler)
    await handler.done
  },
  async 'dispatch(), older generation'({ client, url }, note) {
    await new Promise<void>((resolve) => {
      client.dispatch({ ...GET, origin: url, method: 'POST', body: 'x' }, legacyHandler(note, resolve))
    })
  },
  async 'dispatch() of what fails'({ client, url }, note) {
    const handler = new NotingHandler(note)
    client.dispatch({ path: '/reset', origin: url, method: 'GET', reset: true }, handler)
    await handler.done
  },
  async 'fetch()'({ client, url }, note) {
    const response = await fetch(`${url}/`, { dispatcher: client })
    note('the promise')
    for await (const _ of response.body!) note('for await')
  },
  async 'fetch() with a stream'({ client, url }, note) {
    let left = 3
    const body = new ReadableStream({
      pull(controller) {
        note('pull() of a stream as body')
        if (left-- > 0) controller.enqueue(new Uint8Array(40_000))
        else controller.close()
      },
    })
    const init = { method: 'POST', body, duplex: 'half' as const, dispatcher: client }
    const response = await fetch(`${url}/`, init)
    await response.text()
  },
  async EventSource({ client, url }, note) {
    const events = new EventSource(`${url}/events`, { dispatcher: client } as object)
    events.onopen = () => note("'open' of EventSource")
    await new Promise<void>((resolve) => {
      events.onmessage = () => {
        note("'message' of EventSource")
        events.close()
        resolve()
      }
    })
  },
  async 'an EventSource that fails'({ client, url }, note) {
    const source = new EventSource(`${url}/none`, {
      node: {
        dispatcher: client,
        headers: () => {
          note('the headers function of EventSource')
          return {}
        },
      },
    })
    await new Promise<void>((resolve) => {
      source.onerror = () => {
        note("'error' of EventSource")
        resolve()
      }
    })
  },
  async 'an EventSource that is cut off'({ client, url }, note) {
    const source = new EventSource(`${url}/reset`, {
      node: {
        dispatcher: client,
        retryStatus: [200],
        onEvent: () => {},
        shouldReconnect: () => {
          note('shouldReconnect')
          return false
        },
      },
    })
    await new Promise<void>((resolve) => {
      source.onerror = () => resolve()
    })
  },
  async 'events()'({ client, url }, note) {
    for await (const _ of events(`${url}/events`, { dispatcher: client })) {
      note('for await of events()')
      return
    }
  },
  async 'diagnostics channels'({ client }, note) {
    const path = `/?${Math.random()}`
    const mine = (message: unknown): boolean =>
      (message as { request: { path: string } }).request.path === path
    const subscribers = ['create', 'bodySent', 'headers', 'bodyChunkReceived', 'trailers'].map((name) => {
      const channel = `undici:request:${name}`
      const subscriber = (message: unknown): void => {
        if (mine(message)) note(channel)
      }
      diagnosticsChannel.subscribe(channel, subscriber)
      return () => diagnosticsChannel.unsubscribe(channel, subscriber)
    })
    const { body } = await client.request({ path, method: 'POST', body: 'x' })
    await body.text()
    for (const unsubscribe of subscribers) unsubscribe()
  },
  async 'a web stream that is cancelled'({ client }, note) {
    const controller = new AbortController()
    let pulls = 0
    const body = new ReadableStream({
      pull(stream) {
        stream.enqueue(new Uint8Array(1000))
        // The second one shows that the body is being read.
        if (++pulls === 2) setImmediate(() => storage.run('the one who aborts', () => controller.abort()))
      },
      cancel() {
        note('cancel() of a stream as body')
      },
    })
    await client
      .request({ path: '/', method: 'POST', body: body as never, signal: controller.signal })
      .catch(() => note('the rejection'))
  },
  async 'a body that a function makes'({ client, url }, note) {
    const make = (): Readable => {
      note('the function that makes a body')
      return source(note)
    }
    const { body } = await client
      .compose(interceptors.retry())
      .request({ origin: url, path: '/', method: 'POST', body: make })
    await body.dump()
  },
  async 'a form'({ client }, note) {
    const form = new FormData()
    form.append('a', 'b')
    const { body } = await client.request({ path: '/', method: 'POST', body: form })
    await body.arrayBuffer()
    note('arrayBuffer()')
  },
  async 'the functions of a cache'({ client, url }, note) {
    const store = new cacheStores.MemoryCacheStore()
    const noting = {
      get(key: never) {
        note('get() of a cache store')
        return store.get(key)
      },
      createWriteStream(key: never, value: never) {
        note('createWriteStream() of a cache store')
        const stream = store.createWriteStream(key, value)
        stream?.on('finish', () => note("'finish' of a stream of a cache store"))
        return stream
      },
      delete(key: never) {
        note('delete() of a cache store')
        return store.delete(key)
      },
    }
    const partition = (): string => {
      note('partition')
      return 'x'
    }
    const caching = client.compose(interceptors.cache({ store: noting as never, partition }))
    for (const method of ['GET', 'GET', 'POST'] as const) {
      const { body } = await caching.request({ origin: url, path: '/fresh', method })
      await body.text()
    }
  },
  async 'the functions of a cookie jar'({ client, url }, note) {
    const jar = {
      getCookieHeader() {
        note('getCookieHeader() of a jar')
        return ''
      },
      setCookie: () => note('setCookie() of a jar'),
    }
    const { body } = await client
      .compose(interceptors.cookies({ jar }))
      .request({ origin: url, path: '/cookie', method: 'GET' })
    await body.dump()
  },
  async 'the functions of dns'({ client, url }, note) {
    const resolving = client.compose(
      interceptors.dns({
        lookup(_origin, _options, callback) {
          note('lookup of dns')
          storage.run('the resolver', () =>
            setImmediate(() => callback(null, [{ address: '127.0.0.1', ttl: 60_000, family: 4 }])),
          )
        },
        pick(_origin, { records }) {
          note('pick of dns')
          return records[4]!.ips[0]
        },
        storage: dnsStorage(note),
      }),
    )
    const handler = new NotingHandler(note)
    resolving.dispatch({ ...GET, origin: url }, handler)
    await handler.done
  },
  async 'a circuit that opens'({ client, url }, note) {
    const breaking = client.compose(interceptors.circuitBreaker({ minRequests: 1 }))
    for (let i = 0; i < 3; i++) {
      const handler = new NotingHandler(note)
      breaking.dispatch({ ...GET, path: '/busy', origin: url }, handler)
      await handler.done
    }
  },
  async 'an error for a status'({ client, url }, note) {
    const failing = client.compose(interceptors.responseError())
    const handler = new NotingHandler(note)
    failing.dispatch({ ...GET, path: '/busy', origin: url }, handler)
    await handler.done
  },
  async retry({ client, url }, note) {
    const retrying = client.compose(
      interceptors.retry({
        retry(error, { state }, done) {
          note('the retry function')
          done(state.counter > 2 ? error : null)
        },
      }),
    )
    const handler = new NotingHandler(note)
    retrying.dispatch({ path: '/busy', origin: url, method: 'GET' }, handler)
    await handler.done
  },
  async redirect({ client, url }, note) {
    const following = client.compose(interceptors.redirect({ maxRedirections: 2 }))
    const handler = new NotingHandler(note)
    following.dispatch({ path: '/moved', origin: url, method: 'GET' }, handler)
    await handler.done
  },
}

function dnsStorage(note: Note): interceptors.DNSStorage {
  const known = new Map<string, interceptors.DNSInterceptorOriginRecords>()
  return {
    get size() {
      return known.size
    },
    get(name: string) {
      note('get() of a dns storage')
      return known.get(name)
    },
    set(name: string, records: interceptors.DNSInterceptorOriginRecords) {
      note('set() of a dns storage')
      known.set(name, records)
    },
    delete: (name: string) => known.delete(name),
    full: () => false,
  }
}

/** Composed once for all calls: what their requests share is what could mix them up. */
const SHARED: Record<string, () => Parameters<Dispatcher['compose']>[0]> = {
  auth: () => interceptors.auth({ bearer: async () => 't' }),
  cache: () => interceptors.cache(),
  'cache with collapse': () => interceptors.cache({ collapse: true } as object),
  deduplicate: () => interceptors.deduplicate(),
  throttle: () => interceptors.throttle({ concurrency: 1 }),
  hedge: () => interceptors.hedge({ delay: 1 }),
  decompress: () => interceptors.decompress(),
  dump: () => interceptors.dump(),
  circuitBreaker: () => interceptors.circuitBreaker(),
  cookies: () => interceptors.cookies(),
  redirect: () => interceptors.redirect({ maxRedirections: 1 }),
  responseError: () => interceptors.responseError(),
  retry: () => interceptors.retry(),
  dns: () =>
    interceptors.dns({
      lookup(_origin: unknown, _options: unknown, callback: (error: null, records: object[]) => void) {
        setImmediate(() => callback(null, [{ address: '127.0.0.1', ttl: 60_000, family: 4 }]))
      },
    } as object),
}

overEachWire('the context of callbacks', (wire) => {
  for (const [name, call] of Object.entries(CALLS)) {
    test(name, async (t) => check(await openStage(t, wire), call))
  }

  for (const [name, make] of Object.entries(SHARED)) {
    test(`handlers behind ${name}`, async (t) => {
      const stage = await openStage(t, wire)
      const client = stage.client.compose(make())
      await check({ ...stage, client }, async (_stage, note) => {
        const handler = new NotingHandler(note)
        client.dispatch({ ...GET, origin: stage.url }, handler)
        await handler.done
      })
    })
  }
})

testKinds({
  both: [
    "'data' of a body",
    "'readable' of a body",
    "'resume' of a body",
    "'end' of a body",
    "'error' of a body",
    "'close' of a body",
    'for await',
    'text()',
    'arrayBuffer()',
    'the promise',
    'the rejection',
    'the callback',
    'onInfo',
    'a generator as body',
    'the end of a generator',
    'the function that makes a body',
    'read() of a stream as body',
    'destroy() of a stream as body',
    'pull() of a stream as body',
    'cancel() of a stream as body',
    'trailers',
    'factory',
    'write() of a destination',
    'final() of a destination',
    'destroy() of a destination',
    'handler of pipeline()',
    "'data' of the body in pipeline()",
    "'end' of the body in pipeline()",
    "'finish' of a body",
    'write callback of pipeline()',
    'onRequestQueued',
    'onRequestStart',
    'onBodySent',
    'onRequestSent',
    'onResponseStarted',
    'onResponseStart',
    'onResponseData',
    'onResponseEnd',
    'onResponseError',
    'onConnect',
    'onHeaders',
    'onData',
    'onComplete',
    "'open' of EventSource",
    "'message' of EventSource",
    "'error' of EventSource",
    'the headers function of EventSource',
    'shouldReconnect',
    'for await of events()',
    'undici:request:create',
    'undici:request:bodySent',
    'undici:request:headers',
    'undici:request:bodyChunkReceived',
    'undici:request:trailers',
    'partition',
    'get() of a cache store',
    'createWriteStream() of a cache store',
    "'finish' of a stream of a cache store",
    'delete() of a cache store',
    'getCookieHeader() of a jar',
    'setCookie() of a jar',
    'lookup of dns',
    'pick of dns',
    'get() of a dns storage',
    'set() of a dns storage',
    'the retry function',
  ],
})
