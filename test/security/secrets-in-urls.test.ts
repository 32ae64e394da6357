/** What is secret in a URL (user info, query, fragment) is in no error, at any place where a URL can be given. */
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  Agent,
  BalancedPool,
  Client,
  CookieJar,
  caches,
  connect,
  type Dispatcher,
  EnvHttpProxyAgent,
  EventSource,
  events,
  fetch,
  getGlobalOrigin,
  H2CClient,
  interceptors,
  MockAgent,
  Pool,
  ProxyAgent,
  pipeline,
  Request,
  Response,
  RetryAgent,
  RoundRobinPool,
  request,
  SnapshotAgent,
  Socks5ProxyAgent,
  setGlobalOrigin,
  stream,
  upgrade,
  WebSocket,
  WebSocketStream,
} from '../../src/index.ts'

const SECRET = 'hunter2'

/** Each has the secret in one part, and is no URL, or none that a client can be made for. */
const URLS: Record<string, string> = {
  'user, port out of range': `http://${SECRET}:x@localhost:99999/`,
  'password, port out of range': `http://user:${SECRET}@localhost:99999/`,
  'password with a slash': `http://user:a/${SECRET}@localhost:99999/`,
  'password with a question mark': `http://user:a?${SECRET}@localhost:99999/`,
  'password without a host': `http://user:${SECRET}`,
  'password without a scheme': `//user:${SECRET}@localhost:99999`,
  'query, port out of range': `http://localhost:99999/?key=${SECRET}`,
  'query with an at sign': `http://localhost:99999/?key=a@${SECRET}`,
  'fragment, port out of range': `http://localhost:99999/#${SECRET}`,
  'password of a URL': `http://user:${SECRET}@127.0.0.1:1/`,
  'user of a URL': `http://${SECRET}@127.0.0.1:1/`,
  'query of a URL': `http://127.0.0.1:1/a?key=${SECRET}`,
  'fragment of a URL': `http://127.0.0.1:1/a#${SECRET}`,
  'password with a wrong scheme': `ftp://user:${SECRET}@127.0.0.1:1/`,
  'query with a wrong scheme': `ftp://127.0.0.1:1/?key=${SECRET}`,
  'password and an illegal host': `http://user:${SECRET}@a b/`,
}

/** Returns what it gives out, or throws. */
type Place = (url: string) => unknown

const GET = { path: '/', method: 'GET' } as const

type Made = Pick<Dispatcher, 'request' | 'destroy'>

/** Without an origin, that of the dispatcher. */
async function through(dispatcher: Made, origin?: string): Promise<unknown> {
  try {
    return await dispatcher.request({ ...GET, origin } as never)
  } finally {
    await dispatcher.destroy()
  }
}

const PLACES: Record<string, Place> = {
  Client: (url) => through(new Client(url)),
  'Client of an object': (url) => through(new Client({ origin: url } as never)),
  H2CClient: (url) => through(new H2CClient(url)),
  Pool: (url) => through(new Pool(url)),
  BalancedPool: (url) => through(new BalancedPool([url])),
  RoundRobinPool: (url) => through(new RoundRobinPool(url)),
  'Agent, origin': (url) => through(new Agent(), url),
  ProxyAgent: (url) => through(new ProxyAgent(url), 'http://127.0.0.1:1'),
  'ProxyAgent, tunnel': (url) =>
    through(new ProxyAgent({ uri: url, proxyTunnel: true }), 'http://127.0.0.1:1'),
  'ProxyAgent, function': (url) =>
    through(new ProxyAgent({ uri: 'http://127.0.0.1:1', proxy: () => url } as never), 'http://127.0.0.1:1'),
  'ProxyAgent, origin': (url) => through(new ProxyAgent('http://127.0.0.1:1'), url),
  EnvHttpProxyAgent: (url) => through(new EnvHttpProxyAgent({ httpProxy: url }), 'http://127.0.0.1:1'),
  'EnvHttpProxyAgent.explain': (url) =>
    new EnvHttpProxyAgent({ httpProxy: 'http://127.0.0.1:1' }).explain(url),
  'explain with such a proxy': (url) =>
    new EnvHttpProxyAgent({ httpProxy: url }).explain('http://127.0.0.1:1'),
  Socks5ProxyAgent: (url) =>
    through(new Socks5ProxyAgent(url.replace('http', 'socks5')), 'http://127.0.0.1:1'),
  RetryAgent: (url) => through(new RetryAgent(new Agent(), { maxRetries: 0 }), url),
  'MockAgent.get': (url) => new MockAgent().get(url).request({ ...GET, path: '/x' }),
  'a mock without a match': (url) => {
    const agent = new MockAgent()
    agent.disableNetConnect()
    agent.get('http://127.0.0.1:1').intercept({ path: '/other' }).reply(200)
    return request(url, { dispatcher: agent })
  },
  SnapshotAgent: (url) =>
    request(url, { dispatcher: new SnapshotAgent({ mode: 'playback', snapshotPath: '/nonexistent.json' }) }),
  request: (url) => request(url),
  'request of an object': (url) => request({ origin: url, path: '/' } as never),
  stream: (url) => stream(url, GET as never, () => assert.fail()),
  pipeline: (url) =>
    new Promise((_, reject) =>
      pipeline(url, GET as never, ({ body }) => body)
        .on('error', reject)
        .end(),
    ),
  upgrade: (url) => upgrade(url),
  connect: (url) => connect(url),
  fetch: (url) => fetch(url),
  'fetch, referrer': (url) => fetch('data:,', { referrer: url }),
  Request: (url) => {
    new Request(url)
  },
  'Response.redirect': (url) => {
    Response.redirect(url)
  },
  WebSocket: (url) => failureOf(new WebSocket(url)),
  WebSocketStream: (url) => new WebSocketStream(url).opened,
  EventSource: (url) => failureOf(new EventSource(url)),
  events: async (url) => {
    for await (const _ of events(url, { reconnect: false } as never)) assert.fail()
  },
  'Cache.match': async (url) => (await caches.open('x')).match(url),
  'Cache.add': async (url) => (await caches.open('x')).add(url),
  setGlobalOrigin: (url) => {
    const before = getGlobalOrigin()
    try {
      setGlobalOrigin(url)
    } finally {
      setGlobalOrigin(before)
    }
  },
  'CookieJar.setCookie': (url) => {
    new CookieJar().setCookie('a=b', url)
  },
  'CookieJar.getCookieHeader': (url) => {
    new CookieJar().getCookieHeader(url)
  },
  'interceptors.guard': (url) => through(new Agent().compose(interceptors.guard()), url),
  'a redirect': (url) => redirected(url, (origin) => through(following(), origin)),
  'a redirect, fetch': (url) => redirected(url, (origin) => fetch(origin)),
  'a redirect that is an error, fetch': (url) =>
    redirected(url, (origin) => fetch(origin, { redirect: 'error' })),
  'a redirect of an EventSource': (url) => redirected(url, (origin) => failureOf(new EventSource(origin))),
  http_proxy: (url) => inEnvironment('http_proxy', url),
  HTTP_PROXY: (url) => inEnvironment('HTTP_PROXY', url),
  ALL_PROXY: (url) => inEnvironment('ALL_PROXY', url),
  https_proxy: (url) => inEnvironment('https_proxy', url, 'https://127.0.0.1:1'),
  'a proxy that changes later': async (url) => {
    const agent = new EnvHttpProxyAgent()
    await inEnvironment('http_proxy', url, undefined, agent)
  },
  'the pattern of a mock': (url) => {
    const agent = new MockAgent()
    agent.disableNetConnect()
    agent
      .get('http://127.0.0.1:1')
      .intercept({ path: '/other', query: { next: url } })
      .reply(200)
    return through(agent, 'http://127.0.0.1:1')
  },
}

