// ventuno and undici: the same code with a different import, through each of their APIs.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { TextWritable, textOf } from './text.mjs'

/** A candidate cannot run because the library lacks an export: reported, but not an error. */
export class MissingExport extends Error {}

export async function loadLibrary(target) {
  return import(
    target.library === null
      ? pathToFileURL(createRequire(import.meta.url).resolve('undici')).href
      : pathToFileURL(`${target.library}/index.js`).href
  )
}

export function exported(library, name) {
  if (library[name] === undefined) throw new MissingExport(`${name} is not exported`)
  return library[name]
}

export async function open(target) {
  const library = await loadLibrary(target)
  const dispatcher = FEATURES[target.feature]?.(library, target) ?? makeDispatcher(library, target)
  const api = target.api.startsWith('fetch')
    ? { send: (FETCHES[target.api] ? fetcher : realFetcher)(exported(library, 'fetch'), dispatcher, target) }
    : APIS[target.api](dispatcher, target)
  // undici's MockAgent cannot be destroyed.
  return { ...api, close: () => (target.feature === 'mock' ? dispatcher.close() : dispatcher.destroy()) }
}

export function makeDispatcher(library, target) {
  const { origin, wire, ca, guard, connections, pipelining, lanes, keepAlive } = target
  const patience =
    keepAlive === undefined ? {} : { keepAliveTimeout: keepAlive, keepAliveMaxTimeout: keepAlive }
  if (wire === 'h2c') {
    const H2CClient = exported(library, 'H2CClient')
    return new H2CClient(origin, { ...patience, maxConcurrentStreams: Math.max(100, lanes) })
  }
  const options = { ...patience, pipelining, allowH2: wire === 'h2', connect: { ca, guard } }
  if (wire === 'h2') options.maxConcurrentStreams = Math.max(100, lanes)
  if (connections > 1) return new (exported(library, 'Pool'))(origin, { ...options, connections })
  return new (exported(library, 'Client'))(origin, options)
}

/** Connections to each origin, as crawlers limit them. */
const CRAWLED_AT_ONCE = 6

/** Features on top of a dispatcher, or in place of one. */
const FEATURES = {
  /** Three interceptors of which none has anything to do. */
  idle: (library, target) => {
    const { retry, redirect, decompress } = exported(library, 'interceptors')
    const stack = [retry(), decompress(), redirect({ maxRedirections: 3 })]
    return makeDispatcher(library, target).compose(stack)
  },
  guard: (library, target) =>
    makeDispatcher(library, { ...target, guard: { policy: 'public-only', allow: ['127.0.0.0/8'] } }),
  jar: (library, target) => withJar(library, target, []),
  filledJar: (library, target) => {
    const others = Array.from({ length: 50 }, (_, index) => `https://site-${index}.example/`)
    return withJar(library, target, [...others, target.origin, target.origin])
  },
  metrics: (library, target) => withMetrics(library, target, NO_METER),
  metricsSdk: (library, target) => withMetrics(library, target, sdkMeter()),
  metricsDetails: (library, target) => withMetrics(library, target, sdkMeter(), { details: true }),
  cache: (library, target) => {
    const { cache } = exported(library, 'interceptors')
    return makeDispatcher(library, target).compose(cache())
  },
  crawler: (library, { api }) => {
    const agent = new (exported(library, 'Agent'))({ connections: CRAWLED_AT_ONCE })
    // fetch() decodes without it.
    return api === 'request-page' ? agent.compose(exported(library, 'interceptors').decompress()) : agent
  },
  tunnel: (library, target) => makeProxyAgent(library, target, true),
  forward: (library, target) => makeProxyAgent(library, target, false),
  mock: (library, { origin }) => {
    const agent = new (exported(library, 'MockAgent'))()
    agent.disableNetConnect()
    const pool = agent.get(origin)
    pool.intercept({ path: '/protocol' }).reply(200, 'HTTP/1.1').persist()
    pool.intercept({ path: '/small' }).reply(200, 'Hello, world!').persist()
    return agent
  },
}

/** With a cookie of each of these URLs. */
function withJar(library, target, urls) {
  const { cookies } = exported(library, 'interceptors')
  const jar = new (exported(library, 'CookieJar'))()
  for (const [index, url] of urls.entries()) jar.setCookie(`name-${index}=value-of-${index}; Path=/`, url)
  return makeDispatcher(library, target).compose(cookies({ jar }))
}

/** Measures nothing: what is left is the cost of the interceptor. */
const NO_METER = {
  createHistogram: () => ({ record() {} }),
  createCounter: () => ({ add() {} }),
  createObservableUpDownCounter: () => ({ addCallback() {} }),
}

/** Of OpenTelemetry, with a reader that collects like an exporter. */
function sdkMeter() {
  const { MeterProvider, MetricReader } = createRequire(import.meta.url)('@opentelemetry/sdk-metrics')
  class Reader extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }
  const reader = new Reader()
  setInterval(() => void reader.collect(), 1000).unref()
  return new MeterProvider({ readers: [reader] }).getMeter('bench')
}

