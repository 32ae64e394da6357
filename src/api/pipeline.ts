/**
 * `pipeline()`: a Duplex whose written side is the request body and whose read side is the stream that the
 * caller's handler makes of the response.
 */
import { AsyncResource } from 'node:async_hooks'
import { Duplex, getDefaultHighWaterMark, PassThrough, Readable } from 'node:stream'
import { PieceLoad } from '../base/bytes/piece-load.ts'
import { destroyQuietly, ignoreError } from '../base/error/ignore-error.ts'
import { atCaller, enter, leave, type PublicFunction } from '../base/error/public-call.ts'
import { ignoreRejection } from '../base/loop/stray-promise.ts'
import { coverPollution } from '../base/object/own-options.ts'
import { ArrivingBody } from '../body/arriving.ts'
import type { BodySource } from '../body/incoming.ts'
import { InvalidArgumentError, InvalidReturnValueError, RequestAbortedError } from '../errors.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController } from '../request/dispatch-handler.ts'
import type { DispatchOptions } from '../request/dispatch-options.ts'
import type { Dispatching } from '../request/dispatching.ts'
import {
  ApiHandler,
  type ApiOptions,
  checkResponseOptions,
  type InfoCallback,
  type ResponseHead,
} from './api-handler.ts'
import { checkOptions } from './settlement.ts'

/** Options of `pipeline()`. */
export interface PipelineOptions<TOpaque = null> extends Omit<DispatchOptions, 'body'>, ApiOptions<TOpaque> {
  /** Called for each informational response but 100 and 101. */
  onInfo?: InfoCallback | null | undefined
  /** Whether the Duplex yields objects. Default: false. */
  objectMode?: boolean | undefined
}

/** The response, as the handler sees it. */
export interface PipelineHandlerData<TOpaque = null> extends ResponseHead<TOpaque> {
  /** To be read by the handler. */
  body: Readable
}

interface PipelineHandling<TOpaque> {
  handle(data: PipelineHandlerData<TOpaque>): NodeJS.ReadableStream
}

/**
 * Synchronously returns the stream whose data the Duplex yields. The type is taken from a method, so that its
 * parameter is compared in both directions: in undici's types the body is more than a Readable.
 */
// biome-ignore lint/complexity/noBannedTypes: it adds nothing that could be called
export type PipelineHandlerFunction<TOpaque = null> = PipelineHandling<TOpaque>['handle'] & Function

/** The request body: takes one write of the Duplex at a time. */
class RequestSide extends Readable {
  #written: ((error?: Error | null) => void) | null = null

  /** After it was destroyed (the server answered early, or the request failed), writes are discarded. */
  send(chunk: Buffer, written: (error?: Error | null) => void): void {
    if (this.destroyed || this.push(chunk)) written()
    else this.#written = written
  }

  override _read(): void {
    const written = this.#written
    this.#written = null
    written?.()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const written = this.#written
    this.#written = null
    written?.(error)
    callback(error)
  }
}

/** The response body that the handler gets. As in undici, it has no `text()` or siblings. */
class ResponseSide extends ArrivingBody {
  protected override get announced(): null {
    return null
  }

  protected override onCollected(): void {}
}

/** The stream that the handler returned. Only `on` is guaranteed. */
interface Yielded extends Pick<NodeJS.ReadableStream, 'on'> {
  pause?(): unknown
  resume?(): unknown
  destroy?(error?: unknown): unknown
  readonly destroyed?: boolean
}

class PipelineDuplex extends Duplex {
  readonly #handler: PipelineHandler<unknown>
  readonly #load = new PieceLoad()

  constructor(handler: PipelineHandler<unknown>, objectMode: boolean) {
    super(coverPollution({ readableObjectMode: objectMode }))
    this.#handler = handler
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#handler.request.send(chunk, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#handler.request.push(null)
    callback()
  }

  /** Passes data to the caller. False if the source should pause. */
  yield(chunk: unknown): boolean {
    // Objects are counted, not measured.
    if (this.readableObjectMode) return this.push(chunk)
    this.#load.add(chunk, this.readableLength)
    return this.push(chunk) && !this.#load.isHeavy(this.readableLength)
  }

  override read(size?: number): ReturnType<Readable['read']> {
    const isHeavy = size !== 0 && this.#load.isHeavy(this.readableLength)
    const chunk = super.read(size)
    if (isHeavy) this.#handler.readMore()
    return chunk
  }

