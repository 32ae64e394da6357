/** Forwards the calls that every handler gets to the one that it wraps. */
import type { Duplex } from 'node:stream'
import type { HeaderObject } from '../protocol/header-block.ts'
import type { DispatchController, DispatchHandler } from '../request/dispatch-handler.ts'
import { answerOlderCalls } from './older-calls.ts'

/** The base of `DecoratorHandler`. It has no field that a subclass of a program could have as well. */
export abstract class WrappingHandler {
  readonly #inner: DispatchHandler

  constructor(inner: DispatchHandler) {
    this.#inner = inner
  }

  onRequestStart(controller: DispatchController, context: unknown): void {
    this.#inner.onRequestStart?.(controller, context)
  }

  onRequestSent(): void {
    this.#inner.onRequestSent?.()
  }

  onResponseStarted(): void {
    this.#inner.onResponseStarted?.()
  }

  onResponseStart(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    statusText?: string,
  ): void {
    this.#inner.onResponseStart?.(controller, statusCode, headers, statusText)
  }

  onResponseData(controller: DispatchController, chunk: Buffer): void {
    this.#inner.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: DispatchController, trailers: HeaderObject): void {
    this.#inner.onResponseEnd?.(controller, trailers)
  }

  onRequestUpgrade(
    controller: DispatchController,
    statusCode: number,
    headers: HeaderObject,
    socket: Duplex,
  ): void {
    this.#inner.onRequestUpgrade?.(controller, statusCode, headers, socket)
  }

  onResponseError(controller: DispatchController | null | undefined, error: Error): void {
    this.#inner.onResponseError?.(controller, error)
  }
}

answerOlderCalls(WrappingHandler)
