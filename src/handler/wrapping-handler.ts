/**
 * Forwards the calls that every handler gets to the one that it wraps, and what this one returns: the promise of an async
 * function, for whose rejection the dispatcher fails the request.
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

/** The handler that one of ours wraps. Not a member: a subclass of a program could have one of its name. */
export let innerOf: (wrapping: WrappingHandler) => DispatchHandler

/** The base of `DecoratorHandler`. It has no field that a subclass of a program could have as well. */
export abstract class WrappingHandler implements DispatchHandler {
  readonly #inner: DispatchHandler

  static {
    innerOf = (wrapping) => wrapping.#inner
  }

  constructor(inner: DispatchHandler) {
    this.#inner = inner
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    return this.#inner.onRequestStart?.(controller, context)
  }

  onRequestSent(): void {
    return this.#inner.onRequestSent?.()
  }

  onResponseStarted(): void {
    return this.#inner.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    return this.#inner.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    return this.#inner.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    return this.#inner.onResponseEnd?.(controller, trailers)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    return this.#inner.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    return this.#inner.onResponseError?.(controller, error)
  }
}

answerOlderCalls(WrappingHandler)
