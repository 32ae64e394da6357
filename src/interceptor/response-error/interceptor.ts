/** `interceptors.responseError`: a status of 400 or above fails the request. */
import { shownPath } from '../../base/address/shown-path.ts'
import { inCall } from '../../base/error/public-call.ts'
import { type Interceptor, ownInterceptor } from '../../dispatcher/compose.ts'
import { ResponseError } from '../../errors.ts'
import { OptionNames } from '../../option-names.ts'
import { integerFrom, option, orAny, readLoosely } from '../../options.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import type { Attempt } from '../../relay/attempt.ts'
import { KeptResponse } from '../../relay/kept-response.ts'
import { RelayedRequest } from '../../relay/relayed-request.ts'
import type { Head } from '../../relay/response-source.ts'
import type { DispatchOptions } from '../../request/dispatch-options.ts'
import { isCall } from '../../request/dispatching.ts'
import { logicalOrigin } from '../../request/logical-origin.ts'
import { bodyValue } from './body-text.ts'

/** Options of `interceptors.responseError`. */
export interface ResponseErrorOptions {
  /** The most bytes of body that the error has; 0 for any number. Default: 1048576. */
  maxSize?: number | null | undefined
  /** Accepted for programs written for undici, and ignored. */
  throwOnError?: boolean | null | undefined
}

const OPTIONS = {
  maxSize: option(1_048_576, integerFrom(0), 'maxSize must be a non-negative integer', orAny),
}

const NAMES = new OptionNames('interceptors.responseError()', OPTIONS)

/**
 * An interceptor that fails requests whose status is 400 or above with a `ResponseError`, which has the
 * status, the headers and the body.
 */
export function responseError(options?: ResponseErrorOptions | null): Interceptor {
  const { maxSize } = inCall(responseError, () => readLoosely(OPTIONS, options, NAMES))
  return ownInterceptor(
    (dispatch) => (opts, handler) =>
      isCall(opts, handler)
        ? new CheckedRequest({ opts, handler, dispatch }, maxSize).send()
        : dispatch(opts, handler),
  )
}

/** `settings`: the most bytes of body that the error has. */
class CheckedRequest extends RelayedRequest<number> {
  /** What has come of a response that is an error. */
  #kept: KeptResponse | null = null

  override onHead(attempt: Attempt, head: Head): void {
    if (head.statusCode < 400) {
      super.onHead(attempt, head)
      return
    }
    this.#kept = new KeptResponse(head, this.settings, () => {
      this.downstream.contain(() => this.#fail(true))
      attempt.abort()
    })
  }

  override onData(attempt: Attempt, chunk: Buffer): void {
    if (this.#kept === null) super.onData(attempt, chunk)
    else this.#kept.take(chunk)
  }

  override onEnd(attempt: Attempt, trailers: HeaderObject): void {
    if (this.#kept === null) super.onEnd(attempt, trailers)
    else this.#fail(false)
  }

  protected override onOver(): void {
    this.#kept?.end()
  }

  /** `isCutOff`: too much has come, or it comes too slowly. The caller gets what there is. */
  #fail(isCutOff: boolean): void {
    const kept = this.#kept!
    const { statusCode, headers } = kept.head
    const bodyTruncated = isCutOff || kept.isTruncated
    const body = bodyValue(kept.end(), headers, bodyTruncated)
    const error = new ResponseError('Response Error', statusCode, { headers, body, bodyTruncated })
    this.downstream.fail(described(error, this.opts))
  }
}

/** Programs compare `message`: the request is in properties and in the first line of the stack. */
function described(error: ResponseError, opts: DispatchOptions): ResponseError {
  const { method, path } = opts
  const origin = logicalOrigin(opts)
  // A dispatcher with an origin of its own takes no notice of another one, valid or not.
  const shown = origin !== undefined && URL.canParse(String(origin)) ? new URL(origin).origin : ''
  // The server has answered, so it may have acted.
  Object.assign(error, { method, origin: shown, path: shownPath(path), retrySafety: 'idempotent-only' })
  const { stack } = error
  const line = `${error.name}: ${error.message}`
  if (typeof stack === 'string' && stack.startsWith(line)) {
    const request = `${method} ${shown}${error.path} answered ${error.statusCode}`
    const value = `${line} (${request})${stack.slice(line.length)}`
    Object.defineProperty(error, 'stack', { value, writable: true, configurable: true })
  }
  return error
}
