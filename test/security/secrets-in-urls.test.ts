/** What is secret in a URL (user info, query, fragment) is in no error, at any place where a URL can be given. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  Agent,
  BalancedPool,
  Client,
  CookieJar,
  caches,
  connect,
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

const made = (dispatcher: { destroy(): Promise<void> }): Promise<void> => dispatcher.destroy()

const GET = { path: '/', method: 'GET' } as const

async function through(dispatcher: Agent | ProxyAgent | Socks5ProxyAgent, origin: string): Promise<unknown> {
  try {
    return await dispatcher.request({ ...GET, origin })
  } finally {
    await dispatcher.destroy()
  }
}

const PLACES: Record<string, Place> = {
  Client: (url) => made(new Client(url)),
  'Client of an object': (url) => made(new Client({ origin: url } as never)),
  H2CClient: (url) => made(new H2CClient(url)),
  Pool: (url) => made(new Pool(url)),
  BalancedPool: (url) => made(new BalancedPool([url])),
  RoundRobinPool: (url) => made(new RoundRobinPool(url)),
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
  RetryAgent: (url) => through(new RetryAgent(new Agent(), { maxRetries: 0 }) as never, url),
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
  Request: (url) => new Request(url),
  'Response.redirect': (url) => {
    Response.redirect(url)
  },
  WebSocket: (url) => failureOf(new WebSocket(url)),
  WebSocketStream: (url) => new WebSocketStream(url).opened,
  EventSource: (url) => failureOf(new EventSource(url)),
  events: async (url) => {
    for await (const _ of events(url, { reconnect: false } as never)) assert.fail()
  },
  'caches.match': (url) => caches.match(url),
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
    new CookieJar().setCookie(url, 'a=b')
  },
  'interceptors.guard': (url) => through(new Agent().compose(interceptors.guard()) as never, url),
  'interceptors.cache': (url) => {
    interceptors.cache({ origins: [url] })
  },
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

/** All that a logger could print of it. */
function printed(error: unknown): string {
  const { message, stack } = error as Error
  return `${message}\n${stack}\n${inspect(error, { showHidden: true, depth: 12, getters: false })}`
}

for (const [name, place] of Object.entries(PLACES)) {
  for (const [part, url] of Object.entries(URLS)) {
    test(`${name}: ${part}`, async () => {
      let error: unknown = null
      try {
        await place(url)
      } catch (thrown) {
        error = thrown
      }
      if (error !== null) assert.doesNotMatch(printed(error), new RegExp(SECRET, 'i'))
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
