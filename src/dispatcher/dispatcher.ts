/**
 * The base class of everything that sends requests. All it asks of a subclass is `dispatch`; request, stream,
 * pipeline, connect and upgrade are built on that alone (contract: dispatcher.md §1–§2).
 */
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { type ConnectCallback, type ConnectData, type ConnectOptions, connect } from '../api/connect.ts'
import { type PipelineHandlerFunction, type PipelineOptions, pipeline } from '../api/pipeline.ts'
import {
  type RawRequestOptions,
  type RequestCallback,
  type RequestOptions,
  type ResponseData,
  request,
} from '../api/request.ts'
import {
  type StreamCallback,
  type StreamData,
  type StreamFactory,
  type StreamOptions,
  stream,
} from '../api/stream.ts'
import { type UpgradeCallback, type UpgradeData, type UpgradeOptions, upgrade } from '../api/upgrade.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import { compose, type InterceptorInput } from './compose.ts'

export type CloseCallback = (error: Error | null, data: null) => void

export class Dispatcher extends EventEmitter {
  /**
   * Queues a request and calls the handler as it proceeds. Returns false when the dispatcher is busy: the
   * request is accepted all the same, and `drain` says when there is room again.
   */
  dispatch(_opts: DispatchOptions, _handler: DispatchHandler | LegacyDispatchHandler): boolean {
    throw new Error('not implemented')
  }

  /** Takes no new requests; completes when the queued ones are done. */
  close(): Promise<null>
  close(callback: CloseCallback): void
  close(_callback?: CloseCallback): Promise<null> | void {
    throw new Error('not implemented')
  }

  /** Fails everything that is queued or running; completes when the connection is closed. */
  destroy(error?: Error | null): Promise<null>
  destroy(callback: CloseCallback): void
  destroy(error: Error | null | undefined, callback: CloseCallback): void
  destroy(_error?: Error | null | CloseCallback, _callback?: CloseCallback): Promise<null> | void {
    throw new Error('not implemented')
  }

  /**
   * This dispatcher seen through interceptors; the last one given sees a request first. The original stays
   * as it is.
   */
  compose(interceptors: readonly InterceptorInput[]): this
  compose(...interceptors: InterceptorInput[]): this
  compose(...interceptors: (InterceptorInput | readonly InterceptorInput[])[]): this {
    return compose(
      this,
      (Array.isArray(interceptors[0]) ? interceptors[0] : interceptors) as InterceptorInput[],
    )
  }

  /** What `compose` gives to interceptors as `opts.origin` where the caller gave none. */
  composedOrigin(): string | null {
    return null
  }

  /**
   * Sends a request and gives its response as soon as the head is there. The body must be consumed, dumped or
   * destroyed.
   *
   * @example
   * const { statusCode, body } = await client.request({ path: '/', method: 'GET' })
   * const value = await body.json()
   */
  request<TOpaque = null>(opts: RawRequestOptions<TOpaque>): Promise<ResponseData<TOpaque, string[]>>
  request<TOpaque = null>(opts: RequestOptions<TOpaque>): Promise<ResponseData<TOpaque>>
  request<TOpaque = null>(
    opts: RawRequestOptions<TOpaque>,
    callback: RequestCallback<TOpaque, string[]>,
  ): void
  request<TOpaque = null>(opts: RequestOptions<TOpaque>, callback: RequestCallback<TOpaque>): void
  request<TOpaque, THeaders>(
    opts: RequestOptions<TOpaque>,
    callback?: RequestCallback<TOpaque, THeaders>,
  ): Promise<ResponseData<TOpaque, THeaders>> | void {
    return request(this, opts, callback)
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
  ): Promise<StreamData<TOpaque>>
  stream<TOpaque = null>(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
    callback: StreamCallback<TOpaque>,
  ): void
  stream<TOpaque>(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
    callback?: StreamCallback<TOpaque>,
  ): Promise<StreamData<TOpaque>> | void {
    return stream(this, opts, factory, callback)
  }

  /** A Duplex: written to, it is the request body; read from, it is what `handler` makes of the response. */
  pipeline<TOpaque = null>(
    opts: PipelineOptions<TOpaque>,
    handler: PipelineHandlerFunction<TOpaque>,
  ): Duplex {
    return pipeline(this, opts, handler)
  }

  /** Sends CONNECT; gives the socket, which then belongs to the caller. */
  connect<TOpaque = null>(opts: ConnectOptions<TOpaque>): Promise<ConnectData<TOpaque>>
  connect<TOpaque = null>(opts: ConnectOptions<TOpaque>, callback: ConnectCallback<TOpaque>): void
  connect<TOpaque>(
    opts: ConnectOptions<TOpaque>,
    callback?: ConnectCallback<TOpaque>,
  ): Promise<ConnectData<TOpaque>> | void {
    return connect(this, opts, callback)
  }

  /** Asks to switch protocols; gives the socket, which then belongs to the caller. */
  upgrade<TOpaque = null>(opts: UpgradeOptions<TOpaque>): Promise<UpgradeData<TOpaque>>
  upgrade<TOpaque = null>(opts: UpgradeOptions<TOpaque>, callback: UpgradeCallback<TOpaque>): void
  upgrade<TOpaque>(
    opts: UpgradeOptions<TOpaque>,
    callback?: UpgradeCallback<TOpaque>,
  ): Promise<UpgradeData<TOpaque>> | void {
    return upgrade(this, opts, callback)
  }
}
