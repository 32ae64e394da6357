/** The errors of calls: each says in its message which request it is about, without secrets. */

import { shownPath } from '../base/address/shown-path.ts'
import { attempts } from '../base/text/attempts.ts'
import { ResponseError, type RetrySafety } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { nameRequest } from '../request/error-context.ts'
import { shownTarget } from './target.ts'

/** What is known about an answered request. */
export interface Answered {
  readonly method: string
  /** After all redirects. */
  readonly url: string
  readonly statusCode: number
  readonly statusText: string
  readonly headers: HeaderObject
}

export interface ErrorBody {
  readonly body: unknown
  readonly bodyTruncated: boolean
}

/** `what` follows the method and the URL. */
export function responseError(
  answered: Answered,
  what: string,
  { body, bodyTruncated }: ErrorBody,
): ResponseError {
  const { method, url, statusCode, headers } = answered
  const message = `${method} ${shownTarget(url)} answered ${statusCode}${what}`
  const error = new ResponseError(message, statusCode, { headers, body, bodyTruncated })
  // The server has answered, so it may have acted.
  const retrySafety: RetrySafety = 'idempotent-only'
  return Object.assign(error, { method, ...placeOf(url), retrySafety })
}

/** Without the query. */
function placeOf(url: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname } = new URL(url)
  return { origin, path: shownPath(pathname) }
}

/** The reason phrase of HTTP/1.1, where there is one. */
export function statusError(answered: Answered, body: ErrorBody): ResponseError {
  return responseError(answered, answered.statusText === '' ? '' : ` ${answered.statusText}`, body)
}

/** So much of a body that is not what was expected is shown. */
const SHOWN = 60

export function notJson(answered: Answered, text: string, cause: unknown): ResponseError {
  const type = String(answered.headers['content-type'] ?? 'no content-type')
  const start = text === '' ? 'an empty body' : JSON.stringify(text.slice(0, SHOWN))
  const error = responseError(answered, ` with what is not JSON (${type}): ${start}`, {
    body: text.slice(0, SHOWN),
    bodyTruncated: text.length > SHOWN,
  })
  return Object.assign(error, { cause })
}

/** Has the name of the platform's own error, which programs compare. */
export function timeoutError(
  method: string,
  url: string,
  limit: number,
  starts: number,
  doing: string,
): Error {
  const message = `${method} ${shownTarget(url)} took longer than timeout.total, ${limit} ms: ${attempts(starts)}, ${doing}`
  return Object.assign(new DOMException(message, 'TimeoutError'), {
    method,
    ...placeOf(url),
    attempts: starts,
  })
}

/** An error that a layer has made, with the request that it is about. */
export function named(error: Error, method: string, url: string, starts: number): Error {
  return nameRequest(error, { method, ...placeOf(url) }, `${method} ${shownTarget(url)}: ${attempts(starts)}`)
}
