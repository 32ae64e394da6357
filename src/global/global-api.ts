/**
 * `request`, `stream`, `pipeline`, `connect` and `upgrade` as functions that take a URL, and in their options
 * the dispatcher to use. An object that has nothing but `dispatch` will do.
 */

import type { Duplex } from 'node:stream'
import { type ConnectCallback, type ConnectData, type ConnectOptions, connectOn } from '../api/connect.ts'
import { type PipelineHandlerFunction, type PipelineOptions, pipelineOn } from '../api/pipeline.ts'
import {
  type HeadersForm,
  type RequestCallback,
  type RequestOptions,
  type RequestOptionsOf,
  type ResponseData,
  type ResponseDataOf,
  requestOn,
} from '../api/request.ts'
import { checkNames } from '../api/request-names.ts'
import {
  type StreamCallback,
  type StreamData,
  type StreamFactory,
  type StreamOptions,
  streamOn,
} from '../api/stream.ts'
import { type UpgradeCallback, type UpgradeData, type UpgradeOptions, upgradeOn } from '../api/upgrade.ts'
import { fieldOf, originWithin, textOf } from '../base/address/origin.ts'
import { parseUrl } from '../base/address/parse-url.ts'
import { atCaller, type PublicFunction } from '../base/error/public-call.ts'
import { withoutPollution } from '../base/object/own-options.ts'
import { checkedOrigin } from '../dispatcher/checked-origin.ts'
import { InvalidArgumentError } from '../errors.ts'
import type { DispatchOptions, HttpMethod } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { getGlobalDispatcher } from './global-dispatcher.ts'

/** A URL, or an object with the parts of one, which then serves as the options as well. */
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

/** The options of a method without the parts in the URL. The default method is GET, or PUT with a body. */
export type WithUrl<T> = Omit<T, 'origin' | 'path' | 'method'> & {
  /** Sends the request. Default: the global dispatcher. */
  dispatcher?: Dispatching | null | undefined
  /** Instead of the path in the URL, which then must not have one. */
  path?: string | null | undefined
  /** Default: GET, or PUT with a body. */
  method?: HttpMethod | null | undefined
}

type Given<T> = WithUrl<T> | null | undefined

/**
 * Sends a request and returns its response as soon as the head has arrived.
 *
 * @example
 * const { statusCode, body } = await request('https://example.com')
 */
