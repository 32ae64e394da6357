/**
 * `request`, `stream`, `pipeline`, `connect` and `upgrade` as functions that take a URL, and the dispatcher to
 * use in their options (contract: dispatcher.md 16).
 */
import type { Duplex } from 'node:stream'
import type { ConnectCallback, ConnectData, ConnectOptions } from '../api/connect.ts'
import type { PipelineHandlerFunction, PipelineOptions } from '../api/pipeline.ts'
import type { RawRequestOptions, RequestCallback, RequestOptions, ResponseData } from '../api/request.ts'
import type { StreamCallback, StreamData, StreamFactory, StreamOptions } from '../api/stream.ts'
import type { UpgradeCallback, UpgradeData, UpgradeOptions } from '../api/upgrade.ts'
import { type OriginProblem, originWithin, parseOrigin } from '../base/origin.ts'
import { withoutPollution } from '../base/own-options.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { HttpMethod } from '../request/dispatch-options.ts'
import { Dispatcher } from './dispatcher.ts'
import { getGlobalDispatcher } from './global.ts'

/** A URL, or an object with the parts of one, which then serves as the options, too. */
export type UrlInput = string | URL | UrlParts

/** The parts of a URL. */
export interface UrlParts {
  /** Instead of protocol, host name and port. */
  origin?: string | null | undefined
  /** `http:` or `https:`. */
  protocol?: string | null | undefined
  /** A name, or an address. */
  hostname?: string | null | undefined
  /** Default: that of the protocol. */
  port?: string | number | null | undefined
  /** With the query; instead of `pathname` and `search`. */
  path?: string | null | undefined
  /** Without the query. */
  pathname?: string | null | undefined
  /** The query with its question mark. */
  search?: string | null | undefined
}

/** The options of a method without what the URL says; GET, or PUT with a body, unless told otherwise. */
export type WithUrl<T> = Omit<T, 'origin' | 'path' | 'method'> & {
  /** Who sends it. Default: the global dispatcher. */
  dispatcher?: Dispatcher | null | undefined
  /** Instead of the URL's, which then has none. */
  path?: string | null | undefined
  /** Default: GET, or PUT with a body. */
  method?: HttpMethod | null | undefined
}

type Method = 'request' | 'stream' | 'pipeline' | 'connect' | 'upgrade'

/**
 * Sends a request and gives its response as soon as the head is there.
 *
 * @example
 * const { statusCode, body } = await request('https://example.com')
 */
export function request(url: UrlInput, callback: RequestCallback): void
export function request<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<RequestOptions<TOpaque>> | null | undefined,
  callback: RequestCallback<TOpaque>,
): void
export function request<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<RawRequestOptions<TOpaque>>,
): Promise<ResponseData<TOpaque, string[]>>
export function request<TOpaque = null>(
  url: UrlInput,
  opts?: WithUrl<RequestOptions<TOpaque>>,
): Promise<ResponseData<TOpaque>>
export function request(url: UrlInput, ...rest: unknown[]): unknown {
  return call('request', url, rest)
}

/** Sends a request and writes the response body to the Writable that `factory` returns for its head. */
export function stream(url: UrlInput, factory: StreamFactory): Promise<StreamData>
export function stream<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<StreamOptions<TOpaque>> | null | undefined,
  factory: StreamFactory<TOpaque>,
  callback: StreamCallback<TOpaque>,
): void
export function stream<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<StreamOptions<TOpaque>> | null | undefined,
  factory: StreamFactory<TOpaque>,
): Promise<StreamData<TOpaque>>
export function stream(url: UrlInput, ...rest: unknown[]): unknown {
  return call('stream', url, rest)
}

/** A Duplex: written to, it is the request body; read from, it is what `handler` makes of the response. */
export function pipeline<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<PipelineOptions<TOpaque>> | null | undefined,
  handler: PipelineHandlerFunction<TOpaque>,
): Duplex
export function pipeline(url: UrlInput, handler: PipelineHandlerFunction): Duplex
export function pipeline(url: UrlInput, ...rest: unknown[]): unknown {
  return call('pipeline', url, rest)
}

