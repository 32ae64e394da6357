// A program written for undici, with only the import changed: it must compile. test/package checks that it also compiles
// against undici's own types, so that it is valid code for undici.
import { Buffer } from 'node:buffer'
import { createWriteStream } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, PassThrough, Readable, Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import undici, {
  Agent,
  BalancedPool,
  buildConnector,
  Client,
  CloseEvent,
  type Cookie,
  connect,
  DecoratorHandler,
  Dispatcher,
  deleteCookie,
  ErrorEvent,
  errors,
  FormData,
  fetch,
  getCookies,
  getGlobalDispatcher,
  getGlobalOrigin,
  getSetCookies,
  H2CClient,
  Headers,
  type HeadersInit,
  MessageEvent,
  Pool,
  parseCookie,
  ping,
  pipeline,
  Request,
  type RequestInfo,
  type RequestInit,
  Response,
  RoundRobinPool,
  request,
  setCookie,
  setGlobalDispatcher,
  setGlobalOrigin,
  stream,
  upgrade,
  WebSocket,
} from '../../src/index.ts'

// Clients and their options

const clientOptions: Client.Options = {
  bodyTimeout: 1e3,
  headersTimeout: 1e3,
  keepAliveTimeout: 10,
  keepAliveMaxTimeout: 20,
  keepAliveTimeoutThreshold: 5,
  maxHeaderSize: 16384,
  maxResponseSize: -1,
  pipelining: 2,
  strictContentLength: true,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 250,
  allowH2: true,
  maxConcurrentStreams: 100,
  connect: { rejectUnauthorized: false, ca: 'pem', timeout: 1000, keepAlive: true, servername: 'a.test' },
}
const client = new Client('https://a.test', clientOptions)
new Client(new URL('http://a.test'))
new H2CClient('http://a.test', { maxConcurrentStreams: 10 })
const poolOptions: Pool.Options = { ...clientOptions, connections: 10 }
const pool = new Pool('https://a.test', {
  ...poolOptions,
  factory: (origin: URL, options: object) => new Client(origin, options),
})
const agentOptions: Agent.Options = {
  ...clientOptions,
  connections: 1,
  factory: (origin: string | URL, options: object) => new Pool(origin, options),
}
const agent: Agent = new Agent(agentOptions)
const balanced = new BalancedPool(['http://a.test', 'http://b.test'], poolOptions)
balanced.addUpstream('http://c.test').removeUpstream('http://b.test')
const upstreams: string[] = balanced.upstreams
new RoundRobinPool('http://a.test', { connections: 2 })

class CachedClient {
  readonly #dispatcher: Dispatcher
  constructor(dispatcher: Dispatcher = new Agent()) {
    this.#dispatcher = dispatcher
  }
  async get(path: string, headers: IncomingHttpHeaders = {}): Promise<Dispatcher.ResponseData> {
    const method: Dispatcher.HttpMethod = 'GET'
    return this.#dispatcher.request({ origin: 'http://a.test', path, method, headers })
  }
}

// Events

client.on('connect', (origin: URL, targets: readonly Dispatcher[]) => void [origin.href, targets.length])
client.on('disconnect', (origin, targets, error) => void [origin.href, targets.length, error.message])
client.once(
  'connectionError',
  (origin: URL, _targets: readonly Dispatcher[], error: Error) => void [origin, error],
)
client.on('drain', (origin) => void origin.href)
agent.on('connect', (origin, targets) => void [origin.href, targets.length])

const states: boolean[] = [client.closed, client.destroyed, pool.closed, agent.destroyed]
client.pipelining = 3
const connected: number = pool.stats.connected + pool.stats.free + pool.stats.pending + pool.stats.size
const running: number = client.stats.running + client.stats.pending + client.stats.size

// Requests

async function readEverything(): Promise<unknown[]> {
  const { statusCode, headers, trailers, body, context, opaque } = await client.request({
    path: '/',
    method: 'POST',
    headers: { 'x-a': 'b', cookie: ['a', 'b'], none: undefined },
    body: JSON.stringify({ a: 1 }),
    query: { page: 1, tags: ['a', 'b'] },
    signal: new AbortController().signal,
    opaque: { id: 7 },
    idempotent: false,
    blocking: true,
    reset: false,
    bodyTimeout: 1,
    headersTimeout: 2,
    onInfo: ({ statusCode }) => void statusCode,
  })
  const id: number = opaque.id
  const status: number = statusCode
  const type: string | string[] | undefined = headers['content-type']
  const encoding: BufferEncoding = 'utf8'
  body.setEncoding(encoding)
  for await (const chunk of body) Buffer.from(chunk)
  const used: boolean = body.bodyUsed
  return [
    await body.text(),
    await body.json(),
    (await body.arrayBuffer()).byteLength,
    (await body.bytes()).length,
    (await body.blob()).size,
    await body.dump({ limit: 10 }),
    body.body,
    body.pipe(new PassThrough()),
    [id, status, type, used, trailers['x'], context],
  ]
}

