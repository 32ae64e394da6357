/**
 * `request()`: answers with the response head and a body that is read later.
 */
import { AsyncResource } from 'node:async_hooks'
import type { PublicFunction } from '../base/error/public-call.ts'
import { type Answer, addCaller, answerCaller, removeCaller } from '../base/loop/answers.ts'
import { throwLater } from '../base/loop/throw-later.ts'
import type { BodySource } from '../body/incoming.ts'
import { BodyReadable } from '../body/readable.ts'
import { InvalidArgumentError, type Timings } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
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
  type RequestContext,
  type ResponseHead,
} from './api-handler.ts'
import { type ApiCallback, answerWith, type Reject, type Resolve } from './settlement.ts'

/** Bytes of an unread body that are held before the connection is paused. */
const DEFAULT_HIGH_WATER_MARK = 65_536

/** Options of `request()`. */
export interface RequestOptions<TOpaque = null> extends DispatchOptions, ApiOptions<TOpaque> {
  /** Called for each informational response but 100 and 101. */
  onInfo?: InfoCallback | null | undefined
  /** Bytes of body to hold unread before the connection is paused. Default: 65536. */
  highWaterMark?: number | null | undefined
}

/** Options that ask for the headers as a flat list. */
export interface RawRequestOptions<TOpaque = null> extends RequestOptionsOf<TOpaque, 'raw'> {
  responseHeaders: 'raw'
}

/** What `responseHeaders` may be. */
export type HeadersForm = 'raw' | null | undefined

/** `Raw` if the headers are known to be a flat list, else `Other`. */
type ByForm<TForm, Raw, Other> = null extends TForm ? Other : undefined extends TForm ? Other : Raw

/** Options by the form of headers that they ask for. */
export interface RequestOptionsOf<TOpaque, TForm extends HeadersForm>
  extends Omit<RequestOptions<TOpaque>, 'onInfo' | 'responseHeaders'> {
  /** Called for each informational response but 100 and 101. */
  onInfo?: ByForm<TForm, InfoCallback<string[]>, InfoCallback> | null | undefined
  /** `'raw'` gives response headers as a flat list of names and values, as received. */
  responseHeaders?: TForm | undefined
}

/** Called once, with an error or with the response. */
export type RequestCallback<TOpaque = null, TData = ResponseData<TOpaque>> = ApiCallback<TData, TOpaque>

/** A response: its head, and a body that is still to be read. */
export interface ResponseData<TOpaque = null> extends ResponseHead<TOpaque> {
  /** The reason phrase as sent. */
  statusText: string
  /** Filled before the body ends. */
  trailers: ReceivedTrailers
  /** Must be consumed, dumped or destroyed. */
  body: BodyReadable
  /** When each step happened; completed when the body has ended. Null from other dispatchers. */
  readonly timings: Timings | null
}

/** A response to a request with `responseHeaders: 'raw'`. */
export interface RawResponseData<TOpaque = null> extends Omit<ResponseData<TOpaque>, 'headers'> {
  /** A flat list of names and values. */
  headers: string[]
}

/**
 * The response by the form of its headers. When the compiler compares overloads, it puts `any` in place of
 * type parameters; the response is then `any`, too, because in undici's types `body.body` is `never`, which
 * no type of ours matches.
 */
export type ResponseDataOf<TOpaque, TForm extends HeadersForm> = 0 extends 1 & TOpaque
  ? // biome-ignore lint/suspicious/noExplicitAny: see above
    any
  : ByForm<TForm, RawResponseData<TOpaque>, ResponseData<TOpaque>>

/** Not derived from `Answered`: that would cost a tenth of what `request()` itself takes. */
const ResponseData = class {
  readonly #timings: Timings | null

  constructor(timings: Timings | null | undefined) {
    this.#timings = timings ?? null
  }

  get timings(): Timings | null {
    return this.#timings
  }
}

class RequestHandler<TOpaque> extends ApiHandler<TOpaque> implements BodySource, Answer {
  declare protected readonly opts: RequestOptions<TOpaque>
  readonly #resolve: Resolve<ResponseData<TOpaque>>
  readonly #reject: Reject
  /** Handed out with the final head, filled at the end. */
  #trailers: HeaderObject | null = null
  /** Null before the head, and after the body was read or destroyed. */
  #body: BodyReadable | null = null
  /** The response, until it is delivered. */
  #answer: ResponseData<TOpaque> | null = null