/** Sends CONNECT for `opts.path`; gives the socket, which then belongs to the caller. */
export function connect(url: UrlInput, callback: ConnectCallback): void
export function connect<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<ConnectOptions<TOpaque>> | null | undefined,
  callback: ConnectCallback<TOpaque>,
): void
export function connect<TOpaque = null>(
  url: UrlInput,
  opts?: WithUrl<ConnectOptions<TOpaque>>,
): Promise<ConnectData<TOpaque>>
export function connect(url: UrlInput, ...rest: unknown[]): unknown {
  return call('connect', url, rest)
}

/** Asks to switch protocols; gives the socket, which then belongs to the caller. */
export function upgrade(url: UrlInput, callback: UpgradeCallback): void
export function upgrade<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<UpgradeOptions<TOpaque>> | null | undefined,
  callback: UpgradeCallback<TOpaque>,
): void
export function upgrade<TOpaque = null>(
  url: UrlInput,
  opts?: WithUrl<UpgradeOptions<TOpaque>>,
): Promise<UpgradeData<TOpaque>>
export function upgrade(url: UrlInput, ...rest: unknown[]): unknown {
  return call('upgrade', url, rest)
}

function call(method: Method, url: UrlInput, args: unknown[]): unknown {
  const [opts, ...rest] = typeof args[0] === 'function' ? [null, ...args] : args
  const [dispatcher, options] = resolve(method, url, opts)
  // Also for an object that has nothing but `dispatch`: the five methods need no more than that.
  const invoke = Dispatcher.prototype[method] as (this: unknown, ...args: unknown[]) => unknown
  return invoke.call(dispatcher, options, ...rest)
}

function resolve(method: Method, url: UrlInput, opts: unknown): [dispatcher: Dispatcher, options: object] {
  if (!url || (typeof url !== 'string' && typeof url !== 'object'))
    throw new InvalidArgumentError('invalid url')
  if (opts !== null && opts !== undefined && typeof opts !== 'object') {
    throw new InvalidArgumentError('invalid opts')
  }
  const given = { ...((opts ?? (typeof url === 'object' ? url : {})) as WithUrl<RequestOptions>) }
  const own = withoutPollution(given) as typeof given & { agent?: unknown }
  const { dispatcher, agent, ...options } = own
  if (agent) throw new InvalidArgumentError('unsupported opts.agent. Did you mean opts.client?')
  const path = withoutPollution(opts as { path?: unknown } | null | undefined)?.path ?? null
  if (path !== null && typeof path !== 'string') throw new InvalidArgumentError('invalid opts.path')
  const place = path === null ? splitUrl(url) : { origin: originOf(url), path }
  const resolved = {
    ...options,
    origin: place.origin,
    // The target of a CONNECT is no path.
    path: method === 'connect' || place.path.startsWith('/') ? place.path : `/${place.path}`,
    method: own.method || (own.body ? 'PUT' : 'GET'),
  }
  return [dispatcher || getGlobalDispatcher(), resolved]
}

function splitUrl(url: UrlInput): { origin: string; path: string } {
  if (typeof url === 'string') return splitUrl(new URL(url))
  if (url instanceof URL) return { origin: originOfUrl(url), path: url.pathname + url.search }
  const part = (name: keyof UrlParts): unknown =>
    // A polluted `Object.prototype` must not choose the place; getters of URL-like classes are fine.
    name in Object.prototype && !Object.hasOwn(url, name) ? null : url[name]
  const text = (name: keyof UrlParts): string =>
    typeof part(name) === 'string' ? (part(name) as string) : ''
  const origin = originOf({
    origin: part('origin'),
    protocol: part('protocol'),
    hostname: part('hostname'),
    port: part('port'),
    // What is no string is for the checks of the origin to refuse.
    path: text('path') === '' ? part('path') : null,
    pathname: text('pathname') === '' ? part('pathname') : null,
  })
  return { origin, path: text('path') || `${text('pathname') || '/'}${text('search')}` }
}

function originOfUrl(url: URL): string {
  if (Object.getPrototypeOf(url) === URL.prototype) return checked(originWithin(url))
  const { protocol, hostname, port } = url
  return originOf({ protocol, hostname, port })
}

function originOf(url: string | object): string {
  return checked(parseOrigin(url)).origin
}

function checked<T extends string | object>(origin: T | OriginProblem): T {
  if (typeof origin === 'object' && 'problem' in origin) throw new InvalidArgumentError(origin.problem)
  return origin as T
}
