import { Writable } from 'node:stream'
import {
  Agent,
  buildConnector,
  Client,
  cacheStores,
  type Dispatcher,
  EnvHttpProxyAgent,
  interceptors,
  Pool,
  ProxyAgent,
  Socks5ProxyAgent,
  setGlobalDispatcher,
} from 'undici'

type Opts = NonNullable<Parameters<typeof interceptors.cache>[0]>
type Store_ = NonNullable<Opts['store']>
type Key = Parameters<Store_['get']>[0]
type Value = Parameters<Store_['createWriteStream']>[1]
type Got = NonNullable<Awaited<ReturnType<Store_['get']>>>
export const po: ProxyAgent.Options = {
  uri: 'http://p',
  token: `Basic ${Buffer.from('a:b').toString('base64')}`,
  headers: { a: 'b', c: ['d'] },
  proxyTunnel: true,
  connectTimeout: 1,
  keepAliveTimeout: 5,
  clientFactory: (origin, opts) => new Pool(origin, opts),
}
export const p: Dispatcher[] = [
  new ProxyAgent(po),
  new ProxyAgent('http://x'),
  new ProxyAgent({ ...po, requestTls: { servername: 'a', minVersion: 'TLSv1.2' } }),
]
setGlobalDispatcher(
  new EnvHttpProxyAgent({
    httpProxy: 'http://a',
    httpsProxy: 'http://b',
    noProxy: '*',
    connect: { timeout: 1 },
  }),
)
export const socks = new Socks5ProxyAgent('socks5://x', { username: 'a', password: 'b' })
class Store implements Store_ {
  m = new Map<string, Got>()
  get(key: Key) {
    return this.m.get(key.origin + key.path + key.method)
  }
  createWriteStream(key: Key, value: Value) {
    const body: Buffer[] = []
    return new Writable({
      write(c, _e, cb) {
        body.push(c)
        cb()
      },
      final: (cb) => {
        this.m.set(key.path, { ...value, body } as Got)
        cb()
      },
    })
  }
  delete(key: Key) {
    this.m.delete(key.path)
  }
}
const sqlite = new cacheStores.SqliteCacheStore({ location: ':memory:', maxCount: 1, maxEntrySize: 2 })
export const a = new Agent().compose(
  interceptors.cache({ store: new Store(), methods: ['GET', 'HEAD'], type: 'private' }),
  interceptors.cache({ store: sqlite }),
  interceptors.cache(),
)
const co: Opts = {
  store: new cacheStores.MemoryCacheStore({ maxSize: 1, maxEntrySize: 1 }),
  cacheByDefault: 1,
}
export const i = interceptors.cache(co)
export const dns = interceptors.dns({
  maxTTL: 1,
  lookup: (origin, _o, cb) => cb(null, [{ address: origin.hostname, family: 4, ttl: 1 }]),
  pick: (_o: URL, r, a: 4 | 6) => r.records[a]!.ips[0]!,
  dualStack: false,
  affinity: 6,
})
export const c = new Client('https://x', {
  connect: buildConnector({ ca: 'x', timeout: 1 }),
  allowH2: true,
  maxConcurrentStreams: 1,
  pipelining: 2,
  localAddress: '::1',
  socketPath: '/x',
  maxHeaderSize: 1,
  bodyTimeout: 0,
  headersTimeout: 0,
  strictContentLength: false,
  autoSelectFamily: true,
  maxResponseSize: -1,
})