  constructor(opts: RequestOptions<TOpaque>, resolve: Resolve<ResponseData<TOpaque>>, reject: Reject) {
    super(opts, opts.onInfo ? new AsyncResource('UNDICI_REQUEST') : null)
    const highWaterMark = opts.highWaterMark ?? DEFAULT_HIGH_WATER_MARK
    if (!Number.isFinite(highWaterMark) || highWaterMark < 0) {
      throw new InvalidArgumentError('invalid highWaterMark')
    }
    checkResponseOptions(opts)
    this.#resolve = resolve
    this.#reject = reject
    addCaller()
  }

  protected override onFinalHead(statusCode: number, headers: HeaderObject, statusText: string): void {
    const { opts } = this
    // A getter of the options or of a foreign controller may throw: until there is a body, that rejects the
    // promise.
    const shown = this.present(headers)
    const { opaque } = this
    const answer = new ResponseData(this.controller!.timings) as object as ResponseData<TOpaque>
    const body = new BodyReadable(
      this,
      headers,
      opts.highWaterMark ?? DEFAULT_HIGH_WATER_MARK,
      opts.method === 'HEAD',
      statusCode,
      opts.path,
      opts.origin ?? this.dispatcher,
    )
    this.#body = body
    this.#trailers = {}
    this.hasResponse = true
    answer.statusCode = statusCode
    answer.statusText = statusText
    answer.headers = shown
    answer.trailers = this.#trailers as ReceivedTrailers
    answer.opaque = opaque
    answer.body = body
    answer.context = this.context as RequestContext
    this.#answer = answer
    answerCaller(this)
  }

  deliver(): void {
    const answer = this.#answer
    if (answer === null) return
    // Read first: the caller may change the object.
    const { body } = answer
    this.#answer = null
    try {
      this.#resolve(answer)
    } catch (error) {
      body.destroy(error as Error)
      throwLater(error)
    }
    if (this.controller === null) this.#unfollowSignal()
  }

  /** An abort before the delivery of the response rejects the promise. */
  protected override withdraw(reason: unknown): void {
    if (this.#answer !== null) {
      this.#answer = null
      this.#reject(reason)
    }
    super.withdraw(reason)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.failed) return
    this.controller = controller
    this.#body?.receive(chunk)
  }

  onResponseBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    if (this.failed) return
    this.controller = controller
    this.#body?.receiveLent(memory, start, end)
  }

  protected override onFinalEnd(trailers: HeaderObject): void {
    copyFields(this.#trailers!, trailers)
    this.controller = null
    this.#body?.complete()
    if (this.#answer === null) this.#unfollowSignal()
  }

  /**
   * A body that has arrived but was not read can still be aborted, but the signal alone must not keep it
   * alive.
   */
  #unfollowSignal(): void {
    if (this.#body === null || this.#body.spent) this.release()
    else this.loosen()
  }

  /** The body was destroyed before all of it had arrived. */
  cancel(reason: unknown): void {
    this.fail(reason)
    this.spent()
  }

  /** The body is consumed or destroyed. */
  spent(): void {
    this.release()
    this.#body = null
  }

  protected override onFailure(error: unknown): void {
    if (this.hasResponse) {
      this.#body?.fail(error)
      return
    }
    removeCaller()
    this.#reject(error)
  }
}

export function requestOn<TOpaque>(
  dispatcher: Dispatching,
  opts: RequestOptions<TOpaque>,
  callback: RequestCallback<TOpaque> | undefined,
  called: PublicFunction,
): Promise<ResponseData<TOpaque>> | undefined {
  return answerWith('UNDICI_REQUEST', dispatcher, opts, callback, startRequest<TOpaque>, called)
}

function startRequest<TOpaque>(
  resolve: Resolve<ResponseData<TOpaque>>,
  reject: Reject,
  dispatcher: Dispatching,
  opts: RequestOptions<TOpaque>,
): void {
  new RequestHandler(opts, resolve, reject).start(dispatcher, opts)
}
