/**
 * Base of the handlers that this library puts before a caller's handler: forwards every call. Unlike
 * `DecoratorHandler` it has the optional hooks only if the caller's handler has them, because a dispatcher
 * works for each: a function for `onRequestQueued`, a copy of the body for `onBodySent`. It has no
 * `onResponseBytes`: its subclasses look at chunks.
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import type { DispatchHandler } from '../request/dispatch-handler.ts'
import { innerOf, WrappingHandler } from './wrapping-handler.ts'

type BodySentHook = NonNullable<DispatchHandler['onBodySent']>

export abstract class ForwardingHandler extends WrappingHandler {
  get onRequestQueued(): DispatchHandler['onRequestQueued'] {
    return innerOf(this).onRequestQueued === undefined ? undefined : this.#onQueued
  }

  #onQueued(abort: (reason?: unknown) => void): void {
    return innerOf(this).onRequestQueued?.(abort)
  }

  get onBodySent(): BodySentHook {
    // Undefined means absent here, which the type of an optional method does not let a getter say.
    return (innerOf(this).onBodySent === undefined ? undefined : this.#onBodySent) as BodySentHook
  }

  #onBodySent(chunk: string | Uint8Array): void {
    return innerOf(this).onBodySent?.(chunk)
  }
}
