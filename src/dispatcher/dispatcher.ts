/**
 * The base class of everything that sends requests. A subclass implements `dispatch`; request, stream,
 * pipeline, connect and upgrade are built on that alone.
 */
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { type ConnectCallback, type ConnectData, type ConnectOptions, connectOn } from '../api/connect.ts'
import {
  type PipelineHandlerData,
  type PipelineHandlerFunction,
  type PipelineOptions,
  pipelineOn,
} from '../api/pipeline.ts'
import {
  type HeadersForm,
  type RequestCallback,
  type RequestOptions,
  type RequestOptionsOf,
  type ResponseData,
  type ResponseDataOf,
  requestOn,
} from '../api/request.ts'
import { ownCall } from '../api/request-names.ts'
import {
  type StreamCallback,
  type StreamData,
  type StreamFactory,
  type StreamFactoryData,
  type StreamOptions,
  streamOn,
} from '../api/stream.ts'
import { type UpgradeCallback, type UpgradeData, type UpgradeOptions, upgradeOn } from '../api/upgrade.ts'
import { defineKind } from '../base/object/kind.ts'
import type { BodyMixin } from '../body/readable.ts'
import type { UndiciError } from '../errors.ts'
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../request/dispatch-handler.ts'
import type { DispatchOptions, HttpMethod } from '../request/dispatch-options.ts'
import { compose, type Dispatch, type Interceptor, type InterceptorInput, type OwnOrigin } from './compose.ts'
import type { ConnectionSnapshot } from './connection-snapshot.ts'

/** Called when `close()` or `destroy()` has completed. */
export type CloseCallback = (error: Error | null, data: null) => void

/** The events of a dispatcher, with their arguments. */
export interface DispatcherEvents {
  /** A socket is connected. */
  connect: [origin: URL, targets: readonly Dispatcher[]]
  /** A connection has ended; the error is the reason. */
  disconnect: [origin: URL, targets: readonly Dispatcher[], error: UndiciError]
  /** A connection could not be opened. */
  connectionError: [origin: URL, targets: readonly Dispatcher[], error: UndiciError]
  /** There is room for requests again. */
  drain: [origin: URL, targets: readonly Dispatcher[]]
  /** An exception in a caller's handler that no other call could report. */
  error: [error: Error]
  /** An HTTP/2 PING was answered after this many milliseconds. */
  ping: [milliseconds: number]
}

type EventName = keyof DispatcherEvents
type Listener<E extends EventName> = (...args: DispatcherEvents[E]) => void
type AnyListener = Parameters<EventEmitter['on']>[1]
type AnyListeners = ReturnType<EventEmitter['listeners']>

export interface Dispatcher {
  on<E extends EventName>(event: E, listener: Listener<E>): this
  on(event: string | symbol, listener: AnyListener): this
  once<E extends EventName>(event: E, listener: Listener<E>): this
  once(event: string | symbol, listener: AnyListener): this
  off<E extends EventName>(event: E, listener: Listener<E>): this
  off(event: string | symbol, listener: AnyListener): this
  addListener<E extends EventName>(event: E, listener: Listener<E>): this
  addListener(event: string | symbol, listener: AnyListener): this
  removeListener<E extends EventName>(event: E, listener: Listener<E>): this
  removeListener(event: string | symbol, listener: AnyListener): this
  prependListener<E extends EventName>(event: E, listener: Listener<E>): this
  prependListener(event: string | symbol, listener: AnyListener): this
  prependOnceListener<E extends EventName>(event: E, listener: Listener<E>): this
  prependOnceListener(event: string | symbol, listener: AnyListener): this
  listeners<E extends EventName>(event: E): Listener<E>[]
  listeners(event: string | symbol): AnyListeners
  rawListeners<E extends EventName>(event: E): Listener<E>[]
  rawListeners(event: string | symbol): AnyListeners
}

