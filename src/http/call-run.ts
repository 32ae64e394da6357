/**
 * One call from its start to its end: hooks, dispatch, and the response for whoever asks for it. A whole body
 * is collected straight from the dispatcher; a response whose body is read later gets a stream.
 */

import { ApiHandler } from '../api/api-handler.ts'
import { AbortLink } from '../base/abort/abort-link.ts'
import { BodyBytes } from '../base/bytes/body-bytes.ts'
import { ownBytes } from '../base/bytes/own-bytes.ts'
import { ignoreError } from '../base/error/ignore-error.ts'
import { Deadline } from '../base/loop/deadline.ts'
import { announcedLength } from '../body/collect.ts'
import type { BodySource } from '../body/incoming.ts'
import { BodyReadable } from '../body/readable.ts'
import type { Interceptor } from '../dispatcher/compose.ts'
import { RequestAbortedError } from '../errors.ts'
import { bodyValue } from '../interceptor/response-error/body-text.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { KeptResponse } from '../relay/kept-response.ts'
import { requestedUrls } from '../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import type { OwnOrigin } from '../request/logical-origin.ts'
import { Consumer, type Form } from './consumer.ts'
import { type Arrived, divert, neededFor, type OuterLayers } from './diversion.ts'
import { type Answered, named, statusError, timeoutError } from './failure.ts'
import type { Fields } from './headers.ts'
import type { HttpRequest } from './options.ts'
import { CallProgress, type Watchers } from './progress.ts'
import { HttpResponse } from './response.ts'
import type { CallSettings } from './settings.ts'
import type { StandardSchema } from './standard-schema.ts'

/** What is dispatched, and what the call needs beside it. */
export interface CallRequest extends DispatchOptions {
  readonly origin: string
  headers: Fields
  signal: AbortSignal | null
}

export interface CallPlan extends Watchers {
  readonly opts: CallRequest
  readonly settings: CallSettings
  readonly dispatcher: Dispatching
  /** The only origin that it sends to, if there is one. */
  readonly own: OwnOrigin
  readonly outer: OuterLayers
  /** The call is over, one way or the other. */
  readonly onOver: () => void
}

/** Bytes of an unread body that are held before the connection is paused. */
const HIGH_WATER_MARK = 65_536

/** So much of the body of an error is kept. */
const ERROR_BODY = 1_048_576

export class CallRun extends ApiHandler implements BodySource {
  readonly #plan: CallPlan
  readonly #startedAt = performance.now()
  readonly #consumer = new Consumer()
  #answered: Answered | null = null
  /** Of a body that is collected. */
  #bytes: BodyBytes | null = null
  /** Of one that is read later. */
  #body: BodyReadable | null = null
  /** Of a response that is an error. */
  #error: KeptResponse | null = null
  /** Hooks that the response waits for. */
  #gate: Promise<void> | null = null
  #limit: Deadline | null = null
  /** What gets the dispatcher's calls, once the response has turned out to need other layers. */
  #rest: DispatchHandler | null = null
  readonly #progress: CallProgress | null
  #attempts = 0

  constructor(plan: CallPlan) {
    super(plan.opts, null)
    this.#plan = plan
    this.#progress = CallProgress.of(plan, (error) => this.fail(error))
  }

  get isAsked(): boolean {
    return this.#consumer.isAsked
  }

  /** Whether the whole body can be collected without a stream: nobody has asked for it, and none was made. */
  get canCollect(): boolean {
    return !this.isAsked && this.#body === null
  }

  /** The whole body in this form. */
  collect(form: Form, schema?: StandardSchema): Promise<unknown> {
    return this.#consumer.askForBody(form, schema)
  }

  /** The response, as soon as its head has come. */
  respond(): Promise<HttpResponse> {
    return this.#consumer.askForResponse()
  }

