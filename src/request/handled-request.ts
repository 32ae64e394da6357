/**
 * How the handler of a request is called: in the async context of the `dispatch()` call, whatever socket,
 * timer or signal has caused the call. So are the subscribers of diagnostics channels, and functions of the
 * caller that bring the body. What the calls mean, and what a handler may throw, is in request.ts. The calls
 * return what the handler returns: nothing, or a promise if its method is an async function.
 */
import type { Channel } from 'node:diagnostics_channel'
import { activeContext, type CallContext, captureContext, runIn } from '../base/loop/call-context.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import { cancelUnread, destroyStream } from './body-source.ts'
import type { DispatchController, DispatchHandler, HookArguments } from './dispatch-handler.ts'
import type { DispatchOptions } from './dispatch-options.ts'
import { type RequestContext, RequestSpec } from './request-spec.ts'

export abstract class HandledRequest extends RequestSpec {
  readonly #handler: DispatchHandler
  readonly #callContext: CallContext | null = captureContext()

  constructor(options: DispatchOptions, handler: DispatchHandler, context: RequestContext) {
    super(options, handler, context)
    this.#handler = handler
  }

  abstract get aborted(): boolean

  abstract abort(reason?: unknown): void

  /** Runs a function in the context of the `dispatch()` call. */
  inContext<TThis, TArgs extends unknown[], TResult>(
    fn: (this: TThis, ...args: TArgs) => TResult,
    thisArg: TThis,
    ...args: TArgs
  ): TResult {
    return runIn(this.#callContext, fn, thisArg, ...args)
  }

  /** To a channel that has subscribers. */
  publish<TMessage>(channel: Channel<unknown, TMessage>, message: TMessage): void {
    runIn(this.#callContext, channel.publish, channel, message)
  }

  /** The rest of the body is not wanted any more. */
  destroySource(error: Error | null): void {
    const { source } = this
    if (source.kind === 'stream') runIn(this.#callContext, destroyStream, null, source.stream, error)
    // After any other end, a web stream that was not read can be sent again.
    else if (source.kind === 'iterable' && this.aborted)
      runIn(this.#callContext, cancelUnread, null, source.given, error)
  }

  protected get wantsBodySent(): boolean {
    return Boolean(this.#handler.onBodySent)
  }

  protected get takesLentBytes(): boolean {
    return Boolean(this.#handler.onResponseBytes)
  }

  protected callQueued(): unknown {
    const handler = this.#handler
    const { onRequestQueued } = handler
    return onRequestQueued && runIn(this.#callContext, onRequestQueued, handler, abortFunction(this))
  }

  protected callStart(controller: DispatchController): unknown {
    const handler = this.#handler
    const context = activeContext(this.#callContext)
    if (context === null) return handler.onRequestStart!(controller, null)
    return context.runInAsyncScope(handler.onRequestStart!, handler, controller, null)
  }

  /** A method that most handlers lack, or that is called once at the end. */
  protected call<K extends keyof DispatchHandler>(name: K, ...args: HookArguments<K>): unknown {
    const handler = this.#handler
    const method = handler[name] as ((...args: unknown[]) => unknown) | undefined
    return method && runIn(this.#callContext, method, handler, ...args)
  }

  protected callHead(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText: string,
  ): unknown {
    const handler = this.#handler
    const context = activeContext(this.#callContext)
    if (context === null) return handler.onResponseStart?.(controller, statusCode, headers, statusText)
    const { onResponseStart } = handler
    if (!onResponseStart) return undefined
    return context.runInAsyncScope(onResponseStart, handler, controller, statusCode, headers, statusText)
  }

  protected callBytes(controller: DispatchController, memory: Buffer, start: number, end: number): void {
    const handler = this.#handler
    const context = activeContext(this.#callContext)
    if (context === null) handler.onResponseBytes!(controller, memory, start, end)
    else context.runInAsyncScope(handler.onResponseBytes!, handler, controller, memory, start, end)
  }

  protected callData(controller: DispatchController, chunk: Buffer): unknown {
    const handler = this.#handler
    const context = activeContext(this.#callContext)
    if (context === null) return handler.onResponseData?.(controller, chunk)
    const { onResponseData } = handler
    return onResponseData && context.runInAsyncScope(onResponseData, handler, controller, chunk)
  }

  protected callEnd(controller: DispatchController, trailers: HeaderObject): unknown {
    const handler = this.#handler
    const context = activeContext(this.#callContext)
    if (context === null) return handler.onResponseEnd?.(controller, trailers)
    const { onResponseEnd } = handler
    return onResponseEnd && context.runInAsyncScope(onResponseEnd, handler, controller, trailers)
  }
}

/** Not in the method, which would then allocate a scope for every request: few handlers want it. */
function abortFunction(request: HandledRequest): (reason?: unknown) => void {
  return (reason) => request.abort(reason)
}