async function bodies(): Promise<void> {
  const form = new FormData()
  form.append('a', 'b')
  form.set('file', new Blob(['x']), 'x.txt')
  const options: Dispatcher.RequestOptions = { path: '/', method: 'PUT', origin: 'http://a.test' }
  for (const body of ['a', Buffer.from('a'), new Uint8Array(1), Readable.from(['a']), form, null]) {
    const response: Dispatcher.ResponseData = await client.request({ ...options, body })
    await response.body.dump()
  }
  client.request({ path: '/', method: 'GET' }, (error, data) => {
    if (error) return
    data.body.resume()
  })
  const { body } = await request('http://a.test/x', { method: 'POST', body: 'x', headers: ['a', 'b'] })
  await request(new URL('http://a.test'), { dispatcher: agent, headersTimeout: 10 })
  const value = (await body.json()) as { a: number }
  void value.a
}

async function streams(): Promise<void> {
  await client.stream({ path: '/', method: 'GET' }, () => createWriteStream('file'))
  const done = await client.stream(
    { path: '/', method: 'GET', opaque: { bufs: [] as Buffer[] } },
    ({ statusCode, headers, opaque }) => {
      void [statusCode, headers['x']]
      return new Writable({
        write(chunk: Buffer, _encoding, callback) {
          opaque.bufs.push(chunk)
          callback()
        },
      })
    },
  )
  const buffers: Buffer[] = done.opaque.bufs
  void [buffers, done.trailers]
  await stream('http://a.test', { method: 'GET', opaque: new PassThrough() }, ({ opaque }) => opaque)
  const factory: Dispatcher.StreamFactory = ({ statusCode }: Dispatcher.StreamFactoryData) => {
    void statusCode
    return new PassThrough()
  }
  client.stream({ path: '/', method: 'GET' }, factory, (error, data) => void [error, data])

  const duplex: Duplex = client.pipeline({ path: '/', method: 'POST' }, ({ statusCode, headers, body }) => {
    void [statusCode, headers['x']]
    return body.pipe(new PassThrough())
  })
  duplex.end('x')
  pipeline('http://a.test', { method: 'PUT' }, ({ body }) => body)
  const handler: Dispatcher.PipelineHandler = ({ body }: Dispatcher.PipelineHandlerData) => body
  client.pipeline({ path: '/', method: 'GET', objectMode: true }, handler)
}

async function sockets(): Promise<void> {
  const tunnel: Dispatcher.ConnectData = await client.connect({ path: 'b.test:443' })
  tunnel.socket.end()
  void [tunnel.statusCode, tunnel.headers, tunnel.opaque]
  client.connect({ path: 'b.test:443', opaque: 1 }, (error, { socket }) => void [error, socket])
  const switched: Dispatcher.UpgradeData = await client.upgrade({ path: '/', method: 'GET', protocol: 'x' })
  switched.socket.destroy()
  await connect('http://a.test', { headers: {} })
  await upgrade('http://a.test', { protocol: 'websocket' })
}

// Handlers and interceptors

class Printing implements Dispatcher.DispatchHandler {
  readonly #next: Dispatcher.DispatchHandler
  constructor(next: Dispatcher.DispatchHandler) {
    this.#next = next
  }
  onRequestStart(controller: Dispatcher.DispatchController, context: object): void {
    this.#next.onRequestStart?.(controller, context)
  }
  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    this.#next.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }
  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    if (statusCode > 500) controller.abort(new Error('no'))
    this.#next.onResponseStart?.(controller, statusCode, headers, statusMessage ?? '')
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    controller.pause()
    controller.resume()
    this.#next.onResponseData?.(controller, chunk)
  }
  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.#next.onResponseEnd?.(controller, trailers)
  }
  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#next.onResponseError?.(controller, error)
  }
}

const printing: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headers: { 'x-a': 'b' } }, new Printing(handler))
const counting = (dispatch: Dispatcher['dispatch']) => {
  return function count(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    return dispatch(options, new DecoratorHandler(handler))
  }
}
const composed: Dispatcher = client.compose(printing, counting)
const other: Dispatcher = agent.compose([printing]).compose((dispatch) => (options, handler) => {
  void [options.origin, options.path, options.method]
  return dispatch(options, handler)
})
const free: boolean = client.dispatch(
  { path: '/', method: 'GET' },
  {
    onRequestStart: (controller) => controller.abort(new Error('enough')),
    onResponseStart(_controller, statusCode, headers) {
      void [statusCode, headers['x']]
    },
    onResponseData: (_controller, chunk) => void chunk.length,
    onResponseEnd: () => {},
    onResponseError: (_controller, error) => void error.message,
  },
)