  /**
   * Nobody has asked, and nobody can any more. The request is made all the same, and its response given up when it is
   * collected; one that has come already holds its connection until then, so it is given up at once.
   */
  lose(): void {
    if (this.isAsked) return
    if (this.#answered === null) this.#consumer.dismiss()
    else this.abandon()
  }

  begin(): void {
    const { total, hooks } = this.#plan.settings
    if (total > 0) {
      this.#limit = new Deadline({ onDeadline: () => this.#onLimit(), onBroken: (error) => this.fail(error) })
      this.#limit.arm(total)
    }
    if (hooks.beforeRequest.length === 0) this.#send()
    else void this.#prepare()
  }

  #send(): void {
    if (!this.failed) this.start(this.#plan.dispatcher, this.#plan.opts)
  }

  async #prepare(): Promise<void> {
    const { opts, settings } = this.#plan
    const link = opts.signal === null ? null : AbortLink.to(opts.signal, this)
    try {
      opts.headers = { ...opts.headers }
      const request = this.#shownRequest()
      for (const hook of settings.hooks.beforeRequest) {
        if (this.failed) return
        await hook(request)
      }
      const { origin, pathname, search } = request.url
      if (origin !== opts.origin)
        throw new RequestAbortedError('a hook must not change the origin of a request')
      opts.path = pathname + search
    } catch (error) {
      this.fail(error)
    } finally {
      link?.end()
    }
    this.#send()
  }