/**
 * The base class of everything that sends requests: a subclass implements `dispatch`, and gets the other
 * methods with it.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only types what EventEmitter has
export class Dispatcher extends EventEmitter {
  /**
   * Queues a request and calls the handler as it proceeds. Returns false when the dispatcher is busy: the
   * request is accepted all the same, and `drain` is emitted when there is room again.
   */
  dispatch(_opts: DispatchOptions, _handler: DispatchHandler | LegacyDispatchHandler): boolean {
    throw new Error('not implemented')
  }

  /** Takes no new requests; completes when the queued ones are done. */
  close(callback: CloseCallback): void
  close(): Promise<void>
  close(_callback?: CloseCallback): Promise<void> | void {
    throw new Error('not implemented')
  }

  /** Fails everything that is queued or running; completes when the connection is closed. */
  destroy(error: Error | null | undefined, callback: CloseCallback): void
  destroy(callback: CloseCallback): void
  destroy(error?: Error | null): Promise<void>
  destroy(_error?: Error | null | CloseCallback, _callback?: CloseCallback): Promise<void> | void {
    throw new Error('not implemented')
  }

  /**
   * For `await using`: the same as `destroy()`, since the block that started the requests has ended. The
   * types have it from `LifecycleDispatcher` on: a dispatcher of undici is one of ours, and has no such
   * method.
   *
   * @internal
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }

  /**
   * The connections that there are now. The types have it from `LifecycleDispatcher` on, as those of
   * `Symbol.asyncDispose`; one that a caller has written has none that are known.
   *
   * @internal
   */
  connections(): ConnectionSnapshot[] {
    return []
  }

  /**
   * A view of this dispatcher that sends requests through interceptors; the last one given sees a request
   * first. The original stays unchanged.
   */
  compose(interceptors: readonly InterceptorInput[]): this
  compose(...interceptors: InterceptorInput[]): this
  compose(...interceptors: (InterceptorInput | readonly InterceptorInput[])[]): this {
    return compose(
      this,
      (Array.isArray(interceptors[0]) ? interceptors[0] : interceptors) as InterceptorInput[],
      this.composedOrigin(),
    )
  }

  /**
   * The origin that `compose` passes to interceptors, also as `opts.origin` when the caller gave none.
   *
   * @internal
   */
  composedOrigin(): OwnOrigin {
    return undefined
  }

  /**
   * Sends a request and returns its response as soon as the head has arrived. The body must be consumed,
   * dumped or destroyed.
   *
   * @example
   * const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
   * const value = await body.json()
   */
  request<TOpaque = null, TForm extends HeadersForm = HeadersForm>(
    opts: RequestOptionsOf<TOpaque, TForm>,
    callback: RequestCallback<TOpaque, ResponseDataOf<TOpaque, TForm>>,
  ): void
  // The last overload is the one that `ReturnType` and mocks see.
  request<TOpaque = null, TForm extends HeadersForm = HeadersForm>(
    opts: RequestOptionsOf<TOpaque, TForm>,
  ): Promise<ResponseDataOf<TOpaque, TForm>>
  request<TOpaque>(
    opts: RequestOptions<TOpaque>,
    callback?: RequestCallback<TOpaque>,
  ): Promise<ResponseData<TOpaque>> | void {
    const called = Dispatcher.prototype.request
    return requestOn(this, ownCall(opts, called), callback, called)
  }

  /**
   * Sends a request and writes the response body to the Writable that `factory` returns for its head.
   *
   * @example
   * await client.stream({ path: '/', method: 'GET' }, () => createWriteStream('page.html'))
   */
  stream<TOpaque = null>(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
    callback: StreamCallback<TOpaque>,
  ): void
  stream<TOpaque = null>(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
  ): Promise<StreamData<TOpaque>>
  stream<TOpaque>(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
    callback?: StreamCallback<TOpaque>,
  ): Promise<StreamData<TOpaque>> | void {
    const called = Dispatcher.prototype.stream
    return streamOn(this, ownCall(opts, called), factory, callback, called)
  }

  /**
   * Returns a Duplex: its writable side is the request body, its readable side is the stream that `handler`
   * returns.
   */
  pipeline<TOpaque = null>(
    opts: PipelineOptions<TOpaque>,
    handler: PipelineHandlerFunction<TOpaque>,
  ): Duplex {
    const called = Dispatcher.prototype.pipeline
    return pipelineOn(this, ownCall(opts, called), handler, called)
  }

  /** Sends CONNECT and returns the socket, which then belongs to the caller. */
  connect<TOpaque = null>(opts: ConnectOptions<TOpaque>, callback: ConnectCallback<TOpaque>): void
  connect<TOpaque = null>(opts: ConnectOptions<TOpaque>): Promise<ConnectData<TOpaque>>
  connect<TOpaque>(
    opts: ConnectOptions<TOpaque>,
    callback?: ConnectCallback<TOpaque>,
  ): Promise<ConnectData<TOpaque>> | void {
    const called = Dispatcher.prototype.connect
    return connectOn(this, ownCall(opts, called), callback, called)
  }

  /** Asks to switch protocols and returns the socket, which then belongs to the caller. */
  upgrade<TOpaque = null>(opts: UpgradeOptions<TOpaque>, callback: UpgradeCallback<TOpaque>): void
  upgrade<TOpaque = null>(opts: UpgradeOptions<TOpaque>): Promise<UpgradeData<TOpaque>>
  upgrade<TOpaque>(
    opts: UpgradeOptions<TOpaque>,
    callback?: UpgradeCallback<TOpaque>,
  ): Promise<UpgradeData<TOpaque>> | void {
    const called = Dispatcher.prototype.upgrade
    return upgradeOn(this, ownCall(opts, called), callback, called)
  }
}

defineKind(Dispatcher, 'ventuno.Dispatcher')

/** The types under the names that programs written for undici use. */
export declare namespace Dispatcher {
  export interface ComposedDispatcher extends Dispatcher {}
  export type {
    BodyMixin,
    ConnectData,
    ConnectOptions,
    Dispatch,
    DispatchController,
    DispatchHandler,
    DispatchOptions,
    HttpMethod,
    Interceptor as DispatcherComposeInterceptor,
    Interceptor as DispatchInterceptor,
    PipelineHandlerData,
    PipelineHandlerFunction as PipelineHandler,
    PipelineOptions,
    RequestOptions,
    ResponseData,
    StreamData,
    StreamFactory,
    StreamFactoryData,
    StreamOptions,
    UpgradeData,
    UpgradeOptions,
  }
}