class OneOrigin extends Dispatcher {
  readonly #inner = new Client('http://a.test')
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#inner.dispatch({ ...options, path: `/prefix${options.path}` }, handler)
  }
}
setGlobalDispatcher(new OneOrigin())
setGlobalDispatcher(composed)
const current: Dispatcher = getGlobalDispatcher()

// Connections

const connectorOptions: buildConnector.BuildOptions = { rejectUnauthorized: false, maxCachedSessions: 10 }
const connector: buildConnector.connector = buildConnector(connectorOptions)
new Client('https://a.test', {
  connect(options, callback) {
    connector(options, (error, socket) => {
      if (error) return callback(error, null)
      const tls = socket as TLSSocket
      if (tls.getPeerCertificate().fingerprint256 !== 'x') {
        tls.destroy()
        return callback(new Error('fingerprint'), null)
      }
      return callback(null, socket)
    })
  },
})
const plain = (options: buildConnector.Options, callback: buildConnector.Callback): void => {
  const { hostname, protocol, port }: { hostname: string; protocol: string; port: string } = options
  void [hostname, protocol, port, callback]
}
void plain

// Errors

async function failures(): Promise<string> {
  try {
    await client.request({ path: '/', method: 'GET' })
  } catch (error) {
    if (error instanceof errors.UndiciError) return `${error.code} ${error.name}`
    if (error instanceof errors.SocketError) return `${error.socket?.remoteAddress} ${error.code}`
    if (error instanceof errors.ConnectTimeoutError) return 'connect'
    if (error instanceof errors.HeadersTimeoutError) return 'headers'
    if (error instanceof errors.BodyTimeoutError) return 'body'
    if (error instanceof errors.RequestAbortedError) return 'abort'
    if (error instanceof errors.InvalidArgumentError) return 'argument'
    if (error instanceof errors.ClientDestroyedError) return 'destroyed'
    if (error instanceof errors.ClientClosedError) return 'closed'
    if (error instanceof errors.ResponseExceededMaxSizeError) return 'size'
    if (error instanceof errors.RequestContentLengthMismatchError) return 'length'
    if (error instanceof errors.HTTPParserError) return error.message
  }
  throw new errors.InvalidArgumentError('no')
}

// Cookies

function cookies(): void {
  const headers = new Headers({ cookie: 'a=1' })
  const pairs: Record<string, string> = getCookies(headers)
  const cookie: Cookie = { name: 'a', value: '1', secure: true, sameSite: 'Strict', expires: new Date() }
  setCookie(headers, cookie)
  deleteCookie(headers, 'a', { path: '/', domain: 'a.test' })
  const sent: Cookie[] = getSetCookies(headers)
  const parsed: Cookie | null = parseCookie('a=1')
  void [pairs.a, sent.length, parsed?.name]
}

// fetch and WebSocket

async function web(input: RequestInfo, init: RequestInit, headers: HeadersInit): Promise<void> {
  const response = await fetch('http://a.test', { dispatcher: agent, method: 'POST', body: 'x', headers })
  const ok: boolean = response.ok
  await fetch(input, init)
  await fetch(new Request('http://a.test', { headers: { a: 'b' } }), { dispatcher: composed })
  await fetch(new URL('http://a.test'), { signal: AbortSignal.timeout(10), redirect: 'manual' })
  const copy: Response = new Response('x', { status: 201 }).clone()
  setGlobalOrigin('http://a.test')
  const origin: URL | undefined = getGlobalOrigin()
  const value = await response.json()
  void [ok, copy, origin, value, response.headers.get('x')]

  const socket = new WebSocket('wss://a.test', { protocols: ['a'], dispatcher: agent, headers: { a: 'b' } })
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) => socket.send(data))
  socket.addEventListener('open', () => socket.send('hello'))
  socket.onclose = ({ code, reason, wasClean }) => void [code, reason, wasClean]
  socket.onerror = (event) => void event.type
  socket.onmessage = (event: MessageEvent) => void event.data
  if (socket.readyState === WebSocket.OPEN) socket.close(1000, 'done')
  ping(socket)
  void [new CloseEvent('close', { code: 1000 }), new ErrorEvent('error', { error: null })]
  void new MessageEvent('message', { data: 1 })
}

// The end

async function end(): Promise<void> {
  await client.close()
  client.close(() => {})
  await pool.destroy()
  await agent.destroy(new Error('over'))
  agent.destroy(new Error('over'), () => {})
  await undici.request('http://a.test')
  new undici.Client('http://a.test')
}

const shape: Socket | null = null
void [
  upstreams,
  CachedClient,
  states,
  connected,
  running,
  readEverything,
  bodies,
  streams,
  sockets,
  other,
  free,
]
void [current, failures, cookies, web, end, shape]
