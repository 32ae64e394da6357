/**
 * Runs in a separate process: sends the same requests repeatedly, each time with another property on
 * `Object.prototype`, and prints which of them were answered differently.
 *
 * Arguments: the ports of an HTTP/1.1, an HTTP/2 cleartext and an HTTPS server that answer with the request they saw.
 */
import { once } from 'node:events'
import { Writable } from 'node:stream'
import tls from 'node:tls'
import { Agent, BalancedPool, Client, H2CClient, Pool, request } from '../../src/index.ts'
import { authority, clientIdentity } from '../support/certificates.ts'

const [plainPort, h2cPort, securePort] = process.argv.slice(2)
const plain = `http://localhost:${plainPort}`
const h2c = `http://localhost:${h2cPort}`
const secure = `https://localhost:${securePort}`
const hostile = (): never => {
  throw new Error('the polluted function was called')
}
/** For names that are also event names: the runtime would treat the value as a listener. */
const refusing = (...args: unknown[]): void => {
  const callback = args.at(-1)
  if (typeof callback === 'function') callback(new Error('the polluted function was called'))
}

/** Every option name that some layer reads, with a value that would have a visible effect. */
const OF_REQUESTS: Readonly<Record<string, unknown>> = {
  path: '/evil',
  method: 'DELETE',
  headers: { 'x-evil': 'yes' },
  body: 'evil',
  query: { evil: 'yes' },
  trailers: { host: 'evil.test' },
  h2Options: { useH2c: 'x', maxConcurrentStreams: 0 },
  origin: 'http://localhost:1',
  upgrade: 'evil',
  protocol: 'evil:',
  servername: 'evil.test',
  reset: true,
  blocking: 'x',
  idempotent: false,
  expectContinue: 'x',
  headersTimeout: -1,
  bodyTimeout: -1,
  typeOfService: 999,
  throwOnError: true,
  maxRedirections: 5,
  signal: AbortSignal.abort(),
  opaque: 'evil',
  responseHeaders: 'raw',
  onInfo: 'x',
  highWaterMark: -1,
  dispatcher: { dispatch: hostile },
  agent: {},
  allowH2: 'x',
  hostname: 'evil.test',
  host: 'evil.test',
  port: 1,
  pathname: '/evil',
  search: '?evil',
  hash: '#evil',
}

const OF_DISPATCHERS: Readonly<Record<string, unknown>> = {
  connect: refusing,
  tls: { rejectUnauthorized: false },
  socketPath: '/nowhere',
  localAddress: '192.0.2.1',
  pipelining: 0,
  maxHeaderSize: 1,
  maxResponseSize: 0,
  maxRequestsPerClient: -1,
  maxConcurrentStreams: -1,
  initialWindowSize: -1,
  connectionWindowSize: -1,
  pingInterval: -1,
  connectTimeout: -1,
  keepAliveTimeout: -1,
  keepAliveMaxTimeout: -1,
  keepAliveTimeoutThreshold: 'x',
  strictContentLength: false,
  maxCachedSessions: -1,
  autoSelectFamily: false,
  autoSelectFamilyAttemptTimeout: -5,
  useH2c: true,
  webSocket: 'x',
  factory: hostile,
  connections: -1,
  clientTtl: -1,
  maxOrigins: -1,
  maxConnections: -1,
  maxIdleConnections: -1,
  maxConnectionsWait: -1,
  maxWeightPerServer: -1,
  errorPenalty: -1,
  idleTimeout: 1,
}

/** Trust, identity and destination. */
const OF_CONNECTIONS: Readonly<Record<string, unknown>> = {
  servername: 'evil.test',
  signal: AbortSignal.abort(),
  highWaterMark: -1,
  ca: authority,
  rejectUnauthorized: false,
  checkServerIdentity: () => undefined,
  secureContext: tls.createSecureContext({ ca: authority }),
  cert: clientIdentity.cert,
  key: clientIdentity.key,
  pfx: 'x',
  passphrase: 'x',
  crl: 'x',
  session: {},
  ciphers: 'x',
  sigalgs: 'x',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  secureProtocol: 'TLSv1_2_method',
  ALPNProtocols: ['evil'],
  pskCallback: hostile,
  lookup: refusing,
  family: 6,
  hints: 1,
  localPort: 1,
  preferH2: true,
  httpSocket: {},
  socket: {},
  timeout: 1,
  keepAlive: false,
  keepAliveInitialDelay: -1,
  allowHalfOpen: true,
}

interface Body {
  text(): Promise<string>
}

const textOf = async (
  response: Promise<{ statusCode: number; headers: unknown; opaque: unknown; body: Body }>,
): Promise<string> => {
  const { statusCode, headers, opaque, body } = await response
  return JSON.stringify([statusCode, Array.isArray(headers), opaque, await body.text()])
}

