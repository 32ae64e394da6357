/** `interceptors.responseError`: a status of 400 or above fails the request. */
import { BodyBytes } from '../../base/body-bytes.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { ResponseError } from '../../errors.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import { integerFrom, option, readLoosely } from '../../options.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { DiscardedBody } from '../../relay/discarded-body.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { shownPath } from '../../request/error-context.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'
import { bodyValue } from './body-text.ts'

/** Options of `interceptors.responseError`. */
export interface ResponseErrorOptions {
  /** The most bytes of body that the error has; 0 for any number. Default: 1048576. */
  maxSize?: number | null | undefined
  /** Accepted for programs written for undici, and ignored. */
  throwOnError?: boolean | null | undefined
}

const OPTIONS = { maxSize: option(1_048_576, integerFrom(0), 'maxSize must be a non-negative integer') }

/**
 * An interceptor that fails requests whose status is 400 or above with a `ResponseError`, which has the status, the headers
 * and the body.
 */
export function responseError(options?: ResponseErrorOptions | null): Interceptor {
  const maxSize = readLoosely(OPTIONS, options).maxSize || Number.POSITIVE_INFINITY
  return ownInterceptor(
    (dispatch) => (opts, handler) =>
      dispatch(opts, isCall(opts, handler) ? new ResponseErrorHandler(handler, opts, maxSize) : handler),
  )
}

type State = 'passing' | Collecting | 'over'

interface Collecting {
  readonly statusCode: number
  readonly headers: HeaderObject
  readonly body: BodyBytes
  /** Bytes received. */
  size: number
  /** What is left of the body, and of the time for it. */
  readonly rest: DiscardedBody
}

class ResponseErrorHandler extends ForwardingHandler {
  readonly #opts: DispatchOptions
  readonly #maxSize: number
  #state: State = 'passing'

  constructor(handler: DispatchHandler, opts: DispatchOptions, maxSize: number) {
    super(handler)
    this.#opts = opts
    this.#maxSize = maxSize
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode >= 400) this.#collect(controller, statusCode, headers)
    else super.onResponseStart(controller, statusCode, headers, statusText)
  }

  #collect(controller: DispatchController, statusCode: number, headers: HeaderObject): void {
    const rest = new DiscardedBody(() => this.#cutOff(controller), this.#maxSize)
    this.#state = { statusCode, headers, body: BodyBytes.none(), size: 0, rest }
    rest.begin(null, true)
  }

  /** Too much has come, or it comes too slowly. The caller gets what there is. */
  #cutOff(controller: DispatchController): void {
    if (typeof this.#state !== 'object') return
    try {
      this.#fail(controller, this.#state, true)
    } catch {
      // The final call of a handler, perhaps out of a timer: no other call could report what it threw.
    }
    controller.abort()
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    const state = this.#state
    if (state === 'over') return
    if (state === 'passing') {
      super.onResponseData(controller, chunk)
      return
    }
    const room = this.#maxSize - state.size
    if (room > 0) state.body.add(room < chunk.length ? chunk.subarray(0, room) : chunk)
    state.size += chunk.length
    state.rest.take(chunk.length)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    const state = this.#state
    if (state === 'over') return
    if (state === 'passing') super.onResponseEnd(controller, trailers)
    else this.#fail(controller, state, false)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#state === 'over') return
    if (this.#state !== 'passing') this.#state.rest.stop()
    this.#state = 'over'
    super.onResponseError(controller, error)
  }

  #fail(
    controller: DispatchController,
    { statusCode, headers, body: kept, size }: Collecting,
    isCutOff: boolean,
  ): void {
    const bodyTruncated = isCutOff || size > this.#maxSize
    const body = bodyValue(Buffer.from(kept.own().buffer), headers, bodyTruncated)
    const error = new ResponseError('Response Error', statusCode, { headers, body, bodyTruncated })
    this.onResponseError(controller, described(error, this.#opts))
  }
}

/** `message` is what people compare: the request is in properties and in the first line of the stack. */
function described(error: ResponseError, opts: DispatchOptions): ResponseError {
  const { method, path } = opts
  const origin = logicalOrigin(opts)
  // A dispatcher with an origin of its own takes no notice of another one, valid or not.
  const shown = origin !== undefined && URL.canParse(String(origin)) ? new URL(origin).origin : ''
  error.method = method
  error.origin = shown
  error.path = shownPath(path)
  // The server has answered, so it may have acted.
  error.retrySafety = 'idempotent-only'
  const { stack } = error
  const line = `${error.name}: ${error.message}`
  if (typeof stack === 'string' && stack.startsWith(line)) {
    const request = `${method} ${shown}${error.path} answered ${error.statusCode}`
    Object.defineProperty(error, 'stack', {
      value: `${line} (${request})${stack.slice(line.length)}`,
      writable: true,
      configurable: true,
    })
  }
  return error
}
