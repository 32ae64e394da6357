/**
 * Forwards the calls that every handler gets to the one that it wraps, and what this one returns: the promise
 * of an async function, for whose rejection the dispatcher fails the request.
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import type { Duplex } from 'node:stream'
import { watched } from '../base/loop/thenable.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

/** The handler that one of ours wraps. Not a member: a subclass of a program could have one of its name. */
export let innerOf: (wrapping: WrappingHandler) => DispatchHandler

/** What steers the request of such a handler; null until it has started. */
export let controllerOf: (wrapping: WrappingHandler) => DispatchController | null

/** The base of `DecoratorHandler`. It has no field that a subclass of a program could have as well. */
export abstract class WrappingHandler implements DispatchHandler {
  readonly #inner: DispatchHandler
  #controller: DispatchController | null = null

  static {
    innerOf = (wrapping) => wrapping.#inner
    controllerOf = (wrapping) => wrapping.#controller
  }

  constructor(inner: DispatchHandler) {
    this.#inner = inner
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller = controller
    return watched(this.#inner.onRequestStart?.(controller, context), controller)
  }

  onRequestSent(): void {
    return watched(this.#inner.onRequestSent?.(), this.#controller)
  }

  onResponseStarted(): void {
    return watched(this.#inner.onResponseStarted?.(), this.#controller)
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    return watched(this.#inner.onResponseStart?.(controller, statusCode, headers, statusText), controller)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    return watched(this.#inner.onResponseData?.(controller, chunk), controller)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    return watched(this.#inner.onResponseEnd?.(controller, trailers), controller)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    return watched(this.#inner.onRequestUpgrade?.(controller, statusCode, headers, socket), controller)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    return watched(this.#inner.onResponseError?.(controller, error), this.#controller)
  }
}

answerOlderCalls(WrappingHandler)
