/** Measures one request from its dispatch to its final call, once, whatever becomes of it. */
import type { Duplex } from 'node:stream'
import { now } from '../../base/loop/clock.ts'
import { ForwardingHandler } from '../../handler/forwarding-handler.ts'
import { innerOf } from '../../handler/wrapping-handler.ts'
import type { HeaderObject } from '../../protocol/header-block.ts'
import { isOfStatus, ownField } from '../../relay/error-facts.ts'
import type { CacheResult, CircuitState, RequestWatcher } from '../../relay/request-watcher.ts'
import { responseFacts } from '../../relay/response-facts.ts'
import type { DispatchController, DispatchHandler } from '../../request/dispatch-handler.ts'
import { errorType, OTHER } from './error-type.ts'
import { count, type MetricAttributes, record } from './meter.ts'
import type { MetricsSettings } from './options.ts'
import type { Series } from './series.ts'

type BodySentHook = NonNullable<DispatchHandler['onBodySent']>
type BytesHook = NonNullable<DispatchHandler['onResponseBytes']>

/** Of what a caller aborts with a reason of its own. */
const ABORTED = 'UND_ERR_ABORTED'

export class MeasuredRequest extends ForwardingHandler implements RequestWatcher {
  readonly #settings: MetricsSettings
  readonly #series: Series
  /** Of an interceptor further out. */
  readonly #outer: RequestWatcher | null
  readonly #beganAt = now()
  readonly #hasBody: boolean
  #state: 'running' | 'settled' = 'running'
  /** When it was last written; 0 before. */
  #startedAt = 0
  /** Of the final head; 0 before. */
  #status = 0
  #sent = 0
  #received = 0

  constructor(
    inner: DispatchHandler,
    settings: MetricsSettings,
    series: Series,
    hasBody: boolean,
    outer: RequestWatcher | null,
  ) {
    super(inner)
    this.#settings = settings
    this.#series = series
    this.#outer = outer
    this.#hasBody = hasBody
    series.active++
  }

  override onRequestStart(controller: DispatchController, context: unknown): void {
    if (this.#settings.details) {
      this.#startedAt = now()
      this.#sent = 0
    }
    super.onRequestStart(controller, context)
  }

  override get onBodySent(): BodySentHook {
    return this.#settings.details && this.#hasBody ? this.#countSent : super.onBodySent
  }

  #countSent(chunk: string | Uint8Array): void {
    this.#sent += typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
    // biome-ignore lint/correctness/noVoidTypeReturn: it may be an async function, and the dispatcher looks at its promise
    return innerOf(this).onBodySent?.(chunk)
  }

  override onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    if (statusCode >= 200) this.#status = statusCode
    super.onResponseStart(controller, statusCode, headers, statusText)
  }

  override onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.#received += chunk.byteLength
    super.onResponseData(controller, chunk)
  }

  get onResponseBytes(): BytesHook {
    // Undefined means absent here, which the type of an optional method does not let a getter say.
    return (innerOf(this).onResponseBytes === undefined ? undefined : this.#countBytes) as BytesHook
  }

  #countBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    this.#received += end - start
    innerOf(this).onResponseBytes!(controller, memory, start, end)
  }

  override onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#settle(controller, null)
    super.onResponseEnd(controller, trailers)
  }

  override onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#status = statusCode
    this.#settle(controller, null)
    super.onRequestUpgrade(controller, statusCode, headers, socket)
  }

  override onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#fail(controller ?? null, error)
    super.onResponseError(controller, error)
  }

  /** The dispatcher has thrown this, and calls nothing. */
  onThrown(error: unknown): void {
    this.#fail(null, error)
  }

  onRetried(error: unknown): void {
    const status = isOfStatus(error) ? ownField(error, 'statusCode') : null
    const type = typeof status === 'number' ? String(status) : errorType(error)
    count(this.#settings.instruments.retries, this.#series.with('error.type', type))
    this.#outer?.onRetried(error)
  }

  onCacheResult(result: CacheResult): void {
    count(this.#settings.instruments.cacheResults, this.#series.with('ventuno.cache.result', result))
    this.#outer?.onCacheResult(result)
  }

  onCircuit(state: CircuitState): void {
    const attributes = this.#series.with('ventuno.circuit_breaker.state', state)
    count(this.#settings.instruments.circuits, attributes)
    this.#outer?.onCircuit(state)
  }

  #fail(controller: DispatchController | null, error: unknown): void {
    if (this.#status === 0 && isOfStatus(error)) {
      const status = ownField(error, 'statusCode')
      if (typeof status === 'number') this.#status = status
      if (this.#status >= 400) {
        this.#settle(controller, null)
        return
      }
    }
    const type = errorType(error)
    this.#settle(controller, type === OTHER && controller?.aborted === true ? ABORTED : type)
  }

  #settle(controller: DispatchController | null, failure: string | null): void {
    if (this.#state === 'settled') return
    this.#state = 'settled'
    this.#series.active--
    const status = this.#status
    const type = failure ?? (status >= 400 ? String(status) : null)
    const attributes = this.#series.outcome(status, controller?.httpVersion ?? null, type)
    // The end that the dispatcher has noted may be that of an earlier attempt, or of what others have read.
    record(this.#settings.instruments.duration, (now() - this.#beganAt) / 1000, attributes)
    if (this.#settings.details) this.#recordDetails(controller, attributes)
  }

  #recordDetails(controller: DispatchController | null, attributes: MetricAttributes): void {
    const { timeInQueue, requestSize, responseSize } = this.#settings.instruments
    const isStored = responseFacts(controller).isStored
    if (this.#startedAt !== 0 && !isStored) {
      record(timeInQueue, (this.#startedAt - this.#beganAt) / 1000, this.#series.attributes)
    }
    if (this.#hasBody && this.#startedAt !== 0) record(requestSize, this.#sent, attributes)
    if (this.#status !== 0) record(responseSize, this.#received, attributes)
  }
}