function withMetrics(library, target, meter, more) {
  const { metrics } = exported(library, 'interceptors')
  const dispatcher = makeDispatcher(library, target)
  return dispatcher.compose(metrics({ meter, connectionsOf: dispatcher, ...more }))
}

/** The agents take an origin with each request. */
function makeProxyAgent(library, { ports, connections }, proxyTunnel) {
  const uri = `http://127.0.0.1:${ports[proxyTunnel ? 'connect-proxy' : 'forward-proxy']}`
  return new (exported(library, 'ProxyAgent'))({ uri, proxyTunnel, connections })
}

const APIS = {
  'request-real': (dispatcher, target) => realRequester(dispatcher, target, jsonText),
  'request-page': (dispatcher, target) => realRequester(dispatcher, target, (body) => body.text()),

  request: (dispatcher, { origin, method, headers, body, blocking, reset }) => ({
    async send(path) {
      const options = { origin, path, method, headers, body, blocking, reset }
      const { statusCode, body: answer } = await dispatcher.request(options)
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      return answer.text()
    },
  }),

  'request-chunks': (dispatcher, { method, headers }) => ({
    async send(path) {
      const { statusCode, body } = await dispatcher.request({ path, method, headers })
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      return path === '/protocol' ? body.text() : lengthOf(body)
    },
  }),

  dispatch: (dispatcher, { method, headers, body, blocking }) => ({
    start(path, done) {
      dispatcher.dispatch({ path, method, headers, body, blocking }, new TextHandler(done))
    },
  }),

  stream: (dispatcher, { method, headers, body }) => ({
    async send(path) {
      const sink = new TextWritable()
      await dispatcher.stream({ path, method, headers, body }, ({ statusCode }) => {
        if (statusCode !== 200) throw new Error(`status ${statusCode}`)
        return sink
      })
      return textOf(sink.chunks)
    },
  }),
}

const jsonText = async (body) => (await body.json()).text

/** A different request each time. */
function realRequester(dispatcher, { origin, method, headers, nextRequest }, read) {
  return {
    async send(place) {
      if (place === '/protocol') {
        return (await dispatcher.request({ origin, path: place, method: 'GET', headers })).body.text()
      }
      const next = nextRequest()
      const { statusCode, body } = await dispatcher.request({
        origin: next.origin ?? origin,
        path: next.path,
        method,
        headers: next.headers,
        body: next.body,
      })
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      return read(body)
    },
  }
}

/** `fetch` as programs use it: with different ways to read the body, and different arguments beside the URL. */
const FETCHES = {
  fetch: { read: (response) => response.text() },
  'fetch-json': { read: async (response) => (await response.json()).text },
  'fetch-signal': { read: (response) => response.text(), signal: () => new AbortController().signal },
  'fetch-stream': { read: readStream },
  'fetch-chunks': { read: (response) => lengthOf(response.body) },
}

function fetcher(fetch, dispatcher, { origin, method, headers, body, api }) {
  const { read, signal: makeSignal } = FETCHES[api]
  const signal = makeSignal?.()
  return async (path) => {
    const response = await fetch(origin + path, { method, headers, body, dispatcher, signal })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    // Before the measurement, a request asks the server for its protocol. That answer is not JSON.
    return path === '/protocol' && api !== 'fetch' ? response.text() : read(response)
  }
}

/** Real traffic; also for the `fetch` of the runtime, which needs no dispatcher. */
export function realFetcher(fetch, dispatcher, { origin, method, api, nextRequest }) {
  const read = api === 'fetch-page' ? (response) => response.text() : jsonText
  return async (place) => {
    if (place === '/protocol') return (await fetch(origin + place, { dispatcher })).text()
    const next = nextRequest()
    const { headers, body } = next
    const response = await fetch((next.origin ?? origin) + next.path, { method, headers, body, dispatcher })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return read(response)
  }
}

/** What a program does that looks at each chunk as it arrives. */
async function lengthOf(body) {
  let length = 0
  for await (const chunk of body) length += chunk.length
  return { length }
}

async function readStream(response) {
  const reader = response.body.getReader()
  for (let length = 0; ; ) {
    const { done, value } = await reader.read()
    if (done) return { length }
    length += value.length
  }
}

class TextHandler {
  #done
  #status = 0
  #chunks = []

  constructor(done) {
    this.#done = done
  }

  onRequestStart() {}

  onResponseStart(_controller, status) {
    this.#status = status
  }

  onResponseData(_controller, chunk) {
    this.#chunks.push(chunk)
  }

  onResponseEnd() {
    if (this.#status !== 200) return this.#done(new Error(`status ${this.#status}`))
    this.#done(null, textOf(this.#chunks))
  }

  onResponseError(_controller, error) {
    this.#done(error)
  }
}