export function request<TOpaque = null, TForm extends HeadersForm = HeadersForm>(
  url: UrlInput,
  opts: WithUrl<RequestOptionsOf<TOpaque, TForm>> | null | undefined,
  callback: RequestCallback<TOpaque, ResponseDataOf<TOpaque, TForm>>,
): void
export function request<TOpaque = null, TForm extends HeadersForm = HeadersForm>(
  url: UrlInput,
  opts?: WithUrl<RequestOptionsOf<TOpaque, TForm>>,
): Promise<ResponseDataOf<TOpaque, TForm>>
export function request<TOpaque>(
  url: UrlInput,
  opts?: Given<RequestOptions<TOpaque>> | RequestCallback<TOpaque>,
  callback?: RequestCallback<TOpaque>,
): Promise<ResponseData<TOpaque>> | void {
  if (typeof opts === 'function') {
    return requestOn(...target<RequestOptions<TOpaque>>(url, null, request), opts, request)
  }
  return requestOn(...target(url, opts, request), callback, request)
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
export function stream<TOpaque>(
  url: UrlInput,
  opts: Given<StreamOptions<TOpaque>> | StreamFactory<TOpaque>,
  factory?: StreamFactory<TOpaque> | StreamCallback<TOpaque>,
  callback?: StreamCallback<TOpaque>,
): Promise<StreamData<TOpaque>> | void {
  if (typeof opts === 'function') {
    const callback = factory as StreamCallback<TOpaque>
    return streamOn(...target<StreamOptions<TOpaque>>(url, null, stream), opts, callback, stream)
  }
  return streamOn(...target(url, opts, stream), factory as StreamFactory<TOpaque>, callback, stream)
}

/**
 * Returns a Duplex: its writable side is the request body, its readable side is the stream that `handler`
 * returns.
 */
export function pipeline<TOpaque = null>(
  url: UrlInput,
  opts: WithUrl<PipelineOptions<TOpaque>> | null | undefined,
  handler: PipelineHandlerFunction<TOpaque>,
): Duplex
export function pipeline(url: UrlInput, handler: PipelineHandlerFunction): Duplex
export function pipeline<TOpaque>(
  url: UrlInput,
  opts: Given<PipelineOptions<TOpaque>> | PipelineHandlerFunction<TOpaque>,
  handler?: PipelineHandlerFunction<TOpaque>,
): Duplex {
  if (typeof opts === 'function') {
    return pipelineOn(...target<PipelineOptions<TOpaque>>(url, null, pipeline), opts, pipeline)
  }
  return pipelineOn(...target(url, opts, pipeline), handler!, pipeline)
}

/** Sends CONNECT for `opts.path` and returns the socket, which then belongs to the caller. */
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
export function connect<TOpaque>(
  url: UrlInput,
  opts?: Given<ConnectOptions<TOpaque>> | ConnectCallback<TOpaque>,
  callback?: ConnectCallback<TOpaque>,
): Promise<ConnectData<TOpaque>> | void {
  if (typeof opts === 'function') {
    return connectOn(...target<ConnectOptions<TOpaque>>(url, null, connect, false), opts, connect)
  }
  return connectOn(...target(url, opts, connect, false), callback, connect)
}

/** Asks to switch protocols and returns the socket, which then belongs to the caller. */
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
export function upgrade<TOpaque>(
  url: UrlInput,
  opts?: Given<UpgradeOptions<TOpaque>> | UpgradeCallback<TOpaque>,
  callback?: UpgradeCallback<TOpaque>,
): Promise<UpgradeData<TOpaque>> | void {
  if (typeof opts === 'function') {
    return upgradeOn(...target<UpgradeOptions<TOpaque>>(url, null, upgrade), opts, upgrade)
  }
  return upgradeOn(...target(url, opts, upgrade), callback, upgrade)
}

/**
 * The dispatcher to use, and the options with the place that the URL names. That of a CONNECT is not a path.
 */
function target<T extends object>(
  url: UrlInput,
  opts: Given<T>,
  called: PublicFunction,
  isPath = true,
): [dispatcher: Dispatching, options: T] {
  try {
    return readTarget(url, opts, called, isPath)
  } catch (error) {
    throw atCaller(error, called)
  }
}

function readTarget<T extends object>(
  url: UrlInput,
  opts: Given<T>,
  called: PublicFunction,
  isPath: boolean,
): [dispatcher: Dispatching, options: T] {
  if (!url || (typeof url !== 'string' && typeof url !== 'object'))
    throw new InvalidArgumentError('invalid url')
  if (opts !== null && opts !== undefined && typeof opts !== 'object') {
    throw new InvalidArgumentError('invalid opts')
  }
  checkNames(opts ?? (url instanceof URL ? null : url), called)
  const given = { ...((opts ?? (typeof url === 'object' ? url : {})) as WithUrl<DispatchOptions>) }
  const own = withoutPollution(given) as typeof given & { agent?: unknown }
  const { dispatcher, agent, ...options } = own
  if (agent) throw new InvalidArgumentError('unsupported opts.agent. Did you mean opts.client?')
  const path = withoutPollution(opts as { path?: unknown } | null | undefined)?.path ?? null
  if (path !== null && typeof path !== 'string') throw new InvalidArgumentError('invalid opts.path')
  const place = path === null ? splitUrl(url) : { origin: checkedOrigin(url).origin, path }
  const resolved = {
    ...options,
    origin: place.origin,
    path: isPath && !place.path.startsWith('/') ? `/${place.path}` : place.path,
    method: own.method || (own.body ? 'PUT' : 'GET'),
  }
  return [dispatcher || getGlobalDispatcher(), withoutPollution(resolved) as object as T]
}

function splitUrl(url: UrlInput): { origin: string; path: string } {
  if (typeof url === 'string') return splitUrl(parseUrl(url))
  if (url instanceof URL) return { origin: originOfUrl(url), path: url.pathname + url.search }
  const path = textOf(url, 'path')
  const pathname = textOf(url, 'pathname')
  const { origin } = checkedOrigin({
    origin: fieldOf(url, 'origin'),
    protocol: fieldOf(url, 'protocol'),
    hostname: fieldOf(url, 'hostname'),
    port: fieldOf(url, 'port'),
    // The checks of the origin refuse anything but a string.
    path: path === '' ? fieldOf(url, 'path') : null,
    pathname: pathname === '' ? fieldOf(url, 'pathname') : null,
  })
  return { origin, path: path || `${pathname || '/'}${textOf(url, 'search')}` }
}

function originOfUrl(url: URL): string {
  if (Object.getPrototypeOf(url) === URL.prototype) {
    const origin = originWithin(url)
    if (typeof origin === 'object') throw new InvalidArgumentError(origin.problem)
    return origin
  }
  const { protocol, hostname, port } = url
  return checkedOrigin({ protocol, hostname, port }).origin
}
