/** One `dispatch()` call on a mock agent, as matchers and reply functions see it. */

import { classifyBody } from '../request/body-source.ts'
import { withQuery } from '../request/check-options.ts'
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import type { BodyInput, DispatchOptions } from '../request/dispatch-options.ts'
import type { MockCallHistoryLog } from './history/call-history-log.ts'
import { eachField, fieldsObject, readFields } from './match/header-matcher.ts'
import { sortedPath } from './match/request-path.ts'
import { collectBody, eachOf, isCollectable, isPiecemeal, piecesOf, textOrBytes } from './mock-body.ts'
import type { MockResponseCallbackOptions } from './reply/reply.ts'

export const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

export class MockCall {
  readonly origin: string
  readonly method: string
  handler: DispatchHandler
  /** Whether the handler is told what is sent. Otherwise a stream need not be read. */
  readonly observesBody: boolean
  /** With the query, sorted by name. */
  readonly path: string
  /** The parts of the path that the interceptor names. */
  params: Readonly<Record<string, string>> = NO_PARAMS
  log: MockCallHistoryLog | null = null
  /** As the caller gave them. */
  readonly given: DispatchOptions
  /** As given, or with the collected body. */
  options: DispatchOptions
  #fields: Record<string, string> | null = null
  /** As matchers get it: as text, if it was collected. */
  body: unknown
  /** The body is a stream or an iterable, and reply functions get it in pieces. */
  readonly isPiecemeal: boolean
  /** Pieces of the body that were read. */
  readonly pieces: unknown[] = []
  /** Whether `pieces` holds the body: read by `collect()` or by the exchange. */
  isRead = false

  constructor(origin: string, options: DispatchOptions, handler: DispatchHandler, nonStandard: boolean) {
    this.origin = origin
    this.method = options.method
    this.handler = handler
    this.observesBody = handler.onBodySent !== undefined || handler.onRequestSent !== undefined
    this.given = options
    this.options = options
    this.body = options.body
    this.isPiecemeal = isPiecemeal(options.body)
    const path = options.query ? withQuery(options.path, options.query) : options.path
    this.path = sortedPath(path, nonStandard)
  }

  /** By lower-case name. */
  get fields(): Record<string, string> {
    this.#fields ??= readFields(this.options.headers)
    return this.#fields
  }

  /** Whether `collect()` must run before a matcher can see the body. */
  get hasUnreadBody(): boolean {
    return isCollectable(this.options.body) && this.body === this.options.body
  }

  /** Replaces the body by its bytes, and adds the content type of a Blob. */
  async collect(): Promise<void> {
    const { body } = this.options
    let { headers } = this.options
    const bytes = await collectBody(body, this.pieces)
    this.isRead = true
    if (body instanceof Blob && body.type !== '' && this.fields['content-type'] === undefined) {
      const fields = [...eachField(headers)].filter(([, value]) => value !== undefined)
      headers = [...fields, ['content-type', body.type]] as [string, string][]
    }
    this.options = { ...this.options, headers, body: bytes }
    this.body = textOrBytes(bytes)
  }

  /** What reply functions get. */
  callbackOptions(): MockResponseCallbackOptions {
    const opts: Record<string, unknown> = { ...this.options, params: this.params }
    if (this.options.headers) opts['headers'] = fieldsObject(this.options.headers)
    if (this.isPiecemeal)
      opts['body'] = eachOf(this.isRead ? this.pieces : piecesOf(classifyBody(this.given.body)!)!)
    else if (this.body !== undefined) opts['body'] = this.body as BodyInput
    return opts as unknown as MockResponseCallbackOptions
  }
}
