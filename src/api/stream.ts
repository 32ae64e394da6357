/**
 * `stream()`: writes the response body to a Writable that the caller creates for it.
 */
import { AsyncResource } from 'node:async_hooks'
import { finished } from 'node:stream'
import { destroyQuietly, ignoreError } from '../base/error/ignore-error.ts'
import type { PublicFunction } from '../base/error/public-call.ts'
import { runtimeSetImmediate } from '../base/loop/runtime-turns.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { throwLater } from '../base/loop/throw-later.ts'
import { coverPollution } from '../base/object/own-options.ts'
import {
  InvalidArgumentError,
  InvalidReturnValueError,
  RequestAbortedError,
  type Timings,
} from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { DiscardedBody } from '../relay/discarded-body.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import { copyFields } from '../request/received-fields.ts'
import {
  ApiHandler,
  type ApiOptions,
  checkResponseOptions,
  type InfoCallback,
  type ReceivedTrailers,
  type ResponseHead,
} from './api-handler.ts'
import { Answered, type ApiCallback, answerWith, type Reject, type Resolve } from './settlement.ts'

/** Options of `stream()`. */
export interface StreamOptions<TOpaque = null> extends DispatchOptions, ApiOptions<TOpaque> {
  /** Called for each informational response but 100 and 101. */
  onInfo?: InfoCallback | null | undefined
}

/** The response head, as the factory sees it. */
export interface StreamFactoryData<TOpaque = null> extends ResponseHead<TOpaque> {}

/** Synchronously returns the Writable for the body. */
export type StreamFactory<TOpaque = null> = (data: StreamFactoryData<TOpaque>) => NodeJS.WritableStream

/** Called once, with an error or when everything was written. */
export type StreamCallback<TOpaque = null> = ApiCallback<StreamData<TOpaque>, TOpaque>

/** A response whose body was written. */
export interface StreamData<TOpaque = null> {
  /** The value of `opts.opaque`; null for a falsy one. */
  opaque: TOpaque
  /** By lower-case name. */
  trailers: ReceivedTrailers
  /** When each step happened. Null from other dispatchers. */
  readonly timings: Timings | null
}

const StreamData = class extends Answered {}

/** Any Writable. Only Node's own are sure to have the optional members. */
interface Target extends NodeJS.WritableStream {
  readonly readable?: boolean
  readonly destroyed?: boolean
  readonly writableFinished?: boolean
  readonly writableNeedDrain?: boolean
  /** Of streams from before `writableNeedDrain`. */
  readonly _writableState?: { readonly needDrain?: boolean }
  destroy?(error?: unknown): unknown
}

function isTarget(value: unknown): value is Target {
  if (typeof value !== 'object' || value === null) return false
  const { write, end, on } = value as Partial<Target>
  return typeof write === 'function' && typeof end === 'function' && typeof on === 'function'
}

class StreamHandler<TOpaque> extends ApiHandler<TOpaque> {
  declare protected readonly opts: StreamOptions<TOpaque>
  declare protected readonly resource: AsyncResource
  readonly #factory: StreamFactory<TOpaque>
  readonly #resolve: Resolve<StreamData<TOpaque>>
  readonly #reject: Reject
  readonly #opaque: TOpaque
  readonly #trailers: HeaderObject = {}
  #timings: Timings | null = null
  #settled = false
  /** Null before the head, and again when the Writable is done. */
  #target: Target | null = null
  /** Null unless the Writable has ended before the response. */
  #rest: DiscardedBody | null = null
  /**
   * A failure after the Writable closed by itself: the Writable's own error follows, and is reported instead.
   */
  #explained: { readonly error: unknown } | null = null