const following = (): Made => new Agent().compose(interceptors.redirect({ maxRedirections: 3 }))

/** Runs against an origin that redirects to the URL. */
async function redirected(url: string, run: (origin: string) => Promise<unknown>): Promise<unknown> {
  const server = http.createServer((_request, response) => {
    response.writeHead(302, { location: url })
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

async function inEnvironment(
  name: string,
  value: string,
  origin = 'http://127.0.0.1:1',
  made: Made | null = null,
): Promise<unknown> {
  const before = process.env[name]
  process.env[name] = value
  try {
    return await through(made ?? new EnvHttpProxyAgent(), origin)
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}

function failureOf(target: EventTarget): Promise<unknown> {
  return new Promise((_, reject) => {
    target.addEventListener('error', (event) => {
      const { error, message } = event as Event & { error?: unknown; message?: unknown }
      ;(target as unknown as { close(): void }).close()
      reject(error ?? new Error(String(message)))
    })
  })
}

/** The URLs that are no mistake at a place, and lead to nothing that fails. */
const WHOLE = ['password of a URL', 'user of a URL', 'query of a URL', 'fragment of a URL']
const OF_ANY_SCHEME = [...WHOLE, 'password with a wrong scheme', 'query with a wrong scheme']
const ACCEPTED: Record<string, readonly string[]> = {
  'EnvHttpProxyAgent.explain': OF_ANY_SCHEME,
  'explain with such a proxy': ['password of a URL', 'user of a URL'],
  'fetch, referrer': OF_ANY_SCHEME,
  Request: ['query of a URL', 'fragment of a URL', 'query with a wrong scheme'],
  'Response.redirect': OF_ANY_SCHEME,
  'Cache.match': ['query of a URL', 'fragment of a URL', 'query with a wrong scheme'],
  setGlobalOrigin: WHOLE,
  'CookieJar.setCookie': WHOLE,
  'CookieJar.getCookieHeader': WHOLE,
}

/** All that a logger could print of it. */
function printed(error: unknown): string {
  const { message, stack } = Object(error) as Error
  return `${message}\n${stack}\n${inspect(error, { showHidden: true, depth: 12, getters: false })}`
}

/** Errors on the diagnostics channels. */
const published: unknown[] = []
for (const name of ['undici:request:error', 'undici:client:connectError', 'undici:websocket:socket_error']) {
  subscribe(name, (message) => published.push((message as { error?: unknown }).error ?? message))
}

for (const [name, place] of Object.entries(PLACES)) {
  for (const [part, url] of Object.entries(URLS)) {
    test(`${name}: ${part}`, async () => {
      published.length = 0
      let failures: unknown[] | null = null
      let given: unknown = null
      try {
        given = await place(url)
      } catch (thrown) {
        failures = [thrown, ...published]
      }
      assert.equal(failures === null, ACCEPTED[name]?.includes(part) ?? false, 'whether it takes such a URL')
      for (const failure of failures ?? [given])
        assert.doesNotMatch(printed(failure), new RegExp(SECRET, 'i'))
    })
  }
}

test('the error for what is no URL is that of the runtime', () => {
  assert.throws(() => new Client('localhost'), {
    name: 'TypeError',
    code: 'ERR_INVALID_URL',
    input: 'localhost',
  })
  assert.throws(() => new Client('http://localhost:99999/a'), { input: 'http://localhost:99999/a' })
  assert.throws(() => new Request('nothing'), { message: 'Failed to parse URL from nothing' })
})