async function use<T extends { destroy(): Promise<void> }>(
  dispatcher: T,
  ask: (dispatcher: T) => Promise<string>,
): Promise<string> {
  try {
    return await ask(dispatcher)
  } catch (error) {
    return `${(error as Error).name} ${(error as NodeJS.ErrnoException).code} ${(error as Error).message.split(' (')[0]}`
  } finally {
    await dispatcher.destroy()
  }
}

/** Options as most programs write them: the minimum for the request. */
const get = (): { path: string; method: string } => ({ path: '/right', method: 'GET' })

const EXCHANGES: Readonly<Record<string, () => Promise<string>>> = {
  'request over h1': () => use(new Client(plain), (client) => textOf(client.request(get()))),
  'request over h2c': () => use(new H2CClient(h2c), (client) => textOf(client.request(get()))),
  'request over TLS': () =>
    use(new Client(secure, { connect: { ca: authority } }), (client) => textOf(client.request(get()))),
  'request to somebody who is not trusted': () =>
    use(new Client(secure), (client) => textOf(client.request(get()))),
  'request through an Agent': () =>
    use(new Agent(), (agent) => textOf(agent.request({ origin: plain, ...get() }))),
  'request through a Pool': () => use(new Pool(plain), (pool) => textOf(pool.request(get()))),
  'request through a BalancedPool': () => use(new BalancedPool(plain), (pool) => textOf(pool.request(get()))),
  'request with a URL': () =>
    use(new Agent(), (dispatcher) => textOf(request(`${plain}/right`, { dispatcher }))),
  'request with the parts of a URL': () =>
    use(new Agent(), (dispatcher) =>
      textOf(
        request(
          { protocol: 'http:', hostname: 'localhost', port: plainPort!, pathname: '/right' },
          { dispatcher },
        ),
      ),
    ),
  post: () =>
    use(new Client(plain), (client) =>
      textOf(client.request({ path: '/right', method: 'POST', body: 'right' })),
    ),
  stream: () =>
    use(new Client(plain), async (client) => {
      let text = ''
      const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
        text += chunk.toString()
        done()
      }
      const { opaque } = await client.stream(get(), () => Object.assign(new Writable(), { _write: write }))
      return `${opaque} ${text}`
    }),
  pipeline: () =>
    use(new Client(plain), async (client) => {
      const duplex = client.pipeline({ path: '/right', method: 'PUT' }, ({ body }) => body)
      let text = ''
      duplex.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      duplex.end('right')
      await once(duplex, 'end')
      return text
    }),
  upgrade: () =>
    use(new Client(plain), async (client) => {
      const { headers, socket } = await client.upgrade({ path: '/right' })
      socket.on('error', () => {}).destroy()
      return String(headers['x-saw'])
    }),
}

const TO_REQUESTS = [
  'request over h1',
  'request over h2c',
  'request through an Agent',
  'request with a URL',
  'request with the parts of a URL',
  'post',
  'stream',
  'pipeline',
  'upgrade',
]
const TO_DISPATCHERS = [
  'request over h1',
  'request over h2c',
  'request through an Agent',
  'request through a Pool',
  'request through a BalancedPool',
  'request to somebody who is not trusted',
]
const TO_CONNECTIONS = ['request over h1', 'request over TLS', 'request to somebody who is not trusted']

async function outcomes(names: readonly string[]): Promise<Map<string, string>> {
  const texts = await Promise.all(names.map((name) => EXCHANGES[name]!()))
  return new Map(names.map((name, i) => [name, texts[i]!]))
}

const expected = await outcomes(Object.keys(EXCHANGES))
const differences: string[] = []
let tried = 0
for (const [pollution, exchanges] of [
  [OF_REQUESTS, TO_REQUESTS],
  [OF_DISPATCHERS, TO_DISPATCHERS],
  [OF_CONNECTIONS, TO_CONNECTIONS],
] as const) {
  for (const [name, value] of Object.entries(pollution)) {
    // As a plain assignment defines it, and as a library or an attacker does who hides it.
    for (const enumerable of [true, false]) {
      Object.defineProperty(Object.prototype, name, { value, writable: true, enumerable, configurable: true })
      const found = await outcomes(exchanges)
      delete (Object.prototype as unknown as Record<string, unknown>)[name]
      tried++
      for (const [exchange, text] of found) {
        const how = enumerable ? name : `${name} (not enumerable)`
        if (text !== expected.get(exchange)) differences.push(`${how}: ${exchange}: ${text}`)
      }
    }
  }
}
console.log(JSON.stringify({ expected: [...expected], tried, differences }))