  override _read(): void {
    if (!this.#load.isHeavy(this.readableLength)) this.#handler.readMore()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const reason = error ?? (this.readableEnded ? null : new RequestAbortedError())
    // A caller that destroys it without an error need not listen for one.
    if (error === null) this.on('error', ignoreError)
    this.#handler.onDuplexDestroyed(reason)
    callback(reason)
  }
}

class PipelineHandler<TOpaque> extends ApiHandler<TOpaque> implements BodySource {
  declare protected readonly resource: AsyncResource
  /** The caller can destroy the Duplex at any time. */
  protected override readonly endsWhileQueued = true
  readonly request: RequestSide = new RequestSide()
  readonly duplex: PipelineDuplex
  readonly #handle: PipelineHandlerFunction<TOpaque>
  #response: ResponseSide | null = null
  #yielded: Yielded | null = null

  constructor(opts: PipelineOptions<TOpaque>, handle: PipelineHandlerFunction<TOpaque>) {
    super(opts, new AsyncResource('UNDICI_PIPELINE'))
    checkOptions(opts)
    if (typeof handle !== 'function') throw new InvalidArgumentError('invalid handler')
    checkResponseOptions(opts)
    this.#handle = handle
    // The Duplex reports the errors of the request body.
    this.request.on('error', ignoreError)
    this.duplex = new PipelineDuplex(this as PipelineHandler<unknown>, opts.objectMode === true)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    if (this.failed) return
    this.controller = controller
    this.#response?.receive(chunk)
  }

  protected override onFinalEnd(): void {
    this.#response?.complete()
  }

  /** The response body was destroyed before all of it had arrived. */
  cancel(reason: unknown): void {
    this.fail(reason)
  }

  spent(): void {}

  readMore(): void {
    this.#yielded?.resume?.()
  }

  /** The Duplex is all that the caller has: its end is the end of the request and of the response. */
  onDuplexDestroyed(error: Error | null): void {
    // Even after a normal end: an unread rest of the response would block the connection.
    if (!this.isComplete) this.fail(error ?? new RequestAbortedError())
    this.#response?.destroy(error ?? undefined)
    if (this.#yielded?.destroyed === false) destroyQuietly(this.#yielded, error)
    this.request.destroy(error ?? undefined)
    this.release()
  }

  protected override onFailure(error: unknown): void {
    destroyQuietly(this.duplex, error)
  }

  protected override onFinalHead(statusCode: number, headers: HeaderObject): void {
    const { duplex } = this
    const response = new ResponseSide(this, getDefaultHighWaterMark(false))
    this.#response = response
    this.hasResponse = true
    // A failure goes to the Duplex; a handler that does not listen must not crash the process.
    response.on('error', (error) => duplex.destroy(error))
    // From now on, neither must a caller that does not listen to the Duplex. Before the head, an error
    // without a listener is unhandled, as it would be with a promise.
    duplex.on('error', ignoreError)
    const yielded: unknown = this.resource.runInAsyncScope(this.#handle, null, {
      statusCode,
      headers: this.present(headers),
      opaque: this.opaque,
      body: response,
      context: this.context,
    })
    if (!isYielded(yielded)) {
      ignoreRejection(yielded)
      throw new InvalidReturnValueError('expected Readable')
    }
    let ended = false
    try {
      yielded.on('error', (error) => duplex.destroy(error))
    } catch (error) {
      // Nobody listens to its errors.
      destroyQuietly(yielded)
      throw error
    }
    this.#yielded = yielded
    if (duplex.destroyed) {
      // The handler aborted the signal.
      destroyQuietly(yielded)
      return
    }
    yielded.on('data', (chunk) => {
      if (!duplex.destroyed && !duplex.yield(chunk)) yielded.pause?.()
    })
    yielded.on('end', () => {
      ended = true
      if (!duplex.destroyed) duplex.push(null)
    })
    yielded.on('close', () => {
      if (!ended) duplex.destroy(new RequestAbortedError())
    })
  }
}

function isYielded(value: unknown): value is Yielded {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Yielded>).on === 'function'
}

export function pipelineOn<TOpaque>(
  dispatcher: Dispatching,
  opts: PipelineOptions<TOpaque>,
  handle: PipelineHandlerFunction<TOpaque>,
  called: PublicFunction,
): Duplex {
  const outer = enter(called)
  try {
    const handler = new PipelineHandler(opts, handle)
    handler.start(dispatcher, { ...opts, body: handler.request })
    return handler.duplex
  } catch (error) {
    return new PassThrough().destroy(atCaller(error as Error))
  } finally {
    leave(outer)
  }
}
