/**
 * Base for handlers of programs that wrap another one: forwards every call, so that a subclass overrides only
 * those that it needs.
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import { watched } from '../base/loop/thenable.ts'
import { defineKind } from '../base/object/kind.ts'
import type { DispatchHandler, LegacyDispatchHandler } from '../request/dispatch-handler.ts'
import { toDispatchHandler } from './legacy-handler.ts'
import { controllerOf, innerOf, WrappingHandler } from './wrapping-handler.ts'

/**
 * Forwards to the handler given to the constructor; one of the older generation is bridged.
 *
 * @example
 * class CountBytes extends DecoratorHandler {
 *   bytes = 0
 *   override onResponseData(controller, chunk) {
 *     this.bytes += chunk.length
 *     super.onResponseData(controller, chunk)
 *   }
 * }
 */
export class DecoratorHandler extends WrappingHandler {
  constructor(handler: DispatchHandler | LegacyDispatchHandler) {
    if (typeof handler !== 'object' || handler === null) {
      throw new TypeError('handler must be an object')
    }
    super(toDispatchHandler(handler))
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    return watched(innerOf(this).onRequestQueued?.(abort), { abort })
  }

  onBodySent(chunk: string | Uint8Array): void {
    return watched(innerOf(this).onBodySent?.(chunk), controllerOf(this))
  }
}

defineKind(DecoratorHandler, 'ventuno.DecoratorHandler')
