/**
 * Base for handlers that wrap another one: forwards every call, so that a subclass overrides only those that
 * it needs.
 */
import type { Duplex } from 'node:stream'
import { defineKind } from '../base/object/kind.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type {
  DispatchController,
  DispatchHandler,
  LegacyDispatchHandler,
} from '../request/dispatch-handler.ts'
import { toDispatchHandler } from './legacy-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

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
export class DecoratorHandler implements DispatchHandler {
  readonly #handler: DispatchHandler

  constructor(handler: DispatchHandler | LegacyDispatchHandler) {
    if (typeof handler !== 'object' || handler === null) {
      throw new TypeError('handler must be an object')
    }
    this.#handler = toDispatchHandler(handler)
  }

  onRequestQueued(abort: (reason?: unknown) => void): void {
    this.#handler.onRequestQueued?.(abort)
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context)
  }

  onBodySent(chunk: string | Uint8Array): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    this.#handler.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#handler.onResponseEnd?.(controller, trailers)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#handler.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#handler.onResponseError?.(controller, error)
  }
}

answerOlderCalls(DecoratorHandler)

defineKind(DecoratorHandler, 'ventuno.DecoratorHandler')
