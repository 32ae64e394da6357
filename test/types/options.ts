// Options accept immutable values: frozen objects, `as const`, readonly lists. Compiled, never run.
import { Readable } from 'node:stream'
import {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  type ClientOptions,
  fetch,
  H2CClient,
  Pool,
  request,
  Socks5ProxyAgent,
  setCookie,
  WebSocket,
} from '../../src/index.ts'

const settings = {
  pipelining: 2,
  allowH2: true,
  bodyTimeout: null,
  connect: { rejectUnauthorized: false, timeout: 10 },
  webSocket: { maxPayloadSize: 10 },
} as const
const upstreams = ['http://a.test', 'http://b.test'] as const
const frozen: Readonly<ClientOptions> = Object.freeze({ ...settings })

export const client: Client = new Client('http://a.test', settings)
export const all: readonly object[] = [
  new Client(new URL('http://a.test'), frozen),
  new Pool('http://a.test', { ...settings, connections: 2 }),
  new Agent(settings),
  new BalancedPool(upstreams, settings),
  new H2CClient('http://a.test', { pipelining: 10, connect: { timeout: 1 } } as const),
  new Socks5ProxyAgent('socks5://a.test', {
    ...settings,
    username: 'u',
    proxyTls: {},
    requestTls: { ca: 'x' },
  } as const),
  new Socks5ProxyAgent(new URL('socks5://a.test'), {
    connect: (_target, callback) => callback(new Error('no')),
  }),
  buildConnector({ ciphers: 'x', minVersion: 'TLSv1.3' } as const),
]

const flat = ['accept', '*/*', 'x-list', ['a', 'b']] as const
const names = {
  accept: '*/*',
  'x-list': ['a', 'b'],
  'x-number': 1,
  'x-empty': null,
  skipped: undefined,
} as const

export async function requests(): Promise<void> {
  const options = { path: '/', method: 'POST', headers: names, query: { a: [1, 2], b: true } } as const
  await client.request(options)
  await client.request({ ...options, headers: flat })
  await client.request({ ...options, headers: new Headers() })
  await client.request({ ...options, headers: new Map([['a', 'b']]) })
  await client.request({ ...options, body: ['a', 'b'] as const })
  await client.request({ ...options, body: new Blob([]) })
  await client.request({ ...options, body: new FormData() })
  await client.request({ ...options, body: new ReadableStream<Uint8Array>() })
  await client.request({ ...options, body: Readable.from([]) })
  await client.request({ ...options, body: new DataView(new ArrayBuffer(1)) })
  await client.request({ ...options, signal: AbortSignal.timeout(1) })
  await request('http://a.test', { headers: flat, dispatcher: client } as const)
  await fetch('http://a.test', { dispatcher: client, headers: { a: 'b' } } as const)
  new WebSocket('ws://a.test', { protocols: ['a', 'b'] as const, headers: { a: 'b' } as const })
  setCookie(new Headers(), { name: 'a', value: 'b', unparsed: [] })

  // @ts-expect-error: a path is needed
  await client.request({ method: 'GET' })
  // @ts-expect-error: and a method
  await client.request({ path: '/' })
  // @ts-expect-error: no such kind of body
  await client.request({ ...options, body: 7 })
  // @ts-expect-error: no such kind of signal
  await client.request({ ...options, signal: {} })
  // @ts-expect-error: an object is not a header value
  await client.request({ ...options, headers: { a: {} } })
  // @ts-expect-error: only `raw`
  await client.request({ ...options, responseHeaders: 'cooked' })
  // @ts-expect-error: there is no such option
  new Client('http://a.test', { pipelines: 1 })
  // @ts-expect-error: a number
  new Client('http://a.test', { pipelining: '1' })
  // @ts-expect-error: not one of the known values
  setCookie(new Headers(), { name: 'a', value: 'b', sameSite: 'Sometimes' })
}
