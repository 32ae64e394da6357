// Like a plugin for undici that forwards requests: options filled in later, a dispatcher or options for one,
// callbacks, handlers and interceptors. Compiled, never run; also against undici's own types.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  Agent,
  BalancedPool,
  Client,
  Dispatcher,
  errors,
  getGlobalDispatcher,
  Pool,
} from '../../src/index.ts'

export interface ProxyOptions {
  base?: string | string[]
  undici?: Dispatcher | (Agent.Options & { timeout?: number })
  globalAgent?: boolean
}

/** The caller's options, with the plugin's additions. */
function filledIn(given: Agent.Options & { timeout?: number }): Pool.Options & Agent.Options {
  const options: Agent.Options = { ...given }
  options.connections = options.connections || 128
  options.pipelining ??= 1
  options.keepAliveMaxTimeout = 5_000
  if (given.timeout !== undefined) options.headersTimeout = options.bodyTimeout = given.timeout
  if (typeof options.connect === 'object') options.connect.timeout = 1_000
  delete options.socketPath
  return options
}

function isDispatcher(value: unknown): value is Dispatcher {
  return value instanceof Pool || value instanceof Client || value instanceof Dispatcher
}

export function dispatcherFor({ base, undici, globalAgent }: ProxyOptions): Dispatcher {
  if (isDispatcher(undici)) return undici
  if (globalAgent) return getGlobalDispatcher()
  const options = filledIn(undici ?? {})
  if (Array.isArray(base)) return new BalancedPool(base, options as Pool.Options)
  if (base?.startsWith('unix:')) {
    const unix: Pool.Options = options as Pool.Options
    unix.socketPath = decodeURIComponent(new URL(base).host)
    return new Pool('http://localhost', unix)
  }
  return new Agent(options)
}

export function forward(dispatcher: Dispatcher, from: IncomingMessage, to: ServerResponse): void {
  const options: Dispatcher.RequestOptions = {
    origin: 'http://upstream.test',
    path: from.url ?? '/',
    method: from.method as Dispatcher.HttpMethod,
    headers: Object.assign({}, from.headers),
    body: from,
  }
  if (from.method === 'GET' || from.method === 'HEAD') options.body = null
  options.query = { page: 1, tag: ['a', 'b'] }
  options.headersTimeout = 30_000
  dispatcher.request(options, (error, response) => {
    if (error) {
      to.statusCode = error instanceof errors.HeadersTimeoutError ? 504 : 502
      to.end()
      return
    }
    to.writeHead(response.statusCode, response.headers)
    response.body.on('error', (reason: Error) => to.destroy(reason))
    response.body.pipe(to)
  })
}

/** Forwards its calls, and may start again with fewer options. */
export class Relay implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler
  #headers: IncomingHttpHeaders | null = null

  constructor(handler: Dispatcher.DispatchHandler) {
    this.#handler = handler
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    this.#handler.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    this.#headers = headers
    if (statusMessage === undefined) this.#handler.onResponseStart?.(controller, statusCode, headers)
    else this.#handler.onResponseStart?.(controller, statusCode, headers, statusMessage)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (controller.aborted) return
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.#handler.onResponseEnd?.(controller, { ...this.#headers, ...trailers })
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    const reason: string | undefined = controller.reason?.message
    this.#handler.onResponseError?.(controller, reason === undefined ? error : new Error(reason))
  }
}

/** An interceptor that changes its options. */
export function tagged(name: string): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch =>
    function tag(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      const origin: string | URL | undefined = options.origin
      if (origin === undefined) throw new Error('no origin')
      options.path = `${options.path}?via=${name}`
      options.headers = { ...(options.headers as Record<string, string>), via: String(origin) }
      return dispatch(options, new Relay(handler))
    }
}

export function composed(dispatcher: Dispatcher): Dispatcher.ComposedDispatcher {
  const interceptors: Dispatcher.DispatchInterceptor[] = [tagged('a'), (dispatch) => dispatch]
  return dispatcher.compose(interceptors)
}

/** A custom dispatcher around another. */
export class Counted extends Dispatcher {
  readonly #inner: Dispatcher
  count = 0

  constructor(inner: Dispatcher) {
    super()
    this.#inner = inner
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.count++
    return this.#inner.dispatch(options, handler)
  }

  override close(): Promise<void>
  override close(callback: () => void): void
  override close(callback?: () => void): Promise<void> | void {
    return callback ? this.#inner.close(callback) : this.#inner.close().then(() => {})
  }
}