  /** The headers are those that are sent. */
  #shownRequest(): HttpRequest {
    const { method, origin, path, headers, body } = this.#plan.opts
    return { method, url: new URL(origin + path), headers, body }
  }

  get #url(): string {
    const { opts } = this.#plan
    return requestedUrls(this.context).at(-1)?.href ?? opts.origin + opts.path
  }

  #onLimit(): void {
    const { opts, settings } = this.#plan
    const doing =
      this.#answered !== null
        ? 'while receiving the body'
        : this.#attempts > 0
          ? 'without a response'
          : 'not sent'
    this.fail(timeoutError(opts.method, this.#url, settings.total, this.#attempts, doing))
  }

  // The dispatcher's calls.

  override onRequestStart(controller: DispatchController, context: unknown): void {
    this.#attempts++
    this.#progress?.onAttempt()
    super.onRequestStart(controller, context)
  }

  get onBodySent(): NonNullable<DispatchHandler['onBodySent']> {
    // Undefined means absent here, which the type of an optional method does not let a getter say.
    return (this.#plan.onUpload === null ? undefined : this.#onBodySent) as never
  }

  #onBodySent(chunk: string | Uint8Array): void {
    this.#progress!.onSent(chunk)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): void {
    if (this.#rest !== null) {
      this.#rest.onResponseStart?.(controller, statusCode, headers, statusText)
      return
    }
    const layers = this.failed || statusCode < 200 ? null : neededFor(statusCode, headers, this.#plan.outer)
    if (layers === null) super.onResponseStart(controller, statusCode, headers, statusText)
    else
      this.#divert(layers, { controller, context: this.context, head: { statusCode, headers, statusText } })
  }

  /** From here on, the dispatcher's calls go to the layers, and those of the layers come here. */
  #divert(layers: readonly Interceptor[], arrived: Arrived): void {
    const { opts, settings, own, dispatcher, onUpload } = this.#plan
    const handler: DispatchHandler = {
      onRequestStart: (controller, context) => this.onRequestStart(controller, context),
      onResponseStart: (controller, statusCode, headers, statusText = '') =>
        super.onResponseStart(controller, statusCode, headers, statusText),
      onResponseData: (controller, chunk) => this.#receive(controller, chunk),
      onResponseEnd: (controller, trailers) => super.onResponseEnd(controller, trailers),
      onRequestUpgrade: (...values) => super.onRequestUpgrade(...values),
      onResponseError: (controller, error) => super.onResponseError(controller, error),
      ...(onUpload === null ? null : { onBodySent: (chunk) => this.#onBodySent(chunk) }),
    }
    this.#attempts--
    const sent = { ...opts, maxRedirections: settings.redirect.maxRedirections ?? 0 }
    this.#rest = divert(layers, own, dispatcher, sent, handler, arrived)
  }

  protected override onFinalHead(statusCode: number, headers: HeaderObject, statusText: string): void {
    const { opts, settings } = this.#plan
    const answered = {
      method: opts.method,
      url: this.#url,
      statusCode,
      statusText: statusText ?? '',
      headers,
    }
    this.#answered = answered
    this.hasResponse = true
    if (settings.hooks.afterResponse.length > 0) {
      this.#gate = this.#showHead(answered)
      this.#gate.catch(ignoreError)
      if (this.failed) return
    }
    if (settings.throwOnError && (statusCode < 200 || statusCode > 299)) {
      const head = { statusCode, headers, statusText }
      this.#error = new KeptResponse(head, ERROR_BODY, () => this.#failWithStatus(true))
    } else if (!this.#consumer.wantsBody) this.#openBody(answered)
  }

  #openBody(answered: Answered): void {
    const { headers, method } = answered
    this.#body = new BodyReadable(this, headers, HIGH_WATER_MARK, method === 'HEAD')
    const response = new HttpResponse(answered, this.#body, this.controller!.timings ?? null, giverUpOf(this))
    const answer = (): void => this.#consumer.takeResponse(response)
    if (this.#gate === null) answer()
    else void this.#gate.then(answer, ignoreError)
  }

  /** What a hook throws is what the call fails with. */
  async #showHead({ statusCode, headers, url }: Answered): Promise<void> {
    const duration = performance.now() - this.#startedAt
    try {
      for (const hook of this.#plan.settings.hooks.afterResponse) {
        await hook({ statusCode, headers, url, duration }, this.#shownRequest())
      }
    } catch (error) {
      this.fail(error)
      throw error
    }
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.#rest === null) this.#receive(controller, chunk)
    else this.#rest.onResponseData?.(controller, chunk)
  }

  #receive(controller: DispatchController, chunk: Buffer): void {
    if (this.failed) return
    this.controller = controller
    this.#progress?.onReceived(chunk.length, this.#announced)
    if (this.#error !== null) this.#error.take(chunk)
    else if (this.#body !== null) this.#body.receive(chunk)
    else if (this.#bytes === null) this.#bytes = BodyBytes.of(chunk)
    else this.#bytes.add(chunk)
  }

  onResponseBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    if (this.#rest !== null || this.#error !== null) {
      this.onResponseData(controller, ownBytes(memory, start, end))
      return
    }
    if (this.failed) return
    this.controller = controller
    this.#progress?.onReceived(end - start, this.#announced)
    if (this.#body !== null) this.#body.receiveLent(memory, start, end)
    else if (this.#bytes === null) this.#bytes = BodyBytes.begin(memory, start, end, this.#announced ?? 0)
    else this.#bytes.addLent(memory, start, end)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    if (this.#rest === null) super.onResponseEnd(controller, trailers)
    else this.#rest.onResponseEnd?.(controller, trailers)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    if (this.#rest === null) super.onResponseError(controller, error)
    else this.#rest.onResponseError?.(controller, error)
  }

  get #announced(): number | null {
    const { headers, method } = this.#answered!
    return announcedLength(headers, method === 'HEAD')
  }

  protected override onFinalEnd(): void {
    this.controller = null
    this.#body?.complete()
    if (this.#gate === null) this.#complete()
    else void this.#gate.then(() => this.#complete(), ignoreError)
  }

  /** All has come, and the hooks have seen the head. */
  #complete(): void {
    if (this.failed) return
    if (this.#error !== null) {
      this.#failWithStatus(false)
      return
    }
    this.release()
    this.#end()
    if (this.#body !== null) return
    const bytes = this.#bytes
    this.#bytes = null
    this.#consumer.takeBody(bytes, this.#answered!)
  }

  /** `isCutOff`: too much has come, or it comes too slowly. The error has what there is. */
  #failWithStatus(isCutOff: boolean): void {
    const kept = this.#error!
    const bodyTruncated = isCutOff || kept.isTruncated
    const body = bodyValue(kept.end(), kept.head.headers, bodyTruncated)
    this.fail(statusError(this.#answered!, { body, bodyTruncated }))
  }

  protected override onFailure(reason: unknown): void {
    this.#end()
    const error = this.#named(reason)
    if (this.#error !== null) this.#error.end()
    if (this.#body !== null) this.#body.fail(error)
    this.#consumer.takeError(error)
  }

  /** What a layer above the dispatcher has made says which call it is about; a value of the caller stays as it is. */
  #named(error: unknown): unknown {
    const { method, signal } = this.#plan.opts
    if (!(error instanceof Error) || error === signal?.reason) return error
    return named(error, method, this.#url, this.#attempts)
  }

  #end(): void {
    this.#limit?.dispose()
    this.#plan.onOver()
  }

  // The body's calls.

  cancel(reason: unknown): void {
    if (!this.isComplete) this.fail(reason)
  }

  spent(): void {
    this.#body = null
  }

  /** Nobody will ever read it. */
  abandon(): void {
    if (!this.isComplete && !this.failed)
      this.fail(new RequestAbortedError('Request aborted: nobody has its response'))
  }
}

/** Outside of the class, so that the function does not hold the response. */
function giverUpOf(run: CallRun): () => void {
  return () => run.abandon()
}