  constructor(
    opts: StreamOptions<TOpaque>,
    factory: StreamFactory<TOpaque>,
    resolve: Resolve<StreamData<TOpaque>>,
    reject: Reject,
  ) {
    super(opts, new AsyncResource('UNDICI_STREAM'))
    if (typeof factory !== 'function') throw new InvalidArgumentError('invalid factory')
    checkResponseOptions(opts)
    this.#factory = factory
    this.#opaque = this.opaque
    this.#resolve = resolve
    this.#reject = reject
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.failed) return
    this.controller = controller
    if (this.#target === null) this.#rest?.take(chunk.length)
    else if (this.#target.write(chunk) === false) this.pause()
  }

  /** The signal stays connected until the Writable has finished, which may never happen. */
  protected override onFinalEnd(trailers: HeaderObject): void {
    this.#rest?.stop()
    copyFields(this.#trailers, trailers)
    this.#target?.end()
  }

  protected override withdraw(reason: unknown): void {
    // Everything was written; only `close` is missing.
    if (this.#target?.writableFinished === true) this.#onFinished(this.#target, null)
    else super.withdraw(reason)
  }

  protected override onFailure(error: unknown): void {
    this.#rest?.stop()
    const target = this.#target
    this.#target = null
    if (target?.destroyed === true && !this.#settled) {
      // It closed by itself, and a listener may have aborted because of that. Its own error is the cause.
      this.#explained = { error }
      runtimeSetImmediate(() => this.#explain(error))
      return
    }
    destroyQuietly(target, error)
    if (!this.#settled) this.#reject(error)
  }

  /** Nobody gets the rest of the response, but it must be read for the connection to be free. */
  #discardRest(): void {
    this.#rest = new DiscardedBody(() => this.fail(new RequestAbortedError()))
    this.#rest.begin(null, true)
    this.resume()
  }

  #explain(error: unknown): void {
    if (this.#explained === null) return
    this.#explained = null
    this.#reject(error)
  }

  protected override onFinalHead(statusCode: number, headers: HeaderObject): void {
    this.hasResponse = true
    this.#timings = this.controller!.timings ?? null
    const target: unknown = this.resource.runInAsyncScope(this.#factory, null, {
      statusCode,
      headers: this.present(headers),
      opaque: this.#opaque,
      context: this.context,
    })
    if (!isTarget(target)) {
      ignoreRejection(target)
      throw new InvalidReturnValueError('expected Writable')
    }
    if (this.failed) {
      // The factory aborted the signal.
      target.on('error', ignoreError)
      destroyQuietly(target, new RequestAbortedError())
      return
    }
    try {
      target.on('drain', () => this.resume())
      finished(target, coverPollution({ readable: false }), (error) => this.#onFinished(target, error))
    } catch (error) {
      // Nobody listens to its errors.
      destroyQuietly(target)
      throw error
    }
    this.#target = target
    if ((target.writableNeedDrain ?? target._writableState?.needDrain) === true) this.pause()
  }

  #onFinished(target: Target, error: Error | null | undefined): void {
    if (this.#target === null) {
      this.#explain(error ?? this.#explained?.error)
      return
    }
    if (error) {
      this.fail(error)
      return
    }
    this.#target = null
    this.release()
    if (!target.readable) destroyQuietly(target)
    this.#settled = true
    if (!this.isComplete) this.#discardRest()
    try {
      const data = { opaque: this.#opaque, trailers: this.#trailers as ReceivedTrailers }
      this.#resolve(Object.assign(new StreamData(this.#timings), data))
    } catch (thrown) {
      // A callback threw it. A Writable may finish inside `end()`, and then it would reach the dispatcher.
      throwLater(thrown)
    }
  }
}

export function streamOn<TOpaque>(
  dispatcher: Dispatching,
  opts: StreamOptions<TOpaque>,
  factory: StreamFactory<TOpaque>,
  callback: StreamCallback<TOpaque> | undefined,
  called: PublicFunction,
): Promise<StreamData<TOpaque>> | undefined {
  const start = (resolve: Resolve<StreamData<TOpaque>>, reject: Reject): void =>
    new StreamHandler(opts, factory, resolve, reject).start(dispatcher, opts)
  return answerWith('UNDICI_STREAM', dispatcher, opts, callback, start, called)
}
