/**
 * Forwards the calls that every handler gets to the one that it wraps, and what this one returns: the promise of an async
 * function, for whose rejection the dispatcher fails the request. A subclass that does not hand the promise on must not end
 * the process: its rejection aborts the request here, too.
 */
// biome-ignore-all lint/correctness/noVoidTypeReturn: a handler may have async functions, and the dispatcher looks at their promises
import type { Duplex } from 'node:stream'
import { isThenable } from '../base/loop/thenable.ts'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

/** The handler that one of ours wraps. Not a member: a subclass of a program could have one of its name. */
export let innerOf: (wrapping: WrappingHandler) => DispatchHandler

/** What a method of the wrapped handler has returned. */
export let watched: <T>(wrapping: WrappingHandler, answer: T) => T

/** The base of `DecoratorHandler`. It has no field that a subclass of a program could have as well. */
export abstract class WrappingHandler implements DispatchHandler {
  readonly #inner: DispatchHandler
  #controller: DispatchController | null = null

  static {
    innerOf = (wrapping) => wrapping.#inner
    watched = (wrapping, answer) => {
      if (isThenable(answer)) answer.then(undefined, (error: unknown) => wrapping.#controller?.abort(error))
      return answer
    }
  }

  constructor(inner: DispatchHandler) {
    this.#inner = inner
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#controller = controller
    return watched(this, this.#inner.onRequestStart?.(controller, context))
  }

  onRequestSent(): void {
    return watched(this, this.#inner.onRequestSent?.())
  }

  onResponseStarted(): void {
    return watched(this, this.#inner.onResponseStarted?.())
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    return watched(this, this.#inner.onResponseStart?.(controller, statusCode, headers, statusText))
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    return watched(this, this.#inner.onResponseData?.(controller, chunk))
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    return watched(this, this.#inner.onResponseEnd?.(controller, trailers))
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    return watched(this, this.#inner.onRequestUpgrade?.(controller, statusCode, headers, socket))
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    return watched(this, this.#inner.onResponseError?.(controller, error))
  }
}

answerOlderCalls(WrappingHandler)
